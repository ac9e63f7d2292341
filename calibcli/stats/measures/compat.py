"""Numbers as other tools give them with their default settings, and why ours differ."""

import math
from enum import Enum
from fractions import Fraction
from typing import TypeGuard, assert_never

import numpy as np

from calibcli.errors import NotConverged
from calibcli.names import GAVE_ZERO, CompatTool, MeasureName, TestName
from calibcli.options.numerals import plural
from calibcli.stats.measures import rate_of
from calibcli.stats.measures.scores import certain_and_wrong, mean_loss, squared_error
from calibcli.stats.numerics import normal_quantile
from calibcli.stats.recalibrators.newton import Points, log_loss, logistic, minimise
from calibcli.stats.table import Booleans, Floats, Integers, ScoreTable
from calibcli.values import dataclass


class Part(Enum):
    """Which number of ours stands beside one of theirs."""

    VALUE = "value"
    LOWER = "lower"
    UPPER = "upper"
    P_VALUE = "p_value"


@dataclass(frozen=True, slots=True)
class PeerNumber:
    """A number as another tool gives it with its default settings.

    Args:
        name: What the tool calls it.
        value: The number; None where the tool gives none.
        beside: The measure or test that answers the same question here, or None where none does.
        why: In one line, why the two differ where they do.
        part: Which of its numbers; the value of a test is its statistic.
    """

    name: str
    value: float | None
    beside: MeasureName | TestName | None
    why: str
    part: Part = Part.VALUE


