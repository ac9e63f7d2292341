"""Fits of several classes: where they agree with those of one score, and what they refuse."""

from dataclasses import replace

import numpy as np
import pytest

from calibcli.errors import EmptyTable, InputProblem, NotConverged, UsageProblem
from calibcli.names import ClassMethod, OutputSum, RecalibratorName, ViewName
from calibcli.options.fitting import FitOptions
from calibcli.stats.recalibrators.classes.linear import MOST_OF_MATRIX, Linear
from calibcli.stats.recalibrators.classes.log_rows import KeptRows, LogRows
from calibcli.stats.recalibrators.classes.members import OneVsRest
from calibcli.stats.recalibrators.classes.top_label import TopLabel
from calibcli.stats.recalibrators.logits import Temperature
from calibcli.stats.table import ScoreTable
from class_rows import drawn_rows, softmax
from fits_of_classes import NAMES, Drawn, drawn, fitted

LINEAR = (ClassMethod.VECTOR, ClassMethod.STRUCTURED, ClassMethod.MATRIX)


def test_temperature_of_two_classes_is_that_of_one_score() -> None:
    """softmax(log p / T) of (1 - p, p) is the logistic curve of logit(p) / T."""
    rows = drawn(1, rows=2_000, classes=2)
    both = fitted(ClassMethod.TEMPERATURE, rows)
    table = ScoreTable.from_rows(rows.probability[:, 1], rows.label == 1)
    one = Temperature.fit(table, options=FitOptions())
    assert both.temperature == pytest.approx(one.temperature, rel=1e-9)
    np.testing.assert_allclose(
        both.predict(rows.probability)[:, 1], one.predict(rows.probability[:, 1]), rtol=0, atol=1e-9
    )


@pytest.mark.parametrize("in_memory", [True, False])
def test_folds_weigh_what_their_rows_do(*, in_memory: bool) -> None:
    """And what the others do is the rest."""
    whole = LogRows.of(replace(drawn(3, rows=200), in_memory=in_memory))
    weights = whole.fold_weights(3)
    assert weights.min() > 0.0
    for place, weight in enumerate(weights):
        within, others = (whole.of_fold((place, 3, inside)).total for inside in (True, False))
        assert (within, others) == pytest.approx((weight, weights.sum() - weight))


def of_votes(rows: Drawn) -> Drawn:
    """Return rows whose probabilities are counts of 32: sums of their bits are alike for many."""
    votes = np.random.default_rng(5).multinomial(27, rows.probability) + 1
    return replace(rows, probability=votes / 32.0)


@pytest.mark.parametrize("votes", [False, True])
@pytest.mark.parametrize("method", LINEAR)
def test_gradient_is_flat_at_the_end(method: ClassMethod, votes: bool) -> None:  # noqa: FBT001
    """No coefficient has a pull above 1e-10, the penalty included, as
    formulas of their own have it, of all rows: also of round numbers.
    """
    rows = drawn(2, rows=1_500, classes=5)
    rows = of_votes(rows) if votes else rows
    one = fitted(method, rows)
    assert isinstance(one, Linear)
    weight = np.diag(one.weight) if one.weight.ndim == 1 else one.weight
    log = np.log(rows.probability)
    excess = softmax(log @ weight.T + one.intercept) - np.eye(5)[rows.label]
    by_weight, by_intercept = excess.T @ log / 1_500, excess.mean(axis=0)
    slope, off = np.diag(weight), weight - np.diag(np.diag(weight))
    penalty = one.penalty or 0.0
    little = 0.01 if method is ClassMethod.MATRIX else 1.0
    held = 2.0 * penalty * (off / 20.0 + np.diag(little * (slope - slope.mean()) / 5.0))
    pull = by_weight + held
    free = np.ones((5, 5), np.bool_) if method is ClassMethod.MATRIX else np.eye(5, dtype=np.bool_)
    assert np.abs(pull[free]).max() < 1.1e-10
    assert np.abs(by_intercept + 2.0 * penalty * one.intercept / 5.0).max() < 1.1e-10


