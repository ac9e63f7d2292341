"""The experiment of Kumar, Liang & Ma (2019), figure 3: scaling-binning against histogram binning.

    python benchmarks/kumar_figure3.py [--draws 100] [--seed 0] [--workers 2] [--predictions DIR] [--write]

From 10,000 predictions of ten classes 1,000 are drawn to recalibrate with B = 10, 20, ..., 100 bins; the
squared calibration error of the result is estimated without bias on the rows that were not drawn. `--write`
stores benchmarks/KUMAR.md and benchmarks/kumar_figure3.png.

Marginal: one binary recalibrator for each class on (p_c, label = c), not renormalised, and the mean of their
errors. Top-label: one recalibrator on (largest p, right or wrong).
"""

import argparse
import functools
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import Pool
from pathlib import Path

# One thread a worker: the arrays are small.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402 - after the threads are settled
import numpy.typing as npt  # noqa: E402 - as above

from calibcli.names import Binning  # noqa: E402 - as above
from calibcli.options.fitting import FitOptions  # noqa: E402
from calibcli.stats.measures.l2 import t_statistic  # noqa: E402 - as above
from calibcli.stats.recalibrators.histogram import Histogram  # noqa: E402 - as above
from calibcli.stats.recalibrators.scaling_binning import ScalingBinning  # noqa: E402 - as above
from calibcli.stats.table import Floats, Integers, ScoreTable  # noqa: E402 - as above
from calibcli.stats.table.bins import ATOMS, Bins, binned  # noqa: E402 - as above
from calibcli.stats.table.derived import with_scores  # noqa: E402 - as above

HERE = Path(__file__).parent
PREDICTIONS = HERE.parents[1] / "shared" / "data"
CURVES = ("histogram", "scaling-binning", "histogram, bin by bin")
COLOURS = ("#E69F00", "#0072B2", "#b5b5b5")
BINS = tuple(range(10, 101, 10))
ROWS, CLASSES, FIT_ROWS = 10_000, 10, 1_000
MARGINAL, TOP_LABEL = "marginal", "top-label"
HELD_OUT, LIKE_PAPER = "held out", "like the paper"
FILES = {
    "cifar10_lenet5.parquet": "CIFAR-10 by LeNet-5",
    "markus93_resnet110_c10.parquet": "CIFAR-10 by ResNet-110, largest probability only",
}
SHARPENED, MIXED = "sharpened", "mixed"
ABOUT = {
    SHARPENED: "Labels follow a softmax, scores are that of 1.5 times its logits: Platt's curve nearly fits.",
    MIXED: "The same, but the factor is 3 for half of the rows and 1/2 for the rest: Platt's does not fit.",
}
Truth = npt.NDArray[np.bool_]
Columns = Mapping[str, tuple[tuple[Floats, Truth], ...]]


@dataclass(frozen=True)
class Problem:
    """Predictions to recalibrate.

    Args:
        name: What the tables call it.

        about: Where the predictions come from, in a sentence.

        columns: The binary problems of each experiment: a score and whether it came true, shapes (n,).
    """

    name: str
    about: str
    columns: Columns


def binary_problems(p: Floats, label: Integers) -> Columns:
    """Return one problem for each class, and the one of the largest probability."""
    top = p.argmax(axis=1)
    each = tuple((np.ascontiguousarray(p[:, c]), label == c) for c in range(p.shape[1]))
    return {MARGINAL: each, TOP_LABEL: ((p.max(axis=1), top == label),)}


@functools.cache
def simulated(name: str) -> Problem:
    """Return labels drawn from a softmax, and scores that are the softmax of its logits times some factor.

    Args:
        name: "sharpened": the factor is 1.5, so the scores are too sure and Platt's curve is nearly right.
            "mixed": it is 3 or 1/2, by the toss of a coin for each row, and Platt's curve is wrong.
    """
    generator = np.random.default_rng(2019)
    logits = generator.normal(size=(ROWS, CLASSES))
    strength = generator.gamma(6.0, 1.4, size=ROWS)
    logits[np.arange(ROWS), generator.integers(CLASSES, size=ROWS)] += strength
    chance = softmax(logits)
    label = (generator.random((ROWS, 1)) > chance.cumsum(axis=1)[:, :-1]).sum(axis=1)
    toss = generator.random((ROWS, 1)) < 0.5
    p = softmax(logits * (1.5 if name == SHARPENED else np.where(toss, 3.0, 0.5)))
    columns = binary_problems(p, label)
    return Problem(name, f"Simulated. {ABOUT[name]} {level(columns)}", columns)


