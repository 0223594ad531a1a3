"""Nothing that autograd 1.9.1 has is missing: names, signatures of its functions, rules, and what it does not trace."""

import importlib
import inspect
import subprocess
import sys
import types
import warnings

import pytest

autograd = pytest.importorskip("autograd")
pytest.importorskip("scipy")

MODULES = """
autograd
autograd.builtins autograd.core autograd.differential_operators autograd.extend autograd.test_util autograd.tracer
autograd.util autograd.wrap_util
autograd.misc autograd.misc.fixed_points autograd.misc.flatten autograd.misc.optimizers autograd.misc.tracers
autograd.numpy autograd.numpy.fft autograd.numpy.linalg autograd.numpy.random
autograd.numpy.numpy_boxes autograd.numpy.numpy_vspaces autograd.numpy.numpy_wrapper
autograd.scipy autograd.scipy.integrate autograd.scipy.linalg autograd.scipy.signal autograd.scipy.special
autograd.scipy.stats autograd.scipy.stats.beta autograd.scipy.stats.chi2 autograd.scipy.stats.dirichlet
autograd.scipy.stats.gamma autograd.scipy.stats.multivariate_normal autograd.scipy.stats.norm
autograd.scipy.stats.poisson autograd.scipy.stats.t
""".split()

RULE = "a function by which autograd writes a rule; fastgrad's rules are written otherwise"
HELPER = "a helper or loop variable of autograd's module, no part of what it offers"
LEFT_OUT = {
    "autograd.builtins": {
        "fwd_grad_make_sequence": RULE,
        "grad_container_take": RULE,
        "grad_sequence_extend_left": RULE,
        "grad_sequence_extend_right": RULE,
    },
    "autograd.core": {
        "deprecated_defgrad": "what a primitive's method of that name calls; the method is here",
        "deprecated_defvjp": "what a primitive's method of that name calls; the method is here",
        "deprecated_defvjp_is_zero": "what a primitive's method of that name calls; the method is here",
        "deprecated_defvjp_message": HELPER,
        "primitive_": "autograd's own name for primitive without the deprecated methods",
        "primitive_with_deprecation_warnings": "autograd's own name for primitive with the deprecated methods",
    },
    "autograd.numpy": {
        "c_class": HELPER,
        "r_class": HELPER,
        "custom_where": "the function behind where",
        "parse_einsum_input": HELPER,
    },
    "autograd.numpy.numpy_wrapper": {"c_class": HELPER, "r_class": HELPER, "parse_einsum_input": HELPER},
    "autograd.numpy.fft": dict.fromkeys(
        "check_even_shape check_no_repeated_axes fft_grad get_fft2_args get_fft_args get_fftn_args irfft_grad "
        "make_rfft_factors rfft_grad truncate_pad".split(),
        RULE,
    ),
    "autograd.numpy.linalg": dict.fromkeys(
        "add2d grad_cholesky grad_eig grad_eigh grad_inv grad_pinv grad_solve grad_svd norm_jvp norm_vjp".split(),
        RULE,
    ),
    "autograd.numpy.numpy_boxes": dict.fromkeys(["diff_methods", "method_name", "nondiff_methods", "type_"], HELPER),
    "autograd.numpy.numpy_vspaces": {"type_": HELPER},
    "autograd.scipy.signal": {"einsum_tensordot": HELPER},
    "autograd.misc.flatten": {"type": HELPER},
    "autograd.util": {"deprecation_msg": HELPER},
}


def fastgrads(module):
    return importlib.import_module(module.replace("autograd", "fastgrad", 1))


def offered(module):
    """Return the public names of one of autograd's modules, without those it imports from elsewhere."""
    names = {}
    for name, value in vars(importlib.import_module(module)).items():
        origin = getattr(value, "__module__", None) or ""
        tool = origin.startswith("autograd") and origin != module and module not in FACADES and not is_primitive(value)
        foreign = tool or origin.split(".")[0] in STANDARD or (".scipy." in module and origin.startswith("numpy"))
        if not name.startswith("_") and not isinstance(value, types.ModuleType) and not foreign:
            names[name] = value
    return names


def is_primitive(value):
    """Return whether a value of autograd's is a primitive: all of them are functions of the same name."""
    return getattr(getattr(value, "__code__", None), "co_name", None) == "f_wrapped"


