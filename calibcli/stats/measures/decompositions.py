"""A proper score in parts: Murphy's over bins and CORP's by isotonic regression."""

import math
from collections.abc import Callable, Mapping

import numpy as np

from calibcli.names import MeasureName, Purpose
from calibcli.stats.bounds import Interval
from calibcli.stats.bounds.resampling import calibrated_positives, draw_cells, ends_of_draws
from calibcli.stats.measures import HELD_OUT, NO_WEIGHTED_INTERVAL, UNKNOWN, Estimate, Range, if_calibrated
from calibcli.stats.measures.binned import alone_words
from calibcli.stats.measures.l2 import hidden_words, pairs_in, score_interval, t_statistic
from calibcli.stats.measures.scores import (
    LossOf,
    entropy,
    log_error,
    losses_of,
    rate_interval,
    squared_error,
    variance,
)
from calibcli.stats.numerics import Floats, stream
from calibcli.stats.recalibrators.pooling import pooled_starts
from calibcli.stats.table.bins import BinnedTable, Partition, binned, segment_sums
from calibcli.stats.table.grid import Table
from calibcli.values import dataclass, replace

# Parts of which bins say nothing, and those that pairs of rows in a bin correct.
_OF_THE_RATE = MeasureName.BRIER_UNCERTAINTY, MeasureName.BRIER_UNCERTAINTY_CORRECTED
_BY_PAIRS = MeasureName.BRIER_RELIABILITY_CORRECTED, MeasureName.BRIER_RESOLUTION_CORRECTED

# Sum of squares over square of the sum: one row may have all the weight, but for rounding.
_ONE_ROW = 1.0 - 1e-12

_NO_INTERVAL = {
    MeasureName.BRIER_RELIABILITY: (
        "no interval: noise in every bin adds to it; brier_reliability_corrected and l2 have one"
    ),
    MeasureName.BRIER_RESOLUTION: (
        "no interval: noise in every bin adds to it, and near 0 it follows no simple law"
    ),
    MeasureName.BRIER_RESOLUTION_CORRECTED: "no interval: near 0 it follows no simple law",
    MeasureName.BRIER_WITHIN_VARIANCE: "no interval: it describes the bins, and closes the sum",
    MeasureName.BRIER_WITHIN_COVARIANCE: "no interval: it describes the bins, and closes the sum",
}


@dataclass(frozen=True, slots=True)
class Murphy:
    """Parts of the Brier score over bins: reliability - resolution + uncertainty + variance - covariance.

    Args:
        reliability: Mean square distance of mean score and rate of a bin.
        resolution: Mean square distance of a bin's rate and the overall rate.
        uncertainty: r (1 - r), r the overall rate.
        variance: Mean square distance of a score and its bin's mean score.
        covariance: Twice the mean product of the distances of label and score from their bin's means.
        in_bins: What noise in the bins adds to reliability and resolution, as Ferro and Fricker estimate it.
        in_all: What noise of the overall rate takes from resolution and uncertainty.
    """

    reliability: float | Floats
    resolution: float | Floats
    uncertainty: float | Floats
    variance: float
    covariance: float
    in_bins: float | Floats
    in_all: float | Floats


# The parts over bins, from all of them.
_MURPHY: Mapping[MeasureName, Callable[[Murphy], float | Floats]] = {
    MeasureName.BRIER_RELIABILITY: lambda parts: parts.reliability,
    MeasureName.BRIER_RESOLUTION: lambda parts: parts.resolution,
    MeasureName.BRIER_UNCERTAINTY: lambda parts: parts.uncertainty,
    MeasureName.BRIER_WITHIN_VARIANCE: lambda parts: parts.variance,
    MeasureName.BRIER_WITHIN_COVARIANCE: lambda parts: parts.covariance,
    MeasureName.BRIER_RELIABILITY_CORRECTED: lambda parts: parts.reliability - parts.in_bins,
    MeasureName.BRIER_RESOLUTION_CORRECTED: lambda parts: parts.resolution - parts.in_bins + parts.in_all,
    MeasureName.BRIER_UNCERTAINTY_CORRECTED: lambda parts: parts.uncertainty + parts.in_all,
}


