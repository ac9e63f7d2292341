"""Every promise in every world, the hardest first: the guard of `make claims`.

`make coverage` writes `docs/coverage.md` from the same cells with more repetitions.
"""

from collections.abc import Callable

import numpy as np
import pytest

import calibcli
from calibcli.names import Bound, MeasureName, Relation, Target
from calibcli.options.rules import Rule
from calibcli.stats.bounds import Interval
from calibcli.stats.gates.claim import Ground
from calibcli.stats.measures.cox import cox_measure
from calibcli.stats.table import ScoreTable
from claims import cells as c
from claims.simulation import PROMISES, generator_of, most_misses, short_and_full
from claims.worlds import CLUSTERS, HARD, WORLDS, Law, best_lines, least_upper_distance, usual_bins

M = MeasureName
# Processor seconds a cell takes here, nearly.
SECONDS = 4.0


def guard_cells() -> list[tuple[c.Cell, int]]:
    """Return every cell of which something is promised, repeated 20 times or for so many seconds.

    Of `auto` nothing is, and of `curves` something only where a spline is right (test_curve_claims.py).
    """
    some = [cell for cell in c.cells() if cell.kind not in {"auto", "curves"}]
    asked = [(cell, round(SECONDS / c.seconds_of(cell))) for cell in some]
    return [(cell, max(20, times)) for cell, times in asked]


@pytest.mark.untraced
@short_and_full(
    "cell repetitions",
    [
        (c.Cell("measure", "one atom", 1_000, c.FIXED), 5),
        (c.Cell("measure", "strong", 1_000, c.FIXED), 5),
        (c.Cell("measure", "fraud, calibrated", 1_000, c.POPULATION), 5),
        (c.Cell("verify", "two values", 1_000, c.POPULATION), 5),
        (c.Cell("tests", "few rows open", 1_000, c.POPULATION), 5),
        (c.Cell("bounds", "rare, wrong", 1_000, c.FIXED), 3),
        (c.Cell("smooth", "disc4", 1_000, c.POPULATION), 4),
        (c.Cell("compare", "confident, rare costly errors", 1_000, c.POPULATION), 8),
        (c.Cell("clusters", "label noise", 1_000, c.POPULATION, "50 clusters of 20"), 8),
    ],
    guard_cells(),
)
def test_promises_hold_in_every_world(
    cell: c.Cell, repetitions: int, record_property: Callable[[str, object], None]
) -> None:
    """Nothing is wrong too often that holds at every number of rows, in the reading it speaks of."""
    counts = c.simulated(cell, repetitions)
    held = [
        (one, one.nominal) for one in counts.values() if one.nominal and one.holds and one.own(cell.reading)
    ]
    if held:
        each = [
            (one.asked, one.wrong, one.asked * error, most_misses(one.asked, error)) for one, error in held
        ]
        record_property(PROMISES, [sum(column) for column in zip(*each, strict=True)])
    assert not c.broken(cell, counts), (cell, c.broken(cell, counts))


@short_and_full(
    "wrong rows apart times",
    [(0.005, 300, 0.0, 40), (0.005, 1_000, 1e-6, 100)],
    [
        (wrong, rows, apart, 400)
        for wrong in (0.002, 0.005, 0.02)
        for rows in (100, 300, 1_000)
        for apart in (0.0, 1e-6)
    ],
)
def test_slopes_hold_where_sure_rows_are_seldom_wrong(
    wrong: float, rows: int, apart: float, times: int
) -> None:
    """Two rows in five have a score of 0 or 1, or within 1e-6 of it, and often all of these are right: ends
    missed in 28 %, and where these scores differ, in 79 % of the tables that may have a verdict.
    """
    rng = generator_of("sure", wrong, rows)
    score = np.clip((np.arange(rows) + 0.5) / rows * 5.0 / 3.0 - 1.0 / 3.0, 0.0, 1.0)
    score = score + apart * ((np.arange(rows) + 0.5) / rows - score)
    rate = np.clip(score, wrong, 1.0 - wrong)
    truth = best_lines(score, np.full(rows, 1.0 / rows), rate)[M.COX_SLOPE]
    missed = 0
    for _ in range(times):
        table = ScoreTable.from_rows(score, rng.random(rows) < rate)
        estimate = cox_measure(M.COX_SLOPE, table, confidence=0.9)
        # A verdict needs as many.
        if estimate.interval is not None and float(estimate.details.get("carried_by", 10.0)) >= 10.0:
            missed += not estimate.interval.lower <= truth <= estimate.interval.upper
    assert missed <= most_misses(times, 0.1)


