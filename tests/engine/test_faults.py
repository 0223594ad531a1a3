"""Errors and interrupts anywhere: the error comes out, and the next gradient is right."""

import gc
import signal
import sys
import threading

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import checkpoint, core, elementwise_grad, grad, hessian, jacobian, make_jvp, make_vjp, value_and_grad
from fastgrad import differential_operators as operators
from fastgrad._engine.backward import pull_once
from fastgrad.core import VJPNode, VSpace
from fastgrad.extend import Box, defjvp, defvjp, primitive
from fastgrad.tracer import Node, trace, trace_stack

V = onp.linspace(0.1, 1.0, 3)
LONG = onp.linspace(0.1, 1.0, 8)
ERRORS = [ValueError, KeyboardInterrupt, MemoryError]


@pytest.fixture(autouse=True)
def no_level_is_left():
    yield
    assert trace_stack.top == -1


def flat(x):
    """Return a value as nested lists of numbers, for exact comparison."""
    if isinstance(x, dict):
        return {key: flat(value) for key, value in x.items()}
    if isinstance(x, list | tuple):
        return [flat(value) for value in x]
    return onp.asarray(x).tolist()


# ------------------------------------------------------------------------------------------------- errors at every step


class Fuse:
    """A counter of the steps of a program, which raises an error at one of them."""

    def __init__(self):
        self.left, self.error = -1, None

    def arm(self, step, error):
        self.left, self.error = step, error

    def __call__(self):
        if self.left == 0:
            self.left = -1
            raise self.error("blown")
        self.left -= 1


fuse = Fuse()


@primitive
def fused(x):
    """A user's function whose rules may raise wherever they run."""
    fuse()
    return x * x * 0.5


def fused_maker(ans, x):
    fuse()

    def pull(g):
        fuse()
        return g * x

    return pull


def fused_push(g, ans, x):
    fuse()
    return g * x


defvjp(fused, fused_maker)
defjvp(fused, fused_push)


@primitive
def fused_pair(x, y):
    return x * y


def fused_pair_maker(argnums, ans, args, kwargs):
    def pull(g):
        for n in argnums:
            fuse()
            yield g * args[1 - n]

    return pull


core.defvjp_argnums(fused_pair, fused_pair_maker)


def f(x):
    """A traced function that may raise between any two primitives."""
    fuse()
    y = np.sin(x)
    fuse()
    y = fused(y) * x
    fuse()
    return fused(y) + np.exp(y)


def of_containers(p):
    x, y = p["a"], p["b"][0]
    fuse()
    z = f(x) * y
    fuse()
    return np.sum(z) + np.sum(p["b"][1] * x)


def container_out(x):
    y = f(x)
    fuse()
    return {"y": y, "l": [y * x, (x,)]}


remembered = checkpoint(f)


def generated(x):
    def values():
        y = x
        for _ in range(3):
            y = f(y)
            yield y

    steps = values()
    next(steps)
    return next(steps)  # the generator stays suspended


def scalar(x):
    return np.sum(f(x))


class LoudNode(Node):
    """A tracer written by a user."""

    def __init__(self, value, fun, args, kwargs, parent_argnums, parents):
        fuse()
        self.depth = 1 + max(parent.depth for parent in parents)

    def initialize_root(self):
        fuse()
        self.depth = 0


class LoudVJPNode(VJPNode):
    def __init__(self, *args):
        fuse()
        super().__init__(*args)
        fuse()

    def initialize_root(self):
        fuse()
        super().initialize_root()


class Length:
    """A value of a user's type."""

    def __init__(self, metres):
        self.metres = metres

    def __array__(self, *args, **kwargs):
        return onp.asarray(self.metres)


class LengthBox(Box):
    def __init__(self, *args):
        fuse()
        super().__init__(*args)

    def metres(self):
        return metres_of(self)


class LengthSpace(VSpace):
    def __init__(self, value):
        fuse()

    def zeros(self):
        fuse()
        return Length(0.0)

    def _add(self, x, y):
        fuse()
        return Length(x.metres + y.metres)

    def _mut_add(self, x, y):
        fuse()
        return Length(x.metres + y.metres)


@pytest.fixture
def lengths():
    LengthBox.register(Length)
    LengthSpace.register(Length)
    yield
    Box.types.discard(LengthBox)
    for kind in (Length, LengthBox):
        Box.type_mappings.pop(kind, None)
        VSpace.mappings.pop(kind, None)


@primitive
def metres_of(length):
    return length.metres


@primitive
def length_of(g):
    return Length(g)


defvjp(metres_of, lambda ans, length: lambda g: length_of(g))


def gradient_by_length():
    return grad(lambda x: x.metres() * x.metres() + x.metres())(Length(3.0)).metres


