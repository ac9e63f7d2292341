"""The tests together: which p-value each one reports, and one combined answer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Literal, assert_never

from calibcli.bounds.resampling import LEAST_INFORMATION
from calibcli.codec import Declared, Fraction, Key
from calibcli.measures.calibrated import DRAWS, CalibratedDraws, p_value
from calibcli.measures.cumulative import ks_and_kuiper, path_information
from calibcli.measures.estimate import TestResult
from calibcli.measures.l2 import t_test
from calibcli.measures.proper_scores import certain_and_wrong, were_certain_and_wrong
from calibcli.measures.spiegelhalter import spiegelhalter, z_information, z_p_value
from calibcli.names import DEFAULT_SEED, Purpose, TestName
from calibcli.table.bins import BinnedTable, Partition, binned
from calibcli.table.grid import Table
from calibcli.table.score_table import Floats
from calibcli.table.streams import stream

_COMBINED = (TestName.KUIPER, TestName.SPIEGELHALTER, TestName.T)
WEIGHTED = "no test: with importance weights labels drawn from the scores are not the null hypothesis"


@dataclass(frozen=True, slots=True)
class CombinedTest(Declared):
    """One answer from several tests."""

    p_value: Annotated[
        Fraction | None,
        "The number of tests times the smallest p-value, 1 at most; null where none is defined.",
    ]
    tests: Annotated[tuple[TestName, ...], Key("of"), "The tests that went in."]

    @property
    def p_method(self) -> Annotated[Literal["bonferroni"], "How the p-value was found."]:
        """How the p-value was found."""
        return "bonferroni"


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

    P-values come from labels drawn from the scores where the limit laws are poor, which the information in
    the rows decides, test by test, not their number (`_by_law`); for T always.

    Args:
        names: The tests, in the order of the results.

        table: The rows.

        bins: The partition of T and Hosmer-Lemeshow, or sums over it.

        calibrated: Labels drawn from the scores; None for a weighted table, where no test is defined.

        seed: Of the labels that some tests draw for themselves.

    Returns:
        The results, and one answer from those that are combined; None unless all three were asked for.
    """
    if calibrated is None:
        results = tuple(TestResult(name, None, None, "undefined", None, (WEIGHTED,)) for name in names)
    else:
        # KS and Kuiper read one path, which is walked at most once.
        paths = cache(lambda: (ks_and_kuiper(table), path_information(table)))
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
    paths: Callable[[], tuple[tuple[TestResult, TestResult], float]],
    seed: int,
) -> TestResult:
    """Run one test; `paths` gives KS and Kuiper, and the information of both."""
    match name:
        case TestName.KS | TestName.KUIPER:
            (ks, kuiper), information = paths()
            found = (ks, calibrated.ks) if name is TestName.KS else (kuiper, calibrated.kuiper)
            return found[0] if _by_law(information) else _drawn(*found, calibrated.method)
        case TestName.SPIEGELHALTER:
            return _spiegelhalter(table, calibrated=calibrated, seed=seed)
        case TestName.T:
            return t_test(table, bins=bins, calibrated=calibrated)
        case TestName.HOSMER_LEMESHOW:
            return _hosmer_lemeshow(table, bins=binned(table, bins), calibrated=calibrated)
        case TestName.U:
            return _u(table, seed=seed)
        case _:
            assert_never(name)


def _by_law(information: float) -> bool:
    """
    Whether a limit law is good enough for a p-value: the one rule for all tests.

    A test's information is the number of open rows, all alike, with which its statistic would be as near to
    its limit as it is. Sums of labels lie on a lattice: at 400, that moves a level of 5 % by .3 % at most.
    """
    return information >= LEAST_INFORMATION


def _spiegelhalter(table: Table, *, calibrated: CalibratedDraws, seed: int) -> TestResult:
    result = spiegelhalter(table)
    if result.statistic is None or _by_law(z_information(table)):
        return result
    if calibrated.spiegelhalter is not None:
        return _drawn(result, calibrated.spiegelhalter, calibrated.method)
    p, method = z_p_value(table, generator=stream(seed, Purpose.SPIEGELHALTER), draws=DRAWS)
    return replace(result, p_value=p, p_method=method)


def _hosmer_lemeshow(table: Table, *, bins: BinnedTable, calibrated: CalibratedDraws) -> TestResult:
    from calibcli.measures.hosmer_lemeshow import bin_information, hosmer_lemeshow

    result = hosmer_lemeshow(table, bins=bins)
    if _by_law(bin_information(bins)):
        return result
    return _drawn(result, calibrated.h_of(bins.bins), calibrated.method)


def _u(table: Table, *, seed: int) -> TestResult:
    from calibcli.measures.u_test import drawn_u, line_information, u_test

    result = u_test(table)
    if result.statistic is None or _by_law(line_information(table)):
        return result
    drawn = drawn_u(table, generator=stream(seed, Purpose.U), draws=DRAWS)
    return replace(result, p_value=drawn.p_value(table.positive), p_method=drawn.method)


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
