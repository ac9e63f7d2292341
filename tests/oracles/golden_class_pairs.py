"""Our numbers of ten classes, pair by pair beside golden records: measures, and maps of half the rows."""

import json
import math
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

from calibcli.names import Binning, ClassMeasure, ClassMethod, RecalibratorName
from calibcli.stats.measures.binned import binned_ece
from calibcli.stats.measures.classes import ClassViews, class_measure
from calibcli.stats.measures.l2 import debiased_l2, plug_in_l2
from calibcli.stats.measures.smooth_ece import smooth_ece
from calibcli.stats.recalibrators.classes.temperature import ClassTemperature
from calibcli.stats.table import Floats
from calibcli.stats.table.bins import binned, bins_of
from class_rows import softmax, views_of
from fits_of_classes import Drawn, fitted
from oracles.class_agreement import (
    Pair,
    accuracy,
    brier,
    confidence_ece,
    log_loss,
    row_pairs,
)
from oracles.golden_table import FOLDER, kumar_form

DATASET = "cifar10_lenet5"
C = ClassMeasure
Record = dict[str, Any]
Reading = Callable[[Record], Iterator[Pair]]


@cache
def records() -> list[Record]:
    """Return every record of ten classes."""
    found = json.loads((FOLDER / "golden.json").read_text())["records"]
    return [record for record in found if record["dataset"] == DATASET]


@cache
def rows() -> Drawn:
    """Return the predictions."""
    import pandas as pd

    frame = pd.read_parquet(FOLDER / f"{DATASET}.parquet")
    names = tuple(map(str, range(10)))
    probability = frame[[f"p_{name}" for name in names]].to_numpy(np.float64)
    return Drawn(probability, frame["label"].to_numpy().astype(np.int64), names)


@cache
def halves() -> tuple[Drawn, Drawn]:
    """Return the rows that are fitted, and the others."""
    whole = rows()
    return tuple(
        Drawn(whole.probability[some], whole.label[some], whole.classes)
        for some in (slice(None, 5_000), slice(5_000, None))
    )  # type: ignore[return-value, unused-ignore]


@cache
def views(count: int, binning: Binning) -> ClassViews:
    """Return the views of the rows over bins."""
    return views_of(rows().probability, rows().label, count=count, binning=binning)


@cache
def temperature() -> float:
    """Return ours."""
    return fitted(ClassMethod.TEMPERATURE, halves()[0]).temperature


@cache
def after_temperature() -> Floats:
    """Return the second half of the rows at our temperature."""
    return ClassTemperature(temperature()).predict(halves()[1].probability)


@cache
def after_pairs() -> Floats:
    """Return the second half of the rows after Venn-Abers of pairs."""
    fit, test = halves()
    return fitted(ClassMethod.ONE_VS_ONE, fit, RecalibratorName.VENN_ABERS).predict(test.probability)


def requested(record: Record) -> tuple[ClassViews, Binning, str]:
    """Return the views, the bins and their name that a record speaks of."""
    count = record["params"].get("bins", 15)
    binning = Binning(record["params"].get("binning", "equal_width").replace("_", "-"))
    return views(count, binning), binning, f"{count} {binning.value} bins"


def measured(name: ClassMeasure, part: str | None = None, *, scale: float = 1.0) -> Reading:
    """Return a reading of a measure, or of the part of the record's value that is asked for."""

    def read(record: Record) -> Iterator[Pair]:
        seen, _, where = requested(record)
        half = 0.5 if record["params"].get("scale_by_half") else scale
        theirs = record["value"] if part is None else record["value"][part]
        yield (
            where if "bins" in record["params"] else "all rows",
            half * class_measure(name, seen).value,
            theirs,
        )

    return read


def confidence_error(record: Record) -> Iterator[Pair]:
    """Yield the binned error of the confidence."""
    seen, binning, where = requested(record)
    bins = bins_of(binning, record["params"]["bins"], table=seen.whole)
    yield where, binned_ece(seen.whole, bins=bins).value, record["value"]


