"""How many labelled rows a gate will take, before any are collected: by simulation with its own verdicts."""

import math
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from calibcli.errors import UsageProblem
from calibcli.names import DEFAULT_SEED, MeasureName, Purpose, VerdictName
from calibcli.options.numerals import in_full, rough_percent
from calibcli.options.rules import Rule
from calibcli.stats.bounds import betting
from calibcli.stats.bounds.means import bounded_differences
from calibcli.stats.bounds.proportion import rate_bounds
from calibcli.stats.gates import judge
from calibcli.stats.gates.claim import LEAST_RARER, Ground
from calibcli.stats.gates.rows_needed import Growth, fresh_scores
from calibcli.stats.gates.segments import SegmentGrowth, sizes_above, sizes_below, slowness
from calibcli.stats.measures.bias import error_shares, least_by_mean
from calibcli.stats.measures.binned import each_of
from calibcli.stats.measures.distance import dictionary, is_within
from calibcli.stats.measures.l2 import MOST_CHERNOFF_BINS, lower_bound, upper_bound
from calibcli.stats.measures.segments import Crossed, Segments, columns_of, in_segment, joined, subset
from calibcli.stats.measures.smooth_ece import norm_may_stray, stakes_for, weighed
from calibcli.stats.numerics import crossing, stream
from calibcli.stats.table import Booleans, Floats, Indices, Integers, ScoreTable, run_starts
from calibcli.stats.table.bins import Bins, binned, segment_sums
from calibcli.stats.table.grid import Table, residuals
from calibcli.stats.table.kernel import LEAST_BANDWIDTH, residual_series
from calibcli.values import dataclass, replace

# Scores are kept to about so many values, each within one bin: labels tell neighbours apart by less.
MOST_VALUES = 128

CALIBRATED = "labels follow the scores"


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """A population of rows.

    Args:
        score: The values that scores take, ascending, shape (n_values,).
        share: The share of rows with each; they sum to 1.
        rate: Probability of label 1 at each.
        starts: Position of each bin's first value, shape (n_bins + 1,), the last is the end; no bin is empty.
        places: The right edge of each bin, or its value, shape (n_bins,).
        words: How labels go with scores.
    """

    score: Floats
    share: Floats
    rate: Floats
    starts: Indices
    places: Floats
    words: str = CALIBRATED

    @property
    def variance(self) -> float:
        """Mean of f (1 - f)."""
        return float((self.share * self.score * (1.0 - self.score)).sum())

    def drawn(self, rows: int, *, times: int, generator: np.random.Generator) -> tuple[Integers, Integers]:
        """Draw rows, several times over: of each value, and of label 1, shape (times, n_values)."""
        count = generator.multinomial(rows, self.share, size=times)
        return count, generator.binomial(count, self.rate)

    def table(self, count: Integers, ones: Integers) -> ScoreTable:
        some = count > 0
        return ScoreTable(self.score[some], count[some], ones[some])


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """Tables of rows drawn from a population: rows of each value, and of label 1, shape (times, n_values)."""

    population: Population
    count: Integers
    ones: Integers

    def some(self, which: npt.NDArray[np.generic]) -> "Tables":
        return Tables(self.population, self.count[which], self.ones[which])

    def at(self, place: int) -> ScoreTable:
        return self.population.table(self.count[place], self.ones[place])


def population_of(score: Floats, rows: Floats, *, bins: Bins, most: int = MOST_VALUES) -> Population:
    """Return the population in which scores fall as they did in some rows, and labels follow them."""
    some = rows > 0
    score, rows = score[some], np.asarray(rows[some], dtype=np.float64)
    # Each score is a bin of its own where the partition is of atoms.
    starts = binned(
        ScoreTable(score, np.ones(score.size, np.int64), np.zeros(score.size, np.int64)), bins
    ).starts
    place = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    if score.size > most:
        middle = (np.cumsum(rows) - 0.5 * rows) / rows.sum()
        together = place * most + np.minimum((middle * most).astype(np.int64), most - 1)
        first = run_starts(together)
        total = np.add.reduceat(rows, first)
        # The last digit of a mean may be rounded past the scores it is of.
        ends = score[first], score[np.append(first[1:], score.size) - 1]
        score = np.clip(np.add.reduceat(rows * score, first) / total, *ends)
        rows, place = total, place[first]
    starts = np.append(run_starts(place), place.size)
    places = score if bins.edges is None else bins.edges[1:][place[starts[:-1]]]
    return Population(score, rows / rows.sum(), score, starts, places)


def population_like(table: Table, *, bins: Bins, measure: MeasureName) -> Population:
    """Return the population in which scores fall as in a table, whatever its labels."""
    if measure not in (MeasureName.DCE, MeasureName.SMECE) or bins.edges is None:
        # The mean of a cell may be rounded onto the edge of the one before, which is another value.
        above = np.maximum(table.score[1:], np.nextafter(table.upper[:-1], 1.0))
        score = np.append(table.score[:1], above)
        return population_of(score, table.rows.astype(np.float64), bins=bins)
    score, rows = fresh_scores(table)
    return population_of(score, rows, bins=bins, most=score.size)


