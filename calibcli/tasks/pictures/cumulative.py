"""Cumulative differences, and the tests that read them."""

from calibcli.curves.cumulative import CumulativeCurve, cumulative_curve
from calibcli.measures.calibrated import draw_calibrated
from calibcli.measures.estimate import INDEPENDENT_ROWS, TestResult
from calibcli.measures.tests import calibration_tests
from calibcli.names import DEFAULT_BINS, Binning, Purpose, TestName
from calibcli.options.measuring import MeasureOptions
from calibcli.table.bins import binned, bins_of
from calibcli.table.grid import Table
from calibcli.table.streams import stream
from calibcli.tasks.pictures.diagram import Drawn, rows_line


def cumulative_drawn(table: Table, *, options: MeasureOptions) -> Drawn:
    """
    Return the path of cumulative differences and, as caption, what KS and Kuiper say of it.

    Args:
        table: The rows, at least one of some weight.

        options: The seed.
    """
    curve = cumulative_curve(table)
    bins = binned(table, bins_of(Binning.EQUAL_WIDTH, DEFAULT_BINS, table=table))
    calibrated = None
    if not table.weighted:
        calibrated = draw_calibrated(
            table,
            partitions=(bins,),
            generator=stream(options.seed, Purpose.MONTE_CARLO),
            smece_generator=stream(options.seed, Purpose.SMECE_NULL),
        )
    names = (TestName.KS, TestName.KUIPER)
    tests, _ = calibration_tests(names, table, bins=bins, calibrated=calibrated, seed=options.seed)
    rows = rows_line(table.total_rows, table.total_positive_rows)
    how = {test.p_method for test in tests if test.p_value is not None}
    method = f"; p-values: {', '.join(sorted(how))}" if how else ""
    return Drawn(curve, (_first_line(tests, curve), f"{rows}{method}"), _remarks(tests))


def _first_line(tests: tuple[TestResult, ...], curve: CumulativeCurve) -> str:
    """Return both tests, or how far the path goes where they are not defined."""
    if all(test.statistic is not None for test in tests):
        ks, kuiper = (f"{test.statistic:.3g} ({_p_words(test.p_value, test.p_method)})" for test in tests)
        return f"KS {ks}, Kuiper {kuiper}"
    return f"Farthest from zero {float(curve.value[curve.farthest]):+.4f}; no test"


def _remarks(tests: tuple[TestResult, ...]) -> tuple[str, ...]:
    """Return why a test is not defined, and what else must be known of one that is."""
    said = dict.fromkeys(one for test in tests for one in test.assumptions if one != INDEPENDENT_ROWS)
    return tuple(f"{one[:1].upper()}{one[1:]}." for one in said)


def _p_words(p_value: float | None, method: str) -> str:
    if p_value is None:
        return "no p-value"
    if method == "contradiction":
        return "p = 0"
    return "p < 1e-300" if p_value < 1e-300 else f"p = {p_value:.2g}"
