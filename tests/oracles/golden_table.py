"""Our numbers beside those of independent implementations, on real predictions.

Run `python tests/oracles/golden_table.py` for the table in the documentation; `test_golden.py` holds the same
comparisons to their tolerances. The records, with the call that made each, are in
`shared/data/golden.json` beside the repository; the folder is not part of the project.
"""

import json
import math
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from calibcli.names import Binning
from calibcli.stats.measures.binned import binned_ece
from calibcli.stats.measures.l2 import l2_squared_plug_in, t_statistic
from calibcli.stats.measures.scores import brier, certain_and_wrong, log_loss
from calibcli.stats.measures.smooth_ece import smooth_ece
from calibcli.stats.measures.tests import ks_and_kuiper, spiegelhalter
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.bins import BinnedTable, Bins, binned, bins_of
from calibcli.stats.table.kernel import residual_series

FOLDER = Path(__file__).resolve().parents[2].parent / "shared" / "data"
DATASETS = [
    "recid_compas",
    "recid_logit",
    "snacks",
    "calzone_subgroup",
    "markus93_resnet110_c10",
    "imagenet_timm_resnet34",
    "imagenet_tv_densenet161",
]
Record = dict[str, Any]
REFERENCE = "reference formula"
KUMAR = "uncertainty-calibration"


@dataclass(frozen=True, slots=True)
class Comparison:
    """One kind of number, ours and theirs.

    Args:
        name: What is compared.

        quantity: The quantity of the golden records.

        implementation: How the implementation's name begins.

        tolerance: Largest difference allowed; None where theirs follows another convention.

        applies: Which records speak of the same number.

        pairs: Ours and theirs, from a table and a record.

        why: For a comparison that is for information, the rule that makes the difference.
    """

    name: str
    quantity: str
    implementation: str
    tolerance: float | None
    pairs: Callable[[ScoreTable, Record], list[tuple[float, float]]]
    applies: Callable[[ScoreTable, Record], bool] = lambda _table, _record: True
    why: str = ""


@cache
def rows_of(dataset: str) -> tuple[np.ndarray, np.ndarray]:
    """Return scores and labels, as booleans, of a real data set in their order."""
    import pandas as pd

    parquet = FOLDER / f"{dataset}.parquet"
    frame = pd.read_parquet(parquet) if parquet.exists() else pd.read_csv(FOLDER / f"{dataset}.csv")
    return frame["score"].to_numpy(np.float64), frame["label"].to_numpy() == 1


@cache
def table_of(dataset: str) -> ScoreTable:
    """Return the table of a real data set."""
    return ScoreTable.from_rows(*rows_of(dataset))


@cache
def records() -> list[Record]:
    """Return every golden record."""
    return list(json.loads((FOLDER / "golden.json").read_text())["records"])


def partition(table: ScoreTable, record: Record) -> Bins:
    """Return the partition a record speaks of."""
    params = record["params"]
    mass = params.get("binning") == "equal_mass" or record["quantity"] == "ece_equal_mass"
    return bins_of(Binning.EQUAL_MASS if mass else Binning.EQUAL_WIDTH, params["bins"], table=table)


def sums_of(table: ScoreTable, record: Record) -> BinnedTable:
    """Return the sums over the partition a record speaks of."""
    return binned(table, partition(table, record))


def ece_pair(table: ScoreTable, record: Record) -> list[tuple[float, float]]:
    """Plug-in ECE."""
    ours = binned_ece(table, bins=partition(table, record)).value
    theirs = record["value"]
    return [(ours, theirs["ece"] if isinstance(theirs, dict) else theirs)]


def reference_pairs(table: ScoreTable, record: Record) -> list[tuple[float, float]]:
    """Plug-in ECE, root mean square, largest gap and counts of every bin."""
    sums, theirs = sums_of(table, record), record["value"]
    some = sums.occupied
    largest = float((np.abs(sums.residual[some]) / sums.weight[some]).max())
    ours = [ece_pair(table, record)[0][0], math.sqrt(l2_squared_plug_in(sums)), largest]
    counts = [float(n) for n in sums.rows]
    return [
        *zip(ours, (theirs["ece"], theirs["rms"], theirs["mce"]), strict=True),
        *zip(counts, map(float, theirs["counts"]), strict=True),
    ]


def one_score_in_every_bin(table: ScoreTable, record: Record) -> bool:
    """Whether no bin holds two different scores: then both debiased forms are the same number."""
    return int(np.diff(sums_of(table, record).starts).max()) <= 1


def binary(_table: ScoreTable, record: Record) -> bool:
    """Whether a record speaks of a binary table and not of classes."""
    return "mode" not in record["params"]


