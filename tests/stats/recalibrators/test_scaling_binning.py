"""Scaling-binning over every base."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from calibcli.codec import Node
from calibcli.errors import DocumentProblem
from calibcli.names import FitLoss, RecalibratorName, Split
from calibcli.options.fitting import BASES, FitOptions
from calibcli.stats.recalibrators import fit_recalibrator
from calibcli.stats.recalibrators.isotonic import Isotonic
from calibcli.stats.recalibrators.logits import Platt
from calibcli.stats.recalibrators.scaling_binning import ScalingBinning, _balance
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.grid import grid_of
from held_rows import HeldRows
from score_rows import calibrated, scored


def test_scaling_binning_outputs_bin_means_of_its_base() -> None:
    """Each value is the mean output of the base over the rows in its bin."""
    score, label = scored(400, seed=5, decimals=2)
    fitted = ScalingBinning.fit(ScoreTable.from_rows(score, label), options=FitOptions(bins=5))
    base, final = fitted.base.predict(score), fitted.predict(score)
    for value in np.unique(final):
        assert base[final == value].mean() == pytest.approx(value, abs=1e-12)
    assert fitted.bins is not None
    assert len(fitted.bins) == 5
    assert fitted.guarantee is None
    assert final.mean() == pytest.approx(label.mean(), abs=1e-9)


def test_scaling_binning_of_falling_labels_falls() -> None:
    """A base with a negative slope is binned all the same, and the map says that it is not increasing."""
    rng = np.random.default_rng(6)
    score = rng.random(300)
    table = ScoreTable.from_rows(score, rng.random(300) < 1 - score)
    fitted = ScalingBinning.fit(table, options=FitOptions(bins=4))
    assert not fitted.increasing
    assert np.all(np.diff(fitted.predict(np.sort(score))) <= 0)


def test_three_way_split_uses_a_third_for_each_step() -> None:
    """The bins of a three-way fit hold the rows of the last third only, and the seed decides which."""
    table = calibrated(301)
    one, same, other = (
        fit_recalibrator(
            RecalibratorName.SCALING_BINNING,
            table,
            options=FitOptions(bins=5, split=Split.THREE_WAY, seed=seed),
        )
        for seed in (1, 1, 2)
    )
    assert one == same != other
    assert one.bins is not None
    assert sum(part.rows for part in one.bins) == 100


def test_three_way_bin_without_rows_outputs_its_midpoint() -> None:
    """With more bins than rows in the last third, some are empty, and the note counts them."""
    options = FitOptions(bins=30, split=Split.THREE_WAY)
    fitted = fit_recalibrator(RecalibratorName.SCALING_BINNING, calibrated(90), options=options)
    assert fitted.bins is not None
    empty = [one for one in fitted.bins if one.rows == 0]
    assert empty
    assert all(one.value == (one.lower + one.upper) / 2 for one in empty)
    assert f"{len(empty)} of {len(fitted.bins)} bins hold no rows" in fitted.notes[-2]
    assert fitted.increasing


@given(st.lists(st.integers(0, 400), min_size=2, max_size=12).filter(any))
def test_balance_of_bins_is_what_binomial_tails_say(counts: list[int]) -> None:
    """Within: no bin's count has a tail of 5 % at a limit; outside: one has 5 % over twice their number."""
    rows, bins = sum(counts), len(counts)
    least, most = 0.5 / bins, min(1.0, 2.0 / bins)
    few = [binom.cdf(count, rows, most) if most < 1.0 else 0.0 for count in counts]
    many = [binom.sf(count - 1, rows, least) for count in counts]
    within = max(*few, *many) <= 0.05
    over = any(binom.sf(count - 1, rows, most) < 0.025 / bins for count in counts if most < 1.0)
    under = any(binom.cdf(count, rows, least) < 0.025 / bins for count in counts)
    said = _balance(np.array(counts))
    assert said.startswith(f"Each of {bins} bins holds") == within
    assert said.startswith("Bin ") == (over or under)
    assert ("do not settle" in said) == (not within and not over and not under)