PROGRAMS = {
    "grad": lambda: grad(scalar)(V),
    "grad of a number": lambda: grad(f)(0.5),
    "value_and_grad": lambda: value_and_grad(scalar)(V),
    "elementwise_grad": lambda: elementwise_grad(f)(V),
    "grad_and_aux": lambda: operators.grad_and_aux(lambda x: (scalar(x), x))(V)[0],
    "make_jvp": lambda: make_jvp(f)(V)(V),
    "make_jvp_reversemode": lambda: operators.make_jvp_reversemode(f)(V)(V),
    "make_hvp": lambda: operators.make_hvp(scalar)(V)[0](V),
    "make_ggnvp": lambda: operators.make_ggnvp(f)(V)(V),
    "multigrad_dict": lambda: operators.multigrad_dict(f)(0.5),
    "containers": lambda: grad(of_containers)({"a": V, "b": [2.0, V]}),
    "containers forward": lambda: make_jvp(of_containers)({"a": V, "b": [2.0, V]})({"a": V, "b": [1.0, V]}),
    "containers out": lambda: make_vjp(container_out)(0.5)[0]({"y": 1.0, "l": [2.0, (3.0,)]}),
    "nested": lambda: grad(lambda x: x * grad(lambda y: f(x * y))(2.0))(0.5),
    "forward over reverse": lambda: make_jvp(grad(scalar))(V)(V),
    "reverse over forward": lambda: grad(lambda x: make_jvp(f)(x)(2.0)[1])(0.5),
    "checkpoint": lambda: grad(lambda x: np.sum(remembered(x) * x))(V),
    "checkpoint forward": lambda: make_jvp(lambda x: remembered(x) * x)(V)(V),
    "a checkpoint's hessian": lambda: hessian(lambda x: np.sum(remembered(x)))(V),
    "a pullback that is a generator": lambda: grad(lambda x: fused_pair(x, f(x)))(0.5),
    "an abandoned generator": lambda: grad(generated)(0.5),
    "user's nodes": lambda: trace(LoudNode.new_root(), lambda x: np.sin(np.dot(x, x)) * x, V)[1].depth,
    "user's vjp nodes": lambda: core.backward_pass(1.0, trace(LoudVJPNode.new_root(), scalar, V)[1]),
    "user's boxes and spaces": gradient_by_length,
}

# An error in one of these may be taken for an error of the batch; the rows then go one by one, and the result is right.
BATCHED = {
    "jacobian": lambda: jacobian(f)(LONG),
    "tall jacobian": lambda: jacobian(lambda x: np.concatenate([f(x), x, f(x * x)]))(V),
    "jacfwd": lambda: operators.jacfwd(f)(LONG),
    "hessian": lambda: hessian(scalar)(LONG),
    "tensor_jacobian_product": lambda: operators.tensor_jacobian_product(f)(V, V),
}


def run_with_errors(program, errors, rtol=0.0):
    """Raise an error at each step in turn, and return for each whether it came out."""
    wanted = flat(program())
    came_out, step = [], 0
    while True:
        error = errors[step % len(errors)]
        fuse.arm(step, error)
        try:
            result = program()
            if rtol:
                onp.testing.assert_allclose(result, wanted, rtol)
            else:
                assert flat(result) == wanted
        except error as caught:
            assert caught.args == ("blown",)
            came_out.append(True)
        else:
            came_out.append(False)
        assert trace_stack.top == -1
        is_over = fuse.left >= 0
        fuse.arm(-1, None)
        assert flat(program()) == wanted
        if is_over:
            return came_out[:-1]
        step += 1


@pytest.mark.usefixtures("lengths")
@pytest.mark.parametrize("name", PROGRAMS)
def test_an_error_at_any_step_comes_out_and_leaves_nothing_behind(name):
    came_out = run_with_errors(PROGRAMS[name], ERRORS)
    assert all(came_out)
    assert len(came_out) > 2


@pytest.mark.parametrize("name", BATCHED)
def test_an_error_at_any_step_of_a_batch_comes_out_or_the_rows_go_one_by_one(name):
    came_out = run_with_errors(BATCHED[name], ERRORS, rtol=1e-12)  # the other mode may round differently
    assert any(came_out)
    assert all(run_with_errors(BATCHED[name], [KeyboardInterrupt]))


@pytest.mark.parametrize("name", ["grad", "containers", "nested", "make_jvp", "checkpoint"])
def test_errors_leave_no_blocks_behind(name):
    program = PROGRAMS[name]

    def blow(n):
        for k in range(n):
            fuse.arm(k % 5, ERRORS[k % 3])
            try:
                program()
            except ERRORS[k % 3]:
                pass
        fuse.arm(-1, None)
        gc.freeze()  # cycles are not collected, so they count
        gc.collect()
        blocks = sys.getallocatedblocks()
        gc.unfreeze()
        return blocks

    gc.disable()
    try:
        before = blow(100)
        assert blow(2000) - before < 50
    finally:
        gc.enable()


