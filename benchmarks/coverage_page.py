"""The page `docs/coverage.md`: what the simulations found, where it is not nominal first."""

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from claims.cells import EITHER, INFINITE, KINDS, READINGS, Cell, Count, repetitions_of
from claims.worlds import CLUSTERS, FRIENDLY, HARD, WORLDS

# Where so many wrong answers are less probable, an interval is not what it says; between both it may not be.
BROKEN, NEAR = 1e-6, 1e-3
SHOWN = {"fixed-design": "these scores", "population": "population", EITHER: "either"}
ABOUT = {
    "measure": "intervals of `measure`",
    "tests": "tests of `measure` where labels follow the scores; p-values drawn by 199 draws, not 999",
    "smooth": "intervals of SmoothECE and of distances",
    "curves": "intervals of the calibration indices, whose truth is that of the population's best "
    "spline, of `emax` over these scores",
    "bounds": "every bound of `measure --bounds`, at 97.5 %, and the interval of the plug-in l2 error",
    "compare": "intervals and verdicts of `compare` with a second score",
    "clusters": "intervals of `measure --cluster`, of two scores too; labels of one have correlation 0.3",
    "classes": "intervals of measures of several classes: label 0, and label 1 parted in two",
    "verify": "rules whose limit is exactly the truth: PASS and FAIL are wrong; without bins to 1,000 rows",
    "by": "`verify --max-ece --by` with five groups, limit at the truth in each",
    "baseline": "`verify --baseline --max-regression 0` where nothing has changed",
    "state": "`verify --max-ece --state` asked after each of 20 batches, limit at the truth",
    "alarm": "`verify --alarm --state` over 20 batches of calibrated labels",
    "auto": "`fit --method auto`: how often log loss is more than the raw score's; nothing is promised",
    "plan": "`plan`: how often the rows that are to decide with a power of 90 % do not",
}


@dataclass(frozen=True, slots=True)
class Run:
    """What is known.

    Args:
        found: The counts of the cells that were run.

        every: All cells that there are.

        changed: Those that were run, and have answered otherwise since.
    """

    found: dict[Cell, dict[str, Count]]
    every: list[Cell]
    changed: Sequence[Cell] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """One answer in one cell."""

    cell: Cell
    name: str
    count: Count

    @property
    def own(self) -> bool:
        """Whether the answer speaks of what is drawn anew here."""
        return self.count.own(self.cell.reading)


def lines_of(run: Run) -> list[Line]:
    """Return every answer, what speaks most against it first."""
    found = [Line(cell, name, one) for cell, counts in run.found.items() for name, one in counts.items()]
    return sorted(found, key=_against)


def _against(line: Line) -> tuple[float, float]:
    return line.count.chance, -line.count.wrong / line.count.asked


def prose(text: str) -> Iterator[str]:
    """Yield a paragraph, wrapped."""
    yield from textwrap.wrap(" ".join(text.split()), 120, break_on_hyphens=False)
    yield ""


def table(head: list[str], rows: list[list[str]]) -> Iterator[str]:
    """Yield a table."""
    yield f"| {' | '.join(head)} |"
    yield "|---" * len(head) + "|"
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield ""


def place(cell: Cell) -> str:
    """Return where, in words."""
    over = f", {cell.clusters}" if cell.clusters else ""
    return f"{cell.world}, {cell.rows:,} rows{over}"


def right(count: Count) -> str:
    """Return how often it was right in per cent, bold where that is not what it says."""
    share = f"{100.0 * (1.0 - count.wrong / count.asked):.2f}"
    return f"**{share}**" if count.chance < BROKEN else share


def said(count: Count) -> str:
    """Return how often it says it is right."""
    return "" if count.nominal is None else f"{100.0 * (1.0 - count.nominal):g}"


def mean_width(count: Count) -> str:
    """Return the mean width, of a bound its mean."""
    mean = count.width / count.asked
    return "∞" if mean >= INFINITE / 1e6 else f"{mean:.4g}"


HEAD = ["what", "of", "holds", "where", "drawn anew", "nominal %", "right %", "wrong of asked"]


def row(line: Line) -> list[str]:
    """Return a row of the tables of lines."""
    one = line.count
    return [
        line.name,
        SHOWN.get(one.target, one.target),
        "at every number of rows" if one.holds else "approximately",
        place(line.cell),
        "labels" if line.cell.reading == READINGS[0] else "scores and labels",
        said(one),
        right(one),
        f"{one.wrong:,} of {one.asked:,}",
    ]