def murphy_part(
    name: MeasureName,
    table: Table,
    *,
    bins: Partition,
    confidence: float = 0.95,
    calibrated: if_calibrated.CalibratedDraws | None = None,
) -> Estimate:
    """Return one part of the Brier score over bins.

    Uncertainty has the interval of the rate, turned into that of r (1 - r), and corrected reliability that of
    l2, squared; others have none. A corrected part is NaN where no bin, or for uncertainty not the table, has
    two rows.
    """
    sums = binned(table, bins)
    because = [] if name in _OF_THE_RATE else [HELD_OUT, f"of {sums.after_of}"]
    alone, undefined = int(np.count_nonzero(sums.rows == 1)), ""
    if name in _BY_PAIRS:
        because += alone_words(alone, "corrects nothing", "correct nothing")
        undefined = "" if pairs_in(sums).any() else "no interval: undefined where no bin has two rows"
    elif name is MeasureName.BRIER_UNCERTAINTY_CORRECTED and not _share_of_squares(sums)[1] < _ONE_ROW:
        undefined = "no interval: undefined where one row has all the weight"
    if undefined:
        return Estimate.of(name, table, math.nan, because=(*because, undefined))
    part, expected = _MURPHY[name], expected_parts(table, sums)
    found = float(part(observed_parts(table, sums)))
    interval, why = _interval(name, sums, found, confidence=confidence, weighted=table.weighted)
    because += why
    details: dict[str, float | int | str] = {"partition": sums.described, "rows_alone": alone}
    within = None if table.weighted else _range_if_calibrated(name, table, sums, expected, calibrated)
    null = float(part(expected)), within
    return Estimate.of(name, table, found, interval, null=null, because=because, details=details)


def observed_parts(table: Table, sums: BinnedTable) -> Murphy:
    """Return the parts of these labels; on a grid each cell's labels count at their own mean scores."""
    some = sums.occupied
    rate = _ratio(sums.positive, sums.weight)
    mean = _mean_scores(table, sums)
    sizes = np.diff(sums.starts)
    from_rate, from_mean = np.repeat(rate, sizes), np.repeat(mean, sizes)
    positive, negative = table.positive, table.weight - table.positive
    one, other = table.score_of_positive - from_mean, table.score_of_negative - from_mean
    variance = float((positive * one**2 + negative * other**2).sum()) / sums.total
    covariance = float((positive * (1.0 - from_rate) * one - negative * from_rate * other).sum())
    gap = np.where(some, _ratio(sums.residual, sums.weight), 0.0)
    return _parts(sums, rate, gap, np.zeros_like(rate), within=(variance, 2.0 * covariance / sums.total))


def expected_parts(table: Table, sums: BinnedTable) -> Murphy:
    """Return the means of the parts over labels that follow the scores."""
    mean = _mean_scores(table, sums)
    noise = segment_sums(table.weight_sq * table.score * (1.0 - table.score), sums.starts)
    away = table.score - np.repeat(mean, np.diff(sums.starts))
    variance = float((table.weight * away**2).sum()) / sums.total
    noise = _ratio(noise, sums.weight**2)
    return _parts(sums, mean, np.zeros_like(mean), noise, within=(variance, 2.0 * variance))


def _range_if_calibrated(
    name: MeasureName,
    table: Table,
    sums: BinnedTable,
    expected: Murphy,
    calibrated: if_calibrated.CalibratedDraws | None,
) -> Range | None:
    """Return the range of a part over labels that follow the scores: by the draws, where they are needed."""
    mean = _mean_scores(table, sums)
    if name is MeasureName.BRIER_WITHIN_VARIANCE:
        return expected.variance, expected.variance
    if name is MeasureName.BRIER_WITHIN_COVARIANCE:
        away = table.score - np.repeat(mean, np.diff(sums.starts))
        return if_calibrated.of_mean(table, expected.covariance, 2.0 * away)
    drawn = None if calibrated is None else calibrated.drawn.over(sums.bins).gaps
    if drawn is None:
        return None
    gap = _ratio(drawn, np.broadcast_to(sums.weight, drawn.shape))
    parts = _parts(sums, mean + gap, gap, np.zeros_like(mean), within=(0.0, 0.0))
    return if_calibrated.of_draws(np.asarray(_MURPHY[name](parts)))[1]


def _parts(
    sums: BinnedTable, rate: Floats, gap: Floats, noise: Floats, *, within: tuple[float, float]
) -> Murphy:
    """Return the parts on average over labels, of one set of rates or of many."""
    share = sums.weight / sums.total
    base = (share * rate).sum(axis=-1)
    base_noise = float((share**2 * noise).sum())
    squares, all_squares = _share_of_squares(sums)
    two = (sums.rows >= 2) & (squares < _ONE_ROW)
    odds = squares[two] / (1.0 - squares[two])
    in_bins = share[two] * odds * (rate[..., two] * (1.0 - rate[..., two]) - noise[two])
    uncertainty = base * (1.0 - base) - base_noise
    alone = not all_squares < _ONE_ROW
    return Murphy(
        reliability=(share * (gap**2 + noise)).sum(axis=-1),
        resolution=(share * ((rate - base[..., None]) ** 2 + noise)).sum(axis=-1) - base_noise,
        uncertainty=uncertainty,
        variance=within[0],
        covariance=within[1],
        in_bins=in_bins.sum(axis=-1),
        in_all=0.0 if alone else all_squares / (1.0 - all_squares) * uncertainty,
    )


