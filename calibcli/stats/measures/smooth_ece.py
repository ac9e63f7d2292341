"""SmoothECE: the calibration error after smoothing the residuals at the scale of the error itself."""

import math
from collections.abc import Callable

import numpy as np

from calibcli.names import DEFAULT_SEED, MeasureName, Target
from calibcli.options.numerals import in_full
from calibcli.stats.bounds import Interval
from calibcli.stats.bounds.betting import Stakes, WeighedResiduals, stakes_for_one_look, stakes_of_rows
from calibcli.stats.bounds.proportion import hoeffding_deviation
from calibcli.stats.measures import HELD_OUT, UNKNOWN, Estimate, Reference, deviation, if_calibrated
from calibcli.stats.measures.bias import BY_MEAN_OR_NOISE, least_error
from calibcli.stats.measures.binned import for_these_scores
from calibcli.stats.numerics import crossing
from calibcli.stats.table import Floats, ScoreTable
from calibcli.stats.table.grid import Table, residuals
from calibcli.stats.table.kernel import (
    LEAST_BANDWIDTH,
    MESH,
    CosineSeries,
    bandwidths_around,
    cosine_series,
    cosine_series_of_cells,
    fixpoint,
    in_cells,
    residual_series,
)
from calibcli.values import dataclass

# Logit and probit are taken of scores limited to [LIMIT, 1 - LIMIT].
LIMIT = 1e-4

_SCORE = "score"


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """Where a table's scores lie on the scale on which they are smoothed.

    Args:
        places: The scores' places as parts of the scale's length, shape (n_entries,), in [0, 1].
        length: Length of the scale; bandwidths are told in its units.
        limited: Number of rows whose score lay beyond the ends and was taken to be at the nearer one.
    """

    word: str
    places: Floats
    length: float
    limited: int = 0

    @property
    def sentences(self) -> tuple[str, ...]:
        """What a reader must know of a scale that is not the score itself."""
        if self.word == _SCORE:
            return ()
        unit = f"bandwidth and value are in units of the {self.word}, stretched to those of the score at 1/2"
        if not self.limited:
            return (unit,)
        rows = f"{self.limited} row lies" if self.limited == 1 else f"{self.limited} rows lie"
        return unit, f"{rows} within {LIMIT:g} of 0 or 1 and counted there as if at {LIMIT:g} from it"

    @property
    def details(self) -> dict[str, int | str]:
        """The same in plain values."""
        return {} if self.word == _SCORE else {"scale": self.word, "limited_rows": self.limited}


def score_axis(table: Table) -> Axis:
    return Axis(_SCORE, table.score, 1.0)


def logit_axis(table: Table) -> Axis:
    """Return ln(f / (1 - f)) / 4, whose unit is that of the score where the score is 1/2.

    References:
        Blasiok & Nakkiran (2023); their package divides by 4 as well.
    """
    return _bent_axis(table, "logit", lambda f: (np.log(f) - np.log1p(-f)) / 4.0)


def probit_axis(table: Table) -> Axis:
    """Return the normal quantile over sqrt(2 pi), whose unit is that of the score where the score is 1/2."""
    from scipy.special import ndtri

    return _bent_axis(table, "probit", lambda f: np.asarray(ndtri(f)) / math.sqrt(2.0 * math.pi))


def _bent_axis(table: Table, word: str, bend: Callable[[Floats], Floats]) -> Axis:
    score = table.score
    half = -float(bend(np.array([LIMIT]))[0])
    places = np.clip(0.5 + bend(np.clip(score, LIMIT, 1.0 - LIMIT)) / (2.0 * half), 0.0, 1.0)
    beyond = (score < LIMIT) | (score > 1.0 - LIMIT)
    return Axis(word, places, 2.0 * half, int(table.rows[beyond].sum()))


def gathered(table: Table, places: Floats) -> ScoreTable:
    """Return how many rows lie in each of the kernel's cells, at the cells' middles; labels are left out."""
    rows = in_cells(places, table.weight).astype(np.int64)
    some = np.flatnonzero(rows)
    return ScoreTable((some + 0.5) / MESH, rows[some], np.zeros(some.size, np.int64))


def in_few_places(table: Table) -> Table:
    """Return a table by the kernel's cells where it has more scores than these."""
    return gathered(table, table.score) if table.distinct > MESH else table


# The bandwidths of the lower bound, fixed in advance.
_LOWER_BANDWIDTHS = np.geomspace(0.005, 0.5, 16)

BY_BETS = "betting at the fixpoint"

