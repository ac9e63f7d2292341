"""The tests together: which p-value each one reports, and one combined answer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import assert_never

from calibcli.measures.calibrated import DRAWS, CalibratedDraws, p_value
from calibcli.measures.cumulative import ks_and_kuiper
from calibcli.measures.estimate import TestResult
from calibcli.measures.l2 import t_test
from calibcli.measures.proper_scores import certain_and_wrong, were_certain_and_wrong
from calibcli.measures.spiegelhalter import spiegelhalter
from calibcli.names import DEFAULT_SEED, Purpose, TestName
from calibcli.table.bins import BinnedTable, Partition, binned, looks_discrete
from calibcli.table.grid import Table
from calibcli.table.score_table import Floats
from calibcli.table.streams import stream

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
    names: Sequence[TestName],
    table: Table,
    *,
    bins: Partition,
    calibrated: CalibratedDraws | None,
    seed: int = DEFAULT_SEED,
) -> tuple[tuple[TestResult, ...], CombinedTest | None]:
    """
    Run tests, and combine Kuiper, Spiegelhalter and T where they are among them.

    P-values come from labels drawn from the scores where the limit laws are poor: below 500 rows and for
    discrete scores; for Hosmer-Lemeshow also where a bin has little variance; for T always.

    Args:
        names: The tests, in the order of the results.

        table: The rows.

        bins: The partition of T and Hosmer-Lemeshow, or sums over it.

        calibrated: Labels drawn from the scores; None for a weighted table, where no test is defined.

        seed: Of the labels that Hosmer-Lemeshow and U draw for themselves, when they are asked for.

    Returns:
        The results, and one answer from those that are combined; None unless all three were asked for.
    """
    if calibrated is None:
        results = tuple(TestResult(name, None, None, "undefined", None, (WEIGHTED,)) for name in names)
    else:
        # KS and Kuiper read one path, which is walked at most once.
        paths = cache(lambda: ks_and_kuiper(table))
        results = tuple(
            _result(name, table, bins=bins, calibrated=calibrated, paths=paths, seed=seed) for name in names
        )
    wrong = certain_and_wrong(table) if calibrated is not None else 0
    if wrong:
        results = tuple(_contradicted(result, wrong) for result in results)
    return results, _combine(results) if set(_COMBINED) <= set(names) else None


def _result(
    name: TestName,
    table: Table,
    *,
    bins: Partition,
    calibrated: CalibratedDraws,
    paths: Callable[[], tuple[TestResult, TestResult]],
    seed: int,
) -> TestResult:
    """Run one test; `paths` gives KS and Kuiper."""
    by_drawing = looks_discrete(table) or table.total_rows < _FEW_ROWS
    match name:
        case TestName.KS | TestName.KUIPER:
            result = paths()[0 if name is TestName.KS else 1]
            drawn = calibrated.ks if name is TestName.KS else calibrated.kuiper
            return _drawn(result, drawn, calibrated.method) if by_drawing else result
        case TestName.SPIEGELHALTER:
            result = spiegelhalter(table)
            return _drawn(result, calibrated.spiegelhalter, calibrated.method) if by_drawing else result
        case TestName.T:
            return t_test(table, bins=bins, calibrated=calibrated)
        case TestName.HOSMER_LEMESHOW:
            return _hosmer_lemeshow(table, bins=binned(table, bins), by_drawing=by_drawing, seed=seed)
        case TestName.U:
            return _u(table, by_drawing=by_drawing, seed=seed)
        case _:
            assert_never(name)


def _hosmer_lemeshow(table: Table, *, bins: BinnedTable, by_drawing: bool, seed: int) -> TestResult:
    from calibcli.measures.hosmer_lemeshow import has_thin_bins, hosmer_lemeshow, hosmer_lemeshow_p_value

    result = hosmer_lemeshow(table, bins=bins)
    if result.statistic is None or not (by_drawing or has_thin_bins(bins)):
        return result
    generator = stream(seed, Purpose.HOSMER_LEMESHOW)
    p, method = hosmer_lemeshow_p_value(table, result.statistic, bins=bins, generator=generator, draws=DRAWS)
    return replace(result, p_value=p, p_method=method)


def _u(table: Table, *, by_drawing: bool, seed: int) -> TestResult:
    from calibcli.measures.u_test import u_p_value, u_test

    result = u_test(table)
    if result.statistic is None or not by_drawing:
        return result
    p, method = u_p_value(table, generator=stream(seed, Purpose.U), draws=DRAWS)
    return replace(result, p_value=p, p_method=method)


def _drawn(result: TestResult, draws: Floats | None, method: str) -> TestResult:
    if result.statistic is None or draws is None:
        return result
    return replace(result, p_value=p_value(draws, abs(result.statistic)), p_method=method)


def _contradicted(result: TestResult, wrong: int) -> TestResult:
    """Exact calibration is refuted by a single row that was certain and wrong."""
    note = f"contradiction: {were_certain_and_wrong(wrong)}, so no labels like these can be drawn"
    return replace(result, p_value=0.0, p_method="contradiction", assumptions=(*result.assumptions, note))


def _combine(results: tuple[TestResult, ...]) -> CombinedTest:
    defined = [r.p_value for r in results if r.name in _COMBINED and r.p_value is not None]
    combined = min(1.0, len(defined) * min(defined)) if defined else None
    return CombinedTest(
        combined, tuple(r.name for r in results if r.name in _COMBINED and r.p_value is not None)
    )
