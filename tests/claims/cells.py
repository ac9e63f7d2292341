"""Every promise in every world: one loop for intervals, tests, verdicts, gates asked again, maps and plans.

A cell is a kind of question, a world, a number of rows, and a reading: labels drawn anew at the world's
quantiles (`fixed-design`), or scores and labels drawn anew (`population`). A kind asks once a repetition and
says of each answer whether it was wrong, how often it may be, and of which reading it speaks. Measures, rules
and tests are asked of a table, which answers as the commands do but draws nothing that no answer needs; all
else is asked through the public functions. Each cell is seeded by its name.
"""

import hashlib
import math
import tempfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product
from pathlib import Path
from unittest.mock import patch

import numpy as np
from scipy.special import xlogy
from scipy.stats import binom

import calibcli
from calibcli.errors import CalibcliError
from calibcli.names import Binning, Bound, ClassMeasure, MeasureName, Relation, Target, TestName, VerdictName
from calibcli.options.rules import Rule
from calibcli.stats.bounds import Interval
from calibcli.stats.gates import judge
from calibcli.stats.gates.claim import Ground, Verdict
from calibcli.stats.gates.plan import Gate, planned, population_of
from calibcli.stats.measures import measure_named
from calibcli.stats.measures.classes import class_measure
from calibcli.stats.measures.clustered import ClusterSums, clustered_difference
from calibcli.stats.measures.differences import PAIRED, PairedSums
from calibcli.stats.measures.if_calibrated import CalibratedDraws, Settings, Shared
from calibcli.stats.measures.smooth import calibration_index
from calibcli.stats.measures.tests import calibration_tests
from calibcli.stats.recalibrators.spline import Spline
from calibcli.stats.table import Integers, ScoreTable
from calibcli.stats.table.bins import ATOMS, Bins, binned, bins_of, equal_width_edges, looks_discrete
from claims.worlds import CLUSTERS, FINE, HARD, WORLDS, Floats, Law, Truth, World, errors_over, usual_bins
from class_rows import views_of
from stats.verdicts.boundary import is_wanted

M = MeasureName
FIXED, POPULATION = Target.FIXED_DESIGN.value, Target.POPULATION.value
READINGS = (FIXED, POPULATION)
# What speaks of either, such as a test, or of what was asked for.
EITHER = "either"
CONFIDENCE, DELTA = 0.95, 0.05
LEVELS = (0.01, 0.05, 0.1)
# Kernels and bisections are good to this.
SLACK = 1e-6
# A width without end counts as this.
INFINITE = 1e12
# In a cluster two rows share a label's number with this probability.
CORRELATION = 0.3
LOOKS, GROUPS = 20, 5
SMOOTH = (M.SMECE, M.SMECE_LOGIT, M.SMECE_PROBIT, M.DCE, M.SMCE)
CURVE = (M.ICI, M.E50, M.E90, M.EMAX)
# What the curve of a population is fitted to has so many rows for each of a law.
FINER = 10**7
MEASURES = (
    M.ECE, M.ECE_EQUAL_MASS, M.ACE, M.L2, M.LP, M.LINF, M.OVERCONFIDENCE, M.UNDERCONFIDENCE,
    M.BIAS, M.CITL_LOGIT, M.COX_INTERCEPT, M.COX_SLOPE, M.BRIER, M.BRIER_SKILL, M.BRIER_RELIABILITY_CORRECTED,
    M.BRIER_UNCERTAINTY, M.BRIER_UNCERTAINTY_CORRECTED, M.BRIER_UNC, M.LOG_LOSS, M.LOG_LOSS_SKILL,
    M.LOG_LOSS_UNC, M.SPHERICAL, M.OE, M.AUROC, M.GINI, M.CUTOFF, M.AURC,
    M.OBSERVED_RATE, M.MEAN_SCORE,
)  # fmt: skip
# Tests of the rate have sizes that are worked out, not simulated (tests/stats/measures/test_rate_tests.py).
OF_RATES = (TestName.BINOMIAL, TestName.JEFFREYS, TestName.JEFFREYS_TWO_SIDED)
TESTS = tuple(name for name in TestName if name not in OF_RATES)
# Labels drawn for a p-value; as many as keep levels of 1, 5 and 10 % exact.
DRAWS = 199
# From so many rows on, what holds approximately is held to it in friendly worlds.
FRIENDLY_ROWS = 1_000
# How many repetitions tell whether a program still answers as it did.
PROBED = 3
# Rules whose limit is the truth itself, and whether they ask for at most that.
AT_MOST = (M.ECE, M.L2, M.LINF, M.SMECE, M.DCE, M.BIAS, M.OE, M.BRIER, M.LOG_LOSS, M.SPHERICAL)
# Rules on errors without bins, which take longest, are asked of so many rows at most.
MOST_SMOOTHED = 1_000
# Of these 0 is no limit.
NEVER_BELOW_0 = (M.ECE, M.L2, M.LINF, M.SMECE, M.DCE)
LOSSES = (M.BRIER, M.LOG_LOSS, M.SPHERICAL)
AT_LEAST = (M.BIAS, M.BRIER_SKILL, M.LOG_LOSS_SKILL, M.COX_SLOPE)
# Which share of label 1 is the second of three classes.
SECOND = 0.7
FIFTEEN = Bins(Binning.EQUAL_WIDTH, equal_width_edges(15))
# Bounds behind `--bounds` that speak of the population, whatever the interval does.
OF_THE_POPULATION = ("theorem_12_4", "empirical_bernstein", "betting_any_time")