@pytest.mark.parametrize("method", LINEAR)
def test_steps_in_single_precision_end_where_those_in_double_do(
    method: ClassMethod, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many rows are rounded to seek steps, and where these end is decided by the rows themselves."""
    rows = drawn(2, rows=1_500, classes=5)
    double = fitted(method, rows)
    monkeypatch.setattr("calibcli.stats.recalibrators.classes.log_rows._FEW", 1_000)
    single = fitted(method, rows)
    assert isinstance(double, Linear)
    assert isinstance(single, Linear)
    assert single.penalty == double.penalty
    assert not np.array_equal(single.weight, double.weight)
    np.testing.assert_allclose(single.weight, double.weight, rtol=0, atol=1e-7)
    np.testing.assert_allclose(single.intercept, double.intercept, rtol=0, atol=1e-7)


@pytest.mark.parametrize("method", [ClassMethod.MATRIX, ClassMethod.TEMPERATURE])
def test_workers_change_no_digit(method: ClassMethod, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums of blocks are added in their order, whoever made them."""
    whole = KeptRows.blocks
    monkeypatch.setattr(KeptRows, "blocks", lambda kept, _: whole(kept, 350))
    rows = drawn(2, rows=300, classes=4)
    assert fitted(method, replace(rows, workers=3)).to_dict() == fitted(method, rows).to_dict()


def test_a_penalty_that_one_fold_chose_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all folds would take long, the note names how many were looked at."""
    rows = drawn(2, rows=600)
    assert fitted(ClassMethod.MATRIX, rows).notes[0].endswith("by cross-validated log loss")
    monkeypatch.setattr("calibcli.stats.recalibrators.classes.linear._MOST_WORK", 1.0)
    assert fitted(ClassMethod.MATRIX, rows).notes[0].endswith("on 1 of 5 folds since all would take long")


@pytest.mark.parametrize("method", LINEAR)
def test_more_freedom_never_loses_to_temperature_on_the_fit_rows(method: ClassMethod) -> None:
    """One slope for all is among what each of them may choose, but for what the penalty costs."""
    rows = drawn(2, rows=1_500, classes=5)

    def loss(one: object) -> float:
        after = one.predict(rows.probability)  # type: ignore[attr-defined]
        return float(-np.log(after[np.arange(rows.label.size), rows.label]).mean())

    assert loss(fitted(method, rows)) <= loss(fitted(ClassMethod.TEMPERATURE, rows)) + 1e-9


@pytest.mark.parametrize("sharpness", [0.1, 0.5, 1.0, 3.0, 20.0])
def test_temperature_is_where_the_loss_has_its_minimum(sharpness: float) -> None:
    """Whether scores are too sure or not sure enough: a hair to either side is worse."""
    rows = drawn(6, rows=800, classes=4, sharpness=sharpness)
    best = fitted(ClassMethod.TEMPERATURE, rows)

    def loss(factor: float) -> float:
        after = replace(best, temperature=best.temperature * factor).predict(rows.probability)
        return float(-np.log(after[np.arange(rows.label.size), rows.label]).mean())

    assert loss(1.0) < min(loss(1.001), loss(1.0 / 1.001))


def right(rows: int = 60, classes: int = 3) -> Drawn:
    """Rows whose most probable class is always right."""
    label = np.arange(rows) % classes
    probability = np.full((rows, classes), 0.1)
    probability[np.arange(rows), label] = 0.8 + 0.001 * np.arange(rows)
    return Drawn(probability / probability.sum(axis=1, keepdims=True), label, NAMES[:classes])


@pytest.mark.parametrize("method", [ClassMethod.TEMPERATURE, ClassMethod.STRUCTURED, ClassMethod.MATRIX])
def test_perfect_rows_have_no_best_slope(method: ClassMethod) -> None:
    """The steeper for all classes, the better, whatever is penalised: said instead of a number."""
    with pytest.raises(InputProblem, match="right in every row"):
        fitted(method, right())


ONE_LABEL = "most probable class is {} in every row"


@pytest.mark.parametrize(
    ("method", "turned", "words", "hint"),
    [
        (ClassMethod.CONFIDENCE, 0, ONE_LABEL.format("right"), "more rows"),
        (ClassMethod.TOP_LABEL, 0, ONE_LABEL.format("right"), "more rows"),
        (ClassMethod.CONFIDENCE, 1, ONE_LABEL.format("wrong"), "--classes"),
        (ClassMethod.TOP_LABEL, 1, ONE_LABEL.format("wrong"), "--classes"),
        (ClassMethod.TEMPERATURE, 1, "do not follow the probabilities", "--classes"),
    ],
)
def test_labels_that_always_or_never_follow_the_probabilities_are_said_to_be_so(
    method: ClassMethod, turned: int, words: str, hint: str
) -> None:
    """Columns in another order than the classes are the likely reason, and the hint says so."""
    rows = right()
    with pytest.raises(InputProblem, match=words) as problem:
        fitted(method, replace(rows, label=(rows.label + turned) % 3))
    assert hint in str(problem.value.hint)


def test_a_pair_without_a_map_is_named() -> None:
    """Of two classes whose labels are exchanged no temperature is best; the others have one."""
    rows = drawn(6, rows=600)
    swapped = replace(rows, label=np.array([1, 0, 2])[rows.label])
    with pytest.raises(InputProblem, match="pair 'ant' and 'bee': labels do not rise"):
        fitted(ClassMethod.ONE_VS_ONE, swapped, RecalibratorName.TEMPERATURE)


def test_perfect_rows_have_no_best_vector() -> None:
    """Coefficients without end are not written to an artifact."""
    with pytest.raises(NotConverged, match="every row right for certain") as problem:
        fitted(ClassMethod.VECTOR, right())
    assert problem.value.hint


def test_matrix_has_an_end_where_scores_are_saturated() -> None:
    """A class that is right whenever its probability is exactly 1, and else never, has a finite slope."""
    rows = drawn(5, rows=400, classes=3)
    probability = rows.probability.copy()
    probability[rows.label == 2] = [0.0, 0.0, 1.0]
    one = fitted(ClassMethod.MATRIX, replace(rows, probability=probability))
    assert isinstance(one, Linear)
    assert np.abs(one.weight).max() < 1_000.0


def without_the_last(classes: int = 4) -> Drawn:
    """Rows none of which has the last class."""
    rows = drawn(4, rows=500, classes=classes)
    kept = rows.label < classes - 1
    return replace(rows, probability=rows.probability[kept], label=rows.label[kept])


def test_vector_refuses_a_class_that_no_row_has() -> None:
    """Its intercept would fall without end."""
    with pytest.raises(InputProblem, match="no row has label 'dog'"):
        fitted(ClassMethod.VECTOR, without_the_last())


def test_vector_refuses_a_class_that_its_probabilities_part() -> None:
    """The steeper its slope, the better, though others are not parted; a row amid them gives it an end."""
    rows = drawn(4, rows=300)
    label = np.minimum(rows.label, 1)
    label[np.argsort(rows.probability[:, 2])[-3:]] = 2
    with pytest.raises(NotConverged, match="part class 'cat' from others") as problem:
        fitted(ClassMethod.VECTOR, replace(rows, label=label))
    assert "--multiclass structured" in str(problem.value.hint)
    label[np.argsort(rows.probability[:, 2])[150]] = 2
    one = fitted(ClassMethod.VECTOR, replace(rows, label=label))
    assert isinstance(one, Linear)
    assert np.abs(one.weight).max() < 10.0


def test_vector_refuses_a_class_of_one_probability() -> None:
    """Its slope and its intercept are told apart by rounding alone, whatever that makes of the fit."""
    for seed in range(4):
        generator = np.random.default_rng(seed)
        ahead = 0.9 * generator.beta(2.0, 2.0, 300)
        probability = np.column_stack((ahead, 0.9 - ahead, np.full(300, 0.1)))
        probability /= probability.sum(axis=1, keepdims=True)
        rows = Drawn(probability, generator.choice(3, 300, p=[0.5, 0.3, 0.2]), NAMES[:3])
        with pytest.raises(InputProblem, match=f"class {NAMES[2]!r} has one probability in all rows"):
            fitted(ClassMethod.VECTOR, rows)
        fitted(ClassMethod.STRUCTURED, rows)


def test_a_strong_penalty_does_not_keep_a_fit_from_settling() -> None:
    """The slope that all classes share costs nothing: what rounding left of it hid what steps still win."""
    one = fitted(ClassMethod.STRUCTURED, Drawn(*drawn_rows(100, 5, sharpness=4.0, seed=10), NAMES[:5]))
    assert isinstance(one, Linear)
    assert np.ptp(one.weight) < 0.1


def test_folds_of_a_row_or_two_end_in_words() -> None:
    """Where maps are sure of all rows no curvature is left, and steps do not overflow in search of it."""
    probability = np.array([[0.0, 0.98, 0.01, 0.01], [0.51, 0.0, 0.47, 0.02], [1.0, 0.0, 0.0, 0.0]])
    with pytest.raises(NotConverged) as problem:
        fitted(ClassMethod.STRUCTURED, Drawn(probability, np.array([0, 0, 2]), NAMES[:4]))
    assert str(problem.value.hint).endswith("--multiclass temperature")


@pytest.mark.parametrize("method", [method for method in ClassMethod if method is not ClassMethod.VECTOR])
def test_other_methods_take_a_class_that_no_row_has(method: ClassMethod) -> None:
    """It keeps a probability above or at 0, and rows still sum to one."""
    after = fitted(method, without_the_last()).predict(drawn(9, classes=4).probability)
    np.testing.assert_allclose(after.sum(axis=1), 1.0, rtol=0, atol=1e-9)
    assert np.all(after >= 0.0)


@pytest.mark.parametrize(
    "method", [ClassMethod.TEMPERATURE, ClassMethod.VECTOR, ClassMethod.STRUCTURED, ClassMethod.ONE_VS_ONE]
)
def test_one_label_is_refused(method: ClassMethod) -> None:
    """Nothing is learnt of classes from rows that all have one, or from none."""
    rows = drawn(3, rows=200)
    with pytest.raises(InputProblem, match="needs several classes: all 200 rows have label 'ant'"):
        fitted(method, replace(rows, label=np.zeros_like(rows.label)))
    with pytest.raises(EmptyTable, match="a fit needs rows"):
        fitted(method, replace(rows, probability=rows.probability[:0], label=rows.label[:0]))


@pytest.mark.parametrize(
    ("method", "count", "words", "hint"),
    [
        (ClassMethod.MATRIX, MOST_OF_MATRIX + 1, "1,003,002 coefficients", "structured"),
        (ClassMethod.ONE_VS_ONE, 101, "5,050 pairs", ""),
    ],
)
def test_too_many_classes_are_refused_with_the_way_out(
    method: ClassMethod, count: int, words: str, hint: str
) -> None:
    """More than a million coefficients would take hours, and so would thousands of maps."""
    rows = Drawn(np.full((4, count), 1.0 / count), np.arange(4), tuple(map(str, range(count))))
    with pytest.raises(UsageProblem, match=words) as problem:
        fitted(method, rows)
    assert hint in str(problem.value.hint)


@pytest.mark.parametrize("method", [ClassMethod.TOP_LABEL, ClassMethod.ONE_VS_REST])
def test_classes_with_few_rows_share_a_map_and_it_is_said(method: ClassMethod) -> None:
    """The note names them, and both are recalibrated by one map."""
    one = fitted(method, drawn(3, rows=300, classes=4), least_rows=10_000)
    assert one.notes
    assert (
        "4 classes have too few fit rows for a map of their own and share one: 'ant', 'bee'" in one.notes[0]
    )
    assert isinstance(one, OneVsRest | TopLabel)
    assert one.members.sharing == ("ant", "bee", "cat", "dog")


def test_notes_of_many_maps_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line for each of a thousand classes would hide what else is said."""
    rows = drawn(5, rows=400)
    probability = rows.probability.copy()
    probability[rows.label == 2] = [0.0, 0.0, 1.0]
    monkeypatch.setattr("calibcli.stats.recalibrators.classes.members._LISTED", 1)
    first, others = fitted(ClassMethod.ONE_VS_REST, replace(rows, probability=probability)).notes
    assert first.startswith("class 'ant': ")
    assert others == "2 more maps have such notes"


def test_one_vs_one_says_which_pairs_stay_as_they_are() -> None:
    """A pair with too few rows has no map."""
    one = fitted(ClassMethod.ONE_VS_ONE, drawn(3, rows=300), least_rows=10_000)
    assert one.notes == ("3 pairs of classes have too few fit rows for a map and stay as they are",)
    rows = drawn(8).probability
    np.testing.assert_allclose(one.predict(rows), rows, rtol=0, atol=1e-9)
    alone = fitted(ClassMethod.ONE_VS_ONE, drawn(3, rows=300, classes=2), least_rows=10_000)
    assert alone.notes == ("1 pair of classes has too few fit rows for a map and stays as it is",)


def test_outputs_of_binned_maps_are_listed_by_view() -> None:
    """The largest probability takes the values of the confidence map, and a free class those of its own."""
    rows = drawn(3, rows=2_000, classes=4)
    confidence = fitted(ClassMethod.CONFIDENCE, rows, RecalibratorName.SCALING_BINNING)
    free = fitted(ClassMethod.ONE_VS_REST, rows, RecalibratorName.SCALING_BINNING, output_sum=OutputSum.FREE)

    def listed(one: object, view: ViewName, name: str | None = None) -> tuple[float, ...] | None:
        return one.outputs(view, None if name is None else rows.classes.index(name))

    seen = listed(confidence, ViewName.CONFIDENCE)
    assert seen is not None
    assert set(confidence.predict(rows.probability).max(axis=1)) <= set(seen)
    of_bee = listed(free, ViewName.ONE_VS_REST, "bee")
    assert of_bee is not None
    assert set(free.predict(rows.probability)[:, 1]) == set(of_bee)
    assert listed(free, ViewName.CONFIDENCE) is None
    assert listed(confidence, ViewName.ONE_VS_REST, "bee") is None
    assert listed(fitted(ClassMethod.TEMPERATURE, rows), ViewName.CONFIDENCE) is None
    divided = fitted(ClassMethod.ONE_VS_REST, rows, RecalibratorName.SCALING_BINNING)
    assert listed(divided, ViewName.ONE_VS_REST, "bee") is None


def test_free_one_vs_rest_keeps_each_class_to_its_own_map() -> None:
    """Rows need not sum to one; each column is the map of its class."""
    rows = drawn(3, rows=800, classes=4)
    free = fitted(ClassMethod.ONE_VS_REST, rows, RecalibratorName.HISTOGRAM, output_sum=OutputSum.FREE)
    assert isinstance(free, OneVsRest)
    after = free.predict(rows.probability)
    assert np.abs(after.sum(axis=1) - 1.0).max() > 1e-3
    expected = free.members.of(2).predict(rows.probability[:, 2])
    assert np.array_equal(after[:, 2], expected)


@pytest.mark.parametrize("inner", list(RecalibratorName))
@pytest.mark.parametrize("method", [ClassMethod.CONFIDENCE, ClassMethod.ONE_VS_REST])
def test_every_method_of_one_score_fits_inside(method: ClassMethod, inner: RecalibratorName) -> None:
    """Rows come out as probabilities, whatever the inner method."""
    rows = drawn(3, rows=600)
    after = fitted(method, rows, inner).predict(rows.probability)
    np.testing.assert_allclose(after.sum(axis=1), 1.0, rtol=0, atol=1e-9)
