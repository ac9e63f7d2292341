"""The gate: what passes, what fails, what cannot be said, and how many rows it would take."""

import math

import numpy as np
import pytest

from calibcli.names import Binning, Bound, MeasureName, Relation, Target, VerdictName
from calibcli.options.rules import Rule
from calibcli.stats.gates.claim import LEAST_RARER, Claim, Ground, RowsNeeded
from calibcli.stats.gates.ece import ece_below
from calibcli.stats.gates.rows_needed import Growth, rows_needed, share_beyond_noise
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.bins import ATOMS, Bins, binned, equal_width_edges

ATOMS_OF_TEN = (np.arange(10) + 0.5) / 10


def claim(limit: float = 0.05) -> Rule:
    """The rule that the ECE be at most a limit."""
    return Rule("max-ece", MeasureName.ECE, Bound.UPPER, Relation.AT_MOST, limit)


def exact_table(each: int, error: float = 0.0) -> ScoreTable:
    """Ten atoms whose label rates are the scores plus an error of alternating sign, without noise."""
    rates = np.clip(ATOMS_OF_TEN + error * np.where(np.arange(10) % 2, -1, 1), 0.0, 1.0)
    return ScoreTable(ATOMS_OF_TEN, np.full(10, each), np.rint(each * rates).astype(np.int64))


@pytest.mark.parametrize("variance", [None, 0.17])
def test_calibrated_rows_pass_and_wrong_rows_fail(variance: float | None) -> None:
    """Plenty of rows decide: calibrated passes at 0.05, an error of 0.2 fails, each with its bound."""
    good = ece_below(exact_table(2000), claim(), ground=Ground(ATOMS, variance))
    assert good.outcome is VerdictName.PASS
    assert good.lower <= good.value <= good.upper <= 0.05
    bad = ece_below(exact_table(2000, 0.2), claim(), ground=Ground(ATOMS, variance))
    assert bad.outcome is VerdictName.FAIL
    assert 0.05 < bad.lower <= bad.value <= bad.upper
    for verdict in (good, bad):
        assert verdict.needed is None
        assert verdict.reason is None
        assert verdict.target is Target.POPULATION
        assert verdict.any_time is (variance is None)
        assert verdict.method == ("betting, any time" if variance is None else "betting, one look")
        assert verdict.rows == 20_000
        assert verdict.value <= verdict.fixed_design_upper <= 1.0


def test_few_rows_are_inconclusive_with_the_rows_it_takes() -> None:
    """A little over the least rows decides nothing, and the verdict says how many would."""
    verdict = ece_below(exact_table(20), claim(0.02), ground=Ground(ATOMS, None))
    assert verdict.outcome is VerdictName.INCONCLUSIVE
    assert verdict.reason is None
    assert verdict.needed is not None
    assert verdict.needed.at_best > 200


@pytest.mark.parametrize(("rows", "outcome"), [(99, VerdictName.INCONCLUSIVE), (100, VerdictName.FAIL)])
def test_least_rows_is_the_first_count_that_is_judged(rows: int, outcome: VerdictName) -> None:
    """Below --min-rows nothing is concluded however bad it looks; at it, it is."""
    table = ScoreTable(np.array([0.05, 0.95]), np.array([rows - 50, 50]), np.array([rows - 50, 0]))
    verdict = ece_below(table, claim(0.1), ground=Ground(ATOMS, None))
    assert verdict.outcome is outcome
    assert (verdict.reason is not None) == (outcome is VerdictName.INCONCLUSIVE)
    if verdict.reason is not None:
        assert "99 rows" in verdict.reason
        assert verdict.needed is None
    lower = ece_below(table, claim(0.1), ground=Ground(ATOMS, None, least_rows=50))
    assert lower.outcome is VerdictName.FAIL


@pytest.mark.parametrize("rarer", [0, LEAST_RARER - 1, LEAST_RARER])
@pytest.mark.parametrize("label", [0, 1])
def test_rarer_label_needs_ten_rows(rarer: int, label: int) -> None:
    """With fewer than ten rows of the rarer label nothing is concluded, and the label is named."""
    ones = rarer if label == 1 else 50_000 - rarer
    table = ScoreTable(np.array([ones / 50_000]), np.array([50_000]), np.array([ones]))
    verdict = ece_below(table, claim(0.1), ground=Ground(ATOMS, None))
    if rarer < LEAST_RARER:
        assert verdict.outcome is VerdictName.INCONCLUSIVE
        assert verdict.reason == f"{rarer} rows have label {label}, fewer than 10"
    else:
        assert verdict.outcome is VerdictName.PASS


def test_partition_is_named_in_the_assumptions() -> None:
    """On atoms it is the calibration error itself; on bins it is the binned ECE, and they are named."""
    table = exact_table(100)
    atoms = ece_below(table, claim(), ground=Ground(ATOMS, None))
    assert any("each is measured by itself, without bins" in text for text in atoms.assumptions)
    assert any("check again" in text for text in atoms.assumptions)
    bins = Bins(Binning.EQUAL_WIDTH, equal_width_edges(15))
    binned_verdict = ece_below(table, claim(), ground=Ground(bins, 0.1))
    assert binned_verdict.partition == "15 equal-width bins"
    assert binned_verdict.claim.measure == "binned_ece"
    assert "15 equal-width bins, fixed in advance" in binned_verdict.assumptions
    assert any("one check" in text for text in binned_verdict.assumptions)


