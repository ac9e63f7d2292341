"""What fits of all classes together make of probabilities near 0, and of 0 itself, which has no logarithm."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

import calibcli
from calibcli.codec import Node
from calibcli.data.class_intake import on_class_scale
from calibcli.names import ClassMethod, Scale
from calibcli.stats.recalibrators.classes import ClassFitOptions, class_recalibrator_class, least_of
from calibcli.stats.recalibrators.classes.linear import Linear
from calibcli.stats.recalibrators.classes.temperature import ClassTemperature
from calibcli.stats.table.again import ClassBlock
from class_rows import softmax
from fits_of_classes import Drawn, drawn, fitted

SHARP = 12.0
OF_ALL = (ClassMethod.TEMPERATURE, ClassMethod.VECTOR, ClassMethod.STRUCTURED, ClassMethod.MATRIX)


def sharp(rows: int = 3_000) -> Drawn:
    """Rows of four classes that are far too sure: many probabilities are below 2^-53, and none is 0."""
    found = drawn(4, rows=rows, classes=4, sharpness=SHARP)
    assert (found.probability < 2.0**-53).mean() > 0.03
    assert found.probability.min() > 0.0
    return found


def with_zeros(rows: Drawn) -> tuple[Drawn, np.ndarray]:
    """The same rows with what is below 1e-20 written as 0, and where."""
    zero = rows.probability < 1e-20
    return replace(rows, probability=np.where(zero, 0.0, rows.probability)), zero


def mean_loss(log: np.ndarray, label: np.ndarray, slope: float) -> float:
    """The mean log loss of softmax(slope log p), as a formula of its own."""
    scaled = slope * log
    top = scaled.max(axis=1)
    right = scaled[np.arange(label.size), label]
    return float(np.mean(np.log(np.exp(scaled - top[:, None]).sum(axis=1)) + top - right))


def test_temperature_is_that_of_the_probabilities_as_they_are() -> None:
    """Scipy finds the same on plain logarithms, and nothing is noted."""
    rows = sharp()
    log = np.log(rows.probability)
    best = minimize_scalar(partial(mean_loss, log, rows.label), bracket=(0.05, 0.3), tol=1e-12).x
    one = fitted(ClassMethod.TEMPERATURE, rows)
    assert one.temperature == pytest.approx(1.0 / best, rel=3e-8)
    assert one.notes == ()
    assert fitted(ClassMethod.TEMPERATURE, rows, least=2.0**-53).to_dict() != one.to_dict()
    np.testing.assert_allclose(one.predict(rows.probability), softmax(log / one.temperature), rtol=1e-12)


def test_vector_is_that_of_the_probabilities_as_they_are() -> None:
    """Scipy's optimiser finds no smaller loss on plain logarithms, and the same probabilities."""
    rows = sharp()
    log = np.log(rows.probability)
    which = np.arange(rows.label.size), rows.label

    def loss(at: np.ndarray) -> tuple[float, np.ndarray]:
        after = softmax(log * at[:4] + at[4:])
        value = -np.log(after[which]).mean()
        after[which] -= 1.0
        return value, np.concatenate(((after * log).mean(axis=0), after.mean(axis=0)))

    best = minimize(loss, np.repeat([0.1, 0.0], 4), jac=True, method="BFGS", options={"gtol": 1e-9})
    one = fitted(ClassMethod.VECTOR, rows)
    assert isinstance(one, Linear)
    assert loss(np.concatenate((one.weight, one.intercept)))[0] <= best.fun + 1e-13
    after = softmax(log * best.x[:4] + best.x[4:])
    np.testing.assert_allclose(one.predict(rows.probability), after, rtol=0, atol=1e-6)