def confidence_smooth(record: Record) -> Iterator[Pair]:
    """Yield the smooth error of the confidence."""
    yield "all rows", smooth_ece(views(15, Binning.EQUAL_WIDTH).whole).value, record["value"]["smece"]


def squared_error(record: Record) -> Iterator[Pair]:
    """Yield l2 as measured, of the confidence or of all classes."""
    seen, binning, where = requested(record)
    debias = record["params"]["debias"]
    if record["params"]["mode"] == "marginal":
        found = class_measure(C.MARGINAL_L2, seen)
        yield where, found.value if debias else float(found.details["plug_in"]), record["value"]
    else:
        bins = bins_of(binning, record["params"]["bins"], table=seen.whole)
        measure = debiased_l2 if debias else plug_in_l2
        yield where, measure(seen.whole, bins=bins).value, record["value"]


def squared_error_their_way(record: Record) -> Iterator[Pair]:
    """Yield debiased l2 with their variance from our sums."""
    seen, binning, where = requested(record)
    if record["params"]["mode"] == "marginal":
        squares = [max(kumar_form(one.sums), 0.0) for one in seen.rest]
    else:
        bins = bins_of(binning, record["params"]["bins"], table=seen.whole)
        squares = [max(kumar_form(binned(seen.whole, bins)), 0.0)]
    yield where, math.sqrt(np.mean(squares)), record["value"]


def unclipped(record: Record) -> Iterator[Pair]:
    """Yield the mean of T over classes."""
    seen, _, where = requested(record)
    ours = float(class_measure(C.MARGINAL_L2, seen).details["t"])
    yield where, ours, record["value"]["mean_unclipped"]


def unclipped_their_way(record: Record) -> Iterator[Pair]:
    """Yield their form from our sums, class by class and over all of them."""
    seen, _, where = requested(record)
    ours = [kumar_form(one.sums) for one in seen.rest]
    theirs = record["value"]
    for place, pair in enumerate(zip(ours, theirs["per_class"], strict=True)):
        yield f"{where}, class {place}", *pair
    yield where, float(np.mean(ours)), theirs["mean_unclipped"]
    yield where, float(np.mean(np.maximum(ours, 0.0))), theirs["mean_clipped"]


def slope(record: Record) -> Iterator[Pair]:
    """Yield 1 / T."""
    theirs = record["value"]
    yield variant(record), 1.0 / temperature(), theirs.get("beta", 1.0 / theirs["T"])


def loss_at_theirs(record: Record) -> Iterator[Pair]:
    """Yield the log loss of the fit rows at our temperature and at theirs."""
    fit = halves()[0]
    logits = np.log(fit.probability)
    both = (log_loss(softmax(logits / at), fit.label) for at in (temperature(), record["value"]["T"]))
    yield variant(record), *both


def variant(record: Record) -> str:
    """Return how a record differs from others of its quantity."""
    return str(record["params"].get("method", record["params"].get("logits")))


def least_loss(record: Record) -> Iterator[Pair]:
    """Yield the least log loss of the fit rows."""
    fit = halves()[0]
    ours = log_loss(softmax(np.log(fit.probability) / temperature()), fit.label)
    yield "all fit rows", ours, record["value"]["fit_nll"]


def fitted_rows(after: Callable[[], Floats], record: Record) -> Iterator[Pair]:
    """Yield the first rows that were not fitted."""
    yield from row_pairs(after(), record["value"]["first_rows"])


def fitted_losses(after: Callable[[], Floats], record: Record) -> Iterator[Pair]:
    """Yield log loss, Brier score, accuracy and ECE of all rows that were not fitted, as far as recorded."""
    found, label = after(), halves()[1].label
    measures = {
        "test_log_loss": log_loss,
        "test_brier": brier,
        "test_accuracy": accuracy,
        "test_ece15_top": confidence_ece,
    }
    for name, measure in measures.items():
        if name in record["value"]:
            yield name.removeprefix("test_").replace("_", " "), measure(found, label), record["value"][name]


def tempered_all(record: Record) -> Iterator[Pair]:
    """Yield both at our temperature."""
    yield from fitted_rows(after_temperature, record)
    yield from fitted_losses(after_temperature, record)