def _share_of_squares(sums: BinnedTable) -> tuple[Floats, float]:
    """Return sum w^2 / (sum w)^2 of each bin and of all: 1 / n where every row counts once."""
    whole = float(sums.weight_sq.sum()) / sums.total**2
    return _ratio(sums.weight_sq, sums.weight**2), whole


def _mean_scores(table: Table, sums: BinnedTable) -> Floats:
    """Return the mean score of each bin: where it holds one, that very score, so that nothing is within."""
    mean, alone = _ratio(sums.score_sum, sums.weight), np.diff(sums.starts) == 1
    mean[alone] = table.score[sums.starts[:-1][alone]]
    return mean


def _ratio(top: Floats, bottom: Floats) -> Floats:
    """Return the ratio, 0 where a bin is empty."""
    return np.divide(top, bottom, out=np.zeros_like(bottom), where=bottom > 0.0)


def _interval(
    name: MeasureName, sums: BinnedTable, value: float, *, confidence: float, weighted: bool
) -> tuple[Interval | None, list[str]]:
    """Return the interval of a part, or the reason for none."""
    if name in _NO_INTERVAL:
        return None, [_NO_INTERVAL[name]]
    if weighted:
        return None, [NO_WEIGHTED_INTERVAL]
    if name is not MeasureName.BRIER_RELIABILITY_CORRECTED:
        rows = int(sums.rows.sum()), int(sums.positive_rows.sum())
        return rate_interval(*rows, value=value, confidence=confidence, of=lambda p: p * (1.0 - p)), []
    if (sums.rows == 1).any():
        return None, ["no interval: rows alone in their bin keep their noise"]
    t = t_statistic(sums)
    root = score_interval(sums, t, confidence=confidence)
    most = 1.0 if root.upper is None else root.upper
    lower, upper = min((root.lower or 0.0) ** 2, value), max(most**2, value)
    return replace(root, lower=lower, upper=upper), hidden_words(sums, root)


_DRAWS, _CELLS = 100, 16_384

_NO_CORP_INTERVAL = "no interval: the isotonic fit follows the noise"


@dataclass(frozen=True, slots=True)
class Corp:
    """Parts of a mean score: miscalibration - discrimination + uncertainty.

    Args:
        mcb: What isotonic recalibration of these rows would save; may be inf.
        dsc: What the recalibrated score saves against the rate of label 1.
        unc: The mean score of that rate.
    """

    mcb: float
    dsc: float
    unc: float


@dataclass(frozen=True, slots=True)
class _Score:
    """A proper score; `least` gives, from rates of label 1, the mean loss of a forecast that knows them."""

    name: MeasureName
    loss: LossOf
    least: Callable[[Floats], Floats]

    def of_rate(self, rate: float) -> float:
        return float(self.least(np.array([rate]))[0])


_BRIER = _Score(MeasureName.BRIER, squared_error, variance)

_LOG = _Score(MeasureName.LOG_LOSS, log_error, entropy)

# The parts by isotonic recalibration: of which score, and which of them.
_CORP: Mapping[MeasureName, tuple[_Score, Callable[[Corp], float]]] = {
    MeasureName.BRIER_MCB: (_BRIER, lambda parts: parts.mcb),
    MeasureName.BRIER_DSC: (_BRIER, lambda parts: parts.dsc),
    MeasureName.BRIER_UNC: (_BRIER, lambda parts: parts.unc),
    MeasureName.LOG_LOSS_MCB: (_LOG, lambda parts: parts.mcb),
    MeasureName.LOG_LOSS_DSC: (_LOG, lambda parts: parts.dsc),
    MeasureName.LOG_LOSS_UNC: (_LOG, lambda parts: parts.unc),
}


def corp_part(
    name: MeasureName,
    table: Table,
    *,
    confidence: float = 0.95,
    generator: np.random.Generator | None = None,
    shared: if_calibrated.Shared | None = None,
) -> Estimate:
    """Return one part of the Brier score or the log loss by isotonic recalibration.

    With S the mean score, S_pav that of the isotonic fit to these very rows and S_0 that of their rate of
    label 1, MCB = S - S_pav, DSC = S_0 - S_pav and UNC = S_0: S = MCB - DSC + UNC, and none is negative.

    Args:
        generator: Source of randomness of the null reference, or None for no such reference.
        shared: Where the parts of one score find each other's fit; all are given the same randomness.
    """
    score, part = _CORP[name]
    shared = shared or if_calibrated.Shared()
    value = part(shared.once(f"corp {score.name}", table, lambda: corp_of(table, score)))
    because, interval, null = [], None, UNKNOWN
    if not name.facts.interval:
        cells = ["each cell of the grid counts as one score"] if table.kind == "grid" else []
        because = [HELD_OUT, *cells, _NO_CORP_INTERVAL]
    elif table.weighted:
        because.append(NO_WEIGHTED_INTERVAL)
    else:
        rows = table.total_rows, table.total_positive_rows
        interval = rate_interval(*rows, value=value, confidence=confidence, of=score.of_rate)
    if generator is not None and not table.weighted:
        drawn = shared.once(
            f"corp {score.name} drawn", table, lambda: _if_calibrated(table, score, generator=generator)
        )
        mean, low, high = map(part, drawn)
        null = mean, (low, high)
    return Estimate.of(name, table, value, interval, null=null, because=because)


