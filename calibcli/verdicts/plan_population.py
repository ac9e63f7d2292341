"""The rows that a gate will be asked about: how their scores fall, and how often each has label 1."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from calibcli.errors import UsageProblem
from calibcli.names import MeasureName
from calibcli.table.bins import Bins, binned, segment_sums
from calibcli.table.crossing import crossing
from calibcli.table.grid import Table
from calibcli.table.score_table import Floats, Integers, ScoreTable, run_starts

# Scores are kept to about so many values, each within one bin: labels tell neighbours apart by less.
MOST_VALUES = 128
CALIBRATED = "labels follow the scores"


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """
    A population of rows.

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
    starts: npt.NDArray[np.intp]
    places: Floats
    words: str = CALIBRATED

    @property
    def variance(self) -> float:
        """Mean of f (1 - f)."""
        return float((self.share * self.score * (1.0 - self.score)).sum())

    def drawn(
        self, rows: int, *, times: int, generator: np.random.Generator, shares_kept: bool = False
    ) -> tuple[Integers, Integers]:
        """
        Draw independent rows, several times over.

        Args:
            rows: How many at a time.

            times: How often.

            generator: Random numbers.

            shares_kept: Whether every value comes as often as its share says, and only labels are drawn.

        Returns:
            Rows of each value and how many of them have label 1, shape (times, n_values).
        """
        if shares_kept:
            count = np.tile(_shared_out(rows, self.share), (times, 1))
        else:
            count = generator.multinomial(rows, self.share, size=times)
        return count, generator.binomial(count, self.rate)

    def table(self, count: Integers, ones: Integers) -> ScoreTable:
        """Return one draw as a table."""
        some = count > 0
        return ScoreTable(self.score[some], count[some], ones[some])


def population_of(score: Floats, rows: Floats, *, bins: Bins) -> Population:
    """
    Return the population in which scores fall as they did in some rows, and labels follow them.

    Args:
        score: Values, strictly ascending, shape (n_values,).

        rows: How many rows had each.

        bins: The partition of the gate; more than 128 values are gathered into as many within its bins.
    """
    some = rows > 0
    score, rows = score[some], np.asarray(rows[some], dtype=np.float64)
    place = _bin_of(score, bins)
    if score.size > MOST_VALUES:
        middle = (np.cumsum(rows) - 0.5 * rows) / rows.sum()
        together = place * MOST_VALUES + np.minimum((middle * MOST_VALUES).astype(np.int64), MOST_VALUES - 1)
        first = run_starts(together)
        total = np.add.reduceat(rows, first)
        score, rows, place = np.add.reduceat(rows * score, first) / total, total, place[first]
    starts = np.append(run_starts(place), place.size)
    places = score if bins.edges is None else bins.edges[1:][place[starts[:-1]]]
    return Population(score, rows / rows.sum(), score, starts, places)


def population_like(table: Table, *, bins: Bins) -> Population:
    """Return the population in which scores fall as in a table, whatever its labels."""
    return population_of(table.score, table.rows.astype(np.float64), bins=bins)


def erring(population: Population, measure: MeasureName, error: float) -> tuple[Population, ...]:
    """
    Return populations with these scores whose error is exactly so large, in the patterns that are tried.

    Every score is too low, every score is too high, or all of the error sits in the bin with the fewest rows
    that can hold it. Errors have one sign, so that ECE, over whichever bins, smECE and the distance to
    calibration are all the mean of label rate - score: smoothing keeps the mean of residuals of one sign, and
    that mean is the least and moving to the rates the most that recalibrating can take.

    Args:
        population: How scores fall.

        measure: What the error is measured by.

        error: The true error, 0 for calibrated labels.

    Raises:
        UsageProblem: If no label rates are so far from the scores.
    """
    if error == 0.0:
        return (population,)
    found = (*_spread(population, measure, error), *_in_one_bin(population, measure, error))
    if not found:
        msg = f"no labels make the error of these scores {error:g}"
        raise UsageProblem(msg, "--error takes what may be feared, such as half the limit")
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
                where = f"the {100.0 * shares[place]:.2g} % of rows with scores {_around(population, inside)}"
                way = "low" if sign > 0.0 else "high"
                rate = population.score + sign * shift
                yield replace(population, rate=rate, words=f"only {where} are wrong, and too {way}")
                return


def _around(population: Population, inside: slice) -> str:
    values = population.score[inside]
    low, high = f"{values[0]:.3g}", f"{values[-1]:.3g}"
    return f"of {low}" if low == high else f"from {low} to {high}"


def _room(population: Population, sign: float) -> Floats:
    return 1.0 - population.score if sign > 0.0 else population.score


def _shift(population: Population, room: Floats, measure: MeasureName, *, error: float) -> Floats | None:
    """Return the one shift, cut to the room of each value, that makes the error; None if none does."""

    def size(shift: float) -> float:
        cut = np.minimum(shift, room)
        match measure:
            case MeasureName.L2:
                return math.sqrt(float((population.share * cut**2).sum()))
            case MeasureName.LINF:
                return float(cut.max())
            case _:
                return float((population.share * cut).sum())

    if size(1.0) < error:
        return None
    shift = sum(crossing(lambda one: size(one) - error, 0.0, 1.0, within=1e-12)) / 2.0
    return np.asarray(np.minimum(shift, room))


def _bin_of(score: Floats, bins: Bins) -> Integers:
    """Return the bin of every score; each score is one of its own where the partition is of atoms."""
    table = ScoreTable(score, np.ones(score.size, np.int64), np.zeros(score.size, np.int64))
    starts = binned(table, bins).starts
    return np.repeat(np.arange(starts.size - 1), np.diff(starts))


def _shared_out(rows: int, share: Floats) -> Integers:
    """Return whole numbers as near to rows * share as adds up."""
    count = np.floor(rows * share).astype(np.int64)
    rest = np.argsort(count - rows * share, kind="stable")[: rows - int(count.sum())]
    count[rest] += 1
    return count