@dataclass(frozen=True, slots=True)
class Cell:
    """What is simulated.

    Args:
        kind: What is asked, of `KINDS`.

        world: In which of `WORLDS`.

        rows: Of how many rows; of so many in all where it is asked again.

        reading: What is drawn anew.

        clusters: How rows depend on each other, of `CLUSTERS`; empty where they do not.
    """

    kind: str
    world: str
    rows: int
    reading: str
    clusters: str = ""

    @property
    def name(self) -> str:
        """All of it, as seeds are made of."""
        return "/".join((self.kind, self.world, str(self.rows), self.reading, self.clusters))


@dataclass(slots=True)
class Count:
    """How often an answer was wrong.

    Args:
        target: Of which reading it speaks.

        holds: Whether it says that it holds at every number of rows; tests say so where labels were drawn.

        nominal: How often it may be wrong; None where nothing is promised.

        asked: How often there was an answer.

        wrong: How often it was wrong.

        width: Sum of widths, or of what else it is wrong by.
    """

    target: str
    holds: bool
    nominal: float | None
    asked: int = 0
    wrong: int = 0
    width: float = 0.0

    def own(self, reading: str) -> bool:
        """Whether it speaks of this reading."""
        return self.target in {reading, EITHER}

    @property
    def chance(self) -> float:
        """How probable so many wrong answers are if it may be wrong as often as it says."""
        return 1.0 if self.nominal is None else self.chance_at(self.nominal)

    def chance_at(self, error: float) -> float:
        """Return how probable so many are if it is wrong as often as this."""
        return _at_least(self.wrong, self.asked, error)


@cache
def _at_least(wrong: int, asked: int, error: float) -> float:
    """So many of so many; the page of all cells asks for the same ones ten times over."""
    return float(binom.sf(wrong - 1, asked, error))


@dataclass(slots=True)
class Found:
    """Counts of a cell, by what was answered, and the answers themselves, which tell programs apart."""

    counts: dict[str, Count] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)

    def say(self, *numbers: float) -> None:
        """Remember numbers to nine digits, less what is rounding beside 1."""
        self.said += [f"{round(float(number), 12):.9g}" for number in numbers]

    def add(
        self, name: str, *, wrong: bool, target: str, holds: bool, nominal: float | None, width: float = 0.0
    ) -> None:
        """Count one answer; what holds only sometimes is not said to hold."""
        self.said += [name, target, f"{holds} {nominal}"]
        self.say(wrong, width)
        count = self.counts.setdefault(name, Count(target, holds, nominal))
        count.holds = count.holds and holds
        count.asked, count.wrong = count.asked + 1, count.wrong + bool(wrong)
        count.width += min(width, INFINITE)

    def interval(
        self, name: str, interval: Interval | None, truth: Truth, *, target: str | None = None
    ) -> None:
        """Count an interval; where its ends speak of different readings, each end by itself.

        Args:
            name: Of what.

            interval: None where there is none.

            truth: The least and the largest that may be true.

            target: The reading of which the truth is; by default that of which the interval speaks.
        """
        if interval is None:
            return
        low = -np.inf if interval.lower is None else interval.lower
        high = np.inf if interval.upper is None else interval.upper
        slack = SLACK * max(1.0, abs(truth[0]))
        below, above = low > truth[0] + slack, high < truth[1] - slack
        error = round(1.0 - interval.confidence, 9)
        self.say(low, high)
        shared = {"holds": interval.finite_sample, "width": high - low}
        if interval.target is Target.MIXED:
            self.add(f"{name}, upper end", wrong=above, target=POPULATION, nominal=error / 2, **shared)
            self.add(f"{name}, lower end", wrong=below, target=FIXED, nominal=error / 2, **shared)
        else:
            of = target or interval.target.value
            self.add(name, wrong=below or above, target=of, nominal=error, **shared)

    def verdict(self, name: str, verdict: Verdict, outcome: VerdictName | None = None) -> None:
        """Count what was decided where the limit is the truth: either may come with probability delta."""
        said, mixed = outcome or verdict.outcome, verdict.target is Target.MIXED
        self.say(*(np.nan if end is None else end for end in (verdict.value, verdict.lower, verdict.upper)))
        target = verdict.target.value if verdict.target else EITHER
        for wrong, of in ((VerdictName.PASS, POPULATION), (VerdictName.FAIL, FIXED)):
            self.add(
                f"{name}: wrong {wrong.value.upper()}",
                wrong=said is wrong,
                target=of if mixed else target,
                holds=verdict.finite_sample,
                nominal=DELTA,
            )


