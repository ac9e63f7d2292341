"""Histogram binning, its guarantee, and scaling-binning."""

import math

import numpy as np
import pytest

from calibcli.documents import Node
from calibcli.errors import DocumentProblem, InputProblem, UsageProblem
from calibcli.names import Binning, FitLoss, RecalibratorName, Split
from calibcli.recalibrators import fit_recalibrator
from calibcli.recalibrators.histogram import Histogram, training_guarantee
from calibcli.recalibrators.options import FitOptions
from calibcli.recalibrators.scaling_binning import ScalingBinning
from calibcli.table.grid import grid_of
from calibcli.table.score_table import ScoreTable


def drawn(rows: int, seed: int = 0, *, weighted: bool = False) -> ScoreTable:
    """Calibrated rows."""
    rng = np.random.default_rng(seed)
    score = rng.beta(0.7, 1.3, rows)
    weight = rng.exponential(size=rows) if weighted else None
    return ScoreTable.from_rows(score, rng.random(rows) < score, weight=weight)


def test_empty_bin_outputs_one_half() -> None:
    """A bin without fit rows says 1/2, has 0 rows, and is mentioned."""
    table = ScoreTable.from_rows(np.array([0.1, 0.2, 0.9]), np.array([False, True, True]))
    fitted = Histogram.fit(table, bins=4, binning=Binning.EQUAL_WIDTH)
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
    fitted = Histogram.fit(table, bins=2)
    assert not fitted.increasing
    assert "not increasing" in fitted.notes[-1]


def test_score_on_an_edge_belongs_to_the_left_bin() -> None:
    """With ten bins a score of 0.3 takes the value of the third."""
    table = ScoreTable.from_rows(np.array([0.25, 0.3, 0.35, 0.4]), np.array([True, True, False, False]))
    fitted = Histogram.fit(table, bins=10, binning=Binning.EQUAL_WIDTH)
    assert fitted.predict(np.array([0.3, np.nextafter(0.3, 1)])).tolist() == [1.0, 0.0]


def test_grid_table_gives_the_same_equal_width_fit() -> None:
    """Cells nest in equal-width bins, so the fit on a grid is the exact one."""
    table = drawn(500)
    exact = Histogram.fit(table, bins=15, binning=Binning.EQUAL_WIDTH)
    assert Histogram.fit(grid_of(table), bins=15, binning=Binning.EQUAL_WIDTH) == exact


def test_atoms_are_refused() -> None:
    """One bin for each distinct score is no histogram."""
    with pytest.raises(ValueError, match="needs edges"):
        Histogram.fit(drawn(20), bins=3, binning=Binning.ATOMS)
    with pytest.raises(UsageProblem, match="cannot bin each distinct score"):
        FitOptions(binning=Binning.ATOMS)
    parameters = {**Histogram.fit(drawn(20), bins=2).to_dict(), "binning": "atoms"}
    with pytest.raises(DocumentProblem, match="equal-mass"):
        Histogram.from_dict(Node(parameters))


def test_guarantee_holds_the_numbers_of_the_theorem() -> None:
    """For K = 15 and n = 1000: .0866, its sharper form, the Markov tail .387... and .100."""
    found = training_guarantee(15, 1000, binning=Binning.EQUAL_WIDTH)
    values = {key: part["value"] for key, part in found.items() if isinstance(part, dict)}
    assert values["expectation"] == pytest.approx(math.sqrt(15 / 2000))
    assert values["expectation_sharper"] == pytest.approx(math.sqrt(15 / 2002))
    assert values["tail"] == pytest.approx(0.387, abs=5e-4)
    assert values["fixed_design"] == pytest.approx(0.100, abs=5e-4)


def test_guarantee_of_equal_mass_bins_says_what_is_not_proved() -> None:
    """Population bounds of bins cut from the rows carry a reservation; the fixed-design one needs none."""
    guarantee = Histogram.fit(drawn(200), bins=5).guarantee
    assert guarantee is not None
    statements = {key: part["statement"] for key, part in guarantee.items() if isinstance(part, dict)}
    assert all(("cut at quantiles" in text) == (key != "fixed_design") for key, text in statements.items())
    assert guarantee["bins"] == 5


def test_importance_weights_void_the_guarantee() -> None:
    """With importance weights there are not n equal rows, and nothing is promised."""
    assert Histogram.fit(drawn(50, weighted=True), bins=3).guarantee is None


