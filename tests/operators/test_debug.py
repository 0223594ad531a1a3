"""fastgrad.debug: wrong derivatives name the primitive, the shapes and the user's line; nothing else changes."""

import contextvars
import inspect
import re
import threading

import numpy as onp
import pytest

import fastgrad
import fastgrad.numpy as np
from fastgrad import checkpoint, debug, grad, hessian, jacobian, make_jvp, make_vjp, value_and_grad
from fastgrad._diagnostics.debug import DebugJVPNode, DebugVJPNode
from fastgrad._engine.core import connect
from fastgrad._rules.direct import def_direct
from fastgrad.extend import defjvp, defvjp, primitive
from fastgrad.tracer import Box

X = onp.array([0.5, 1.5, 2.5])


def line_of(function, text):
    """Return the number of the line of a function that contains a text."""
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if text in line)


def kinds_of_nodes(operator=grad):
    kinds = []
    operator(lambda x: (kinds.append(type(x._node)), x * 1.0)[1])(1.0)
    return kinds[0]


def sqrt_at_zero(x):
    y = np.sqrt(x) * 0.0  # the derivative of sqrt is infinite here
    return np.sum(y)


# ----------------------------------------------------------------------------------------------------------- NaN


def test_nan_of_a_pullback_names_primitive_argument_shapes_and_line():
    assert onp.isnan(grad(sqrt_at_zero)(0.0))
    with debug(), onp.errstate(all="ignore"), pytest.raises(FloatingPointError) as error:
        grad(sqrt_at_zero)(onp.zeros(2))
    message = str(error.value)
    assert re.match(r"the VJP of sqrt gave NaN for argument 0( \(x\))?, of a cotangent without\n", message)
    assert "float64 of shape (2,)" in message
    line = line_of(sqrt_at_zero, "np.sqrt")
    assert f'recorded at "{__file__}", line {line}, in sqrt_at_zero\n    y = np.sqrt(x) * 0.0' in message


def test_nan_of_a_pushforward():
    def f(x):
        return np.sqrt(x)

    with (
        debug(),
        onp.errstate(all="ignore"),
        pytest.raises(FloatingPointError, match="JVP of sqrt gave NaN.*") as error,
    ):
        make_jvp(f)(0.0)(0.0)
    assert f'"{__file__}", line {line_of(f, "np.sqrt")}, in f' in str(error.value)


def test_nan_that_was_there_before_is_no_fault_of_the_rules():
    with debug():
        assert onp.isnan(make_vjp(np.sin)(1.0)[0](float("nan")))
        assert onp.isnan(make_jvp(np.sin)(1.0)(float("nan"))[1])
        # Values that `where` does not choose may be anything.
        with onp.errstate(all="ignore"):
            assert grad(lambda x: np.sum(np.where(x > 0, np.log(np.where(x > 0, x, 1.0)), 0.0)))(X - 1)[0] == 0.0
            assert grad(lambda x: 1.0 / x)(0.0) == -onp.inf


def test_nan_in_containers():
    @primitive
    def pair(x):
        return (x, 2.0 * x)

    defvjp(pair, lambda ans, x: lambda g: g[0] * float("nan"))
    with debug(), pytest.raises(FloatingPointError, match="VJP of pair gave NaN"):
        grad(lambda x: pair(x)[0] * 1.0 + pair(x)[1])(1.0)


# ------------------------------------------------------------------------------------------------- rules that fail


@primitive
def failing(x, y=1.0):
    return x * y


def failing_rule(g):
    raise ArithmeticError("no derivative today")


defvjp(failing, lambda ans, x, y=1.0: failing_rule)
defjvp(failing, lambda g, ans, x, y=1.0: failing_rule(g))


@pytest.mark.parametrize("call", [lambda f: grad(f)(X), lambda f: make_jvp(f)(X)(X)])
def test_an_error_of_a_rule_keeps_its_type_and_gets_the_line(call):
    def f(x):
        y = failing(x, 2.0)
        return np.sum(y)

    with pytest.raises(ArithmeticError) as plain:
        call(f)
    assert str(plain.value) == "no derivative today"
    with debug(), pytest.raises(ArithmeticError) as error:
        call(f)
    message = str(error.value)
    assert message.startswith("no derivative today\nin the ") and "P of failing\n" in message
    assert "argument 0 (x) float64 of shape (3,); value: float64 of shape (3,)" in message
    assert f"line {line_of(f, 'failing')}, in f\n    y = failing(x, 2.0)" in message


def test_a_missing_rule_gets_the_line():
    @primitive
    def without(x):
        return x

    for call in (lambda f: grad(f)(1.0), lambda f: make_jvp(f)(1.0)(1.0)):
        with debug(), pytest.raises(NotImplementedError, match=f'without.*\n.*\n.*\n.*"{__file__}", line'):
            call(lambda x: without(x))


