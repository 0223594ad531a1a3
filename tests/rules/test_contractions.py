"""dot, matmul, tensordot, inner, outer, vdot, kron, cross and einsum, in every combination of numbers of axes.

All are linear in each argument, so NumPy itself gives the exact reference: the cotangent's entries are the answers to
the basis vectors, paired with the cotangent of the answer; the tangent of the answer is the answer to the tangent.
"""

import itertools
import weakref
from functools import partial

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import grad
from fastgrad.core import make_jvp, make_vjp
from fastgrad.numpy.rules import contractions
from fastgrad.test_util import check_grads
from fastgrad.tracer import getval

SHAPES = [(), (3,), (2, 3), (4, 2, 3), (2, 1, 2, 3)]


def draw(shape, dtype="d"):
    entries = onp.random.uniform(-1.5, 1.5, shape)
    if dtype in "DF":
        entries = entries + 1j * onp.random.uniform(-1.5, 1.5, shape)
    return onp.asarray(entries).astype(dtype)


def is_variable(arg):
    return isinstance(arg, float) or (isinstance(arg, onp.ndarray) and arg.dtype.kind in "fc")


def replaced(args, k, value):
    return (*args[:k], value, *args[k + 1 :])


def cotangent_by_basis(fun, args, k, g):
    """Return the k-th cotangent from a call of NumPy for each entry, or two calls if the entry is complex."""
    x = onp.asarray(args[k])
    cotangent = onp.zeros(x.shape, "D" if x.dtype.kind == "c" else "d")
    for index in onp.ndindex(x.shape):
        for unit in (1, 1j) if x.dtype.kind == "c" else (1,):
            basis = onp.zeros_like(x)
            basis[index] = unit
            cotangent[index] += onp.sum(g * fun(*replaced(args, k, basis))).real * onp.conj(unit)
    return cotangent


def check(name, *args, **kwargs):
    """Compare both modes, each argument alone and all at once, with NumPy."""
    fun, ours = (partial(getattr(module, name), **kwargs) for module in (onp, np))
    answer = fun(*args)
    g = draw(onp.shape(answer), answer.dtype.char)
    variables = [k for k, arg in enumerate(args) if is_variable(arg)]
    tolerance = 2e-5 if any(getattr(args[k], "dtype", "d") in ("f", "F") for k in variables) else 1e-12

    def of_all(values):
        full = list(args)
        for i, k in enumerate(variables):
            full[k] = values[i]
        return ours(*full)

    at_once = make_vjp(of_all, [args[k] for k in variables])[0](g)
    for together, k in zip(at_once, variables, strict=True):
        cotangent = make_vjp(lambda x, k=k: ours(*replaced(args, k, x)), args[k])[0](g)
        wanted = cotangent_by_basis(fun, args, k, g)
        for found in (cotangent, together):
            assert onp.shape(found) == wanted.shape
            assert found.dtype == onp.asarray(args[k]).dtype
            onp.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)
        tangent = draw(onp.shape(args[k]), onp.asarray(args[k]).dtype.char)
        pushed = make_jvp(lambda x, k=k: ours(*replaced(args, k, x)), args[k])(tangent)[1]
        assert onp.shape(pushed) == onp.shape(answer) and pushed.dtype == answer.dtype
        onp.testing.assert_allclose(pushed, fun(*replaced(args, k, tangent)), rtol=tolerance, atol=tolerance)


# ------------------------------------------------------------------------------------ every combination of dimensions


def matching(y_shape):
    """Return the shape with its last two axes exchanged, so that a last axis matches a second last one."""
    return y_shape if len(y_shape) < 2 else (*y_shape[:-2], y_shape[-1], y_shape[-2])


@pytest.mark.parametrize(("a", "b"), [*itertools.product(SHAPES, SHAPES)])
def test_dot(a, b):
    check("dot", draw(a), draw(matching(b)))


@pytest.mark.parametrize(("a", "b"), [*itertools.product(SHAPES[1:], SHAPES[1:])])
def test_matmul(a, b):
    a = a if len(a) < 4 or len(b) < 3 else (2, 4, 2, 3)
    check("matmul", draw(a), draw(matching(b)))


