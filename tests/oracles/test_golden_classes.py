"""Our numbers of several classes equal those of independent implementations on real predictions."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from calibcli.measures.binned_ece import binned_ece
from calibcli.measures.classes import ClassViews, class_measure
from calibcli.measures.l2 import debiased_l2
from calibcli.measures.l2_plug_in import plug_in_l2
from calibcli.names import Binning
from calibcli.table.bins import bins_of
from calibcli.view_names import ClassMeasure
from class_rows import views_of

C = ClassMeasure
DATASET = "cifar10_lenet5"
# The package takes the variance of the label in a bin for that of label - score.
OTHER_VARIANCE = 5e-5
NEEDED = {
    "ece_top_label": (),
    "ece_marginal": (C.CLASSWISE_ECE,),
    "classwise_ece": (C.CLASSWISE_ECE,),
    "top_label_ece_gupta_ramdas": (C.TOP_LABEL_ECE, C.TOP_LABEL_ECE_UNWEIGHTED),
    "l2_calibration_error": (C.MARGINAL_L2,),
    "l2_squared_marginal_unbiased_unclipped": (C.MARGINAL_L2,),
    "log_loss": (C.CLASS_LOG_LOSS,),
    "brier": (C.CLASS_BRIER,),
}


@pytest.fixture(scope="module")
def views(shared_data: Path) -> Callable[[int, Binning], ClassViews]:
    """Return a function that gives the views of the rows over bins."""
    table = pq.read_table(shared_data / f"{DATASET}.parquet")
    probability = np.stack([table[f"p_{place}"].to_numpy() for place in range(10)], axis=1)
    label = table["label"].to_numpy()
    return cache(lambda count, binning: views_of(probability, label, count=count, binning=binning))


def ours(record: Any, views: ClassViews, binning: Binning) -> list[tuple[float, float, float]]:
    """Return our numbers, theirs and the largest difference allowed."""
    asked, theirs, quantity = record["params"], record["value"], record["quantity"]
    bins = bins_of(binning, asked.get("bins", 15), table=views.whole)
    found = {name: class_measure(name, views) for name in NEEDED[quantity]}
    if quantity == "top_label_ece_gupta_ramdas":
        return [
            (found[C.TOP_LABEL_ECE].value, theirs["weighted"], 1e-12),
            (found[C.TOP_LABEL_ECE_UNWEIGHTED].value, theirs["unweighted"], 1e-12),
        ]
    if quantity == "l2_squared_marginal_unbiased_unclipped":
        return [(float(found[C.MARGINAL_L2].details["t"]), theirs["mean_unclipped"], OTHER_VARIANCE)]
    if quantity == "l2_calibration_error":
        if asked["mode"] == "marginal":
            pair = found[C.MARGINAL_L2].value, float(found[C.MARGINAL_L2].details["plug_in"])
        else:
            pair = debiased_l2(views.whole, bins=bins).value, plug_in_l2(views.whole, bins=bins).value
        return [(pair[0], theirs, OTHER_VARIANCE) if asked["debias"] else (pair[1], theirs, 1e-12)]
    if quantity == "ece_top_label":
        return [(binned_ece(views.whole, bins=bins).value, theirs, 1e-12)]
    half = 0.5 if asked.get("scale_by_half") else 1.0
    return [(half * found[NEEDED[quantity][0]].value, theirs, 1e-12)]


@pytest.mark.parametrize("quantity", NEEDED)
def test_values_are_those_of_other_packages(golden: Any, views: Any, quantity: str) -> None:
    """
    Binned errors, l2 plug-in, log loss and Brier score agree to 1e-12, debiased l2 to 5e-5.

    The records are those of uncertainty-calibration 0.1.4, scikit-learn 1.9.1 and of reference formulas; the
    largest differences are 6e-17, and 4.4e-5 for the debiased l2, whose variance is that of the label there.
    """
    records = golden(quantity, DATASET)
    assert records
    for record in records:
        asked = record["params"]
        binning = Binning(asked.get("binning", "equal_width").replace("_", "-"))
        seen = views(asked.get("bins", 15), binning)
        for mine, theirs, allowed in ours(record, seen, binning):
            assert mine == pytest.approx(theirs, abs=allowed), record