def test_a_maker_that_fails_gets_the_line():
    @primitive
    def bad(x):
        return x

    defvjp(bad, lambda ans, x: {}["missing"])
    with debug(), pytest.raises(KeyError) as error:
        grad(lambda x: bad(x))(1.0)
    assert "in test_debug" in str(error.value) or "<lambda>" in str(error.value)


def test_an_error_without_a_message_stays_as_it_is():
    @primitive
    def bad(x):
        return x

    def rule(g):
        raise ZeroDivisionError

    defvjp(bad, lambda ans, x: rule)
    with debug(), pytest.raises(ZeroDivisionError) as error:
        grad(bad)(1.0)
    assert error.value.args == ()


@pytest.mark.parametrize("shape", [(2,), (1, 3), ()])
def test_shapes_of_fastgrads_own_form_of_rules_are_checked(shape):
    """Without debug mode fastgrad's own rules are not checked; here one of them is broken."""

    @primitive
    def bad(x):
        return x * 1.0

    wrong = lambda g, _ans, _x: onp.ones(shape)  # noqa: E731
    def_direct(bad, vjps=(wrong,), jvps=(wrong,))
    with debug(), pytest.raises(ValueError, match="the VJP of bad gave shape .* for argument 0 .x., not .3,.") as error:
        grad(lambda x: np.sum(bad(x)))(X)
    assert f'recorded at "{__file__}"' in str(error.value)
    with debug(), pytest.raises(ValueError, match="the JVP of bad gave shape .* for its value, not .3,."):
        make_jvp(bad)(X)(X)
    def_direct(bad, vjps=(lambda g, _ans, _x: g * 1j,))
    with (
        debug(),
        pytest.raises(TypeError, match="VJP of bad gave a complex cotangent for argument 0 .x., which is real"),
    ):
        grad(lambda x: np.sum(bad(x)))(X)


def test_the_line_is_the_users_when_numpy_is_between():
    def f(x):
        return onp.sqrt(onp.sum(x))

    with debug(), onp.errstate(all="ignore"), pytest.raises(FloatingPointError) as error:
        grad(lambda x: f(x) * 0.0)(onp.zeros(2))
    assert f"line {line_of(f, 'onp.sqrt')}, in f" in str(error.value)


# -------------------------------------------------------------------------------------------------- all else is as ever


def model(x):
    hidden = np.tanh(np.dot(onp.ones((3, 3)), x) + x[::-1])
    parts = {"a": hidden[:2], "b": (hidden[2], np.max(x))}
    return np.sum(parts["a"] ** 2) * parts["b"][0] + parts["b"][1] + np.floor(x[0]) * np.argmax(x)


PROGRAMS = {
    "grad": lambda: grad(model)(X),
    "value_and_grad": lambda: value_and_grad(model)(X),
    "jacobian": lambda: jacobian(lambda x: np.sin(x) * model(x))(X),
    "tall jacobian": lambda: jacobian(lambda x: np.outer(x, X).ravel() * model(x))(X[:1] * onp.ones(3)),
    "hessian": lambda: hessian(model)(X),
    "forward": lambda: make_jvp(model)(X)(X),
    "forward over reverse": lambda: make_jvp(grad(model))(X)(X)[1],
    "reverse over forward": lambda: grad(lambda x: make_jvp(model)(x)(X)[1])(X),
    "checkpoint": lambda: grad(checkpoint(model))(X),
    "two arguments": lambda: grad(lambda x, y: model(x) * np.sum(y), (0, 1))(X, X),
    "containers": lambda: grad(lambda p: model(p["x"]) * p["y"][0])({"x": X, "y": [2.0, 3.0]})["x"],
    "complex": lambda: grad(lambda x: np.real(np.sum(np.exp(1j * x) * x)))(X),
    "sparse": lambda: grad(lambda x: np.sum(x[onp.array([0, 0, 2])] ** 2) + x[1])(X),
    "concatenate": lambda: grad(lambda x: np.sum(np.concatenate([x, x * 2, [1.0]]) ** 2))(X),
    "solve": lambda: grad(lambda x: np.sum(np.linalg.solve(np.diag(x), X)))(X),
    "elementwise": lambda: fastgrad.elementwise_grad(np.sin)(X),
    "integers": lambda: grad(lambda x: np.sum(x * 0.5))(onp.array([1, 2])),
}


def leaves(value):
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, tuple) else [value]


@pytest.mark.parametrize("program", PROGRAMS)
def test_results_are_the_same(program):
    wanted = PROGRAMS[program]()
    with debug():
        found = PROGRAMS[program]()
    for a, b in zip(leaves(found), leaves(wanted), strict=True):
        onp.testing.assert_allclose(a, b, rtol=1e-13)
        assert onp.shape(a) == onp.shape(b) and onp.result_type(a) == onp.result_type(b)