def test_a_graph_whose_pass_failed_can_be_walked_again():
    vjp, _ = make_vjp(of_containers)({"a": V, "b": [2.0, V]})
    wanted = flat(vjp(1.5))
    for step in range(4):
        fuse.arm(step, ValueError)
        try:
            assert flat(vjp(1.5)) == wanted
        except ValueError:
            pass
        fuse.arm(-1, None)
        assert flat(vjp(1.5)) == wanted


def test_a_last_pass_that_failed_and_may_have_overwritten_what_a_node_kept_used_it_up():
    """A second pass must not compute a number from values that are half overwritten."""
    vjp = make_vjp(np.exp)(onp.full(10, 500.0))[0]
    with onp.errstate(over="raise"), pytest.raises(FloatingPointError):
        pull_once(vjp, onp.full(10, 1e300))
    with pytest.raises(RuntimeError, match="used up"):
        vjp(onp.ones(10))


def test_a_floating_point_error_after_the_cotangent_was_overwritten():
    vjp, _ = make_vjp(lambda x: np.sum(np.exp(x * 1e-200) * 1e300))(onp.full(10, 1e200))
    with onp.errstate(over="ignore"):
        first = vjp(1e10)
    with onp.errstate(over="raise"), pytest.raises(FloatingPointError):
        vjp(1e10)
    with onp.errstate(over="ignore"):
        onp.testing.assert_array_equal(vjp(1e10), first)


def test_an_error_in_unbroadcasting(monkeypatch):
    from fastgrad._engine import core as _core
    from fastgrad.numpy import broadcasting

    def failing(*args):
        raise ValueError("blown")

    def program():
        return make_vjp(lambda x: x * onp.full((3, 4), 2.0 + 1j))(onp.ones((3, 1)))[0](onp.full((3, 4), 1.0 - 1j))

    wanted = program()
    own = broadcasting.fit, broadcasting.broadcast
    _core.connect(unbroadcast=failing, broadcast=failing)
    try:
        with pytest.raises(ValueError, match="blown"):
            program()
    finally:
        _core.connect(unbroadcast=own[0], broadcast=own[1])
    onp.testing.assert_array_equal(program(), wanted)


def test_a_level_that_was_entered_by_hand_and_dropped_is_given_back():
    context = trace_stack.new_trace()
    level = context.__enter__()
    assert trace_stack.top == level > 0
    del context
    assert trace_stack.top == -1

    def open_one():
        with trace_stack.new_trace() as level:
            yield level

    opened = open_one()
    assert next(opened) == trace_stack.top
    assert grad(grad(f))(0.5) == grad(grad(f))(0.5)
    del opened
    assert trace_stack.top == -1


def test_an_error_from_a_finalizer_of_a_node_does_not_disturb_the_pass(monkeypatch):
    class Dying:
        def __del__(self):
            raise ValueError("ignored")

    @primitive
    def g(x):
        return x * 2.0

    def maker(ans, x):
        dying = Dying()
        return lambda g: g * 2.0 if dying else g

    defvjp(g, maker)
    ignored = []
    monkeypatch.setattr(sys, "unraisablehook", lambda info: ignored.append(info.exc_value))
    assert grad(lambda x: g(np.sin(g(x))))(0.0) == 4.0
    assert len(ignored) == 2


# ----------------------------------------------------------------------------------------------------------- interrupts

INTERRUPTED = ["grad", "containers", "nested", "checkpoint", "make_jvp", "user's vjp nodes"]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers that send signals here")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals go to the main thread")
def test_interrupts_at_any_moment():
    """Each of many keyboard interrupts comes out, and the next gradient is right."""
    programs = [PROGRAMS[name] for name in INTERRUPTED] + [BATCHED["jacobian"], BATCHED["hessian"]]
    wanted = [flat(program()) for program in programs]

    class Interrupt(KeyboardInterrupt):
        pass

    def interrupt(*_):
        raise Interrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    random = onp.random.RandomState(0)
    n_interrupts = 0
    try:
        for k in range(2500):
            program = programs[k % len(programs)]
            delay = random.uniform(2e-6, 4e-4)
            try:
                # Repeated, because an interrupt in a callback of the collector or of a weak reference is ignored.
                signal.setitimer(signal.ITIMER_REAL, delay, 0.1)
                while True:
                    program()
            except Interrupt:
                signal.setitimer(signal.ITIMER_REAL, 0)
                n_interrupts += 1
            assert trace_stack.top == -1
            if k % 5 == 0:
                assert flat(program()) == wanted[k % len(programs)]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert n_interrupts == 2500
    assert [flat(program()) for program in programs] == wanted
