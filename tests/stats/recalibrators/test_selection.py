"""The choice among recalibrators, from losses by fold."""

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from calibcli.documents.sealed import canonical_text, parse
from calibcli.errors import DocumentProblem, InputProblem
from calibcli.names import FitLoss, FitMethod, RecalibratorName
from calibcli.stats.recalibrators.selection import (
    DEFAULT_CANDIDATES,
    FROM_SIMPLE_TO_COMPLEX,
    FoldLosses,
    Selection,
    Trial,
    choose,
)

R = RecalibratorName
RAW = np.array([0.9, 0.8, 0.7, 0.6])


def losses(of: dict[R, Any], weight: list[float] | None = None, raw: np.ndarray = RAW) -> FoldLosses:
    """Return losses of four folds."""
    rows = np.ones(4) if weight is None else np.array(weight)
    return FoldLosses(
        rows, raw, {name: one if isinstance(one, str) else np.array(one) for name, one in of.items()}
    )


def chosen_of(found: FoldLosses) -> str:
    """Return the method that is chosen."""
    trials = choose(found)
    return next(trial.method for trial in trials if trial.chosen)


def test_method_takes_every_recalibrator_and_auto() -> None:
    """`--method` offers the recalibrators, segments and auto, and nothing else."""
    assert [one.value for one in FitMethod] == [*(one.value for one in RecalibratorName), "segments", "auto"]


def test_order_of_complexity_names_every_method_once() -> None:
    """No method lacks its place, and two are tried on request only."""
    assert sorted((*FROM_SIMPLE_TO_COMPLEX, R.IDENTITY)) == sorted(RecalibratorName)
    left_out = {R.IDENTITY, R.HISTOGRAM, R.SCALING_BINNING}
    assert set(RecalibratorName) - set(DEFAULT_CANDIDATES) == left_out


def test_simplest_within_one_standard_error_of_the_difference_is_chosen() -> None:
    """Platt is 0.01 above beta with an error of 0.01; temperature 0.02 above with an error of 0."""
    beta = np.array([0.5, 0.4, 0.6, 0.5])
    apart = 0.01 + np.sqrt(3) * 0.01 * np.array([1.0, -1.0, 1.0, -1.0])
    trials = choose(losses({R.BETA: beta, R.PLATT: beta + 1.0001 * apart, R.TEMPERATURE: beta + 0.02}))
    found = {trial.method: trial for trial in trials}
    assert found["platt"].difference == pytest.approx(0.010001)
    assert found["platt"].standard_error == pytest.approx(0.010001)
    assert found["temperature"].difference == pytest.approx(0.02)
    assert found["temperature"].standard_error == pytest.approx(0.0, abs=1e-15)
    assert found["beta"].difference == 0.0
    assert chosen_of(losses({R.BETA: beta, R.PLATT: beta + 1.1 * apart + 0.002})) == "beta"
    assert chosen_of(losses({R.BETA: beta, R.PLATT: beta + 1.1 * apart - 0.002})) == "platt"


def test_error_is_that_of_the_difference_and_not_of_the_loss() -> None:
    """Folds that are hard for all alike do not make a worse method pass for as good."""
    beta = np.array([0.1, 0.9, 0.2, 0.8])
    assert chosen_of(losses({R.BETA: beta, R.PLATT: beta + 0.01})) == "beta"


def test_folds_count_by_their_rows() -> None:
    """Mean, difference and error are those over rows: a fold of three weighs as three."""
    platt, beta = np.array([0.5, 0.6, 0.5, 0.5]), np.array([0.6, 0.5, 0.5, 0.5])
    trials = choose(losses({R.PLATT: platt, R.BETA: beta}, weight=[3, 1, 1, 1]))
    found = {trial.method: trial for trial in trials}
    assert found["platt"].loss == pytest.approx((1.5 + 0.6 + 1.0) / 6)
    assert found["beta"].difference == pytest.approx((0.3 - 0.1) / 6)
    share = np.array([3, 1, 1, 1]) / 6
    apart = beta - platt
    expected = np.sqrt(share @ (apart - share @ apart) ** 2 / 3)
    assert found["beta"].standard_error == pytest.approx(expected)


