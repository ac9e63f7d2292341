"""The table of the rows that gates take: its best bound is the exact one, and it names every gate."""

import importlib.util
import re
import sys
from types import ModuleType

import numpy as np
import pytest
from scipy.stats import binom

from calibcli.stats.gates import plan
from command_line import ROOT


@pytest.fixture(scope="module")
def page() -> ModuleType:
    """The script that makes the table."""
    found = importlib.util.spec_from_file_location("rows_of_gates", ROOT / "benchmarks" / "gate_rows.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules["rows_of_gates"] = module
    found.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("truth", "wrong"), [(0.56, 0.53), (0.515, 0.53), (0.04, 0.03), (0.025, 0.03)])
def test_best_bound_is_that_of_the_exact_binomial_test(page: ModuleType, truth: float, wrong: float) -> None:
    """For one value the exact one-sided test has a power of 90 % at the rows of the formula."""
    one = np.ones(1)
    rows = round(page.best_rows(one, page.both(truth * one), page.both(wrong * one)))

    def power(n: int) -> float:
        if truth > wrong:
            return float(binom.sf(binom.isf(0.05, n, wrong), n, truth))
        return float(binom.cdf(binom.ppf(0.05, n, wrong) - 1, n, truth))

    assert power(round(1.07 * rows)) > 0.9
    assert power(round(0.95 * rows)) < 0.905


def test_every_gate_has_its_rows_on_the_page(page: ModuleType) -> None:
    """Each gate that the script knows of stands in the table, and what is far from the best says why."""
    text = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8").split(page.START)[1].split(page.END)[0]
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if "|" in line]
    rows = lines[2:]
    assert {re.split("[<>]=", row[0])[0] for row in rows} == set(page.WHY)
    for row in rows:
        today, best, times = (float(row[place].replace(",", "")) for place in (4, 5, 6))
        assert times == pytest.approx(today / best, abs=0.011)
        assert (times > 1.3) == bool(row[7]), row


def test_rows_are_simulated_of_measures_that_no_plan_is_for(
    page: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page has rows of bias, too, which `plan` does not offer."""
    monkeypatch.setitem(plan.SIMULATED, page.M.BIAS, plan.Simulated(plan.Effort(20, 60)))
    passing, failing = page.on_errors("bias", page.M.BIAS, "one value, .5", 0.2)
    assert 100 <= passing.today < 300
    assert 100 <= failing.today < 200
