"""The asv suite of fastgrad, one module per topic.

State is made at import, or in a cached function where making it runs the engine, not in a ``setup`` method: with a
``setup`` asv times single calls, which is too coarse for operations of microseconds. Operations below a microsecond are
timed ``CALLS`` at a time.
"""

import sys
from pathlib import Path

BENCHMARKS = str(Path(__file__).resolve().parents[1])
if BENCHMARKS not in sys.path:  # for `programs`, which stands beside the suite: asv finds the suite alone
    sys.path.append(BENCHMARKS)
