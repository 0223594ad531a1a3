"""The checks that are made of each sample of the table of rules.

:class:`Case` is a sample at one dtype with its random directions fixed; its ``check_*`` methods are the tests. The
inner product of a cotangent ``g`` and a tangent ``v`` is ``Re(sum(g * v))``, without conjugation: for a real function
of a complex ``z`` the gradient is ``du/dx - i du/dy``. Directional differences suffice: a wrong entry of a Jacobian
shows along a random direction.
"""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as onp
import pytest
from samples import Row, Sample, Tree, Variable, leaves
from table import ROWS

import fastgrad.numpy as anp
from fastgrad import make_jvp, make_vjp

# Allowed error, relative to 1 + the largest entry, for each dtype.
DIFFERENCE_TOL = {"d": 2e-7, "D": 2e-7, "f": 1e-3, "F": 1e-3}
EXACT_TOL = {"d": 1e-11, "D": 1e-11, "f": 5e-5, "F": 5e-5}
SECOND_TOL = 2e-6


# ---------------------------------------------------------------------------------------------------------------------
# Comparing
# ---------------------------------------------------------------------------------------------------------------------


def _assert_close(actual: list, expected: list, tol: float, what: str) -> None:
    assert len(actual) == len(expected), f"{what}: {len(actual)} items instead of {len(expected)}"
    for i, (a, b) in enumerate(zip(actual, expected, strict=True)):
        assert onp.shape(a) == onp.shape(b), f"{what}, item {i}: shape {onp.shape(a)} instead of {onp.shape(b)}"
        scale = 1.0 + onp.max(onp.abs(b), initial=0.0)
        error = onp.max(onp.abs(onp.subtract(a, b)), initial=0.0)
        assert error <= tol * scale, f"{what}, item {i}: off by {error:.3g}\n got {a}\n for {b}"


def _assert_same_type(actual: Any, expected: Any, what: str) -> None:
    assert onp.shape(actual) == onp.shape(expected), f"{what}: shape {onp.shape(actual)} for {onp.shape(expected)}"
    got, want = onp.result_type(actual), onp.result_type(expected)
    assert got == want, f"{what}: dtype {got} instead of {want}"


def _pairing(left: list, right: list) -> float:
    return sum(float(onp.sum(onp.real(onp.multiply(a, b)))) for a, b in zip(left, right, strict=True))


def _direction(x: Any, rng: onp.random.Generator) -> Any:
    """Return random numbers of the dtype of x, in its memory order, so that ``x + t * v`` keeps the order of x."""
    x = onp.asanyarray(x) if not onp.isscalar(x) else x
    entries = rng.standard_normal(onp.shape(x))
    if onp.iscomplexobj(x):
        entries = entries + 1j * rng.standard_normal(onp.shape(x))
    if onp.isscalar(x):
        return type(x)(entries)
    out = onp.empty_like(x)
    out[...] = entries
    return out


def _widen(x: Any) -> Any:
    """Return x in double precision, in its memory order."""
    wide = {"f": "d", "F": "D"}.get(onp.result_type(x).char)
    return x if wide is None else onp.asarray(x).astype(wide)


def _central(f: Callable[[float], list], step: float) -> list:
    """Return the derivative at 0 of a function that returns a list of arrays, to fourth order in `step`."""
    far, near = 2.0 * step, step
    points = zip(f(far), f(near), f(-near), f(-far), strict=True)
    return [(8.0 * (onp.subtract(b, c)) - onp.subtract(a, d)) / (12.0 * step) for a, b, c, d in points]


# ---------------------------------------------------------------------------------------------------------------------
# The checks
# ---------------------------------------------------------------------------------------------------------------------


