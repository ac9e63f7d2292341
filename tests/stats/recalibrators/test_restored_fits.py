"""Fits that come from elsewhere: parameters that no fit can have written, workers, and grid tables."""

import math
import pickle
from typing import Any

import numpy as np
import pytest

from calibcli.codec import Node
from calibcli.errors import DocumentProblem
from calibcli.names import BetaForm, FitLoss, RecalibratorName
from calibcli.options.fitting import FitOptions
from calibcli.stats.recalibrators import fit_recalibrator, recalibrator_class
from calibcli.stats.recalibrators.logistic import Record
from calibcli.stats.recalibrators.spline import Spline
from calibcli.stats.table.grid import grid_of
from score_rows import scored_table

R = RecalibratorName
RECORD = Record(FitLoss.LOG, smoothed=False, separated=False, limited_rows=0, steps=1, gradient=0.0)


def parameters_of(name: R, form: BetaForm) -> dict[str, Any]:  # noqa: PLR0911 - one return a method
    """Return parameters that are right, as a document holds them."""
    match name:
        case R.ISOTONIC:
            return {"knots": [0.1, 0.2, 0.3, 0.4, 0.5], "values": [0.0, 0.5, 0.5, 1.0, 1.0], "step": False}
        case R.CENTRED_ISOTONIC:
            return {"knots": [0.1, 0.2], "values": [0.2, 0.3]}
        case R.SPLINE:
            return Spline((-1.0, 0.0, 1.0), (0.0, 1.0, 2.0), RECORD).to_dict()
        case R.SMOOTH:
            return {"bandwidth": 0.05, "values": [0.5] * 1025, "randomised": False, "seed": 0}
        case R.VENN_ABERS:
            fold = {"first": [0.5, 0.8], "lower": [0.1, 0.3], "last": [0.5, 0.7], "upper": [0.2, 0.6]}
            return {"folds": [fold]}
        case R.INTERCEPT:
            return {
                **fit_recalibrator(name, scored_table(200, seed=2, decimals=4)).to_dict(),
                "smoothed": True,
            }
        case _:
            return fit_recalibrator(
                name, scored_table(200, seed=2, decimals=4), options=FitOptions(bins=3, form=form)
            ).to_dict()


def fold(**change: list[object]) -> dict[str, object]:
    """Return a document of Venn-Abers with another column."""
    return {"folds": [parameters_of(R.VENN_ABERS, BetaForm.ABM)["folds"][0] | change]}


