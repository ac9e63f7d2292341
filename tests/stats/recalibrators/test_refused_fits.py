"""Fits that are refused, in one table: what is fitted to which rows, and what the error and its hint say."""

import re

import numpy as np
import pytest

from calibcli.errors import CalibcliError, EmptyTable, InputProblem, NotConverged, UsageProblem
from calibcli.names import BetaForm, FitLoss, Split
from calibcli.names import RecalibratorName as R
from calibcli.options.fitting import FitOptions
from calibcli.stats.recalibrators import fit_recalibrator
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.grid import grid_of
from score_rows import calibrated, table_of_columns

SLOPED = {R.PLATT: "two", R.BETA: "", R.QUADRATIC: "three", R.SPLINE: ""}
OF_BOTH_LABELS = [R.INTERCEPT, R.TEMPERATURE, *SLOPED, R.CENTRED_ISOTONIC]
FEW, BOTH = [0.1, 0.2, 0.3], "needs both labels: "
PLAIN, LEAST = FitOptions(), FitOptions(loss=FitLoss.BRIER)
IN, NO, LOST, USE = InputProblem, EmptyTable, NotConverged, UsageProblem
THREE_WAY, FOLDS = FitOptions(split=Split.THREE_WAY), FitOptions(folds=3)
NO_DEGREE = ([0.0, 1.0, 1.0], [0.5] * 3, [0.0, 0.5, 1.0], [0.0] * 3)
NOT_RISING = ([1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1])
# Of each form, scores that do not tell its coefficients apart.
OF_FORMS = {
    BetaForm.ABM: [0.2, 0.2, 0.6],
    BetaForm.AM: [0.2, 0.2, 0.2],
    BetaForm.AB: [0.5, 0.2, 0.5],
    BetaForm.A: [0.5, 0.5, 0.5],
}
STEP = table_of_columns([0.1] * 10 + [0.9] * 10 + [0.99], [0] * 10 + [1] * 10 + [0])
FACES = table_of_columns([0.1] * 10 + [0.2] * 2 + [0.6, 0.9] * 10 + [0.99], [0] * 12 + [1] * 20 + [0])


def rows(score: list[float], label: list[int], *weight: float) -> ScoreTable:
    """Count them."""
    return table_of_columns(score, label, list(weight) or None)