def kumar_form(sums: BinnedTable) -> float:
    """Kumar's debiased squared error, which subtracts Var(y) and gives bins of one row no weight."""
    two = sums.rows >= 2
    n, mean = sums.weight[two], sums.positive[two] / sums.weight[two]
    gap = sums.residual[two] / n
    return float((n * (gap**2 - mean * (1.0 - mean) / (n - 1.0))).sum()) / sums.total


def debiased_pair(table: ScoreTable, record: Record) -> list[tuple[float, float]]:
    """The debiased squared l2 error T."""
    return [(t_statistic(sums_of(table, record)), record["value"])]


def plug_in_pair(table: ScoreTable, record: Record) -> list[tuple[float, float]]:
    """The plug-in l2 error."""
    return [(math.sqrt(l2_squared_plug_in(sums_of(table, record))), record["value"])]


def debiased_root_pair(table: ScoreTable, record: Record) -> list[tuple[float, float]]:
    """The debiased l2 error, 0 where T is negative."""
    return [(math.sqrt(max(t_statistic(sums_of(table, record)), 0.0)), record["value"])]


def kumar_pair(table: ScoreTable, record: Record) -> list[tuple[float, float]]:
    """Their form from our sums: shows that bins and sums agree and only the form differs."""
    return [(kumar_form(sums_of(table, record)), record["value"])]


def cumulative_pairs(table: ScoreTable, record: Record) -> list[tuple[float, float]]:
    """KS and Kuiper with ties collapsed."""
    theirs = record["value"]["ties_collapsed"]
    ks, kuiper = ks_and_kuiper(table)
    return [(float(ks.statistic or 0), theirs["ks"]), (float(kuiper.statistic or 0), theirs["kuiper"])]


def p_value_pairs(table: ScoreTable, record: Record) -> list[tuple[float, float]]:
    """Logarithms of the p-values, so that those of 1e-38 count."""
    theirs = record["value"]
    if record["quantity"] == "spiegelhalter":
        both = [(spiegelhalter(table).p_value, theirs["p_two_sided"])]
    else:
        ks, kuiper = ks_and_kuiper(table)
        theirs = theirs["ties_collapsed"]
        both = [(ks.p_value, theirs["ks_p"]), (kuiper.p_value, theirs["kuiper_p"])]
    return [(math.log(max(float(mine or 0), 1e-300)), math.log(max(other, 1e-300))) for mine, other in both]


def spiegelhalter_pairs(table: ScoreTable, record: Record) -> list[tuple[float, float]]:
    """Spiegelhalter's Z."""
    theirs = record["value"]
    z = theirs["z"] if isinstance(theirs, dict) else theirs
    return [(float(spiegelhalter(table).statistic or 0), z)]


def statistic_pair(index: int) -> Callable[[ScoreTable, Record], list[tuple[float, float]]]:
    """KS (0) or Kuiper (1)."""
    return lambda table, record: [(float(ks_and_kuiper(table)[index].statistic or 0), record["value"])]


def smece_pair(table: ScoreTable, record: Record) -> list[tuple[float, float]]:
    """SmECE at its fixpoint."""
    return [(smooth_ece(table).value, record["value"]["smece"])]


def smece_sigma_pair(table: ScoreTable, record: Record) -> list[tuple[float, float]]:
    """SmECE at a fixed bandwidth."""
    return [(float(residual_series(table).l1_norm(record["params"]["sigma"])), record["value"])]


def mce_pair(table: ScoreTable, record: Record) -> list[tuple[float, float]]:
    """The largest gap of a bin."""
    sums = sums_of(table, record)
    some = sums.occupied
    return [(float((np.abs(sums.residual[some]) / sums.weight[some]).max()), record["value"])]


def fixed(table: ScoreTable, record: Record) -> bool:
    """Whether a reference record follows our rule: closed on the right, edges k / B."""
    del table
    return bool(record["params"]["closed"] == "right" and record["params"]["edges"] == "k/B")


def no_edge_is_hit(table: ScoreTable, record: Record) -> bool:
    """Whether no score lies on an inner edge, at 0 or at 1, so that every closing rule gives one number."""
    count = record["params"]["bins"]
    edges = np.concatenate((np.arange(count + 1) / count, np.linspace(0, 1, count + 1)))
    return not np.isin(table.score, edges).any()


