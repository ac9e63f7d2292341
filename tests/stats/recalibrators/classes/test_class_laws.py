"""What every map of several classes obeys."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcli.codec import Node
from calibcli.documents.sealed import canonical_text
from calibcli.names import ClassMethod, EndsOf, OutputSum, RecalibratorName
from calibcli.stats.recalibrators.classes import ClassRecalibrator, class_recalibrator_class
from calibcli.stats.recalibrators.classes.members import OneVsRest
from fits_of_classes import Drawn, drawn, fitted

JOINT = (ClassMethod.TEMPERATURE, ClassMethod.VECTOR, ClassMethod.STRUCTURED, ClassMethod.MATRIX)
OTHERS = (RecalibratorName.VENN_ABERS, RecalibratorName.SCALING_BINNING, RecalibratorName.ISOTONIC)
MAPS = {
    f"{method}-{inner}": (method, inner)
    for method in ClassMethod
    for inner in (RecalibratorName.PLATT, *(() if method in JOINT else OTHERS))
}


@cache
def map_of(kind: str) -> ClassRecalibrator:
    """A map of four classes, fitted once."""
    method, inner = MAPS[kind]
    return fitted(method, drawn(3, rows=600, classes=4), inner)


@st.composite
def awkward(draw: st.DrawFn, classes: int = 4) -> np.ndarray:
    """Rows of probabilities with zeros, ones, ties and numbers that are hardly there."""
    value = st.one_of(
        st.sampled_from([0.0, 1e-320, 1e-12, 0.25, 0.5, 1.0]), st.floats(0.0, 1.0, allow_subnormal=True)
    )
    rows = np.array(
        draw(st.lists(st.lists(value, min_size=classes, max_size=classes), min_size=1, max_size=8))
    )
    rows[rows.sum(axis=1) < 1e-300] = 1.0
    return rows / rows.sum(axis=1, keepdims=True)


def restored(one: ClassRecalibrator, classes: tuple[str, ...]) -> ClassRecalibrator:
    """A map as it comes back from the text of an artifact."""
    text = canonical_text(one.to_dict())
    known = Node(json.loads(text)).knowing(method=one.name, classes=classes)
    return class_recalibrator_class(one.name).from_dict(known)


@pytest.mark.parametrize("kind", list(MAPS))
@given(rows=awkward())
@settings(max_examples=10)
def test_rows_stay_probabilities_of_the_classes(kind: str, rows: np.ndarray) -> None:
    """Each in [0, 1], rows sum to one, and where it is promised no predicted class changes, ties included."""
    after = map_of(kind).predict(rows)
    assert np.all((after >= 0.0) & (after <= 1.0))
    np.testing.assert_allclose(after.sum(axis=1), 1.0, rtol=0, atol=1e-9)
    if map_of(kind).keeps_prediction:
        assert np.array_equal(after.argmax(axis=1), rows.argmax(axis=1))


@pytest.mark.parametrize("kind", list(MAPS))
def test_restored_map_predicts_the_same_bits(kind: str) -> None:
    """What an artifact holds is all that a prediction needs."""
    rows = drawn(8, classes=4).probability
    again = restored(map_of(kind), drawn(8, classes=4).classes)
    assert again.predict(rows).tobytes() == map_of(kind).predict(rows).tobytes()
    assert again.to_dict() == map_of(kind).to_dict()


def test_some_maps_promise_to_keep_predictions_and_some_do_not() -> None:
    """Temperature does, and binned confidences above 1 / K do; a matrix does not."""
    keeping = {kind for kind in MAPS if map_of(kind).keeps_prediction}
    assert "temperature-platt" in keeping
    assert "confidence-scaling-binning" in keeping
    assert "matrix-platt" not in keeping


@given(rows=awkward(), step=st.floats(1e-17, 1e-15))
def test_temperature_keeps_predictions_that_differ_in_the_last_digit(rows: np.ndarray, step: float) -> None:
    """Logarithms round two neighbouring probabilities to one; the prediction is kept nevertheless."""
    rows = rows.copy()
    rows[:, 3] = np.nextafter(rows[:, 0], 1.0) + step
    kept = map_of("temperature-platt").predict(rows)
    assert np.array_equal(kept.argmax(axis=1), rows.argmax(axis=1))


@pytest.mark.parametrize("method", list(ClassMethod))
def test_naming_classes_in_another_order_permutes_the_map(method: ClassMethod) -> None:
    """Probabilities of permuted classes are the permuted probabilities."""
    rows, order = drawn(5, rows=500), [2, 0, 1]
    moved = Drawn(
        rows.probability[:, order],
        np.argsort(order)[rows.label],
        tuple(rows.classes[place] for place in order),
    )
    one, other = fitted(method, rows), fitted(method, moved)
    np.testing.assert_allclose(
        other.predict(moved.probability), one.predict(rows.probability)[:, order], rtol=0, atol=2e-6
    )


@pytest.mark.parametrize("method", list(ClassMethod))
def test_order_and_cut_of_the_rows_change_nothing(method: ClassMethod) -> None:
    """The same rows in another order and in other blocks give the same map, bit for bit."""
    rows = drawn(6, rows=300)
    order = np.random.default_rng(1).permutation(rows.label.size)
    moved = replace(rows, probability=rows.probability[order], label=rows.label[order], cut=17)
    assert fitted(method, moved).to_dict() == fitted(method, rows).to_dict()


@pytest.mark.parametrize("method", list(ClassMethod))
def test_frequencies_do_what_repeated_rows_do(method: ClassMethod) -> None:
    """A row that counts three times is three rows, bit for bit."""
    rows = drawn(7, rows=200)
    counts = np.random.default_rng(2).integers(1, 4, rows.label.size)
    repeated = replace(
        rows, probability=np.repeat(rows.probability, counts, axis=0), label=np.repeat(rows.label, counts)
    )
    assert fitted(method, replace(rows, counts=counts)).to_dict() == fitted(method, repeated).to_dict()


@pytest.mark.parametrize("kind", [kind for kind in MAPS if "venn-abers" in kind])
@given(rows=awkward())
@settings(max_examples=10)
def test_ends_bracket_what_they_belong_to(kind: str, rows: np.ndarray) -> None:
    """Of the predicted class always; of every class as its own map has it."""
    one = map_of(kind)
    after = one.predict(rows)
    found = one.ends(rows, after)
    if one.ends_of is None:
        assert found is None
        return
    assert found is not None
    inside = after[np.arange(after.shape[0]), after.argmax(axis=1)]
    if one.ends_of is EndsOf.CLASSES:
        assert isinstance(one, OneVsRest)
        inside = replace(one, output_sum=OutputSum.FREE).predict(rows)
    assert np.all(found.lower <= inside + 1e-12)
    assert np.all(inside <= found.upper + 1e-12)