def test_infinite_losses_stand_and_are_never_chosen() -> None:
    """An infinite loss is listed as it is; the raw scores may have one too."""
    inf = float("inf")
    found = losses({R.ISOTONIC: [inf, 0.1, 0.1, 0.1], R.PLATT: [0.5, 0.5, 0.5, 0.5]}, raw=np.full(4, inf))
    trials = choose(found)
    by = {trial.method: trial for trial in trials}
    assert (by["isotonic"].loss, by["isotonic"].difference, by["isotonic"].standard_error) == (inf, inf, None)
    assert by["raw"].loss == inf
    assert by["platt"].chosen
    hopeless = {R.ISOTONIC: [inf, 0.1, 0.1, 0.1]}
    with pytest.raises(InputProblem, match="no candidate has a finite loss"):
        choose(losses(hopeless, raw=np.full(4, inf)))
    with pytest.raises(InputProblem, match="no candidate has a finite loss"):
        choose(losses(hopeless), unchanged=False)
    assert choose(losses(hopeless))[0].chosen


def test_method_without_a_fit_is_listed_with_its_reason() -> None:
    """What cannot be fitted is said, and if nothing can, that is an error."""
    trials = choose(losses({R.BETA: "without fold 2: no optimum", R.PLATT: [0.5, 0.5, 0.5, 0.5]}))
    beta = next(trial for trial in trials if trial.method == "beta")
    assert (beta.loss, beta.reason, beta.chosen) == (None, "without fold 2: no optimum", False)
    with pytest.raises(InputProblem, match="no candidate can be fitted; beta: without fold 2"):
        choose(losses({R.BETA: "without fold 2: no optimum"}))


def test_raw_scores_stay_where_no_method_is_better_by_a_standard_error() -> None:
    """They are the simplest of all; of a cheap method half an error is enough, and once none was needed."""
    wobble = np.array([0.02, -0.02, 0.02, -0.02])
    error = 0.02 / math.sqrt(3.0)
    assert chosen_of(losses({R.BETA: RAW - 0.9 * error + wobble})) == "raw"
    assert chosen_of(losses({R.BETA: RAW - 1.1 * error + wobble})) == "beta"
    assert chosen_of(losses({R.PLATT: RAW - 0.4 * error + wobble})) == "raw"
    assert chosen_of(losses({R.PLATT: RAW - 0.6 * error + wobble})) == "platt"
    assert chosen_of(losses({R.PLATT: RAW + 0.1, R.BETA: RAW - 0.9 * error + wobble})) == "raw"
    assert chosen_of(losses({})) == "raw"
    before = choose(losses({R.PLATT: RAW + 0.1}), unchanged=False)
    assert [trial.chosen for trial in before] == [False, True]
    assert before[0].difference == pytest.approx(-0.1)
    assert read_again(*before).chosen is R.PLATT


def test_what_is_no_better_than_raw_scores_is_not_chosen_in_their_place() -> None:
    """Though a simple method is within an error of the best; once it was."""
    wobble = np.array([0.02, -0.02, 0.02, -0.02])
    error = 0.02 / math.sqrt(3.0)
    found = losses({R.INTERCEPT: RAW + 0.1 * error, R.PLATT: RAW - 0.6 * error + wobble})
    trials = choose(found)
    assert [trial.chosen for trial in trials] == [False, False, True]
    before = [replace(one, chosen=one.method == "intercept") for one in trials]
    assert read_again(*before).chosen is R.INTERCEPT
    # Where raw scores are no candidate, all methods are.
    assert read_again(*choose(found, unchanged=False)).chosen is R.INTERCEPT


def test_raw_scores_that_are_chosen_are_the_identity() -> None:
    """The table calls them raw, the artifact identity; a choice that the rule forbids is refused."""
    trials = choose(losses({R.PLATT: RAW + 0.1}))
    found = read_again(*trials)
    assert (found.trials[0].method, found.chosen) == ("raw", R.IDENTITY)
    far = replace(trials[0], loss=trials[0].loss + 1.0, difference=1.0, standard_error=0.1)  # type: ignore[operator]
    best = replace(trials[1], loss=trials[0].loss, difference=0.0, standard_error=0.0)
    with pytest.raises(DocumentProblem, match="the simplest within one standard error"):
        read_again(far, best)


