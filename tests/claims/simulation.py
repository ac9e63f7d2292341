"""
The simulations behind every promised coverage.

Scenarios are the friendly worlds. For intervals that speak of
"these very scores" the scores are drawn once and labels anew in each repetition; for those that speak of
the population both are. The truth is computed from the label probabilities: at the same scores for the
former, by quadrature on 200,000 points for the latter.

Everything is seeded by the cell's own name, so a cell gives the same numbers wherever it runs.
"""

import math
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from unittest.mock import patch

import numpy as np
from scipy.stats import binom

from calibcli.bounds.betting import stakes_for_any_time
from calibcli.bounds.interval import Interval
from calibcli.families import DEFAULT_TESTS
from calibcli.gate_names import Bound, Relation
from calibcli.measures import smooth_ece as smooth_ece_module
from calibcli.measures.bias import bias
from calibcli.measures.binned_ece import binned_ece, grouped_residuals
from calibcli.measures.calibrated import draw_calibrated
from calibcli.measures.l2 import score_interval, t_statistic
from calibcli.measures.proper_scores import brier, log_loss
from calibcli.measures.smooth_ece import lower_bound, noise_of_norm, upper_bound
from calibcli.measures.tests import calibration_tests
from calibcli.names import Binning, MeasureName, TestName, VerdictName
from calibcli.table.bins import ATOMS, Bins, binned, bins_of
from calibcli.table.kernel import residual_series
from calibcli.table.score_table import ScoreTable
from calibcli.verdicts.claim import Ground, Rule
from calibcli.verdicts.ece_below import ece_below
from claims.worlds import FRIENDLY as SCENARIOS
from claims.worlds import Law, quantiles, smooth_truth, usual_bins

Floats = np.ndarray
FINE = quantiles(200_000)


# Which intervals are approximate: three points short are allowed, and nothing is said below 1,000 rows.
# The others are finite-sample: they hold at every number of rows.
APPROXIMATE = {
    "l2", "l2 sun", "brier_reliability_corrected", "brier", "log_loss", "spherical", "brier_skill",
    "log_loss_skill", "citl_logit", "cox_intercept", "cox_slope", "paired brier", "paired log_loss",
}  # fmt: skip
OVER_CLUSTERS = " over clusters"
FIXED_DESIGN = ("ece upper", "ece lower", "ece", "ece_equal_mass", "l2", "smece lower", "bias")
POPULATION = ("smece upper", "brier", "log_loss")
PROMISES = (*FIXED_DESIGN, *POPULATION)


@dataclass(slots=True)
class Tally:
    """
    How often an interval missed and how wide it was.

    Args:
        repetitions: How often it was computed.

        misses: How often it did not contain the truth.

        width: Sum of widths.

        plain_width: Sum of the widths of Theorem 12.4's interval for the same rows, for ECE only.

        error: Probability it may miss with.
    """

    error: float
    repetitions: int = 0
    misses: int = 0
    width: float = 0.0
    plain_width: float = 0.0

    def add(self, *, lower: float, upper: float, truth: float, plain: float = 0.0) -> None:
        """Count one interval."""
        # The smoothing kernel and the bisections are good to 1e-6.
        self.count(held=lower - 1e-6 <= truth <= upper + 1e-6, width=upper - lower, plain=plain)

    def count(self, *, held: bool, width: float, plain: float = 0.0) -> None:
        """Count one set of values that held the truth or did not."""
        self.repetitions += 1
        self.misses += not held
        self.width += width
        self.plain_width += plain

    @property
    def mean_width(self) -> float:
        """Mean width."""
        return self.width / self.repetitions

    @property
    def coverage(self) -> float:
        """Share of repetitions with the truth inside."""
        return 1.0 - self.misses / self.repetitions


def most_misses(repetitions: int, error: float) -> int:
    """Return the largest number of misses that a true rate of `error` exceeds with probability < 1e-6."""
    return int(binom.isf(1e-6, repetitions, error))


def approximate(name: str) -> bool:
    """Whether an interval holds in the limit only."""
    return name in APPROXIMATE or name.endswith(OVER_CLUSTERS)


