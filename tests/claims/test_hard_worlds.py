"""
Every promise in the worlds that are hardest for it, through the public functions.

What says that it holds at every number of rows must, wherever; the whole grid, and what holds approximately,
is in `docs/coverage.md`, which `make coverage` writes from the same cells with more repetitions.
"""

import numpy as np
import pytest

import calibcli
from calibcli.bounds.interval import Interval
from calibcli.gate_names import Bound, Relation
from calibcli.names import MeasureName, Target
from calibcli.verdicts.claim import Ground, Rule
from claims import cells as c
from claims.worlds import CLUSTERS, HARD, WORLDS, Law, usual_bins

M = MeasureName
# How often a cell is repeated here, by what it costs: of these kinds in every hard world, of those in a few.
EVERYWHERE = {"measure": 60, "verify": 60, "compare": 300, "by": 100}
SOMEWHERE = {"bounds": 100, "baseline": 100, "smooth": 100, "state": 40, "alarm": 40, "plan": 100}
SOME = ("two values", "few rows open", "near 0 and 1, wrong", "one bad bin", "fraud, calibrated")


def guard_cells() -> list[tuple[c.Cell, int]]:
    """Return the cells of `make claims`: at 1,000 or 2,000 rows, and at 30 drawn anew for intervals."""
    found = []
    for cell in c.cells():
        few = cell.rows == 30 and (cell.kind, cell.reading) == ("measure", c.POPULATION)
        kinds = EVERYWHERE | SOMEWHERE if cell.world in SOME else EVERYWHERE
        often = kinds.get(cell.kind, 0) if cell.world in HARD else 0
        if often and (few or cell.rows in {1_000, 2_000}) and not cell.clusters:
            found.append((cell, often))
    return found


def check(cell: c.Cell, repetitions: int) -> None:
    """Fail where what holds at every number of rows is wrong too often, in the reading it speaks of."""
    counts = c.simulated(cell, repetitions)
    assert not c.broken(cell, counts), (cell, c.broken(cell, counts))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cell", "repetitions"), guard_cells(), ids=lambda one: getattr(one, "name", str(one))
)
def test_promises_hold_in_hard_worlds(cell: c.Cell, repetitions: int) -> None:
    """No interval, verdict or drawn p-value of any number of rows is wrong too often."""
    check(cell, repetitions)


@pytest.mark.untraced
@pytest.mark.parametrize(
    ("kind", "world"),
    [
        ("measure", "one bad bin"),
        ("verify", "two values"),
        ("compare", "near 0 and 1, wrong"),
        ("bounds", "heavy ties"),
        ("baseline", "rare, one value"),
        ("by", "two values"),
        ("smooth", "confident, rare costly errors"),
        ("tests", "few rows open"),
        ("clusters", "label noise"),
        pytest.param("state", "two values", marks=pytest.mark.slow),
        pytest.param("alarm", "discrete", marks=pytest.mark.slow),
        ("auto", "label noise"),
        ("plan", "two values"),
    ],
)
def test_every_kind_of_cell_answers(kind: str, world: str) -> None:
    """Each kind gives answers at a few rows."""
    rows = {"state": 2_000, "alarm": 2_000, "auto": 300, "clusters": 1_000}.get(kind, 1_000)
    layout = "200 clusters of 5" if kind == "clusters" else ""
    cell = c.Cell(kind, world, rows, c.POPULATION, layout)
    found = c.simulated(cell, 1)
    assert found
    assert all(one.asked == 1 for one in found.values())


def test_a_cell_is_the_same_whenever_it_is_run() -> None:
    """Its random numbers come from its name."""
    first, second = (c.Cell("compare", "mild", 100, reading) for reading in (c.FIXED, c.POPULATION))
    assert c.simulated(first, 3) == c.simulated(first, 3)
    assert c.simulated(first, 3) != c.simulated(second, 3)


def test_truth_is_what_rows_in_these_proportions_have() -> None:
    """Where each score has exactly its share of labels, every plug-in value is the truth."""
    law = Law.of(WORLDS["disc4"], 20_000)
    ones = np.rint(law.rate * law.table.rows).astype(int)
    score = np.repeat(law.table.score, law.table.rows)
    label = np.concatenate([np.arange(n) < k for n, k in zip(law.table.rows, ones, strict=True)])
    plug_in = [one for one in c.MEASURES if one not in (M.L2, M.BRIER_RELIABILITY_CORRECTED)]
    values = calibcli.measure(score, label, metric=[*plug_in, M.SMECE, M.SMCE]).measures
    truth = law.truths(atomic=True) | dict(law.smooth)
    for name in (*plug_in, M.SMECE, M.SMCE):
        near = {"abs": 1e-4} if name is M.BRIER_UNCERTAINTY_CORRECTED else {"abs": 1e-6}
        assert values[name].value == pytest.approx(truth[name][0], **near), name


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
        (said,) = calibcli.verify(score, label, rule=f"{name}.upper<=0.05").rules.values()
        verdict = c.judge(table, Rule(name, name, Bound.UPPER, Relation.AT_MOST, 0.05), ground=ground)
        assert (verdict.outcome, verdict.lower, verdict.upper) == (said.outcome, said.lower, said.upper)