def test_values_kept_from_a_trace_that_is_over():
    kept = []
    with debug():
        grad(lambda x: (kept.append(x * 1.0), x)[1])(1.0)
        for f in (lambda x: kept[0], lambda x: kept[0] * x):
            with pytest.raises(TypeError, match="kept from a trace that is over"):
                grad(f)(2.0)
    with pytest.raises(TypeError, match="kept from a trace that is over"):
        with debug():
            make_jvp(lambda x: (kept.append(x * 1.0), x)[1])(1.0)(1.0)
            make_jvp(lambda x: kept[-1] * x)(1.0)(1.0)


# --------------------------------------------------------------------------------------------------------- the block


def test_it_is_active_inside_alone():
    own = kinds_of_nodes()
    with debug() as block:
        assert isinstance(block, debug)
        assert kinds_of_nodes() is DebugVJPNode
        assert kinds_of_nodes(fastgrad.deriv) is DebugJVPNode
    assert kinds_of_nodes() is own and own is not DebugVJPNode
    with pytest.raises(LookupError), debug():
        raise LookupError
    assert kinds_of_nodes() is own


def test_it_nests_and_is_used_again():
    block = debug()
    with block:
        with block, debug():
            assert kinds_of_nodes() is DebugVJPNode
        assert kinds_of_nodes() is DebugVJPNode
    assert kinds_of_nodes() is not DebugVJPNode
    with block:
        assert kinds_of_nodes() is DebugVJPNode


def test_as_a_decorator():
    @debug()
    def slope(x):
        """The slope."""
        return grad(sqrt_at_zero)(x)

    with onp.errstate(all="ignore"), pytest.raises(FloatingPointError, match="sqrt"):
        slope(0.0)
    assert slope.__doc__ == "The slope." and kinds_of_nodes() is not DebugVJPNode


def test_other_threads_are_not_in_it():
    seen = []

    def look():
        seen.append(kinds_of_nodes())

    def run(target):
        thread = threading.Thread(target=target)
        thread.start()
        thread.join()

    with debug():
        run(look)
        run(lambda: contextvars.copy_context().run(look))
        look()
    assert seen[2] is DebugVJPNode and DebugVJPNode not in seen[:2]

    entered, leave = threading.Event(), threading.Event()

    def debugging():
        with debug():
            entered.set()
            leave.wait(30)

    thread = threading.Thread(target=debugging)
    thread.start()
    entered.wait(30)
    look()
    leave.set()
    thread.join()
    assert seen[3] is not DebugVJPNode


def test_a_generator_may_leave_its_block_late():
    def gradients():
        with debug():
            yield grad(np.sin)(1.0)
            yield kinds_of_nodes()

    steps = gradients()
    assert next(steps) == onp.cos(1.0)
    with debug():
        assert next(steps) is DebugVJPNode
        assert list(steps) == []
        assert kinds_of_nodes() is DebugVJPNode
    assert kinds_of_nodes() is not DebugVJPNode


def test_graphs_recorded_inside_are_checked_outside():
    with debug(), onp.errstate(all="ignore"):
        pull, _ = make_vjp(sqrt_at_zero)(0.0)
        outer = grad(lambda x: x * 2.0)
    with onp.errstate(all="ignore"), pytest.raises(FloatingPointError, match="sqrt_at_zero"):
        pull(1.0)
    assert outer(1.0) == 2.0


def test_traces_around_it_are_not_concerned():
    def f(x):
        with debug():
            assert type(x._node) is not DebugVJPNode
            inner = grad(lambda y: y * y * x)(3.0)
        assert isinstance(inner, Box)
        return inner * x

    assert grad(f)(2.0) == 24.0


def test_no_count_is_left_behind():
    # While this counter is not zero, every trace checks for debug mode, which costs time.
    with debug():
        pass
    asked = []
    kinds = fastgrad._diagnostics.debug._node_types
    connect(debug_node_types=lambda: asked.append(1))
    try:
        grad(np.sin)(1.0)
        assert asked == []
    finally:
        connect(debug_node_types=kinds)


def test_hooks_on_nodes_and_changed_rules():
    with debug():
        value, node = fastgrad.tracer.trace(DebugVJPNode.new_root(), lambda x: np.sin(x) * x, 1.0)
        pull, seen = node.vjp, []
        node.vjp = lambda g: (seen.append(g), pull(g))[1]
        onp.testing.assert_allclose(fastgrad.core.backward_pass(1.0, node), onp.cos(1.0) + onp.sin(1.0))
        assert seen == [1.0]