def not_nominal(lines: list[Line]) -> Iterator[str]:
    """Yield where a nominal level is not kept, by what it speaks of and how it is said to hold."""
    yield from ("## Where the nominal rate is missed", "")
    promised = [line for line in lines if line.count.nominal is not None]
    parts = (
        (
            "What holds at every number of rows",
            "Where one is wrong too often, a promise is not kept.",
            [one for one in promised if one.own and one.count.holds],
        ),
        (
            "What holds approximately",
            "Reports call each approximate; do not rely on it where it is wrong too often.",
            [one for one in promised if one.own and not one.count.holds],
        ),
        (
            "Read for the other target",
            "Here intervals of these scores are held against the population, or the reverse: no promise.",
            [one for one in promised if not one.own],
        ),
    )
    for title, about, some in parts:
        bad = [one for one in some if one.count.chance < BROKEN]
        near = [one for one in some if BROKEN <= one.count.chance < NEAR]
        yield from (f"### {title}", "")
        yield from prose(
            f"{len(some):,} answers in cells; {len(bad):,} wrong more often than chance "
            f"explains (p < 1e-6), {len(near):,} near it (p < 1e-3). {about}"
        )
        yield from worst_of(bad, "Wrong too often, the worst cell of each:")
        yield from worst_of(near, "Near it, the worst cell of each:")


def worst_of(lines: list[Line], title: str) -> Iterator[str]:
    """Yield the worst cell of each answer, and in how many cells it is among these."""
    if lines:
        cells: dict[str, list[Line]] = {}
        for line in lines:
            cells.setdefault(line.name, []).append(line)
        yield from (title, "")
        yield from table([*HEAD, "cells"], [[*row(some[0]), str(len(some))] for some in cells.values()])


def hardest(lines: list[Line]) -> Iterator[str]:
    """Yield for each answer the cell that speaks most against it, of what it speaks of."""
    yield from ("## The hardest cell of each", "")
    first: dict[str, Line] = {}
    for line in lines:
        if line.own:
            first.setdefault(line.name, line)
    order = list(KINDS)
    found = sorted(first.values(), key=lambda line: order.index(line.cell.kind))
    yield from table(HEAD, [row(line) for line in found])


def all_cells(run: Run) -> Iterator[str]:
    """Yield every cell, a table an answer: worlds down, rows and readings across."""
    yield from ("## Every cell", "")
    yield from prose("""
        In per cent how often the answer was right, in brackets the mean width, of a bound its mean, and of a
        plan the mean number of rows; then the repetitions, where they are not those of the table's title.
        *These*: labels drawn anew; *all*: scores and labels. In italics: read for the other target, for which
        nothing is promised.
    """)
    names: dict[str, list[Line]] = {}
    for cell, counts in run.found.items():
        for name, one in counts.items():
            names.setdefault(name, []).append(Line(cell, name, one))
    order = list(KINDS)
    for name, lines in sorted(names.items(), key=lambda item: (order.index(item[1][0].cell.kind), item[0])):
        yield from one_table(name, lines)


def one_table(name: str, lines: list[Line]) -> Iterator[str]:
    """Yield the table of an answer."""
    one = lines[0].count
    often = max(line.count.asked for line in lines)
    nominal = "nothing is promised" if one.nominal is None else f"nominal {said(one)} %"
    yield from (
        f"### {name}",
        "",
        f"Of {SHOWN.get(one.target, one.target)}; {nominal}; {often:,} repetitions.",
        "",
    )
    columns = sorted({(line.cell.rows, line.cell.clusters, line.cell.reading) for line in lines})
    rows = []
    for world in WORLDS:
        there = {
            (line.cell.rows, line.cell.clusters, line.cell.reading): line
            for line in lines
            if line.cell.world == world
        }
        if there:
            rows.append([world, *(text_of(there.get(column), often) for column in columns)])
    head = [
        f"{over or f'{count:,}'}, {'these' if way == READINGS[0] else 'all'}" for count, over, way in columns
    ]
    yield from table(["world", *head], rows)