@dataclass(frozen=True)
class Drawn:
    """Rows of a cell, as often as they are asked for.

    Args:
        cell: Of which.

        rng: Random numbers.
    """

    cell: Cell
    rng: np.random.Generator

    @property
    def world(self) -> World:
        """The world."""
        return WORLDS[self.cell.world]

    def rows(self, count: int | None = None) -> tuple[Floats, Floats]:
        """Return scores and labels."""
        rows = count or self.cell.rows
        fixed = self.cell.reading == FIXED
        # The scores of a fixed design lie in no order that clusters, groups or batches could follow.
        u = _shuffled(rows) if fixed else self.rng.random(rows)
        score = self.world.quantile(u)
        rate = self.world.truth(score)
        if not self.cell.clusters:
            return score, self.rng.random(rows) < rate
        key = clusters_of(self.cell)
        shared = self.rng.random(rows) < np.sqrt(CORRELATION)
        own = self.rng.random(rows)
        return score, np.where(shared, self.rng.random(key[-1] + 1)[key], own) < rate

    def table(self) -> ScoreTable:
        """Return rows as a table, which of few values takes as long at any number of rows."""
        law = self.law()
        if self.cell.reading == FIXED:
            score, count, rate = law.table.score, law.table.rows, law.rate
        elif self.cell.world in FEW:
            count = self.rng.multinomial(self.cell.rows, law.share)
            some = count > 0
            score, count, rate = law.table.score[some], count[some], law.rate[some]
        else:
            return ScoreTable.from_rows(*self.rows())
        return ScoreTable(score, count, self.rng.binomial(count, rate))

    def law(self, *, second: bool = False) -> Law:
        """Return what is true of these scores, or of the population."""
        rows = self.cell.rows if self.cell.reading == FIXED else FINE
        return _law(self.cell.world, rows, second=second)

    def truth(self, rows: ScoreTable | Floats, *, second: bool = False) -> dict[str, Truth]:
        """Return the truth over the bins that are taken for these scores."""
        if not isinstance(rows, ScoreTable):
            rows = ScoreTable.from_rows(rows, np.zeros(rows.size, bool))
        return _truths(self.law(second=second), atomic=looks_discrete(rows))


@cache
def _shuffled(rows: int) -> Floats:
    return np.random.default_rng(rows).permutation((np.arange(rows) + 0.5) / rows)


@cache
def _law(world: str, rows: int, *, second: bool) -> Law:
    return Law.of(WORLDS[world], rows, second=second)


_known: dict[tuple[int, bool], dict[str, Truth]] = {}


def _truths(law: Law, *, atomic: bool) -> dict[str, Truth]:
    # Laws are remembered, so that no two have one id.
    if (id(law), atomic) not in _known:
        _known[id(law), atomic] = law.truths(atomic=atomic)
    return _known[id(law), atomic]


def clusters_of(cell: Cell) -> Floats:
    """Return the cluster of each row."""
    sizes = CLUSTERS[cell.clusters]
    return np.repeat(np.arange(sizes.size), sizes)


Ask = Callable[[Drawn, Found], None]


def settings_of(table: ScoreTable, *, bounds: bool = False) -> Settings:
    """Return what `measure` takes by default, but for the labels that it draws for nulls and tests."""
    equal_mass = binned(table, bins_of(Binning.EQUAL_MASS, 15, table=table))
    return Settings(binned(table, usual_bins(table)), equal_mass, CONFIDENCE, None, bounds=bounds)