def level(columns: Columns) -> str:
    """Say how often the largest probability is right, and how sure it is."""
    score, right = columns[TOP_LABEL][0]
    return f"{right.mean():.1%} are right, mean confidence {score.mean():.1%}."


def softmax(logits: Floats) -> Floats:
    """Return probabilities along the last axis."""
    odds = np.exp(logits - logits.max(axis=-1, keepdims=True))
    found: Floats = odds / odds.sum(axis=-1, keepdims=True)
    return found


@functools.cache
def stored(path: Path) -> Problem:
    """Return the predictions of a Parquet file with p_0 ... p_9 and label, or with score and label alone."""
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    label = table["label"].to_numpy().astype(np.int64)
    if "p_0" in table.column_names:
        p = np.column_stack([table[f"p_{c}"].to_numpy() for c in range(CLASSES)]).astype(np.float64)
        columns = binary_problems(np.minimum(p, 1.0), label)
    else:
        columns = {TOP_LABEL: ((table["score"].to_numpy().astype(np.float64), label == 1),)}
    return Problem(path.stem, f"`{path.name}`, {FILES[path.name]}. {level(columns)}", columns)


def problems_of(folder: Path) -> list[Problem]:
    """Return what can be made and what is there."""
    paths = [folder / name for name in FILES]
    return [simulated(SHARPENED), simulated(MIXED), *(stored(path) for path in paths if path.exists())]


@dataclass(frozen=True)
class Task:
    """One draw of the recalibration rows.

    Args:
        problem: Which predictions, by their place in `problems_of`.

        draw: Number of the draw.

        seed: Seed of all draws.

        folder: Where predictions are looked for.
    """

    problem: int
    draw: int
    seed: int
    folder: Path


def squared_errors(task: Task) -> dict[tuple[str, str], Floats]:
    """Return the debiased squared errors of one draw by experiment and protocol.

    Each has shape (curves, numbers of bins).

    Held out: drawn without replacement, judged by the other rows. Like the paper: drawn with replacement,
    judged by all rows, the drawn ones among them; for the last number of bins alone.
    """
    problem = problems_of(task.folder)[task.problem]
    generator = np.random.default_rng([task.seed, task.draw])
    found = {}
    for experiment, pairs in problem.columns.items():
        rows = pairs[0][0].size
        order = generator.permutation(rows)
        again = generator.integers(rows, size=FIT_ROWS)
        halves = {
            HELD_OUT: (order[:FIT_ROWS], order[FIT_ROWS:], BINS),
            LIKE_PAPER: (again, np.arange(rows), BINS[-1:]),
        }
        for protocol, (drawn, judging, numbers) in halves.items():
            errors = []
            for score, came in pairs:
                fit_rows = ScoreTable.from_rows(score[drawn], came[drawn])
                judge = ScoreTable.from_rows(score[judging], came[judging])
                errors.append([errors_of(fit_rows, judge, bins=bins) for bins in numbers])
            found[experiment, protocol] = np.mean(errors, axis=0).T
    return found


def errors_of(fit_rows: ScoreTable, judge: ScoreTable, *, bins: int) -> tuple[float, ...]:
    """Return the debiased squared l2 error of every curve."""
    histogram = Histogram.fit(fit_rows, options=FitOptions(bins=bins))
    scaled = ScalingBinning.fit(fit_rows, options=FitOptions(bins=bins))
    by_value = (
        t_statistic(binned(with_scores(judge, fitted.predict(judge.score)), ATOMS))
        for fitted in (histogram, scaled)
    )
    return (*by_value, error_by_bin(histogram, judge))