@pytest.mark.parametrize(("a", "b"), [((1, 2, 3), (4, 3, 2)), ((4, 2, 3), (1, 3, 2)), ((3, 1, 2, 2), (5, 2, 1))])
def test_matmul_sums_over_broadcast_stacks(a, b):
    check("matmul", draw(a), draw(b))


@pytest.mark.parametrize(("a", "b"), [*itertools.product(SHAPES, SHAPES)])
def test_inner(a, b):
    check("inner", draw(a), draw(b))


@pytest.mark.parametrize(("a", "b"), [*itertools.product(SHAPES[:4], SHAPES[:4])])
def test_outer_flattens(a, b):
    check("outer", draw(a), draw(b))


@pytest.mark.parametrize(("a", "b"), [*itertools.product(SHAPES[:4], [(), (2,), (2, 3), (2, 1, 2)])])
def test_kron(a, b):
    check("kron", draw(a), draw(b))


@pytest.mark.parametrize(("a", "b"), [((), ()), ((3,), (3,)), ((2, 3), (3, 2))])
@pytest.mark.parametrize("dtypes", ["dd", "DD", "dD", "Dd"])
def test_vdot(a, b, dtypes):
    check("vdot", draw(a, dtypes[0]), draw(b, dtypes[1]))


@pytest.mark.parametrize(
    ("a", "b"), [((0,), (0,)), ((2, 0), (0,)), ((0,), (0, 3)), ((2, 0), (0, 3)), ((0, 2), (2, 3)), ((2, 1, 0), (0, 3))]
)
@pytest.mark.parametrize("name", ["dot", "matmul"])
def test_empty(name, a, b):
    check(name, draw(a), draw(b))


def test_empty_of_the_others():
    check("inner", draw((2, 0)), draw((3, 0)))
    check("outer", draw((0,)), draw((3,)))
    check("kron", draw((0,)), draw((3,)))
    check("tensordot", draw((2, 0)), draw((0, 3)), 1)
    check("einsum", "ij,jk->ik", draw((2, 0)), draw((0, 3)))


# ------------------------------------------------------------------------------------------------------------- dtypes


@pytest.mark.parametrize("dtypes", ["dD", "Dd", "fd", "df", "fD", "Df", "Fd", "dF", "DD", "ff", "FF"])
@pytest.mark.parametrize(
    "call",
    [
        ("dot", (2, 3), (3, 2)),
        ("dot", (2, 3), (3,)),
        ("dot", (), (3,)),
        ("dot", (4, 2, 3), (2, 3, 4)),
        ("matmul", (2, 3), (4, 3, 2)),
        ("inner", (2, 3), (4, 3)),
        ("outer", (3,), (2,)),
        ("tensordot", (2, 3, 4), (3, 4, 2)),
        ("kron", (2, 2), (3,)),
        ("cross", (3,), (4, 3)),
        ("einsum", "ii,ij->j", (3, 3), (1, 2)),
    ],
    ids=lambda call: call[0],
)
def test_cotangent_has_the_dtype_of_its_argument(call, dtypes):
    dtypes = iter(dtypes)
    check(call[0], *(draw(arg, next(dtypes)) if isinstance(arg, tuple) else arg for arg in call[1:]))


@pytest.mark.parametrize("name", ["dot", "inner", "outer", "kron", "tensordot"])
def test_numbers_lists_and_integers_as_partners(name):
    axes = (0,) if name == "tensordot" else ()
    check(name, 2.5, draw((3,)), *axes)
    check(name, draw((2, 3)), 2, *axes)
    check(name, draw((3,)), onp.arange(3), *axes)
    check(name, [1, 2, 3], draw((3,)), *axes)
    check(name, draw((3,)), [1.0, 2.0, 3.0], *axes)


# ---------------------------------------------------------------------------------------------------------- tensordot


