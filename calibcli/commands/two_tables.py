"""Comparisons of two tables of the same rows, measure by measure."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeVar

from calibcli.commands.bins import chosen_bins, parted, shared_bins_notes, summary_of
from calibcli.commands.slices import View
from calibcli.names import DEFAULT_BINS, Binning, ClassMeasure, MeasureName
from calibcli.options.measuring import COMPARABLE, CompareOptions, MeasureOptions
from calibcli.reports.compare import Comparison, Side
from calibcli.stats.measures import ClassEstimate, Estimate, measure_named
from calibcli.stats.measures.clustered import EXACT, Clusters, clustered_difference
from calibcli.stats.measures.differences import PAIRED, Difference, PairedSums, difference_of_intervals
from calibcli.stats.measures.if_calibrated import Settings
from calibcli.stats.table.bins import ATOMS, Bins, binned, bins_of, looks_discrete
from calibcli.stats.table.grid import Table
from calibcli.values import dataclass, replace


@dataclass(frozen=True, slots=True)
class Seen:
    """One side of the comparison; `discrete` where it is the output of a discrete recalibrator."""

    name: str
    score: str
    table: Table
    artifact: str | None = None
    discrete: bool = False


def side_of(one: Seen, other: Seen, options: CompareOptions) -> Side:
    summary = summary_of(one.table, discrete=_bins(one, other, options) is ATOMS)
    return Side(one.name, one.score, one.artifact, summary)


def shared_bins_of(one: Seen, other: Seen, options: CompareOptions) -> tuple[str, ...]:
    requested = (options.bins, options.binning) != (None, None)
    bins = _bins(one, other, options)
    return shared_bins_notes(one.table, bins, requested=requested, measures=options.shown, score=one.name)


def _bins(one: Seen, other: Seen, options: CompareOptions) -> Bins:
    """Return the partition of one side: each value by itself only where both sides have few."""
    few_valued = all(side.discrete or looks_discrete(side.table) for side in (one, other))
    binning = options.binning
    if binning is None and options.bins is None and not few_valued:
        binning = Binning.EQUAL_WIDTH
    bins = chosen_bins(one.table, bins=options.bins, binning=binning, discrete=one.discrete)
    # Refuses bins that would cut the cells of a grid table: two scores are not read a second time.
    parted(one.table, bins, again=None)
    return bins


Name = TypeVar("Name", MeasureName, ClassMeasure)


Measured = Callable[[Name, int, float], Estimate | ClassEstimate]

RowByRow = Callable[[Name], Difference | None]


def compared_by(
    names: Sequence[Name], measured: Measured[Name], row_by_row: RowByRow[Name], *, confidence: float
) -> tuple[Comparison, ...]:
    return tuple(
        Comparison(
            measured(name, 0, confidence),
            measured(name, 1, confidence),
            _difference(name, measured, row_by_row, confidence=confidence),
        )
        for name in names
    )


def _difference(
    name: Name, measured: Measured[Name], row_by_row: RowByRow[Name], *, confidence: float
) -> Difference:
    """Return how both sides differ: row by row, or else by both intervals."""
    difference = row_by_row(name)
    if difference is not None:
        return difference
    # Each of two intervals may miss half as often as both together.
    safer = 1.0 - (1.0 - confidence) / 2.0
    return difference_of_intervals(*(measured(name, side, safer) for side in (0, 1)), confidence=confidence)


def comparisons(
    first: Seen, second: Seen, paired: PairedSums | None, *, options: CompareOptions
) -> tuple[Comparison, ...]:
    """Return every measure of both sides, and how they differ; `paired` is None where rows are others."""
    return compared_by(
        options.shown, *_sources(first, second, paired, options), confidence=options.confidence
    )


# What was measured of a score that others are compared with, by measure, confidence and whether each value
# is a bin.
Known = dict[tuple[MeasureName, float, bool], Estimate]


def _sources(
    first: Seen, second: Seen, paired: PairedSums | None, options: CompareOptions, known: Known | None = None
) -> tuple[Measured[MeasureName], RowByRow[MeasureName]]:
    """Return what measures either side, and what compares them row by row."""
    tables, confidence = (first.table, second.table), options.confidence

    @cache
    def settings(side: int) -> Settings:
        # What is compared row by row needs no bins.
        return _settings(*((first, second) if side == 0 else (second, first)), options)

    def measured(name: MeasureName, side: int, confidence: float) -> Estimate:
        key = (name, confidence, settings(side).bins.bins is ATOMS)
        if side == 0 and known is not None and key in known:
            return known[key]
        found = measure_named(name, tables[side], settings=replace(settings(side), confidence=confidence))
        if side == 0 and known is not None:
            known[key] = found
        return found

    def row_by_row(name: MeasureName) -> Difference | None:
        if paired is None or name not in paired.names:
            return None
        return paired.difference(name, confidence=confidence)

    return measured, row_by_row


def _settings(one: Seen, other: Seen, options: CompareOptions) -> Settings:
    table, count = one.table, options.bins or DEFAULT_BINS
    return Settings(
        bins=binned(table, _bins(one, other, options)),
        equal_mass=bins_of(Binning.EQUAL_MASS, count, table=table),
        confidence=options.confidence,
        calibrated=None,
    )


def measured_alone(name: MeasureName, one: Seen, *, options: CompareOptions) -> Estimate:
    """Return a measure of one score, over the bins that it has where no other is looked at."""
    return measure_named(name, one.table, settings=_settings(one, one, options))


def differences(
    first: Seen, second: Seen, paired: PairedSums, *, options: CompareOptions, known: Known | None = None
) -> tuple[Difference, ...]:
    sources = _sources(first, second, paired, options, known)
    return tuple(_difference(name, *sources, confidence=options.confidence) for name in options.shown)


def differences_of(
    views: Sequence[View],
    paired: Sequence[PairedSums],
    names: tuple[MeasureName, ...],
    requested: MeasureOptions,
) -> dict[str, tuple[Difference, ...]]:
    """Return how the measures of each further score differ from those of the first, by its key."""
    first, *others = views
    options = CompareOptions(names, requested.bins, requested.binning, requested.confidence)
    known: Known = {}
    found = {}
    for other, sums in zip(others, paired or [PairedSums() for _ in others], strict=True):
        one, two = (Seen(view.source.score, view.source.score, view.table) for view in (first, other))
        found[other.key] = differences(one, two, sums, options=options, known=known)
        if first.clusters is not None and other.clusters is not None:
            clusters, confidence = (first.clusters, other.clusters), options.confidence
            found[other.key] = tuple(
                difference_over_clusters(each, *clusters, confidence=confidence) for each in found[other.key]
            )
    return found


def difference_over_clusters(
    found: Difference, first: Clusters, second: Clusters, *, confidence: float
) -> Difference:
    if found.name in PAIRED:
        return clustered_difference(found, first, second, confidence=confidence)
    if found.name is ClassMeasure.ACCURACY:
        # Sums of the right answers of one alone stand where residuals do.
        as_means = replace(found, name=MeasureName.BIAS)
        told = clustered_difference(as_means, first, second, confidence=confidence)
        over, rows = told.interval, found.interval
        if over is not None and rows is not None:
            # Where models rarely differ, few clusters show how much; by rows the interval is exact.
            (low, high), (lowest, highest) = over.ends, rows.ends
            method = f"{over.method}, no narrower than over rows"
            over = replace(over, lower=min(low, lowest), upper=max(high, highest), method=method)
        alone = "the answers that one of the two alone got right lie"
        reasons = tuple(one.replace("label and score disagree", alone) for one in told.assumptions)
        return replace(told, name=found.name, interval=over, assumptions=reasons)
    return replace(found, interval=None, assumptions=(EXACT,))


def comparable(measures: tuple[MeasureName, ...], *, edges: bool) -> tuple[MeasureName, ...]:
    """Return those measures that say which of two scores is better; not those over edges that were given."""
    over_edges = (MeasureName.ECE, MeasureName.L2) if edges else ()
    return tuple(name for name in measures if name in COMPARABLE and name not in over_edges)
