"""How many rows each gate takes, beside what any gate would, into docs/gate.md.

    python benchmarks/gate_rows.py            # all rows of the table, some ten minutes
    python benchmarks/gate_rows.py ece l2     # print those of some gates, write nothing

Rows today are found by simulation with the gate's own verdicts, at a power of 90 %. The best bound known is
that of the likelihood-ratio test, which is told the true label rates and one pattern that the gate may not
confuse with them: in large samples ((z_0.95 s_0 + z_0.9 s_1) / (m_1 - m_0))^2 rows, m and s the mean and
standard deviation of a row's log likelihood ratio under the pattern and under the truth. No gate that is
wrong with at most 5 % there takes fewer rows. The pattern has the signs of the truth and is hard to tell
from it. Where rows are calibrated the test is told a law of many patterns at the limit, as no sign is known.
"""

import math
import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
# One thread: the arrays are small.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402 - after the threads are settled
from scipy.optimize import brentq  # noqa: E402
from scipy.special import expit, logit, ndtri  # noqa: E402
from scipy.stats import beta  # noqa: E402

from calibcli.names import (  # noqa: E402  # noqa: E402
    Binning,
    Bound,
    ClassMeasure,
    MeasureName,
    Relation,
    SegmentMeasure,
    VerdictName,
)
from calibcli.options.rules import Rule  # noqa: E402
from calibcli.stats.gates.claim import Ground  # noqa: E402
from calibcli.stats.gates.other_rules import class_rule  # noqa: E402
from calibcli.stats.gates.plan import (  # noqa: E402
    Gate,
    Population,
    erring,
    planned,
    population_of,
)
from calibcli.stats.gates.segments import RowsBySegment, segment_rule  # noqa: E402
from calibcli.stats.measures.segments import Entries, segments_of  # noqa: E402
from calibcli.stats.table import ScoreTable  # noqa: E402
from calibcli.stats.table.bins import ATOMS, Bins, equal_width_edges  # noqa: E402
from claims.simulation import generator_of  # noqa: E402 - found through the path set above
from class_rows import views_of  # noqa: E402

PAGE = ROOT / "docs" / "gate.md"
START, END = "<!-- Written by benchmarks/gate_rows.py -->", "<!-- End of the rows. -->"
POWER = 0.9
TAILS = 1.6448536269514722, 1.2815515655446004
M, C, PASS, FAIL = MeasureName, ClassMeasure, VerdictName.PASS, VerdictName.FAIL
FIFTEEN = Bins(Binning.EQUAL_WIDTH, equal_width_edges(15))
EVEN = (np.arange(6_000) + 0.5) / 6_000
TEN = (np.arange(10) + 0.5) / 10
SCORES = {
    "one value, .5": (np.array([0.5]), ATOMS),
    "one value, .02": (np.array([0.02]), ATOMS),
    "ten values": (TEN, ATOMS),
    "even scores": (EVEN, FIFTEEN),
    "rare, Beta(.4, 19.6)": (np.unique(beta(0.4, 19.6).ppf(EVEN)), FIFTEEN),
}
MARKOV = "Markov"
MIDDLES = "bins, and moving to their middles"
HALVES = "¾ of the error, half of it on either side"
# What stands in the way of a PASS, and of a FAIL.
WHY = {
    "ece": (f"{MARKOV}; every bin at its worst sign", f"{MARKOV}; the sign costs ln 2"),
    "ece, no artifact": ("valid at every look", "valid at every look"),
    "ece, state": ("valid at every look", "valid at every look"),
    "ece, 5 claims": ("", f"{MARKOV}; each claim fails at 1 % (the best bound too)"),
    "l2": (
        "Markov; one bet for errors in every direction",
        "Markov; one bet for errors in every direction",
    ),
    "linf": ("all values at once; the best bound knows the worst", "each value has 1/K of the error"),
    "smece": (f"{MARKOV}; the noise at every place", "a quarter of the error is kept for errors that cancel"),
    "dce": (
        f"{MARKOV}; {MIDDLES}",
        f"{MARKOV}; two means share the error",
    ),
    "bias": ("finite-sample, for labels of any chances", "finite-sample, for labels of any chances"),
    "ece_equal_mass": (
        "d\\*, at variance 1/4",
        "the mean residual has ¾ of the error, half of it on either side",
    ),
    "smce": (f"{MARKOV}; the noise of every smooth function", f"{MARKOV}; two means share the error"),
    "brier": ("a row of the worst loss is added", "a row of the worst loss is added"),
    "log_loss": ("a row of the worst loss is added", "a row of the worst loss is added"),
    "cox_intercept": ("adjusted for labels that scatter more", "adjusted for labels that scatter more"),
    "cox_slope": ("adjusted for labels that scatter more", "adjusted for labels that scatter more"),
    "segment_bias": (
        "all segments at once; the best bound knows the worst",
        "each end of m segments has 1/(2m) of the error",
    ),
    "top_label_ece": ("", ""),
    "classwise_ece": ("", f"the mean of each class has a third of {HALVES}"),
}


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """A line of the table.

    Args:
        gate: What is asked.

        design: How scores fall.

        limit: The limit.

        truth: The true error, in words.

        today: Rows at which the gate gives the right verdict with a power of 90 %; None above a billion.

        best: Rows that the best test takes.
    """

    gate: str
    design: str
    limit: float
    truth: str
    today: int | None
    best: float


