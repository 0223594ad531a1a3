"""`einsum`: labels that are repeated, summed or broadcast, lists of labels, ellipses and random calls."""

import numpy as onp
import pytest
from product_checks import check, draw

import fastgrad.numpy as np
from fastgrad import grad
from fastgrad.core import make_vjp
from fastgrad.numpy.rules import einsum as einsum_rules


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
    monkeypatch.setattr(einsum_rules.anp, "einsum", record)
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
