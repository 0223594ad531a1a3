"""The functions of scipy.special as primitives; their rules are in `fastgrad.scipy.rules.special`."""

from fastgrad.scipy import wrapping as _wrapping
from fastgrad.scipy.rules.special import (  # noqa: F401
    fwd_grad_logsumexp,
    inv_root_pi,
    make_gammainc_vjp_arg1,
    make_grad_logsumexp,
    root_pi,
)

globals().update(vars(_wrapping.special))
