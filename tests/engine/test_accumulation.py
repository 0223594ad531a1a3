"""Cotangents are added up in place only where nobody else holds them."""

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import builtins as traced
from fastgrad import core, grad, make_vjp
from fastgrad.core import SparseObject, add_outgrads, sum_outgrads, vspace
from fastgrad.extend import defvjp, primitive

X = onp.linspace(0.1, 1.9, 7)


def keeping(look):
    """Return an identity whose rule keeps ``look(cotangent)`` and a copy of it, and the list of these."""
    kept = []

    @primitive
    def tap(x):
        return x * 1.0

    def rule(ans, x):
        def pull(g):
            kept.append((look(g), onp.array(look(g))))
            return g

        return pull

    defvjp(tap, rule)
    return tap, kept


@pytest.mark.parametrize(
    "look", [lambda g: g, lambda g: g[::2], memoryview, lambda g: g.reshape(-1, 1), lambda g: [g][0].T]
)
def test_a_cotangent_that_a_rule_keeps_is_not_overwritten(look):
    tap, kept = keeping(look)
    fun = lambda x: np.sum(np.sin(np.exp(-tap(-np.cos(np.exp(x) * 2)))) * np.exp(x))  # noqa: E731
    wanted = grad(lambda x: np.sum(np.sin(np.exp(np.cos(np.exp(x) * 2))) * np.exp(x)))(X)
    onp.testing.assert_allclose(grad(fun)(X), wanted)
    onp.testing.assert_allclose(make_vjp(fun)(X)[0](1.0), wanted)
    assert len(kept) == 2
    for held, copy in kept:
        assert onp.array_equal(onp.asarray(held), copy)


def test_a_constant_that_a_rule_returns_is_not_overwritten():
    constant = onp.arange(7.0)

    @primitive
    def fixed(x):
        return x * 1.0

    defvjp(fixed, lambda ans, x: lambda g: constant)
    grad(lambda x: np.sum(fixed(-np.sin(np.exp(-x)))))(X)
    assert onp.array_equal(constant, onp.arange(7.0))


def test_a_pullback_may_be_called_again_and_leaves_its_seed_alone():
    vjp, ans = make_vjp(lambda x: -np.sin(np.exp(-np.cos(x) * 2)))(X)
    seed = onp.ones(7)
    first = vjp(seed)
    copy = first.copy()
    second = vjp(seed)
    assert onp.array_equal(seed, onp.ones(7))
    assert onp.array_equal(first, copy) and onp.array_equal(second, copy) and first is not second


SHARERS = [
    lambda a, b: np.sum(a + b),
    lambda a, b: np.sum(a - b),
    lambda a, b: np.dot(a, X) + np.dot(X, b),
    lambda a, b: np.sum(np.reshape(a + b, (7, 1))),
    lambda a, b: np.sum((a + b)[::-1]),
    lambda a, b: np.sum(np.stack([a, b]) * 2),
    lambda a, b: np.sum(np.concatenate([a, b]) * 2),
    lambda a, b: np.sum(np.array([a, b]) * 2),
    lambda a, b: np.sum(np.real(np.positive(a + b))),
    lambda a, b: np.einsum("i,i->", a, b),
]


@pytest.mark.parametrize("fun", SHARERS)
def test_gradients_share_memory_with_nothing(fun):
    a, b = X.copy(), X + 1
    of_args = grad(fun, (0, 1))(a, b)
    of_list = grad(lambda x: fun(x[0], x[1]))([a, b])
    of_dict = grad(lambda x: fun(x["a"], x["b"]))({"a": a, "b": b})
    for first, second in (of_args, of_list, of_dict.values()):
        assert first.flags.writeable and second.flags.writeable
        for x, y in ((first, second), (first, a), (second, b), (first, X), (second, X)):
            assert not onp.shares_memory(x, y)


# ----------------------------------------------------------------------------------------------------- the reverse core


@pytest.fixture
def recorded(monkeypatch):
    """Record every call of ``core.add_outgrads`` as ``(previous, cotangent, result)``."""
    calls = []
    original = core.add_outgrads

    def recorder(previous, g):
        result = original(previous, g)
        calls.append((previous, g, result))
        return result

    monkeypatch.setattr(core, "add_outgrads", recorder)
    return calls


