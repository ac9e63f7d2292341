"""Tests of calibration, of the path of residuals, bins, a line or the rate, and what they say together."""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Literal, assert_never

import numpy as np

from calibcli.codec import Declared, Fraction, Key
from calibcli.names import DEFAULT_SEED, MORE_DRAWS, OF_MORE_DRAWS, Purpose, TestName
from calibcli.stats.bounds import resampling
from calibcli.stats.measures import CERTAIN, HELD_OUT, INDEPENDENT_ROWS, TestResult
from calibcli.stats.measures.if_calibrated import DRAWS, CalibratedDraws, p_value
from calibcli.stats.measures.l2 import t_test
from calibcli.stats.measures.scores import certain_and_wrong, gave_zero
from calibcli.stats.numerics import Floats, chi_squared_tail, incomplete_beta, stream
from calibcli.stats.table.bins import BinnedTable, Partition, binned, segment_sums
from calibcli.stats.table.grid import Table, hidden_range, open_variance, residuals
from calibcli.values import dataclass, replace


def ks_and_kuiper(table: Table) -> tuple[TestResult, TestResult]:
    """Test calibration by the path of cumulative residuals, sorted by score.

    The path starts at C_0 = 0 and is read only at the ends of blocks of equal scores (of a grid table, of
    cells), so row order does not matter. With s = sqrt(sum f (1 - f)), KS = max |C| / s, Kuiper = (max C -
    min C) / s.

    References:
        Corrections to MAPIE's theory page: Kuiper is max C - min C, and includes C_0.
    """
    variance = float(open_variance(table).sum())
    if variance <= 0.0:
        return TestResult.undefined(TestName.KS, CERTAIN), TestResult.undefined(TestName.KUIPER, CERTAIN)
    top, bottom = (float(value) / math.sqrt(variance) for value in resampling.extremes(residuals(table)))
    largest, span = max(top, -bottom), top - bottom
    assumptions: tuple[str, ...] = (INDEPENDENT_ROWS,)
    miss = hidden_range(table) / math.sqrt(variance) if table.kind == "grid" else 0.0
    if miss > 0.0:
        read = f"read at the ends of grid cells, which can lower the statistic by at most {miss:.3g}"
        assumptions = (INDEPENDENT_ROWS, read)
    ks_p, kuiper_p = resampling.excursion_tail(largest), resampling.range_tail(span)
    return (
        TestResult(TestName.KS, largest, ks_p, "asymptotic", ks_p, assumptions),
        TestResult(TestName.KUIPER, span, kuiper_p, "asymptotic", kuiper_p, assumptions),
    )


def path_information(table: Table) -> float:
    """Return how many steps of one size would make the path as smooth as it is.

    The lesser of sum f (1 - f), in steps of one label, and of the number of equal blocks of ties: where few
    are read, less is seen than the limit law expects.
    """
    share = open_variance(table)
    whole = float(share.sum())
    if not whole > 0.0:
        return 0.0
    # In units of the whole, whose square may be too small for a double.
    share = share / whole
    share *= share
    return min(whole, 1.0 / float(share.sum()))


def spiegelhalter(table: Table) -> TestResult:
    """Test whether Z = sum (y - f)(1 - 2f) / sqrt(sum (1 - 2f)^2 f (1 - f)) is standard normal, two-sided.

    Blind to shifts where scores are symmetric about 1/2, so never to be read alone.
    """
    tilt = 1.0 - 2.0 * table.score
    variance = float((open_variance(table) * tilt**2).sum())
    if variance <= 0.0:
        return TestResult.undefined(TestName.SPIEGELHALTER, "undefined: every score is 0, 1/2 or 1")
    z = float((residuals(table) * tilt).sum()) / math.sqrt(variance)
    p = min(1.0, 2.0 * resampling.normal_tail(abs(z)))
    blind = "blind to errors that cancel around 1/2: read it beside Kuiper"
    return TestResult(TestName.SPIEGELHALTER, z, p, "asymptotic", p, (INDEPENDENT_ROWS, blind))


