"""Train a classifier and a regression on real data, and compare the speed of fastgrad's and autograd's gradients.

    python examples/demo.py [--output demo.png] [--markdown] [--quick]

There are three trainings of small neural networks, on data sets that come with scikit-learn:

1. handwritten digits, all images at once, by SciPy's L-BFGS;
2. handwritten digits again, 32 images at a time, by stochastic gradient descent;
3. the progression of diabetes, all patients at once, by L-BFGS.

The models are NumPy code that takes the NumPy module as an argument. So the same code runs on `fastgrad.numpy`, on
`autograd.numpy` (if installed, for the comparison) and on NumPy itself (for losses and scores).
"""

import argparse
import importlib.metadata
import importlib.util
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy

try:
    from matplotlib.figure import Figure
    from scipy.optimize import minimize
    from sklearn.datasets import load_diabetes, load_digits
    from sklearn.metrics import confusion_matrix
    from sklearn.model_selection import train_test_split
    from threadpoolctl import threadpool_limits
    from tqdm import tqdm
except ImportError as error:
    raise SystemExit(f"The demo also needs {error.name}. Install it with: pip install 'fastgrad[demo]'") from error

SEED = 0
POINTS = 5
# From Okabe and Ito's palette, which colour-blind readers can tell apart.
BLUE, ORANGE, RED, GREY = "#0072B2", "#E69F00", "#D55E00", "#8C8C8C"


# The models. In this part `np` may be fastgrad.numpy, autograd.numpy or numpy.


def network(np, theta, x, layers):
    """Return the outputs, shape (rows, layers[-1]), of a multilayer perceptron with tanh units.

    The vector `theta` holds the weights and the biases of every layer, end to end.
    """
    start = 0
    for n_in, n_out in zip(layers[:-1], layers[1:], strict=True):
        if start > 0:
            x = np.tanh(x)
        stop = start + n_in * n_out
        weights, biases = np.reshape(theta[start:stop], (n_in, n_out)), theta[stop : stop + n_out]
        x = np.dot(x, weights) + biases
        start = stop + n_out
    return x


def logsumexp(np, z):
    """Return log(sum(exp(z))) of each row, as a column; subtracting the maximum avoids overflow."""
    top = np.max(z, axis=1, keepdims=True)
    return top + np.log(np.sum(np.exp(z - top), axis=1, keepdims=True))


DIGITS_LAYERS = (64, 32, 10)
DIABETES_LAYERS = (10, 8, 1)


def digits_loss(np, theta, x, labels):
    """Return the mean cross entropy of a softmax classifier, with weight decay."""
    logits = network(np, theta, x, DIGITS_LAYERS)
    log_p = logits - logsumexp(np, logits)
    return -np.mean(log_p[np.arange(len(labels)), labels]) + 1e-4 * np.sum(theta**2)


def diabetes_loss(np, theta, x, y):
    """Return the mean squared error, with weight decay (chosen by cross-validation on the training part)."""
    residual = network(np, theta, x, DIABETES_LAYERS)[:, 0] - y
    return np.mean(residual**2) + 0.02 * np.sum(theta**2)


def predicted_digit(theta, x):
    """Return the most probable digit for each row."""
    return numpy.argmax(network(numpy, theta, x, DIGITS_LAYERS), axis=1)


def predicted_progression(theta, x):
    """Return the predicted progression for each row."""
    return network(numpy, theta, x, DIABETES_LAYERS)[:, 0]


def accuracy(theta, x, labels):
    """Return the share of rows whose digit is predicted correctly."""
    return numpy.mean(predicted_digit(theta, x) == labels)


def r_squared(theta, x, y):
    """Return the coefficient of determination."""
    return 1.0 - numpy.sum((predicted_progression(theta, x) - y) ** 2) / numpy.sum((y - numpy.mean(y)) ** 2)


# The tasks and their data.


@dataclass(frozen=True)
class Model:
    """A loss(np, theta, x, y), and the score that it is judged by."""

    layers: tuple
    loss: Callable
    score: Callable
    score_name: str


@dataclass(frozen=True)
class Task:
    """A model, its data (pairs x, y) and its training: the method, the rows per gradient, the passes over the data."""

    name: str
    model: Model
    train: tuple
    test: tuple
    optimize: Callable
    batch: int
    passes: int


@dataclass(frozen=True)
class Result:
    """The result of a training, and the measurements along its path."""

    task: Task
    theta: numpy.ndarray
    train_losses: list
    test_losses: list
    score: float
    rates: dict
    difference: float | None
    relative_difference: float | None