COMPARISONS = [
    Comparison(
        "ECE, rms, max gap, counts, equal width", "ece_equal_width", REFERENCE, 1e-9, reference_pairs, fixed
    ),
    Comparison("ECE, equal width", "ece_equal_width", KUMAR, 1e-9, ece_pair),
    Comparison(
        "ECE, equal width, no score on an edge", "ece_equal_width", "relplot", 1e-9, ece_pair, no_edge_is_hit
    ),
    Comparison(
        "ECE, equal width, no score on an edge", "ece_equal_width", "hollance", 1e-9, ece_pair, no_edge_is_hit
    ),
    Comparison(
        "max gap, equal width, no score on an edge",
        "mce_equal_width",
        "hollance",
        1e-9,
        mce_pair,
        no_edge_is_hit,
    ),
    Comparison("ECE, equal mass", "ece_equal_mass", KUMAR, 1e-9, ece_pair),
    Comparison(
        "l2, plug-in",
        "l2_calibration_error",
        KUMAR,
        1e-9,
        plug_in_pair,
        lambda table, record: binary(table, record) and record["params"]["debias"] is False,
    ),
    Comparison(
        "l2, debiased, one score in a bin",
        "l2_calibration_error",
        KUMAR,
        1e-9,
        debiased_root_pair,
        lambda table, record: (
            binary(table, record)
            and record["params"]["debias"] is True
            and one_score_in_every_bin(table, record)
        ),
    ),
    Comparison(
        "T, one score in a bin",
        "l2_squared_calibration_error_unbiased_unclipped",
        KUMAR,
        1e-9,
        debiased_pair,
        one_score_in_every_bin,
    ),
    Comparison(
        "T in their form, from our sums",
        "l2_squared_calibration_error_unbiased_unclipped",
        KUMAR,
        1e-9,
        kumar_pair,
    ),
    Comparison(
        "T, several scores in a bin",
        "l2_squared_calibration_error_unbiased_unclipped",
        KUMAR,
        None,
        debiased_pair,
        lambda table, record: not one_score_in_every_bin(table, record),
        why="they subtract Var(y) in a bin, we the variance of y - f",
    ),
    Comparison(
        "Brier score",
        "brier",
        "scikit-learn",
        1e-9,
        lambda table, record: [(brier(table).value, record["value"])],
    ),
    Comparison(
        "log loss, no certain and wrong row",
        "log_loss",
        "scikit-learn",
        1e-9,
        lambda table, record: [(log_loss(table).value, record["value"])],
        lambda table, _record: certain_and_wrong(table) == 0,
    ),
    Comparison("KS, Kuiper, ties collapsed", "ks_kuiper", REFERENCE, 1e-9, cumulative_pairs),
    Comparison("KS, Kuiper, log of p-values", "ks_kuiper", REFERENCE, 1e-9, p_value_pairs),
    Comparison(
        "KS",
        "ks_statistic",
        "MAPIE",
        None,
        statistic_pair(0),
        why="ties broken at random, path without its start at 0",
    ),
    Comparison(
        "Kuiper",
        "kuiper_statistic",
        "MAPIE",
        None,
        statistic_pair(1),
        why="ties broken at random, path without its start at 0",
    ),
    Comparison("Spiegelhalter Z", "spiegelhalter", REFERENCE, 1e-9, spiegelhalter_pairs),
    Comparison("Spiegelhalter, log of p-value", "spiegelhalter", REFERENCE, 1e-9, p_value_pairs),
    Comparison("Spiegelhalter Z", "spiegelhalter_statistic", "MAPIE", 1e-9, spiegelhalter_pairs),
    Comparison("smECE", "smece_exact", REFERENCE, 1e-6, smece_pair),
    Comparison("smECE at sigma .01, .05, .1", "smece_sigma_exact", REFERENCE, 1e-6, smece_sigma_pair),
    Comparison(
        "smECE",
        "smece",
        "relplot",
        None,
        smece_pair,
        lambda _table, record: record["params"]["kernel"] == "reflected_gaussian",
        why="rows at exactly 0 or 1 count half, bandwidth in steps of 1/1024",
    ),
]


def compared(comparison: Comparison) -> Iterator[tuple[str, float, float]]:
    """Yield data set, our number and theirs for every record that applies."""
    for record in records():
        matches = record["quantity"] == comparison.quantity
        if not (matches and record["implementation"].startswith(comparison.implementation)):
            continue
        if record["dataset"] not in DATASETS:
            continue
        table = table_of(record["dataset"])
        if comparison.applies(table, record):
            for ours, theirs in comparison.pairs(table, record):
                yield record["dataset"], ours, theirs


def main() -> None:
    """Print the table."""
    lines = [
        "| number | implementation | numbers | largest difference | allowed | note |",
        "|---|---|---|---|---|---|",
    ]
    for comparison in COMPARISONS:
        rows = list(compared(comparison))
        worst = max(abs(ours - theirs) for _, ours, theirs in rows)
        allowed = f"{comparison.tolerance:.0e}" if comparison.tolerance else "for information"
        name = comparison.implementation
        lines.append(
            f"| {comparison.name} | {name} | {len(rows)} | {worst:.1e} | {allowed} | {comparison.why} |"
        )
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("error")
    main()
