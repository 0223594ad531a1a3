"""dot, matmul, tensordot, inner, outer, vdot, kron and cross in every combination of numbers of axes.

All are linear in each argument, so NumPy itself gives the exact reference: the cotangent's entries are the answers to
the basis vectors, paired with the cotangent of the answer; the tangent of the answer is the answer to the tangent.
"""

import itertools
import weakref

import numpy as onp
import pytest
from product_checks import check, draw

import fastgrad.numpy as np
from fastgrad import grad
from fastgrad.core import make_vjp
from fastgrad.test_util import check_grads
from fastgrad.tracer import getval

SHAPES = [(), (3,), (2, 3), (4, 2, 3), (2, 1, 2, 3)]

# -------------------------------------------------------------------------------------- every combination of dimensions


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


# --------------------------------------------------------------------------------------------------------------- dtypes


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


# ------------------------------------------------------------------------------------------------------------ tensordot


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


# ---------------------------------------------------------------------------------------------------------------- cross


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


# -------------------------------------------------------------------------------------------- higher orders, and memory

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