def erring(population: Population, measure: MeasureName, error: float) -> tuple[Population, ...]:
    """Return populations with these scores whose error is exactly so large, in the patterns that are tried.

    Every score is too low, every score is too high, or all of the error sits in the bin with the fewest rows
    that can hold it. Errors have one sign, so that ECE, over whichever bins, smECE and the distance to
    calibration are all the mean of label rate - score: smoothing keeps the mean of residuals of one sign, and
    that mean is the least and moving to the rates the most that recalibrating can take.
    """
    if error == 0.0:
        return (population,)
    found = (*_spread(population, measure, error), *_in_one_bin(population, measure, error))
    if not found:
        msg = f"no labels can give these scores an error of {in_full(error)}"
        raise UsageProblem(msg, "pass a smaller --error, such as half the limit")
    return found


def _spread(population: Population, measure: MeasureName, error: float) -> Iterator[Population]:
    for sign, word in ((1.0, "low"), (-1.0, "high")):
        shift = _shift(population, _room(population, sign), measure, error=error)
        if shift is not None:
            rate = population.score + sign * shift
            yield replace(population, rate=rate, words=f"every score is too {word}")


def _in_one_bin(population: Population, measure: MeasureName, error: float) -> Iterator[Population]:
    """Yield the pattern with the whole error in the bin of the fewest rows that can hold it."""
    shares = segment_sums(population.share, population.starts)
    if shares.size == 1:
        return
    for place in np.argsort(shares, kind="stable").tolist():
        inside = slice(*population.starts[place : place + 2])
        for sign in (1.0, -1.0):
            room = np.zeros_like(population.score)
            room[inside] = _room(population, sign)[inside]
            shift = _shift(population, room, measure, error=error)
            if shift is not None:
                low, high = (f"{population.score[inside][end]:.3g}" for end in (0, -1))
                around = f"of {low}" if low == high else f"from {low} to {high}"
                where = f"the {rough_percent(shares[place])} of rows with scores {around}"
                way = "low" if sign > 0.0 else "high"
                rate = population.score + sign * shift
                yield replace(population, rate=rate, words=f"only {where} are wrong, and too {way}")
                return


def _room(population: Population, sign: float) -> Floats:
    return 1.0 - population.score if sign > 0.0 else population.score


def _shift(population: Population, room: Floats, measure: MeasureName, *, error: float) -> Floats | None:
    """Return the one shift, cut to the room of each value, that makes the error; None if none does."""

    def size(shift: float) -> float:
        return _simulated(measure).size(population.share, np.minimum(shift, room))

    if size(1.0) < error:
        return None
    shift = sum(crossing(lambda one: size(one) - error, 0.0, 1.0, within=1e-12)) / 2.0
    return np.asarray(np.minimum(shift, room))


def log_evidence(
    count: Integers,
    ones: Integers,
    *,
    population: Population,
    limit: float,
    stakes: betting.Stakes,
    above: bool = False,
) -> Floats:
    """Return logs of e-values: those of `GroupedResiduals.log_pass`, or `log_fail`."""
    slopes, part = (betting.against_less if above else betting.against_more)(stakes, limit)
    rows = count.sum(axis=-1).astype(np.float64)
    products = _log_products(count, ones, population=population, slopes=np.append(slopes, -slopes))
    terms = []
    for place, (share, grown) in enumerate(zip(np.log(stakes.shares), part, strict=True)):
        plus, minus = products(place), products(place + slopes.size)
        if above:
            average = betting.log_mean_over_signs(plus, minus, population.places, alone=stakes.alone)
            average += betting.log_gain(stakes, rows * grown)
        else:
            average = np.minimum(plus, minus).sum(axis=-1)
        terms.append(share + rows * np.log1p(-grown if above else grown) + average)
    return np.asarray(np.logaddexp.reduce(terms, axis=0))


def _log_products(
    count: Integers, ones: Integers, *, population: Population, slopes: Floats
) -> Callable[[int], Floats]:
    """Return, by the place of a slope, the logs of what bets of it make in each bin."""
    positive, negative = ones.astype(np.float64), (count - ones).astype(np.float64)
    score = population.score[:, None]
    of_one, of_zero = np.log1p((1.0 - score) * slopes), np.log1p(-score * slopes)
    if score.size == population.starts.size - 1:
        # Each value is a bin of its own: slopes together would take as much memory as there are of them.
        return lambda place: np.asarray(positive * of_one[:, place] + negative * of_zero[:, place])
    parts = [
        positive[..., first:end] @ of_one[first:end] + negative[..., first:end] @ of_zero[first:end]
        for first, end in pairwise(population.starts.tolist())
    ]
    sums = np.stack(parts, axis=-1)
    return lambda place: np.asarray(sums[..., place, :])


_OVERSAMPLING = 8


