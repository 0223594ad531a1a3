"""The asv suite of fastgrad, one module per topic.

State is made at import, or in a cached function where making it runs the engine, not in a ``setup`` method: with a
``setup`` asv times single calls, which is too coarse for operations of microseconds. Operations below a microsecond are
timed ``CALLS`` at a time.
"""