# What is written in place of good parameters, where it is refused, and what is said of it.
WRONG: list[tuple[R | BetaForm, dict[str, object], str, str]] = [
    (R.PLATT, {"slope": "abc"}, "slope", 'is "abc", should be a number'),
    (R.PLATT, {"slope": True}, "slope", "is true, should be a number"),
    (R.PLATT, {"intercept": 1e200}, "intercept", "should be a number in"),
    (R.PLATT, {"loss": "hinge"}, "loss", "should be one of log, brier"),
    (R.PLATT, {"steps": 1.5}, "steps", "should be a whole number"),
    (R.PLATT, {"smoothed": 1}, "smoothed", "should be true or false"),
    (R.PLATT, {"limited_rows": -1}, "limited_rows", ""),
    (R.PLATT, {"gradient": -1.0}, "gradient", ""),
    (R.PLATT, {"separated": True}, "smoothed", "the rest of the document makes it true"),
    (R.PLATT, {"extra": 1}, "", "has the unknown key"),
    (R.INTERCEPT, {"intercept": "abc"}, "intercept", ""),
    (R.INTERCEPT, {"intercept": 1e200}, "intercept", ""),
    (R.INTERCEPT, {"separated": True}, "separated", ""),
    (R.INTERCEPT, {"separated": 0}, "separated", ""),
    *((R.TEMPERATURE, {"temperature": value}, "temperature", "") for value in (0.0, -1.0, 1e200, "1", True)),
    (BetaForm.ABM, {"a": -0.1}, "a", ""),
    (BetaForm.ABM, {"b": "1"}, "b", ""),
    (BetaForm.ABM, {"c": math.inf}, "c", ""),
    (BetaForm.ABM, {"form": "b"}, "form", ""),
    (BetaForm.AM, {"b": 7.0}, "b", ""),
    (BetaForm.AB, {"c": 7.0}, "c", ""),
    (BetaForm.A, {"c": 7.0}, "c", ""),
    (R.QUADRATIC, {"bend": "abc"}, "bend", ""),
    (R.QUADRATIC, {"slope": 1e200}, "slope", ""),
    (R.QUADRATIC, {"fit_range": [1.0]}, "fit_range", ""),
    (R.QUADRATIC, {"fit_range": [1.0, -1.0]}, "fit_range[1]", ""),
    (R.QUADRATIC, {"fit_range": [-50.0, 1.0]}, "fit_range[0]", ""),
    (R.SPLINE, {"knots": [0.0], "values": [1.0]}, "knots", ""),
    (R.SPLINE, {"knots": [0.0, 0.0, 1.0]}, "knots[1]", ""),
    (R.SPLINE, {"knots": [0.0, 1.0, 99.0]}, "knots[2]", ""),
    (R.SPLINE, {"knots": [0.0, 5e-324, 1.0]}, "knots[1]", ""),
    (R.SPLINE, {"knots": [0.0, 1e-300, 2e-300]}, "knots[1]", ""),
    (R.SPLINE, {"values": [0.0, 1.0]}, "values", ""),
    (R.SPLINE, {"values": [0.0, 1.0, "x"]}, "values[2]", ""),
    (R.ISOTONIC, {"knots": [0.1, 0.3, 0.2, 0.4, 0.5]}, "knots[2]", ""),
    (R.ISOTONIC, {"knots": [0.1, 0.2, 0.2, 0.4, 0.5]}, "knots[2]", ""),
    (R.ISOTONIC, {"knots": [0.1, 0.2, 0.3, "abc", 0.5]}, "knots[3]", ""),
    (R.ISOTONIC, {"values": [0.0, 0.5, 0.4, 1.0, 1.0]}, "values[2]", ""),
    (R.ISOTONIC, {"values": [0.0, 0.5, 0.5, 1.0, 1.5]}, "values[4]", ""),
    (R.ISOTONIC, {"values": [0.0]}, "values", ""),
    (R.ISOTONIC, {"knots": [], "values": []}, "knots", ""),
    (R.ISOTONIC, {"knots": 3}, "knots", ""),
    (R.ISOTONIC, {"step": None}, "step", ""),
    (R.CENTRED_ISOTONIC, {"knots": [0.1, 0.1]}, "knots[1]", ""),
    (R.CENTRED_ISOTONIC, {"knots": [0.1, 0.2, 0.3], "values": [0.2, 0.4, 0.3]}, "values[2]", ""),
    (R.CENTRED_ISOTONIC, {"knots": [0.1, 0.2, 0.3], "values": [0.2, 0.4, 0.4]}, "values[2]", ""),
    (R.CENTRED_ISOTONIC, {"knots": [0.1, 0.2, 0.3], "values": [0.0, 0.0, 0.0]}, "values[2]", ""),
    (R.CENTRED_ISOTONIC, {"knots": [0.1, 0.2, 0.3, 0.4], "values": [0.5, 1.0, 1.0, 1.0]}, "values[3]", ""),
    (R.CENTRED_ISOTONIC, {"values": [0.5, 1.5]}, "values[1]", ""),
    (R.CENTRED_ISOTONIC, {"knots": [], "values": []}, "knots", ""),
    (R.CENTRED_ISOTONIC, {"values": [0.5]}, "values", ""),
    (R.SCALING_BINNING, {"edges": [0.0, 0.6, 0.4, 1.0]}, "edges[2]", ""),
    (R.SCALING_BINNING, {"edges": [0.0, 0.4, 0.4, 1.0]}, "edges[2]", ""),
    (R.SCALING_BINNING, {"edges": [0.1, 0.4, 0.6, 1.0]}, "edges", ""),
    (R.SCALING_BINNING, {"edges": [0.0, 0.4, 1.0]}, "values", ""),
    (R.SCALING_BINNING, {"values": [0.1, 0.2, -0.1]}, "values[2]", ""),
    (R.SCALING_BINNING, {"rows": [1, 2]}, "rows", ""),
    (R.SCALING_BINNING, {"rows": [0, 0, 0], "positive": [0, 0, 0]}, "rows", ""),
    (R.SCALING_BINNING, {"positive": [10**9, 0, 0]}, "positive[0]", ""),
    (R.SCALING_BINNING, {"rows": [1.0, 2.0, 3.0]}, "rows[0]", ""),
    (R.SCALING_BINNING, {"base": "isotonic"}, "base_parameters", ""),
    (R.SCALING_BINNING, {"base": "histogram"}, "base", ""),
    (R.SCALING_BINNING, {"base": "nothing"}, "base", ""),
    (R.SCALING_BINNING, {"base_parameters": None}, "base_parameters", ""),
    (R.SCALING_BINNING, {"split": "half"}, "split", ""),
    (R.SMOOTH, {"bandwidth": 1e-5}, "bandwidth", ""),
    (R.SMOOTH, {"bandwidth": 1.5}, "bandwidth", ""),
    (R.SMOOTH, {"values": [0.5] * 1024}, "values", ""),
    (R.SMOOTH, {"values": [0.5]}, "values", ""),
    (R.SMOOTH, {"values": [0.5] * 513}, "values", ""),
    (R.SMOOTH, {"values": [0.5] * 1024 + [1.1]}, "values[1024]", ""),
    (R.SMOOTH, {"randomised": 1}, "randomised", ""),
    (R.SMOOTH, {"seed": -1}, "seed", ""),
    (R.VENN_ABERS, fold(lower=[0.3, 0.1]), "folds[0].lower[1]", "should be above 0.3"),
    (R.VENN_ABERS, fold(last=[0.5, 0.5]), "folds[0].last[1]", "should be above 0.5"),
    (R.VENN_ABERS, fold(upper=[0.2]), "folds[0].upper", "has 1 elements, should have 2"),
    (R.VENN_ABERS, fold(lower=[0.0, 0.3]), "folds[0].lower[0]", "should lie between 0 and 1"),
    (R.VENN_ABERS, fold(upper=[0.2, 1.0]), "folds[0].upper[1]", "should lie between 0 and 1"),
    (R.VENN_ABERS, fold(lower=[0.25, 0.3]), "folds[0].lower[0]", "should lie nowhere above the upper levels"),
    (R.VENN_ABERS, fold(first=["a", 0.8]), "folds[0].first[0]", "should be a number"),
]


