"""What `bench.py` writes: goals, how cost grows, and the table of each contest."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from bench_jobs import (
    BARE,
    CLASSES,
    FILES,
    GROUPS,
    GROWING,
    IMPORTS,
    READING,
    ROWS,
    SCORES,
    Contest,
)
from processes import Spent

# What came of each process of a contest: its runs in turn with the others, or why there are none.
Results = Mapping[str, Mapping[str, list[Spent] | str]]
TEN, HUNDRED = "10,000,000 rows", "100,000,000 rows"
SMALL, FEW = "1,000 rows of CSV", "Within a process: few"
SMECE, MARGINAL = "Within a process: smECE", "Within a process: 50,000"
MOST_EXPONENT = 1.0


@dataclass(frozen=True)
class Goal:
    """A figure to reach.

    Args:
        words: What it is of.

        bound: What it is to be, at most or at least.

        contest: The start of the title of the contest that shows it.

        name: The process.

        over: The one that it is divided by, or nothing for a figure in seconds or MiB.

        of: Which figure of a process: "wall", "cpu" or "peak".

        most: Whether the bound is the most, or the least.
    """

    words: str
    bound: float
    contest: str
    name: str
    over: str = ""
    of: str = "wall"
    most: bool = True


def _reads(name: str, bound: float, rows: str = TEN, of: str = "cpu") -> Goal:
    time = "processor" if of == "cpu" else "wall"
    return Goal(f"{name}, {rows}, {time} time in reads", bound, rows, name, READING, of)


def _beside(peer: str, what: str, bound: float, contest: str, ours: str, of: str = "wall") -> Goal:
    return Goal(f"{peer} over ours: {what}", bound, contest, peer, ours, of, most=False)


GOALS = (
    *(
        Goal(f"{name}, 1,000 CSV rows, in imports of numpy, pyarrow, typer", 1.5, SMALL, name, IMPORTS, "cpu")
        for name in ("measure", "verify", "apply", "fit")
    ),
    Goal("`--help`, in starts of bare Python", 7.0, SMALL, "--help", BARE, "cpu"),
    Goal("1,000 groups of 20 rows, s", 2.0, "Groups", "1,000 groups"),
    # No bound is set but that it is possible; the memory of a laptop is what it may take.
    Goal("100,000 groups of 20 rows are possible, MiB", 4_096.0, "Groups", "100,000 groups", of="peak"),
    Goal("1,000 classes of 2,000 rows, s", 2.0, "Classes", "1,000 classes"),
    Goal("10,000 files, s", 8.0, "Files", "10,000 files"),
    Goal("2,000 columns of scores, s", 10.0, "Columns", "2,000 scores"),
    Goal("2,000 columns of scores, MiB", 400.0, "Columns", "2,000 scores", of="peak"),
    Goal("`inspect` of a CSV of a million columns, s", 10.0, "CSV", "inspect"),
    Goal("`inspect` of a CSV of a million columns, MiB", 500.0, "CSV", "inspect", of="peak"),
    _reads("measure", 2.8),
    _reads("measure", 4.0, of="wall"),
    _reads("measure", 3.0, HUNDRED, of="wall"),
    Goal(f"measure, {HUNDRED}, MiB", 256.0, HUNDRED, "measure", of="peak"),
    _reads("fit platt", 4.5),
    _reads("fit beta", 4.5),
    _reads("fit isotonic", 4.0),
    _beside("relplot", "smECE, 10 million rows in memory", 20.0, SMECE, "smECE", "cpu"),
    _beside("uncertainty-calibration", "ECE of 1,000 classes", 30.0, MARGINAL, "marginal ECE", "cpu"),
    _beside("pandas", "apply, CSV of a million rows", 6.0, "Apply, CSV", "apply"),
    *(
        Goal(f"1,000 {kind} scores, {what}, processor s", bound, FEW, f"{kind}, {what}", of="cpu")
        for kind in ("rare", "saturated")
        for what, bound in (("one test", 0.05), ("report", 0.3))
    ),
    Goal("`segments` of a million rows by 5 columns, s", 1.4, "Segments", "segments"),
    _beside("MCGrad", "segments, a million rows by 5 columns", 10.0, "Segments", "segments"),
)  # fmt: skip

# Each direction: the sizes, and what is timed at each as (contest, process).
GROWTH: dict[str, dict[int, tuple[str, str]]] = {
    **{f"rows, {name}": {rows: (f"{rows:,} rows", name) for rows in ROWS} for name in GROWING},
    "files": {count: ("Files", f"{count:,} files") for count in FILES},
    "groups": {count: ("Groups", f"{count:,} groups") for count in GROUPS},
    "classes": {count: ("Classes", f"{count:,} classes") for count in CLASSES},
    "columns of scores": {count: ("Columns", f"{count:,} scores") for count in SCORES},
}


def goals_of(results: Results) -> str:
    """Return what was aimed at and what was reached as a Markdown table."""
    lines = _head("goal", "bound", "reached", "least to most", "met")
    for goal in GOALS:
        found = _figures(_runs(results, goal.contest, goal.name), goal.of)
        if goal.over:
            found = _ratios(found, _figures(_runs(results, goal.contest, goal.over), goal.of))
        lines.append(_goal(goal.words, goal.bound, found, most=goal.most))
    for direction in GROWTH:
        found = list(_exponents(results, direction).values())[-1:]
        lines.append(_goal(f"exponent of {direction}", MOST_EXPONENT, found[0] if found else []))
    return "\n".join(lines)


def growth_of(results: Results) -> str:
    """Return how processor time grows, as a Markdown table.

    An exponent is that of the time less that at the least size, which is start-up; a time within a tenth of a
    second of it says nothing.
    """
    lines = _head("direction", "from, to", "exponent", "least to most", "peak MiB, by size")
    for direction, sizes in GROWTH.items():
        peaks = [_figures(_runs(results, *place), "peak") for place in sizes.values()]
        told = ", ".join(f"{median(one):.0f}" for one in peaks if one)
        for (low, high), found in _exponents(results, direction).items():
            lines.append(_line(direction, f"{low:,}, {high:,}", _middle(found), _range(found), told))
            direction = told = ""  # noqa: PLW2901 - said once
    return "\n".join(lines)


def table_of(contest: Contest, found: Mapping[str, list[Spent] | str]) -> str:
    """Return a contest as a Markdown table: ratios to one process, of pairs that ran in turn, and medians."""
    of = f"in {contest.base}: wall"
    lines = _head("process", "what comes out", of, "least to most", "cpu", "wall s", "cpu s", "peak MiB")
    base = found.get(contest.base, "")
    for one in contest.field:
        runs = found.get(one.name, "not run")
        if isinstance(runs, str):
            lines.append(_line(one.name, one.computes, runs, "", "", "", "", ""))
            continue
        wall, cpu = (_ratios(_figures(runs, what), _figures(base, what)) for what in ("wall", "cpu"))
        spent = [
            f"{median(_figures(runs, what)):.{digits}f}"
            for what, digits in (("wall", 3), ("cpu", 3), ("peak", 0))
        ]
        lines.append(_line(one.name, one.computes, _middle(wall), _range(wall), _middle(cpu), *spent))
    return "\n".join(lines)


def _runs(results: Results, contest: str, name: str) -> list[Spent] | str:
    for title, found in results.items():
        if title.startswith(contest):
            return found.get(name, "")
    return ""


def _figures(runs: list[Spent] | str, of: str) -> list[float]:
    return [] if isinstance(runs, str) else [getattr(run, of) for run in runs]


def _ratios(found: Sequence[float], base: Sequence[float]) -> list[float]:
    """Return the ratios of processes that ran next to each other."""
    return [one / other for one, other in zip(found, base, strict=False)]


def _exponents(results: Results, direction: str) -> dict[tuple[int, int], list[float]]:
    times = {
        size: seconds
        for size, place in GROWTH[direction].items()
        if (seconds := _figures(_runs(results, *place), "cpu"))
    }
    if len(times) < 3:
        return {}
    least, *sizes = times
    start = median(times[least])
    return {
        (low, high): [
            math.log((more - start) / (less - start)) / math.log((high - least) / (low - least))
            for less, more in zip(times[low], times[high], strict=False)
        ]
        for low, high in pairwise(sizes)
        if min(*times[low], *times[high]) - start >= 0.1
    }


def _goal(words: str, bound: float, found: Sequence[float], *, most: bool = True) -> str:
    told = f"{'at most' if most else 'at least'} {bound:,g}"
    if not found:
        return _line(words, told, "not measured", "", "")
    # Judged as shown: what lies beyond the digits of a figure is far less than its noise.
    reached, least, largest = (float(f"{figure:.3g}") for figure in (median(found), min(found), max(found)))
    met = "yes" if reached == bound or (reached < bound) == most else "no"
    if least < bound < largest:
        met += ", within noise"
    return _line(words, told, _middle(found), _range(found), met)


def _middle(found: Sequence[float]) -> str:
    return _number(median(found)) if found else ""


def _range(found: Sequence[float]) -> str:
    return f"{_number(min(found))} to {_number(max(found))}" if len(found) > 1 else ""


def _number(figure: float) -> str:
    return f"{figure:,.0f}" if figure >= 100 else f"{figure:.3g}"


def _head(*names: str) -> list[str]:
    return [_line(*names), "|" + "---|" * len(names)]


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
