"""What a calibrated score would show on the same rows: labels drawn anew from the scores."""

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from threading import Lock
from typing import NamedTuple, Self, TypeVar, cast

import numpy as np

from calibcli.names import DEFAULT_LP_POWER, DEFAULT_SEED, MORE_DRAWS, MeasureName, Purpose
from calibcli.stats.bounds.resampling import (
    LEAST_INFORMATION,
    DrawCells,
    DrawnLabels,
    ends_of_draws,
    label_draws,
)
from calibcli.stats.measures import DUST, UNKNOWN, Estimate, Range, Reference
from calibcli.stats.numerics import skewed_quantile, stream
from calibcli.stats.table import Floats, Indices, kernel
from calibcli.stats.table.bins import BinnedTable, Bins, Partition, binned, segment_sums
from calibcli.stats.table.grid import Table, open_variance
from calibcli.values import dataclass, field

# Nine of ten calibrated scores show a value in the range by chance; so far its ends are in a normal law.
NINE_OF_TEN = 0.9

_Z = 1.6448536269514722

_MOST_SKEWED = 1e100

# Entries worked on at once: they stay in the processor's cache.
_CHUNK = 1 << 14


def of_draws(values: Floats) -> Reference:
    """Return mean and range of values that were drawn; what rounding leaves of 0 is 0."""
    values = np.where(np.abs(values) <= np.finfo(float).eps, 0.0, values)
    low, high = ends_of_draws(values, confidence=NINE_OF_TEN).tolist()
    return float(values.mean()), (low, high)


def of_moments(
    mean: float, variance: float, third: float = 0.0, *, least: float = -math.inf, most: float = math.inf
) -> Range:
    """Return the range of a sum of many independent parts: that of a shifted gamma variable with its moments.

    With few rare events nearly all mass lies at one end of such a variable, as it does for the sum.
    """
    if not variance > 0.0:
        return mean, mean
    spread = math.sqrt(variance)
    # Of the rarest events the square of the skewness would be no number any more.
    skew = max(-_MOST_SKEWED, min(third / variance / spread, _MOST_SKEWED))
    low, high = (mean + spread * skewed_quantile(z, skew) for z in (-_Z, _Z))
    return min(max(low, least), most), max(min(high, most), least)


def of_size(mean: float, variance: float) -> Range:
    """Return the range of the size of something random, such as |Z| or the length of a normal vector.

    The third moment follows from the first two nearly in the same way for all of these (chi variables).
    """
    third = 1.25 * variance**2 / mean if mean > 0.0 else 0.0
    return of_moments(mean, variance, third, least=0.0)


def of_mean(table: Table, mean: float, step: Floats) -> Range:
    """Return the range of a mean over rows to which each label contributes by itself.

    Args:
        mean: On average over labels that follow the scores.
        step: What label 1 adds beyond label 0 for a row of weight 1, at each entry, shape (n_entries,).
    """
    squares, score, weight = table.weight_sq, table.score, table.weight
    if table.weighted:
        # By a power of two, which changes no digit: cubes of weights of 1e140 would be too large.
        unit = math.ldexp(1.0, -math.frexp(float(weight.sum()))[1])
        weight, squares = weight * unit, squares * unit * unit
    second, third, down, up = 0.0, 0.0, 0.0, 0.0
    for start in range(0, score.size, _CHUNK):
        near = slice(start, start + _CHUNK)
        f, tall = score[near], step[near]
        noise = f * (1.0 - f)
        # A certain score has the one label that it announces, whatever the other would contribute.
        tall = np.where(noise > 0.0, tall, 0.0)
        # From the mean to all labels that lower it, and to all that raise it.
        far = weight[near] * np.abs(tall)
        below = float((far * np.where(tall > 0.0, f, 1.0 - f)).sum())
        down += below
        up += float(far.sum()) - below
        noise *= squares[near]
        noise *= tall * tall
        second += float(noise.sum())
        tall = tall * (1.0 - 2.0 * f)
        if table.weighted:
            tall *= squares[near] / np.maximum(weight[near], np.finfo(float).tiny)
        noise *= tall
        third += float(noise.sum())
    total = float(weight.sum())
    least, most = mean - down / total, mean + up / total
    least = 0.0 if abs(least) < DUST * abs(mean) else least
    return of_moments(mean, second / total**2, third / total**3, least=least, most=most)