def test_add_outgrads_can_be_replaced_by_a_recorder(recorded):
    assert grad(lambda x: x * x)(3.0) == 6.0
    assert recorded == [(None, 3.0, (3.0, False)), ((3.0, False), 3.0, (6.0, True))]


def test_a_replacement_of_add_outgrads_decides_the_result(monkeypatch):
    monkeypatch.setattr(core, "add_outgrads", lambda previous, g: (10.0, True))
    assert grad(lambda x: x * x)(3.0) == 10.0


def test_the_original_add_outgrads_is_back_in_use_afterwards():
    assert grad(lambda x: x * x)(3.0) == 6.0


@pytest.mark.parametrize("contributions", [3, 4, 7])
def test_from_the_third_contribution_on_the_sum_is_made_in_place(recorded, contributions):
    def f(x):
        return sum((np.sum(x * float(k)) for k in range(1, contributions)), np.sum(x))

    expected = 1.0 + sum(range(1, contributions))
    onp.testing.assert_array_equal(grad(f)(onp.ones(4)), onp.full(4, expected))
    onto_x = [(prev, result) for prev, g, result in recorded if prev is not None and onp.shape(g) == (4,)]
    assert len(onto_x) == contributions - 1
    (first_prev, first), *later = onto_x
    assert (first_prev[1], first[1]) == (False, True)
    assert first[0] is not first_prev[0]
    assert all(result[0] is prev[0] and result[1] and prev[1] for prev, result in later)


def test_add_outgrads_keeps_the_first_contribution_as_it_is():
    g = onp.ones(3)
    kept, mutable = add_outgrads(None, g)
    assert kept is g
    assert mutable is False


def test_add_outgrads_adds_the_second_contribution_out_of_place():
    first, second = onp.ones(3), onp.full(3, 2.0)
    total, mutable = add_outgrads((first, False), second)
    assert total.tolist() == [3.0, 3.0, 3.0]
    assert mutable is True
    assert total is not first
    assert total is not second
    assert (first.tolist(), second.tolist()) == ([1.0] * 3, [2.0] * 3)


def test_add_outgrads_adds_the_third_contribution_in_place():
    total, third = onp.ones(3), onp.full(3, 2.0)
    result, mutable = add_outgrads((total, True), third)
    assert result is total
    assert mutable is True
    assert total.tolist() == [3.0] * 3
    assert third.tolist() == [2.0] * 3


@pytest.mark.parametrize(
    ("g", "h", "expected"),
    [
        (1.5, 2.0, 3.5),
        (1.0, onp.float64(2.0), 3.0),
        (1j, 2.0 + 1j, 2.0 + 2j),
        ([1.0, onp.ones(2)], [2.0, onp.ones(2)], [3.0, onp.full(2, 2.0)]),
        ((1.0, (2.0,)), (3.0, (4.0,)), (4.0, (6.0,))),
        ({"a": 1.0}, {"a": 2.0}, {"a": 3.0}),
    ],
    ids=repr,
)
@pytest.mark.parametrize("mutable", [False, True])
def test_add_outgrads_of_scalars_and_containers(g, h, expected, mutable):
    total, flag = add_outgrads((g, mutable), h)
    assert flag is True
    assert vspace(total) == vspace(expected)
    assert str(total) == str(expected)


def sparse_at(like, index, value):
    """Return a cotangent that adds ``value`` at ``index`` of an array like ``like``."""

    def mut_add(total):
        onp.add.at(total, index, value)
        return total

    return SparseObject(vspace(like), mut_add)


def test_a_sparse_contribution_first():
    like = onp.arange(3.0)
    total, mutable = add_outgrads(None, sparse_at(like, 1, 5.0))
    assert (total.tolist(), mutable) == ([0.0, 5.0, 0.0], True)
    assert like.tolist() == [0.0, 1.0, 2.0]


def test_a_sparse_contribution_onto_a_dense_one_copies_once():
    dense = onp.ones(3)
    total, mutable = add_outgrads((dense, False), sparse_at(dense, 1, 5.0))
    assert (total.tolist(), mutable) == ([1.0, 6.0, 1.0], True)
    assert dense.tolist() == [1.0, 1.0, 1.0]
    again, _ = add_outgrads((total, True), sparse_at(dense, 0, 2.0))
    assert again is total
    assert total.tolist() == [3.0, 6.0, 1.0]