def scores(design: str) -> tuple[Population, Bins]:
    """Return a population of calibrated rows and the partition that judges it."""
    values, bins = SCORES[design]
    return population_of(values, np.ones(values.size), bins=bins), bins


def size_of(measure: MeasureName, population: Population, error: np.ndarray) -> float:
    """Return an error of rates in one direction."""
    share = population.share
    match measure:
        case M.L2:
            return math.sqrt(float(share @ error**2))
        case M.LINF:
            return float(np.abs(error).max())
        case _:
            return float(share @ error)


def nearest(measure: MeasureName, truth: Population, limit: float) -> np.ndarray:
    """Return label rates at the limit that are hard to tell from the true ones: moved where labels vary."""
    error = truth.rate - truth.score
    spread = np.maximum(truth.rate * (1.0 - truth.rate), 1e-12)
    above = size_of(measure, truth, error) > limit
    if measure is M.LINF and not above:
        spread = np.where(np.arange(error.size) == np.argmax(spread / truth.share), spread, 0.0)

    def moved(step: float) -> np.ndarray:
        if above:
            least = limit if measure is M.LINF else 0.0
            return np.maximum(error - step * spread, np.minimum(error, least))
        return np.minimum(error + step * spread, 1.0 - 1e-9 - truth.score)

    step = brentq(lambda one: size_of(measure, truth, moved(one)) - limit, 0.0, 1e3, xtol=1e-12)
    return np.asarray(truth.score + moved(step))


def best_rows(share: np.ndarray, truth: np.ndarray, wrong: np.ndarray, *, delta: float = 0.05) -> float:
    """Return the rows of the likelihood-ratio test.

    Args:
        share: How rows fall, shape (n_values,).

        truth: Probability of each outcome, shape (n_values, n_outcomes).

        wrong: The same under the pattern that may not be confused with it.

        delta: Probability of confusing it.
    """
    tail = -float(ndtri(delta))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(truth > 0.0, np.log(truth) - np.log(wrong), 0.0)
    means, spreads = [], []
    for law in (wrong, truth):
        mean = float((share[:, None] * law * ratio).sum())
        means.append(mean)
        spreads.append(math.sqrt(float((share[:, None] * law * ratio**2).sum()) - mean**2))
    return ((tail * spreads[0] + TAILS[1] * spreads[1]) / (means[1] - means[0])) ** 2


def both(rate: np.ndarray) -> np.ndarray:
    """Return the probabilities of the labels 1 and 0."""
    return np.stack((rate, 1.0 - rate), axis=1)


