"""benchmarks/compare.py and regression.py: gradients are right, verdicts follow from the times. No time is judged."""

import json
import os
import sys
from functools import cache
from pathlib import Path

import numpy
import pytest

import fastgrad
import fastgrad.numpy
from fastgrad.misc.flatten import flatten

BENCHMARKS = str(Path(__file__).resolve().parents[2] / "benchmarks")


def import_benchmarks():
    """Import the modules, which are in no package, and undo what that does to the environment."""
    environment = dict(os.environ)
    sys.path.insert(0, BENCHMARKS)
    try:
        import compare
        import libraries
        import programs
        import regression
    finally:
        sys.path.remove(BENCHMARKS)
        os.environ.clear()
        os.environ.update(environment)
    return compare, libraries, programs, regression


compare, libraries, programs, regression = import_benchmarks()
each_program = pytest.mark.parametrize("program", programs.PROGRAMS, ids=lambda program: program.name)


def named(name):
    (program,) = (program for program in programs.PROGRAMS if program.name == name)
    return program


@cache
def our_gradient(program):
    """Return the gradient, flattened in the order of the input."""
    return flatten(fastgrad.grad(program.build(fastgrad.numpy))(program.make_input()))[0]


@each_program
def test_value_is_a_real_scalar_and_the_same_as_in_numpy(program):
    value = program.build(numpy)(program.make_input())
    assert numpy.ndim(value) == 0
    assert isinstance(value, float)
    assert numpy.isfinite(value)
    assert program.build(fastgrad.numpy)(program.make_input()) == value


@each_program
def test_gradient_is_that_of_central_differences(program):
    function, gradient = program.build(numpy), our_gradient(program)
    start, restore = flatten(program.make_input())
    direction = numpy.random.standard_normal(start.shape)
    direction /= numpy.linalg.norm(direction)
    step = 1e-5 * max(1.0, float(numpy.linalg.norm(start)))
    change = (function(restore(start + step * direction)) - function(restore(start - step * direction))) / (2 * step)
    assert gradient @ direction == pytest.approx(change, rel=1e-6, abs=1e-6 * numpy.linalg.norm(gradient))


@each_program
def test_gradient_is_that_of_autograd(program):
    pytest.importorskip("autograd")
    function, x = libraries.prepare("autograd", program)
    expected, _ = flatten(function(x))
    gradient = our_gradient(program)
    numpy.testing.assert_allclose(gradient, expected, rtol=0, atol=1e-12 * numpy.max(numpy.abs(expected)))


def test_names_are_unique_and_groups_known():
    names = [program.name for program in programs.PROGRAMS]
    assert len(set(names)) == len(names)
    assert {program.group for program in programs.PROGRAMS} == set(programs.GROUPS)


def test_count_operations():
    assert libraries.count_operations(named("sin_50")) == 50
    assert libraries.count_operations(named("tanh_exp_vector10")) == 6
    assert libraries.count_operations(named("mlp_4x32")) == 4 * 3 + 3, "taking parameters out of lists is no operation"


def test_flat_takes_dicts_in_the_order_of_their_keys():
    tree = {"b": [1.0, (numpy.array([[2.0, 3.0]]), 4.0)], "a": numpy.float64(0.0)}
    numpy.testing.assert_array_equal(libraries.flat(tree), [0.0, 1.0, 2.0, 3.0, 4.0])


def test_gradients_that_differ_are_refused():
    calls = {
        "fastgrad": (lambda x: {"a": x, "b": 2.0}, numpy.ones(3)),
        "autograd": (lambda x: {"a": x, "b": 2.0 + 1e-7}, numpy.ones(3)),
    }
    with pytest.raises(ArithmeticError, match=r"sin_50: the gradients of fastgrad and autograd differ by 5\.0e-08"):
        compare.check_agreement(named("sin_50"), calls)


@pytest.mark.parametrize("wrong", [numpy.nan, numpy.inf])
def test_gradients_that_are_not_finite_are_refused(wrong):
    calls = {"fastgrad": (lambda x: x, 1.0), "autograd": (lambda x: x, wrong)}
    with pytest.raises(ArithmeticError, match="differ"):
        compare.check_agreement(named("sin_50"), calls)