def load_tasks(quick):
    """Return the three tasks; a fifth of each data set is kept for testing."""
    model = Model(DIGITS_LAYERS, digits_loss, accuracy, "accuracy")
    images, labels = load_digits(return_X_y=True)
    train, test = split(images / 16.0, labels, stratify=labels)
    passes = 20 if quick else 120
    tasks = [
        Task("digits, full batch", model, train, test, train_lbfgs, len(train[0]), passes),
        Task("digits, mini-batches", model, train, test, train_sgd, 32, passes // 2),
    ]
    model = Model(DIABETES_LAYERS, diabetes_loss, r_squared, "R²")
    (x, y), (x_test, y_test) = split(*load_diabetes(return_X_y=True))
    x, x_test = standardize(x, x_test)
    y, y_test = standardize(y, y_test)
    return [*tasks, Task("diabetes, full batch", model, (x, y), (x_test, y_test), train_lbfgs, len(x), passes)]


def split(x, y, stratify=None):
    """Return the training pair and the test pair."""
    x, x_test, y, y_test = train_test_split(x, y, test_size=0.2, random_state=SEED, stratify=stratify)
    return (x, y), (x_test, y_test)


def standardize(train, test):
    """Shift and scale both parts so that the training part has mean 0 and variance 1."""
    mean, scale = numpy.mean(train, axis=0), numpy.std(train, axis=0)
    return (train - mean) / scale, (test - mean) / scale


# Training. Both functions return the path of theta, with one entry for each pass over the data, and for each entry the
# data of a gradient that was taken there.


def initial_theta(layers):
    """Return weights of variance 1 / (number of inputs), and biases of zero."""
    rng = numpy.random.default_rng(SEED)
    pieces = []
    for n_in, n_out in zip(layers[:-1], layers[1:], strict=True):
        pieces += [rng.normal(size=n_in * n_out) / numpy.sqrt(n_in), numpy.zeros(n_out)]
    return numpy.concatenate(pieces)


def train_lbfgs(task, loss_and_grad, theta):
    """Minimize by L-BFGS, for at most `task.passes` iterations."""
    path = [theta]
    with tqdm(total=task.passes, desc=task.name, unit="it") as bar:

        def record(intermediate_result):
            path.append(intermediate_result.x.copy())
            bar.set_postfix(loss=f"{intermediate_result.fun:.4f}", refresh=False)
            bar.update()

        options = {"maxiter": task.passes, "maxcor": 20}
        minimize(loss_and_grad, theta, args=task.train, jac=True, method="L-BFGS-B", callback=record, options=options)
    return path, [task.train] * len(path)


def train_sgd(task, loss_and_grad, theta):
    """Descend along gradients of mini-batches, with momentum and a falling step, for `task.passes` epochs."""
    rng = numpy.random.default_rng(SEED)
    (x, y), size = task.train, task.batch
    velocity = numpy.zeros_like(theta)
    path, batches = [theta], [(x[:size], y[:size])]
    with tqdm(range(task.passes), desc=task.name, unit="epoch") as epochs:
        for epoch in epochs:
            step = 0.1 * (1.0 - epoch / task.passes)
            for rows in rng.permutation(len(x))[: len(x) // size * size].reshape(-1, size):
                loss, gradient = loss_and_grad(theta, x[rows], y[rows])
                velocity = 0.9 * velocity - step * gradient
                theta = theta + velocity
            path.append(theta)
            batches.append((x[rows], y[rows]))
            epochs.set_postfix(loss=f"{loss:.4f}", refresh=False)
    return path, batches


# Comparing the packages.


def loss_and_grad_on(package, loss):
    """Return the function (theta, x, y) -> (loss, gradient), differentiated by fastgrad or by autograd."""
    np = importlib.import_module(f"{package}.numpy")
    value_and_grad = importlib.import_module(package).value_and_grad
    return value_and_grad(lambda theta, x, y: loss(np, theta, x, y))


def evaluation_rates(functions, points, rounds, seconds):
    """Return each package's gradient evaluations a second: the median of rounds in which they take turns.

    In a round each goes over the same points for about `seconds`. They alternate in beginning a round.
    """

    def elapsed(package, repeats):
        function, start = functions[package], time.perf_counter()
        for _ in range(repeats):
            for point in points:
                function(*point)
        return time.perf_counter() - start

    order, times = list(functions), {package: [] for package in functions}
    repeats = 1 + int(seconds / max(elapsed(package, 1) for package in order))
    for _ in tqdm(range(rounds), desc="measuring", unit="round", leave=False):
        for package in order:
            times[package].append(elapsed(package, repeats))
        order.reverse()
    return {package: repeats * len(points) / numpy.median(times[package]) for package in functions}


def largest_differences(functions, points):
    """Return the largest difference between two packages' gradients, and the same relative to the gradients."""
    differences, sizes = [], []
    for point in points:
        one, other = (function(*point)[1] for function in functions.values())
        differences.append(numpy.max(numpy.abs(one - other)))
        sizes.append(numpy.max(numpy.abs(other)))
    return max(differences), max(numpy.divide(differences, sizes))


def run(task, packages, quick):
    """Train on the first package, then compare all of them at points along the path."""
    functions = {package: loss_and_grad_on(package, task.model.loss) for package in packages}
    path, data = task.optimize(task, functions[packages[0]], initial_theta(task.model.layers))
    points = [(path[i], *data[i]) for i in numpy.linspace(0, len(path) - 1, POINTS).astype(int)]
    rounds, seconds = (3, 0.05) if quick else (15, 0.2)
    return Result(
        task,
        path[-1],
        [task.model.loss(numpy, theta, *task.train) for theta in path],
        [task.model.loss(numpy, theta, *task.test) for theta in path],
        task.model.score(path[-1], *task.test),
        evaluation_rates(functions, points, rounds, seconds),
        *(largest_differences(functions, points) if len(packages) > 1 else (None, None)),
    )


# The report.


def report(results, packages, markdown):
    """Return the results as a table: one line a task, and a line that explains the columns."""
    rows = [["task", "batch", "loss", "test score", *packages]]
    for r in results:
        rates = [f"{r.rates[package]:,.0f}/s" for package in packages]
        batch, score = f"{r.task.batch}×{r.task.model.layers[0]}", f"{r.task.model.score_name} {r.score:.3f}"
        rows.append([r.task.name, batch, f"{r.train_losses[-1]:.4f}", score, *rates])
    versions = " and ".join(f"{package} {importlib.metadata.version(package)}" for package in packages)
    note = f"Loss: on the training data, with weight decay. Rates: gradient evaluations a second,\non {versions}"
    if len(packages) > 1:
        rows[0] += ["ratio", "difference"]
        for r, row in zip(results, rows[1:], strict=True):
            row += [f"{speedup(r, packages):.1f}×", f"{r.difference:.0e}"]
        note += f" in turns. Difference: the largest between their gradients,\nat {POINTS} points along the training"
    return f"{format_table(rows, markdown)}\n\n{note}."


def speedup(result, packages):
    """Return the rate of the first package over that of the second."""
    fast, slow = (result.rates[package] for package in packages)
    return fast / slow


def format_table(rows, markdown):
    """Align the rows, of which the first is the heading: the first column to the left, the others to the right."""
    left, *right = (max(map(len, column)) for column in zip(*rows, strict=True))
    rule = ["-" * left, *("-" * (width - 1) + ":" if markdown else "-" * width for width in right)]
    lines = []
    for name, *cells in [rows[0], rule, *rows[1:]]:
        cells = [name.ljust(left), *(cell.rjust(width) for cell, width in zip(cells, right, strict=True))]
        lines.append(f"| {' | '.join(cells)} |" if markdown else "  ".join(cells))
    return "\n".join(lines)


def draw(results, packages, path):
    """Draw losses, predictions and speeds, and save the figure."""
    digits, batches, diabetes = results
    figure = Figure(figsize=(14, 8.4), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.15, h_pad=0.15)
    grid = figure.add_gridspec(2, 3)
    trainings = {"L-BFGS": (digits, BLUE), "SGD": (batches, ORANGE)}
    draw_losses(figure.add_subplot(grid[0, 0]), trainings, "iteration (L-BFGS) or epoch (SGD)", "log")
    draw_digits(figure.add_subplot(grid[0, 1]), digits)
    draw_confusion(figure.add_subplot(grid[0, 2]), digits)
    draw_losses(figure.add_subplot(grid[1, 0]), {"L-BFGS": (diabetes, BLUE)}, "iteration", "linear")
    draw_regression(figure.add_subplot(grid[1, 1]), diabetes)
    draw_rates(figure.add_subplot(grid[1, 2]), results, packages)
    figure.savefig(path, format="png", dpi=120)


def draw_losses(axes, trainings, unit, scale):
    """Draw the losses on training and test data along each training."""
    for name, (result, color) in trainings.items():
        axes.plot(result.train_losses, color=color, label=f"{name}, training data")
        axes.plot(result.test_losses, color=color, linestyle="--", label=f"{name}, test data")
    subject = result.task.name.split(",")[0]
    axes.set(title=f"Loss on {subject}", xlabel=unit, yscale=scale)
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)


def draw_digits(axes, result):
    """Draw test images under their predicted classes, the mistakes first."""
    x, labels = result.task.test
    predicted = predicted_digit(result.theta, x)
    chosen = numpy.argsort(predicted == labels, kind="stable")[:24].reshape(4, 6)
    tiles = numpy.pad(x[chosen].reshape(4, 6, 8, 8), ((0, 0), (0, 0), (4, 0), (1, 1)))  # 12 by 10, with room for text
    axes.imshow(tiles.swapaxes(1, 2).reshape(4 * 12, 6 * 10), cmap="gray_r", aspect="auto")
    for (row, column), i in numpy.ndenumerate(chosen):
        wrong = predicted[i] != labels[i]
        text, color = (f"{predicted[i]} ≠ {labels[i]}", RED) if wrong else (predicted[i], BLUE)
        axes.text(10 * column + 4.5, 12 * row + 2, text, color=color, ha="center", va="center", fontsize="large")
    axes.set(title="Test images with predictions (≠ truth), mistakes first")
    axes.axis("off")


def draw_confusion(axes, result):
    """Draw how often each digit is predicted as each other one."""
    x, labels = result.task.test
    counts = confusion_matrix(labels, predicted_digit(result.theta, x))
    axes.imshow(counts, cmap="Blues")
    for (row, column), count in numpy.ndenumerate(counts):
        if count:
            color = "white" if count > counts.max() / 2 else "black"
            axes.text(column, row, count, ha="center", va="center", color=color)
    axes.set(title=f"Confusion on test images, accuracy {result.score:.1%}", xticks=range(10), yticks=range(10))
    axes.set(xlabel="predicted digit", ylabel="true digit")


def draw_regression(axes, result):
    """Draw predicted against true progression."""
    for (x, y), color, part in (result.task.train, GREY, "training data"), (result.task.test, BLUE, "test data"):
        axes.scatter(y, predicted_progression(result.theta, x), s=18, color=color, alpha=0.8, label=part, linewidth=0)
    axes.axline((0, 0), slope=1, color="black", linewidth=1, linestyle=":")
    axes.set(title=f"Diabetes progression, test R² {result.score:.2f}")
    axes.set(xlabel="true (standardized)", ylabel="predicted (standardized)")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)