def on_errors(
    gate: str,
    measure: MeasureName,
    design: str,
    limit: float,
    *,
    known: bool = False,
    again: bool = False,
    claims: int = 1,
) -> Iterator[Row]:
    """Yield a PASS at half the limit and a FAIL at twice, every score too low, or one value for linf."""
    calibrated, bins = scores(design)
    rule = Rule(f"max-{measure.value}", measure, Bound.UPPER, Relation.AT_MOST, limit)
    ground = Ground(bins, variance=calibrated.variance if known else None, claims=claims)
    for wanted, error in ((PASS, 0.5 * limit), (FAIL, 2.0 * limit)):
        patterns = erring(calibrated, measure, error)
        one = measure is M.LINF and calibrated.score.size > 1
        truth = patterns[-1 if one else 0]
        if claims > 1 and wanted is PASS:
            continue
        today = planned(
            Gate(rule, ground, wanted),
            [truth],
            power=POWER,
            again=again,
            generator=generator_of("gate rows", gate, design, wanted.value),
        )
        wrong = nearest(measure, truth, limit)
        best = best_rows(truth.share, both(truth.rate), both(wrong), delta=0.05 / claims)
        where = "one value off by" if one else "off by"
        yield Row(gate, design, limit, f"{where} {error:g}: {wanted.value}", today.rows, best)


def on_calibrated(gate: str, measure: MeasureName, *, limit: float, known: bool) -> Row:
    """Return a PASS of calibrated rows at ten values, against errors of any signs, of l2 in any direction."""
    truth, bins = scores("ten values")
    rule = Rule(f"max-{measure.value}", measure, Bound.UPPER, Relation.AT_MOST, limit)
    asked = Gate(rule, Ground(bins, variance=truth.variance if known else None), PASS)
    generator = generator_of("gate rows", gate, "calibrated")
    today = planned(asked, [truth], power=POWER, again=False, generator=generator).rows
    best = max(best_of_mixture(truth, measure, limit, tilt=tilt) for tilt in (0.5, 1.0, 2.0))
    return Row(gate, "ten values", limit, "none: pass", today, best)


def best_of_mixture(truth: Population, measure: MeasureName, limit: float, *, tilt: float) -> int:
    """Return the rows with which calibrated labels are told from a law of patterns at the limit.

    Args:
        truth: Calibrated rows.

        measure: The ECE or l2.

        limit: The limit.

        tilt: Errors are as large as this power of v (1 - v), for l2 times a normal number.
    """
    generator, score = generator_of("mixture", measure.value, tilt), truth.score
    error = generator.choice([-1.0, 1.0], size=(500, score.size)) * (score * (1.0 - score)) ** tilt
    if measure is M.L2:
        error *= generator.standard_normal(error.shape)
    error *= limit / np.array([size_of(measure, truth, np.abs(one)) for one in error])[:, None]
    outside = (score + error <= 0.0) | (score + error >= 1.0)
    wrong = np.clip(np.where(outside, score - error, score + error), 1e-6, 1.0 - 1e-6)

    def power(rows: int) -> float:
        count = np.round(rows * truth.share)
        found = []
        for rate in (wrong[generator.integers(wrong.shape[0], size=4_000)], np.tile(score, (4_000, 1))):
            ones = generator.binomial(count.astype(int), rate)
            likely = [
                ones @ np.log(one).T + (count - ones) @ np.log1p(-one).T for one in (wrong, score[None])
            ]
            found.append(likely[1][:, 0] - np.logaddexp.reduce(likely[0], axis=1))
        return float(np.mean(found[1] > np.quantile(found[0], 0.95)))

    return rows_at(power)


def on_losses(name: MeasureName) -> Iterator[Row]:
    """Yield a PASS at 1.05 times the loss of calibrated even scores and a FAIL at 0.95 times."""
    truth, _ = scores("even scores")
    f = truth.score
    losses = {M.BRIER: ((1.0 - f) ** 2, f**2), M.LOG_LOSS: (-np.log(f), -np.log1p(-f))}[name]
    mean, square = (float(truth.share @ (f * losses[0] ** k + (1.0 - f) * losses[1] ** k)) for k in (1, 2))
    for wanted, factor in ((PASS, 1.05), (FAIL, 0.95)):
        limit = factor * mean
        rule = Rule(name.value, name, Bound.UPPER, Relation.AT_MOST, limit)
        best = (sum(TAILS) / (limit - mean)) ** 2 * (square - mean**2)
        yield Row(
            name.value,
            "even scores",
            limit,
            f"{mean:.3g}: {wanted.value}",
            simulated(rule, truth, wanted),
            best,
        )