@pytest.mark.parametrize(
    "rows", [pytest.param(40, marks=pytest.mark.slow), 300, pytest.param(5_000, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(
    ("share", "wrong"),
    [
        # Two bins at the lower limit, or one at the upper one: balanced, so never "Bin".
        ([0.1, 0.3, 0.1, 0.3, 0.2], "Bin "),
        ([0.4, 0.15, 0.15, 0.15, 0.15], "Bin "),
        # The first bin just outside: never "Each".
        ([0.4001, 0.15, 0.15, 0.15, 0.1499], "Each"),
        ([0.0999, 0.2, 0.2, 0.25, 0.2501], "Each"),
    ],
)
def test_what_is_said_of_balance_is_seldom_wrong(rows: int, share: list[float], wrong: str) -> None:
    """At both limits, at most the error that it states: of 50 repetitions 2 may, 11 are strong evidence."""
    counts = np.random.default_rng(rows).multinomial(rows, share, 50)
    assert sum(_balance(one).startswith(wrong) for one in counts) <= 10


def test_balance_is_said_of_rows_that_cut_no_bins() -> None:
    """After a three-way split, and not where the same rows cut the bins."""
    table = calibrated(3_000)
    for split, said in ((Split.THREE_WAY, 1), (Split.NONE, 0)):
        fitted = ScalingBinning.fit(table, options=FitOptions(bins=10, split=split))
        assert sum("equal share of rows" in note for note in fitted.notes) == said


def test_least_squares_base_is_asked_for_by_loss() -> None:
    """The base of scaling-binning minimises what `loss` says."""
    fitted = ScalingBinning.fit(calibrated(300), options=FitOptions(loss=FitLoss.BRIER))
    assert isinstance(fitted.base, Platt)
    assert fitted.base.record.loss is FitLoss.BRIER


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("split", Split)
def test_every_base_is_binned_and_restored(base: RecalibratorName, split: Split) -> None:
    """Outputs are means of the base's outputs in bins of nearly equal mass, and survive a round trip."""
    table = calibrated(900, seed=3)
    fitted = ScalingBinning.fit(table, options=FitOptions(bins=6, base=base, split=split))
    assert fitted.base.name is base
    assert fitted.bins is not None
    assert 2 <= len(fitted.bins) <= 6
    assert sum(one.rows for one in fitted.bins) == (900 if split is Split.NONE else 300)
    assert all(one.lower <= one.value <= one.upper for one in fitted.bins)
    assert ScalingBinning.from_dict(Node(fitted.to_dict())) == fitted
    assert set(fitted.base.notes) <= set(fitted.notes)


def test_bins_of_an_isotonic_base_hold_its_levels() -> None:
    """Ties in the base's output are never split, and the mean of the bins is the mean label."""
    table = calibrated(700, seed=4)
    fitted = ScalingBinning.fit(table, options=FitOptions(bins=5, base=RecalibratorName.ISOTONIC))
    assert fitted.base == Isotonic.fit(table)
    level, final = fitted.base.predict(table.score), fitted.predict(table.score)
    assert all(np.unique(final[level == one]).size == 1 for one in np.unique(level))
    mean = float((table.rows * final).sum()) / table.total_rows
    assert mean == pytest.approx(table.total_positive_rows / table.total_rows, abs=1e-12)


def test_rows_behind_a_grid_are_handed_to_the_base() -> None:
    """An isotonic base of a grid table is the exact one where the rows can be seen again."""
    rng = np.random.default_rng(8)
    rows = HeldRows(rng.random(2000), rng.random(2000) < 0.5)
    exact = ScoreTable.from_rows(rows.score, rows.label)
    options = FitOptions(base=RecalibratorName.ISOTONIC)
    fitted = ScalingBinning.fit(grid_of(exact), options=options, rows=rows)
    assert fitted.base == Isotonic.fit(exact)
    assert rows.passes == 1


def test_randomised_base_is_refused() -> None:
    """Noise before the bins would make the output depend on the place of a row."""
    parameters = ScalingBinning.fit(
        calibrated(100), options=FitOptions(base=RecalibratorName.SMOOTH)
    ).to_dict()
    base = parameters["base_parameters"]
    assert isinstance(base, dict)
    with pytest.raises(DocumentProblem, match="randomised"):
        ScalingBinning.from_dict(Node({**parameters, "base_parameters": {**base, "randomised": True}}))