# Narrower kernels see at most one reflection, and their noise is taken from the cosine series.
_NARROW = 0.004


def smooth_ece(
    table: Table, *, confidence: float | None = 0.95, calibrated: if_calibrated.CalibratedDraws | None = None
) -> Estimate:
    """The bandwidth sigma at which the norm of residuals smoothed by a reflected Gaussian equals sigma."""
    null = UNKNOWN if calibrated is None else calibrated.smece
    return smooth_ece_along(
        table, score_axis(table), name=MeasureName.SMECE, confidence=confidence, null=null
    )


AT_A_BANDWIDTH = "betting; lower: " + BY_MEAN_OR_NOISE


def smooth_error_at(
    table: Table, bandwidth: float, *, confidence: float | None = 0.95, null: Reference = UNKNOWN
) -> Estimate:
    """Return the L1 norm of the residuals smoothed at a bandwidth that was chosen before the rows were seen.

    It is the largest mean of residual times a function into [-1, 1], whose best function is a fixed one, so
    that bets on it need no union. The lower bound is the larger of that of |bias| and McDiarmid's.
    """
    series = residual_series(table)
    value = float(series.l1_norm(bandwidth))
    interval, speaks = None, _MIXED
    if table.weighted and confidence is not None:
        interval = _weighted_interval(table, value, lambda margin: value + margin, confidence)
        speaks = _ONLY_THESE
    elif table.total_rows < 2:
        speaks = "no interval: one row"
    elif confidence is not None:
        delta = (1.0 - confidence) / 2.0
        held, stakes, level = weighed(table), stakes_of_rows(table.total_rows, delta=delta), -math.log(delta)
        upper = crossing(lambda eps: held.log_pass(eps, stakes, norm=value) - level, 0.0, 1.0)[1]
        few, rows = in_few_places(table), table.total_rows
        lower = least_error(
            table,
            lambda error: value - noise_of_norm(few, bandwidth) - math.sqrt(-math.log(error) / (2.0 * rows)),
            delta=delta,
        )
        method = f"upper: {AT_A_BANDWIDTH}"
        ends = min(lower, value), max(min(1.0, upper), value)
        interval = Interval(*ends, confidence, method, Target.MIXED, finite_sample=True)
    at = f"at the given bandwidth {in_full(bandwidth)}, not at one of its own"
    details = {"bandwidth": bandwidth}
    because = HELD_OUT, speaks, at
    return Estimate.of(MeasureName.SMECE, table, value, interval, null=null, because=because, details=details)


def smooth_ece_on(
    name: MeasureName, table: Table, *, confidence: float = 0.95, seed: int = DEFAULT_SEED
) -> Estimate:
    """SmoothECE along the logit or the normal quantile of the score, with residuals label - f as they are.

    References:
        Blasiok & Nakkiran (2023), section 4 on general metrics.
    """
    axis = logit_axis(table) if name is MeasureName.SMECE_LOGIT else probit_axis(table)
    null = if_calibrated.expected_smece_along(table, axis.places, length=axis.length, seed=seed)
    return smooth_ece_along(table, axis, name=name, confidence=confidence, null=null)


def smooth_ece_along(
    table: Table, axis: Axis, *, name: MeasureName, confidence: float | None, null: Reference
) -> Estimate:
    """Return SmoothECE with the scores smoothed along a scale; its interval where a confidence is asked for.

    The scale is an interval, at whose ends the kernel is reflected, so that norms do not increase with the
    bandwidth and both bounds hold as they do for the score itself.
    """
    series = cosine_series(axis.places, residuals(table) / table.weight.sum())
    value = 0.0 if not np.any(series.coefficients) else fixpoint(series, scale=axis.length)
    because = [HELD_OUT, _MIXED]
    if 0.0 < value <= LEAST_BANDWIDTH * axis.length:
        # The norm does not increase with the bandwidth, so its value here is below the solution.
        value = min(value, float(series.l1_norm(LEAST_BANDWIDTH)))
        least = f"{LEAST_BANDWIDTH * axis.length:.2g}"
        because.append(f"bandwidths below {least} are not resolved: at least the value shown")
    interval = None
    if table.weighted and confidence is not None:

        def fixed(margin: float) -> float:
            def excess(bandwidth: float) -> float:
                return axis.length * bandwidth - float(series.l1_norm(bandwidth)) - margin

            return axis.length * bandwidths_around(excess, within=1e-9)[1]

        interval, because[1] = _weighted_interval(table, value, fixed, confidence), _ONLY_THESE
    elif table.total_rows < 2:
        because.append("no interval: one row")
    elif confidence is not None:
        interval = _interval(table, axis, series, value=value, confidence=confidence)
    because += axis.sentences
    details = {"bandwidth": value, **axis.details}
    return Estimate.of(name, table, value, interval, null=null, because=because, details=details)