def on_cox() -> Iterator[Row]:
    """Yield a slope of 1 or .65 held to .8, and an intercept of 0 or .4 held to .2."""
    even, _ = scores("even scores")
    z = logit(even.score)
    slope, intercept = (
        Rule(M.COX_SLOPE.value, M.COX_SLOPE, Bound.LOWER, Relation.AT_LEAST, 0.8),
        Rule(M.COX_INTERCEPT.value, M.COX_INTERCEPT, Bound.UPPER, Relation.AT_MOST, 0.2),
    )
    for rule, wanted, line, limit in (
        (slope, PASS, z, 0.8 * z),
        (slope, FAIL, 0.65 * z, 0.8 * z),
        (intercept, PASS, z, 0.2 + z),
        (intercept, FAIL, 0.4 + z, 0.2 + z),
    ):
        truth = replace(even, rate=expit(line))
        best = best_rows(truth.share, both(truth.rate), both(expit(limit)))
        gate = f"{rule.key}{rule.relation.value}{rule.limit:g}".replace("0.", ".")
        told = {PASS: "1" if rule is slope else "0", FAIL: "0.65" if rule is slope else "0.4"}[wanted]
        today = simulated(rule, truth, wanted)
        yield Row(gate, "even scores", rule.limit, f"{told}: {wanted.value}", today, best)


def simulated(rule: Rule, truth: Population, wanted: VerdictName) -> int | None:
    """Return the rows that a rule takes."""
    asked = Gate(rule, Ground(FIFTEEN), wanted)
    generator = generator_of("gate rows", rule.key, wanted.value)
    return planned(asked, [truth], power=POWER, again=False, generator=generator).rows


def on_classes(measure: ClassMeasure) -> Iterator[Row]:
    """Yield rules on all classes together where every row has the probabilities .5, .3 and .2."""
    announced = np.array([0.5, 0.3, 0.2])
    # The mean over classes of |d|, |d| / 2 and |d| / 2 is 2/3 |d|.
    factor = 1.0 if measure is ClassMeasure.TOP_LABEL_ECE else 2.0 / 3.0
    way = np.array([1.0, -0.5, -0.5]) / factor
    limit = 0.03
    for wanted, error in ((PASS, 0.5 * limit), (FAIL, 2.0 * limit)):
        truth, wrong = announced + error * way, announced + limit * way
        if measure is ClassMeasure.TOP_LABEL_ECE:
            wrong = np.append(wrong[0], truth[1:] * (1.0 - wrong[0]) / (1.0 - truth[0]))
        rule = Rule(measure.value, measure, Bound.UPPER, Relation.AT_MOST, limit)
        generator = generator_of("gate rows", measure.value, wanted.value)

        share = partial(class_share, rule, truth, wanted, generator)
        best = best_rows(np.ones(1), truth[None], wrong[None])
        yield Row(
            measure.value, "one vector", limit, f"off by {error:g}: {wanted.value}", rows_at(share), best
        )


def class_share(
    rule: Rule, truth: np.ndarray, wanted: VerdictName, generator: np.random.Generator, rows: int
) -> float:
    """Return the share of tables of rows of .5, .3 and .2 that get a verdict."""
    given = 0
    for count in generator.multinomial(rows, truth, size=100):
        views = views_of(np.tile([0.5, 0.3, 0.2], (3, 1)), np.arange(3), counts=count)
        given += class_rule(views, rule, ground=Ground(FIFTEEN)).outcome is wanted
    return given / 100


def on_segments() -> Iterator[Row]:
    """Yield the rule on 20 segments of equally many rows with scores of .5, of which one is off."""
    limit, name = 0.05, SegmentMeasure.SEGMENT_BIAS
    for wanted, error in ((PASS, 0.5 * limit), (FAIL, 2.0 * limit)):
        truth, wrong = np.full(20, 0.5), np.full(20, 0.5)
        truth[0], wrong[0] = 0.5 + error, 0.5 + limit
        rule = Rule(name.value, name, Bound.UPPER, Relation.AT_MOST, limit)
        generator = generator_of("gate rows", name.value, wanted.value)
        share = partial(segment_share, rule, truth, wanted, generator)
        best = best_rows(np.full(20, 0.05), both(truth), both(wrong))
        said = f"one segment off by {error:g}: {wanted.value}"
        yield Row(name.value, "20 segments, .5", limit, said, rows_at(share), best)