@dataclass(frozen=True, slots=True)
class Gate:
    rule: Rule
    ground: Ground
    wanted: VerdictName

    @property
    def limit(self) -> float:
        return self.rule.limit

    @property
    def passes(self) -> bool:
        """Whether a pass is wanted, else a fail."""
        return self.wanted is VerdictName.PASS

    @property
    def delta(self) -> float:
        """The error probability of the wanted verdict."""
        return self.ground.delta if self.passes else self.ground.fail_delta

    def concludes(self, rows: int | Integers, positive: Integers) -> Booleans:
        """Whether so many rows, of which so many have label 1, are judged."""
        enough = np.minimum(positive, rows - positive) >= LEAST_RARER
        return np.asarray(enough & (rows >= self.ground.least_rows))

    @property
    def simulated(self) -> "Simulated":
        return _simulated(MeasureName(self.rule.subject))


class Asked(ABC):
    """A gate that is asked once, simulated."""

    __slots__ = ()
    gate: Gate

    @abstractmethod
    def share(self, rows: int, times: int) -> float:
        """Return the share of so many tables of so many rows that get the wanted verdict."""

    def reaches(self, rows: int, times: int, power: float) -> bool:
        """Whether the wanted verdict comes in at least this share of so many tables."""
        return self.share(rows, times) >= power


@dataclass(frozen=True, slots=True)
class Looks(Asked):
    """A gate that judges a table as a whole.

    Every table is judged as `judge` does, but for the rows needed that its verdicts come with. The ECE is bet
    on at the limit itself, and rates are bounded for many tables at once. For the l2 error, whose bound is
    dear, verdicts go with the size of one statistic, whichever scores a table has more of, and need not be
    asked of every table.
    """

    gate: Gate
    population: Population
    generator: np.random.Generator

    def share(self, rows: int, times: int) -> float:
        if rows < self.gate.ground.least_rows:
            return 0.0
        tables = self._drawn(rows, times)
        given = self.gate.simulated.many(self.gate, tables)
        return float(np.mean(given & self.gate.concludes(rows, tables.ones.sum(axis=-1))))

    def reaches(self, rows: int, times: int, power: float) -> bool:
        simulated = self.gate.simulated
        if rows < self.gate.ground.least_rows or simulated.at_once:
            return self.share(rows, times) >= power
        tables = self._drawn(rows, times)
        tables = tables.some(self.gate.concludes(rows, tables.ones.sum(axis=-1)))
        last = math.ceil(power * times) - 1
        if last >= tables.count.shape[0]:
            return False
        if not simulated.ordered:
            return _so_many(self.gate, tables, wanted=last + 1)
        others = _by_other_bounds(tables)
        last -= int(_one_by_one(self.gate, tables.some(others)).sum())
        tables = tables.some(~others)
        if not 0 <= last < tables.count.shape[0]:
            return last < 0
        return is_given(self.gate, tables.at(_in_order(self.gate, tables)[last]))

    def _drawn(self, rows: int, times: int) -> Tables:
        one = self.population
        return Tables(one, *one.drawn(rows, times=times, generator=self.generator))


def share_by_theorem(looks: Looks, rows: int, times: int) -> float:
    """Return the share of tables to which Theorem 12.4 gives the verdict, for the ECE."""
    gate, population = looks.gate, looks.population
    count, ones = population.drawn(rows, times=times, generator=looks.generator)
    gap = segment_sums(ones - count * population.score, population.starts)
    value = np.abs(gap).sum(axis=-1) / rows
    margin = bounded_differences(rows, gate.ground.delta)
    if gate.passes:
        return float(np.mean(value + margin <= gate.limit))
    bins = population.starts.size - 1
    return float(np.mean(value - math.sqrt(bins / rows) - margin > gate.limit))


def _by_bets(gate: Gate, tables: Tables) -> Booleans:
    stakes = betting.stakes_of_gate(int(tables.count[0].sum()), gate.ground.variance, delta=gate.delta)
    found = log_evidence(
        tables.count,
        tables.ones,
        population=tables.population,
        limit=gate.limit,
        stakes=stakes,
        above=not gate.passes,
    )
    return np.asarray(found >= -math.log(gate.delta))


def _by_rates(gate: Gate, tables: Tables) -> Booleans:
    given = np.zeros(tables.count.shape[0], np.bool_)
    occupied = (tables.count > 0).sum(axis=-1)
    for number in np.unique(occupied).tolist():
        some = occupied == number
        given[some] = _by_rates_of(gate, tables.some(some), bins=number)
    return given