_MIXED = "the upper bound speaks of the population, the lower of these scores"

_ONLY_THESE = "both bounds speak of these scores"


def _weighted_interval(
    table: Table, value: float, upper: Callable[[float], float], confidence: float
) -> Interval:
    """Return an interval for these scores with importance weights.

    A norm is the largest weighted mean of residual times a function into [-1, 1]; that of the true norm is a
    fixed one, whose mean strays by no more than Hoeffding's margin at the effective number of rows. Below
    stands the mean residual alone. `upper` says which upper bound follows from a margin.
    """
    delta = (1.0 - confidence) / 2.0
    return for_these_scores(
        value,
        lower=least_error(table, lambda _: 0.0, delta=delta),
        upper=upper(deviation(table, delta=delta)),
        confidence=confidence,
        method="upper: Hoeffding at the effective number of rows; lower: |bias|",
    )


def _interval(table: Table, axis: Axis, series: CosineSeries, *, value: float, confidence: float) -> Interval:
    delta = (1.0 - confidence) / 2.0
    upper = upper_bound(table, series, delta=delta, length=axis.length)
    # The kernel integrates to 1, so that smoothed residuals have the mean that residuals have, at every
    # bandwidth, and the integral of their size is at least the size of their integral.
    lower = least_error(table, lambda one: lower_bound(table, axis, series, delta=one), delta=delta)
    lower = min(lower, value)
    method = f"upper: {BY_BETS}; lower: {BY_MEAN_OR_NOISE} on a grid"
    return Interval(lower, min(1.0, upper), confidence, method, Target.MIXED, finite_sample=True)


def upper_bound(
    table: Table, series: CosineSeries, *, delta: float, length: float = 1.0, variance: float | None = None
) -> float:
    """Return an upper bound of the population's smECE, by betting on residuals times the best test function.

    The best test function at a bandwidth is a fixed one, so no union over functions is needed, and none over
    bandwidths because the norm does not increase.
    """
    held, stakes = weighed(table), stakes_for(table.total_rows, variance, delta=delta)
    level = math.log(1.0 / delta)

    def rises(bandwidth: float) -> float:
        norm = float(series.l1_norm(bandwidth))
        return held.log_pass(length * bandwidth, stakes, norm=norm) - level

    return length * bandwidths_around(rises, within=1e-9)[1]


def weighed(table: Table) -> WeighedResiduals:
    """Return the sizes of a table's residuals; rows are unweighted.

    Of more scores than the kernel has cells they are rounded up to a multiple of a cell, which claims less.
    """
    negative = table.weight - table.positive
    if table.distinct <= MESH:
        size = np.concatenate((1.0 - table.score_of_positive, table.score_of_negative))
        return WeighedResiduals(size, np.concatenate((table.positive, negative)))
    zeros, ones = (in_cells(table.score, rows) for rows in (negative, table.positive))
    return WeighedResiduals((np.arange(MESH) + 1.0) / MESH, zeros + ones[::-1])


def stakes_for(rows: int, variance: float | None, *, delta: float) -> Stakes:
    """Return bets that no row has a say in that will be judged."""
    if variance is None:
        return stakes_of_rows(rows, delta=delta)
    return stakes_for_one_look(rows, variance, delta=delta)


def lower_bound(table: Table, axis: Axis, series: CosineSeries, *, delta: float) -> float:
    """Return max_j min(sigma_j, smECE_sigma_j - b_j - sqrt(ln(m / delta) / (2 n))) over m fixed bandwidths.

    b_j bounds what label noise adds to the norm on average; smECE >= min(sigma, smECE_sigma) at every sigma.
    """
    n = table.total_rows
    count = _LOWER_BANDWIDTHS.size
    strayed = math.sqrt(math.log(count / delta) / (2.0 * n))
    # Smoothing adds nothing to the size of the residuals.
    if float(np.abs(residuals(table)).sum()) <= strayed * n:
        return 0.0
    at = in_few_places(table) if axis.length == 1.0 else gathered(table, axis.places)
    best = 0.0
    for sigma in _LOWER_BANDWIDTHS[::-1]:
        norm = float(series.l1_norm(float(sigma) / axis.length))
        # Bandwidths that cannot improve the bound need no noise term.
        if min(float(sigma), norm - strayed) > best:
            noise = noise_of_norm(at, float(sigma) / axis.length)
            best = max(best, min(float(sigma), norm - strayed - noise))
    return best


