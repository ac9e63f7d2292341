"""What holds of every recalibrator, whatever rows it is fitted to."""

import json
import random

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from calibcli.codec import Node
from calibcli.errors import InputProblem
from calibcli.names import BetaForm, Binning, FitLoss, RecalibratorName, Split
from calibcli.options.fitting import FitOptions
from calibcli.stats.recalibrators import Recalibrator, fit_recalibrator, recalibrator_class
from calibcli.stats.table import ScoreTable, Weighing, merge_all

KINDS: dict[str, tuple[RecalibratorName, FitOptions]] = {
    **{name.value: (name, FitOptions()) for name in RecalibratorName},
    "platt brier": (RecalibratorName.PLATT, FitOptions(loss=FitLoss.BRIER)),
    "platt smooth": (RecalibratorName.PLATT, FitOptions(smooth_targets=True)),
    "beta ab": (RecalibratorName.BETA, FitOptions(form=BetaForm.AB)),
    "isotonic step": (RecalibratorName.ISOTONIC, FitOptions(step=True)),
    "histogram": (RecalibratorName.HISTOGRAM, FitOptions(bins=4)),
    "histogram width": (RecalibratorName.HISTOGRAM, FitOptions(bins=7, binning=Binning.EQUAL_WIDTH)),
    "scaling-binning": (RecalibratorName.SCALING_BINNING, FitOptions(bins=4)),
    "scaling-binning isotonic": (
        RecalibratorName.SCALING_BINNING,
        FitOptions(bins=4, base=RecalibratorName.ISOTONIC),
    ),
    "scaling-binning centred": (
        RecalibratorName.SCALING_BINNING,
        FitOptions(bins=5, base=RecalibratorName.CENTRED_ISOTONIC),
    ),
    "venn-abers cross": (RecalibratorName.VENN_ABERS, FitOptions(folds=3)),
    "smooth randomised": (RecalibratorName.SMOOTH, FitOptions(randomised=True, seed=7)),
    "scaling-binning split": (RecalibratorName.SCALING_BINNING, FitOptions(bins=3, split=Split.THREE_WAY)),
}
every_kind = pytest.mark.parametrize("kind", KINDS)

AWKWARD = [0.0, 5e-324, 1e-300, 2.0**-53, 0.1, 0.3, 0.5, 0.7, 1.0 - 2.0**-53, 1.0]
scores = st.one_of(st.sampled_from(AWKWARD), st.floats(0.0, 1.0))
rows_of_both_labels = st.lists(st.tuples(scores, st.booleans()), min_size=6, max_size=60).filter(
    lambda rows: {label for _, label in rows} == {True, False}
)
PROBES = np.unique(np.concatenate((AWKWARD, np.linspace(0.0, 1.0, 97), np.geomspace(1e-18, 0.5, 23))))


def columns(rows: list[tuple[float, bool]]) -> tuple[np.ndarray, np.ndarray]:
    """Scores and labels of rows."""
    return np.array([score for score, _ in rows]), np.array([label for _, label in rows])


def fit(kind: str, table: ScoreTable) -> Recalibrator:
    """Fit, and leave out what is refused with a proper error."""
    name, options = KINDS[kind]
    try:
        return fit_recalibrator(name, table, options=options)
    except InputProblem:
        assume(False)
        raise