def error_by_bin(histogram: Histogram, judge: ScoreTable) -> float:
    """Return the same, but with bins that have one value kept apart."""
    sums = binned(judge, Bins(Binning.EQUAL_MASS, histogram.table.edges))
    rows, positive, value = sums.rows, sums.positive_rows, histogram.table.values
    residual = positive - rows * value
    squares = positive * (1.0 - value) ** 2 + (rows - positive) * value**2
    two = rows > 1
    return float(((residual[two] ** 2 - squares[two]) / (rows[two] - 1)).sum() / rows.sum())


@dataclass(frozen=True)
class Result:
    """Squared errors over all draws.

    Args:
        title: Data set and experiment.

        errors: Shape (draws, curves, numbers of bins).
    """

    title: str
    errors: Floats

    @property
    def mean(self) -> Floats:
        """Mean over draws, shape (curves, numbers of bins)."""
        found: Floats = self.errors.mean(axis=0)
        return found

    @property
    def standard_error(self) -> Floats:
        """Its standard error, over draws from these rows."""
        found: Floats = self.errors.std(axis=0, ddof=1) / np.sqrt(self.errors.shape[0])
        return found

    def reduction(self) -> tuple[Floats, Floats]:
        """Return by what share scaling-binning's error is smaller, and its standard error (delta method)."""
        histogram, scaled = self.errors[:, 0], self.errors[:, 1]
        ratio = scaled.mean(axis=0) / histogram.mean(axis=0)
        spread = (scaled - ratio * histogram).std(axis=0, ddof=1) / histogram.mean(axis=0)
        return 1.0 - ratio, spread / np.sqrt(self.errors.shape[0])


def table_of(result: Result, numbers: Sequence[int] = BINS) -> list[str]:
    """Return the rows of a Markdown table; errors in units of 1e-4."""
    mean, error = 1e4 * result.mean, 1e4 * result.standard_error
    share, spread = result.reduction()
    lines = []
    for j, bins in enumerate(numbers):
        one, two, *more = (f"{mean[i, j]:.2f} ± {error[i, j]:.2f}" for i in range(len(mean)))
        less = f"{100 * share[j]:.1f} ± {100 * spread[j]:.1f} %"
        lines.append(f"| {' | '.join([str(bins), one, two, less, *more])} |")
    return lines


@dataclass(frozen=True)
class Plot:
    """How errors are drawn.

    Args:
        curves: What they are called.

        along: What they are drawn against.

        axes: What that is called, and the error.

        unit: The error's.

        logarithmic: Whether both axes are.
    """

    curves: Sequence[str]
    along: Sequence[int]
    axes: tuple[str, str]
    unit: float
    logarithmic: bool


AGAINST_BINS = Plot(CURVES, BINS, ("bins B", "squared error × 10⁴"), 1e-4, logarithmic=False)