# Modules that re-export names of others; names that other modules import from their own package are not public.
FACADES = {"autograd", "autograd.core", "autograd.extend", "autograd.tracer", "autograd.numpy", "autograd.misc"}
STANDARD = {
    "_functools",
    "builtins",
    "collections",
    "contextlib",
    "functools",
    "itertools",
    "operator",
    "inspect",
    "types",
    "typing",
}


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_here(module):
    ours = fastgrads(module)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        missing = {name for name in offered(module) if not hasattr(ours, name)}
    allowed = set(LEFT_OUT.get(module, ()))
    assert missing <= allowed, sorted(missing - allowed)
    assert not {name for name in allowed if hasattr(ours, name)}, "these are here after all: take them off the list"


def parameters(function):
    """Return the names and kinds of a function's parameters."""
    try:
        return [(p.name, p.kind) for p in inspect.signature(function).parameters.values()]
    except ValueError:  # a type of Python has no signature
        return [("args", inspect.Parameter.VAR_POSITIONAL), ("kwargs", inspect.Parameter.VAR_KEYWORD)]


OWN_FUNCTIONS = [
    (module, name)
    for module in MODULES
    for name, value in offered(module).items()
    if isinstance(value, types.FunctionType)
    and (value.__module__ or "").startswith("autograd")
    and "called_by_autograd_dispatcher" not in inspect.signature(value).parameters
    and name not in LEFT_OUT.get(module, ())
]


@pytest.mark.parametrize("module, name", OWN_FUNCTIONS)
def test_what_can_be_passed_there_can_be_passed_here(module, name):
    theirs = parameters(getattr(importlib.import_module(module), name))
    ours = parameters(getattr(fastgrads(module), name))
    variadic = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    named = [name for name, kind in theirs if kind not in variadic]
    assert [name for name, kind in ours if kind not in variadic][: len(named)] == named
    # Variable arguments may have names here, and an operator that passes them on may take none itself.
    if len(theirs) > len(named) and not hasattr(getattr(fastgrads(module), name), "__signature__"):
        assert len(ours) > len(named)


LIST = """
import json, sys, importlib, warnings
warnings.simplefilter("ignore")
name = sys.argv[1]
for module in ("scipy.special", "scipy.linalg", "scipy.signal", "scipy.integrate", "scipy.stats", "misc.fixed_points"):
    importlib.import_module(f"{name}.{module}")
core, tracer = importlib.import_module(f"{name}.core"), importlib.import_module(f"{name}.tracer")
alias = {"__getitem__": "getitem", "astype": "_astype"}
names = lambda functions: sorted({alias.get(f.__name__, f.__name__) for f in functions})
print(json.dumps({
    "VJP": names(core.primitive_vjps),
    "JVP": names(core.primitive_jvps),
    "notrace VJP": names(tracer.notrace_primitives[core.VJPNode]),
    "notrace JVP": names(tracer.notrace_primitives[core.JVPNode]),
}))
"""

OWN_PRIMITIVES = "a primitive of autograd's own, by which it writes another rule"
RULES_LEFT_OUT = {
    **dict.fromkeys(["dot_adjoint_0", "dot_adjoint_1", "tensordot_adjoint_0", "tensordot_adjoint_1"], OWN_PRIMITIVES),
    "truncate_pad": OWN_PRIMITIVES,
}


@pytest.fixture(scope="module")
def registries():
    import json

    lists = {}
    for name in ("autograd", "fastgrad"):
        run = subprocess.run([sys.executable, "-c", LIST, name], capture_output=True, text=True, check=True)
        lists[name] = {kind: set(names) for kind, names in json.loads(run.stdout).items()}
    return lists


@pytest.mark.parametrize("mode", ["VJP", "JVP"])
def test_every_primitive_with_a_rule_has_both_here(registries, mode):
    wanted = registries["autograd"]["VJP"] | registries["autograd"]["JVP"]
    missing = wanted - registries["fastgrad"][mode] - set(RULES_LEFT_OUT)
    assert not missing, sorted(missing)


@pytest.mark.parametrize("mode", ["VJP", "JVP"])
def test_every_function_that_is_not_traced_is_not_here_either(registries, mode):
    traced_here = registries["autograd"][f"notrace {mode}"] - registries["fastgrad"][f"notrace {mode}"]
    never_traced = {"ndim", "shape", "iscomplexobj", "result_type"}
    assert traced_here - never_traced <= {"full_like"}, "full_like has rules here: autograd drops a traced fill value"