@pytest.mark.untraced
@pytest.mark.parametrize(
    ("world", "reading"),
    [
        pytest.param("two values, 40 % noise", c.FIXED, marks=pytest.mark.slow),
        ("sure and wrong", c.POPULATION),
    ],
)
def test_shift_of_scores_of_another_slope_is_as_uncertain_as_it_says(world: str, reading: str) -> None:
    """Where the likelihood of a shift is flat here and steep there its interval missed in 11 and 16 %."""
    drawn, found = c.Drawn(c.Cell("shift", world, 1_000, reading), np.random.default_rng(4)), c.Found()
    for _ in range(80):
        table = drawn.table()
        estimate = c.measure_named(M.CITL_LOGIT, table, settings=c.settings_of(table))
        found.interval("shift", estimate.interval, drawn.truth(table)[M.CITL_LOGIT])
    assert found.counts["shift"].wrong <= most_misses(found.counts["shift"].asked, 0.05) / 2


def test_set_of_sun_is_read_as_it_is_printed() -> None:
    """A set in words holds 0 if it names it, and what lies between its ends."""
    assert c.in_words("0 or 0.01 to 0.03", 0.0)
    assert c.in_words("0 or 0.01 to 0.03", 0.02)
    assert not c.in_words("0.01 to 0.03", 0.0)
    assert not c.in_words("0.01 to 0.03", 0.04)
    assert not c.in_words("0", 0.04)


def test_upper_distance_of_few_atoms_is_that_of_the_best_partition() -> None:
    """Two scores with each other's rate pool at the middle; two right ones stay; one moves to its rate."""
    half = np.array([0.5, 0.5])
    assert least_upper_distance(np.array([0.4, 0.6]), half, np.array([0.6, 0.4])) == pytest.approx(0.1)
    assert least_upper_distance(np.array([0.4, 0.6]), half, np.array([0.4, 0.6])) == pytest.approx(0.0)
    assert least_upper_distance(np.array([0.5]), np.array([1.0]), np.array([0.45])) == pytest.approx(0.05)


@pytest.mark.untraced
@pytest.mark.parametrize(
    ("kind", "world"),
    [
        ("baseline", "rare, one value"),
        ("by", "two values"),
        pytest.param("state", "two values", marks=pytest.mark.slow),
        pytest.param("alarm", "discrete", marks=pytest.mark.slow),
        ("auto", "label noise"),
        ("curves", "two values"),
        ("plan", "two values"),
    ],
)
def test_every_other_kind_of_cell_answers(kind: str, world: str) -> None:
    """Each other kind gives answers at a few rows."""
    rows = {"state": 2_000, "alarm": 2_000, "auto": 300}.get(kind, 1_000)
    cell = c.Cell(kind, world, rows, c.POPULATION)
    found = c.simulated(cell, 1)
    assert found
    assert all(one.asked == 1 for one in found.values())


def test_a_cell_is_the_same_whenever_it_is_run() -> None:
    """Its random numbers come from its name."""
    first, second = (c.Cell("compare", "mild", 100, reading) for reading in (c.FIXED, c.POPULATION))
    assert c.simulated(first, 2) == c.simulated(first, 2)
    assert c.simulated(first, 2) != c.simulated(second, 2)


def test_truth_is_what_rows_in_these_proportions_have() -> None:
    """Where each score has exactly its share of labels, every plug-in value is the truth."""
    law = Law.of(WORLDS["disc4"], 20_000)
    ones = np.rint(law.rate * law.table.rows).astype(int)
    score = np.repeat(law.table.score, law.table.rows)
    label = np.concatenate([np.arange(n) < k for n, k in zip(law.table.rows, ones, strict=True)])
    plug_in = [one for one in c.MEASURES if one not in (M.L2, M.BRIER_RELIABILITY_CORRECTED)]
    values = calibcli.measure(score, label, metric=[*plug_in, M.SMECE, M.SMCE]).measures
    truth = law.truths(atomic=True) | dict(law.smooth)
    # The area over steps of one row each is larger than the integral by about ln(n) / n.
    near = {M.BRIER_UNCERTAINTY_CORRECTED: 1e-4, M.AURC: 5e-5}
    for name in (*plug_in, M.SMECE, M.SMCE):
        assert values[name].value == pytest.approx(truth[name][0], abs=near.get(name, 1e-6)), name