def draw(results: Sequence[Result], path: Path, plot: Plot = AGAINST_BINS) -> None:
    """Draw the errors of every curve with 95 % intervals, a panel for each result."""
    from matplotlib.figure import Figure

    across = min(len(results), 2)
    down = -(-len(results) // across)
    figure = Figure(figsize=(4.2 * across, 3.1 * down), dpi=110, layout="constrained")
    places = figure.subplots(down, across, squeeze=False).ravel()
    for axes, result in zip(places, results, strict=False):
        for i, (name, colour) in enumerate(zip(plot.curves, COLOURS, strict=False)):
            mean, bars = result.mean[i] / plot.unit, 1.96 * result.standard_error[i] / plot.unit
            axes.errorbar(plot.along, mean, bars, color=colour, marker="o", ms=3, capsize=2, label=name)
        axes.set_title(result.title, fontsize=9)
        axes.set_xlabel(plot.axes[0], fontsize=8)
        axes.set_ylabel(plot.axes[1], fontsize=8)
        if plot.logarithmic:
            axes.loglog()
            axes.set_xticks(plot.along, [f"{value:,}" for value in plot.along])
            axes.minorticks_off()
        else:
            axes.set_ylim(bottom=min(0.0, float(result.mean.min()) / plot.unit))
        axes.tick_params(labelsize=8)
        axes.grid(alpha=0.3)
    for axes in places[len(results) :]:
        axes.set_axis_off()
    places[0].legend(fontsize=8, frameon=False)
    figure.savefig(path, metadata={"Software": None})


def run(asked: argparse.Namespace) -> dict[str, list[Result]]:
    """Run every draw and return the results by protocol."""
    found: dict[str, list[Result]] = {}
    with Pool(asked.workers) as pool:
        for place, problem in enumerate(problems_of(asked.predictions)):
            tasks = [Task(place, number, asked.seed, asked.predictions) for number in range(asked.draws)]
            drawn = pool.map(squared_errors, tasks, chunksize=2)
            for experiment, protocol in drawn[0]:
                errors = np.stack([one[experiment, protocol] for one in drawn])
                result = Result(f"{problem.name}, {experiment}", errors)
                found.setdefault(protocol, []).append(result)
    return found


def page(found: Mapping[str, Sequence[Result]], asked: argparse.Namespace, seconds: float) -> str:
    """Return everything as Markdown."""
    lines = [f"Errors in units of 10⁻⁴, mean ± standard error over {asked.draws} draws, seed {asked.seed},"]
    lines += [f"{FIT_ROWS:,} rows to recalibrate, {seconds:.0f} s on {asked.workers} workers.", ""]
    lines += [f"- **{problem.name}**: {problem.about}" for problem in problems_of(asked.predictions)]
    for result in found[HELD_OUT]:
        lines += ["", f"## {result.title}", "", *HEADER, *table_of(result)]
    lines += ["", f"## Like the paper, B = {BINS[-1]}", ""]
    lines += ["Rows drawn with replacement, errors estimated on all rows, the drawn ones among them.", ""]
    lines += [HEADER[0].replace("B |", "|", 1), HEADER[1]]
    for result in found[LIKE_PAPER]:
        (row,) = table_of(result, BINS[-1:])
        lines.append(row.replace(f"| {BINS[-1]} |", f"| {result.title} |", 1))
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the experiment and print the tables."""
    parser = argparse.ArgumentParser(description="Scaling-binning against histogram binning.")
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--predictions", type=Path, default=PREDICTIONS, metavar="DIR")
    parser.add_argument("--write", action="store_true", help="store benchmarks/KUMAR.md and the plot")
    asked = parser.parse_args()
    began = time.perf_counter()
    found = run(asked)
    text = page(found, asked, time.perf_counter() - began)
    print(text)
    if asked.write:
        (HERE / "KUMAR.md").write_text(HEAD + text, encoding="utf-8")
        draw(found[HELD_OUT], HERE / "kumar_figure3.png")


HEADER = (f"| B | {CURVES[0]} | {CURVES[1]} | reduction | {CURVES[2]} |", "|---|---|---|---|---|")
HEAD = """# Scaling-binning against histogram binning

Made by `python benchmarks/kumar_figure3.py --write`, which repeats the experiment of Kumar, Liang & Ma
(2019), "Verified Uncertainty Calibration", section 4, figure 3. Both methods are calibcli's own
(`--method histogram` and `--method scaling-binning`: equal-mass bins, Platt's curve as the base). The error
is Σ_v P(v) (P(y=1|v) - v)² over the values v of the recalibrated score, by the debiased estimator of
`measure` (l2), on the rows that were not drawn.

![Squared error against the number of bins](kumar_figure3.png)

What to see:

- The paper reports 35 % less error at B = 100 (marginal, CIFAR-10 by VGG-16, predictions that we do not
  have). How much is gained depends on the base: scaling-binning's error is mostly what Platt's curve misses,
  whatever B is, and histogram binning's grows with B as the rows in a bin get fewer.
- So the gain has no sign of its own. Where the curve nearly fits, scaling-binning is better at every B, and
  at B = 100 by more than in the paper. On "mixed", made so that no logistic curve fits, its error is twice
  to seven times as large; there `--base` should be another.
- Histogram binning's error jumps with B because of ties. With 1,000 rows and B = 50 or 100 all bins have 20
  or 10 rows, so their rates meet, bins of one value count as one, and their errors cancel. With B = 90 bins
  have 11 or 12 rows and fewer rates meet. The last column keeps such bins apart, and grows evenly.

"""


if __name__ == "__main__":
    main()