@pytest.mark.parametrize(
    ("a", "b", "axes"),
    [
        ((2, 3), (4,), 0),
        ((), (2, 3), 0),
        ((2, 3), (3, 4), 1),
        ((2, 3, 4), (3, 4, 2), 2),
        ((2, 3), (2, 3), 2),
        ((2, 3), (3, 4), onp.int64(1)),
        ((2, 3, 4), (5, 3), (1, 1)),
        ((2, 3, 4), (5, 3), (-2, -1)),
        ((2, 3, 4), (3, 5), (1, [0])),
        ((2, 3, 4), (4, 2, 3), ([0, 1, 2], [1, 2, 0])),
        ((2, 3, 4), (4, 5, 2), ([2, 0], [0, -1])),
        ((2, 3, 4), (4, 5, 2), onp.array([[2, 0], [0, 2]])),
        ((2, 3, 4, 5), (4, 6, 2), ((0, 2), (2, 0))),
        ((2, 3), (4,), ([], [])),
    ],
)
def test_tensordot(a, b, axes):
    check("tensordot", draw(a), draw(b), axes)
    check("tensordot", draw(a), draw(b), axes=axes)


# -------------------------------------------------------------------------------------------------------------- cross


@pytest.mark.parametrize(
    ("a", "b", "axes"),
    [
        ((3,), (3,), {}),
        ((3,), (4, 3), {}),
        ((4, 1, 3), (2, 3), {}),
        ((2, 3, 4), (3,), {"axisa": 1}),
        ((4, 3), (3, 4), {"axisb": 0}),
        ((4, 3), (4, 3), {"axisc": 0}),
        ((3, 2, 4), (4, 3), {"axisa": 0, "axisb": -1, "axisc": 1}),
        ((3, 4), (3, 4), {"axis": 0}),
        ((2, 3, 4), (2, 3, 4), {"axis": -2}),
    ],
)
def test_cross(a, b, axes):
    check("cross", draw(a), draw(b), **axes)


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors are deprecated:DeprecationWarning")
@pytest.mark.skipif(
    tuple(map(int, onp.__version__.split(".")[:2])) >= (2, 5), reason="NumPy 2.5 takes vectors of three numbers alone"
)
@pytest.mark.parametrize(
    ("a", "b", "axes"),
    [
        ((2,), (2,), {}),
        ((2,), (3,), {}),
        ((3,), (2,), {}),
        ((4, 2), (2,), {}),
        ((2, 4), (4, 2), {"axisa": 0}),
        ((2, 4), (4, 3), {"axisa": 0, "axisc": 0}),
        ((5, 1, 3), (4, 2), {"axisc": 1}),
    ],
)
def test_cross_of_2_vectors(a, b, axes):
    check("cross", draw(a), draw(b), **axes)


# ------------------------------------------------------------------------------------------------------------- einsum


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("ij,jk->ik", [(2, 3), (3, 4)]),
        ("ij,jk", [(2, 3), (3, 4)]),
        ("ba", [(2, 3)]),
        (" i j -> j i ", [(2, 3)]),
        ("ij->", [(2, 3)]),
        ("i,j->", [(2,), (3,)]),
        ("ij,k->ki", [(2, 3), (4,)]),
        ("ii", [(3, 3)]),
        ("ii->i", [(3, 3)]),
        ("iii->i", [(2, 2, 2)]),
        ("iij->j", [(3, 3, 2)]),
        ("iji->j", [(3, 2, 3)]),
        ("iijj->", [(2, 2, 3, 3)]),
        ("ijij->ji", [(2, 3, 2, 3)]),
        ("ii,jj->ij", [(3, 3), (2, 2)]),
        ("ii,i->", [(3, 3), (3,)]),
        ("ii,ij->j", [(1, 1), (4, 2)]),
        ("ij,jk,kl->il", [(2, 3), (3, 2), (2, 4)]),
        ("i,i,i,i,i->i", [(3,)] * 5),
        ("ij,jk->ik", [(2, 1), (3, 4)]),
        ("ij,ij->j", [(1, 3), (2, 1)]),
        ("ij,ij->", [(1, 1), (1, 1)]),
        (",->", [(), ()]),
        ("...ij,...jk->...ik", [(5, 2, 3), (3, 4)]),
        ("...ij,...jk->...ik", [(1, 2, 3), (5, 3, 4)]),
        ("...ij,...jk", [(2, 1, 2, 3), (5, 3, 4)]),
        ("i...,j...->...", [(2, 3), (4, 5, 3)]),
        ("i...i->...", [(3, 2, 3)]),
        ("i...", [(2, 3)]),
        ("...,...", [(), (3,)]),
        ("aB,Bc->ac", [(2, 3), (3, 2)]),
    ],
)
def test_einsum(subscripts, shapes):
    check("einsum", subscripts, *map(draw, shapes))
    check("einsum", subscripts, *(draw(shape, dtype) for shape, dtype in zip(shapes, "DdDdD", strict=False)))


