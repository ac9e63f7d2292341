"""Differences of losses of several classes, row by row."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta

from added_row import bounds as oracle
from calibcli.names import ClassMeasure, ComparisonName, MeasureName
from calibcli.stats.measures.classes.differences import JOINT, ClassDifferences, Predicted
from calibcli.stats.measures.differences import PAIRED, Difference
from class_rows import drawn_rows, softmax

C = ClassMeasure


def two_sides(
    rows: int = 300, *, seed: int = 0, classes: int = 3
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return probabilities, others that are drawn near them, and labels."""
    first, label = drawn_rows(rows, classes, seed=seed)
    noise = np.random.default_rng(seed + 1).normal(0.0, 0.7, first.shape)
    return first, softmax(np.log(first) + noise), label


def added(
    first: np.ndarray,
    second: np.ndarray,
    label: np.ndarray,
    *,
    counts: np.ndarray | None = None,
    weight: np.ndarray | None = None,
) -> ClassDifferences:
    """Return the sums of rows that come at once."""
    sums = ClassDifferences((0, 1, 2))
    sides = [Predicted(one, one.argmax(axis=1)) for one in (first, second)]
    sums.add_rows(*sides, label, counts=counts, weight=weight)
    return sums


def every_difference(sums: ClassDifferences) -> list[Difference | None]:
    """Return all that the sums say."""
    found: list[Difference | None] = [sums.joint_difference(name, confidence=0.9) for name in JOINT]
    parts = [
        sums.confidence,
        *(one(place) for place in range(3) for one in (sums.against_rest, sums.predicting)),
    ]
    found.extend(
        None if part is None else part.difference(name, confidence=0.9) for part in parts for name in PAIRED
    )
    return found


def slow_losses(probability: np.ndarray, label: np.ndarray) -> dict[ClassMeasure, np.ndarray]:
    """Return the losses of each row from their definitions."""
    hot = np.eye(probability.shape[1])[label]
    return {
        C.CLASS_LOG_LOSS: np.array([-np.log(p[y]) for p, y in zip(probability, label, strict=True)]),
        C.CLASS_BRIER: ((probability - hot) ** 2).sum(axis=1),
        C.ACCURACY: (probability.argmax(axis=1) == label).astype(float),
    }


@pytest.mark.parametrize("name", [C.CLASS_LOG_LOSS, C.CLASS_BRIER])
def test_differences_of_losses_are_those_of_their_definitions(name: ClassMeasure) -> None:
    """The mean of second less first, and its interval with the row added that loses most by one side."""
    first, second, label = two_sides()
    each = slow_losses(second, label)[name] - slow_losses(first, label)[name]
    found = added(first, second, label).joint_difference(name, confidence=0.9)
    worst = [2.0, 2.0] if name is C.CLASS_BRIER else [-np.log(side.min()) for side in (first, second)]
    expected = oracle(each, least=-worst[0], most=worst[1], confidence=0.9)
    assert found.interval is not None
    assert found.value == pytest.approx(each.mean(), abs=1e-14)
    ends = found.interval.lower, found.interval.upper
    assert ends == pytest.approx(expected, abs=0.01 * (expected[1] - expected[0]))


def test_difference_of_accuracies_is_bounded_at_every_number_of_rows() -> None:
    """By the Clopper-Pearson intervals at half the error of the rows that one side alone gets right."""
    first, second, label = two_sides(90, seed=5)
    right = [one.argmax(axis=1) == label for one in (first, second)]
    gained, lost = int((right[1] & ~right[0]).sum()), int((right[0] & ~right[1]).sum())
    found = added(first, second, label).joint_difference(C.ACCURACY, confidence=0.95)
    assert min(gained, lost) > 0
    low = [beta.ppf(0.0125, one, 91 - one) for one in (gained, lost)]
    high = [beta.ppf(0.9875, one + 1, 90 - one) for one in (gained, lost)]
    assert found.interval is not None
    assert found.interval.finite_sample
    assert found.value == pytest.approx((gained - lost) / 90)
    assert found.interval.lower == pytest.approx(low[0] - high[1], rel=1e-9)
    assert found.interval.upper == pytest.approx(high[0] - low[1], rel=1e-9)