def _by_rates_of(gate: Gate, tables: Tables, *, bins: int) -> Booleans:
    """Judge tables with equally many values that occur."""
    delta = gate.delta if gate.passes else each_of(bins, gate.delta) / 2.0
    some, score = tables.count > 0, np.broadcast_to(tables.population.score, tables.count.shape)
    low, high = score.copy(), score.copy()
    counted = (one[some].astype(np.float64) for one in (tables.ones, tables.count))
    low[some], high[some] = rate_bounds(*counted, delta_each_side=delta)
    if not gate.passes:
        return np.asarray(np.maximum(low - score, score - high).max(axis=-1) > gate.limit)
    outputs = gate.ground.outputs
    seen = outputs is None or bins == len(outputs)
    return np.asarray((np.maximum(high - score, score - low).max(axis=-1) <= gate.limit) & seen)


def _by_order(gate: Gate, tables: Tables) -> Booleans:
    """Judge as few tables as it takes to find from which value of sum G on the verdict is given.

    Those of so many values that other bounds are taken, which are quick, are judged one by one.
    """
    given, others = np.zeros(tables.count.shape[0], np.bool_), _by_other_bounds(tables)
    given[others] = _one_by_one(gate, tables.some(others))
    rest = np.flatnonzero(~others)
    if rest.size:
        ordered = tables.some(rest)
        order = _in_order(gate, ordered)
        last = bisect_left(order, 1, key=lambda place: not is_given(gate, ordered.at(place)))
        given[rest[order[:last]]] = True
    return given


def _by_other_bounds(tables: Tables) -> Booleans:
    return np.asarray((tables.count > 1).sum(axis=-1) > MOST_CHERNOFF_BINS)


def _so_many(gate: Gate, tables: Tables, *, wanted: int) -> bool:
    """Whether at least so many tables get the verdict; no further ones are judged once that is settled."""
    given, left = 0, tables.count.shape[0]
    for place in range(left):
        if given >= wanted or given + left < wanted:
            break
        given, left = given + is_given(gate, tables.at(place)), left - 1
    return given >= wanted


def _in_order(gate: Gate, tables: Tables) -> Indices:
    """Return the places of the tables, those with the most to say for the verdict first."""
    population, count, ones = tables.population, tables.count, tables.ones
    if population.score.size == 1:
        # One rate has bounds of its own, and the farther end of them goes with the verdict.
        counted = (one[:, 0].astype(np.float64) for one in (ones, count))
        low, high = rate_bounds(*counted, delta_each_side=gate.delta)
        below, above = population.score - low, high - population.score
        farther = np.maximum(above, below) if gate.passes else np.minimum(below, above)
        return np.argsort(farther, kind="stable")
    v, gap = population.score, ones - count * population.score
    squares = gap**2 - ones * (1.0 - 2.0 * v) - count * v**2
    size = np.where(count > 1, squares / np.maximum(count - 1.0, 1.0), 0.0).sum(axis=-1)
    return np.argsort(size if gate.passes else -size, kind="stable")


def _one_by_one(gate: Gate, tables: Tables) -> Booleans:
    return np.array([is_given(gate, tables.at(place)) for place in range(tables.count.shape[0])], np.bool_)


def is_given(gate: Gate, table: ScoreTable) -> bool:
    """Whether a table of enough rows gets the wanted verdict: by the bound that decides it, and no other."""
    return gate.simulated.decides(gate, table)


def _judged(gate: Gate, table: ScoreTable) -> bool:
    ground = replace(gate.ground, rows_wanted=False)
    return judge(table, gate.rule, ground=ground).outcome is gate.wanted


def _l2(gate: Gate, table: ScoreTable) -> bool:
    if gate.ground.bins.edges is not None:
        return _judged(gate, table)
    sums = binned(table, gate.ground.bins)
    if not gate.passes:
        return lower_bound(table, sums, delta=gate.delta)[0] > gate.limit
    found = upper_bound(table, sums, delta=gate.delta)
    return _judged(gate, table) if found is None else found[0] <= gate.limit


def _dce(gate: Gate, table: ScoreTable) -> bool:
    if gate.passes:
        return is_within(table, gate.limit, delta=gate.delta)
    level, tilt = dictionary(table, delta=gate.delta)
    return max(level, tilt / 3.0) > gate.limit


def _smece(gate: Gate, table: ScoreTable) -> bool:
    """Whether bets refute a norm above the limit, narrower bandwidths than the least not being resolved; or
    either lower bound is above the limit: that by the norm is where the norm at the limit is.
    """
    delta, limit = gate.delta, gate.limit
    if gate.passes:
        stakes, held = stakes_for(table.total_rows, gate.ground.variance, delta=delta), weighed(table)

        def refuted(norm: float) -> bool:
            return held.log_pass(limit, stakes, norm=norm) >= -math.log(delta)

        # No norm is below the size of the mean residual, which is found sooner.
        least = abs(float(residuals(table).sum())) / table.total_rows
        return limit >= LEAST_BANDWIDTH and refuted(least) and refuted(_norm(table, limit))
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


@dataclass(frozen=True, slots=True)
class Effort:
    """How often a gate is simulated.

    Args:
        searching: Tables at each number of rows that is tried on the way.
        final: Tables at the number of rows that is reported, or streams.
    """

    searching: int
    final: int

    def of_parts(self, count: int, *, usual: int) -> "Effort":
        """Return how often a gate of so many parts is simulated, if one of the usual number is so often."""
        less = max(_LEAST_EFFORT, min(1.0, usual / count))
        return Effort(math.ceil(less * self.searching), math.ceil(less * self.final))