def selection() -> Selection:
    """Return a choice with a trial of every kind."""
    trials = (
        Trial("raw", float("inf"), float("inf"), None, chosen=False),
        Trial("platt", 0.5, 0.0, 0.0, chosen=True),
        Trial("beta", None, None, None, chosen=False, reason="without fold 1: no optimum"),
    )
    return Selection(FitLoss.LOG, 10, "patient", 3, trials)


def test_selection_survives_the_document() -> None:
    """Read back it is what was written."""
    text = canonical_text(selection().to_dict())
    assert Selection.from_dict(parse(text.encode())) == selection()
    assert selection().chosen is R.PLATT


def test_a_choice_that_the_rule_does_not_make_is_refused() -> None:
    """Too far above the best, not the simplest, no raw scores, rows twice: each says what should be there."""
    raw = Trial("raw", 0.7, 0.2, 0.01, chosen=False)
    near, far = (Trial("platt", 0.51, 0.01, error, chosen=error > 0.01) for error in (0.02, 0.001))
    best = Trial("beta", 0.5, 0.0, 0.0, chosen=False)
    endless = Trial("beta", math.inf, math.inf, None, chosen=True)
    assert read_again(raw, near, best).chosen is R.PLATT
    assert read_again(raw, far, replace(best, chosen=True)).chosen is R.BETA
    for trials in (
        (raw, replace(far, chosen=True), best),
        (raw, replace(near, chosen=False), replace(best, chosen=True)),
        (raw, near, replace(best, chosen=True)),
        (replace(raw, loss=math.inf, difference=math.inf, standard_error=None), endless),
    ):
        with pytest.raises(DocumentProblem, match="the simplest within one standard error"):
            read_again(*trials)
    for trials in (
        (near, best),
        (raw, best, near),
        (raw, near, near, best),
        (raw, *[raw] * 10, near, best),
    ):
        with pytest.raises(DocumentProblem, match="then methods from simple to complex, each once"):
            read_again(*trials)
    with pytest.raises(DocumentProblem, match=f"has 1003 elements, should have 1 to {len(R)}"):
        read_again(raw, *[raw] * 1000, near, best)


def test_every_choice_can_be_read_again() -> None:
    """What `choose` returns satisfies what the reading asks, with ties, infinities and rounding."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        of: dict[R, Any] = {
            name: rng.choice([0.1, 0.3, 0.1 + 0.2], 4) * rng.random() for name in FROM_SIMPLE_TO_COMPLEX
        }
        of[R.ISOTONIC] = [math.inf, 0.1, 0.1, 0.1]
        of[R.SPLINE] = "without fold 2: no optimum"
        found = losses(of, weight=rng.random(4).tolist(), raw=10.0 ** rng.uniform(-9, 3, 4))
        for unchanged in (True, False):
            trials = choose(found, unchanged=unchanged)
            assert read_again(*trials).trials == trials


def read_again(*trials: Trial) -> Selection:
    """Return the choice among trials as a document gives it back."""
    text = canonical_text(Selection(FitLoss.LOG, 4, None, 0, trials).to_dict())
    return Selection.from_dict(parse(text.encode()))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("rule",), "two standard errors"),
        (("folds",), 1),
        (("loss",), "hinge"),
        (("results", 0, "method"), "magic"),
        (("results", 0, "loss"), "nan"),
        (("results", 0, "chosen"), True),
        (("results", 1, "chosen"), False),
        (("results", 1, "standard_error"), -1.0),
        (("results", 1, "surprise"), 1),
        (("folds",), 10**12),
        (("results", 0, "loss"), -0.5),
        (("results", 0, "difference"), 0.1),
        (("results", 1, "loss"), None),
        (("results", 1, "loss"), "inf"),
        (("results", 1, "reason"), "cannot"),
        (("results", 1, "difference"), 0.1),
        (("results", 1, "difference"), -0.1),
        (("results", 1, "standard_error"), None),
        (("results", 1, "method"), "spline"),
        (("results", 2, "method"), "platt"),
        (("results", 2, "reason"), None),
    ],
)
def test_damaged_selection_is_refused(path: tuple[Any, ...], value: Any) -> None:
    """Nothing that no choice can have written passes for one."""
    document = json.loads(canonical_text(selection().to_dict()))
    place = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(DocumentProblem):
        Selection.from_dict(parse(json.dumps(document).encode()))