@pytest.mark.parametrize(("kind", "damage", "place", "said"), WRONG)
def test_parameters_that_no_fit_writes_are_refused_with_their_place(
    kind: R | BetaForm, damage: dict[str, object], place: str, said: str
) -> None:
    """Good ones are read and written again as they were; every other is an error that gives its path."""
    name, form = (R.BETA, kind) if isinstance(kind, BetaForm) else (kind, BetaForm.ABM)
    good = parameters_of(name, form)
    assert recalibrator_class(name).from_dict(Node(dict(good), "$.parameters")).to_dict() == good
    with pytest.raises(DocumentProblem) as problem:
        recalibrator_class(name).from_dict(Node({**good, **damage}, "$.parameters"))
    assert problem.value.path == f"$.parameters.{place}".rstrip(".")
    assert said in problem.value.detail


@pytest.mark.parametrize("name", R)
def test_a_fit_that_is_sent_to_a_worker_is_the_same(name: R) -> None:
    """And no other than itself."""
    fitted = fit_recalibrator(name, scored_table(200, seed=2, decimals=4))
    assert pickle.loads(pickle.dumps(fitted)) == fitted  # noqa: S301 - our own bytes
    assert fitted != name.value


@pytest.mark.parametrize("name", [R.PLATT, R.SMOOTH, R.ISOTONIC, R.CENTRED_ISOTONIC])
def test_a_grid_table_without_its_rows_gives_nearly_the_same_map(name: R) -> None:
    """Cells as scores move no prediction at the fit scores by much."""
    exact = scored_table(2000, seed=2, decimals=4)
    one, two = (fit_recalibrator(name, table).predict(exact.score) for table in (exact, grid_of(exact)))
    np.testing.assert_allclose(two, one, rtol=0, atol=0.02)