def segment_share(
    rule: Rule, truth: np.ndarray, wanted: VerdictName, generator: np.random.Generator, rows: int
) -> float:
    """Return the share of tables of so many rows that get a verdict."""
    part, score = np.arange(truth.size), np.full(truth.size, 0.5)
    each = np.full(truth.size, max(1, rows // truth.size))
    given = 0
    for _ in range(200):
        ones = generator.binomial(each, truth)
        halves = (0.5 * ones, 0.5 * (each - ones))
        entries = Entries.of_parts(part, (truth.size,), score, rows=each, positive=ones, scores=halves)
        found = segments_of(entries, depth=1)
        table = ScoreTable(np.array([0.5]), np.array([each.sum()]), np.array([ones.sum()]))
        judged = RowsBySegment(table, found, entries, [()] * found.size, ("segment",), 1, 1)
        given += segment_rule(judged, rule, ground=Ground(ATOMS, rows_wanted=False)).outcome is wanted
    return given / 200


def rows_at(share: Callable[[int], float]) -> int:
    """Return the rows from which on a share of 90 % is reached, to some 3 %."""
    low, high = 100, 200
    while share(high) < POWER:
        low, high = high, 2 * high
    while high > 1.03 * low:
        middle = round(math.sqrt(low * high))
        low, high = (middle, high) if share(middle) < POWER else (low, middle)
    return high


def every_row(wanted: set[str]) -> Iterator[Row]:
    """Yield the rows of the table, of some gates or all."""
    few = (("one value, .5", 0.03), ("one value, .02", 0.01), ("ten values", 0.03))
    many = (*few[:2], ("even scores", 0.03), ("rare, Beta(.4, 19.6)", 0.01))
    for gate, measure, designs, options in (
        ("ece", M.ECE, (*few, *many[2:]), {"known": True}),
        ("ece, no artifact", M.ECE, (few[0], *many[2:]), {}),
        ("ece, state", M.ECE, (few[2],), {"known": True, "again": True}),
        ("ece, 5 claims", M.ECE, (few[2],), {"known": True, "claims": 5}),
        ("l2", M.L2, few, {}),
        ("linf", M.LINF, few, {}),
        ("smece", M.SMECE, many, {}),
        ("dce", M.DCE, many, {}),
        ("bias", M.BIAS, many, {}),
        ("ece_equal_mass", M.ECE_EQUAL_MASS, many[2:3], {}),
        ("smce", M.SMCE, many[2:3], {}),
    ):
        if not wanted or gate.split(",")[0] in wanted:
            if gate in ("ece", "l2"):
                yield on_calibrated(gate, measure, limit=0.03, known=bool(options))
            for design, limit in designs:
                yield from on_errors(gate, measure, design, limit, **options)
    for name in (M.BRIER, M.LOG_LOSS):
        if not wanted or name.value in wanted:
            yield from on_losses(name)
    if not wanted or "cox" in wanted:
        yield from on_cox()
    together = {one.value: partial(on_classes, one) for one in (C.TOP_LABEL_ECE, C.CLASSWISE_ECE)}
    for name, rows in {**together, SegmentMeasure.SEGMENT_BIAS.value: on_segments}.items():
        if not wanted or name in wanted:
            yield from rows()


def line(row: Row) -> str:
    """Return a line of the table."""
    today = "over 10^9" if row.today is None else f"{row.today:,}"
    ratio = "-" if row.today is None else f"{row.today / row.best:.2f}"
    far = row.today is None or row.today > 1.3 * row.best
    why = WHY[re.split("[<>]=", row.gate)[0]][row.truth.endswith(FAIL.value)] if far else ""
    cells = row.gate, row.design, f"{row.limit:.3g}", row.truth, today, f"{row.best:,.0f}", ratio, why
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Print the table, and write it into the page if it is whole."""
    head = ["| gate | scores | limit | truth | rows today | best bound | times | what stands in the way |"]
    lines = [*head, "|---|---|---|---|---|---|---|---|"]
    for row in every_row(set(sys.argv[1:])):
        lines.append(line(row))
        print(lines[-1], flush=True)
    if len(sys.argv) == 1:
        before, rest = PAGE.read_text(encoding="utf-8").split(START)
        after = rest.split(END)[1]
        PAGE.write_text(f"{before}{START}\n\n" + "\n".join(lines) + f"\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