@pytest.mark.parametrize(
    "args",
    [
        ((2, 3), [0, 1], (3, 4), [1, 2], [0, 2]),
        ((2, 3), [0, 1], (3, 4), [1, 2]),
        ((2, 3), [7, 1]),
        ((2, 3), [30, 1]),
        ((2, 3), [0, 1], []),
        ((3, 3), [0, 0], [0]),
        ((5, 2, 3), [Ellipsis, 0, 1], (1, 3, 4), [Ellipsis, 1, 2], [Ellipsis, 0, 2]),
        ((2, 3), (onp.int64(0), onp.int64(1)), (3,), (1,), (0,)),
    ],
)
def test_einsum_of_sublists(args):
    shapes = range(0, len(args) - len(args) % 2, 2)
    check("einsum", *(draw(arg) if i in shapes else arg for i, arg in enumerate(args)))


def random_einsum(rng):
    """Return a valid einsum of up to three operands with repeated, summed and broadcast labels, perhaps an ellipsis."""
    sizes = dict(zip("abcd", rng.integers(1, 4, 4), strict=True))
    inputs, shapes = [], []
    for _ in range(rng.integers(1, 4)):
        labels = "".join(rng.choice(list("abcd"), rng.integers(0, 4)))
        shape = [1 if labels.count(a) == 1 and rng.random() < 0.2 else sizes[a] for a in labels]
        if rng.random() < 0.3:
            place = rng.integers(0, len(labels) + 1)
            labels = f"{labels[:place]}...{labels[place:]}"
            shape[place:place] = [(), (2,), (1,), (3, 2), (3, 1)][rng.integers(0, 5)]
        inputs.append(labels)
        shapes.append(tuple(shape))
    used = sorted(set("".join(inputs)) - {"."})
    output = "".join(rng.permutation(used)[: rng.integers(0, len(used) + 1)]) if used else ""
    arrow = f"->{output}..." if "..." in "".join(inputs) else f"->{output}"
    return ",".join(inputs) + (arrow if rng.random() < 0.7 else ""), shapes


@pytest.mark.parametrize("seed", range(150))
def test_random_einsum(seed):
    rng = onp.random.default_rng(seed)
    subscripts, shapes = random_einsum(rng)
    check("einsum", subscripts, *map(draw, shapes), optimize=bool(seed % 2))


@pytest.mark.parametrize(
    ("optimize", "passed_on"),
    [(True, True), ("optimal", "optimal"), (["einsum_path", (0, 1), (0, 1)], True), (None, False)],
)
def test_einsum_passes_optimize_on(optimize, passed_on, monkeypatch):
    given = []
    einsum = np.einsum

    def record(*args, **kwargs):
        given.append(kwargs["optimize"])
        return einsum(*args, **kwargs)

    kwargs = {} if optimize is None else {"optimize": optimize}
    args = draw((2, 3)), draw((3, 4)), draw((4, 2))
    vjp, _ = make_vjp(lambda x: np.einsum("ij,jk,kl->il", x, *args[1:], **kwargs), args[0])
    monkeypatch.setattr(contractions.anp, "einsum", record)
    onp.testing.assert_allclose(vjp(onp.ones((2, 2))), onp.ones((2, 2)) @ (args[1] @ args[2]).T)
    assert given == [passed_on]


