"""The risk-coverage curve: every point is a share of the rows that are kept; its figure fits at any size."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from calibcli.errors import EmptyTable
from calibcli.stats.curves.cumulative import risk_coverage_curve
from calibcli.stats.curves.limits import PARTS
from calibcli.stats.measures.discrimination import aurc
from calibcli.stats.table import ScoreTable, Weighing


def rows(seed: int, n: int, values: int) -> tuple[np.ndarray, np.ndarray]:
    """Return scores with ties, and labels."""
    rng = np.random.default_rng(seed)
    score = rng.integers(0, values, n) / max(values - 1, 1)
    return score, rng.random(n) < 0.3 + 0.6 * score


@given(seed=st.integers(0, 999), n=st.integers(1, 60), values=st.sampled_from([1, 2, 7, 1000]))
def test_every_point_is_the_share_of_errors_among_rows_at_or_above_its_score(
    seed: int, n: int, values: int
) -> None:
    """With its exact interval; the last point is all rows, and no order is better than the best."""
    score, label = rows(seed, n, values)
    curve = risk_coverage_curve(ScoreTable.from_rows(score, label), confidence=0.9)
    for least in np.unique(score).tolist():
        kept = ~label[score >= least]
        place = int(np.argmin(np.abs(curve.coverage - kept.size / n)))
        assert curve.coverage[place] == pytest.approx(kept.size / n)
        assert curve.score[place] == least
        assert curve.risk[place] == pytest.approx(kept.mean())
        interval = binomtest(int(kept.sum()), kept.size).proportion_ci(0.9, method="exact")
        assert (curve.lower[place], curve.upper[place]) == pytest.approx((interval.low, interval.high))
    assert curve.coverage[-1] == 1.0
    assert curve.base == pytest.approx(1.0 - label.mean())
    assert (curve.least <= curve.risk + 1e-12).all()


@given(seed=st.integers(0, 999), n=st.integers(1, 60), values=st.sampled_from([1, 2, 7]))
def test_equal_scores_that_are_kept_in_part_are_kept_in_every_order(seed: int, n: int, values: int) -> None:
    """So the area under the line is the AURC beside it, and the best order bends where it does."""
    score, label = rows(seed, n, values)
    table = ScoreTable.from_rows(score, label)
    curve = risk_coverage_curve(table, confidence=0.9)
    share = np.arange(1, n + 1) / n
    wrong, best = (
        np.interp(share, [0.0, *curve.coverage], [0.0, *(curve.coverage * one)])
        for one in (curve.risk, curve.least)
    )
    assert np.mean(wrong / share) == pytest.approx(aurc(table, confidence=0.9).value)
    assert best == pytest.approx(np.maximum(share - label.mean(), 0.0), abs=1.0 / PARTS)
    assert (curve.lower <= curve.risk + 1e-12).all()
    assert (curve.risk <= curve.upper + 1e-12).all()


def test_weights_have_no_interval_and_no_rows_no_curve() -> None:
    """Weights of 1 give the same curve."""
    score, label = rows(3, 50, 7)
    plain = risk_coverage_curve(ScoreTable.from_rows(score, label), confidence=0.95)
    weighted = risk_coverage_curve(
        ScoreTable.from_rows(score, label, Weighing(weight=np.ones(50))), confidence=0.95
    )
    assert weighted.risk == pytest.approx(plain.risk)
    assert np.isnan(weighted.lower).all()
    with pytest.raises(EmptyTable):
        risk_coverage_curve(ScoreTable.empty(), confidence=0.95)
