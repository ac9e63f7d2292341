"""The page `docs/coverage.md`: what the simulations found, as tables."""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field

from peers_beside import OURS, Beside
from scipy.stats import binom

from claims.dependent_rows import CLUSTERS, PAIRS
from claims.over_bins import OF_THE_POPULATION, POWER
from claims.simulation import (
    OVER_CLUSTERS,
    SCENARIOS,
    Tally,
    allowed_error,
    approximate,
    kept,
    most_misses,
    promised,
)

ROWS = (200, 1000, 5000, 50_000)
CONFIDENCES = (0.95, 0.9)
ABOUT = {
    "calibrated": "scores uniform, labels follow them",
    "mild": "scores uniform, logit slope 0.8",
    "strong": "scores uniform, logit slope 0.4",
    "discrete": "ten atoms, labels follow them",
    "disc4": "ten atoms, off by 0.04 up and down in turn",
    "rare": "scores log-uniform from 0.002 to 0.2, labels follow them",
    "rare, wrong": "the same scores, labels half as frequent",
    "rare, 15 atoms": "fifteen atoms from 0.002 to 0.2, labels follow them",
    "tied": "scores uniform on hundredths, logit slope 0.8",
    "one atom": "every score 0.5, labels 0.45: the hardest for one-sided bounds",
}
DEFAULT = (
    "ece", "ece upper", "ece lower", "ece_equal_mass", "l2", "smece upper", "smece lower", "bias", "brier",
    "log_loss",
)  # fmt: skip
ON_REQUEST = (
    "ace", "l2_plug_in", "lp", "linf", "overconfidence", "underconfidence", "dce", "dce_lower", "smce",
    "smece_logit", "smece_probit", "citl_logit", "cox_intercept", "cox_slope", "spherical", "brier_skill",
    "log_loss_skill", "brier_uncertainty", "brier_uncertainty_corrected", "brier_unc", "log_loss_unc",
    "brier_reliability_corrected",
)  # fmt: skip
DIFFERENCES = ("paired brier", "paired log_loss", "difference of ece")
TESTS = ("ks", "kuiper", "spiegelhalter", "t", "combined", "hosmer_lemeshow", "u")
ABOUT_PEERS = """
    Each interval is judged against its own truth: theirs over the package's own bins and for the
    population, ours for what it says. In brackets the mean width, not cut to [0, 1].
    uncertainty-calibration: basic bootstrap, 100 resamples; its docstring promises "1-alpha confidence
    intervals", its code divides alpha by 100, so that alpha 0.05 gives nearly the whole range of the
    resamples. Basic intervals reach below 0, where no error can be, and cover 0 by that. calzone:
    percentile bootstrap, 200 resamples (its default is 1,000). relplot: its value plus or minus its
    printed half-width, basic bootstrap, 100 resamples, at 95 % only. torchmetrics, netcal, MAPIE and
    scikit-learn print no interval of a calibration error.
"""
KIND_WORDS = {
    "default": "intervals printed by default (smECE a quarter as often)",
    "bins": "over bins on request and `--bounds` (Chernoff, `l2_plug_in` and Sun et al. a tenth as often)",
    "means": "spherical, skill, uncertainty (the last a tenth as often)",
    "coefficients": "Cox",
    "distances": "dce, dce_lower, smce",
    "scales": "smece_logit, smece_probit",
    "pairs": "differences of two scores",
    "peers": "beside other packages (smECE and relplot half as often)",
}
Key = tuple[str, str, int, float]


@dataclass(frozen=True, slots=True)
class Gates:
    """
    Wrong passes and wrong fails, by the number of atoms.

    Args:
        one_look: Of gates asked once.

        any_time: Of streams, at any look.

        looks: How many looks a stream has.

        streams: How many streams there were.
    """

    one_look: dict[int, tuple[int, int]]
    any_time: dict[int, tuple[int, int]]
    looks: int
    streams: int


@dataclass(slots=True)
class Run:
    """
    All that was found.

    Args:
        command: What was run.

        repetitions: Of tests, clusters and gates asked once.

        often: Repetitions by kind and number of rows.

        tallies: By name, scenario, rows and confidence.

        clusters: By name, clusters, world and confidence.

        peers: By scenario and rows.

        tests: Rejections by test, by scenario and rows.

        gates: Wrong verdicts.
    """

    command: str
    repetitions: int
    often: dict[str, dict[int, int]] = field(default_factory=dict)
    tallies: dict[Key, Tally] = field(default_factory=dict)
    clusters: dict[tuple[str, str, str, float], Tally] = field(default_factory=dict)
    peers: dict[tuple[str, int], Beside] = field(default_factory=dict)
    tests: dict[tuple[str, int], dict[str, int]] = field(default_factory=dict)
    gates: Gates | None = None

    def listed_bounds(self) -> list[str]:
        """Return the names of the bounds behind `--bounds`."""
        named = {name for name, *_ in self.tallies}
        return sorted(name for name in named if name.startswith(("ece ", "l2 ")) and name not in DEFAULT)


