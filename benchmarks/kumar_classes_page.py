"""The page and the plots of `kumar_classes.py`."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kumar_figure3 import AGAINST_BINS, CURVES, FIT_ROWS, Plot, Result, draw, table_of

SAMPLE_ROWS = (500, 1_000, 2_000, 4_000)
ESTIMATORS = ("plug-in", "debiased")
OF_METHODS = replace(AGAINST_BINS, curves=CURVES[:2])
AGAINST_ROWS = Plot(ESTIMATORS, SAMPLE_ROWS, ("rows n", "mean squared error × 10⁸"), 1e-8, logarithmic=True)
BINS_HEADER = (f"| B | {CURVES[0]} | {CURVES[1]} | reduction |", "|---|---|---|---|")
ROWS_HEADER = (f"| n | {ESTIMATORS[0]} | {ESTIMATORS[1]} | times smaller | root |", "|---|---|---|---|---|")
PROCESSES_HEADER = ("| set | from the same within | from columns of `apply` |", "|---|---|---|")


@dataclass(frozen=True)
class Found:
    """What all draws of one set found.

    Args:
        name: What the tables call the set.

        about: What it is, in a sentence or two.

        results: By experiment and the number of bins of figure 4, or 0 for figure 3.

        differences: Those of the commands in processes of their own, and of the columns that were applied.
    """

    name: str
    about: str
    results: Mapping[tuple[str, int], Result]
    differences: tuple[float, float]


def of_figure(found: Sequence[Found], *, estimators: bool) -> list[Result]:
    """Return the results of figure 4, or those of figure 3."""
    return [one for each in found for (_, bins), one in each.results.items() if bool(bins) == estimators]


def estimator_table(result: Result) -> list[str]:
    """Return the rows of a Markdown table; mean squared errors in units of 1e-8."""
    mean, error = result.mean / 1e-8, result.standard_error / 1e-8
    share, spread = result.reduction()
    lines = []
    for j, rows in enumerate(SAMPLE_ROWS):
        cells = (f"{mean[i, j]:.2f} ± {error[i, j]:.2f}" for i in range(len(ESTIMATORS)))
        times = 1.0 / (1.0 - share[j])
        ratio = f"{times:.1f} ± {times**2 * spread[j]:.1f} | {times**0.5:.1f}"
        lines.append(f"| {rows:,} | {' | '.join(cells)} | {ratio} |")
    return lines


def page(found: Sequence[Found], asked: argparse.Namespace, seconds: float) -> str:
    """Return everything as Markdown."""
    lines = [f"Mean ± standard error over {asked.draws} draws, seed {asked.seed}, {FIT_ROWS:,} rows to"]
    lines += [f"recalibrate, {asked.resamples} samples of each size a draw for figure 4."]
    lines += [f"{seconds:.0f} s on {asked.workers} workers.", ""]
    lines += [f"- **{each.name}**: {each.about}" for each in found]
    lines += ["", "## Figure 3: squared error after recalibration, in units of 10⁻⁴"]
    for result in of_figure(found, estimators=False):
        lines += ["", f"### {result.title}", "", *BINS_HEADER, *table_of(result)]
    lines += ["", "## Figure 4: mean squared error of estimates of it, in units of 10⁻⁸"]
    for result in of_figure(found, estimators=True):
        lines += ["", f"### {result.title}", "", *ROWS_HEADER, *estimator_table(result)]
    lines += ["", "## One draw by processes of their own", "", *PROCESSES_HEADER]
    lines += [f"| {each.name} | {each.differences[0]:.1e} | {each.differences[1]:.1e} |" for each in found]
    return "\n".join(lines) + "\n"


def draw_figures(found: Sequence[Found], folder: Path) -> None:
    """Store both figures."""
    draw(of_figure(found, estimators=False), folder / "kumar_classes_figure3.png", OF_METHODS)
    draw(of_figure(found, estimators=True), folder / "kumar_classes_figure4.png", AGAINST_ROWS)


HEAD = """# Ten classes: scaling-binning, and estimates of its error

Made by `python benchmarks/kumar_classes.py --write`, which repeats figures 3 and 4 of Kumar, Liang & Ma
(2019), "Verified Uncertainty Calibration", by commands alone:

- Marginal: `fit --probs 'p_*' --multiclass one-vs-rest --output-sum free --method scaling-binning --bins B`
  (or `histogram`), then `measure --probs 'p_*' --artifact ... --metric marginal_l2 --binning atoms`.
- Top-label, which is one map of (largest probability, right or wrong) in the paper: the same with
  `-s confidence -y correct` and `--metric l2`.

An estimate is the squared error: `t`, the debiased one, or the square of `plug_in` among the details of the
report. What is judged takes few values, and each is a bin (`atoms`). Samples of figure 4 are drawn from the
held-out rows with replacement; so those are the population, and their plug-in error is the truth exactly.

![Squared error against the number of bins](kumar_classes_figure3.png)

![Mean squared error of two estimates against rows](kumar_classes_figure4.png)

What to see:

- Figure 3 has the paper's shape: histogram binning's error grows with B as rows in a bin get fewer, and
  scaling-binning's hardly moves. How far apart they are depends on how well Platt's curve fits
  ([KUMAR.md](KUMAR.md) has sets where it does not, and scaling-binning loses). The paper has 35 % at B = 100
  with predictions that we do not have.
- Figure 4: the plug-in estimate is too large by about (1/n) Σ_v v (1 - v) over the values v, whatever the
  error is; that grows with B, and its square is what the debiased estimate saves. It saves more where many
  classes are averaged, since their noise averages out and their bias does not, and little at B = 10 once n is
  large. "times smaller" is the ratio of mean squared errors, "root" that of typical errors.
- The last table repeats the marginal errors of draw 0 and the largest B by `fit`, `measure` and `apply` in
  processes of their own: the largest difference to what the draw found within one process, and to the plain
  formula on the columns that `apply` wrote.

"""
