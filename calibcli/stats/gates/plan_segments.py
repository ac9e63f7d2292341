"""How many labelled rows a gate on segments will take: by simulation with the bounds that judge them."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from calibcli.errors import UsageProblem
from calibcli.options.numerals import in_full
from calibcli.stats.gates.plan import (
    CALIBRATED,
    MOST_ROWS,
    Asked,
    Effort,
    Gate,
    Plan,
    Population,
    searched,
    that_may_decide,
)
from calibcli.stats.gates.segments import SegmentGrowth, sizes_above, sizes_below, slowness
from calibcli.stats.measures.segments import Crossed, Segments, columns_of, in_segment, subset
from calibcli.stats.numerics import crossing
from calibcli.stats.table import Floats, Integers
from calibcli.values import dataclass

# Scores within a segment are kept to so many values, each of as many rows.
_VALUES = 16

# Of more segments the gate is simulated less often.
_USUAL = 50

_EFFORT = Effort(400, 1_000)


@dataclass(frozen=True, slots=True, eq=False)
class SegmentLooks(Asked):
    """
    A gate on segments that is asked once, simulated.

    Args:
        shares: The share of all rows that each of some segments has.
        populations: Their rows.
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
        """Return the share of tables of so many rows that get the wanted verdict."""
        ground, draw = self.gate.ground, self.generator
        enough = self.gate.concludes(rows, draw.binomial(rows, self.overall, times))
        if not enough.any():
            return 0.0
        tables = [
            _segment(one, draw.binomial(rows, share, times), draw)
            for one, share in zip(self.populations, self.shares, strict=True)
        ]
        every = Segments(*(np.concatenate([getattr(one, name) for one in tables]) for name in _NAMES))
        shape, limit = (len(tables), times), self.gate.limit
        if self.gate.passes:
            given = (sizes_below(every, ground.delta).reshape(shape) <= limit).all(axis=0)
        else:
            lower = sizes_above(every, ground.fail_delta / (2.0 * self.judged))
            given = (lower.reshape(shape) > limit).any(axis=0)
        return float(np.mean(given & enough))


_NAMES = tuple(Segments.__dataclass_fields__)


def _segment(population: Population, rows: Integers, generator: np.random.Generator) -> Segments:
    """Return draws of a segment, each of so many rows."""
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
    """
    Find how many rows a gate on segments takes.

    Args:
        gate: The gate.
        entries: Rows whose scores and columns are those of the rows to come.
        some: The segments that are judged.
        names: What they are called.
        error: The bias of the smallest segment that can have it; the others are calibrated.
        power: Probability with which the verdict is to come.
        generator: Random numbers.
    """
    every = entries.of(())
    rows = float(every.rows.sum())
    slowest = that_may_decide(slowness(some), passes=gate.passes, usual=_USUAL).tolist()
    wrong, population = slowest[0], _population(entries, some, slowest[0])
    if error > 0.0:
        wrong, population = _erring(entries, some, names, error=error)
    population = replace(population, words=_words(some, names, wrong, population, error=error, rows=rows))
    others = [one for one in slowest if one != wrong] if gate.passes else []
    looks = SegmentLooks(
        gate,
        some.rows[[wrong, *others]] / rows,
        [population, *(_population(entries, some, one) for one in others)],
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
    effort = _EFFORT.of_parts(len(looks.populations), usual=_USUAL)
    found, reached, half = searched(looks, start=start, power=power, effort=effort)
    return Plan(population, found, reached, effort.final, half, None)


def _population(entries: Crossed, some: Segments, place: int) -> Population:
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


def _erring(
    entries: Crossed, some: Segments, names: Sequence[str], *, error: float
) -> tuple[int, Population]:
    """Return the smallest segment whose labels can be off by so much, and its rows."""
    for place in np.argsort(some.rows, kind="stable").tolist():
        calibrated = _population(entries, some, place)
        for sign in (1.0, -1.0):
            found = _shifted(calibrated, sign, error)
            if found is not None:
                return place, found
    msg = f"no labels can give any of {len(names):,} segments a bias of {in_full(error)}"
    raise UsageProblem(msg, "pass a smaller --error, such as half the limit")


def _shifted(population: Population, sign: float, error: float) -> Population | None:
    """Return the rows of a segment whose rates are all off in one direction, by so much on average."""
    score, share = population.score, population.share
    room = 1.0 - score if sign > 0.0 else score

    def size(shift: float) -> float:
        return float((share * np.minimum(shift, room)).sum())

    if size(1.0) < error:
        return None
    shift = sum(crossing(lambda one: size(one) - error, 0.0, 1.0, within=1e-12)) / 2.0
    return replace(population, rate=score + sign * np.minimum(shift, room))


def _words(
    some: Segments, names: Sequence[str], wrong: int, population: Population, *, error: float, rows: float
) -> str:
    if not error:
        return f"{CALIBRATED} in every segment"
    way = "low" if float((population.share * (population.rate - population.score)).sum()) > 0.0 else "high"
    share = 100.0 * float(some.rows[wrong]) / rows
    return f"only {names[wrong]} is wrong, {share:.2g} % of rows, and scores are too {way} there"