def test_worlds_are_what_they_are_called() -> None:
    """Shares, rates and open rows of the hard worlds are those of their words."""
    rates = {name: float(law.share @ law.rate) for name in HARD for law in [Law.of(WORLDS[name])]}
    assert rates["base rate 1e-4"] == pytest.approx(1e-4, rel=0.01)
    fraud = Law.of(WORLDS["fraud, calibrated"])
    assert fraud.share == pytest.approx([0.997, 0.003])
    net = Law.of(WORLDS["few rows open"])
    assert 5_000 * float(net.share @ (net.rate * (1 - net.rate))) == pytest.approx(0.43, abs=0.03)
    confident = Law.of(WORLDS["confident, rare costly errors"])
    better = Law.of(WORLDS["confident, rare costly errors"], second=True)
    assert confident.means()[M.LOG_LOSS] - better.means()[M.LOG_LOSS] == pytest.approx(0.00298, abs=1e-5)
    assert (Law.of(WORLDS["one bad bin"]).table.rows.max() / 200_000) == pytest.approx(0.005)
    for world in WORLDS.values():
        score = world.quantile(np.linspace(1e-9, 1 - 1e-9, 1_001))
        assert ((score > 0) & (score < 1)).all()
        assert ((world.truth(score) >= 0) & (world.truth(score) <= 1)).all()
    assert all(sizes.sum() < 4_000 for sizes in CLUSTERS.values())


def test_ends_that_speak_of_different_readings_are_counted_apart() -> None:
    """An interval that misses is counted once, one of a mixed target by its ends."""
    found = c.Found()
    one = Interval(0.2, 0.3, 0.95, "", Target.POPULATION, finite_sample=True)
    for truth in (0.1, 0.25, 0.4):
        found.interval("one", one, (truth, truth))
    assert (found.counts["one"].wrong, found.counts["one"].asked) == (2, 3)
    mixed = Interval(0.2, 0.3, 0.95, "", Target.MIXED, finite_sample=True)
    found.interval("mixed", mixed, (0.1, 0.1))
    upper, lower = (found.counts[f"mixed, {end} end"] for end in ("upper", "lower"))
    assert (upper.wrong, upper.target, upper.nominal) == (0, c.POPULATION, 0.025)
    assert (lower.wrong, lower.target) == (1, c.FIXED)
    cell = c.Cell("measure", "mild", 1_000, c.FIXED)
    bad = c.Count(c.FIXED, True, 0.05, asked=200, wrong=40)
    assert [name for name, _ in c.broken(cell, {"bad": bad, **found.counts})] == ["bad"]


@pytest.mark.untraced
@pytest.mark.parametrize("world", ["two values", "one bad bin"])
def test_tables_answer_as_the_commands_do(world: str) -> None:
    """Intervals and verdicts asked of a table are those of `measure` and `verify` for its rows."""
    table = c.Drawn(c.Cell("measure", world, 400, c.FIXED), np.random.default_rng(5)).table()
    score, label = np.repeat(table.score, table.rows), np.zeros(400, bool)
    for end, ones in zip(np.cumsum(table.rows), table.positive.astype(int), strict=True):
        label[end - ones : end] = True
    names = [*c.MEASURES, *c.SMOOTH]
    report, settings = calibcli.measure(score, label, metric=names), c.settings_of(table)
    for name in names:
        assert c.measure_named(name, table, settings=settings).interval == report.measures[name].interval
    ground = Ground(usual_bins(table), rows_wanted=False)
    for name in (M.ECE, M.BIAS, M.SMECE):
        (said,) = calibcli.verify(score, label, rule=f"{name}.upper<=0.5").rules.values()
        verdict = c.judge(table, Rule(name, name, Bound.UPPER, Relation.AT_MOST, 0.5), ground=ground)
        assert (verdict.outcome, verdict.lower, verdict.upper) == (said.outcome, said.lower, said.upper)