def allowed_error(name: str, tally: Tally) -> float:
    """Return the error rate promised: the nominal one, and three points more where it is approximate."""
    return tally.error + (0.03 if approximate(name) else 0.0)


def promised(name: str, rows: int) -> bool:
    """Whether a coverage is promised: approximate intervals speak from 1,000 rows, or 20 clusters, on."""
    return not approximate(name) or rows >= 1000 or name.endswith(OVER_CLUSTERS)


def kept(name: str, tally: Tally, *, rows: int) -> bool:
    """Whether an interval kept its promise, or made none."""
    most = most_misses(tally.repetitions, allowed_error(name, tally))
    return tally.misses <= most or not promised(name, rows)


def check_promises(tallies: dict[str, Tally], *, rows: int) -> None:
    """Fail where an interval misses more often than it may."""
    assert tallies
    for name, tally in tallies.items():
        assert kept(name, tally, rows=rows), (name, tally)


def generator_of(*name: object) -> np.random.Generator:
    """Return the random numbers of a cell."""
    return np.random.default_rng(zlib.crc32("/".join(map(str, name)).encode()))


@contextmanager
def noise_computed_once() -> Iterator[None]:
    """Remember smECE's noise term, which does not depend on labels."""
    known: dict[float, float] = {}

    def remembered(table: ScoreTable, bandwidth: float) -> float:
        if bandwidth not in known:
            known[bandwidth] = noise_of_norm(table, bandwidth)
        return known[bandwidth]

    with patch.object(smooth_ece_module, "noise_of_norm", remembered):
        yield


def theorem_12_4_width(table: ScoreTable, bins: Bins, *, value: float, confidence: float) -> float:
    """Return the width of the two-sided interval of Theorem 12.4, cut to [0, 1]."""
    n, count = table.total_rows, binned(table, bins).rows.size
    margin = math.sqrt(2.0 * math.log(2.0 / (1.0 - confidence)) / n)
    return min(1.0, value + margin) - max(0.0, value - math.sqrt(count / n) - margin)


def binned_truth(table: ScoreTable, truth: Floats, bins: Bins) -> tuple[float, float]:
    """Return ECE and l2 of the label probabilities at a table's scores; l2 over bins of two rows or more."""
    sums = binned(table, bins)
    error = table.rows * (truth - table.score)
    gaps = np.array([error[a:b].sum() for a, b in pairwise(sums.starts)])
    two = sums.rows >= 2
    squares = (gaps[two] ** 2 / sums.rows[two]).sum()
    return float(np.abs(gaps).sum() / table.total_rows), math.sqrt(squares / table.total_rows)


@dataclass(slots=True)
class Cell:
    """Tallies of one scenario at one number of rows and one confidence."""

    confidence: float
    tallies: dict[str, Tally] = field(default_factory=dict)

    def tally(self, name: str) -> Tally:
        """Return the tally of an interval; one end alone may miss with half the probability."""
        ends = 2.0 if name.endswith((" upper", " lower")) else 1.0
        return self.tallies.setdefault(name, Tally((1.0 - self.confidence) / ends))

    def add(self, name: str, *, lower: float, upper: float, truth: float, plain: float = 0.0) -> None:
        """Count one interval."""
        self.tally(name).add(lower=lower, upper=upper, truth=truth, plain=plain)

    def add_bound(self, name: str, bound: float, *, truth: float) -> None:
        """Count one bound, upper or lower by the end of its name."""
        ends = (bound, 1.0) if name.endswith(" lower") else (0.0, bound)
        self.add(name, lower=ends[0], upper=ends[1], truth=truth)

    def add_interval(self, name: str, interval: Interval | None, *, truth: float, ends: bool = False) -> None:
        """Count an interval where there is one, and if asked each of its ends."""
        if interval is None or interval.lower is None or interval.upper is None:
            return
        self.add(name, lower=interval.lower, upper=interval.upper, truth=truth)
        if ends:
            self.add_bound(f"{name} upper", interval.upper, truth=truth)
            self.add_bound(f"{name} lower", interval.lower, truth=truth)


