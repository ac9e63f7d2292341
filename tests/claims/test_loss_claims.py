"""
Mean losses, skills and paired differences are bounded as promised where costly rows are rare.

Rows are drawn anew with their scores, the truth being that of the population, or labels alone are drawn and
the truth is the mean over the scores at hand. A bound that misses the truth is a wrong verdict with the limit
there.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from calibcli.gate_names import Bound, Relation
from calibcli.measures.losses import log_error, spherical_error, squared_error
from calibcli.measures.paired import PAIRED, PairedSums, reach_of_maps
from calibcli.measures.proper_scores import brier, log_loss, spherical
from calibcli.measures.skill import brier_skill, log_loss_skill
from calibcli.names import ComparisonName, MeasureName, VerdictName
from calibcli.table.bins import ATOMS
from calibcli.table.score_table import ScoreTable
from calibcli.verdicts.claim import Ground, Rule
from calibcli.verdicts.interval_rule import interval_rule
from claims.simulation import generator_of, most_misses

M = MeasureName
CONFIDENT = np.exp(np.linspace(-11.0, -1.0, 12))
LOSS_OF = {M.BRIER: squared_error, M.LOG_LOSS: log_error, M.SPHERICAL: spherical_error}


@dataclass(frozen=True)
class World:
    """Scores in ascending order, the rate of label 1 at each, and the share of rows."""

    score: np.ndarray
    rate: np.ndarray
    share: np.ndarray

    def mean(self, loss_of: Callable[..., object], share: np.ndarray) -> float:
        """The mean loss of rows of which each score has such a share."""
        losses = loss_of(self.score, self.score, self.score)
        return float((share * (self.rate * losses.if_positive + (1 - self.rate) * losses.if_negative)).sum())


def world(score: object, rate: object, share: object = None) -> World:
    """Return a world; all scores are as frequent where no shares are given."""
    score, rate = np.asarray(score, float), np.asarray(rate, float)
    share = np.ones(score.size) if share is None else np.asarray(share, float)
    order = np.argsort(score)
    return World(score[order], rate[order], share[order] / share.sum())


TENTHS = np.linspace(0.05, 0.95, 10)
WORLDS = {
    "nearly always right": world([0.6, 0.99999], [0.6, 0.999], [0.1, 0.9]),
    "overconfident": world(np.append(CONFIDENT, 1 - CONFIDENT), np.append(CONFIDENT, 1 - CONFIDENT) ** 0.5),
    "calibrated fraud": world([0.0005, 0.5], [0.0005, 0.5], [0.997, 0.003]),
    "within 1e-9 of the ends": world([1e-9, 0.3, 1 - 1e-9], [1e-3, 0.3, 1 - 1e-3], [0.45, 0.1, 0.45]),
    "one bad bin of 0.5 %": world(np.append(TENTHS, 0.01), np.append(TENTHS, 0.99), [0.0995] * 10 + [0.005]),
    "base rate of 1e-4": world([1e-4], [1e-4]),
    "two values": world([0.2, 0.8], [0.3, 0.75]),
    "ties, calibrated": world(TENTHS, TENTHS),
    "a tenth of labels flipped": world(TENTHS, 0.9 * TENTHS + 0.1 * (1 - TENTHS)),
}
FUNCTIONS = {M.BRIER: brier, M.LOG_LOSS: log_loss, M.SPHERICAL: spherical}
SKILLS = {M.BRIER_SKILL: (brier_skill, squared_error), M.LOG_LOSS_SKILL: (log_loss_skill, log_error)}
READINGS = ("rows anew", "labels anew")


def samples(name: str, reading: str, *, rows: int, times: int) -> object:
    """Yield tables, and the shares of scores that the truth is of."""
    of, rng = WORLDS[name], generator_of("losses", name, reading, rows)
    kept = rng.multinomial(rows, of.share)
    for _ in range(times):
        count = kept if reading == "labels anew" else rng.multinomial(rows, of.share)
        ones = rng.binomial(count, of.rate)
        some = count > 0
        table = ScoreTable(of.score[some], count[some], ones[some])
        yield table, (kept / rows if reading == "labels anew" else of.share)


def misses(name: str, reading: str, *, rows: int, times: int) -> dict[MeasureName, np.ndarray]:
    """Return how often the upper and the lower 95 % bound of each mean loss miss the truth."""
    found = {measure: np.zeros(2) for measure in FUNCTIONS}
    for table, share in samples(name, reading, rows=rows, times=times):
        for measure, function in FUNCTIONS.items():
            interval = function(table, confidence=0.9).interval
            true = WORLDS[name].mean(LOSS_OF[measure], share)
            found[measure] += interval.upper < true, interval.lower > true
    return found


@pytest.mark.parametrize("name", ["calibrated fraud", "base rate of 1e-4", "within 1e-9 of the ends"])
def test_bounds_hold_where_costly_rows_are_rare(name: str) -> None:
    """Of 100 samples of 1,000 rows each 95 % bound misses as rarely as promised (normal: 25 to 90)."""
    for measure, missed in misses(name, "rows anew", rows=1_000, times=100).items():
        assert missed.max() <= most_misses(100, 0.05), measure


@pytest.mark.slow
@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("name", WORLDS)
def test_bounds_hold_in_full(name: str, reading: str) -> None:
    """Every world, from 30 to 1,000,000 rows, in both readings: 400 samples each."""
    for rows in (30, 100, 1_000, 10_000, 1_000_000):
        for measure, missed in misses(name, reading, rows=rows, times=400).items():
            assert missed.max() <= most_misses(400, 0.05), (measure, rows)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["calibrated fraud", "within 1e-9 of the ends", "two values", "ties, calibrated"]
)
def test_skills_are_bounded_in_full(name: str) -> None:
    """The skills in four worlds, 100 to 10,000 rows drawn anew: 150 samples each."""
    of = WORLDS[name]
    base = np.array([float(of.share @ of.rate)])
    for rows in (100, 1_000, 10_000):
        missed = {measure: np.zeros(2) for measure in SKILLS}
        for table, share in samples(name, "rows anew", rows=rows, times=150):
            for measure, (function, loss_of) in SKILLS.items():
                interval = function(table, confidence=0.9).interval
                if interval is not None:
                    true = 1 - of.mean(loss_of, share) / float(loss_of(base, base, base).expected[0])
                    missed[measure] += interval.upper < true, interval.lower > true
        for measure, each in missed.items():
            assert each.max() <= most_misses(150, 0.05), (measure, rows)


def test_fraud_rule_at_its_limit_passes_as_rarely_as_promised() -> None:
    """`log_loss<=` the truth on calibrated fraud scores, 10,000 rows: at most 5 % pass, or fail."""
    true = WORLDS["calibrated fraud"].mean(log_error, WORLDS["calibrated fraud"].share)
    rule = Rule("log_loss", M.LOG_LOSS, Bound.UPPER, Relation.AT_MOST, true)
    outcomes = [
        interval_rule(table, rule, ground=Ground(ATOMS)).outcome
        for table, _ in samples("calibrated fraud", "rows anew", rows=10_000, times=150)
    ]
    for one in (VerdictName.PASS, VerdictName.FAIL):
        assert outcomes.count(one) <= most_misses(150, 0.05)


# First score, second score, rate of label 1, share of rows.
PAIRS = {
    "rare and costly": ([0.99999, 0.6], [0.998, 0.6], [0.999, 0.6], [0.9, 0.1]),
    "the other way round": ([0.998, 0.6], [0.99999, 0.6], [0.999, 0.6], [0.9, 0.1]),
    "one bad bin of 0.5 %": (
        [*TENTHS, 0.99],
        [*TENTHS**1.05, 0.01],
        [*TENTHS**1.05, 0.9],
        [0.0995] * 10 + [0.005],
    ),
    "one bad bin of 0.1 %": (
        [*TENTHS, 0.99],
        [*TENTHS**1.05, 0.01],
        [*TENTHS**1.05, 0.9],
        [0.0999] * 10 + [0.001],
    ),
    "fraud": ([0.0005, 0.5, 0.0005], [0.0001, 0.7, 0.001], [0.0005, 0.5, 0.0005], [0.5, 0.003, 0.497]),
    "within 1e-9 of the ends": (
        [1e-9, 1 - 1e-9, 0.3],
        [1e-3, 1 - 1e-3, 0.3],
        [1e-5, 1 - 1e-4, 0.3],
        [0.45, 0.45, 0.1],
    ),
    "base rate of 1e-4": ([1e-4], [3e-5], [1e-4], [1.0]),
    "moderate": (TENTHS, TENTHS**1.2, TENTHS**1.1, np.full(10, 0.1)),
}


def paired_misses(name: str, reading: str, *, rows: int, times: int) -> dict[MeasureName, np.ndarray]:
    """Return how often each end of the 95 % interval misses the difference, and a verdict is wrong."""
    first, second, rate, share = (np.asarray(one, float) for one in PAIRS[name])
    share = share / share.sum()
    rng, found = generator_of("pairs", name, reading, rows), {measure: np.zeros(3) for measure in PAIRED}
    kept = rng.multinomial(rows, share)
    label = np.repeat([True, False], rate.size)
    for _ in range(times):
        count = kept if reading == "labels anew" else rng.multinomial(rows, share)
        ones = rng.binomial(count, rate)
        sums = PairedSums()
        sums.add(np.tile(first, 2), np.tile(second, 2), label, counts=np.append(ones, count - ones))
        part = kept / rows if reading == "labels anew" else share
        for measure in PAIRED:
            one, two = (World(score, rate, share).mean(LOSS_OF[measure], part) for score in (first, second))
            difference = sums.difference(measure, confidence=0.95)
            wrong = ComparisonName.WORSE if two < one else ComparisonName.BETTER
            interval = difference.interval
            found[measure] += (
                interval.upper < two - one,
                interval.lower > two - one,
                difference.verdict is wrong and two != one,
            )
    return found


@pytest.mark.parametrize("name", ["rare and costly", "one bad bin of 0.5 %"])
def test_comparisons_hold_where_costly_rows_are_rare(name: str) -> None:
    """Of 100 samples of 1,000 rows at most 2.5 % miss at either end (a normal interval: 43 of the first)."""
    for measure, missed in paired_misses(name, "rows anew", rows=1_000, times=100).items():
        assert missed.max() <= most_misses(100, 0.025), measure


@pytest.mark.slow
@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("name", PAIRS)
def test_comparisons_hold_in_full(name: str, reading: str) -> None:
    """Every pair, from 30 to 1,000,000 rows, in both readings: 250 samples each."""
    for rows in (30, 100, 1_000, 10_000, 1_000_000):
        for measure, missed in paired_misses(name, reading, rows=rows, times=250).items():
            assert missed.max() <= most_misses(250, 0.025), (measure, rows)


def test_maps_of_one_score_are_compared_as_promised() -> None:
    """Where 0.3 % of scores are rare and costly, a map of all is told apart wrongly as rarely as promised."""
    of = WORLDS["calibrated fraud"]
    shift = of.score / (of.score + (1 - of.score) * 0.43)

    def moved(f: np.ndarray) -> np.ndarray:
        return f / (f + (1 - f) * 0.43)

    for rows in (300, 3_000):
        rng, missed = generator_of("maps", rows), np.zeros((2, 2))
        for _ in range(150):
            count = rng.multinomial(rows, of.share)
            ones = rng.binomial(count, of.rate)
            sums = PairedSums()
            label = np.repeat([True, False], 2)
            sums.add(np.tile(of.score, 2), np.tile(shift, 2), label, counts=np.append(ones, count - ones))
            sums.reach = reach_of_maps(np.asarray, moved, of.score[count > 0])
            for place, measure in enumerate(PAIRED):
                one, two = (
                    World(score, of.rate, of.share).mean(LOSS_OF[measure], of.share)
                    for score in (of.score, shift)
                )
                interval = sums.difference(measure, confidence=0.95).interval
                missed[place] += interval.upper < two - one, interval.lower > two - one
        assert missed.max() <= most_misses(150, 0.025)