def corp_of(table: Table, score: _Score) -> Corp:
    weighs = table.weight > 0.0
    weight, positive = table.weight[weighs], table.positive[weighs]
    total, ones = float(weight.sum()), float(positive.sum())
    raw = losses_of(table, score.loss).mean(table.positive, table.weight - table.positive)
    if not (ones > 0.0 and (positive < weight).any()):
        return Corp(raw, 0.0, 0.0)
    pooled, unc = _pooled_loss(weight, positive, score), score.of_rate(ones / total)
    return Corp(_without_rounding(raw - pooled, unc), _without_rounding(unc - pooled, unc), unc)


def _pooled_loss(weight: Floats, positive: Floats, score: _Score) -> float:
    """Return the mean loss of the isotonic fit; its levels are the rates of its blocks."""
    starts = pooled_starts(weight, positive)
    held = segment_sums(weight, starts)
    levels = np.minimum(segment_sums(positive, starts) / held, 1.0)
    return float((held * score.least(levels)).sum() / held.sum())


def _if_calibrated(table: Table, score: _Score, *, generator: np.random.Generator) -> tuple[Corp, Corp, Corp]:
    """Return the means of the parts over labels drawn from the scores, and both ends of their ranges.

    The mean of the Brier score's uncertainty is exact: r (1 - r) less the variance of the rate.
    """
    # As many scores in each, whatever rows they have: what gathering them costs is told by their number.
    count = min(_CELLS, table.distinct)
    cells = draw_cells(table, [-(-np.arange(count + 1) * table.distinct // count)])
    weight, losses = cells.rows.astype(np.float64), score.loss(cells.score, cells.score, cells.score)
    parts = []
    for block in calibrated_positives(cells, draws=_DRAWS, generator=generator):
        for positive in block:
            pooled = _pooled_over_scores(weight, positive, score, distinct=table.distinct)
            unc = score.of_rate(min(float(positive.sum()) / table.total_rows, 1.0))
            parts.append((losses.mean(positive, weight - positive) - pooled, unc - pooled, unc))
    columns = np.array(parts)
    mcb, dsc, unc = columns.mean(axis=0).tolist()
    ends = ends_of_draws(columns, confidence=if_calibrated.NINE_OF_TEN)
    low, high = (Corp(*end) for end in ends.tolist())
    if score is _BRIER:
        rows = table.total_rows
        rate = float((table.weight * table.score).sum()) / rows
        unc = rate * (1.0 - rate) - float((table.weight * variance(table.score)).sum()) / rows**2
    return Corp(mcb, dsc, unc), low, high


def _pooled_over_scores(weight: Floats, positive: Floats, score: _Score, *, distinct: int) -> float:
    """Return the mean loss of the isotonic fit to scores that were gathered in cells.

    Blocks can only bend at the ends of cells, which costs in proportion to sqrt(scores in a cell) - 1, as the
    minimum of a random walk does that is seen at every so many steps. How much, the fit to fours of
    cells tells.
    """
    fine = _pooled_loss(weight, positive, score)
    if distinct == weight.size:
        return fine
    starts = np.append(np.arange(0, weight.size, 4), weight.size)
    coarse = _pooled_loss(segment_sums(weight, starts), segment_sums(positive, starts), score)
    near, far = (math.sqrt(distinct / count) for count in (weight.size, starts.size - 1))
    return fine - (coarse - fine) * (near - 1.0) / (far - near)


def _without_rounding(value: float, scale: float) -> float:
    """Return 0 for what only rounding keeps from it."""
    return 0.0 if abs(value) < 1e-14 * max(scale, 1e-3) else value


def _murphy(name: MeasureName, table: Table, settings: if_calibrated.Settings) -> Estimate:
    return murphy_part(
        name, table, bins=settings.bins, confidence=settings.confidence, calibrated=settings.calibrated
    )


def _corp(name: MeasureName, table: Table, settings: if_calibrated.Settings) -> Estimate:
    # Where nothing was drawn for the others, no reference is wanted.
    generator = None if settings.calibrated is None else stream(settings.seed, Purpose.CORP)
    return corp_part(name, table, confidence=settings.confidence, generator=generator, shared=settings.shared)


MEASURES: if_calibrated.Measures = dict.fromkeys(_MURPHY, _murphy) | dict.fromkeys(_CORP, _corp)