@pytest.mark.parametrize("subscripts", ["ij->i", "ij->", "ii->", "ii->i", "ij->ij", "ij->ji"])
def test_gradient_of_einsum_may_be_written_to(subscripts):
    gradient = grad(lambda x: np.sum(np.einsum(subscripts, x)))(draw((3, 3)))
    assert gradient.flags.writeable
    assert 0 not in gradient.strides


def test_one_array_as_several_arguments():
    x = draw((3, 3))
    wanted = onp.ones((3, 3)) @ x.T + x.T @ onp.ones((3, 3))
    for product in (np.dot, np.matmul, lambda a, b: np.tensordot(a, b, 1), lambda a, b: np.einsum("ij,jk", a, b)):
        onp.testing.assert_allclose(grad(lambda x, product=product: np.sum(product(x, x)))(x), wanted)
    onp.testing.assert_allclose(grad(lambda v: np.einsum("i,i,i->", v, v, v))(x[0]), 3 * x[0] ** 2)


# ----------------------------------------------------------------------------------------- higher orders, and memory

SECOND_ORDER = [
    ("dot", (), (2, 3)),
    ("dot", (3,), (2, 3, 2)),
    ("dot", (2, 3), (3,)),
    ("dot", (2, 2, 3), (2, 3, 2)),
    ("matmul", (3,), (2, 3, 2)),
    ("matmul", (2, 2, 3), (3,)),
    ("matmul", (2, 2, 3), (1, 3, 2)),
    ("inner", (2, 2, 3), (2, 3)),
    ("outer", (2, 2), (3,)),
    ("vdot", (2, 2), (4,)),
    ("tensordot", (2, 3), (3, 2), 1),
    ("tensordot", (2, 3, 2), (2, 2, 3), ([1, 0], [2, 0])),
    ("kron", (2,), (2, 2)),
    ("cross", (2, 3), (3,)),
    ("einsum", "ii,ij->j", (2, 2), (1, 3)),
    ("einsum", "...i,ij", (2, 2), (2, 3)),
]


@pytest.mark.parametrize("dtype", ["d", "D"])
@pytest.mark.parametrize("call", SECOND_ORDER, ids=str)
def test_second_order(call, dtype):
    name, *args = call
    args = [draw(a, dtype) if isinstance(a, tuple) and all(isinstance(n, int) for n in a) else a for a in args]
    variables = tuple(k for k, arg in enumerate(args) if isinstance(arg, onp.ndarray))
    check_grads(getattr(np, name), variables, order=2)(*args)


def test_what_the_rule_does_not_need_is_not_kept():
    constant, kept = draw((3, 3)), []

    def f(x, product):
        y = x * 2.0
        kept.append(weakref.ref(getval(y)))
        return product(y, constant)

    for product in (np.dot, np.matmul, np.inner, np.outer, np.kron, np.tensordot):
        vjp, _ = make_vjp(lambda x, product=product: f(x, product), draw((3, 3)))
        assert kept[-1]() is None
        del vjp


@pytest.mark.parametrize(
    "f",
    [
        lambda np, x, y: np.dot(x, y),
        lambda np, x, y: np.dot(x[0], y) @ x[1, :2],
        lambda np, x, y: np.tensordot(x, y, ([0, 1], [1, 0])),
        lambda np, x, y: np.inner(x, y.T),
        lambda np, x, y: np.outer(x[0], y[0]),
        lambda np, x, y: np.kron(x, y),
        lambda np, x, y: np.cross(x, y.T),
        lambda np, x, y: np.einsum("ij,ji,...->i...", x, y, x),
    ],
)
def test_autograd_agrees(f):
    autograd = pytest.importorskip("autograd", reason="the comparison needs autograd itself")
    import autograd.numpy as anp

    args = draw((2, 3)), draw((3, 2))
    for k in (0, 1):
        ours = grad(lambda *args: np.sum(np.sin(f(np, *args))), k)(*args)
        theirs = autograd.grad(lambda *args: anp.sum(anp.sin(f(anp, *args))), k)(*args)
        onp.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)