def _intervals(drawn: Drawn, found: Found, table: ScoreTable, truth: Mapping[str, Truth]) -> None:
    settings = settings_of(table)
    for name in SMOOTH if drawn.cell.kind == "smooth" else MEASURES:
        if name in truth:
            found.interval(name, measure_named(name, table, settings=settings).interval, truth[name])


def measure(drawn: Drawn, found: Found) -> None:
    """Count the intervals of all measures without smoothing."""
    table = drawn.table()
    _intervals(drawn, found, table, drawn.truth(table))


def smooth(drawn: Drawn, found: Found) -> None:
    """Count the intervals of SmoothECE and of the distances."""
    _intervals(drawn, found, drawn.table(), drawn.law().smooth)


def curves(drawn: Drawn, found: Found) -> None:
    """Count the intervals of the calibration indices, whose truth is that of the population's best spline."""
    table, shared = drawn.table(), Shared()
    limits, largest = _limits(drawn.cell.world)
    for name in CURVE:
        interval = calibration_index(table, name=name, shared=shared).interval
        # The largest gap is that over these scores, whichever were drawn.
        truth, of = (largest(table.score), EITHER) if name is M.EMAX else (limits[name], None)
        found.interval(name, interval, (truth, truth), target=of)


@cache
def _limits(world: str) -> tuple[dict[str, float], Callable[[Floats], float]]:
    """Return the indices of the population, and the largest gap of its spline over some scores."""
    law, shared = _law(world, FINE, second=False), Shared()
    rows = law.table.rows * FINER
    ones = np.rint(rows * law.rate).astype(np.int64)
    table = ScoreTable(law.table.score, rows, ones)
    of_all = {name: calibration_index(table, name=name, shared=shared).value for name in CURVE}
    if table.score.size == 1:
        # No spline, and no intervals.
        return of_all, lambda _: of_all[M.EMAX]
    spline = Spline.fit(table)
    return of_all, lambda score: float(np.abs(spline.predict(score) - score).max())


def classes(drawn: Drawn, found: Found) -> None:
    """Count the intervals of three classes: label 0, and label 1 parted in two."""
    score, label = drawn.rows()
    which = np.where(label, np.where(drawn.rng.random(score.size) < SECOND, 1, 2), 0)
    views = views_of(_parted(score), which, bins=FIFTEEN)
    truth = _of_classes(drawn.cell.world, drawn.cell.rows if drawn.cell.reading == FIXED else FINE)
    for name in ClassMeasure:
        found.interval(name, class_measure(name, views).interval, (truth[name], truth[name]))


def _parted(rate: Floats) -> Floats:
    return np.column_stack((1.0 - rate, SECOND * rate, (1.0 - SECOND) * rate))


@cache
def _of_classes(world: str, rows: int) -> dict[str, float]:
    """Return what is true of three classes, errors over 15 bins of equal width."""
    law = _law(world, rows, second=False)
    score, rate, share = _parted(law.table.score), _parted(law.rate), law.share
    top = score.argmax(axis=1)

    def errors(which: Integers, c: int) -> dict[str, float]:
        at, place = np.unique(score[which, c], return_inverse=True)
        count = np.bincount(place, law.table.rows[which])
        ones = np.bincount(place, law.table.rows[which] * rate[which, c])
        table = ScoreTable(at, count.astype(np.int64), np.zeros(at.size, np.int64))
        return errors_over(Law(table, ones / count).sums(FIFTEEN))

    rest = [errors(np.arange(top.size), c) for c in range(score.shape[1])]
    those = {c: np.flatnonzero(top == c) for c in np.unique(top)}
    tops = {c: errors(which, int(c)) for c, which in those.items()}
    part = {c: float(share[which].sum()) for c, which in those.items()}
    return {
        ClassMeasure.ACCURACY: float(share @ rate[np.arange(top.size), top]),
        ClassMeasure.CLASS_LOG_LOSS: float(-share @ xlogy(rate, score).sum(axis=1)),
        ClassMeasure.CLASS_BRIER: float(share @ ((score**2 - 2.0 * rate * score).sum(axis=1) + 1.0)),
        ClassMeasure.CLASSWISE_ECE: float(np.mean([one[M.ECE] for one in rest])),
        ClassMeasure.MARGINAL_L2: float(np.sqrt(np.mean([one[M.L2] ** 2 for one in rest]))),
        ClassMeasure.TOP_LABEL_ECE: sum(part[c] * one[M.ECE] for c, one in tops.items()),
        ClassMeasure.TOP_LABEL_L2: math.sqrt(sum(part[c] * one[M.L2] ** 2 for c, one in tops.items())),
        ClassMeasure.TOP_LABEL_ECE_UNWEIGHTED: float(np.mean([one[M.ECE] for one in tops.values()])),
    }