@every_kind
@settings(max_examples=settings.default.max_examples // 4)
@given(rows=rows_of_both_labels, order=st.randoms(use_true_random=False), factor=st.integers(2, 5))
@example(rows=[(0.0, False), (5e-324, True)] * 3, order=random.Random(0), factor=2)  # noqa: S311 - any order
def test_every_fit_obeys_the_laws(
    kind: str, rows: list[tuple[float, bool]], order: random.Random, factor: int
) -> None:
    """Each of the laws below, of one fit: to draw rows and to fit takes longer than to look."""
    fitted = fit(kind, ScoreTable.from_rows(*columns(rows)))
    stays_in_the_unit_interval(fitted, columns(rows)[0])
    predicts_the_same_bits_when_restored(fitted)
    depends_on_the_table_alone(fitted, kind, rows, order)
    keeps_the_order_if_increasing(fitted)
    has_outputs_of_its_bins_alone(fitted, kind, rows)
    takes_a_weight_for_repeated_rows(kind, rows, factor)


def stays_in_the_unit_interval(fitted: Recalibrator, score: np.ndarray) -> None:
    """Every prediction is a number in [0, 1], at the fit scores and between them."""
    predicted = fitted.predict(np.concatenate((PROBES, np.unique(score))))
    assert np.all((predicted >= 0.0) & (predicted <= 1.0))


def predicts_the_same_bits_when_restored(fitted: Recalibrator) -> None:
    """A recalibrator that went through JSON is equal and predicts the same bits."""
    parameters = json.loads(json.dumps(fitted.to_dict(), allow_nan=False))
    restored = recalibrator_class(fitted.name).from_dict(Node(parameters, "$.parameters"))
    assert restored == fitted
    assert restored.predict(PROBES).tobytes() == fitted.predict(PROBES).tobytes()
    assert (restored.bins, restored.notes, restored.increasing) == (
        fitted.bins,
        fitted.notes,
        fitted.increasing,
    )


def depends_on_the_table_alone(
    fitted: Recalibrator, kind: str, rows: list[tuple[float, bool]], order: random.Random
) -> None:
    """Shuffled and sharded rows give the same fit, digit for digit."""
    shuffled = list(rows)
    order.shuffle(shuffled)
    score, label = columns(shuffled)
    shards = [ScoreTable.from_rows(score[k::3], label[k::3]) for k in range(3)]
    assert fit(kind, merge_all(shards)).to_dict() == fitted.to_dict()


def keeps_the_order_if_increasing(fitted: Recalibrator) -> None:
    """A recalibrator that says it is increasing never ranks two scores the other way round."""
    if fitted.increasing:
        assert np.diff(fitted.predict(PROBES)).min() >= -4e-16


def has_outputs_of_its_bins_alone(fitted: Recalibrator, kind: str, rows: list[tuple[float, bool]]) -> None:
    """Where there are bins, every prediction is the value of one, and their rows are the fit rows."""
    if fitted.bins is not None:
        assert set(fitted.predict(PROBES).tolist()) <= {one.value for one in fitted.bins}
        share = 3 if kind == "scaling-binning split" else 1
        assert sum(one.rows for one in fitted.bins) == len(rows) // share
        assert all(0 <= one.positive <= one.rows for one in fitted.bins)


def takes_a_weight_for_repeated_rows(kind: str, rows: list[tuple[float, bool]], factor: int) -> None:
    """A row of frequency weight k gives the fit that k such rows give."""
    score, label = columns(rows)
    counted = ScoreTable.from_rows(score, label, Weighing(counts=np.full(score.size, factor)))
    repeated = ScoreTable.from_rows(np.repeat(score, factor), np.repeat(label, factor))
    assert fit(kind, counted).to_dict() == fit(kind, repeated).to_dict()


@pytest.mark.parametrize(
    "kind", ["isotonic", "isotonic step", "centred-isotonic", "histogram", "histogram width", "platt"]
)
@settings(max_examples=settings.default.max_examples // 2)
@given(rows=rows_of_both_labels)
def test_scale_of_importance_weights_does_not_matter(kind: str, rows: list[tuple[float, bool]]) -> None:
    """Doubling every importance weight changes no digit of a prediction."""
    score, label = columns(rows)
    weight = 1.0 + np.arange(score.size) % 3
    one = fit(kind, ScoreTable.from_rows(score, label, Weighing(weight=weight)))
    two = fit(kind, ScoreTable.from_rows(score, label, Weighing(weight=2.0 * weight)))
    assert one.predict(PROBES).tobytes() == two.predict(PROBES).tobytes()


@pytest.mark.parametrize("kind", ["isotonic", "isotonic step", "histogram", "histogram width"])
@given(rows=rows_of_both_labels)
def test_mean_label_is_kept(kind: str, rows: list[tuple[float, bool]]) -> None:
    """Predictions at the fit rows have the mean of the labels."""
    score, label = columns(rows)
    predicted = fit(kind, ScoreTable.from_rows(score, label)).predict(score)
    assert predicted.mean() == pytest.approx(label.mean(), abs=1e-12)


@given(rows=rows_of_both_labels)
def test_platt_solves_the_score_equations(rows: list[tuple[float, bool]]) -> None:
    """At the maximum of the likelihood, predictions have the mean and the logit moment of the labels."""
    from calibcli.stats.recalibrators.logits import Platt
    from calibcli.stats.recalibrators.newton import logit

    score, label = columns(rows)
    fitted = fit("platt", ScoreTable.from_rows(score, label))
    assert isinstance(fitted, Platt)
    assume(not fitted.record.smoothed)
    gap = fitted.predict(score) - label
    assert gap.mean() == pytest.approx(0.0, abs=1e-9)
    assert (gap * logit(score)).mean() == pytest.approx(0.0, abs=1e-7)
    assert fitted.record.gradient < 1e-10