@dataclass(frozen=True, slots=True)
class Peer:
    """A tool and its numbers.

    Args:
        package: Its name in the package index.
        version: The version whose behaviour this is.
        numbers: In the order in which they are shown.
        notes: What the reader should know of all of them.
    """

    package: str
    version: str
    numbers: tuple[PeerNumber, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class OrderedRows:
    """Rows in an order, for tools whose numbers depend on it."""

    score: Floats
    label: Booleans
    order: str = "that of the input"

    @classmethod
    def of_table(cls, table: ScoreTable) -> "OrderedRows":
        """Return the rows of a table by score, those with label 0 first."""
        negative = table.rows - table.positive_rows
        counts = np.stack([negative, table.positive_rows], axis=1).ravel()
        label = np.tile(np.array([False, True]), table.distinct)
        score = np.repeat(np.repeat(table.score, 2), counts)
        return cls(score, np.repeat(label, counts), "by score, label 0 first")


def ratio(top: float, bottom: float) -> float | None:
    """Return a ratio as floats have it: infinite over 0, and None where both are 0."""
    if bottom == 0.0:
        return None if top == 0.0 else math.copysign(math.inf, top)
    return top / bottom


def peer_numbers(  # noqa: PLR0911 - one return for each tool
    tool: CompatTool, table: ScoreTable, *, rows: OrderedRows | None = None
) -> Peer:
    """Return the numbers that a tool gives for one score and labels 0 and 1.

    Args:
        table: With importance weights for scikit-learn only.
        rows: The same rows in their order, which MAPIE's tests depend on; by default in the order of scores.
    """
    match tool:
        case CompatTool.SKLEARN:
            return sklearn_numbers(table)
        case CompatTool.TORCHMETRICS:
            return torchmetrics_numbers(table)
        case CompatTool.NETCAL:
            return netcal_numbers(table)
        case CompatTool.MAPIE:
            return mapie_numbers(table, rows or OrderedRows.of_table(table))
        case CompatTool.CALZONE:
            return calzone_numbers(table)
        case CompatTool.RELPLOT:
            return relplot_numbers(table)
        case CompatTool.UNCERTAINTY_CALIBRATION:
            return uncertainty_calibration_numbers(table)
        case _:
            assert_never(tool)


# Rows by score, or by the probability of the predicted label: scores, rows, and for how many it happened.
Cells = tuple[Floats, Integers, Integers]


def cells_of(table: ScoreTable) -> Cells:
    return table.score, table.rows, table.positive_rows


@dataclass(frozen=True, slots=True, eq=False)
class PeerBins:
    """Occupied bins; `rate` is the share of their rows with label 1."""

    rows: Floats
    score: Floats
    rate: Floats

    @property
    def gap(self) -> Floats:
        return np.abs(self.rate - self.score)

    @property
    def mean(self) -> float | None:
        """Mean distance over rows; None without rows."""
        return self._over_rows(self.gap)

    @property
    def mean_square(self) -> float | None:
        return self._over_rows(self.gap**2)

    @property
    def plain_mean(self) -> float | None:
        """Mean distance over bins; None without rows."""
        return float(self.gap.mean()) if self.rows.size else None

    @property
    def largest(self) -> float:
        """Largest distance; 0 without rows."""
        return float(self.gap.max(initial=0.0))

    def _over_rows(self, each: Floats) -> float | None:
        return float((self.rows * each).sum()) / float(self.rows.sum()) if self.rows.size else None


def peer_bins(index: Integers, cells: Cells) -> PeerBins:
    kept = index >= 0
    place, (score, rows, positive) = index[kept], (one[kept] for one in cells)
    count = np.bincount(place, weights=rows).astype(np.float64)
    total = np.bincount(place, weights=rows * score)
    positive = np.bincount(place, weights=positive)
    some = count > 0
    return PeerBins(count[some], total[some] / count[some], positive[some] / count[some])


def left_closed(edges: Floats, score: Floats) -> Integers:
    """Return the bin [a, b) of each score; the last edge opens a bin of its own."""
    return (np.searchsorted(edges, score, side="right") - 1).astype(np.int64)


def right_closed(edges: Floats, score: Floats) -> Integers:
    """Return the bin (a, b] of each score; -1 at the first edge and below it."""
    return (np.searchsorted(edges, score, side="left") - 1).astype(np.int64)


_CLIP = 1e-7

_COX = (
    ("COX coef", MeasureName.COX_SLOPE, Part.VALUE),
    ("COX intercept", MeasureName.COX_INTERCEPT, Part.VALUE),
    ("COX coef lowerci", MeasureName.COX_SLOPE, Part.LOWER),
    ("COX coef upperci", MeasureName.COX_SLOPE, Part.UPPER),
    ("COX intercept lowerci", MeasureName.COX_INTERCEPT, Part.LOWER),
    ("COX intercept upperci", MeasureName.COX_INTERCEPT, Part.UPPER),
)


def cox_numbers(table: ScoreTable) -> tuple[PeerNumber, ...]:
    """Return slope and intercept with their intervals, and how far the fitted curve is from the score."""
    clipped = "scores are limited to [1e-7, 1 - 1e-7], here to 2^-53"
    wald = f"normal interval, here by profile likelihood; {clipped}"
    curve = f"mean distance of score and fitted logistic curve, which has no measure here; {clipped}"
    score = np.clip(table.score, _CLIP, 1.0 - _CLIP)
    fitted = _fit(table, np.log(score / (1.0 - score)))
    if fitted is None:
        none = "none: the labels have no finite fit, and its steps stop somewhere"
        lines = [PeerNumber(name, None, beside, none, part) for name, beside, part in _COX]
        return (*lines, PeerNumber("COX ICI", None, None, none))
    at, spread = fitted
    margin = normal_quantile(0.975) * spread
    values = (at[1], at[0], at[1] - margin[1], at[1] + margin[1], at[0] - margin[0], at[0] + margin[0])
    lines = [
        PeerNumber(name, float(value), beside, clipped if part is Part.VALUE else wald, part)
        for value, (name, beside, part) in zip(values, _COX, strict=True)
    ]
    moved = logistic(at[0] + at[1] * np.log(score / (1.0 - score)))
    ici = float((table.rows * np.abs(moved - score)).sum()) / table.total_rows
    return (*lines, PeerNumber("COX ICI", ici, None, curve))


def _fit(table: ScoreTable, logit: Floats) -> tuple[Floats, Floats] | None:
    """Return intercept and slope of most likelihood and their standard errors, None where there are none."""
    n = table.total_rows
    points = Points(
        np.stack([np.ones(logit.size), logit]), table.positive_rows / table.rows, table.rows / float(n)
    )
    try:
        optimum = minimise(log_loss, points, start=np.zeros(2), what="log loss")
        covariance = np.linalg.inv(optimum.slopes.curvature) / n
    except (NotConverged, np.linalg.LinAlgError):
        return None
    spread = np.sqrt(np.diagonal(covariance))
    return (optimum.at, spread) if math.isfinite(float(spread.sum())) else None


CALZONE_BINS = 10

_WIDTH = f"{CALZONE_BINS} equal-width bins (a, b]; rows with a score of 0 are left out"

_MASS = f"{CALZONE_BINS} bins between quantiles; rows with the smallest score are left out"


def calzone_numbers(table: ScoreTable) -> Peer:
    """Return what `CalibrationMetrics` gives for the columns 1 - score and score."""
    own, top = cells_of(table), _predicted(table)
    even, mass = np.linspace(0.0, 1.0, CALZONE_BINS + 1), _quantiles
    numbers = (
        *_calzone_spiegelhalter(table),
        *_errors("H", _in(even, own), _in(even, top), _WIDTH, MeasureName.ECE),
        *_hosmer_lemeshow("H", _in(even, own), _WIDTH),
        *_errors("C", _in(mass(own), own), _in(mass(top), top), _MASS, MeasureName.ECE_EQUAL_MASS),
        *_hosmer_lemeshow("C", _in(mass(own), own), _MASS),
        *cox_numbers(table),
    )
    return Peer("calzone-tool", "0.1.0", numbers, ("calzone's Loess ICI is not reproduced; see ici",))


def _predicted(table: ScoreTable) -> Cells:
    """Return the rows by the probability of the label that the score predicts; a half predicts 0."""
    other = 1.0 - table.score
    right = np.where(table.score > other, table.positive_rows, table.rows - table.positive_rows)
    return np.maximum(table.score, other), table.rows, right


def _quantiles(cells: Cells) -> Floats:
    """Return the tenths of the scores, linear between neighbouring rows."""
    score, rows, _ = cells
    return np.asarray(np.quantile(np.repeat(score, rows), np.linspace(0.0, 1.0, CALZONE_BINS + 1)))


def _in(edges: Floats, cells: Cells) -> PeerBins:
    return peer_bins(right_closed(edges, cells[0]), cells)


def _errors(
    letter: str, own: PeerBins, top: PeerBins, bins: str, name: MeasureName
) -> tuple[PeerNumber, ...]:
    """Return mean and largest distance over bins, of label 1 and of the predicted label."""
    predicted = "of the predicted label, which has no measure here"
    none = "none: no row is left in any bin"
    worst = MeasureName.LINF if letter == "H" else None
    return (
        PeerNumber(f"ECE-{letter}", own.mean, name, bins if own.rows.size else none),
        PeerNumber(f"MCE-{letter}", own.largest, worst, bins),
        PeerNumber(f"ECE-{letter} topclass", top.mean, None, f"{predicted}; {bins}"),
        PeerNumber(f"MCE-{letter} topclass", top.largest, None, f"{predicted}; {bins}"),
    )


def _hosmer_lemeshow(letter: str, gaps: PeerBins, bins: str) -> tuple[PeerNumber, ...]:
    """Return the statistic of Hosmer and Lemeshow, its p-value by two degrees of freedom fewer than bins."""
    from scipy.special import chdtr

    rate, score = (np.clip(one, _CLIP, 1.0 - _CLIP) for one in (gaps.rate, gaps.score))
    expected, rows = score * gaps.rows, gaps.rows
    statistic = float(((rate * rows - expected) ** 2 / (expected * (1.0 - expected / rows))).sum())
    freedom = rows.size - 2
    p = 1.0 - float(chdtr(freedom, statistic)) if freedom > 0 else None
    degrees = "none: two bins or fewer leave no degree of freedom"
    if freedom > 0:
        left = f"{plural(freedom, 'degree')} of freedom for {rows.size} bins"
        degrees = f"{left}, here one for each bin of ece, or draws for thin bins"
    variance = (
        "n times mean score (1 - mean score) as variance, here the sum of f (1 - f) over the bins of ece"
    )
    test = TestName.HOSMER_LEMESHOW
    return (
        PeerNumber(f"HL-{letter} score", statistic, test, f"{variance}; {bins}"),
        PeerNumber(f"HL-{letter} p-value", p, test, f"{degrees}; {bins}", Part.P_VALUE),
    )


def _calzone_spiegelhalter(table: ScoreTable) -> tuple[PeerNumber, ...]:
    z = _spiegelhalter(table)
    p = None if z is None else 2.0 * (1.0 - 0.5 * math.erfc(-abs(z) / math.sqrt(2.0)))
    test, same = TestName.SPIEGELHALTER, "the same formula"
    tail = "2 (1 - cdf) of the normal law, 0 where z is beyond 8.3; here by draws for few rows or values"
    return (
        PeerNumber("SpiegelhalterZ score", z, test, same),
        PeerNumber("SpiegelhalterZ p-value", p, test, tail, Part.P_VALUE),
    )


EDGES = 50

_JITTER = 1e-8

_SEED = 1

_PRECISION = 1e-8

# Its series have about as many terms as this is large.
_MOST_STATISTIC = 1e8


def mapie_numbers(table: ScoreTable, rows: OrderedRows) -> Peer:
    """Return what MAPIE's metrics give for a score of one column."""
    index = right_closed(np.linspace(0.0, 1.0, EDGES), table.score) + 1
    error = peer_bins(index, cells_of(table)).mean
    bins = f"num_bins={EDGES} counts edges: {EDGES - 1} equal-width bins (a, b] and one for scores of 0"
    ks, kuiper = _cumulative(rows)
    z = _spiegelhalter(table)
    jitter = f"seeded jitter breaks ties, so that the order of the rows matters ({rows.order})"
    path = f"the path leaves out its start at 0; {jitter}"
    law = f"1 - cdf, which rounding can make negative, here by draws for few rows or values; {path}"
    one_sided = "one-sided by the normal law, here two-sided (and by draws for few rows or values)"
    ks_p = ks_p_value(ks) if _usual(ks) else None
    kuiper_p = kuiper_p_value(kuiper) if _usual(kuiper) else None
    z_p = None if z is None else 1.0 - 0.5 * math.erfc(-z / math.sqrt(2.0))
    numbers = (
        PeerNumber("expected_calibration_error", error, MeasureName.ECE, bins),
        *_test("kolmogorov_smirnov", TestName.KS, (ks, path), (ks_p, law)),
        *_test("kuiper", TestName.KUIPER, (kuiper, path), (kuiper_p, law)),
        *_test("spiegelhalter", TestName.SPIEGELHALTER, (z, "the same formula"), (z_p, one_sided)),
    )
    return Peer("mapie", "1.6.0", numbers)


def _test(
    name: str, test: TestName, statistic: tuple[float | None, str], p: tuple[float | None, str]
) -> tuple[PeerNumber, ...]:
    """Return a statistic and its p-value, each with the reason why ours differs."""
    undefined = "none: every score is 0, 1/2 or 1, or there is one row"
    if statistic[0] is not None and _MOST_STATISTIC <= statistic[0] < math.inf:
        undefined = "none: as far out its series has more terms than fit in memory"
    parts = ((Part.VALUE, "statistic", statistic), (Part.P_VALUE, "p_value", p))
    return tuple(
        PeerNumber(f"{name}_{word}", value, test, undefined if value is None else why, part)
        for part, word, (value, why) in parts
    )


def _cumulative(rows: OrderedRows) -> tuple[float | None, float | None]:
    """Return both statistics of the path of label - score in the order of jittered scores."""
    score = rows.score
    spread = math.sqrt(float((score * (1.0 - score)).sum()))
    # The seed and this old generator are part of what is reproduced.
    noise = np.random.RandomState(_SEED).normal(size=score.size)
    moved = score * (1.0 + _JITTER * noise)
    order = np.argsort(moved)
    path = np.cumsum(rows.label[order] - moved[order])
    return ratio(float(np.abs(path).max()), spread), ratio(float(path.max() - path.min()), spread)


def _usual(statistic: float | None) -> TypeGuard[float]:
    """Whether a series gives a p-value: 0 and what is too far out are errors there."""
    return statistic is not None and 0.0 < statistic < _MOST_STATISTIC


def ks_p_value(statistic: float) -> float:
    """Return 1 less the law of the largest distance of a Brownian motion from 0, by a series cut at 1e-8."""
    terms = 0.5 + statistic * math.sqrt(2.0) / math.pi * math.sqrt(math.log(4.0 / (math.pi * _PRECISION)))
    k = np.arange(math.ceil(terms))
    odd = k + 0.5
    series = (-1.0) ** k / odd * np.exp(-((odd * math.pi / statistic) ** 2) / 2.0)
    return 1.0 - 2.0 / math.pi * float(series.sum())


def kuiper_p_value(statistic: float) -> float:
    """Return 1 less the law of the range of a Brownian motion, by a series cut at 1e-8."""
    slack = (1.0 / statistic + statistic / math.pi**2) * 4.0 / (math.sqrt(2.0 * math.pi) * _PRECISION)
    terms = 0.5 + statistic / (math.pi * math.sqrt(2.0)) * math.sqrt(math.log(slack))
    odd = np.arange(math.ceil(terms)) + 0.5
    inner = 8.0 / statistic**2 + 2.0 / (odd * math.pi) ** 2
    return 1.0 - float((inner * np.exp(-2.0 * (odd * math.pi / statistic) ** 2)).sum())


def _spiegelhalter(table: ScoreTable) -> float | None:
    tilt = 1.0 - 2.0 * table.score
    variance = float((table.rows * tilt**2 * table.score * (1.0 - table.score)).sum())
    return ratio(float(((table.positive_rows - table.rows * table.score) * tilt).sum()), math.sqrt(variance))


BINS = 10

CLIP = 2.0**-52

RATE = 2.5


def netcal_numbers(table: ScoreTable) -> Peer:
    """Return what netcal's `measure` gives for a score of one column."""
    score = np.clip(table.score, CLIP, 1.0 - CLIP)
    index = left_closed(np.linspace(0.0, 1.0, BINS + 1), score)
    gaps = peer_bins(index, (score, table.rows, table.positive_rows))
    bins = f"{BINS} equal-width bins [a, b), edges by linspace, whose 0.3 lies above the double 0.3"
    equal = "mean over bins, each with the same weight, of equal width; here bins are of equal mass"
    right = "a score is compared with whether rounding it gives the label; here with the label"
    numbers = (
        PeerNumber("ECE", gaps.mean, MeasureName.ECE, bins),
        PeerNumber("MCE", gaps.largest, MeasureName.LINF, bins),
        PeerNumber("ACE", gaps.plain_mean, MeasureName.ACE, f"{equal}; {bins}"),
        PeerNumber("MMCE", _mmce(table), MeasureName.MMCE, right),
    )
    return Peer("netcal", "1.4.0", numbers)


def _mmce(table: ScoreTable) -> float:
    """Return the root of the mean over pairs of rows of both gaps times exp(-2.5 times their distance)."""
    score, rows = table.score, table.rows
    right = np.where(score > 0.5, table.positive_rows, rows - table.positive_rows)
    gap = right - rows * score
    # The kernel of two sorted scores is a product, so that a running sum takes all pairs at once.
    before = np.cumsum(gap * np.exp(RATE * score))
    before = np.concatenate(([0.0], before[:-1]))
    pairs = float((gap**2).sum() + 2.0 * (gap * np.exp(-RATE * score) * before).sum())
    return math.sqrt(max(pairs, 0.0)) / table.total_rows


FIXED = 0.05

_LEAST_BANDWIDTH = 0.001

_HALVINGS = 10

_FLOOR = 1e-4


def relplot_numbers(table: ScoreTable) -> Peer:
    grid = "a grid whose end nodes are mirrored once, so that rows at 0 or 1 count half"
    steps = f"bandwidths in steps of 1/{2**_HALVINGS:,}, and {grid}"
    place = (table.score / (1.0 / BINS)).astype(np.int64)
    residual = np.bincount(place, weights=table.rows * table.score - table.positive_rows)
    error = float(np.abs(residual).sum()) / table.total_rows
    bins = f"{BINS} equal-width bins [a, b) by dividing and cutting off, a score of 1 in a bin of its own"
    ece, smece = MeasureName.ECE, MeasureName.SMECE
    numbers = (
        PeerNumber("smECE", smece_by_halving(table), smece, steps),
        PeerNumber(f"smECE_sigma({FIXED})", smece_at(table, FIXED), smece, f"at one fixed bandwidth; {grid}"),
        PeerNumber("metrics.binnedECE", error, ece, bins),
        PeerNumber("metrics.binnedECEw", error + 1.0 / BINS, ece, f"the width of a bin is added; {bins}"),
    )
    note = "relplot's intCE_rand and laplace_calibration_approx draw random numbers and are not reproduced"
    return Peer("relplot", "1.0.3", numbers, (note,))


def smece_by_halving(table: ScoreTable) -> float:
    """Return the error at the smallest bandwidth, to 1/1,024, that is not below the error at it."""

    def below(bandwidth: float) -> bool:
        return bandwidth < _LEAST_BANDWIDTH or bandwidth < smece_at(table, bandwidth)

    above, under = 1.0, 0.0
    if below(above):
        return smece_at(table, above)
    for _ in range(_HALVINGS):
        middle = (above + under) / 2.0
        if below(middle):
            under = middle
        else:
            above = middle
    return smece_at(table, above)


def smece_at(table: ScoreTable, bandwidth: float) -> float:
    """Return the smoothed absolute residual over the smoothed number of rows."""
    points = np.linspace(0.0, 1.0, max(round(10.0 / bandwidth), 200))
    residual = table.rows * table.score - table.positive_rows
    error = np.abs(_smoothed(table.score, residual, points, bandwidth=bandwidth)).sum()
    rows = (_smoothed(table.score, table.rows.astype(np.float64), points, bandwidth=bandwidth) + _FLOOR).sum()
    return float(error / rows)


def _smoothed(score: Floats, mass: Floats, points: Floats, *, bandwidth: float) -> Floats:
    """Return masses shared out to two nodes each, smoothed along the mirrored nodes, and read at points."""
    nodes = max(2000, round(20.0 / bandwidth)) // 2 + 1
    place = score * (nodes - 1)
    left = np.clip(place.astype(np.int64), 0, nodes - 2)
    share = place - left
    at_left = np.bincount(left, weights=(1.0 - share) * mass, minlength=nodes)
    held = at_left + np.bincount(left + 1, weights=share * mass, minlength=nodes)
    where = np.linspace(0.0, 1.0, nodes)
    kernel = np.exp(-(((where - 0.5) / bandwidth) ** 2) / 2.0) / (math.sqrt(2.0 * math.pi) * bandwidth)
    mirrored = np.concatenate([held[:0:-1], held, held[-2::-1]])
    first = nodes // 2
    return np.interp(points, where, np.convolve(mirrored, kernel, "valid")[first : first + nodes])


def sklearn_numbers(table: ScoreTable) -> Peer:
    brier, loss = mean_loss(table, squared_error), _log_loss(table, table.score)
    wrong = certain_and_wrong(table)
    clipped = f"scores are limited to [2.2e-16, 1 - 2.2e-16] there{_cost(wrong)}"
    clipped = "none: labels that are all the same are an error there" if loss is None else clipped
    shares = "one less the loss over that of the base rate of these rows"
    numbers = (
        PeerNumber("brier_score_loss", brier, MeasureName.BRIER, "the same formula"),
        PeerNumber("log_loss", loss, MeasureName.LOG_LOSS, clipped),
        PeerNumber("d2_brier_score", _brier_share(table, brier), MeasureName.BRIER_SKILL, shares),
        PeerNumber(
            "d2_log_loss_score",
            _log_share(table, loss),
            MeasureName.LOG_LOSS_SKILL,
            f"{shares}; {clipped}",
        ),
    )
    return Peer("scikit-learn", "1.9.1", numbers)


def _cost(wrong: int) -> str:
    """Return what scores of 0 and 1 that were wrong add."""
    if not wrong:
        return ""
    return f": {-math.log(CLIP):.2f} for each of {plural(wrong, 'row')} that {GAVE_ZERO}, infinity here"


def _brier_share(table: ScoreTable, loss: float) -> float | None:
    """Return 1 - loss / loss of the base rate; -inf where every label is the same and a score is not."""
    if table.total_rows < 2:
        return None
    rate = rate_of(table)
    share = ratio(loss, rate * (1.0 - rate))
    return None if share is None else 1.0 - share


def _log_loss(table: ScoreTable, score: Floats) -> float | None:
    """Return the mean log loss of scores within the limits; None for one label, which is an error there."""
    positive, negative = table.positive, table.weight - table.positive
    if table.total_positive_rows in (0, table.total_rows):
        return None
    costs = positive * -np.log(_limited(score)) + negative * -np.log(_limited(1.0 - score))
    return float(costs.sum()) / float(table.weight.sum())


def _log_share(table: ScoreTable, loss: float | None) -> float | None:
    if loss is None or table.total_rows < 2:
        return None
    rate = rate_of(table)
    base = _log_loss(table, np.full(table.distinct, rate))
    return None if base is None else 1.0 - loss / base


def _limited(score: Floats) -> Floats:
    return np.clip(score, CLIP, 1.0 - CLIP)


TORCHMETRICS_BINS = 15


def torchmetrics_numbers(table: ScoreTable) -> Peer:
    """Return what `binary_calibration_error` gives for tensors of 64-bit floats."""
    gaps = peer_bins(left_closed(edges(TORCHMETRICS_BINS), table.score), cells_of(table))
    bins = f"{TORCHMETRICS_BINS} equal-width bins [a, b), a score of 1 in a bin of its own"
    square = gaps.mean_square
    root = None if square is None else math.sqrt(square)
    numbers = tuple(
        PeerNumber(f"binary_calibration_error norm={norm}", value, name, bins)
        for norm, value, name in (
            ("l1", gaps.mean, MeasureName.ECE),
            ("l2", root, MeasureName.L2_PLUG_IN),
            ("max", gaps.largest, MeasureName.LINF),
        )
    )
    note = "tensors of 32-bit floats round scores, which can move a score across an edge"
    return Peer("torchmetrics", "1.9.0", numbers, (note,))


def edges(count: int) -> Floats:
    """Return equally spaced edges counted from both ends, as `torch.linspace` has them.

    Each is rounded once from the exact multiple of the rounded step (a fused multiply and add); a processor
    without that instruction may differ in the last digit.
    """
    step = Fraction(1.0 / count)
    half = (count + 1) // 2
    low = [float(k * step) for k in range(half)]
    return np.array([*low, *(float(1 - (count - k) * step) for k in range(half, count + 1))])


UC_BINS = 15


def uncertainty_calibration_numbers(table: ScoreTable) -> Peer:
    """Return what its functions give for a score of one column."""
    few = table.distinct < table.total_rows / 4.0
    even = np.arange(1, UC_BINS + 1) / UC_BINS
    between = np.append((table.score[:-1] + table.score[1:]) / 2.0, 1.0)
    own = "each value by itself, as fewer than a quarter of the rows are different"
    debiased = _bins_of_uc(table, between if few else equal_mass_ends(table))
    name = "get_calibration_error"
    subtracts = "the variance of the labels is subtracted, here that of label - score"
    partition = own if few else f"{UC_BINS} equal-mass bins"
    squared = debiased_square(debiased)
    width = f"{UC_BINS} equal-width bins (a, b]"
    mass = f"{UC_BINS} equal-mass bins, larger ones first, cut midway between neighbouring rows"
    numbers = (
        PeerNumber("get_ece", _bins_of_uc(table, even).mean, MeasureName.ECE, width),
        PeerNumber(
            "get_ece_em",
            _bins_of_uc(table, equal_mass_ends(table)).mean,
            MeasureName.ECE_EQUAL_MASS,
            mass,
        ),
        PeerNumber(name, math.sqrt(max(squared, 0.0)), MeasureName.L2, f"{subtracts}; {partition}"),
    )
    note = "its bootstrap intervals are drawn anew at every call and are not reproduced"
    return Peer("uncertainty-calibration", "0.1.4", numbers, (note,))


def debiased_square(gaps: PeerBins) -> float:
    """Return the mean over rows of gap^2 - rate (1 - rate) / (n - 1); bins with one row count as 0."""
    two = gaps.rows > 1
    noise = gaps.rate[two] * (1.0 - gaps.rate[two]) / (gaps.rows[two] - 1.0)
    return float((gaps.rows[two] * (gaps.gap[two] ** 2 - noise)).sum()) / float(gaps.rows.sum())


def equal_mass_ends(table: ScoreTable) -> Floats:
    """Return the right ends of bins of nearly equal mass; ties stay together, equal ends are one."""
    n = table.total_rows
    parts = min(UC_BINS, n)
    each, rest = divmod(n, parts)
    k = np.arange(1, parts)
    last = k * each + np.minimum(k, rest)
    place = np.cumsum(table.rows)
    left, right = _row(table, place, last - 1), _row(table, place, last)
    return np.unique(np.append((left + right) / 2.0, 1.0))


def _row(table: ScoreTable, place: Integers, rank: Integers) -> Floats:
    """Return the scores of rows by rank, from 0."""
    return table.score[np.searchsorted(place, rank, side="right")]


def _bins_of_uc(table: ScoreTable, ends: Floats) -> PeerBins:
    index = np.searchsorted(ends, table.score, side="left").astype(np.int64)
    return peer_bins(index, cells_of(table))