def fixed_design(
    scenario: str, rows: int, *, confidence: float, repetitions: int, names: tuple[str, ...] = FIXED_DESIGN
) -> Cell:
    """Simulate the intervals that speak of these very scores."""
    rng = generator_of("fixed", scenario, rows, confidence)
    world, cell = SCENARIOS[scenario], Cell(confidence)
    score = world.quantile(rng.random(rows))
    base = ScoreTable.from_rows(score, np.zeros(rows, bool))
    truth = world.truth(base.score)
    bins, mass_bins = usual_bins(base), bins_of(Binning.EQUAL_MASS, 15, table=base)
    ece_truth, l2_truth = binned_truth(base, truth, bins)
    mass_truth, _ = binned_truth(base, truth, mass_bins)
    smece_truth = smooth_truth(base.score, base.rows * (truth - base.score) / rows)
    bias_truth = float((base.rows * (truth - base.score)).sum() / rows)
    with noise_computed_once():
        for _ in range(repetitions):
            table = ScoreTable(base.score, base.rows, rng.binomial(base.rows, truth))
            if "ece" in names:
                ece = binned_ece(table, bins=bins, confidence=confidence)
                plain = theorem_12_4_width(table, bins, value=ece.value, confidence=confidence)
                low, high = ece.interval.lower, ece.interval.upper
                cell.add("ece", lower=low, upper=high, truth=ece_truth, plain=plain)
                cell.add("ece upper", lower=0.0, upper=high, truth=ece_truth)
                cell.add("ece lower", lower=low, upper=1.0, truth=ece_truth)
            if "ece_equal_mass" in names:
                mass = binned_ece(table, bins=mass_bins, confidence=confidence)
                plain = theorem_12_4_width(table, mass_bins, value=mass.value, confidence=confidence)
                low, high = mass.interval.lower, mass.interval.upper
                cell.add("ece_equal_mass", lower=low, upper=high, truth=mass_truth, plain=plain)
            if "l2" in names:
                sums = binned(table, bins)
                interval = score_interval(sums, t_statistic(sums), confidence=confidence)
                cell.add("l2", lower=interval.lower, upper=interval.upper, truth=l2_truth)
            if "bias" in names:
                interval = bias(table, confidence=confidence).interval
                cell.add("bias", lower=interval.lower, upper=interval.upper, truth=bias_truth)
            if "smece lower" in names:
                low = lower_bound(table, residual_series(table), delta=(1.0 - confidence) / 2.0)
                cell.add("smece lower", lower=low, upper=1.0, truth=smece_truth)
    return cell


def population(
    scenario: str, rows: int, *, confidence: float, repetitions: int, names: tuple[str, ...] = POPULATION
) -> Cell:
    """Simulate the intervals that speak of the population, drawing scores anew each time."""
    rng = generator_of("population", scenario, rows, confidence)
    world, cell = SCENARIOS[scenario], Cell(confidence)
    truths = population_truth(scenario)
    for _ in range(repetitions):
        score = world.quantile(rng.random(rows))
        table = ScoreTable.from_rows(score, rng.random(rows) < world.truth(score))
        for name, measure in (("brier", brier), ("log_loss", log_loss)):
            if name in names:
                interval = measure(table, confidence=confidence).interval
                # Where no loss differs from another there is none to judge.
                if interval is not None:
                    cell.add(name, lower=interval.lower, upper=interval.upper, truth=truths[name])
        if "smece upper" in names:
            high = upper_bound(table, residual_series(table), delta=(1.0 - confidence) / 2.0)
            cell.add("smece upper", lower=0.0, upper=high, truth=truths["smece upper"])
    return cell


@cache
def population_truth(scenario: str) -> dict[str, float]:
    """Return the population's values by quadrature."""
    law = Law.of(SCENARIOS[scenario])
    return law.means() | {"smece upper": smooth_truth(law.table.score, law.mass)}


