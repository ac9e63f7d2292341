"""What `bench.py` writes: tables of one contest, what was aimed at, and how cost grows."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from statistics import StatisticsError, median

from bench_jobs import READING, READING_TO_FIT, SMALL, Contest
from processes import Spent

Results = Mapping[tuple[int, str], Spent]
TEN_MILLION, HUNDRED_MILLION = 10_000_000, 100_000_000
GROWING = (
    "measure",
    "measure -j 1",
    "verify",
    "plot",
    "fit platt",
    "fit temperature",
    "fit beta",
    "fit scaling-binning",
    "fit isotonic",
    "fit venn-abers",
    "apply",
    READING,
)
OURS = ("measure", "fit", "apply", "verify", "plot", "--help")


def table_of(contest: Contest, found: Mapping[str, list[Spent] | str]) -> str:
    """Return a contest as a Markdown table of medians and their ratios."""
    base, ratios = contest.base
    head = ("process", "what comes out", "wall s", "cpu s", "peak MiB", ratios, "ours")
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    middle = {name: _middle(runs) for name, runs in found.items() if not isinstance(runs, str)}
    ours = None
    for one in contest.field:
        if one.name not in middle:
            lines.append(f"| {one.name} | {one.computes} | {found[one.name]} | | | | |")
            continue
        spent = middle[one.name]
        if one.name.startswith(OURS) and one.name != "--help":
            ours = spent.wall if ours is None or contest.title != "Measures" else ours
            beside = ""
        else:
            beside = "" if ours is None else f"{spent.wall / ours:.1f}"
        times = f"{spent.wall / middle[base].wall:.2f}" if base in middle else ""
        lines.append(
            f"| {one.name} | {one.computes} | {spent.wall:.3f} | {spent.cpu:.3f} | {spent.peak:.0f} "
            f"| {times} | {beside} |"
        )
    return "\n".join(lines)


def _middle(runs: list[Spent]) -> Spent:
    return Spent(*(median(getattr(run, name) for run in runs) for name in ("wall", "cpu", "peak")))


@dataclass(frozen=True)
class Target:
    """
    What is aimed at.

    Args:
        goal: In words.

        bound: The figure to reach.

        reached: The figure, from what was measured.

        most: Whether the figure is to be at most the bound, or at least.
    """

    goal: str
    bound: float
    reached: Callable[[Results, Mapping[str, float]], float]
    most: bool = True


def _ratio(name: str, against: str, rows: int) -> Callable[[Results, Mapping[str, float]], float]:
    return lambda results, _: results[rows, name].wall / results[rows, against].wall


def _typical(name: str, against: str) -> Callable[[Results, Mapping[str, float]], float]:
    """Return the median ratio over all sizes, for what does not depend on the size."""

    def reached(results: Results, _: Mapping[str, float]) -> float:
        sizes = {rows for rows, one in results if one == name}
        return median(results[rows, name].wall / results[rows, against].wall for rows in sizes)

    return reached


def _peak(name: str, rows: int) -> Callable[[Results, Mapping[str, float]], float]:
    return lambda results, _: results[rows, name].peak


def _seconds(step: str) -> Callable[[Results, Mapping[str, float]], float]:
    return lambda _, steps: steps[step]


def _steps(theirs: str, ours: str) -> Callable[[Results, Mapping[str, float]], float]:
    return lambda _, steps: steps[theirs] / steps[ours]


TARGETS = (
    Target("measure, 10 million rows, in reads", 4.0, _ratio("measure", READING, TEN_MILLION)),
    Target(
        "measure, 100 million rows, one thread, in reads",
        5.0,
        _ratio("measure -j 1", READING, HUNDRED_MILLION),
    ),
    Target(
        "measure, 100 million rows, two threads, in reads", 3.0, _ratio("measure", READING, HUNDRED_MILLION)
    ),
    Target("measure, 10 million rows, peak MiB", 256.0, _peak("measure", TEN_MILLION)),
    Target("measure, 100 million rows, peak MiB", 256.0, _peak("measure", HUNDRED_MILLION)),
    Target("fit platt, 10 million rows, in reads", 6.0, _ratio("fit platt", READING_TO_FIT, TEN_MILLION)),
    Target(
        "fit temperature, 10 million rows, in reads",
        6.0,
        _ratio("fit temperature", READING_TO_FIT, TEN_MILLION),
    ),
    Target("fit beta, 10 million rows, in reads", 6.0, _ratio("fit beta", READING_TO_FIT, TEN_MILLION)),
    Target(
        "fit isotonic, 10 million rows, in reads", 6.0, _ratio("fit isotonic", READING_TO_FIT, TEN_MILLION)
    ),
    Target(
        "scikit-learn's isotonic fit over ours, 10 million rows",
        6.0,
        _ratio("scikit-learn IsotonicRegression", "fit isotonic", TEN_MILLION),
        most=False,
    ),
    Target(
        "fit isotonic, 100 million rows, in reads",
        8.0,
        _ratio("fit isotonic", READING_TO_FIT, HUNDRED_MILLION),
    ),
    Target("fit isotonic, 100 million rows, peak MiB", 1024.0, _peak("fit isotonic", HUNDRED_MILLION)),
    Target(
        "relplot's smECE of rows in memory over ours with reading, processor time, 10 million rows",
        20.0,
        _steps("relplot smECE", "smECE, read and computed"),
        most=False,
    ),
    Target(
        "999 draws of labels, with ECE, T, KS, Kuiper and Z of each, and smECE's null, 10 million rows, "
        "processor seconds",
        0.25,
        _seconds("999 draws"),
    ),
    Target(
        "uncertainty-calibration's marginal ECE over ours with its interval and the table of each class, "
        "processor time, 50,000 rows of 1,000 classes",
        30.0,
        _steps("uncertainty-calibration marginal ECE", "classwise ECE"),
        most=False,
    ),
    Target(
        "venn-abers' fit over ours, processor time, 100,000 rows",
        8.0,
        _steps("venn-abers fit", "Venn-Abers fit"),
        most=False,
    ),
    Target("apply, Parquet, 10 million rows, in re-encodes", 1.2, _ratio("apply", "re-encode", TEN_MILLION)),
    Target("apply, Parquet, 10 million rows, peak MiB", 640.0, _peak("apply", TEN_MILLION)),
    Target(
        "apply, CSV, a million rows, in typed rewrites", 1.0, _ratio("apply, CSV", "rewrite, CSV", 1_000_000)
    ),
    Target(
        "pandas over apply, CSV, a million rows",
        6.0,
        _ratio("pandas, CSV", "apply, CSV", 1_000_000),
        most=False,
    ),
    Target("--help, in starts of bare Python", 6.0, _typical("--help", "bare python")),
    Target("measure, 1,000 rows of CSV, in starts of bare Python", 25.0, _typical(SMALL, "bare python")),
)


def targets_of(results: Results, steps: Mapping[str, float]) -> str:
    """Return what was aimed at and what was reached as a Markdown table."""
    lines = ["| goal | bound | reached | met |", "|---|---|---|---|"]
    for target in TARGETS:
        sign = "at most" if target.most else "at least"
        try:
            reached = target.reached(results, steps)
        except (KeyError, StatisticsError):
            lines.append(f"| {target.goal} | {sign} {target.bound:g} | not measured | |")
            continue
        met = reached <= target.bound if target.most else reached >= target.bound
        figure = f"{reached:.2f}" if reached < 100 else f"{reached:.0f}"
        lines.append(f"| {target.goal} | {sign} {target.bound:g} | {figure} | {'yes' if met else 'no'} |")
    return "\n".join(lines)


def exponents_of(results: Results) -> str:
    """
    Return how wall time grows with rows, as a Markdown table.

    A cell is log10 of the time over that at the size before it, each less the least time at any size, which
    is start-up; times within a tenth of a second of start-up say nothing.
    """
    sizes = sorted({rows for rows, _ in results})
    pairs = list(pairwise(sizes[1:]))
    head = ("process", *(f"{low:,} to {high:,} rows" for low, high in pairs), "peak MiB")
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for name in GROWING:
        if (sizes[0], name) not in results:
            continue
        start = min(results[rows, name].wall for rows in sizes if (rows, name) in results)
        cells = [_exponent(results, name, pair, start=start) for pair in pairs]
        peaks = [results[rows, name].peak for rows in sizes if (rows, name) in results]
        lines.append(f"| {' | '.join([name, *cells, ', '.join(f'{peak:.0f}' for peak in peaks)])} |")
    return "\n".join(lines)


def _exponent(results: Results, name: str, pair: tuple[int, int], *, start: float) -> str:
    low, high = (results.get((rows, name)) for rows in pair)
    if low is None or high is None or min(low.wall, high.wall) - start < 0.1:
        return ""
    return f"{math.log((high.wall - start) / (low.wall - start)) / math.log(pair[1] / pair[0]):.2f}"
