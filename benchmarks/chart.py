"""The chart of ``compare.py``: a row for each program, times as multiples of fastgrad's."""

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot
from matplotlib.ticker import FuncFormatter

#: Side: label, colour (told apart by the colour-blind too), marker.
STYLES = {
    "numpy": ("NumPy, the function without its gradient", "0.45", "|"),
    "fastgrad": ("fastgrad", "#d55e00", "D"),
    "jax_jitted": ("JAX jitted (compiling not counted)", "#0072b2", "^"),
    "torch": ("PyTorch eager", "#009e73", "s"),
    "autograd": ("autograd", "#000000", "o"),
    "jax": ("JAX eager", "#56b4e9", "v"),
}
TITLES = {
    "scalar": "scalars",
    "small": "arrays of 10 to 1000 elements",
    "large": "arrays of a million elements",
    "whole": "whole programs",
}


def draw(programs, results, described, path):
    """Draw the times of `results` (seconds by program and side) on a logarithmic axis and save them at `path`."""
    groups = {}
    for program in programs:
        groups.setdefault(program.group, []).append(program.name)
    heights = [len(names) + 0.9 for names in groups.values()]
    figure, panels = pyplot.subplots(
        len(groups),
        sharex=True,
        squeeze=False,
        figsize=(9, 1.5 + 0.27 * sum(heights)),
        height_ratios=heights,
        layout="constrained",
    )
    for panel, (group, names) in zip(panels[:, 0], groups.items(), strict=True):
        _draw_group(panel, TITLES[group], names, results)
    last = panels[-1, 0]
    last.set_xscale("log")
    last.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    last.set_xlabel(f"time of a gradient, fastgrad = 1; one thread, float64\n{described}", fontsize=8)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False, fontsize=9)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


def _draw_group(panel, title, names, results):
    sides = [side for side in STYLES if any(side in results[name] for name in names)]
    for side in sides:
        label, colour, marker = STYLES[side]
        points = [
            (results[name][side] / results[name]["fastgrad"], row)
            for row, name in enumerate(names)
            if side in results[name]
        ]
        width = 2 if marker == "|" else 1
        panel.plot(*zip(*points, strict=True), marker, color=colour, label=label, markersize=7, markeredgewidth=width)
    panel.set_title(title, loc="left", fontsize=9, fontweight="bold", pad=3)
    panel.set_yticks(range(len(names)), names, fontsize=8)
    panel.set_ylim(len(names) - 0.4, -0.6)
    panel.grid(axis="x", color="0.9")
    panel.set_axisbelow(True)
    panel.tick_params(length=0)
    for edge in ("top", "right", "left"):
        panel.spines[edge].set_visible(False)