# Draws of labels for the range of smECE, and cells of them that are smoothed at once.
_DRAWS = 400
_DRAWN_CELLS = 1 << 18

# From so many events on that the scores leave open, sums of labels are as good as normal.
MANY_EVENTS = 20.0

# And along a scale that stretches out the scores next to 0 and 1.
_MANY_APART = 1_000.0

# The skewness of a sum of labels from which on labels are drawn: that of some 150 rare events.
_SKEWED = 0.08

# So many cells in a bandwidth are enough, and so many bandwidths on either side of a score.
_RESOLVED, _FAR = 20, 4.0

# A stretch of so many bandwidths is cheap to draw labels on.
_FEW_WIDTHS = 200.0

# Where labels are drawn a bandwidth is found to a hundredth, and then by one more step that is not checked.
_NEAR = 0.01

# Relative to the bandwidth; three digits are printed.
_WITHIN = 1e-4

_MOST_STEPS = 8

# Smoothed labels at so many bandwidths from each other have nothing in common.
_APART = 6.0


def expected_smece(table: Table, *, generator: np.random.Generator) -> Reference:
    """Return where the mean smoothed norm of calibrated labels equals the bandwidth, and its range.

    With many rows the smoothed residual is normal at every place, and its mean absolute value has a formula.
    With few rows (the sum of f (1 - f) below 20), and where events are rare, the mean is over 400 draws of
    labels. As the norm does not rise with the bandwidth, smECE is above s just where the norm at s is: a
    quantile of smECE is where that quantile of the norm equals the bandwidth.
    """
    variance = open_variance(table)
    if not variance.any():
        return 0.0, (0.0, 0.0)
    if variance.sum() >= MANY_EVENTS:
        found = _of_normal_noise(table.score, variance, rows=table.total_rows)
        # What is below the finest bandwidth it sees at few places, or at an end where all scores lie; and
        # sums of labels are skewed where events are rare, or rows without one: the other way, but as much.
        skewed = float((variance * np.abs(1.0 - 2.0 * table.score)).sum()) > _SKEWED * variance.sum() ** 1.5
        coarse = max(found[0], kernel.LEAST_BANDWIDTH)
        unsure = skewed or found[0] < kernel.LEAST_BANDWIDTH
        if not (unsure and _on_few_widths(table, coarse)):
            return found
    return _of_drawn_labels(table, table.score, generator)


def expected_smece_along(
    table: Table, places: Floats, *, length: float, seed: int = DEFAULT_SEED
) -> Reference:
    """Return the same for scores smoothed along another scale; nothing where rows are weighted.

    By draws of labels where the scores leave fewer than 1,000 events open: such scales stretch out the
    scores next to 0 and 1, where few rows share a place and their labels are far from normal.
    """
    variance = open_variance(table)
    if table.weighted:
        return UNKNOWN
    if not variance.any():
        return 0.0, (0.0, 0.0)
    if variance.sum() >= _MANY_APART:
        return _of_normal_noise(places, variance, rows=table.total_rows, length=length)
    return _of_drawn_labels(table, places, stream(seed, Purpose.SMECE_NULL), length=length)


def expected_norm(table: Table, bandwidth: float, *, seed: int = DEFAULT_SEED) -> Reference:
    """Return the same for the smoothed norm at a fixed bandwidth; nothing where rows are weighted.

    By draws of labels, but where the bandwidth is narrow beside the stretch on which scores lie: the formula
    leaves out how the ends reflect what places have in common, and knows no norm that few places settle.
    """
    variance = open_variance(table)
    if table.weighted:
        return UNKNOWN
    if not variance.any():
        return 0.0, (0.0, 0.0)
    if _on_few_widths(table, bandwidth):
        drawn = _DrawnNorms.of(table, table.score, bandwidth, stream(seed, Purpose.SMECE_NULL))
        return of_draws(drawn.at(bandwidth))
    if variance.sum() < MANY_EVENTS:
        return UNKNOWN
    cells = kernel.in_cells(table.score, variance)
    series, rows = kernel.cosine_series_of_cells(cells), table.total_rows
    mean = math.sqrt(2.0 / math.pi) * mean_spread(series, cells, bandwidth=bandwidth) / rows
    return mean, of_size(mean, variance_of_norm(series, cells, bandwidth=bandwidth) / rows**2)