def test_chart_without_fastgrad_is_refused(capsys):
    with pytest.raises(SystemExit):
        compare.main(["--sides", "numpy", "--chart", "chart.png"])
    assert "fastgrad" in capsys.readouterr().err


def times(**seconds):
    """Return the same seconds for every program."""
    return {program.name: dict(seconds) for program in programs.PROGRAMS}


def test_figures_are_geometric_means_and_the_worst():
    results = times(numpy=1.0, fastgrad=2.0, autograd=100.0)
    large = [program.name for program in compare.members("large")]
    results[large[0]]["autograd"], results[large[1]]["autograd"] = 4.0, 64.0
    results["sin_50"]["autograd"] = 10.0
    values = {name: value for name, value, _ in compare.figures(results)}
    assert values["autograd / fastgrad: large arrays, mean"] == pytest.approx(8.0)
    assert values["autograd / fastgrad: scalars, worst"] == 5.0
    assert values["fastgrad / numpy: small arrays, mean"] == pytest.approx(2.0)


def test_figures_leave_out_absent_sides_and_groups_measured_in_part():
    results = times(numpy=1.0, fastgrad=2.0)
    del results["sin_50"]
    assert [name for name, _, _ in compare.figures(results)] == [
        "fastgrad / numpy: small arrays, mean",
        "fastgrad / numpy: large arrays, mean",
    ]


@pytest.mark.parametrize(
    ("seconds", "code"), [({"fastgrad": 1.0, "numpy": 1.0}, 0), ({"fastgrad": 99.0, "numpy": 1.0}, 1)]
)
def test_exit_code_tells_of_missed_bars(seconds, code, monkeypatch, capsys):
    monkeypatch.setattr(compare, "measure", lambda *args: seconds)
    assert compare.main(["--sides", "numpy", "fastgrad"]) == code
    assert ("FAIL" in capsys.readouterr().out) == bool(code)


def test_run(tmp_path, capsys):
    file = tmp_path / "times.json"
    assert compare.main(["--only", "tanh_exp", "mlp_4x32", "--rounds", "1", "--json", str(file)]) == 0
    seconds = json.loads(file.read_text())["seconds"]
    assert list(seconds) == ["tanh_exp", "mlp_4x32"]
    assert set(seconds["tanh_exp"]) == set(libraries.installed_sides()) >= {"numpy", "fastgrad"}
    assert "tanh_exp" in capsys.readouterr().out


def test_chart(tmp_path):
    pytest.importorskip("matplotlib")
    sys.path.insert(0, BENCHMARKS)
    try:
        from chart import draw
    finally:
        sys.path.remove(BENCHMARKS)
    results = times(numpy=1.0, fastgrad=2.0, autograd=100.0)
    del results["rk4"]["autograd"]
    draw(programs.PROGRAMS, results, "no machine", tmp_path / "chart.png")
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


# -------------------------------------------------------------------------------------------------------- regression.py


def test_a_ratio_is_recorded_for_each_program():
    assert set(json.loads(regression.EXPECTED.read_text())) == {program.name for program in programs.PROGRAMS}


def test_only_what_falls_short_each_time_is_a_regression(monkeypatch, capsys):
    found = {"sin_50": iter([20.0, 25.0, 29.0]), "tanh_exp": iter([10.0, 31.0])}
    monkeypatch.setattr(regression, "ratio", lambda program: next(found[program.name]))
    measured = [named("sin_50"), named("tanh_exp")]
    assert regression.regressions(measured, {"sin_50": 50.0, "tanh_exp": 50.0}) == ["sin_50"]
    assert regression.regressions([named("rnn")], {}) == ["rnn"]
    first, second, third = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("autograd")]
    assert first.endswith("50.0      29.0  REGRESSION") and second.endswith("50.0      31.0")
    assert "not recorded" in third


def test_the_verdict_is_the_exit_code(monkeypatch):
    recorded = json.loads(regression.EXPECTED.read_text())
    monkeypatch.setattr(regression, "ratio", lambda program: 0.61 * recorded[program.name])
    assert regression.main([]) == 0
    monkeypatch.setattr(regression, "ratio", lambda program: 0.59 * recorded[program.name])
    assert regression.main([]) == 1
