"""Histogram binning and its guarantee."""

import math

import numpy as np
import pytest

from calibcli.codec import Node
from calibcli.errors import DocumentProblem, UsageProblem
from calibcli.names import Binning
from calibcli.options.fitting import FitOptions
from calibcli.stats.recalibrators.histogram import Histogram, training_guarantee
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.grid import grid_of
from held_rows import HeldRows
from score_rows import calibrated


def width(bins: int) -> FitOptions:
    """Ask for equal-width bins."""
    return FitOptions(bins=bins, binning=Binning.EQUAL_WIDTH)


def test_empty_bin_outputs_one_half() -> None:
    """A bin without fit rows says 1/2, has 0 rows, and is mentioned."""
    table = ScoreTable.from_rows(np.array([0.1, 0.2, 0.9]), np.array([False, True, True]))
    fitted = Histogram.fit(table, options=width(4))
    assert fitted.bins is not None
    assert [(one.value, one.rows, one.positive) for one in fitted.bins] == [
        (0.5, 2, 1),
        (0.5, 0, 0),
        (0.5, 0, 0),
        (1.0, 1, 1),
    ]
    assert "2 of 4 bins hold no fit rows" in fitted.notes[0]


def test_map_that_falls_says_so() -> None:
    """Mean labels that fall somewhere make the map not increasing, with a note."""
    table = ScoreTable.from_rows(np.array([0.1, 0.9]), np.array([True, False]))
    fitted = Histogram.fit(table, options=FitOptions(bins=2))
    assert not fitted.increasing
    assert "not increasing" in fitted.notes[-1]


def test_grid_table_gives_the_same_equal_width_fit() -> None:
    """Cells nest in equal-width bins, so the fit on a grid is the exact one."""
    table = calibrated(500)
    exact = Histogram.fit(table, options=width(15))
    assert Histogram.fit(grid_of(table), options=width(15)) == exact


def test_equal_mass_bins_of_a_grid_need_no_second_look() -> None:
    """Their cuts are edges of cells."""
    rng = np.random.default_rng(1)
    rows = HeldRows(rng.random(3000), rng.random(3000) < 0.4)
    grid = grid_of(ScoreTable.from_rows(rows.score, rows.label))
    assert Histogram.fit(grid, rows=rows) == Histogram.fit(grid)
    assert rows.passes == 0


def test_atoms_are_refused() -> None:
    """One bin for each distinct score is no histogram."""
    with pytest.raises(UsageProblem, match="cannot bin each distinct score"):
        FitOptions(binning=Binning.ATOMS)
    parameters = {**Histogram.fit(calibrated(20), options=FitOptions(bins=2)).to_dict(), "binning": "atoms"}
    with pytest.raises(DocumentProblem, match="equal-mass"):
        Histogram.from_dict(Node(parameters))


def test_guarantee_holds_the_numbers_of_the_theorem() -> None:
    """For K = 15 and n = 1000: .0866, its sharper form, the Markov tail .387... and .100."""
    found = training_guarantee(15, 1000, binning=Binning.EQUAL_WIDTH)
    expected = (math.sqrt(15 / 2000), math.sqrt(15 / 2002), 0.387, 0.100)
    assert [one.value for one in found.bounds] == pytest.approx(expected, abs=5e-4)


def test_guarantee_of_equal_mass_bins_says_what_is_not_proved() -> None:
    """Population bounds of bins cut from the rows carry a reservation; the fixed-design one needs none."""
    guarantee = Histogram.fit(calibrated(200), options=FitOptions(bins=5)).guarantee
    assert guarantee is not None
    assert ["cut at quantiles" in one.statement for one in guarantee.bounds] == [True, True, True, False]
    assert guarantee.bins == 5


def test_importance_weights_void_the_guarantee() -> None:
    """With importance weights there are not n equal rows, and nothing is promised."""
    assert Histogram.fit(calibrated(50, weighted=True), options=FitOptions(bins=3)).guarantee is None


def test_fixed_design_guarantee_is_kept() -> None:
    """In 400 refits with fresh labels the error of the fitted values exceeds the bound in under 5 %."""
    rng = np.random.default_rng(3)
    score = np.sort(rng.random(300))
    chance = score**2
    misses = 0
    for _ in range(400):
        fitted = Histogram.fit(
            ScoreTable.from_rows(score, rng.random(300) < chance), options=FitOptions(bins=10)
        )
        edges = fitted.table.edges[1:-1]
        parts = np.split(chance, np.searchsorted(score, edges, side="right"))
        gaps = [abs(part.mean() - v) * part.size for part, v in zip(parts, fitted.table.values, strict=True)]
        assert fitted.guarantee is not None
        bound = fitted.guarantee.fixed_design
        misses += sum(gaps) / 300 > bound.value
    assert misses < 20