def _of_drawn_labels(
    table: Table, places: Floats, generator: np.random.Generator, *, length: float = 1.0
) -> Reference:
    # A label differs from its score f by 2 f (1 - f) on average, and by no more once smoothed; nor is the
    # mean norm above that of normal noise spread over [0, 1].
    unit, events = float(table.weight.sum()) * length, float(open_variance(table).sum())
    spread = (math.sqrt(events / (2.0 * math.sqrt(math.pi))) / unit) ** (2.0 / 3.0)
    most = max(min(2.0 * events / unit, spread, 1.0), kernel.LEAST_BANDWIDTH)
    while True:
        drawn = _DrawnNorms.of(table, places, most, generator, length=length)
        mean, met = drawn.meeting(lambda norms: float(norms.mean()), _Met(most, drawn.at(most), -0.5))
        # Cells that are fine for the largest bandwidth there may be are too wide for one far below.
        if mean > 0.25 * most or most == kernel.LEAST_BANDWIDTH:
            break
        most = max(2.0 * mean, kernel.LEAST_BANDWIDTH)
        # The next take as much memory.
        del drawn
    low = drawn.meeting(lambda norms: float(ends_of_draws(norms, confidence=NINE_OF_TEN)[0]), met)[0]
    high = drawn.meeting(lambda norms: float(ends_of_draws(norms, confidence=NINE_OF_TEN)[1]), met)[0]
    return length * mean, (length * low, length * high)


class _Met(NamedTuple):
    """A bandwidth, the norms of the draws there, and about which power of the bandwidth they go with."""

    bandwidth: float
    norms: Floats
    power: float


