"""How rules are defined: direct rules, autograd's registries, keywords, and the recording of fused derivatives."""

from fastgrad._rules import keywords, recording  # the engine calls them  # noqa: F401