@pytest.mark.parametrize("method", OF_ALL)
def test_zeros_limit_what_is_below_and_are_counted(method: ClassMethod) -> None:
    """The note has the number of zeros, of small probabilities and of rows; frequencies count as rows do."""
    rows, zero = with_zeros(sharp(600))
    small = rows.probability < 2.0**-53
    one = fitted(method, rows)
    said = (
        f"{zero.sum():,} probabilities are 0, which has no logarithm: the fit took all {small.sum():,} below"
    )
    assert one.notes[-1].startswith(said)
    assert f"in {small.any(axis=1).sum():,} fit rows" in one.notes[-1]
    assert one.to_dict().get("least", 2.0**-53) == 2.0**-53
    twice = fitted(method, replace(rows, counts=np.full(rows.label.size, 2)))
    assert f"{2 * zero.sum():,} probabilities are 0" in twice.notes[-1]
    assert f"all {2 * small.sum():,} below 2^-53, in {2 * small.any(axis=1).sum():,} fit" in twice.notes[-1]


@pytest.mark.parametrize(
    ("method", "zeros"), [*((one, False) for one in OF_ALL), *((one, True) for one in OF_ALL[:2])]
)
def test_rows_read_again_and_kept_are_limited_alike(method: ClassMethod, zeros: bool) -> None:  # noqa: FBT001
    """Whether rows fit in memory or not, and in whichever order they come."""
    rows = sharp(200)
    rows = with_zeros(rows)[0] if zeros else rows
    turned = replace(rows, probability=rows.probability[::-1], label=rows.label[::-1], cut=37)
    one, same, again = (
        fitted(method, some) for some in (rows, turned, replace(rows, in_memory=False, cut=40))
    )
    assert same.to_dict() == one.to_dict()
    assert same.notes == one.notes
    assert again.notes[-1:] == one.notes[-1:]
    np.testing.assert_allclose(
        again.predict(rows.probability), one.predict(rows.probability), rtol=0, atol=1e-8
    )


def test_a_zero_without_weight_changes_nothing() -> None:
    """Nor does it count."""
    rows = sharp(400)
    probability = np.vstack((rows.probability, [[1.0, 0.0, 0.0, 0.0]]))
    counts = np.append(np.ones(400, np.int64), 0)
    more = Drawn(probability, np.append(rows.label, 1), rows.classes, counts)
    assert fitted(ClassMethod.TEMPERATURE, more) == fitted(ClassMethod.TEMPERATURE, rows)


@pytest.mark.parametrize("method", OF_ALL)
def test_restored_maps_and_those_of_before_keep_their_bits(method: ClassMethod) -> None:
    """A map without a limit of its own is one of before: all below 2^-53 is taken for it."""
    rows = sharp(600)
    requested = np.vstack((rows.probability, np.eye(4), [[1.0, 1e-17, 1e-200, 5e-324]]))
    for one in (fitted(method, rows), fitted(method, with_zeros(rows)[0])):
        made, known = class_recalibrator_class(method), {"method": method, "classes": rows.classes}
        restored = made.from_dict(Node(one.to_dict()).knowing(**known))
        assert np.array_equal(restored.predict(requested), one.predict(requested))
        before = {key: value for key, value in one.to_dict().items() if key != "least"}
        old = made.from_dict(Node(before).knowing(**known))
        limited = np.maximum(requested, 2.0**-53)
        np.testing.assert_allclose(old.predict(requested), old.predict(limited), rtol=0, atol=0)


def test_logits_so_far_apart_that_a_probability_is_0_are_counted() -> None:
    """Everything else of logits is taken as it is."""
    logits = np.log(drawn(4, rows=400, classes=4).probability) * 4.0
    logits[5] = [800.0, 0.0, 0.0, 1.0]
    rows = Drawn(
        on_class_scale(logits, Scale.LOGIT), drawn(4, rows=400, classes=4).label, ("a", "b", "c", "d")
    )
    options = ClassFitOptions(least=least_of(Scale.LOGIT))
    one = ClassTemperature.fit(ClassMethod.TEMPERATURE, rows.tables, options=options)
    assert one.notes == ("3 probabilities are 0 by rounding, in 1 fit row; the fit took them for 4.9e-324",)