@patch("calibcli.stats.measures.if_calibrated.expected_smece", return_value=(0.0, None))
@patch("calibcli.stats.measures.tests.DRAWS", DRAWS)
def tests(drawn: Drawn, found: Found, *_: object) -> None:
    """Count how often tests reject calibrated labels."""
    table, rng = drawn.table(), drawn.rng
    bins = binned(table, usual_bins(table))
    calibrated = CalibratedDraws(table, partitions=[bins], generator=rng, smece_generator=rng, draws=DRAWS)
    # Before the generator is asked for more.
    assert calibrated.drawn.parts
    seed = int(rng.integers(1 << 31))
    results, combined = calibration_tests(TESTS, table, bins=bins, calibrated=calibrated, seed=seed)
    answers = [(one.name.value, one.p_value, one.p_method == "monte-carlo") for one in results]
    assert combined is not None
    for name, p, holds in (*answers, ("combined", combined.p_value, False)):
        found.say(np.nan if p is None else p)
        for level in LEVELS:
            wrong = p is not None and p <= level
            found.add(f"{name} test at {level:.0%}", wrong=wrong, target=EITHER, holds=holds, nominal=level)


def bounds(drawn: Drawn, found: Found) -> None:
    """Count each bound that `--bounds` lists by itself, at half the error, and the plug-in l2 error."""
    table = drawn.table()
    settings, truth = settings_of(table, bounds=True), drawn.truth(table)
    plug_in = measure_named(M.L2_PLUG_IN, table, settings=settings)
    found.interval(M.L2_PLUG_IN, plug_in.interval, truth[M.L2_PLUG_IN])
    for name in (M.ECE, M.L2):
        for key, bound in measure_named(name, table, settings=settings).details.items():
            side, _, which = key.partition("_")
            # Bounds of l2 count bins of one row too.
            value = truth[M.L2_PLUG_IN if name == M.L2 else name][0]
            if side == "sun":
                wrong = not in_words(str(bound), value)
                found.add("l2 sun", wrong=wrong, target=FIXED, holds=False, nominal=DELTA)
            if side not in {"upper", "lower"} or not isinstance(bound, float):
                continue
            wrong = bound < value - SLACK if side == "upper" else bound > value + SLACK
            target = POPULATION if which in OF_THE_POPULATION else FIXED
            found.add(
                f"{name} {which} {side}",
                wrong=wrong,
                target=target,
                holds=True,
                nominal=DELTA / 2,
                width=bound,
            )


def in_words(words: str, value: float) -> bool:
    """Whether the set of Sun et al. holds a value; printed with four digits."""
    if value < 1e-9:
        return words.split(" or ", maxsplit=1)[0] == "0"
    low, to, high = words.removeprefix("0 or ").partition(" to ")
    return bool(to) and float(low) * (1.0 - 1e-3) <= value <= float(high) * (1.0 + 1e-3)


def compare(drawn: Drawn, found: Found) -> None:
    """Count intervals of differences of two scores, and verdicts on the one that is no worse."""
    score, label = drawn.rows()
    second = drawn.world.second(score)
    names = [M.BRIER, M.LOG_LOSS, M.ECE]
    report = calibcli.compare({"first": score, "second": second}, label, metric=list(names))
    truths = drawn.truth(score), drawn.truth(second, second=True)
    for name, comparison in report.measures.items():
        if not all(name in truth for truth in truths):
            continue
        true = truths[1][name][0] - truths[0][name][0]
        difference = comparison.difference
        found.interval(f"difference of {name}", difference.interval, (true, true))
        if difference.interval is not None:
            for side, wrong in (("worse", true <= 0.0), ("better", true >= 0.0)):
                if wrong:
                    said = difference.verdict.value == side
                    found.add(
                        f"difference of {name}: wrongly {side}",
                        wrong=said,
                        target=difference.interval.target.value,
                        holds=difference.interval.finite_sample,
                        nominal=DELTA / 2,
                    )


