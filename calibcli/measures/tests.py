"""The tests together: which p-value each one reports, and one combined answer."""

from dataclasses import dataclass, replace

from calibcli.measures.calibrated import CalibratedDraws, p_value
from calibcli.measures.cumulative import ks_and_kuiper
from calibcli.measures.estimate import TestResult
from calibcli.measures.l2 import t_test
from calibcli.measures.proper_scores import certain_and_wrong
from calibcli.measures.spiegelhalter import spiegelhalter
from calibcli.names import TestName
from calibcli.table.bins import Partition, looks_discrete
from calibcli.table.grid import Table
from calibcli.table.score_table import Floats

_FEW_ROWS = 500
_COMBINED = (TestName.KUIPER, TestName.SPIEGELHALTER, TestName.T)
WEIGHTED = "no test: with importance weights labels drawn from the scores are not the null hypothesis"


@dataclass(frozen=True, slots=True)
class CombinedTest:
    """
    One answer from several tests.

    Args:
        p_value: min(1, number of tests times the smallest p-value) (Bonferroni), or None if none is defined.

        tests: The tests that went in.
    """

    p_value: float | None
    tests: tuple[TestName, ...]


def calibration_tests(
    table: Table, *, bins: Partition, calibrated: CalibratedDraws | None
) -> tuple[tuple[TestResult, ...], CombinedTest]:
    """
    Run KS, Kuiper, Spiegelhalter and T, and combine the last three.

    P-values come from labels drawn from the scores where the limit laws are poor: below 500 rows and for
    discrete scores; for T always.

    Args:
        table: The rows.

        bins: The partition for T, or sums over it.

        calibrated: Labels drawn from the scores; None for a weighted table, where no test is defined.
    """
    if calibrated is None:
        names = (TestName.KS, TestName.KUIPER, TestName.SPIEGELHALTER, TestName.T)
        results = tuple(TestResult(name, None, None, "undefined", None, (WEIGHTED,)) for name in names)
        return results, CombinedTest(None, _COMBINED)
    ks, kuiper = ks_and_kuiper(table)
    z = spiegelhalter(table)
    if looks_discrete(table) or table.total_rows < _FEW_ROWS:
        ks = _drawn(ks, calibrated.ks, calibrated.method)
        kuiper = _drawn(kuiper, calibrated.kuiper, calibrated.method)
        z = _drawn(z, calibrated.spiegelhalter, calibrated.method)
    results = (ks, kuiper, z, t_test(table, bins=bins, calibrated=calibrated))
    wrong = certain_and_wrong(table)
    if wrong:
        results = tuple(_contradicted(result, wrong) for result in results)
    return results, _combine(results)


def _drawn(result: TestResult, draws: Floats | None, method: str) -> TestResult:
    if result.statistic is None or draws is None:
        return result
    return replace(result, p_value=p_value(draws, abs(result.statistic)), p_method=method)


def _contradicted(result: TestResult, wrong: int) -> TestResult:
    """Exact calibration is refuted by a single row that was certain and wrong."""
    note = f"contradiction: {wrong:,} rows were certain and wrong, so no labels like these can be drawn"
    return replace(result, p_value=0.0, p_method="contradiction", assumptions=(*result.assumptions, note))


def _combine(results: tuple[TestResult, ...]) -> CombinedTest:
    defined = [r.p_value for r in results if r.name in _COMBINED and r.p_value is not None]
    combined = min(1.0, len(defined) * min(defined)) if defined else None
    return CombinedTest(
        combined, tuple(r.name for r in results if r.name in _COMBINED and r.p_value is not None)
    )
