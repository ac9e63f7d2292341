"""By how much rows between two scores are off together, for whoever acts on a range of scores."""

import math

from calibcli.names import MeasureName, Target
from calibcli.stats.bounds import Interval
from calibcli.stats.bounds.resampling import LEAST_INFORMATION, extremes, range_tail
from calibcli.stats.measures import HELD_OUT, HOEFFDING, UNKNOWN, Estimate, deviation
from calibcli.stats.measures.if_calibrated import CalibratedDraws, Measures, of_draws
from calibcli.stats.measures.scores import losses_of, squared_error, values_of
from calibcli.stats.measures.tests import path_information
from calibcli.stats.numerics import crossing, normal_quantile
from calibcli.stats.table.grid import Table, hidden_range, open_variance, residuals

METHOD = (
    "range of a Brownian motion below, the normal law above; variance from Gaffke's bound of the Brier score"
)

# How much of the error of either end is for the variance.
_FOR_VARIANCE = 0.2

# The range of a Brownian motion on average, and between what nine of ten lie.
_MEAN, _LOW, _HIGH = 1.5957691216057308, 0.9719792878307107, 2.4976721610486523


def cutoff(table: Table, *, confidence: float = 0.95, calibrated: CalibratedDraws | None = None) -> Estimate:
    """Largest |mean of (label - score) [a < score <= b]| over all a and b.

    It is the range of the running sum of label - score over ascending scores, by the number of rows: Kuiper's
    statistic in another unit.
    """
    total = float(table.weight.sum())
    top, bottom = map(float, extremes(residuals(table)))
    value = (top - bottom) / total
    because, hidden = [HELD_OUT], 0.0
    if table.kind == "grid" and (hidden := hidden_range(table) / total) > 0.0:
        words = f"read at the ends of grid cells, which can lower it by at most {hidden:.3g}"
        because.append(f"{words}, added to the upper end")
    delta, null = (1.0 - confidence) / 2.0, UNKNOWN
    if table.weighted:
        # The noise ranges from its least partial sum to its largest, each with half of the error.
        below, above = 2.0 * deviation(table, delta=delta / 2.0), deviation(table, delta=delta)
    else:
        below, above = _margins(table, delta=delta)
        unit = math.sqrt(float(open_variance(table).sum())) / total
        if calibrated is not None and (drawn := calibrated.paths.kuiper) is not None:
            null = of_draws(drawn * unit)
        elif calibrated is not None and path_information(table) >= LEAST_INFORMATION:
            # No path is drawn where rows are so many that they are put together: there the limit law does.
            null = _MEAN * unit, (_LOW * unit, _HIGH * unit)
    interval = Interval(
        max(0.0, value - below),
        min(1.0, value + above + hidden),
        confidence,
        HOEFFDING if table.weighted else METHOD,
        Target.FIXED_DESIGN if table.weighted else Target.POPULATION,
        finite_sample=table.weighted,
    )
    return Estimate.of(MeasureName.CUTOFF, table, value, interval, null=null, because=because)


def _margins(table: Table, *, delta: float) -> tuple[float, float]:
    """Return how far the value may be above and below the truth, each with error `delta`.

    Above: by no more than the range of the noise, which is less than that of a Brownian motion with the
    variance of label - score. Below: by no more than the noise of the one range of scores that is worst in
    truth, and which one that is no label decides.
    """
    losses = losses_of(table, squared_error)
    negative = table.weight - table.positive
    mean = losses.mean_of_suffered(table.positive, negative)
    values = values_of(table, losses, negative=negative, mean=mean)
    variance = values.upper_bound(most=1.0, delta=_FOR_VARIANCE * delta)
    left = (1.0 - _FOR_VARIANCE) * delta
    spread = math.sqrt(variance / table.total_rows)
    return crossing(lambda r: left - range_tail(r), 0.0, 60.0)[1] * spread, -normal_quantile(left) * spread


MEASURES: Measures = {
    MeasureName.CUTOFF: lambda _, table, settings: cutoff(
        table, confidence=settings.confidence, calibrated=settings.calibrated
    ),
}
