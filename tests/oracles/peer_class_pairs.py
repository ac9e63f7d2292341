"""Our measures and maps of the digits, pair by pair beside what packages made of them (`class_peers.py`)."""

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from calibcli.names import ClassMeasure, ClassMethod, OutputSum, RecalibratorName
from calibcli.options.fitting import FitOptions
from calibcli.stats.measures.classes import class_measure
from calibcli.stats.recalibrators.classes import ClassRecalibrator
from calibcli.stats.recalibrators.classes.one_vs_one import OneVsOne
from calibcli.stats.recalibrators.classes.temperature import ClassTemperature
from calibcli.stats.recalibrators.classes.top_label import TopLabel
from calibcli.stats.recalibrators.isotonic import Isotonic
from calibcli.stats.table import Floats, Integers, ScoreTable
from class_rows import softmax, views_of
from fits_of_classes import Drawn, fitted
from oracles.class_agreement import (
    Pair,
    confidence_ece,
    log_loss,
    row_pairs,
)
from oracles.class_peers import apart_half, forest_half, half

PEERS: dict[str, Any] = json.loads((Path(__file__).parent / "class_peers.json").read_text())
NAMES = tuple(map(str, range(10)))
R = RecalibratorName
M = ClassMethod
Halves = tuple[Drawn, Drawn]
# What the peers limit a probability to inside the logarithm of the loss.
LEAST = 1e-9


def _both(read: Callable[[str], tuple[np.ndarray, np.ndarray]], *, turned: bool = False) -> Halves:
    found = []
    for name in ("calibration", "evaluation"):
        probability, label = read(name)
        label = label.astype(np.int64)
        if turned:
            probability, label = np.ascontiguousarray(probability[:, ::-1]), 9 - label
        found.append(Drawn(probability, label, NAMES))
    return found[0], found[1]


@cache
def bayes() -> Halves:
    """Return both halves by naive Bayes, as `class_peers.py` has them."""
    return _both(half)


@cache
def forest() -> Halves:
    """Return both halves by the random forest."""
    return _both(forest_half)


@cache
def apart() -> Halves:
    """Return the same with nothing at 0 and nothing repeated."""
    return _both(apart_half)


@cache
def measured(sets: Callable[[], Halves]) -> dict[str, float]:
    """Return our measures of the evaluation half, by the names of the peers' ones."""
    test = sets()[1]
    views = views_of(test.probability, test.label)
    ece = confidence_ece(test.probability, test.label)
    return {
        "sklearn_log_loss": class_measure(ClassMeasure.CLASS_LOG_LOSS, views).value,
        "sklearn_brier": class_measure(ClassMeasure.CLASS_BRIER, views).value,
        "mapie_top_label_ece": class_measure(ClassMeasure.TOP_LABEL_ECE_UNWEIGHTED, views).value,
        "torchmetrics_ece": ece,
        "uncertainty_ece": ece,
        "uncertainty_marginal_l2": float(class_measure(ClassMeasure.MARGINAL_L2, views).details["plug_in"]),
    }


def of_measure(name: str) -> Iterator[Pair]:
    """Yield a measure of both models."""
    yield "naive Bayes", measured(bayes)[name], PEERS["measures"][name]
    yield "forest", measured(forest)[name], PEERS["forest_measures"][name]


def of_single() -> Iterator[Pair]:
    """Yield the error of the confidence, summed in 32-bit floats over 15 bins [a, b)."""
    for sets, name, theirs in ((bayes, "naive Bayes", "measures"), (forest, "forest", "forest_measures")):
        test = sets()[1]
        score = test.probability.max(axis=1).astype(np.float32)
        right = (test.probability.argmax(axis=1) == test.label).astype(np.float32)
        place = np.searchsorted(np.linspace(0, 1, 16, dtype=np.float32), score, side="right")
        gaps = [
            abs(np.cumsum(right[some])[-1] - np.cumsum(score[some])[-1])
            for some in (np.flatnonzero(place == one) for one in np.unique(place))
        ]
        yield name, float(sum(gaps)) / score.size, PEERS[theirs]["torchmetrics_ece"]


@cache
def fit(
    method: ClassMethod, inner: RecalibratorName, sets: Callable[[], Halves] = bayes
) -> ClassRecalibrator:
    """Return a map fitted to the calibration half, every class or pair by itself."""
    return fitted(method, sets()[0], inner, least_rows=1)


@cache
def after(method: ClassMethod, inner: RecalibratorName, sets: Callable[[], Halves] = bayes) -> Floats:
    """Return the evaluation half after it."""
    return fit(method, inner, sets).predict(sets()[1].probability)


def of_map(
    peer: str, method: ClassMethod, inner: RecalibratorName, sets: Callable[[], Halves] = bayes
) -> Iterator[Pair]:
    """Yield the first rows and the log loss after a map."""
    found = after(method, inner, sets)
    yield from row_pairs(found, PEERS[peer]["first"])
    yield "log loss", log_loss(found, sets()[1].label, LEAST), PEERS[peer]["log_loss"]