@pytest.mark.parametrize("scale", [Scale.LOGIT, Scale.LOGPROB])
def test_a_row_of_a_class_that_logits_rule_out_does_not_outweigh_all_others(scale: Scale) -> None:
    """It has a probability of 0, whatever says so, and is taken for what one written as 0 is."""
    rows = drawn(5, rows=400, classes=3)
    shares = np.where(rows.probability < 0.05, 0.0, rows.probability)
    shares /= shares.sum(axis=1, keepdims=True)
    missed = shares[np.arange(400), rows.label] == 0.0
    assert missed.any()
    with np.errstate(divide="ignore"):
        logits = np.log(shares)
    label = np.array(rows.classes)[rows.label]
    given, ruled_out = (
        calibcli.fit(one, label, classes=rows.classes, scale=said)
        for one, said in ((shares, "prob"), (logits, scale.value))
    )
    np.testing.assert_allclose(ruled_out.predict(logits), given.predict(shares), rtol=0, atol=1e-9)
    # While no row is of such a class it stays next to nothing.
    kept = calibcli.fit(logits[~missed], label[~missed], classes=rows.classes, scale=scale.value)
    assert kept.predict(logits)[shares == 0.0].max() < 1e-100


def test_logits_that_are_far_apart_rule_out_nothing() -> None:
    """One temperature makes them right again: few rows are of a class that is 0, and many of small ones."""
    rng = np.random.default_rng(1)
    logits = 3.0 * rng.normal(size=(4_000, 3))
    logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
    label = (np.exp(logits).cumsum(axis=1) > rng.random((4_000, 1))).argmax(axis=1)
    own = 200.0 * (logits.max(axis=1) - logits[np.arange(4_000), label])
    assert np.count_nonzero(own > 745.0) > 5
    found = calibcli.fit(200.0 * logits, label, scale="logit").predict(200.0 * logits)
    lost = -np.log(found[np.arange(4_000), label]).mean() + logits[np.arange(4_000), label].mean()
    assert lost < 0.01


@pytest.mark.parametrize("method", OF_ALL)
def test_a_percentage_of_0_is_a_probability_of_0(method: ClassMethod) -> None:
    """It is no logit so far below another that it rounds to 0: such a class that is right costs 744."""
    rows = drawn(5, rows=400, classes=3)
    votes = np.floor(64.0 * rows.probability)
    votes[:, 0] = 64.0 - votes[:, 1:].sum(axis=1)
    shares = votes / 64.0
    assert (shares[np.arange(400), rows.label] == 0.0).any()
    label = np.array(rows.classes)[rows.label]
    of = partial(calibcli.fit, classes=rows.classes, multiclass=method.value)
    one, other = of(shares, label), of(100.0 * shares, label, scale="percent")
    assert other.to_dict()["parameters"] == one.to_dict()["parameters"]


@pytest.mark.parametrize("method", [ClassMethod.CONFIDENCE, ClassMethod.TOP_LABEL, ClassMethod.ONE_VS_REST])
@pytest.mark.parametrize("shared", [False, True])
def test_maps_of_one_score_say_what_they_limited(method: ClassMethod, shared: bool) -> None:  # noqa: FBT001
    """Also the one map of the confidence, and one that classes share."""
    rows = sharp(600)
    one = fitted(method, rows, least_rows=10_000 if shared else 20)
    assert any("within 2^-53 of 0 or 1; it was limited" in note for note in one.notes)


def test_maps_of_pairs_say_what_they_limited() -> None:
    """By the names of both classes."""
    one = fitted(ClassMethod.ONE_VS_ONE, sharp(600), least_rows=20)
    assert any(
        note.startswith("pair '") and "within 2^-53 of 0 or 1; it was limited" in note for note in one.notes
    )


def test_blocks_without_rows_tell_nothing() -> None:
    """A block may be left with none."""
    rows = sharp(300)

    class Gapped(Drawn):
        def blocks(self):  # type: ignore[no-untyped-def]  # noqa: ANN202
            yield from super().blocks()
            yield ClassBlock(np.empty((0, 4)), np.empty(0, np.int64))

    gapped = Gapped(rows.probability, rows.label, rows.classes)
    assert fitted(ClassMethod.TEMPERATURE, gapped) == fitted(ClassMethod.TEMPERATURE, rows)
