"""How rules are defined: direct rules, autograd's registries, keywords, and the recording of fused derivatives."""

from fastgrad._rules import keywords, recording  # the engine calls them  # noqa: F401
from fastgrad._rules.direct import (  # noqa: F401
    ByExponent,
    def_direct,
    def_elementwise,
    def_whole,
    register,
    registered,
    set_staged_vjp,
    set_whole_jvp,
)