def clusters(drawn: Drawn, found: Found) -> None:
    """Count intervals over clusters of dependent rows."""
    score, label = drawn.rows()
    names, key = [M.BIAS, M.BRIER, M.LOG_LOSS], clusters_of(drawn.cell)
    report = calibcli.measure(score, label, metric=list(names), cluster=key)
    truth, second = drawn.truth(score), drawn.world.second(score)
    for name, estimate in report.measures.items():
        found.interval(f"{name} over clusters", estimate.interval, truth[name])
    pairs, sums = PairedSums(), (ClusterSums(), ClusterSums())
    pairs.add(score, second, label)
    for one, of in zip(sums, (score, second), strict=True):
        one.add_rows(key, of, label)
    other, whole = drawn.truth(second, second=True), [one.whole() for one in sums]
    for measure in PAIRED:
        plain = pairs.difference(measure, confidence=CONFIDENCE)
        difference = clustered_difference(plain, *whole, confidence=CONFIDENCE)
        true = other[measure][0] - truth[measure][0]
        found.interval(f"difference of {measure} over clusters", difference.interval, (true, true))


def verify(drawn: Drawn, found: Found) -> None:
    """Count wrong verdicts on rules whose limit is exactly the truth."""
    table = drawn.table()
    truth = drawn.truth(table) | dict(drawn.law().smooth)
    ground = Ground(usual_bins(table), rows_wanted=False)
    ends = ((AT_MOST, Bound.UPPER, Relation.AT_MOST), (AT_LEAST, Bound.LOWER, Relation.AT_LEAST))
    for names, end, relation in ends:
        for name in names:
            low, high = truth.get(name, (0.0, 0.0))
            if name in SMOOTH and drawn.cell.rows > MOST_SMOOTHED:
                continue
            # A distance of several forms has no limit that is the truth of both verdicts.
            if high - low > SLACK or (name in NEVER_BELOW_0 and low <= SLACK):
                continue
            # Where every score is 0.5 each row loses the same whatever its label, and the truth is the limit.
            if name in LOSSES and bool((table.score == 0.5).all()):
                continue
            try:
                verdict = judge(table, Rule(name, name, end, relation, low), ground=ground)
            except CalibcliError:
                # Rules on few-valued scores are refused where scores are many.
                continue
            found.verdict(f"{name.value} {relation.value} truth", verdict)


def by_groups(drawn: Drawn, found: Found) -> None:
    """Count wrong verdicts of a gate on the ECE in the whole and five groups, the limit being the truth."""
    score, label = drawn.rows()
    truth = drawn.truth(score)[M.ECE][0]
    if truth > SLACK:
        group = np.arange(score.size) % GROUPS
        report = calibcli.verify(score, label, max_ece=truth, by=group)
        (verdict,) = report.rules.values()
        found.verdict("--max-ece by groups", verdict, report.report.outcome)


@patch("calibcli.stats.measures.if_calibrated.expected_smece", return_value=(0.0, None))
def baseline(drawn: Drawn, found: Found, *_: object) -> None:
    """Count wrong verdicts on a regression of 0 against a report on other rows of the same world."""
    before = calibcli.measure(*drawn.rows(), metric=["ece", "brier", "log_loss"])
    report = calibcli.verify(
        *drawn.rows(), baseline=before, max_regression=0.0, regression_metric=["ece", "brier", "log_loss"]
    )
    for name, verdict in report.rules.items():
        found.verdict(f"--baseline, {name.removeprefix('regression:')}", verdict)


def state(drawn: Drawn, found: Found) -> None:
    """Count gates that are ever wrong, asked after each of 20 batches, the limit being the truth."""
    truth = drawn.truth(drawn.rows()[0])[M.ECE][0]
    if truth > SLACK:
        said = _asked_again(drawn, max_ece=truth)
        for wrong in ("pass", "fail"):
            found.add(
                f"--state, {LOOKS} looks: ever a wrong {wrong.upper()}",
                wrong=wrong in said,
                target=POPULATION,
                holds=True,
                nominal=DELTA,
            )


def alarm(drawn: Drawn, found: Found) -> None:
    """Count alarms ever raised over 20 batches of calibrated labels."""
    said = _asked_again(drawn, alarm=True)
    found.add(
        f"--alarm, {LOOKS} looks: false alarm", wrong="fail" in said, target=EITHER, holds=True, nominal=DELTA
    )