def test_sum_outgrads():
    dense = onp.ones(3)
    total = sum_outgrads([sparse_at(dense, 1, 5.0), dense, dense])
    assert total.tolist() == [2.0, 7.0, 2.0]
    assert dense.tolist() == [1.0, 1.0, 1.0]
    assert sum_outgrads([dense]) is dense
    assert sum_outgrads(iter([1.0, 2.0, 3.0])) == 6.0


@pytest.mark.parametrize("picked", [(0, 0), (0, 1, 2), (2, -1, 2, 1)])
@pytest.mark.parametrize("dense_first", [True, False])
def test_sparse_and_dense_contributions_to_one_input(picked, dense_first):
    def f(x):
        sparse = sum(x[i] for i in picked)
        dense = np.sum(x * x)
        return dense + sparse if dense_first else sparse + dense

    x = onp.array([1.0, 2.0, 3.0])
    expected = 2.0 * x
    for i in picked:
        expected[i] += 1.0
    onp.testing.assert_array_equal(grad(f)(x), expected)


# ----------------------------------------------------------------------------------- nothing the caller owns is changed

USES_ITS_INPUT_OFTEN = [
    lambda x: x + x + x,
    lambda x: x[...] + x + x[::-1],
    lambda x: (x * x + x) * x + x,
    lambda x: np.concatenate([x, x, x]),
    lambda x: np.stack([x, x + x, x[::-1]]),
    lambda x: x - x + x.T + np.reshape(x, (-1,)),
    lambda x: np.where(x > 1.5, x, x + x) + x,
]


@pytest.mark.parametrize("f", USES_ITS_INPUT_OFTEN)
@pytest.mark.parametrize("dtype", [float, onp.float32, complex])
def test_neither_seeds_nor_inputs_are_changed(f, dtype):
    x = onp.array([1.0, 2.0, 3.0], dtype)
    vjp, value = make_vjp(f)(x)
    seed = onp.arange(1.0, 1.0 + onp.size(value)).reshape(onp.shape(value)).astype(dtype)
    kept, value_before = seed.copy(), onp.array(value)
    first = onp.array(vjp(seed))
    onp.testing.assert_array_equal(vjp(seed), first)
    onp.testing.assert_array_equal(seed, kept)
    onp.testing.assert_array_equal(x, onp.array([1.0, 2.0, 3.0], dtype))
    onp.testing.assert_array_equal(value, value_before)


def test_read_only_arrays_are_accepted():
    x = onp.array([1.0, 2.0])
    x.flags.writeable = False
    vjp, _ = make_vjp(lambda v: v + v + v + v[...])(x)
    seed = onp.ones(2)
    seed.flags.writeable = False
    assert vjp(seed).tolist() == [4.0, 4.0]


def test_an_array_that_a_rule_returns_again_and_again_is_not_changed():
    constant = onp.array([1.0, 2.0])

    @primitive
    def dot_with_constant(x, y):
        return float(onp.dot(constant, x + y))

    defvjp(dot_with_constant, lambda ans, x, y: lambda g: constant, lambda ans, x, y: lambda g: constant)
    f = lambda x: dot_with_constant(x, x) + dot_with_constant(x, x)  # noqa: E731
    assert grad(f)(onp.ones(2)).tolist() == [4.0, 8.0]
    assert constant.tolist() == [1.0, 2.0]


def test_a_cotangent_shared_by_two_parents_is_not_changed():
    """Addition returns one object as the cotangent of both; later contributions to one must not reach the other."""

    def f(args):
        x, y = args
        return np.sum((x + y) * onp.array([1.0, 2.0]) + x * 10.0 + x * 100.0)

    gx, gy = grad(f)((onp.ones(2), onp.ones(2)))
    assert gx.tolist() == [111.0, 112.0]
    assert gy.tolist() == [1.0, 2.0]


def test_containers_given_as_seeds_are_not_changed():
    vjp, _ = make_vjp(lambda x: traced.tuple((x, x, x + x)))(onp.ones(2))
    seed = (onp.ones(2), onp.full(2, 10.0), onp.full(2, 100.0))
    assert vjp(seed).tolist() == [211.0, 211.0]
    assert [part.tolist() for part in seed] == [[1.0, 1.0], [10.0, 10.0], [100.0, 100.0]]