def needed_formula(limit: float, price: float, kappa: float) -> int:
    """The number of rows for a pass of a calibrated score."""
    return math.ceil(((kappa + price) / limit) ** 2)


def needed_for(
    table: ScoreTable, limit: float, *, width: float = 0.0, variance: float | None = None
) -> RowsNeeded:
    """Rows that would decide over atoms, without a least number of rows."""
    sums = binned(table, ATOMS)
    return rows_needed(
        table, sums, Claim("ece", limit, 0.95), ground=Ground(ATOMS, variance, least_rows=1), width=width
    )


def test_rows_needed_at_best_are_near_those_of_the_formulas() -> None:
    """Ten calibrated atoms, eps 0.03: the closed formulas, and 5,300 simulated at any time, within 20 %."""
    table = exact_table(50)
    v = ATOMS_OF_TEN * (1 - ATOMS_OF_TEN)
    kappa = math.sqrt(2 / math.pi) * float(np.sqrt(v / 10).sum())
    price = math.sqrt(2 * float(v.mean()) * math.log(20))
    any_time = needed_for(table, 0.03)
    assert any_time.at_best == pytest.approx(5300, rel=0.2)
    assert any_time.at_best == pytest.approx(needed_formula(0.03, 1.2 * price, kappa), rel=0.2)
    # The values hold no noise, so the estimate is 0 and a pass takes what it takes at best.
    assert any_time.to_pass == any_time.at_best
    one_look = needed_for(table, 0.03, variance=float(v.mean()))
    assert one_look.at_best == pytest.approx(needed_formula(0.03, 1.02 * price, kappa), rel=0.2)
    # With d* instead of bets it is 3,654.
    assert needed_formula(0.03, 1.6448536 / 2, kappa) == pytest.approx(3654, rel=0.015)


def test_rows_needed_to_fail_are_near_the_formula() -> None:
    """An error of 0.04 against 0.02: about 9,200 rows by the closed formula, 9,500 simulated."""
    table = exact_table(100, 0.04)
    scaled = ScoreTable(table.score, table.rows * 1_000_000, table.positive_rows * 1_000_000)
    sums = binned(scaled, ATOMS)
    growth = Growth(scaled, sums, delta=0.05, variance=None)
    assert growth.rows_to_fail(0.02) == pytest.approx(9350, rel=0.2)


def test_rows_that_did_not_decide_are_no_promise() -> None:
    """A number of rows that is there already is never promised."""
    needed = needed_for(exact_table(100_000), 0.03)
    assert needed.within_noise
    assert needed.to_pass is None


def test_estimate_within_noise_promises_no_rows() -> None:
    """Where the estimate cannot be told from the limit only the best case is named."""
    needed = needed_for(exact_table(1000, 0.03), 0.03, width=0.05)
    assert needed.within_noise
    assert needed.to_pass is None
    assert needed.to_fail is None
    assert needed.at_best > 0


def noisy(error: float, seed: int, rows: int = 2000) -> ScoreTable:
    """Return rows whose every tenth has a rate that is off by so much, up and down in turn."""
    generator = np.random.default_rng(seed)
    score = generator.choice(ATOMS_OF_TEN, rows)
    rate = score + np.where(np.rint(score * 20).astype(int) % 4 == 1, error, -error)
    return ScoreTable.from_rows(score, generator.random(rows) < rate)


def test_what_is_error_and_what_is_noise() -> None:
    """Of an ECE of 2,000 rows the part that labels add is told from the error, in the middle of samples."""
    for error in (0.0, 0.02, 0.05):
        found = []
        for seed in range(60):
            sums = binned(noisy(error, seed), ATOMS)
            value = float(np.abs(sums.residual).sum()) / sums.total
            found.append(value * share_beyond_noise(sums))
        assert abs(float(np.median(found)) - error) < 0.006
        assert max(found) < error + 0.04


def test_no_pass_is_promised_of_an_estimate_above_the_limit() -> None:
    """Also where noise may explain it; what is promised names the error that it is for."""
    above = [ece_below(noisy(0.02, seed), claim(0.025), ground=Ground(ATOMS)) for seed in range(20)]
    promises = [one.needed for one in above if one.needed is not None and one.value >= 0.025]
    assert promises
    assert all(one.to_pass is None and one.error is None for one in promises)
    needed = needed_for(exact_table(50, 0.005), 0.05)
    assert needed.to_pass is not None
    assert needed.error == pytest.approx(0.0, abs=0.005)


@pytest.mark.untraced
@pytest.mark.parametrize("variance", [None, 0.165])
def test_rows_to_pass_are_those_at_which_about_half_pass(variance: float | None) -> None:
    """Of calibrated samples, under both ways to set the bets."""
    rng, few = np.random.default_rng(1), exact_table(100)
    growth = Growth(few, binned(few, ATOMS), delta=0.05, variance=variance)
    ground = Ground(ATOMS, variance, rows_wanted=False)
    counts = rng.multinomial(growth.rows_to_pass(0.04), np.full(10, 0.1), size=100)
    tables = [ScoreTable(ATOMS_OF_TEN, one, rng.binomial(one, ATOMS_OF_TEN)) for one in counts]
    outcomes = [ece_below(table, claim(0.04), ground=ground).outcome for table in tables]
    assert 35 <= outcomes.count(VerdictName.PASS) <= 65