def z_information(table: Table) -> float:
    """Return how many rows that add alike would make Z as close to normal as it is, 0 where Z is undefined.

    The squared sum of their variances over the sum of fourth moments: rows near 1/2 add next to nothing.
    """
    square = 1.0 - 2.0 * table.score
    square *= square
    variance = open_variance(table) * square
    whole = float(variance.sum())
    if not whole > 0.0:
        return 0.0
    # In units of the whole, whose square may be too small for a double.
    variance /= whole
    variance *= square
    return whole / float(variance.sum())


def z_p_value(table: Table, *, generator: np.random.Generator, draws: int) -> tuple[float, str]:
    """Return the p-value of |Z| by labels drawn on cells, and the words for how they were drawn.

    The observed labels are summed over the same cells, in which 1 - 2f varies little where it matters.
    """
    tilt = 1.0 - 2.0 * table.score
    variance = open_variance(table)
    starts = resampling.sub_cell_starts(table, moment=tilt**4 * variance)
    labels = resampling.label_draws(table, [starts], draws=draws, generator=generator)
    starts = starts if not labels.cells.coarsened else labels.cells.starts
    held = segment_sums(variance, starts)
    mean = segment_sums(tilt * variance, starts) / np.where(held > 0.0, held, 1.0)
    segments = labels.cells.segments(starts)
    drawn = np.concatenate([np.abs(block.residuals(segments) @ mean) for block in labels.blocks])
    observed = abs(float(segment_sums(residuals(table), starts) @ mean))
    return p_value(drawn, observed), labels.cells.method


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
        return "bonferroni"


def calibration_tests(
    names: Sequence[TestName],
    table: Table,
    *,
    bins: Partition,
    calibrated: CalibratedDraws | None,
    level: float = 0.05,
    seed: int = DEFAULT_SEED,
) -> tuple[tuple[TestResult, ...], CombinedTest | None]:
    """Run tests, and combine Kuiper, Spiegelhalter and T where all three are among them.

    P-values come from labels drawn from the scores where the limit laws are poor, which the information in
    the rows decides, test by test, not their number (`_by_law`); for T always. Where no draw is as large as
    what was seen, and so few draws could not reach the level, more are drawn: a p-value stays valid, since
    only one that was the least there is changes.

    Args:
        bins: The partition of T and Hosmer-Lemeshow, or sums over it.
        calibrated: Labels drawn from the scores; None for a weighted table, where no test is defined.
        level: Below which p-values are read to mean something, of one test alone.
        seed: Of the labels that some tests draw for themselves.
    """
    if calibrated is None:
        results = tuple(TestResult.undefined(name, WEIGHTED) for name in names)
    else:
        tests = _Tests(table, bins, calibrated, seed)
        results = tuple(map(tests.result, names))
        if len(names) >= level * (DRAWS + 1) and any(beyond_draws(one, DRAWS) for one in results):
            closer = _Tests(table, bins, calibrated.more(seed=seed), seed, MORE_DRAWS)
            results = tuple(closer.by_more(one.name) if beyond_draws(one, DRAWS) else one for one in results)
    wrong = certain_and_wrong(table) if calibrated is not None else 0
    if wrong:
        results = tuple(
            _contradicted(result, wrong) if _is_refuted(result, table) else result for result in results
        )
    if not set(_COMBINED) <= set(names):
        return results, None
    defined = {r.name: r.p_value for r in results if r.name in _COMBINED and r.p_value is not None}
    combined = min(1.0, len(defined) * min(defined.values())) if defined else None
    return results, CombinedTest(combined, tuple(defined))


def beyond_draws(result: TestResult, draws: int) -> bool:
    """Whether a p-value is the least that so many draws can show."""
    return result.p_value == 1.0 / (draws + 1) and result.p_method.startswith("monte-carlo")