def that_may_decide(slowness: Floats, *, passes: bool, usual: int) -> Integers:
    """Return the places of the parts of a gate that are simulated, the slowest first.

    All must pass, and however many are alike each may be the one that does not. Of more than are usual those
    are left out that take a quarter of the rows of the slowest, as they pass long before it. A gate that is
    to fail waits for the slowest.
    """
    order = np.argsort(-slowness, kind="stable")
    if passes and order.size > usual:
        return np.compress(slowness[order] >= _EASIER * slowness[order[0]], order)
    return order[:usual]


def _mean(share: Floats, gap: Floats) -> float:
    return float((share * gap).sum())


@dataclass(frozen=True, slots=True)
class Simulated:
    """How a gate on a measure is simulated: its verdicts are those of `judge`, which take longer.

    Args:
        effort: As often as a few seconds allow.
        decides: Whether a table gets the wanted verdict, by the one bound that decides it: for a pass the
            upper one, at most the limit, for a fail the lower one, above it.
        size: The error where rates err in one direction by so much, from the shares of rows.
        many: Judges many tables.
        at_once: Whether that takes little longer than one.
        ordered: Whether verdicts go with the size of one statistic, up to a few next to where they change.
    """

    effort: Effort
    decides: Callable[[Gate, ScoreTable], bool] = _judged
    size: Callable[[Floats, Floats], float] = _mean
    many: Callable[[Gate, Tables], Booleans] = _one_by_one
    at_once: bool = False
    ordered: bool = False


SIMULATED: Mapping[MeasureName, Simulated] = {
    MeasureName.ECE: Simulated(Effort(300, 1000), many=_by_bets, at_once=True),
    MeasureName.L2: Simulated(
        Effort(300, 1000),
        _l2,
        lambda share, gap: math.sqrt(float((share * gap**2).sum())),
        _by_order,
        ordered=True,
    ),
    MeasureName.LINF: Simulated(
        Effort(150, 500), size=lambda _, gap: float(gap.max()), many=_by_rates, at_once=True
    ),
    MeasureName.SMECE: Simulated(Effort(60, 200), _smece),
    MeasureName.DCE: Simulated(Effort(60, 200), _dce),
}


def _simulated(measure: MeasureName) -> Simulated:
    """Return how a gate is simulated; no command plans those on other measures, which benchmarks do."""
    return SIMULATED.get(measure) or Simulated(Effort(60, 200))


# Numbers held at once while streams are simulated.
_AT_ONCE = 2_000_000