class Case:
    """A sample at one dtype: the point, a tangent for each variable, a cotangent for each output."""

    def __init__(self, row: Row, index: int, sample: Sample, dtype: str) -> None:
        self.row, self.sample, self.dtype = row, sample, dtype
        self.id = f"{row.name}-{index}-{dtype}"
        kinds = {x.kind or dtype for x in leaves(sample.args) if isinstance(x, Variable)} | {dtype}
        self.is_single = sample.coarse or not kinds.isdisjoint("fF")
        self.precision = "f" if self.is_single else dtype

    def __repr__(self) -> str:
        return self.id

    # -- the point and the directions, the same in every run ------------------------------------------------------

    def rng(self, what: str) -> onp.random.Generator:
        return onp.random.default_rng(zlib.crc32(f"{self.id} {what}".encode()))

    @property
    def is_differentiated(self) -> bool:
        return self.sample.is_differentiated

    @property
    def has_matrix(self) -> bool:
        """Return whether an argument has more than one axis, so that its memory order matters."""
        return any(isinstance(x, Variable) and len(x.shape) > 1 for x in leaves(self.sample.args))

    @cached_property
    def variables(self) -> list:
        return self.sample.draw(self.rng("variables"), self.dtype)

    @cached_property
    def tangents(self) -> list:
        rng = self.rng("tangents")
        return [_direction(x, rng) for x in self.variables]

    @cached_property
    def expected(self) -> Tree:
        """Return NumPy's result."""
        return self.call(onp)(*self.variables)

    @cached_property
    def cotangents(self) -> list:
        rng = self.rng("cotangents")
        return [_direction(y, rng) for y in self.outputs(self.expected)]

    @cached_property
    def second_directions(self) -> tuple[list, list]:
        """Return a change of each cotangent, and a change of each tangent."""
        rng = self.rng("second directions")
        return [_direction(g, rng) for g in self.cotangents], [_direction(v, rng) for v in self.tangents]

    # -- calling ---------------------------------------------------------------------------------------------------

    def call(self, np: Any) -> Callable:
        """Return the function of the variables alone."""
        fun, sample = self.row.function(np), self.sample
        return lambda *variables: fun(*sample.arguments(variables), **sample.kwargs)

    @property
    def argnums(self) -> int | tuple[int, ...]:
        n = len(self.variables)
        return 0 if n == 1 else tuple(range(n))

    def inputs(self, joint: Any) -> list:
        """Return the result of a joint derivative as a list with one item for each variable."""
        n = len(self.variables)
        return [joint] if n == 1 else [joint[i] for i in range(n)]

    def outputs(self, answer: Any) -> list:
        """Return a result, or its tangent, as a list with one item for each output."""
        if isinstance(self.expected, (list, tuple)):
            return [answer[i] for i in range(len(self.expected))]
        return [answer]

    def like_answer(self, outputs: list) -> Tree:
        container = type(self.expected)
        return container(outputs) if issubclass(container, (list, tuple)) else outputs[0]

    def like_variables(self, inputs: list) -> Any:
        return inputs[0] if len(inputs) == 1 else tuple(inputs)

    def pullbacks(self, pull: Callable = make_vjp, np: Any = anp) -> list:
        """Return the cotangent of each variable, each traced alone."""
        fun, g = self.call(np), self.like_answer(self.cotangents)
        return [pull(fun, i)(*self.variables)[0](g) for i in range(len(self.variables))]

    @cached_property
    def pulled(self) -> list:
        """Return the cotangent of each variable, all traced together."""
        vjp, _ = make_vjp(self.call(anp), self.argnums)(*self.variables)
        return self.inputs(vjp(self.like_answer(self.cotangents)))

    @cached_property
    def pushed(self) -> list:
        """Return the tangent of each output for tangents of all variables together."""
        push = make_jvp(self.call(anp), self.argnums)(*self.variables)
        return self.outputs(push(self.like_variables(self.tangents))[1])

    @cached_property
    def differences(self) -> list:
        """Return the tangent of each output by central differences of NumPy's function, in double precision."""
        fun, lines = self.call(onp), list(zip(map(_widen, self.variables), map(_widen, self.tangents), strict=True))

        def along(t: float) -> list:
            return [onp.asarray(y) for y in self.outputs(fun(*[x + t * v for x, v in lines]))]

        return _central(along, 0.05 if self.sample.coarse else 1e-3)

    # -- first order -----------------------------------------------------------------------------------------------

    def check_value(self) -> None:
        """Check that the value is NumPy's, for concrete and for traced variables."""
        plain = self.call(anp)(*self.variables)
        assert type(plain) is type(self.expected), f"a {type(plain)} instead of a {type(self.expected)}"
        answers = [("plain", plain)]
        if self.variables:
            answers.append(("reverse", make_vjp(self.call(anp), self.argnums)(*self.variables)[1]))
            push = make_jvp(self.call(anp), self.argnums)(*self.variables)
            answers.append(("forward", push(self.like_variables(self.tangents))[0]))
        for mode, answer in answers:
            for got, want in zip(self.outputs(answer), self.outputs(self.expected), strict=True):
                assert isinstance(got, onp.ndarray) == isinstance(want, onp.ndarray), f"{mode}: {type(got)}"
                _assert_same_type(got, want, mode)
                # A few units in the last place: NumPy's loops for complex numbers depend on the memory's alignment.
                eps = onp.finfo(onp.asarray(want).dtype).eps
                onp.testing.assert_allclose(got, want, rtol=8 * eps, atol=8 * eps, err_msg=mode)

    def check_refusal(self) -> None:
        """Check that both modes refuse the call."""
        assert type(self.call(anp)(*self.variables)) is type(self.expected)
        for i, v in enumerate(self.tangents):
            with pytest.raises(NotImplementedError):
                make_vjp(self.call(anp), i)(*self.variables)[0](self.like_answer(self.cotangents))
            with pytest.raises(NotImplementedError):
                make_jvp(self.call(anp), i)(*self.variables)(v)

    def check_cotangents(self) -> None:
        """Check that a cotangent has its argument's shape and dtype and does not depend on what else is traced.

        Nothing that was passed in may change.
        """
        given = [*self.variables, *self.cotangents]
        before = [onp.array(x, copy=True) for x in given]
        alone = self.pullbacks()
        for i, (got, x) in enumerate(zip(alone, self.variables, strict=True)):
            if isinstance(x, (float, complex)) and not isinstance(x, onp.generic):
                # The dtype of a Python number adapts to the arrays beside it.
                assert onp.iscomplexobj(got) == isinstance(x, complex), f"cotangent {i}: {got} for {x}"
                assert onp.shape(got) == (), f"cotangent {i}: shape {onp.shape(got)} for a number"
            else:
                _assert_same_type(got, x, f"cotangent {i}")
        _assert_close(self.pulled, alone, EXACT_TOL[self.precision], "all arguments traced")
        assert all(map(onp.array_equal, given, before, [True] * len(given))), "an argument or a cotangent was changed"
        if self.sample.pullback is not None:
            expected = self.sample.pullback(self.like_answer(self.cotangents), *self.variables)
            _assert_close(alone, leaves(expected), EXACT_TOL[self.precision], "cotangents")

    def check_vjp(self) -> None:
        """Check that the pullback agrees with differences along one direction."""
        by_rule = _pairing(self.pulled, self.tangents)
        by_difference = _pairing(self.cotangents, self.differences)
        _assert_close([by_rule], [by_difference], DIFFERENCE_TOL[self.precision], "VJP against differences")

    def check_jvp(self) -> None:
        """Check the pushforward against differences; a tangent has the result's dtype if all arguments share one."""
        one_dtype = len({onp.result_type(x) for x in self.variables}) == 1
        for got, want in zip(self.pushed, self.outputs(self.expected), strict=True):
            assert onp.iscomplexobj(got) <= onp.iscomplexobj(want), "a complex tangent of a real answer"
            if one_dtype and not self.sample.coarse:
                _assert_same_type(got, want, "tangent")
        _assert_close(self.pushed, self.differences, DIFFERENCE_TOL[self.precision], "JVP against differences")

    def check_layouts(self) -> None:
        """Check that the memory layout of tangents and cotangents makes no difference."""
        push = make_jvp(self.call(anp), self.argnums)(*self.variables)
        vjp, _ = make_vjp(self.call(anp), self.argnums)(*self.variables)
        for lay in (onp.ascontiguousarray, onp.asfortranarray):
            relaid = ([lay(x) if onp.ndim(x) > 1 else x for x in xs] for xs in (self.tangents, self.cotangents))
            tangents, cotangents = relaid
            pushed = self.outputs(push(self.like_variables(tangents))[1])
            _assert_close(pushed, self.pushed, EXACT_TOL[self.precision], "JVP of tangents in another order")
            pulled = self.inputs(vjp(self.like_answer(cotangents)))
            _assert_close(pulled, self.pulled, EXACT_TOL[self.precision], "VJP of cotangents in another order")

    def check_transpose(self) -> None:
        """Check that VJP and JVP are each other's transpose, and that the tangents of single arguments add up."""
        forward = [onp.multiply(g, t) for g, t in zip(self.cotangents, self.pushed, strict=True)]
        size = sum(float(onp.sum(onp.abs(p))) for p in forward)
        error = abs(sum(float(onp.sum(onp.real(p))) for p in forward) - _pairing(self.pulled, self.tangents))
        assert error <= EXACT_TOL[self.precision] * (1.0 + size), f"not transposes of one another: off by {error:.3g}"
        if len(self.variables) > 1:
            fun = self.call(anp)
            alone = [make_jvp(fun, i)(*self.variables)(v)[1] for i, v in enumerate(self.tangents)]
            totals = [sum(parts) for parts in zip(*map(self.outputs, alone), strict=True)]
            _assert_close(self.pushed, totals, EXACT_TOL[self.precision], "sum of the JVPs of each argument alone")

    # -- second order: along a line through the point, all of it traced ---------------------------------------------

    def _along(self, points: list, directions: list, t: Any) -> list:
        return [anp.add(x, anp.multiply(t, v)) for x, v in zip(points, directions, strict=True)]

    def pullback_along(self, t: Any) -> Any:
        """Return ``<v, J(x + t v)^T (g + t dg)>``, a scalar function of t."""
        cotangents = self._along(self.cotangents, self.second_directions[0], t)
        vjp, _ = make_vjp(self.call(anp), self.argnums)(*self._along(self.variables, self.tangents, t))
        return _traced_pairing(self.second_directions[1], self.inputs(vjp(self.like_answer(cotangents))))

    def pushforward_along(self, t: Any) -> Any:
        """Return ``<g, J(x + t v) (v + t dv)>``, a scalar function of t."""
        tangents = self._along(self.tangents, self.second_directions[1], t)
        push = make_jvp(self.call(anp), self.argnums)(*self._along(self.variables, self.tangents, t))
        return _traced_pairing(self.cotangents, self.outputs(push(self.like_variables(tangents))[1]))

    def check_second_order(self, first: str) -> None:
        """Check that reverse and forward mode of the first derivative agree with its differences."""
        along = self.pullback_along if first == "VJP" else self.pushforward_along
        expected = _central(lambda t: [along(t)], 5e-4)
        _assert_close([make_vjp(along)(0.0)[0](1.0)], expected, SECOND_TOL, f"reverse over {first}")
        _assert_close([make_jvp(along)(0.0)(1.0)[1]], expected, SECOND_TOL, f"forward over {first}")

    # -- autograd ---------------------------------------------------------------------------------------------------

    @property
    def oracle_fault(self) -> str | None:
        """Return autograd's fault in this case, or None."""
        oracle = self.sample.oracle if self.row.oracle is True else self.row.oracle
        if isinstance(oracle, Mapping):
            return oracle.get(self.dtype)
        return None if oracle is True else oracle

    def check_oracle(self, pull: Callable, np: Any) -> None:
        """Check that the cotangents are autograd's, or that autograd has the fault that the table claims."""
        fault = None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                answer = self.outputs(self.call(np)(*self.variables))
                theirs = self.pullbacks(pull, np)
        except Exception as error:  # any error counts as a fault
            fault = error
        else:
            try:
                _assert_close(answer, self.outputs(self.expected), EXACT_TOL[self.precision], "value")
                _assert_close(self.pullbacks(), theirs, EXACT_TOL[self.precision], "cotangents for autograd's")
            except AssertionError as error:
                fault = error
        if self.oracle_fault is None:
            assert fault is None, f"{type(fault).__name__}: {fault}"
        else:
            assert fault is not None, f"autograd agrees, though it is said: {self.oracle_fault}"


def _traced_pairing(left: list, right: list) -> Any:
    total: Any = 0.0
    for a, b in zip(left, right, strict=True):
        total = total + anp.sum(anp.real(anp.multiply(a, b)))
    return total


def cases_of(row: Row) -> list[Case]:
    """Return the cases of a row, one for each sample and dtype."""
    return [Case(row, i, s, dtype) for i, s in enumerate(row.samples) for dtype in s.dtypes]


# The cases of the table by what can be checked of them.
ALL = [case for row in ROWS if row.exists for case in cases_of(row)]
REFUSED = [case for case in ALL if case.sample.refused]
CASES = [case for case in ALL if not case.sample.refused]
DIFFERENTIABLE = [case for case in CASES if case.is_differentiated]
SMOOTH = [case for case in DIFFERENTIABLE if not case.sample.kink]
OF_MATRICES = [case for case in DIFFERENTIABLE if case.has_matrix]
# Twice differentiable, in double precision.
TWICE = [case for case in SMOOTH if case.sample.order == 2 and not case.is_single]