# Without slots, so that a path is kept.
@dataclass(frozen=True, eq=False)
class _Tests:
    """The tests of one table; KS and Kuiper read one path, which is walked at most once."""

    table: Table
    bins: Partition
    calibrated: CalibratedDraws
    seed: int
    draws: int = DRAWS

    def result(self, name: TestName) -> TestResult:
        match name:
            case TestName.KS | TestName.KUIPER:
                return self._of_path(name)
            case TestName.SPIEGELHALTER:
                return self._spiegelhalter()
            case TestName.T:
                return t_test(self.table, bins=self.bins, calibrated=self.calibrated)
            case TestName.HOSMER_LEMESHOW:
                return self._hosmer_lemeshow()
            case TestName.U:
                return self._u()
            case (
                TestName.BINOMIAL
                | TestName.BINOMIAL_TWO_SIDED
                | TestName.JEFFREYS
                | TestName.JEFFREYS_TWO_SIDED
            ):
                return rate_test(name, self.table)
            case _:
                assert_never(name)

    def by_more(self, name: TestName) -> TestResult:
        """Return the result of a test whose p-value is by more draws than usual, which its method says."""
        result = self.result(name)
        return replace(result, p_method=f"{result.p_method}{OF_MORE_DRAWS}")

    @cached_property
    def _path(self) -> tuple[TestResult, TestResult, bool]:
        """KS and Kuiper, and whether their limit laws do."""
        return *ks_and_kuiper(self.table), _by_law(path_information(self.table))

    def _of_path(self, name: TestName) -> TestResult:
        (ks, kuiper, by_law), one = self._path, name is TestName.KS
        result = ks if one else kuiper
        if by_law:
            return result
        drawn = self.calibrated.paths
        return _drawn(result, drawn.ks if one else drawn.kuiper, drawn.method)

    def _spiegelhalter(self) -> TestResult:
        result = spiegelhalter(self.table)
        if result.statistic is None or _by_law(z_information(self.table)):
            return result
        drawn = self.calibrated.paths
        if drawn.spiegelhalter is not None:
            return _drawn(result, drawn.spiegelhalter, drawn.method)
        p, method = z_p_value(
            self.table, generator=stream(self.seed, Purpose.SPIEGELHALTER), draws=self.draws
        )
        return replace(result, p_value=p, p_method=method)

    def _hosmer_lemeshow(self) -> TestResult:
        bins = binned(self.table, self.bins)
        result = hosmer_lemeshow(self.table, bins=bins)
        if _by_law(bin_information(bins)):
            return result
        drawn = self.calibrated.drawn
        return _drawn(result, drawn.over(bins.bins).h, drawn.method)

    def _u(self) -> TestResult:
        from calibcli.stats.measures.u_test import drawn_u, line_information, u_test

        result = u_test(self.table)
        if result.statistic is None or _by_law(line_information(self.table)):
            return result
        drawn = drawn_u(self.table, generator=stream(self.seed, Purpose.U), draws=self.draws)
        return replace(result, p_value=drawn.p_value(self.table.positive), p_method=drawn.method)


def _by_law(information: float) -> bool:
    """Whether a limit law is good enough for a p-value: the one rule for all tests.

    A test's information is the number of open rows, all alike, with which its statistic would be as near to
    its limit as it is. Sums of labels lie on a lattice: at 400, that moves a level of 5 % by .3 % at most.
    """
    return information >= resampling.LEAST_INFORMATION


def _drawn(result: TestResult, draws: Floats | None, method: str) -> TestResult:
    if result.statistic is None or draws is None:
        return result
    return replace(result, p_value=p_value(draws, abs(result.statistic)), p_method=method)


_OF_BOTH_SIDES = frozenset((TestName.BINOMIAL_TWO_SIDED, TestName.JEFFREYS_TWO_SIDED))
_OF_THE_RATE = _OF_BOTH_SIDES | {TestName.BINOMIAL, TestName.JEFFREYS}


def _is_refuted(result: TestResult, table: Table) -> bool:
    """Whether a row that was certain and wrong refutes what a test asks.

    Tests of the rate ask how many rows have label 1, not which: where a score is open such a row settles
    nothing, and where all are 0 or 1 their number is certain.
    """
    if result.name not in _OF_THE_RATE:
        return True
    more = float(table.positive.sum()) - float((table.weight * table.score).sum())
    return result.statistic is None and (more > 0.0 or (more < 0.0 and result.name in _OF_BOTH_SIDES))


def _contradicted(result: TestResult, wrong: int) -> TestResult:
    """Exact calibration is refuted by a single row that was certain and wrong."""
    note = f"contradiction: {gave_zero(wrong)}, so no labels like these can be drawn"
    return replace(result, p_value=0.0, p_method="contradiction", assumptions=(*result.assumptions, note))