def noise_of_norm(table: Table, bandwidth: float) -> float:
    """Return b = int sqrt(sum_i K(f_i, t)^2) dt / (2 n): the mean norm that labels can make at most.

    Scores are gathered in cells of an eighth of the bandwidth and the integral taken at steps of a quarter;
    below a bandwidth of 0.004 the cosine series gives it. Both are within one part in a hundred, and the
    result is raised by that.
    """
    narrow = bandwidth < _NARROW
    cells = MESH if narrow else math.ceil(8.0 / bandwidth)
    rows = in_cells(table.score, table.weight, cells)
    if narrow:
        spread = if_calibrated.mean_spread(cosine_series_of_cells(rows), rows, bandwidth=bandwidth)
        return 1.01 * spread / (2.0 * table.total_rows)
    some = np.flatnonzero(rows)
    energy = _energy((some + 0.5) / cells, rows[some], math.ceil(4.0 / bandwidth), bandwidth=bandwidth)
    return 1.01 * float(np.sqrt(energy).mean()) / (2.0 * table.total_rows)


def norm_may_stray(table: Table, bandwidth: float, *, delta: float) -> float:
    """Return how far above the true one the norm at a bandwidth is, but with a probability of delta."""
    return noise_of_norm(in_few_places(table), bandwidth) + hoeffding_deviation(table.total_rows, delta)


def _energy(centres: Floats, rows: Floats, steps: int, *, bandwidth: float) -> Floats:
    """Return sum_i rows_i K(centre_i, t)^2 at the middles t of so many steps of [0, 1]."""
    # What is farther than nine bandwidths adds less than e^-80 of what is near.
    reach = math.ceil(9.0 * bandwidth * steps)
    if 2 * reach + 1 >= steps:
        kernel = reflected_gaussian(centres, (np.arange(steps) + 0.5) / steps, bandwidth=bandwidth)
        return np.asarray(rows @ kernel**2)
    step = (centres * steps).astype(np.int64)[:, None] + np.arange(-reach, reach + 1)
    point = (step + 0.5) / steps
    total = np.exp(-0.5 * ((point - centres[:, None]) / bandwidth) ** 2)
    for side, image in (
        (centres <= 9.0 * bandwidth, -centres),
        (centres >= 1.0 - 9.0 * bandwidth, 2.0 - centres),
    ):
        total[side] += np.exp(-0.5 * ((point[side] - image[side, None]) / bandwidth) ** 2)
    energy = rows[:, None] * (total / (bandwidth * math.sqrt(2.0 * math.pi))) ** 2
    # Beyond the ends there are no points.
    held = np.bincount(step.ravel() + reach, weights=energy.ravel(), minlength=steps + 2 * reach)
    return np.asarray(held[reach : reach + steps])


def reflected_gaussian(centres: Floats, points: Floats, *, bandwidth: float) -> Floats:
    """Return the Gaussian kernel on [0, 1] with images beyond both ends, (n, m); each row integrates to 1."""
    total = np.zeros((centres.size, points.size))
    images = 1 + math.ceil(4.0 * bandwidth)
    for shift in range(-images, images + 1):
        for side in (1.0, -1.0):
            place = 2.0 * shift + side * centres
            # Images farther than eight bandwidths from every point of [0, 1] add nothing.
            near = np.flatnonzero((place >= -8.0 * bandwidth) & (place <= 1.0 + 8.0 * bandwidth))
            if near.size:
                total[near] += np.exp(-0.5 * ((points[None, :] - place[near, None]) / bandwidth) ** 2)
    return np.asarray(total / (bandwidth * math.sqrt(2.0 * math.pi)))


MEASURES: if_calibrated.Measures = {
    MeasureName.SMECE: lambda name, table, settings: (
        smooth_ece(table, confidence=settings.confidence_of(name), calibrated=settings.calibrated)
        if settings.bandwidth is None
        else smooth_error_at(
            table,
            settings.bandwidth,
            confidence=settings.confidence_of(name),
            null=if_calibrated.expected_norm(table, settings.bandwidth, seed=settings.seed),
        )
    ),
    **dict.fromkeys(
        (MeasureName.SMECE_LOGIT, MeasureName.SMECE_PROBIT),
        lambda name, table, settings: smooth_ece_on(
            name, table, confidence=settings.confidence, seed=settings.seed
        ),
    ),
}