def table(head: list[str], rows: list[list[str]]) -> Iterator[str]:
    """Yield the lines of a table."""
    yield "| " + " | ".join(head) + " |"
    yield "|---" * len(head) + "|"
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def prose(text: str) -> Iterator[str]:
    """Yield a paragraph, wrapped."""
    yield from textwrap.wrap(" ".join(text.split()), 120, break_on_hyphens=False)
    yield ""


def kind_of(name: str) -> str:
    """Return in what sense an interval holds."""
    if not approximate(name):
        return "finite-sample"
    return "approximate" if name.endswith(OVER_CLUSTERS) else "approximate, from 1,000 rows"


def cell_text(name: str, tally: Tally | None, *, rows: int) -> str:
    """Return coverage with the mean width, or mean bound of one end; bold where a promise is broken."""
    if tally is None:
        return ""
    mean = tally.mean_width
    text = f"{tally.coverage:.3f} ({1.0 - mean if name.endswith(' lower') else mean:.3f})"
    return text if kept(name, tally, rows=rows) else f"**{text}**"


def tail_of(tally: Tally) -> tuple[float, float]:
    """Return how probable so many misses are at the nominal rate, then the coverage."""
    return float(binom.sf(tally.misses - 1, tally.repetitions, tally.error)), tally.coverage


def candidates(run: Run, name: str, confidence: float) -> list[tuple[str, int, Tally]]:
    """Return the cells for which an interval promises something."""
    if name.endswith(OVER_CLUSTERS):
        return [
            (f"{clusters}, {world}", 0, tally)
            for (one, clusters, world, level), tally in run.clusters.items()
            if one == name and level == confidence
        ]
    return [
        (f"{scenario}, {rows:,} rows", rows, tally)
        for (one, scenario, rows, level), tally in run.tallies.items()
        if one == name and level == confidence and promised(name, rows)
    ]


def least_table(run: Run) -> Iterator[str]:
    """Yield the cell that speaks most against each interval, among those for which it is promised."""
    yield from ("## The cell that speaks most against each interval", "")
    yield from prose("""
        Of all cells for which an interval promises something, the one with the least probable
        misses. An end or a bound by itself is counted at half the error: nominal 97.5 and 95 %.
        Misses are followed by how many chance and the promise allow.
    """)
    names = {name for name, *_ in run.tallies} | {name for name, *_ in run.clusters}
    order = [*DEFAULT, *ON_REQUEST, *run.listed_bounds(), *DIFFERENCES]
    ends = [name for name in sorted(names) if name not in order and not name.endswith("over rows")]
    rows = []
    for name in (*(one for one in order if one in names), *ends):
        row = [name, kind_of(name)]
        for confidence in CONFIDENCES:
            found = candidates(run, name, confidence)
            if not found:
                row += ["", "", ""]
                continue
            cell, size, tally = min(found, key=lambda one: tail_of(one[2]))
            most = most_misses(tally.repetitions, allowed_error(name, tally))
            text = f"{tally.misses} of {tally.repetitions:,}; {most}"
            row += [cell, f"{tally.coverage:.3f}", text if kept(name, tally, rows=size) else f"**{text}**"]
        rows.append(row)
    head = ["interval", "holds", "95 %: cell", "coverage", "misses; allowed", "90 %: cell", "coverage"]
    yield from table([*head, "misses; allowed"], rows)


def peer_tables(run: Run) -> Iterator[str]:
    """Yield coverage and width of other packages' intervals beside ours for the same rows."""
    yield from ("## Beside the bootstrap of other packages, on the same rows", "")
    if not run.peers:
        yield from ("Not run: no Python with the other packages was named (`--peers`).", "")
        return
    versions = max((found.versions for found in run.peers.values()), key=len)
    known = ("uncertainty-calibration", "calzone", "relplot")
    absent = ", ".join(name for name in known if name not in str(versions))
    yield from prose(f"Called: {', '.join(versions)}. {f'Absent: {absent}.' if absent else ''} {ABOUT_PEERS}")
    scenarios = [scenario for scenario in SCENARIOS if any(one == scenario for one, _ in run.peers)]
    for confidence in CONFIDENCES:
        for rows in ROWS:
            cells = {s: run.peers[s, rows].tallies[confidence] for s in scenarios if (s, rows) in run.peers}
            if cells:
                often = max(tally.repetitions for one in cells.values() for tally in one.values())
                yield from (f"Nominal {confidence:.0%}, {rows:,} rows, {often} repetitions.", "")
                yield from table(["interval", *cells], peer_rows(cells))


