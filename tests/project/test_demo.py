"""The demo, run as a user runs it, with few steps."""

import contextlib
import importlib.util
import io
import sys
from pathlib import Path

import numpy
import pytest

for package in ("matplotlib", "scipy", "sklearn", "tqdm"):
    pytest.importorskip(package, reason="the demo needs what fastgrad[demo] installs")

PATH = Path(__file__).resolve().parents[2] / "examples" / "demo.py"


def load_demo():
    """Import the example, which is no part of the package, from its file."""
    spec = importlib.util.spec_from_file_location("fastgrad_demo", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


demo = load_demo()


def run_main(output, *options):
    """Return the results and what was printed."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        results = demo.main(["--quick", "--output", str(output), *options])
    return results, printed.getvalue()


@pytest.fixture(scope="module")
def quick_run(tmp_path_factory):
    pytest.importorskip("autograd", reason="the comparison needs autograd")
    output = tmp_path_factory.mktemp("demo") / "new_folder" / "figure.png"
    return output, *run_main(output, "--markdown")


def test_figure_is_a_png(quick_run):
    content = quick_run[0].read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    assert len(content) > 20_000, "six panels do not fit into so few bytes"


def test_gradients_agree_with_autograd(quick_run):
    for result in quick_run[1]:
        assert result.relative_difference < 1e-8, result.task.name


def test_training_works(quick_run):
    for result in quick_run[1]:
        assert len(result.train_losses) == len(result.test_losses) > 5
        assert result.train_losses[-1] < 0.5 * result.train_losses[0], result.task.name
    digits, batches, diabetes = (result.score for result in quick_run[1])
    assert digits > 0.9
    assert batches > 0.9
    assert diabetes > 0.25


def test_rates_are_measured(quick_run):
    for result in quick_run[1]:
        assert list(result.rates) == ["fastgrad", "autograd"]
        assert all(rate > 1.0 for rate in result.rates.values())


def test_markdown_table(quick_run):
    output, _, printed = quick_run
    lines = printed.splitlines()
    assert [cell.strip() for cell in lines[0].strip("|").split("|")] == [
        "task", "batch", "loss", "test score", "fastgrad", "autograd", "ratio", "difference",
    ]  # fmt: skip
    assert set(lines[1]) == set("|-: ")
    assert [line.split("|")[1].split(",")[0].strip() for line in lines[2:5]] == ["digits", "digits", "diabetes"]
    assert len({len(line) for line in lines[:5]}) == 1
    assert str(output) in lines[-1]


def test_without_autograd(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "autograd", None)
    results, printed = run_main(tmp_path / "demo.png")
    assert printed.startswith("autograd is not installed")
    assert "ratio" not in printed
    assert all(list(result.rates) == ["fastgrad"] and result.difference is None for result in results)
    assert (tmp_path / "demo.png").stat().st_size > 20_000


@pytest.mark.parametrize("missing", ["matplotlib.figure", "sklearn.datasets", "tqdm"])
def test_missing_package_is_named(monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(SystemExit, match=rf"{missing}.*pip install 'fastgrad\[demo\]'"):
        load_demo()


@pytest.mark.parametrize("task", demo.load_tasks(quick=True), ids=lambda task: task.name)
def test_gradient_against_central_difference(task):
    rng = numpy.random.default_rng(1)
    theta = demo.initial_theta(task.model.layers) + 0.1
    direction = rng.normal(size=theta.shape)
    value, gradient = demo.loss_and_grad_on("fastgrad", task.model.loss)(theta, *task.train)
    ahead, behind = (task.model.loss(numpy, theta + h * direction, *task.train) for h in (1e-5, -1e-5))
    assert value == pytest.approx(task.model.loss(numpy, theta, *task.train), rel=1e-14)
    assert gradient @ direction == pytest.approx((ahead - behind) / 2e-5, rel=1e-6)


def test_tasks_keep_test_rows_apart():
    for task in demo.load_tasks(quick=True):
        train, test = ({row.tobytes() for row in x} for x, _ in (task.train, task.test))
        assert train.isdisjoint(test)
        assert 0.19 < len(test) / (len(train) + len(test)) < 0.21


def test_largest_differences():
    functions = {
        "one": lambda x: (0.0, numpy.array([1.0, 2.5]) * x),
        "other": lambda x: (0.0, numpy.array([1.0, 2.0]) * x),
    }
    assert demo.largest_differences(functions, [(1.0,), (10.0,)]) == (5.0, 0.25)


def test_plain_table_is_aligned():
    assert demo.format_table([["task", "loss"], ["a", "0.25"], ["long name", "1"]], markdown=False).splitlines() == [
        "task       loss",
        "---------  ----",
        "a          0.25",
        "long name     1",
    ]
