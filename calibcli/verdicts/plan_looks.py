"""How often a gate that is asked once gives a verdict: by simulation with its own verdicts."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibcli.bounds.betting import GroupedResiduals, Stakes, stakes_for_any_time, stakes_for_one_look
from calibcli.bounds.concentration import bounded_differences
from calibcli.bounds.proportion import rate_bounds
from calibcli.measures.binned_ece import grouped_residuals
from calibcli.measures.distance import dictionary, distance_interval
from calibcli.measures.l2_bounds import lower_bound, upper_bound
from calibcli.measures.least_error import error_shares, least_by_mean
from calibcli.measures.linf import each_of, farthest
from calibcli.measures.smooth_ece import stakes_for, weighed
from calibcli.names import MeasureName, VerdictName
from calibcli.options.rules import Rule
from calibcli.table.bins import binned, segment_sums
from calibcli.table.kernel import LEAST_BANDWIDTH, residual_series
from calibcli.table.residuals import residuals
from calibcli.table.score_table import Integers, ScoreTable
from calibcli.verdicts import judge
from calibcli.verdicts.claim import Ground
from calibcli.verdicts.outcome import LEAST_RARER
from calibcli.verdicts.plan_bets import log_evidence
from calibcli.verdicts.plan_population import Population
from calibcli.verdicts.smece_below import norm_may_stray

Flags = npt.NDArray[np.bool_]
_OVERSAMPLING = 8


@dataclass(frozen=True, slots=True)
class Asked:
    """
    The gate that is simulated.

    Args:
        rule: What is asked.

        ground: What is settled beforehand.

        wanted: The verdict whose frequency is wanted.
    """

    rule: Rule
    ground: Ground
    wanted: VerdictName


@dataclass(frozen=True, slots=True)
class Looks:
    """
    A gate that is asked once, simulated.

    Every table is judged as `judge` does, but for the rows needed that its verdicts come with. The ECE is bet
    on at the limit itself, and rates are bounded for many tables at once. For the l2 error, whose bound is
    dear, tables hold every score as often as its share says: then verdicts go with the size of one statistic
    and need not be asked of every table.

    Args:
        asked: The gate.

        population: The rows to come.

        generator: Random numbers.
    """

    asked: Asked
    population: Population
    generator: np.random.Generator

    def share(self, rows: int, times: int) -> float:
        """Return the share of so many tables of so many rows that get the wanted verdict."""
        if rows < self.asked.ground.least_rows:
            return 0.0
        count, ones = self._drawn(rows, times)
        match self.asked.rule.subject:
            case MeasureName.ECE:
                given = _by_bets(self.asked, self.population, count, ones)
            case MeasureName.LINF:
                given = _by_rates(self.asked, self.population, count, ones)
            case MeasureName.L2:
                given = _by_order(self.asked, self.population, count, ones)
            case _:
                tables = zip(count, ones, strict=True)
                given = np.array([is_given(self.asked, self.population.table(*one)) for one in tables])
        return float(np.mean(given & _enough(count, ones)))

    def reaches(self, rows: int, times: int, power: float) -> bool:
        """Whether the wanted verdict comes in at least this share of so many tables."""
        subject = self.asked.rule.subject
        if rows < self.asked.ground.least_rows or subject in (MeasureName.ECE, MeasureName.LINF):
            return self.share(rows, times) >= power
        count, ones = self._drawn(rows, times)
        count, ones = count[_enough(count, ones)], ones[_enough(count, ones)]
        last = math.ceil(power * times) - 1
        if last >= count.shape[0]:
            return False
        if subject is not MeasureName.L2:
            return _so_many(self.asked, self.population, count, ones, wanted=last + 1)
        place = _in_order(self.asked, self.population, count, ones)[last]
        return is_given(self.asked, self.population.table(count[place], ones[place]))

    def _drawn(self, rows: int, times: int) -> tuple[Integers, Integers]:
        kept = self.asked.rule.subject is MeasureName.L2
        return self.population.drawn(rows, times=times, generator=self.generator, shares_kept=kept)


def share_by_theorem(looks: Looks, rows: int, times: int) -> float:
    """Return the share of tables to which Theorem 12.4 gives the verdict, for the ECE."""
    asked, population = looks.asked, looks.population
    count, ones = population.drawn(rows, times=times, generator=looks.generator)
    gap = segment_sums(ones - count * population.score, population.starts)
    value = np.abs(gap).sum(axis=-1) / rows
    margin = bounded_differences(rows, asked.ground.delta)
    if asked.wanted is VerdictName.PASS:
        return float(np.mean(value + margin <= asked.rule.limit))
    bins = population.starts.size - 1
    return float(np.mean(value - math.sqrt(bins / rows) - margin > asked.rule.limit))


def stakes_of(ground: Ground, *, rows: int, delta: float) -> Stakes:
    """Return the bets of a gate on the ECE."""
    if ground.variance is None:
        return stakes_for_any_time(delta=delta)
    return stakes_for_one_look(rows, ground.variance, delta=delta)


def level_of(asked: Asked) -> float:
    """Return the error probability of the wanted verdict."""
    return asked.ground.delta if asked.wanted is VerdictName.PASS else asked.ground.fail_delta


def _enough(count: Integers, ones: Integers) -> Flags:
    positive = ones.sum(axis=-1)
    return np.asarray(np.minimum(positive, count.sum(axis=-1) - positive) >= LEAST_RARER)


def _by_bets(asked: Asked, population: Population, count: Integers, ones: Integers) -> Flags:
    delta = level_of(asked)
    stakes = stakes_of(asked.ground, rows=int(count[0].sum()), delta=delta)
    above = asked.wanted is VerdictName.FAIL
    limit = asked.rule.limit
    found = log_evidence(count, ones, population=population, limit=limit, stakes=stakes, above=above)
    return np.asarray(found >= math.log(1.0 / delta))


def _by_rates(asked: Asked, population: Population, count: Integers, ones: Integers) -> Flags:
    given = np.zeros(count.shape[0], np.bool_)
    occupied = (count > 0).sum(axis=-1)
    for number in np.unique(occupied).tolist():
        some = occupied == number
        given[some] = _by_rates_of(asked, population, count[some], ones[some], bins=number)
    return given


def _by_rates_of(
    asked: Asked, population: Population, count: Integers, ones: Integers, *, bins: int
) -> Flags:
    """Judge tables with equally many values that occur."""
    passes = asked.wanted is VerdictName.PASS
    delta = level_of(asked) if passes else each_of(bins, level_of(asked)) / 2.0
    some, score = count > 0, np.broadcast_to(population.score, count.shape)
    low, high = score.copy(), score.copy()
    counted = (one[some].astype(np.float64) for one in (ones, count))
    low[some], high[some] = rate_bounds(*counted, delta_each_side=delta)
    if not passes:
        return np.asarray(np.maximum(low - score, score - high).max(axis=-1) > asked.rule.limit)
    outputs = asked.ground.outputs
    seen = outputs is None or bins == len(outputs)
    return np.asarray((np.maximum(high - score, score - low).max(axis=-1) <= asked.rule.limit) & seen)


def _by_order(asked: Asked, population: Population, count: Integers, ones: Integers) -> Flags:
    """Judge as few tables as it takes to find from which value of sum G on the verdict is given."""
    order = _in_order(asked, population, count, ones)
    low, high = 0, order.size
    while low < high:
        middle = (low + high) // 2
        place = order[middle]
        if is_given(asked, population.table(count[place], ones[place])):
            low = middle + 1
        else:
            high = middle
    given = np.zeros(order.size, np.bool_)
    given[order[:low]] = True
    return given


def _so_many(asked: Asked, population: Population, count: Integers, ones: Integers, *, wanted: int) -> bool:
    """Whether at least so many tables get the verdict; no further ones are judged once that is settled."""
    given, left = 0, count.shape[0]
    for one in zip(count, ones, strict=True):
        if given >= wanted or given + left < wanted:
            break
        given, left = given + is_given(asked, population.table(*one)), left - 1
    return given >= wanted


def _in_order(asked: Asked, population: Population, count: Integers, ones: Integers) -> npt.NDArray[np.intp]:
    """Return the places of the tables, those with the most to say for the verdict first."""
    if population.score.size == 1:
        # One rate has bounds of its own, and the farther end of them goes with the verdict.
        counted = (one[:, 0].astype(np.float64) for one in (ones, count))
        low, high = rate_bounds(*counted, delta_each_side=level_of(asked))
        announced = population.score
        passes = asked.wanted is VerdictName.PASS
        farther = (
            np.maximum(high - announced, announced - low)
            if passes
            else np.minimum(announced - low, high - announced)
        )
        return np.argsort(farther, kind="stable")
    some = count[0] > 1
    n, v, x = count[0][some], population.score[some], ones[:, some]
    gap = x - n * v
    size = ((gap**2 - x * (1.0 - 2.0 * v) - n * v**2) / (n - 1.0)).sum(axis=-1)
    return np.argsort(size if asked.wanted is VerdictName.PASS else -size, kind="stable")


def is_given(asked: Asked, table: ScoreTable) -> bool:
    """Whether a table of enough rows gets the wanted verdict: by the bound that decides it, and no other."""
    delta, limit = level_of(asked), asked.rule.limit
    found = (_passes if asked.wanted is VerdictName.PASS else _fails)(asked, table, delta=delta, limit=limit)
    if found is None:
        return judge(table, asked.rule, ground=asked.ground).outcome is asked.wanted
    return found


def _passes(asked: Asked, table: ScoreTable, *, delta: float, limit: float) -> bool | None:
    """Whether the upper bound is at most the limit; None where there is no short way to tell."""
    match asked.rule.subject:
        case MeasureName.ECE:
            return _bets_on(asked, table).log_evidence_below(limit, _stakes(asked, table)) >= -math.log(delta)
        case MeasureName.L2 if asked.ground.bins.edges is None:
            found = upper_bound(table, binned(table, asked.ground.bins), delta=delta)
            return None if found is None else found[0] <= limit
        case MeasureName.LINF if asked.ground.bins.edges is None:
            seen = asked.ground.outputs is None or bool(np.isin(asked.ground.outputs, table.score).all())
            sums = binned(table, asked.ground.bins)
            return seen and float(farthest(sums, delta=delta)[1].max()) <= limit
        case MeasureName.SMECE:
            return _smece_passes(asked, table, delta=delta, limit=limit)
        case MeasureName.DCE:
            interval = distance_interval(table, confidence=1.0 - 2.0 * delta)
            return interval.upper is not None and interval.upper <= limit
        case _:
            return None


def _fails(asked: Asked, table: ScoreTable, *, delta: float, limit: float) -> bool | None:
    """Whether the lower bound is above the limit; None where there is no short way to tell."""
    match asked.rule.subject:
        case MeasureName.ECE:
            return _bets_on(asked, table).log_evidence_above(limit, _stakes(asked, table)) >= -math.log(delta)
        case MeasureName.L2 if asked.ground.bins.edges is None:
            return lower_bound(table, binned(table, asked.ground.bins), delta=delta)[0] > limit
        case MeasureName.LINF if asked.ground.bins.edges is None:
            sums = binned(table, asked.ground.bins)
            each = each_of(int(sums.occupied.sum()), delta) / 2.0
            return float(farthest(sums, delta=each)[0].max()) > limit
        case MeasureName.SMECE:
            return _smece_fails(table, delta=delta, limit=limit)
        case MeasureName.DCE:
            level, tilt = dictionary(table, delta=delta)
            return max(level, tilt / 3.0) > limit
        case _:
            return None


def _smece_passes(asked: Asked, table: ScoreTable, *, delta: float, limit: float) -> bool:
    """Whether bets refute a norm above the limit; narrower bandwidths than the least are not resolved."""
    stakes, held = stakes_for(table.total_rows, asked.ground.variance, delta=delta), weighed(table)

    def refuted(norm: float) -> bool:
        return held.log_evidence_below(limit, stakes, norm=norm) >= -math.log(delta)

    # No norm is below the size of the mean residual, which is found sooner.
    least = abs(float(residuals(table).sum())) / table.total_rows
    return limit >= LEAST_BANDWIDTH and refuted(least) and refuted(_norm(table, limit))


def _smece_fails(table: ScoreTable, *, delta: float, limit: float) -> bool:
    """Whether either lower bound is above the limit; that by the norm is where the norm at the limit is."""
    of_mean, of_norm = error_shares(delta, signs=table.distinct)
    by_mean = least_by_mean(table, delta=of_mean) > limit
    if by_mean or not of_norm:
        return by_mean
    at = max(limit, LEAST_BANDWIDTH)
    strays = norm_may_stray(table, at, delta=of_norm)
    return strays + limit < 1.0 and _norm(table, at) - strays > limit


def _norm(table: ScoreTable, bandwidth: float) -> float:
    """Return the smoothed norm of the residuals, within some 1e-4 of its size."""
    return float(residual_series(table).l1_norm(bandwidth, oversampling=_OVERSAMPLING))


def _bets_on(asked: Asked, table: ScoreTable) -> GroupedResiduals:
    return grouped_residuals(table, binned(table, asked.ground.bins))


def _stakes(asked: Asked, table: ScoreTable) -> Stakes:
    return stakes_of(asked.ground, rows=table.total_rows, delta=level_of(asked))
