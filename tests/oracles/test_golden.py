"""Our numbers equal those of independent implementations, or differ by a named convention.

The comparisons and the recipe of each golden value are in `golden_table.py`, which prints them as a table.
"""

import math
from typing import Any

import numpy as np
import pytest

from calibcli.names import Binning
from calibcli.stats.measures.l2 import t_statistic
from calibcli.stats.table.bins import binned, bins_of
from oracles.golden_more import OF_FITS, OF_MEASURES
from oracles.golden_table import COMPARISONS, DATASETS, Comparison, compared, table_of

ALL = [*COMPARISONS, *OF_MEASURES]
PROMISED = [c for c in (*ALL, *OF_FITS) if c.tolerance is not None]
INFORMATIVE = [c for c in ALL if c.tolerance is None]
# How far the named convention carries others away from us on these tables.
FARTHEST = {
    "T, several scores in a bin": 5e-5,
    "KS": 0.2,
    "Kuiper": 0.2,
    "smECE": 2.5e-2,
    "smECE on the logit": 0.13,
    "ICI, by loess": 9e-3,
    "Cox's coefficients, U, logits limited": 0.12,
    "Cox's coefficients": 0.12,
}


def named(comparison: Comparison) -> str:
    """A test id."""
    return f"{comparison.name} ({comparison.implementation})"


@pytest.mark.parametrize("comparison", PROMISED, ids=named)
@pytest.mark.usefixtures("shared_data")
def test_numbers_are_those_of_others(comparison: Comparison) -> None:
    """Every golden record that speaks of the same number is met within its tolerance."""
    rows = list(compared(comparison))
    assert len(rows) >= 5
    for dataset, ours, theirs in rows:
        assert math.isfinite(ours), dataset
        assert ours == pytest.approx(theirs, rel=0, abs=comparison.tolerance), dataset


@pytest.mark.parametrize("comparison", INFORMATIVE, ids=named)
@pytest.mark.usefixtures("shared_data")
def test_other_conventions_are_not_far(comparison: Comparison) -> None:
    """Where others follow another convention, the rule is named, and the difference is as large as known."""
    assert comparison.why
    gaps = [abs(ours - theirs) for _, ours, theirs in compared(comparison)]
    assert 1e-9 < max(gaps) <= FARTHEST[comparison.name]


def test_every_record_kind_that_we_measure_is_compared(golden: Any) -> None:
    """No golden quantity that these measures compute is left out by oversight."""
    compared_kinds = {(c.quantity, c.implementation.split()[0]) for c in ALL}
    for quantity in {c.quantity for c in ALL}:
        for record in golden(quantity):
            theirs = record["implementation"]
            assert any(q == quantity and theirs.startswith(name) for q, name in compared_kinds), record


@pytest.mark.parametrize("dataset", DATASETS)
@pytest.mark.usefixtures("shared_data")
def test_t_is_the_mean_over_pairs_of_rows(dataset: str) -> None:
    """On real rows T is (1/n) sum over bins of n_k times the mean product of two different residuals."""
    table = table_of(dataset)
    bins = bins_of(Binning.EQUAL_WIDTH, 15, table=table)
    score = np.repeat(table.score, table.rows)
    label = np.concatenate(
        [np.arange(n) < p for n, p in zip(table.rows.tolist(), table.positive_rows.tolist(), strict=True)]
    )
    residual = label - score
    assert bins.edges is not None
    index = np.searchsorted(bins.edges[1:-1], score, side="left")
    total = 0.0
    for k in range(15):
        r = residual[index == k]
        if r.size >= 2:
            total += (math.fsum(r) ** 2 - math.fsum(r * r)) / (r.size - 1)
    assert t_statistic(binned(table, bins)) == pytest.approx(total / score.size, rel=0, abs=1e-13)