def draw_rates(axes, results, packages):
    """Draw a group of bars for each task, on a scale of its own, with the numbers on top."""
    places, width = numpy.arange(len(results)), 0.84 / len(packages)
    for i, (package, color) in enumerate(zip(packages, (BLUE, GREY), strict=False)):
        heights = [result.rates[package] / max(result.rates.values()) for result in results]
        bars = axes.bar(places + i * width, heights, 0.94 * width, color=color, label=package)
        axes.bar_label(bars, [f"{result.rates[package]:,.0f}" for result in results], padding=2)
    names = [result.task.name.replace(", ", "\n") for result in results]
    if len(packages) > 1:
        names = [f"{name}\n{speedup(result, packages):.1f}×" for name, result in zip(names, results, strict=True)]
    axes.set_xticks(places + width * (len(packages) - 1) / 2, names)
    axes.tick_params(axis="x", length=0)
    axes.set(title="Gradient evaluations a second", ylabel="each task to its own scale", yticks=[], ylim=(0, 1.2))
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.legend(frameon=False, ncols=2, loc="upper center")


def main(argv=None):
    """Run the demo with the given command-line arguments; return the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default="demo.png", metavar="PATH", help="of the figure (%(default)s)")
    parser.add_argument("--markdown", action="store_true", help="print the table in Markdown")
    parser.add_argument("--quick", action="store_true", help="train and measure for a few seconds only")
    options = parser.parse_args(argv)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    packages = ["fastgrad"]
    if importlib.util.find_spec("autograd"):
        packages.append("autograd")
    else:
        print("autograd is not installed (pip install autograd), so there is nothing to compare fastgrad with.\n")
    with threadpool_limits(1):  # on matrices this small, a second thread of the BLAS mostly waits
        results = [run(task, packages, options.quick) for task in load_tasks(options.quick)]
    draw(results, packages, options.output)
    print(report(results, packages, options.markdown))
    print(f"\nThe figure is in {options.output}")
    return results


if __name__ == "__main__":
    main()