def of_temperature() -> Iterator[Pair]:
    """Yield 1 / T of naive Bayes."""
    one = fit(M.TEMPERATURE, R.PLATT)
    assert isinstance(one, ClassTemperature)
    yield "naive Bayes", 1.0 / one.temperature, 1.0 / PEERS["sklearn_temperature"]["temperature"]


def of_confidence(*, own: bool) -> Iterator[Pair]:
    """Yield the confidence after top-label maps, of classes with a map of their own or of the others."""
    one = fit(M.TOP_LABEL, R.ISOTONIC)
    assert isinstance(one, TopLabel)
    theirs = PEERS["mapie_top_label_isotonic"]["confidence"]
    predicted = bayes()[1].probability[: len(theirs)].argmax(axis=1)
    found = after(M.TOP_LABEL, R.ISOTONIC)[np.arange(len(theirs)), predicted]
    some = np.isin(predicted, [int(name) for name in one.members.own])
    for row in np.flatnonzero(some if own else ~some):
        yield f"row {row + 1}, predicted {predicted[row]}", float(found[row]), theirs[row]


def of_confidence_alone() -> Iterator[Pair]:
    """Yield the confidence of the others after isotonic fits to the rows that predict each class."""
    fit_rows, test = bayes()
    of_fit, of_test = (rows.probability.argmax(axis=1) for rows in (fit_rows, test))
    for where, _, theirs in of_confidence(own=False):
        row = int(where.split(",")[0].removeprefix("row ")) - 1
        some = np.flatnonzero(of_fit == of_test[row])
        top = fit_rows.probability[some].max(axis=1)
        alone = Isotonic.fit(ScoreTable.from_rows(top, fit_rows.label[some] == of_test[row]))
        yield where, float(alone.predict(test.probability[[row]].max(axis=1))[0]), theirs


def of_temperature_loss() -> Iterator[Pair]:
    """Yield the log loss of the fit rows at our temperature and at theirs."""
    one, fit_rows = fit(M.TEMPERATURE, R.PLATT), bayes()[0]
    assert isinstance(one, ClassTemperature)
    both = (one.temperature, PEERS["sklearn_temperature"]["temperature"])
    losses = [log_loss(softmax(np.log(fit_rows.probability) / at), fit_rows.label) for at in both]
    yield "naive Bayes", losses[0], losses[1]


def of_vector_loss() -> Iterator[Pair]:
    """Yield the least log loss of the fit rows."""
    ours = log_loss(fit(M.VECTOR, R.PLATT).predict(bayes()[0].probability), bayes()[0].label)
    yield "naive Bayes", ours, PEERS["torch_vector"]["fit_log_loss"]


@cache
def after_binning() -> Floats:
    """Return the evaluation half after scaling-binning of each class by itself, not divided by sums."""
    one = fitted(
        M.ONE_VS_REST,
        bayes()[0],
        R.SCALING_BINNING,
        output_sum=OutputSum.FREE,
        inner_options=FitOptions(bins=10),
    )
    return one.predict(bayes()[1].probability)


def of_binning(peer: str) -> Iterator[Pair]:
    """Yield the first rows after scaling-binning."""
    yield from row_pairs(after_binning(), PEERS[peer]["first"])


def rows_with_a_pair_of_zeros() -> Integers:
    """Return which rows of the forest have two probabilities of 0."""
    return np.flatnonzero((forest()[1].probability == 0.0).sum(axis=1) >= 2)


def of_forest(after_maps: Callable[[], Floats], *, zeros: bool) -> Iterator[Pair]:
    """Yield the rows of the forest after Venn-Abers of pairs, with two probabilities of 0 or without."""
    theirs = PEERS["forest_venn_abers_one_vs_one"]["first"]
    some = np.isin(np.arange(len(theirs)), rows_with_a_pair_of_zeros())
    yield from row_pairs(after_maps(), theirs, np.flatnonzero(some if zeros else ~some))


def plain_forest() -> Floats:
    """Return the forest after Venn-Abers of pairs."""
    return after(M.ONE_VS_ONE, R.VENN_ABERS, forest)


@cache
def turned_forest() -> Floats:
    """Return the same with the classes told in reverse order."""
    fit_rows, test = _both(forest_half, turned=True)
    one = fitted(M.ONE_VS_ONE, fit_rows, R.VENN_ABERS, least_rows=1)
    return one.predict(test.probability)[:, ::-1]


@cache
def forest_with_zeros_above_all() -> Floats:
    """Return the same where a pair of zeros ranks above all scores, as 0 / 0 does there."""
    fit_rows, test = _both(forest_half, turned=True)
    one = fitted(M.ONE_VS_ONE, fit_rows, R.VENN_ABERS, least_rows=1)
    assert isinstance(one, OneVsOne)
    inverse = np.zeros_like(test.probability)
    for (first, second), member in one.pairs.items():
        both = test.probability[:, first] + test.probability[:, second]
        share = np.where(both > 0.0, test.probability[:, first] / np.where(both > 0.0, both, 1.0), 1.0)
        ahead = member.predict(share)
        inverse[:, first] += 1.0 / ahead
        inverse[:, second] += 1.0 / (1.0 - ahead)
    found = 1.0 / (inverse - (len(NAMES) - 2.0))
    return np.asarray(found / found.sum(axis=1, keepdims=True))[:, ::-1]