def peer_rows(cells: dict[str, dict[str, Tally]]) -> list[list[str]]:
    """Return a row per interval; Theorem 12.4 follows our ECE."""
    names = list(dict.fromkeys(name for one in cells.values() for name in one))
    rows = []
    for name in names:
        found = [one.get(name) for one in cells.values()]
        texts = ["" if t is None else f"{t.coverage:.2f} ({t.mean_width:.3f})" for t in found]
        rows.append([name, *texts])
        if name == OURS[0]:
            widths = [f"({one[name].plain_width / one[name].repetitions:.3f})" for one in cells.values()]
            rows.append(["Theorem 12.4, width", *widths])
    return rows


def interval_tables(run: Run, names: list[str], places: list[str]) -> Iterator[str]:
    """Yield one table per interval, both confidences side by side."""
    head = [f"{confidence:.0%}: {rows:,}" for confidence in CONFIDENCES for rows in ROWS]
    for name in names:
        rows = []
        for place in places:
            keys = [(name, place, rows, confidence) for confidence in CONFIDENCES for rows in ROWS]
            texts = [cell_text(name, run.tallies.get(key), rows=key[2]) for key in keys]
            if any(texts):
                rows.append([place, *texts])
        if rows:
            used = [index for index in range(len(head)) if any(row[index + 1] for row in rows)]
            title = f"lp, p = {POWER:.0f}" if name == "lp" else name
            one_end = " Nominal 97.5 and 95 %." if name.endswith((" upper", " lower")) else ""
            yield from (f"### {title}", "", f"{kind_of(name).capitalize()}.{one_end}", "")
            yield from table(
                ["scenario", *(head[index] for index in used)],
                [[row[0], *(row[index + 1] for index in used)] for row in rows],
            )


def width_table(run: Run) -> Iterator[str]:
    """Yield the widths of our ECE beside those of Theorem 12.4."""
    yield from ("### Width of `ece` beside Theorem 12.4", "")
    yield "Mean width at 95 %, ours / that of the two-sided interval of Theorem 12.4 for the same rows."
    yield ""
    rows = []
    for scenario in SCENARIOS:
        found = [run.tallies.get(("ece", scenario, count, 0.95)) for count in ROWS]
        rows.append([scenario, *("" if one is None else width_text(one) for one in found)])
    yield from table(["scenario", *(f"{count:,} rows" for count in ROWS)], rows)


def width_text(tally: Tally) -> str:
    """Return the mean width of an interval and that of Theorem 12.4."""
    return f"{tally.mean_width:.3f} / {tally.plain_width / tally.repetitions:.3f}"


def cluster_tables(run: Run) -> Iterator[str]:
    """Yield coverage over clusters, and over rows beside it."""
    yield from ("## Dependent rows: `--cluster`", "")
    yield from prose("""
        Labels of a cluster have correlation 0.3; scores follow Beta(2, 2), or are those of two
        models. `over rows` is what an interval that takes rows for independent would do: no
        interval of ours.
    """)
    names = sorted({name for name, *_ in run.clusters})
    for confidence in CONFIDENCES:
        rows = []
        for name in names:
            worlds = sorted({key[2] for key in run.clusters if key[0] == name})
            for world in worlds:
                found = [run.clusters.get((name, clusters, world, confidence)) for clusters in CLUSTERS]
                texts = [
                    cell_text(name, tally, rows=0) if name.endswith(OVER_CLUSTERS) else plain_text(tally)
                    for tally in found
                ]
                rows.append([name, world, *texts])
        yield from (f"Nominal {confidence:.0%}, {run.repetitions:,} repetitions.", "")
        yield from table(["interval", "labels", *CLUSTERS], rows)


def plain_text(tally: Tally | None) -> str:
    """Return coverage and width of what promises nothing."""
    return "" if tally is None else f"{tally.coverage:.3f} ({tally.mean_width:.3f})"