def first_verdicts(
    gate: Gate,
    population: Population,
    *,
    step: int,
    looks: int,
    times: int,
    generator: np.random.Generator,
) -> Floats:
    """Return rows at the first look at streams, every `step` rows, with the verdict; shape (times,)."""
    size = population.score.size
    variance = 0.25 if gate.ground.variance is None else gate.ground.variance
    stakes = betting.stakes_for_any_time(delta=gate.delta, variance=variance)
    at_once = max(1, _AT_ONCE // (looks * size))
    found: list[Floats] = []
    for start in range(0, times, at_once):
        streams = min(at_once, times - start)
        count, ones = population.drawn(step, times=streams * looks, generator=generator)
        so_far = [one.reshape(streams, looks, size).cumsum(axis=1) for one in (count, ones)]
        evidence = log_evidence(
            *so_far, population=population, limit=gate.limit, stakes=stakes, above=not gate.passes
        )
        rows = step * np.arange(1, looks + 1)
        given = (evidence >= math.log(1.0 / gate.delta)) & gate.concludes(rows, so_far[1].sum(axis=-1))
        found.append(np.where(given.any(axis=-1), rows[given.argmax(axis=-1)], np.inf))
    return np.concatenate(found)


MOST_ROWS = 1_000_000_000

_WITHIN, _ABOUT = 1.01, 1.03

# A number of rows that turns out too small is raised so often, by so much.
_TRIES = 8

_FURTHER = 1.02

_LOOKS = 60

_STANDING_IN = 1e6


@dataclass(frozen=True, slots=True)
class Plan:
    """What simulation found.

    Args:
        population: The pattern of errors that took most rows.
        rows: Rows at which the verdict comes with the power asked for; None above a billion.
        reached: Share of simulated gates that gave it there.
        times: How many were simulated there.
        half: Rows at which every second one gives it, or None.
        by_theorem: Rows that Theorem 12.4 takes with the same power, or None where it does not apply.
        step: Rows between two looks, for a gate that is asked again, else None.
    """

    population: Population
    rows: int | None
    reached: float | None
    times: int
    half: int | None
    by_theorem: int | None
    step: int | None = None


def planned(
    gate: Gate,
    patterns: Sequence[Population],
    *,
    power: float,
    again: bool,
    generator: np.random.Generator,
) -> Plan:
    """Find how many rows a gate takes under the pattern of errors that takes most."""
    planned_one = _streaming if again else _looking
    plans = [planned_one(Looks(gate, one, generator), power) for one in patterns]
    return max(plans, key=lambda plan: math.inf if plan.rows is None else plan.rows)


# Of more parts a gate is simulated less often, and so it is of fewer where one of them takes long.
_MOST_PARTS, _FEW_PARTS = 20, 5
# But no less than a tenth as often. Parts that take so many fewer rows than others hardly ever decide.
_LEAST_EFFORT, _EASIER = 0.1, 0.25

# Tables of about as many rows are judged as one size; there are so many sizes.
_STRATA = 20


@dataclass(frozen=True, slots=True)
class Part:
    """Rows judged by themselves, such as a class: their `share`, and `patterns` of their labels."""

    name: str
    share: float
    patterns: tuple[Population, ...]


@dataclass(frozen=True, slots=True)
class _Together(Asked):
    """A gate that judges several parts, each by itself.

    All must pass: the chances that one of them does not are added up, however they depend on each other. One
    is enough to fail, and any may be the one that errs.
    """

    gate: Gate
    parts: Sequence[Part]
    generator: np.random.Generator

    def each(self, rows: int, times: int) -> list[tuple[float, Population]]:
        """Return for each part its worst pattern, after the share of tables that get the verdict in it."""
        found = (
            [(self._of_part(part, one, rows, times), one) for one in part.patterns] for part in self.parts
        )
        return [min(patterns, key=lambda one: one[0]) for patterns in found]

    def _of_part(self, part: Part, population: Population, rows: int, times: int) -> float:
        """Return that share; how many of the rows are the part's is chance too, and is drawn first."""
        looks = Looks(self.gate, population, self.generator)
        drawn = np.sort(self.generator.binomial(rows, part.share, times))
        alike = [drawn] if drawn[0] == drawn[-1] else np.array_split(drawn, min(times, _STRATA))
        return sum(looks.share(int(np.median(one)), one.size) * one.size for one in alike) / times

    def share(self, rows: int, times: int) -> float:
        """Return a share of gates that is not exceeded."""
        found = [share for share, _ in self.each(rows, times)]
        return max(0.0, 1.0 - sum(1.0 - one for one in found)) if self.gate.passes else min(found)


def planned_together(
    gate: Gate, parts: Sequence[Part], *, power: float, generator: np.random.Generator
) -> tuple[Plan, Part, int]:
    """Find how many rows all parts take together, which of them takes most, and how many were simulated."""
    most = _MOST_PARTS if gate.simulated.at_once else _FEW_PARTS
    needed = np.array([max(_start(gate, one) for one in part.patterns) / part.share for part in parts])
    places = that_may_decide(needed, passes=gate.passes, usual=most).tolist()
    hardest = [parts[place] for place in places]
    effort = gate.simulated.effort.of_parts(len(hardest), usual=most)
    together = _Together(gate, hardest, generator)
    start = min(round(float(needed[places[0]])), MOST_ROWS)
    rows, reached, half = searched(together, start=start, power=power, effort=effort)
    found = together.each(rows, effort.final) if rows is not None else [(0.0, hardest[0].patterns[0])]
    least = int(np.argmin([share for share, _ in found]))
    return Plan(found[least][1], rows, reached, effort.final, half, None), hardest[least], len(hardest)


def _looking(looks: Looks, power: float) -> Plan:
    effort, start = looks.gate.simulated.effort, _start(looks.gate, looks.population)
    rows, reached, half = searched(looks, start=start, power=power, effort=effort)
    theorem = _by_theorem(looks, start=start, power=power)
    return Plan(looks.population, rows, reached, effort.final, half, theorem)


def searched(
    looks: Asked, *, start: int, power: float, effort: Effort
) -> tuple[int | None, float | None, int | None]:
    """Return the rows that reach a power, the share that they do reach, and the rows that reach one half."""
    least = looks.gate.ground.least_rows
    rows = _rows_at(lambda n: looks.reaches(n, effort.searching, power), start=start, least=least)
    if rows is None:
        return None, None, None
    # There the gate is simulated more often, and a few more rows are taken until they are enough.
    for _ in range(_TRIES):
        if looks.share(rows, effort.final) >= power:
            break
        rows = math.ceil(_FURTHER * rows)
    # Anew: of shares that were looked at until one was enough, that one is too high.
    reached = looks.share(rows, effort.final)
    half = _rows_at(lambda n: looks.reaches(n, effort.searching, 0.5), start=rows, least=least)
    return rows, reached, half


def _streaming(looks: Looks, power: float) -> Plan:
    gate, population, times = looks.gate, looks.population, looks.gate.simulated.effort.final
    start = horizon = _start(gate, population)
    first, step = np.full(1, np.inf), None
    while not np.mean(np.isfinite(first)) > power and horizon < MOST_ROWS:
        horizon *= 2
        step = _round(horizon / _LOOKS)
        first = first_verdicts(
            gate, population, step=step, looks=_LOOKS, times=times, generator=looks.generator
        )
    theorem = _by_theorem(looks, start=start, power=power)
    ends = np.quantile(first, (0.5, power), method="inverted_cdf").tolist()
    half, rows = (int(one) if math.isfinite(one) else None for one in ends)
    reached = None if rows is None else float(np.mean(first <= rows))
    return Plan(population, rows, reached, times, half, theorem, step)


def _round(step: float) -> int:
    """Return a whole number with one digit that is not 0, at least as large."""
    unit: int = 10 ** max(0, len(str(int(step))) - 1)
    return unit * math.ceil(step / unit)


def _by_theorem(looks: Looks, *, start: int, power: float) -> int | None:
    gate = looks.gate
    if gate.rule.subject is not MeasureName.ECE:
        return None
    return _rows_at(
        lambda rows: share_by_theorem(looks, rows, gate.simulated.effort.final) >= power,
        start=min(2 * start, MOST_ROWS),
        least=gate.ground.least_rows,
    )


def _start(gate: Gate, population: Population) -> int:
    return min(max(_begin(gate, population), gate.ground.least_rows), MOST_ROWS)


def _begin(gate: Gate, population: Population) -> int:
    """Return where to begin: the rows at which bets on the ECE grow to their level on average."""
    ground = gate.ground
    score = population.score
    table = ScoreTable(
        score, np.ceil(_STANDING_IN * population.share).astype(np.int64), np.zeros(score.size, np.int64)
    )
    edges = np.concatenate(([0.0], score[population.starts[1:-1] - 1], [1.0]))
    growth = Growth(table, binned(table, Bins(None, edges)), delta=ground.delta, variance=population.variance)
    gap = gate.limit - gate.simulated.size(population.share, np.abs(population.rate - score))
    return growth.rows_to_pass(gap) if gate.passes else growth.rows_to_fail(-gap)


def as_likely_as_not(
    rule: Rule, ground: Ground, population: Population, *, wanted: VerdictName = VerdictName.PASS
) -> int:
    """Return the rows with which every second gate gives a verdict, to 3 %; above a billion by a formula.

    It is what a plan finds for a power of one half, of rows whose scores fall as those of a verdict did.
    """
    gate = Gate(rule, ground, wanted)
    looks = Looks(gate, population, stream(DEFAULT_SEED, Purpose.PLAN))
    times, begin = gate.simulated.effort.searching, _begin(gate, population)
    found = None
    if begin < MOST_ROWS:
        found = _rows_at(
            lambda rows: looks.reaches(rows, times, 0.5),
            start=max(begin, ground.least_rows),
            least=ground.least_rows,
            within=_ABOUT,
        )
    return max(begin, MOST_ROWS) if found is None else found


def shifted(population: Population, measure: MeasureName, error: float, *, low: bool) -> Population:
    """Return a population whose scores are all too low, or too high, or else the other way round."""
    if error == 0.0:
        return population
    found = sorted(_spread(population, measure, error), key=lambda one: one.words.endswith("low") is not low)
    return found[0] if found else population


def _rows_at(
    reaches: Callable[[int], bool], *, start: int, least: int, within: float = _WITHIN
) -> int | None:
    """Return the rows from which on something is reached, to a factor `within`; None above a billion."""
    low, high, rows = 0, 0, start
    while not (low and high and high <= within * low):
        if reaches(rows):
            high = rows
        else:
            low = rows
        if high == least:
            return least
        if low >= MOST_ROWS:
            return None
        guess = math.sqrt(low * high) if low and high else 1.5 * low if low else high / 1.5
        rows = min(max(round(guess), least), MOST_ROWS)
        if rows in (low, high):
            break
    return high


# Scores within a segment are kept to so many values, each of as many rows.
_VALUES = 16

# Of more segments the gate is simulated less often.
_USUAL_SEGMENTS, _SEGMENTS_EFFORT = 50, Effort(400, 1_000)


@dataclass(frozen=True, slots=True, eq=False)
class SegmentLooks(Asked):
    """A gate on segments that is asked once, simulated.

    Args:
        shares: The share of all rows that each of some segments has.
        judged: How many segments there are in all.
        overall: The rate of label 1 over all rows.
    """

    gate: Gate
    shares: Floats
    populations: Sequence[Population]
    judged: int
    overall: float
    generator: np.random.Generator

    def share(self, rows: int, times: int) -> float:
        ground, draw = self.gate.ground, self.generator
        enough = self.gate.concludes(rows, draw.binomial(rows, self.overall, times))
        if not enough.any():
            return 0.0
        pairs = zip(self.populations, self.shares, strict=True)
        every = joined(_drawn_segment(one, draw.binomial(rows, share, times), draw) for one, share in pairs)
        shape, limit = (len(self.populations), times), self.gate.limit
        if self.gate.passes:
            given = (sizes_below(every, ground.delta).reshape(shape) <= limit).all(axis=0)
        else:
            lower = sizes_above(every, ground.fail_delta / (2.0 * self.judged))
            given = (lower.reshape(shape) > limit).any(axis=0)
        return float(np.mean(given & enough))


def _drawn_segment(population: Population, rows: Integers, generator: np.random.Generator) -> Segments:
    count = generator.multinomial(rows, population.share)
    ones = generator.binomial(count, population.rate)
    score, many = population.score, np.maximum(rows, 1).astype(np.float64)
    total, positive = count @ score, ones.sum(axis=1).astype(np.float64)
    none = np.zeros(many.size)
    return Segments(
        level=np.zeros((many.size, 1), np.int64),
        rows=many,
        positive=positive,
        score=total / many,
        residual=positive - total,
        variance=_rounded(count @ (score * (1.0 - score))),
        squares=_rounded(ones @ (1.0 - score) ** 2 + (count - ones) @ score**2),
        skewness=none,
        sigma=none,
        same=none.astype(np.bool_),
    )


def _rounded(values: Floats) -> Floats:
    """Return values to three digits, so that of many draws a few bounds are computed."""
    unit = 10.0 ** np.floor(np.log10(np.maximum(values, 1e-9)) - 2.0)
    return np.asarray(np.rint(values / unit) * unit)


def planned_segments(
    gate: Gate,
    entries: Crossed,
    some: Segments,
    names: Sequence[str],
    *,
    error: float,
    power: float,
    generator: np.random.Generator,
) -> Plan:
    """Find how many rows a gate on segments takes.

    Args:
        entries: Rows whose scores and columns are those of the rows to come.
        some: The segments that are judged.
        error: The bias of the smallest segment that can have it; the others are calibrated.
    """
    every = entries.of(())
    rows = float(every.rows.sum())
    slowest = that_may_decide(slowness(some), passes=gate.passes, usual=_USUAL_SEGMENTS).tolist()
    wrong, population = slowest[0], _within_segment(entries, some, slowest[0])
    words = f"{CALIBRATED} in every segment"
    if error > 0.0:
        wrong, population = _smallest_erring(entries, some, names, error=error)
        gap = float((population.share * (population.rate - population.score)).sum())
        share = rough_percent(float(some.rows[wrong]) / rows)
        way = "low" if gap > 0.0 else "high"
        words = f"only {names[wrong]} is wrong, {share} of rows, and scores are too {way} there"
    population = replace(population, words=words)
    others = [one for one in slowest if one != wrong] if gate.passes else []
    looks = SegmentLooks(
        gate,
        some.rows[[wrong, *others]] / rows,
        [population, *(_within_segment(entries, some, one) for one in others)],
        some.size,
        float((every.rows * every.score).sum()) / rows,
        generator,
    )
    ground, one = gate.ground, subset(some, np.array([wrong]))
    one = replace(one, positive=one.rows * float((population.share * population.rate).sum()))
    growth = SegmentGrowth(
        one, share=float(one.rows[0]) / rows, levels=(ground.fail_delta / (2.0 * some.size), ground.delta)
    )
    begin = growth.rows_to_pass(gate.limit) if gate.passes else growth.rows_to_fail(gate.limit)
    start = min(max(begin, ground.least_rows), MOST_ROWS)
    effort = _SEGMENTS_EFFORT.of_parts(len(looks.populations), usual=_USUAL_SEGMENTS)
    found, reached, half = searched(looks, start=start, power=power, effort=effort)
    return Plan(population, found, reached, effort.final, half, None)


def _within_segment(entries: Crossed, some: Segments, place: int) -> Population:
    """Return the rows of a segment at a few scores, each of about as many rows; labels follow them."""
    level = tuple(some.level[place].tolist())
    seen = entries.of(columns_of(level), level)
    inside = np.flatnonzero(in_segment(seen, level))
    rows, score = seen.rows[inside], seen.score[inside]
    middle = (np.cumsum(rows) - 0.5 * rows) / rows.sum()
    cell = np.unique((middle * _VALUES).astype(np.int64), return_inverse=True)[1].reshape(-1)
    total = np.bincount(cell, rows)
    mean = np.clip(np.bincount(cell, rows * score) / total, 0.0, 1.0)
    return Population(mean, total / rows.sum(), mean, np.arange(mean.size + 1), mean)


def _smallest_erring(
    entries: Crossed, some: Segments, names: Sequence[str], *, error: float
) -> tuple[int, Population]:
    """Return the smallest segment whose labels can be off by so much, and its rows."""
    for place in np.argsort(some.rows, kind="stable").tolist():
        found = next(_spread(_within_segment(entries, some, place), MeasureName.ECE, error), None)
        if found is not None:
            return place, found
    msg = f"no labels can give any of {len(names):,} segments a bias of {in_full(error)}"
    raise UsageProblem(msg, "pass a smaller --error, such as half the limit")