def every_promise(scenario: str, rows: int, *, confidence: float, repetitions: int) -> dict[str, Tally]:
    """Simulate every interval of one cell; smECE, which costs most and misses least, a quarter as often."""
    few = max(20, repetitions // 4)
    tallies: dict[str, Tally] = {}
    for simulate, names in ((fixed_design, FIXED_DESIGN), (population, POPULATION)):
        smooth = tuple(name for name in names if name.startswith("smece"))
        plain = tuple(name for name in names if name not in smooth)
        for chosen, times in ((plain, repetitions), (smooth, few)):
            cell = simulate(scenario, rows, confidence=confidence, repetitions=times, names=chosen)
            tallies |= cell.tallies
    return {name: tallies[name] for name in PROMISES if name in tallies}


def rejections(
    scenario: str,
    rows: int,
    *,
    repetitions: int,
    names: tuple[TestName, ...] = DEFAULT_TESTS,
    draws: int = 199,
    level: float = 0.05,
) -> dict[str, int]:
    """
    Count how often each test, as `calibration_tests` decides its p-value, rejects at a level.

    The last entry is the combined test, where its members are among them. The smECE reference, which no test
    uses, is left out.
    """
    rng = generator_of("tests", scenario, rows)
    world = SCENARIOS[scenario]
    counts: dict[str, int] = {}
    with (
        patch("calibcli.measures.calibrated.expected_smece", return_value=(0.0, None)),
        patch("calibcli.measures.tests.DRAWS", draws),
    ):
        for seed in range(repetitions):
            score = world.quantile(rng.random(rows))
            table = ScoreTable.from_rows(score, rng.random(rows) < world.truth(score))
            bins = usual_bins(table)
            calibrated = draw_calibrated(
                table, partitions=[bins], generator=rng, smece_generator=rng, draws=draws
            )
            results, combined = calibration_tests(names, table, bins=bins, calibrated=calibrated, seed=seed)
            together = [] if combined is None else [("combined", combined.p_value)]
            for name, p in [*((r.name.value, r.p_value) for r in results), *together]:
                counts[name] = counts.get(name, 0) + (p is not None and p <= level)
    return counts


def boundary_atoms(count: int, eps: float) -> tuple[Floats, Floats]:
    """Return scores of equally likely atoms and label rates with an error of exactly eps, all on one side."""
    score = (np.arange(count) + 0.5) / count
    sign = np.where(score > 0.5, -1.0, 1.0)
    return score, score + eps * sign


def drawn_atoms(rng: np.random.Generator, rows: int, score: Floats, truth: Floats) -> Iterator[ScoreTable]:
    """Yield tables of equally likely atoms, drawn from the population, without end."""
    while True:
        counts = rng.multinomial(rows, np.full(score.size, 1 / score.size))
        some = counts > 0
        yield ScoreTable(score[some], counts[some], rng.binomial(counts[some], truth[some]))


def wrong_verdicts(
    count: int, *, eps: float, rows: int, repetitions: int, one_look: bool = True
) -> tuple[int, int]:
    """Count passes and fails where the error is exactly eps, so that each is wrong with probability delta."""
    rng = generator_of("verdicts", count, eps, rows, one_look)
    score, truth = boundary_atoms(count, eps)
    variance = float((score * (1 - score)).mean()) if one_look else None
    rule = Rule("max-ece", MeasureName.ECE, Bound.UPPER, Relation.AT_MOST, eps)
    ground = Ground(ATOMS, variance, least_rows=100, confidence=0.95)
    tables = drawn_atoms(rng, rows, score, truth)
    outcomes = [
        ece_below(table, rule, ground=ground).outcome
        for table, _ in zip(tables, range(repetitions), strict=False)
    ]
    return outcomes.count(VerdictName.PASS), outcomes.count(VerdictName.FAIL)


def wrong_verdicts_at_any_time(
    count: int, *, eps: float, step: int, looks: int, streams: int
) -> tuple[int, int]:
    """Count streams that ever pass and ever fail, asked at every step, where the error is exactly eps."""
    rng = generator_of("streams", count, eps, step, looks)
    score, truth = boundary_atoms(count, eps)
    stakes = stakes_for_any_time(delta=0.05)
    level, passed, failed = math.log(20.0), 0, 0
    tables = drawn_atoms(rng, step, score, truth)
    for _ in range(streams):
        table, passes, fails = ScoreTable.empty(), False, False
        for _ in range(looks):
            table = table.merge(next(tables))
            residuals = grouped_residuals(table, binned(table, ATOMS))
            passes = passes or residuals.log_evidence_below(eps, stakes) >= level
            fails = fails or residuals.log_evidence_above(eps, stakes) >= level
        passed, failed = passed + passes, failed + fails
    return passed, failed