def hosmer_lemeshow(table: Table, *, bins: Partition) -> TestResult:
    """Test H = sum_k S_k^2 / V_k, with S_k the bin's sum of label - score and V_k its sum of f (1 - f).

    The law is chi-squared with as many degrees of freedom as bins with V_k > 0, since nothing was fitted to
    these rows; two fewer hold for the rows a logistic model was fitted to, which no one should test by.
    """
    sums = binned(table, bins)
    open_bins = sums.variance > 0.0
    degrees = int(np.count_nonzero(open_bins))
    if degrees == 0:
        return TestResult.undefined(TestName.HOSMER_LEMESHOW, CERTAIN)
    # A score next to 0 or 1 leaves hardly any variance: one that is wrong can pass the largest double.
    with np.errstate(over="ignore"):
        h = float((sums.residual[open_bins] ** 2 / sums.variance[open_bins]).sum())
    p = chi_squared_tail(h, degrees)
    freedom = "degree" if degrees == 1 else "degrees"
    assumptions = (INDEPENDENT_ROWS, HELD_OUT, f"over {sums.described}: {degrees} {freedom} of freedom")
    return TestResult(TestName.HOSMER_LEMESHOW, h, p, "asymptotic", p, assumptions)


def rate_test(name: TestName, table: Table) -> TestResult:
    """Test whether as many rows have label 1 as the mean score says: not more, or neither more nor fewer.

    One-sided exactly, or by Jeffreys' prior; two-sided by twice the smaller tail.

    References:
        Hoeffding (1956), Ann. Math. Statist. 27, Theorem 4, for scores that differ; others in the family.
    """
    if not float(open_variance(table).sum()) > 0.0:
        return TestResult.undefined(name, CERTAIN)
    events, rows = float(table.total_positive_rows), float(table.total_rows)
    mean = float((table.weight * table.score).sum()) / rows
    assumptions: tuple[str, ...] = (INDEPENDENT_ROWS, HELD_OUT)
    if name is TestName.JEFFREYS:
        p = _below(mean, events + 0.5, rows - events + 0.5)[0]
        return TestResult(name, events, p, JEFFREYS, None, (*assumptions, _ONE_SIDED, _TOO_OFTEN))
    if name is TestName.JEFFREYS_TWO_SIDED:
        p, above = _below(mean, events + 0.5, rows - events + 0.5)
        tails = [p] * (events > 0.0) + [above] * (events < rows)
        return TestResult(
            name, events, min(1.0, 2.0 * min(tails)), JEFFREYS, None, (*assumptions, _TOO_OFTEN)
        )
    # P(X >= D), and P(X <= D) from the same law with one event more.
    p = _below(mean, events, rows - events + 1.0)[0]
    if name is TestName.BINOMIAL:
        return TestResult(name, events, p, "exact", None, (*assumptions, _ONE_SIDED))
    fewer = _below(mean, events + 1.0, rows - events)[1]
    return TestResult(name, events, min(1.0, 2.0 * min(p, fewer)), "exact", None, assumptions)


def _below(score: float, a: float, b: float) -> tuple[float, float]:
    """Return the probabilities that a Beta(a, b) lies below a score and above it; a law of 0 is all below."""
    if a <= 0.0 or b <= 0.0:
        return (1.0, 0.0) if a <= 0.0 else (0.0, 1.0)
    below, above = incomplete_beta(np.array([a]), np.array([b]), np.array([score]))
    return min(1.0, float(below[0])), min(1.0, float(above[0]))


JEFFREYS = "Jeffreys' prior"
_ONE_SIDED = "one-sided: sees scores that are too low"
_TOO_OFTEN = "right rates are rejected more often than the level says where few events are expected"


def bin_information(sums: BinnedTable) -> float:
    """Return the harmonic mean of V_k: with that in each bin H would be as near to chi-squared as it is."""
    variance = sums.variance[sums.variance > 0.0]
    with np.errstate(over="ignore"):
        return variance.size / float((1.0 / variance).sum()) if variance.size else 0.0