@dataclass(frozen=True, slots=True, eq=False)
class _DrawnNorms:
    """Residuals of labels drawn from the scores, to be smoothed.

    Where no score is within four bandwidths on either side nothing is smoothed to: such gaps are cut out, so
    that rare scores, or scores near 0 and 1, take transforms as short as the stretches on which they lie.
    `stretch` is the length of what is left of [0, 1]; there is a series for each draw, some in one.
    """

    series: tuple[kernel.CosineSeries, ...]
    stretch: float

    @classmethod
    def of(
        cls,
        table: Table,
        places: Floats,
        bandwidth: float,
        generator: np.random.Generator,
        *,
        length: float = 1.0,
    ) -> Self:
        """Draw labels for cells that are fine enough for a bandwidth, and gaps for those up to its double.

        Places lie in [0, 1], whose length on their scale is given: norms are in its unit.
        """
        some = open_variance(table) > 0.0
        score, weight = table.score[some], table.weight[some]
        place, stretch = _without_gaps(places[some], 4.0 * _FAR * bandwidth)
        cells = min(math.ceil(_RESOLVED * stretch / bandwidth), kernel.MESH)
        held, sums = (kernel.in_cells(place / stretch, one, cells) for one in (weight, weight * score))
        occupied = np.flatnonzero(held)
        rows = held[occupied]
        mean = np.clip(sums[occupied] / rows, 0.0, 1.0)
        series, most = [], max(1, _DRAWN_CELLS // cells)
        for drawn in range(0, _DRAWS, most):
            size = min(most, _DRAWS - drawn), mean.size
            labels = generator.binomial(rows.astype(np.int64), mean, size=size)
            mass = (labels - rows * mean) / (table.weight.sum() * length)
            series.append(kernel.cosine_series_in_cells(occupied, mass, cells))
        return cls(tuple(series), stretch)

    def at(self, bandwidth: float) -> Floats:
        """Return the smoothed norm of each draw."""
        width = bandwidth / self.stretch
        return np.concatenate([_norm(one.smoothed(width, oversampling=2)) for one in self.series])

    def meeting(self, size_of: Callable[[Floats], float], start: _Met) -> tuple[float, _Met]:
        """Return where a size of the norms equals the bandwidth, and the last place that was looked at.

        Below the finest bandwidth nothing is joined, so that the norm stays what it is there.
        """
        met, size = start, size_of(start.norms)
        for _ in range(_MOST_STEPS):
            at = met.bandwidth
            if size <= at == kernel.LEAST_BANDWIDTH:
                return size, met
            step = at * (size / at) ** (1.0 / (1.0 - met.power))
            step = min(max(step, kernel.LEAST_BANDWIDTH), 1.0)
            if abs(step - at) <= _NEAR * at:
                return step, met
            norms = self.at(step)
            new = size_of(norms)
            power = math.log(new / size) / math.log(step / at) if min(new, size) > 0.0 else met.power
            met, size = _Met(step, norms, min(max(power, -0.6), 0.0)), new
        return met.bandwidth, met


def _without_gaps(score: Floats, widest: float) -> tuple[Floats, float]:
    """Return ascending scores, gaps cut to a width and those at both ends to half, and the whole length."""
    gaps = np.minimum(np.diff(score, prepend=0.0, append=1.0), widest)
    gaps[[0, -1]] = np.minimum(gaps[[0, -1]], 0.5 * widest)
    places = np.cumsum(gaps)
    return places[:-1], float(places[-1])


def _on_few_widths(table: Table, bandwidth: float) -> bool:
    """Whether the stretch on which labels are open is short in bandwidths, so that drawing them is cheap."""
    score = table.score[open_variance(table) > 0.0]
    return _without_gaps(score, 4.0 * _FAR * bandwidth)[1] <= _FEW_WIDTHS * bandwidth


def _norm(values: Floats) -> Floats:
    """Return the integral of |values| on an even grid: the places at either end count half."""
    size = np.abs(values)
    size[..., [0, -1]] *= 0.5
    return np.asarray(size.sum(axis=-1) / (size.shape[-1] - 1))


def _of_normal_noise(
    score: Floats, variance: Floats, *, rows: int, length: float = 1.0
) -> tuple[float, Range]:
    gathered = kernel.in_cells(score, variance)
    series = kernel.cosine_series_of_cells(gathered)

    def excess(bandwidth: float) -> float:
        spread = mean_spread(series, gathered, bandwidth=bandwidth)
        return length * bandwidth - math.sqrt(2.0 / math.pi) * spread / rows

    low, high = kernel.bandwidths_around(excess, within=_WITHIN * kernel.LEAST_BANDWIDTH)
    bandwidth = 0.5 * (low + high)
    unit = math.sqrt(2.0 / math.pi) / rows
    mean, other = (unit * mean_spread(series, gathered, bandwidth=at) for at in (bandwidth, 0.7 * bandwidth))
    norms = of_size(mean, variance_of_norm(series, gathered, bandwidth=bandwidth) / rows**2)
    # Where both ends of the range of the norm equal the bandwidth, by the power that the norm goes with.
    power = min(max(math.log(other / mean) / math.log(0.7), -0.5), 0.0)

    def met(norm: float) -> float:
        at = float(bandwidth * (norm / length / bandwidth) ** (1.0 / (1.0 - power)))
        if at < kernel.LEAST_BANDWIDTH:
            # What is not resolved counts as the norm at the finest bandwidth.
            return float(norm * (kernel.LEAST_BANDWIDTH / bandwidth) ** power)
        return length * min(at, 1.0)

    value = mean if bandwidth == kernel.LEAST_BANDWIDTH else length * bandwidth
    return value, (met(norms[0]), met(norms[1]))


def mean_spread(series: kernel.CosineSeries, variance: Floats, *, bandwidth: float) -> float:
    """Return the integral over [0, 1] of sqrt(sum_i v_i K(f_i, t)^2), K the reflected Gaussian.

    The square of a Gaussian is one of 1/sqrt(2) the width; near an end the image adds its own square and
    twice the product, which is a function of t times one of f.
    """
    return float(np.sqrt(_energies(series, variance, bandwidth=bandwidth)[0]).mean())


def variance_of_norm(series: kernel.CosineSeries, variance: Floats, *, bandwidth: float) -> float:
    """Return the variance of the integral of |G| over [0, 1], G normal of variance sum_i v_i K(f_i, t)^2.

    The covariance of G at t and u is that at their middle times exp(-(t - u)^2 / (4 sigma^2)), but for images
    beyond the ends; and sizes of normal variables of correlation r have the covariance
    (2 / pi) (sqrt(1 - r^2) + r arcsin r - 1) in units of their spreads.
    """
    square, own = _energies(series, variance, bandwidth=bandwidth)
    spread, total = np.sqrt(square), (1.0 - 2.0 / math.pi) * float(square.sum())
    step = 1.0 / (own.size - 1)
    # Pairs of places two strides apart, so that their middle is a place as well: half a bandwidth.
    stride = max(1, int(0.25 * bandwidth / step))
    farthest = min(int(0.5 * _APART * bandwidth / step), (own.size - 1) // 2)
    for half in range(stride, farthest + 1, stride):
        both = spread[2 * half :] * spread[: -2 * half]
        middle = own[half:-half] * math.exp(-((half * step / bandwidth) ** 2))
        r = np.divide(middle, both, out=np.ones_like(both), where=both > middle)
        sizes = np.sqrt(1.0 - r * r) + r * np.arcsin(r) - 1.0
        total += 2.0 * 2.0 / math.pi * float((both * sizes).sum())
    return 2.0 * stride * total * step**2


def _energies(series: kernel.CosineSeries, variance: Floats, *, bandwidth: float) -> tuple[Floats, Floats]:
    """Return sum_i v_i K(f_i, t)^2 on an even grid of t, and the same without images beyond the ends."""
    own = series.smoothed(bandwidth / math.sqrt(2.0), oversampling=4) / (2.0 * math.sqrt(math.pi) * bandwidth)
    own = np.maximum(own, 0.0)
    t = np.linspace(0.0, 1.0, own.size)
    square = own.copy()
    some = np.flatnonzero(variance)
    middle, held = (some + 0.5) / variance.size, variance[some]
    place = np.exp(-((t / bandwidth) ** 2)) / (math.pi * bandwidth**2)
    square += float((held * np.exp(-((middle / bandwidth) ** 2))).sum()) * place
    square += float((held * np.exp(-(((1.0 - middle) / bandwidth) ** 2))).sum()) * place[::-1]
    return square, own


DRAWS = 999

_MOST_GAPS = 1_024

# Arrays that a block of labels gives over each partition.
_OVER_BINS = 5


class DrawnOver(NamedTuple):
    """Statistics over one partition of labels drawn from the scores, one array of shape (draws,) each.

    Args:
        t: The debiased squared l2 error T.
        h: Hosmer and Lemeshow's H.
        gaps: Sum of label - score in every bin, shape (draws, n_bins); None for more than 1,024 bins,
            or a tenth of that of ten times as many draws.
        squares: Sum of (label - score)^2 likewise.
    """

    bins: Bins
    ece: Floats
    t: Floats
    h: Floats
    gaps: Floats | None
    squares: Floats | None


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """Statistics over bins of labels drawn from the scores, and the words reports use for how they were."""

    parts: tuple[DrawnOver, ...]
    method: str

    def over(self, bins: Bins) -> DrawnOver:
        return next(one for one in self.parts if one.bins is bins)


@dataclass(frozen=True, slots=True, eq=False)
class DrawnPaths:
    """Statistics over all rows of labels drawn from the scores, one array of shape (draws,) each.

    Args:
        ks: Kolmogorov-Smirnov statistic, or None where cells were coarsened or every score is 0 or 1.
        kuiper: Kuiper statistic, or None where KS is.
        spiegelhalter: |Z|, or None where cells were coarsened or Z is undefined.
    """

    ks: Floats | None
    kuiper: Floats | None
    spiegelhalter: Floats | None
    method: str


class CalibratedDraws:
    """What labels drawn from the scores show, worked out where it is asked for.

    Args:
        partitions: What statistics over bins are of.
        generator: Of the labels; it is where the draws end once anything was asked of them.
    """

    def __init__(
        self,
        table: Table,
        *,
        partitions: Sequence[Partition],
        generator: np.random.Generator,
        smece_generator: np.random.Generator,
        draws: int = DRAWS,
    ) -> None:
        self._table, self._partitions, self._draws = table, partitions, draws
        self._generator, self._smece_generator = generator, smece_generator
        self._before: np.random.Generator | None = None
        # Measures and tests of a large table ask from two threads.
        self._one_at_a_time = Lock()

    @classmethod
    def of(cls, table: Table, *partitions: Partition, seed: int) -> "CalibratedDraws":
        """Return the draws of a seed, with a stream for each purpose."""
        labels, smece = stream(seed, Purpose.MONTE_CARLO), stream(seed, Purpose.SMECE_NULL)
        return cls(table, partitions=partitions, generator=labels, smece_generator=smece)

    def more(self, *, seed: int) -> "CalibratedDraws":
        """Return ten times as many draws of the same labels, anew."""
        labels, smece = stream(seed, Purpose.MONTE_CARLO, 1), self._smece_generator
        return CalibratedDraws(
            self._table,
            partitions=self._partitions,
            generator=labels,
            smece_generator=smece,
            draws=MORE_DRAWS,
        )

    @cached_property
    def smece(self) -> Reference:
        """The smECE that such labels have on average, and its range."""
        return expected_smece(self._table, generator=self._smece_generator)

    @cached_property
    def drawn(self) -> Drawn:
        """What the draws show over bins."""
        return self._shown(bins=True)[0] if self._apart else self._both[0]

    @cached_property
    def paths(self) -> DrawnPaths:
        """What the same draws show over all rows."""
        return self._shown(paths=True)[1] if self._apart else self._both[1]

    @cached_property
    def _apart(self) -> bool:
        """Whether limit laws mostly do for the tests over all rows, so that few ask for their draws."""
        # That of Spiegelhalter has about half of the information.
        return float(open_variance(self._table).sum()) >= 2.0 * LEAST_INFORMATION

    @cached_property
    def _both(self) -> tuple[Drawn, DrawnPaths]:
        return self._shown(bins=True, paths=True)

    def _shown(self, *, bins: bool = False, paths: bool = False) -> tuple[Drawn, DrawnPaths]:
        """Draw all labels, the same every time, and take some of the statistics of each draw."""
        with self._one_at_a_time:
            generator = copy.deepcopy(self._before) or self._generator
            self._before = self._before or copy.deepcopy(generator)
        sums = [binned(self._table, one) for one in self._partitions] if bins else []
        starts = [one.starts for one in sums]
        labels = label_draws(self._table, starts, draws=self._draws, generator=generator)
        cells, method = labels.cells, labels.cells.method
        walked = paths and not cells.coarsened
        segments, most = (
            [cells.segments(part) for part in starts],
            min(_MOST_GAPS, _MOST_GAPS * DRAWS // self._draws),
        )
        blocks = [
            [*_over_bins(block, cells, segments, most=most), *(_along_path(block, cells) if walked else ())]
            for block in (labels.blocks if bins or walked else ())
        ]
        columns = [np.concatenate(column) for column in zip(*blocks, strict=True)]
        parts = [
            _drawn_over(one.bins, columns[_OVER_BINS * place : _OVER_BINS * (place + 1)])
            for place, one in enumerate(sums)
        ]
        ks, kuiper, z = columns[_OVER_BINS * len(sums) :] if walked else (None, None, None)
        if not np.any(cells.variance > 0):
            ks = kuiper = None
        spread = float((cells.variance * (1 - 2 * cells.score) ** 2).sum())
        return Drawn(tuple(parts), method), DrawnPaths(ks, kuiper, z if spread > 0 else None, method)


def p_value(drawn: Floats, observed: float) -> float:
    """Return (1 + number of draws at least as large) / (draws + 1): exact under the hypothesis."""
    # Draws equal to the observation up to rounding count as equal: in units of what is usual, however small.
    usual = max(abs(observed), float(np.abs(drawn).mean()))
    least = observed - (1e-9 * usual if math.isfinite(usual) else 0.0)
    return (1 + int(np.count_nonzero(drawn >= least))) / (drawn.size + 1)


def _drawn_over(bins: Bins, columns: Sequence[Floats]) -> DrawnOver:
    ece, t, h, gaps, squares = columns
    few = gaps.shape[1] > 0
    return DrawnOver(bins, ece, t, h, gaps if few else None, squares if few else None)


def _over_bins(
    labels: DrawnLabels, cells: DrawCells, segments: Sequence[Indices], *, most: int
) -> list[Floats]:
    """Return ECE, T, H, gaps and squares of each partition of a block, the last two not of too many bins."""
    rows = cells.rows.astype(np.float64)
    total = rows.sum()
    found: list[Floats] = []
    for starts in segments:
        gaps, squares = labels.residuals(starts), labels.squares(starts)
        count = segment_sums(rows, starts)
        two = count >= 2
        excess = gaps[:, two] ** 2 - squares[:, two]
        variance = segment_sums(cells.variance, starts)
        some = variance > 0.0
        # A score next to 0 or 1 leaves hardly any variance: one that is wrong can pass the largest double.
        with np.errstate(over="ignore"):
            h = (gaps[:, some] ** 2 / variance[some]).sum(axis=1)
        t = (excess / (count[two] - 1.0)).sum(axis=1) / total
        kept = [gaps, squares] if count.size <= most else [gaps[:, :0].copy(), squares[:, :0].copy()]
        found += [np.abs(gaps).sum(axis=1) / total, t, h, *kept]
    return found


def _along_path(labels: DrawnLabels, cells: DrawCells) -> tuple[Floats, Floats, Floats]:
    """Return KS, Kuiper and |Z| of a block."""
    # With every score 0 or 1 nothing varies, and a path of zeros stays zero in any unit.
    scale = math.sqrt(float(cells.variance.sum()) or 1.0)
    top, bottom = labels.extremes()
    tilted = labels.tilted()
    spread = float((cells.variance * (1.0 - 2.0 * cells.score) ** 2).sum())
    z = np.abs(tilted) / np.sqrt(spread) if spread > 0 else np.zeros(tilted.size)
    return np.maximum(top, -bottom) / scale, (top - bottom) / scale, z


Made = TypeVar("Made")


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """What measures of one table share, by name: the table, and what the first that asked made."""

    made: dict[str, tuple[Table, object]] = field(default_factory=dict)

    def once(self, name: str, table: Table, make: Callable[[], Made]) -> Made:
        """Return what `make` gives; the second time for a table, what it gave the first time."""
        if name not in self.made or self.made[name][0] is not table:
            self.made[name] = table, make()
        return cast("Made", self.made[name][1])


@dataclass(frozen=True, slots=True)
class Settings:
    """What the measures of one report share.

    Args:
        bins: The table over the partition of the binned measures.
        equal_mass: The partition of `ece_equal_mass` and `ace`, or the table over it.
        calibrated: Labels drawn from the scores, or None where none were drawn.
        power: The p of `lp`.
        bandwidth: That of `smece`; None for its own.
        seed: Seed of what a measure draws for itself.
        bounds: Whether `ece`, `ece_equal_mass` and `l2` list every other bound there is.
        values_alone: Measures whose intervals nobody will see.
        shared: Fits and curves that more than one measure needs.
        smooth: Returns the curve of the calibration indices at each score of a table, and what it is; None
            for a spline with its interval.
    """

    bins: BinnedTable
    equal_mass: Partition
    confidence: float
    calibrated: CalibratedDraws | None
    power: float = DEFAULT_LP_POWER
    bandwidth: float | None = None
    seed: int = DEFAULT_SEED
    bounds: bool = False
    values_alone: tuple[MeasureName, ...] = ()
    shared: Shared = field(default_factory=Shared)
    smooth: Callable[[Table], tuple[Floats, str]] | None = None

    def confidence_of(self, name: MeasureName) -> float | None:
        """Return the coverage asked of a measure's interval, None where only its value is."""
        return None if name in self.values_alone else self.confidence


# What a module of measures computes, by name.
Measures = Mapping[MeasureName, Callable[[MeasureName, Table, Settings], Estimate]]
