"""Every measure and statistic is what slow formulas give, on edges, at 0 and 1, among ties, with few rows."""

import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from calibcli.commands.measure import measure_table
from calibcli.names import Binning, MeasureName, TestName
from calibcli.options.measuring import MeasureOptions, metrics_of
from calibcli.reports.input import InputSummary
from calibcli.reports.measure import MeasureReport
from calibcli.stats.table import ScoreTable
from oracles.awkward_rows import Columns, awkward_sets
from oracles.slow_bounds import slow_bounds
from oracles.slow_values import MOST_PLACES, slow_values

SETS = awkward_sets()
SOURCE = InputSummary(("memory",), "score", "label", None, 0, 0, 0)
OPTIONS = MeasureOptions(
    metrics=metrics_of(["all"]), bins=15, binning=Binning.EQUAL_WIDTH, complete=False, seed=1
)
SMOOTH = dict.fromkeys(("smece", "smece_logit", "smece_probit"), 1e-06)
# Fits end where steps gain nothing.
ALLOWED = SMOOTH | {
    **dict.fromkeys(("ici", "e50", "e90", "emax"), 1e-5),
    **dict.fromkeys(("citl_logit", "cox_intercept", "cox_slope", "u"), 1e-6),
    # scipy's linear programmes are solved to 1e-7 in their conditions.
    **dict.fromkeys(("dce_lower", "smce"), 1e-9),
    "l1_debiased": 1e-9,
}


@cache
def report_of(name: str) -> MeasureReport:
    """Measure the rows of a set."""
    score, label = slowly(name)[0]
    return measure_table(ScoreTable.from_rows(score, label == 1), SOURCE, options=OPTIONS)


def ours(name: str) -> dict[str, float]:
    """Return the program's numbers that have a value."""
    report = report_of(name)
    found = {str(one.name): one.value for one in report.measures}
    found |= {str(one.name): one.statistic for one in report.tests if one.statistic is not None}
    return {name: value for name, value in found.items() if not math.isnan(value)}


@cache
def slowly(name: str) -> tuple[Columns, dict[str, float]]:
    """Return rows of a set, a third where dense kernels would take their time, and their slow values."""
    score, label = SETS[name]
    step = 3 if np.unique(score).size > 100 else 1
    columns = (score[::step], label[::step])
    return columns, slow_values(*columns)


@pytest.mark.parametrize("name", SETS)
def test_every_number_is_that_of_the_slow_formulas(name: str) -> None:
    """Each of the measures and statistics agrees, or is missing in both."""
    (score, _), expected = slowly(name)
    found = ours(name)
    left_out = {"dce_lower"} if np.unique(score).size > MOST_PLACES else set()
    assert set(found) - left_out == {key for key, value in expected.items() if not math.isnan(value)}
    for key, value in expected.items():
        if not math.isnan(value):
            within = ALLOWED.get(key, 1e-12)
            assert found[key] == pytest.approx(value, rel=within, abs=within), key


@pytest.mark.parametrize("name", SETS)
def test_bounds_are_those_of_the_slow_formulas(name: str) -> None:
    """Ends by betting, d*, |bias|, McDiarmid and T to 1e-6, by one added row to 1 % of the interval."""
    found = {str(one.name): one.interval for one in report_of(name).measures}
    expected = slow_bounds(*slowly(name)[0])
    assert len(expected) >= 10
    for key, value in expected.items():
        measure, side = key.split(".")
        added = measure in {"brier", "log_loss"}
        within = 0.01 * (expected[f"{measure}.upper"] - expected[f"{measure}.lower"]) if added else 1e-6
        assert getattr(found[measure], side) == pytest.approx(value, abs=within), key


def test_slow_formulas_know_every_measure_and_test() -> None:
    """A measure without its slow formula cannot be added by oversight."""
    assert set(slowly("fifty rows")[1]) == {str(name) for name in (*MeasureName, *TestName)}


PAGE = Path(__file__).resolve().parents[2] / "docs" / "agreement.md"


def test_page_has_a_row_for_every_measure_and_test() -> None:
    """As the slow formulas do: `make agreement` was run since the last one was added."""
    table = PAGE.read_text(encoding="utf-8").partition("## One row per measure")[2].partition("\n## ")[0]
    rows = {line.split("|")[1].strip() for line in table.splitlines() if line.startswith("| ")}
    assert {str(name) for name in (*MeasureName, *TestName)} <= rows