def _asked_again(drawn: Drawn, **asked: object) -> set[str]:
    """Return what a gate said at any of 20 looks."""
    said: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        for batch in range(LOOKS):
            score, label = drawn.rows(drawn.cell.rows // LOOKS)
            # By their ids, since batches of few values may have the same rows.
            ids = batch * score.size + np.arange(score.size)
            kept = {"state": Path(folder) / "state", "batch": str(batch), "row_id": ids}
            report = calibcli.verify(score, label, **kept, **asked)
            said.add(report.status)
    return said


def automatic(drawn: Drawn, found: Found) -> None:
    """Count how often what `fit --method auto` chose has a larger log loss than the raw score."""
    score, label = drawn.rows()
    law = _law(drawn.cell.world, FINE, second=False)
    try:
        chosen = calibcli.fit(score, label, method="auto")
    except CalibcliError:
        # One label only.
        return

    def loss(after: Floats) -> float:
        inside = np.clip(after, 1e-15, 1.0 - 1e-15)
        return -float(law.share @ (xlogy(law.rate, inside) + xlogy(1.0 - law.rate, 1.0 - inside)))

    more = loss(np.asarray(chosen.predict(law.table.score))) - loss(law.table.score)
    found.add(
        "fit --method auto: more log loss",
        wrong=more > 1e-9,
        target=POPULATION,
        holds=False,
        nominal=None,
        width=more,
    )


def plan(drawn: Drawn, found: Found) -> None:
    """Count tables of the planned rows that do not get the verdict promised nine times in ten."""
    law = drawn.law()
    population = replace(population_of(law.table.score, law.share, bins=ATOMS), rate=law.rate)
    error = law.truths(atomic=True)[M.ECE][0]
    limit, right = (0.5 * error, VerdictName.FAIL) if error > SLACK else (0.02, VerdictName.PASS)
    rule = Rule("max-ece", M.ECE, Bound.UPPER, Relation.AT_MOST, limit)
    asked = Gate(rule, Ground(ATOMS, population.variance), right)
    rows = planned(asked, [population], power=0.9, again=False, generator=drawn.rng).rows
    if rows is not None:
        counts, ones = population.drawn(rows, times=1, generator=drawn.rng)
        given = is_wanted(asked, population.table(counts[0], ones[0]))
        found.add(
            f"plan: no {right.value.upper()} at the planned rows",
            wrong=not given,
            target=POPULATION,
            holds=False,
            nominal=0.1,
            width=float(rows),
        )


CALIBRATED = tuple(name for name, world in WORLDS.items() if world.calibrated)
# Few are those of which a table of any number of rows is a small one.
FEW = tuple(name for name in WORLDS if _law(name, FINE, second=False).table.score.size <= 128)
LARGE = tuple(name for name in HARD if name in FEW)
LARGEST = ("confident, rare costly errors", "fraud, calibrated", "fraud, five times too high", "two values")
MANY_VALUES = ("few rows open", "near 0 and 1, wrong", "base rate 1e-4", "one bad bin")
FRIENDS = ("one atom", "rare, wrong", "disc4", "tied", "strong", "calibrated")
HARD_OFF = tuple(name for name in HARD if name not in CALIBRATED)
SMOOTHED = (
    "confident, rare costly errors",
    "near 0 and 1, wrong",
    "one bad bin",
    "label noise",
    "heavy ties",
)
BOTH, ANEW = READINGS, (POPULATION,)
Grid = tuple[tuple[int, tuple[str, ...], tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of cell.

    Args:
        ask: Asks once and counts the answers.

        seconds: What one repetition takes at 1,000 rows, nearly.

        grid: Of how many rows, in which worlds, in which readings.
    """

    ask: Ask
    seconds: float
    grid: Grid


EVERY = tuple(HARD)
KINDS = {
    "measure": Kind(
        measure,
        0.045,
        (
            (30, EVERY, BOTH),
            (1_000, EVERY, BOTH),
            (1_000, FRIENDS, ANEW),
            (100_000, LARGE + MANY_VALUES, ANEW),
            (1_000_000, LARGEST, BOTH),
        ),
    ),
    "verify": Kind(
        verify,
        0.06,
        (
            (100, EVERY, ANEW),
            (1_000, EVERY, BOTH),
            (1_000, FRIENDS, ANEW),
            (100_000, LARGE, ANEW),
            (1_000_000, LARGEST, ANEW),
        ),
    ),
    "tests": Kind(
        tests,
        0.02,
        (
            (30, CALIBRATED, ANEW),
            (1_000, CALIBRATED, BOTH),
            (100_000, ("fraud, calibrated", "rare, 15 atoms"), BOTH),
        ),
    ),
    "compare": Kind(compare, 0.015, ((30, EVERY, BOTH), (1_000, EVERY, BOTH), (100_000, LARGEST, ANEW))),
    "clusters": Kind(clusters, 0.03, ()),
    "classes": Kind(classes, 0.006, ((30, EVERY, BOTH), (1_000, EVERY, BOTH))),
    "by": Kind(by_groups, 0.045, ((1_000, HARD_OFF, ANEW),)),
    "baseline": Kind(baseline, 0.045, ((1_000, EVERY, ANEW),)),
    "bounds": Kind(bounds, 0.05, ((1_000, EVERY, BOTH),)),
    "state": Kind(state, 1.0, ((2_000, (*MANY_VALUES[1:], *LARGEST[::2], "two values"), ANEW),)),
    "alarm": Kind(alarm, 1.5, ((2_000, ("fraud, calibrated", "few rows open", "rare", "discrete"), ANEW),)),
    "smooth": Kind(
        smooth,
        0.08,
        ((30, EVERY, ANEW), (1_000, EVERY, ANEW), (1_000, SMOOTHED, (FIXED,)), (100_000, LARGEST, ANEW)),
    ),
    "curves": Kind(curves, 0.06, ((300, EVERY, ANEW), (1_000, EVERY, ANEW))),
    "auto": Kind(automatic, 0.3, ((1_500, (*MANY_VALUES[1:3], "label noise", "calibrated"), ANEW),)),
    "plan": Kind(plan, 0.02, ((1_000, (*LARGEST, "three values", "discrete", "disc4"), ANEW),)),
}
DEPENDENT = ("near 0 and 1, wrong", "base rate 1e-4", "two values, 40 % noise", "one bad bin", "label noise")


def cells() -> list[Cell]:
    """Return every cell, the cheapest and hardest first."""
    found = [
        Cell(name, world, rows, reading)
        for name, kind in KINDS.items()
        for rows, worlds, readings in kind.grid
        for world, reading in product(worlds, readings)
    ]
    found += [
        Cell("clusters", world, int(CLUSTERS[layout].sum()), reading, layout)
        for layout, world, reading in product(CLUSTERS, DEPENDENT, ANEW)
    ]
    order = list(WORLDS)

    def rank(cell: Cell) -> tuple[int, int]:
        # Among those that take about as long, by how hard the world is.
        return round(np.log(seconds_of(cell) * repetitions_of(cell)) / np.log(4.0)), order.index(cell.world)

    return sorted(found, key=rank)


def seconds_of(cell: Cell) -> float:
    """Return what a repetition of a cell takes, nearly."""
    grown = 1.0 if cell.world in FEW else max(1.0, cell.rows / 20_000)
    return KINDS[cell.kind].seconds * grown


def repetitions_of(cell: Cell) -> int:
    """Return how often a cell is repeated: 500 times where that takes a second or more each."""
    return 2_000 if seconds_of(cell) < 1.0 else 500


def simulated(cell: Cell, repetitions: int | None = None) -> dict[str, Count]:
    """Simulate a cell."""
    return _asked(cell, repetitions or repetitions_of(cell)).counts


def probe(cell: Cell) -> str:
    """Return what the answers of the first repetitions are known by."""
    said = _asked(cell, PROBED).said
    return hashlib.sha256("\n".join(said).encode()).hexdigest()[:12]


def _asked(cell: Cell, repetitions: int) -> Found:
    drawn, found = Drawn(cell, np.random.default_rng(zlib.crc32(cell.name.encode()))), Found()
    for _ in range(repetitions):
        KINDS[cell.kind].ask(drawn, found)
        # Only what tells programs apart is remembered.
        if repetitions > PROBED:
            found.said.clear()
    return found


def broken(cell: Cell, counts: dict[str, Count]) -> list[tuple[str, Count]]:
    """Return what was wrong more often than it may be: p < 1e-6.

    What says that it holds at every number of rows is held to that; what holds approximately may be wrong
    three times in a hundred more, in friendly worlds from 1,000 rows on. Where it is not in hard ones, the
    page says.
    """
    friendly = cell.world not in HARD and cell.rows >= FRIENDLY_ROWS
    return [
        (name, one)
        for name, one in counts.items()
        if one.own(cell.reading)
        and one.nominal is not None
        and (one.holds or friendly)
        and one.chance_at(one.nominal + (0.0 if one.holds else 0.03)) < 1e-6
    ]