def test_fixed_design_guarantee_is_kept() -> None:
    """In 400 refits with fresh labels the error of the fitted values exceeds the bound in under 5 %."""
    rng = np.random.default_rng(3)
    score = np.sort(rng.random(300))
    chance = score**2
    misses = 0
    for _ in range(400):
        fitted = Histogram.fit(ScoreTable.from_rows(score, rng.random(300) < chance), bins=10)
        edges = fitted.table.edges[1:-1]
        parts = np.split(chance, np.searchsorted(score, edges, side="right"))
        gaps = [abs(part.mean() - v) * part.size for part, v in zip(parts, fitted.table.values, strict=True)]
        assert fitted.guarantee is not None
        bound = fitted.guarantee["fixed_design"]
        assert isinstance(bound, dict)
        misses += sum(gaps) / 300 > bound["value"]
    assert misses < 20


def test_scaling_binning_outputs_bin_means_of_its_base() -> None:
    """Each value is the mean output of the base over the rows in its bin."""
    rng = np.random.default_rng(5)
    score = rng.random(400).round(2)
    label = rng.random(400) < score
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
    table = drawn(301)
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
    fitted = fit_recalibrator(RecalibratorName.SCALING_BINNING, drawn(90), options=options)
    assert fitted.bins is not None
    empty = [one for one in fitted.bins if one.rows == 0]
    assert empty
    assert all(one.value == (one.lower + one.upper) / 2 for one in empty)
    assert f"{len(empty)} of {len(fitted.bins)} bins hold no rows" in fitted.notes[-1]
    assert fitted.increasing


def test_three_way_split_needs_rows_and_unit_weights() -> None:
    """Too few rows, a grid, importance weights or no generator: each is refused in words."""
    options = FitOptions(split=Split.THREE_WAY)
    with pytest.raises(InputProblem, match="needs 6 rows"):
        fit_recalibrator(
            RecalibratorName.SCALING_BINNING,
            ScoreTable.from_rows(np.array([0.1, 0.2]), np.array([False, True])),
            options=options,
        )
    for table in (grid_of(drawn(50)), drawn(50, weighted=True)):
        with pytest.raises(UsageProblem, match="cannot be split"):
            fit_recalibrator(RecalibratorName.SCALING_BINNING, table, options=options)
    with pytest.raises(ValueError, match="generator"):
        ScalingBinning.fit(drawn(50), options=options)


@pytest.mark.parametrize(
    ("damage", "place"),
    [
        ({"edges": [0.0, 0.6, 0.4, 1.0]}, "$.edges[2]"),
        ({"edges": [0.0, 0.4, 0.4, 1.0]}, "$.edges[2]"),
        ({"edges": [0.1, 0.4, 0.6, 1.0]}, "$.edges"),
        ({"edges": [0.0, 0.4, 1.0]}, "$.values"),
        ({"values": [0.1, 0.2, -0.1]}, "$.values[2]"),
        ({"rows": [1, 2]}, "$.rows"),
        ({"rows": [0, 0, 0], "positive": [0, 0, 0]}, "$.rows"),
        ({"positive": [10**9, 0, 0]}, "$.positive[0]"),
        ({"rows": [1.0, 2.0, 3.0]}, "$.rows[0]"),
        ({"base": "isotonic"}, "$.base"),
        ({"base_parameters": None}, "$.base_parameters"),
        ({"split": "half"}, "$.split"),
    ],
)
def test_damaged_parameters_are_refused_with_their_place(damage: dict[str, object], place: str) -> None:
    """Every way to break bins is an error that gives its path."""
    parameters = ScalingBinning.fit(drawn(60), options=FitOptions(bins=3)).to_dict()
    with pytest.raises(DocumentProblem) as problem:
        ScalingBinning.from_dict(Node({**parameters, **damage}))
    assert problem.value.path == place


@pytest.mark.parametrize("bins", [0, -3, 100_001])
def test_impossible_numbers_of_bins_are_refused(bins: int) -> None:
    """The options refuse what no fit can do."""
    with pytest.raises(UsageProblem, match="bins asked for"):
        FitOptions(bins=bins)


def test_unknown_base_is_refused() -> None:
    """Scaling-binning stands on platt for now."""
    with pytest.raises(UsageProblem, match="cannot be based on isotonic"):
        FitOptions(base=RecalibratorName.ISOTONIC)


@pytest.mark.parametrize("name", RecalibratorName)
def test_every_method_fits_with_the_default_options(name: RecalibratorName) -> None:
    """Each member of the vocabulary leads to a recalibrator of that name."""
    fitted = fit_recalibrator(name, drawn(200))
    assert fitted.name is name
    assert set(FitOptions().used_by(name)) <= set(FitOptions.__slots__)


def test_least_squares_base_is_asked_for_by_loss() -> None:
    """The base of scaling-binning minimises what `loss` says."""
    fitted = ScalingBinning.fit(drawn(300), options=FitOptions(loss=FitLoss.BRIER))
    assert fitted.base.loss is FitLoss.BRIER