def test_more_accuracy_is_better_and_more_loss_is_worse() -> None:
    """The verdict knows which way is up."""
    label = np.arange(3000) % 3
    sure = np.full((3000, 3), 0.1)
    sure[np.arange(3000), label] = 0.8
    wrong = np.roll(sure, 1, axis=1)
    for sides, verdict in (((wrong, sure), ComparisonName.BETTER), ((sure, wrong), ComparisonName.WORSE)):
        sums = added(*sides, label)
        assert sums.joint_difference(C.ACCURACY, confidence=0.95).verdict is verdict
    same = added(sure, sure, label)
    assert {same.joint_difference(name, confidence=0.95).verdict for name in JOINT} == {
        ComparisonName.NOT_TOLD_APART
    }


def test_views_differ_as_their_definitions_say() -> None:
    """The confidence by the label of each side; a class by the same rows on both sides, or not at all."""
    first, second, label = two_sides()
    sums = added(first, second, label)
    tops = [one.max(axis=1) for one in (first, second)]
    right = [one.argmax(axis=1) == label for one in (first, second)]
    squares = [(top - hit) ** 2 for top, hit in zip(tops, right, strict=True)]
    found = sums.confidence.difference(MeasureName.BRIER, confidence=0.95)
    assert found.value == pytest.approx((squares[1] - squares[0]).mean(), abs=1e-14)
    assert sums.changed == int((first.argmax(axis=1) != second.argmax(axis=1)).sum()) > 0
    for place in range(3):
        rest = sums.against_rest(place)
        assert rest is not None
        each = (second[:, place] - (label == place)) ** 2 - (first[:, place] - (label == place)) ** 2
        assert rest.difference(MeasureName.BRIER, confidence=0.95).value == pytest.approx(
            each.mean(), abs=1e-14
        )
        assert sums.predicting(place) is None
    cooler = softmax(0.5 * np.log(first))
    kept = added(first, cooler, label)
    for place in range(3):
        top, those = kept.predicting(place), first.argmax(axis=1) == place
        assert top is not None
        each = (cooler[those, place] - (label == place)[those]) ** 2
        each = each - (first[those, place] - (label == place)[those]) ** 2
        assert top.difference(MeasureName.BRIER, confidence=0.95).value == pytest.approx(
            each.mean(), abs=1e-14
        )
    assert kept.changed == 0
    assert kept.against_rest(7) is None


@given(st.integers(0, 2**32 - 1), st.sampled_from(["plain", "counts", "weight"]))
@settings(deadline=None, max_examples=15)
def test_order_and_parts_of_the_rows_do_not_matter(seed: int, kind: str) -> None:
    """Every difference has the same bits, whatever the order and the cut; counts are rows that repeat."""
    first, second, label = two_sides(60, seed=seed % 1000)
    generator = np.random.default_rng(seed)
    counts = generator.integers(0, 4, 60) if kind == "counts" else None
    weight = generator.exponential(size=60) if kind == "weight" else None
    whole = every_difference(added(first, second, label, counts=counts, weight=weight))
    order, cut = generator.permutation(60), int(generator.integers(1, 59))

    def part(which: np.ndarray) -> ClassDifferences:
        return added(
            first[which],
            second[which],
            label[which],
            counts=None if counts is None else counts[which],
            weight=None if weight is None else weight[which],
        )

    parts = part(order[:cut])
    parts.merge(part(order[cut:]))
    assert every_difference(parts) == whole
    if counts is not None:
        many = np.repeat(np.arange(60), counts)
        for one, two in zip(
            whole, every_difference(added(first[many], second[many], label[many])), strict=True
        ):
            assert (one is None) == (two is None)
            assert one is None or two is None or one.value == pytest.approx(two.value, abs=1e-15)