def text_of(line: Line | None, often: int) -> str:
    """Return a cell of that table."""
    if line is None:
        return ""
    text = f"{right(line.count)} ({mean_width(line.count)})"
    if line.count.asked != often:
        text += f" of {line.count.asked:,}"
    return text if line.own or line.count.nominal is None else f"*{text}*"


def state_of_run(run: Run) -> Iterator[str]:
    """Yield how many cells of each kind there are, and how many were run."""
    yield from ("## Kinds of cell", "")
    rows = []
    for kind in KINDS:
        every = [cell for cell in run.every if cell.kind == kind]
        done = [cell for cell in every if cell in run.found]
        if every:
            often = sorted({repetitions_of(cell) for cell in every})
            times = " or ".join(f"{one:,}" for one in often)
            rows.append([kind, ABOUT[kind], times, f"{len(done):,} of {len(every):,}"])
    yield from table(["kind", "what is asked", "repetitions", "cells run"], rows)
    left: dict[tuple[str, int], list[str]] = {}
    for cell in run.every:
        if cell not in run.found:
            drawn = "labels" if cell.reading == READINGS[0] else "all"
            over = f"{cell.clusters}, " if cell.clusters else ""
            left.setdefault((cell.kind, cell.rows), []).append(f"{cell.world} ({over}{drawn})")
    if left:
        yield from ("Still to be run:", "")
        yield from table(
            ["kind", "rows", "worlds, and what is drawn anew"],
            [[kind, f"{rows:,}", "; ".join(some)] for (kind, rows), some in sorted(left.items())],
        )


def worlds() -> Iterator[str]:
    """Yield what the worlds are, the hardest first."""
    yield from ("## Worlds", "", "The hardest first; the second part is what most simulations look at.", "")
    for part in (HARD, FRIENDLY):
        yield from table(["world", "scores and labels"], [[name, one.about] for name, one in part.items()])
    yield from table(
        ["clusters", "of equal weight", "rows"],
        [
            [name, f"{sizes.sum() ** 2 / (sizes.astype(float) ** 2).sum():.1f}", f"{sizes.sum():,}"]
            for name, sizes in CLUSTERS.items()
        ],
    )


def changed_since(run: Run) -> str:
    """Return which cells have other answers today, at least in a digit of one of them."""
    kinds = Counter(cell.kind for cell in run.changed)
    if not kinds:
        return ""
    each = ", ".join(f"{count:,} of `{kind}`" for kind, count in kinds.items())
    return (
        f"**In {len(run.changed):,} of them an answer has changed since they were run**, at least in a digit "
        f"({each}): they show what an earlier version did."
    )


def document(run: Run) -> str:
    """Return the page."""
    lines = lines_of(run)
    missing = len(run.every) - len(run.found)
    fewest = min((line.count.asked for line in lines), default=0)
    whole = "" if not missing else f"**{missing:,} cells are still to be run**, listed below."
    text = [
        *("# Measured coverage", "", "Written by `make coverage`; do not edit.", ""),
        *prose(f"""
            Every interval, test, verdict and gate in simulated worlds where the truth is known, the hardest
            of them first. This page holds {len(run.found):,} of
            {len(run.every):,} cells. {whole} {changed_since(run)}
        """),
        *prose("""
            A cell is a question, a world, a number of rows, and what is drawn anew: labels alone, the truth
            being that of these scores, or scores and labels, the truth being the population's. An interval
            says which of the two it is for, and is judged by that; the other is shown as well. Bold is what
            is wrong more often than its nominal rate explains, p < 1e-6. The limit of a rule is exactly the
            truth, where a PASS and a FAIL may each come with a probability of 5 %. Where answers are fewer
            than repetitions the others gave none, such as no interval.
        """),
        *prose(f"""
            Every cell is seeded by its name, so that the same code gives the same page, and kept in
            `benchmarks/coverage.jsonl` with the answers of its first three repetitions: a run repeats these,
            and simulates anew the cells that answer otherwise. No line has fewer than {fewest:,} answers.
            Beside other packages: [coverage_beside.md](coverage_beside.md); sizes of the tests by what
            scores leave open: [test_sizes.md](test_sizes.md).
        """),
        *not_nominal(lines),
        *hardest(lines),
        *state_of_run(run),
        *worlds(),
        *all_cells(run),
    ]
    return "\n".join(text).rstrip() + "\n"
