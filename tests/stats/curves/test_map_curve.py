"""Maps as curves: what is drawn is what the map gives, and its steps are where they are."""

from itertools import pairwise

import numpy as np
import pytest

from calibcli.names import Binning, RecalibratorName
from calibcli.options.fitting import FitOptions
from calibcli.stats.curves.map import Band, map_curve, with_steps
from calibcli.stats.recalibrators.family import fit_recalibrator
from calibcli.stats.table.score_table import ScoreTable

NOTHING = Band(None, "no band")


def fit_rows(rows: int = 800, *, digits: int | None = None) -> ScoreTable:
    """Rows of both labels at every score."""
    rng = np.random.default_rng(2)
    score = rng.random(rows)
    score = score if digits is None else np.round(score, digits)
    return ScoreTable.from_rows(score, rng.random(rows) < 0.2 + 0.6 * score**2)


@pytest.mark.parametrize("name", RecalibratorName)
def test_every_method_is_drawn_as_it_predicts(name: RecalibratorName) -> None:
    """All twelve, on all of [0, 1], with ends around the output where the method has some."""
    fitted = fit_recalibrator(name, fit_rows())
    curve = map_curve(fitted, band=NOTHING)
    assert curve.score[0] == 0.0
    assert curve.score[-1] == 1.0
    assert np.all(np.diff(curve.score) > 0.0)
    np.testing.assert_array_equal(curve.output, fitted.predict(curve.score))
    has_ends = name is RecalibratorName.VENN_ABERS
    assert np.isnan(curve.lower).all() != has_ends
    if has_ends:
        assert np.all((curve.lower <= curve.output) & (curve.output <= curve.upper))


def test_steps_are_found_to_the_last_digit() -> None:
    """Every edge at which a binned map changes lies between two neighbouring points, next to each other."""
    for options in (FitOptions(bins=13), FitOptions(bins=7, binning=Binning.EQUAL_WIDTH)):
        fitted = fit_recalibrator(RecalibratorName.HISTOGRAM, fit_rows(), options=options)
        assert fitted.bins is not None
        curve = map_curve(fitted, band=NOTHING)
        for one, after in pairwise(fitted.bins):
            if one.value == after.value:
                continue
            right = int(np.searchsorted(curve.score, one.upper, side="right"))
            assert curve.score[right] - curve.score[right - 1] < 1e-14
            assert curve.output[right - 1] == one.value


def test_a_continuous_function_has_no_steps() -> None:
    """However steep it is; a step added to it is found."""
    at = np.linspace(0.0, 1.0, 101)
    assert with_steps(lambda x: np.clip((x - 0.3) * 1e4, 0.0, 1.0), at).size == 101
    found = with_steps(lambda x: 0.2 * x + 0.5 * (x > 1.0 / 3.0), at)
    assert found.size == 103
    near = found[np.abs(found - 1.0 / 3.0) < 1e-12]
    assert near.size == 2


def test_few_scores_are_marked() -> None:
    """Venn-Abers has outputs of its own at the fit scores, which rows have: they are marked with them."""
    table = fit_rows(digits=1)
    fitted = fit_recalibrator(RecalibratorName.VENN_ABERS, table)
    for curve in (map_curve(fitted, band=NOTHING), map_curve(fitted, band=NOTHING, table=table)):
        marked = curve.score[curve.marks]
        assert np.isin(marked, table.score).all()
        np.testing.assert_array_equal(curve.output[curve.marks], fitted.predict(marked))
    many = fit_recalibrator(RecalibratorName.PLATT, fit_rows())
    assert map_curve(many, band=NOTHING, table=fit_rows()).marks.size == 0


def test_a_band_is_asked_where_the_map_is_drawn() -> None:
    """And Venn-Abers keeps its own ends."""
    around = Band(lambda x: (0.5 * x, 0.5 + 0.5 * x), "made up")
    curve = map_curve(fit_recalibrator(RecalibratorName.PLATT, fit_rows()), band=around)
    np.testing.assert_array_equal(curve.lower, 0.5 * curve.score)
    assert curve.band == "made up"
    ends = map_curve(fit_recalibrator(RecalibratorName.VENN_ABERS, fit_rows()), band=around)
    assert "p0 and p1" in ends.band