def test_table(run: Run) -> Iterator[str]:
    """Yield how often each test rejects calibrated labels at 5 %."""
    yield from ("## Tests: rejections of calibrated labels at 5 %", "")
    error = (0.05 * 0.95 / run.repetitions) ** 0.5
    yield from prose(f"""
        P-values as `measure` decides them, with 199 draws where they are drawn; {run.repetitions:,}
        repetitions, so that one standard error is {error:.3f}. `combined` is that of Kuiper,
        Spiegelhalter and T by Bonferroni.
    """)
    rows = []
    for scenario in ABOUT:
        for count in ROWS:
            counts = run.tests.get((scenario, count))
            if counts is not None:
                shares = [f"{counts[name] / run.repetitions:.3f}" for name in TESTS]
                rows.append([scenario, f"{count:,}", *shares])
    yield from table(["scenario", "rows", *TESTS], rows)


def gate_table(run: Run) -> Iterator[str]:
    """Yield how often a gate was wrong where the error is exactly at the limit."""
    gates = run.gates
    if gates is None:
        return
    yield from (
        "## Gates: wrong verdicts where the error is exactly the limit 0.05, delta 5 % on each side",
        "",
    )
    yield from prose(f"""
        Limit 0.05, delta 5 % on each side. One look: 2,000 rows, bets of an artifact,
        {run.repetitions:,} repetitions. Ever: asked after every 400 rows up to {
        400 * gates.looks:,}, any-time bets, {gates.streams:,} streams.
    """)
    rows = []
    for count, wrong in sorted(gates.one_look.items()):
        once = [f"{number / run.repetitions:.3f}" for number in wrong]
        ever = [f"{number / gates.streams:.3f}" for number in gates.any_time[count]]
        rows.append([str(count), *once, *ever])
    ends = ["wrong pass, one look", "wrong fail, one look", "ever a wrong pass", "ever a wrong fail"]
    yield from table(["atoms", *ends], rows)


def opening(run: Run) -> Iterator[str]:
    """Yield what the page is and how it was made."""
    yield from ("# Measured coverage", "", f"Written by `{run.command}`; do not edit.", "")
    yield from prose("""
        Every interval and bound of `measure` and `compare` for unweighted rows, simulated. An interval
        may miss as often as its nominal rate, plus what chance gives with probability 1e-6; approximate
        intervals may miss three points more and promise nothing below 1,000 rows. A cell that breaks this
        is bold. Coverage above nominal is the price of holding at every number of rows. `make claims`
        runs the same simulations, more often, and fails where one breaks its promise. Every cell is
        seeded by its own name (`tests/claims/simulation.py`), so the same command gives the same page.
    """)
    yield from prose("""
        Not here: intervals of groups (`--by`), which are these at a higher confidence; bounds for importance
        weights; the pointwise bands of plots.
    """)


def setting(run: Run) -> Iterator[str]:
    """Yield scenarios and repetitions."""
    yield from ("## Scenarios and repetitions", "")
    yield from table(["scenario", "scores and labels"], [[name, text] for name, text in ABOUT.items()])
    rows = [
        [KIND_WORDS[kind], *(f"{often.get(count, 0):,}" if count in often else "" for count in ROWS)]
        for kind, often in run.often.items()
    ]
    yield from table(["repetitions of a cell", *(f"{count:,} rows" for count in ROWS)], rows)
    yield from prose("""
        Intervals for these scores: scores drawn once, labels anew. For the population: both anew. What is
        printed by default is simulated in every scenario, at up to 50,000 rows; what is printed on
        request in fewer, and only what holds at every number of rows at 50,000 too. In the tables below
        stands the coverage, and in brackets the mean width, of one end alone the mean bound.
    """)


def document(run: Run) -> str:
    """Return the page."""
    population = [name for name in run.listed_bounds() if name.split()[1] in OF_THE_POPULATION]
    fixed = [name for name in run.listed_bounds() if name not in population]
    scenarios = list(SCENARIOS)
    lines = [
        *opening(run),
        *least_table(run),
        *peer_tables(run),
        *setting(run),
        *("## Intervals printed by default", ""),
        *width_table(run),
        *interval_tables(run, list(DEFAULT), scenarios),
        *("## Intervals of other measures, on request", ""),
        "`dce_lower` is printed with the interval of `dce`; no measure that is missing here has an interval.",
        "",
        *interval_tables(run, list(ON_REQUEST), scenarios),
        *("## Further bounds: `measure --bounds`", "", "### Of the population", ""),
        *interval_tables(run, population, scenarios),
        *("### For these very scores", ""),
        *interval_tables(run, fixed, scenarios),
        *("## Differences of two scores of the same rows", ""),
        *interval_tables(run, list(DIFFERENCES), list(PAIRS)),
        *cluster_tables(run),
        *test_table(run),
        *gate_table(run),
    ]
    return "\n".join(lines).rstrip() + "\n"