REFUSED: list[tuple[R, FitOptions, ScoreTable, type[CalibcliError], str, str]] = [
    *((one, PLAIN, rows(FEW, [1] * 3), IN, f"{BOTH}all 3 rows have label 1", "")
      for one in OF_BOTH_LABELS),
    (R.PLATT, PLAIN, rows([0.1], [0]), IN, f"{BOTH}the only row has label 0", ""),
    (R.PLATT, PLAIN, rows([0.1, 0.2], [0, 1], 1.0, 0.0), IN, "2 rows have weight 0 or label 0", ""),
    *((one, PLAIN, ScoreTable.empty(), NO, "needs rows", "") for one in OF_BOTH_LABELS),
    (R.PLATT, PLAIN, rows([0.1, 0.2], [0, 1], 0.0, 0.0), NO, "all 2 rows have weight 0", ""),
    # Scores that differ too little, after the logit where one is taken.
    *((one, PLAIN, rows([0.3] * 4, [0, 1, 1, 0]), IN, f"{least} distinct scores", "")
      for one, least in SLOPED.items()),
    *((one, PLAIN, rows([0.0, 1e-20, 1e-300], [0, 1, 1]), IN, "distinct scores", "")
      for one in SLOPED),
    (R.QUADRATIC, PLAIN, rows([0.2, 0.4, 0.4], [0, 1, 0]), IN, "three distinct scores, and there are 2", ""),
    *((R.BETA, FitOptions(form=form), rows(score, [0, 1, 1]), IN, f"form {form} needs",
       "--beta-form am" * (form is BetaForm.ABM)) for form, score in OF_FORMS.items()),
    *((R.TEMPERATURE, PLAIN, rows(score, [0, 1, 0]), IN,
       "no temperature is defined: each of the 3 rows", "platt") for score in NO_DEGREE),
    *((R.TEMPERATURE, FitOptions(smooth_targets=smooth), rows([0.1, 0.2, 0.8, 0.9], label), IN,
       "labels do not rise with the score", "--method platt")
      for label in NOT_RISING for smooth in (True, False)),
    # What an optimum's coefficients of 1e16 add up to would be lost: 0.1 + 0.2 is not 0.3.
    *((one, FitOptions(form=BetaForm.AM), rows([0.3, 0.1 + 0.2] * 4, [0, 1, 1, 0, 0, 1, 0, 0]), LOST,
       "in their last digits alone", "--method intercept") for one in (R.PLATT, R.BETA, R.SPLINE)),
    # Losses without a minimum.
    (R.PLATT, LEAST, STEP, LOST, "squared error has no minimum", "--smooth-targets"),
    (R.BETA, LEAST, FACES, LOST, "no beta fit within the bounds", "--smooth-targets"),
    (R.PLATT, PLAIN, rows(FEW, [0, 1, 0], 1e-170, 1e-170, 1e20), LOST, "no minimum", ""),
    (R.PLATT, PLAIN, rows(FEW, [0, 1, 0], 1e-310, 1e-310, 1e20), LOST, "orders of magnitude", ""),
    (R.BETA, PLAIN, rows(FEW, [0, 1, 0], 1e-310, 1e-310, 1e20), LOST, "no beta fit", ""),
    # Rows that cannot be shared out, or stand for none.
    (R.VENN_ABERS, PLAIN, rows(FEW, [0, 1, 1], 1.0, 2.0, 0.5), USE,
     "the row to be repaired has none", "--weights-are frequency"),
    (R.VENN_ABERS, FOLDS, rows([0.1, 0.2], [0, 1]), IN, "2 rows cannot be shared out among 3 folds", ""),
    (R.VENN_ABERS, FOLDS, grid_of(calibrated(50)), USE, "cannot be split at random", ""),
    (R.SCALING_BINNING, THREE_WAY, rows([0.1, 0.2], [0, 1]), IN, "needs 6 rows", ""),
    (R.SCALING_BINNING, THREE_WAY, grid_of(calibrated(50)), USE, "cannot be split", ""),
    (R.SCALING_BINNING, THREE_WAY, calibrated(50, weighted=True), USE, "cannot be split", ""),
    (R.SCALING_BINNING, FitOptions(base=R.SMOOTH, randomised=True), calibrated(100), USE,
     "cannot bin randomised outputs", ""),
]  # fmt: skip


@pytest.mark.parametrize(("name", "options", "table", "error", "said", "hint"), REFUSED)
def test_fits_that_cannot_be_are_refused(
    name: R, options: FitOptions, table: ScoreTable, error: type[CalibcliError], said: str, hint: str
) -> None:
    """The error says what is missing, counts it, and says what to try where something can be tried."""
    with pytest.raises(error, match=re.escape(said)) as problem:
        fit_recalibrator(name, table, options=options)
    assert bool(hint) <= (hint in str(problem.value.hint))
    if name is R.BETA and error is InputProblem and not hint and said.startswith("form"):
        assert "--beta-form am" not in str(problem.value.hint)


@pytest.mark.parametrize("name", [R.PLATT, R.BETA])
def test_labels_that_a_step_fits_best_are_not_parted(name: R) -> None:
    """The squared error alone has no minimum there."""
    fitted = fit_recalibrator(name, {R.PLATT: STEP, R.BETA: FACES}[name])
    assert not fitted.record.separated  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"base": R.HISTOGRAM}, "cannot be based on histogram"),
        *(({"bins": bins}, "bins requested") for bins in (0, -3, 100_001)),
    ],
)
def test_options_of_no_fit_are_refused(chosen: dict[str, object], said: str) -> None:
    """Bins that are none, and bases that form no continuum."""
    with pytest.raises(UsageProblem, match=said):
        FitOptions(**chosen)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [1.1, -1e-9, np.nan, np.inf])
def test_scores_outside_the_unit_interval_are_refused(wrong: float) -> None:
    """Prediction names how many scores are no probabilities, and the first."""
    fitted = fit_recalibrator(R.PLATT, calibrated(100))
    with pytest.raises(InputProblem, match="1 of 3 scores lie outside"):
        fitted.predict(np.array([0.1, wrong, 0.2]))
