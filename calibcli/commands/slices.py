"""Groups, clusters and several scores of one input: what is gathered for them, and what is said of them."""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from calibcli.commands.evaluation import RECALIBRATED, Judged
from calibcli.commands.gathering import RAW
from calibcli.data.extras import Beside
from calibcli.errors import UsageProblem
from calibcli.names import Binning, MeasureName
from calibcli.options.measuring import MOST_CONFIDENCE
from calibcli.options.rows import Columns
from calibcli.reports.input import InputSummary
from calibcli.reports.measure import ClusterSummary, GroupsSummary, MeasureReport, WorstGroup
from calibcli.stats.curves.reliability import ReliabilityCurve
from calibcli.stats.measures.clustered import NO_BAND, Clusters, ClusterSums
from calibcli.stats.measures.estimate import Estimate
from calibcli.stats.table.bins import looks_discrete
from calibcli.stats.table.grid import Table
from calibcli.stats.table.sliced import COARSE_CELLS, Name
from calibcli.values import dataclass

WORST_BY = MeasureName.ECE


@dataclass(frozen=True, slots=True)
class Group:
    """
    Some of the rows.

    Args:
        clusters: Their clusters, or None where rows are independent.
    """

    key: str
    table: Table
    clusters: Clusters | None


@dataclass(frozen=True, slots=True)
class View:
    """
    One score of the input.

    Args:
        key: What its slice is called; empty for the first score, which is the report itself.
        clusters: Their clusters, or None where rows are independent.
        groups: The groups of the rows, in the order of their values.
    """

    key: str
    source: InputSummary
    table: Table
    clusters: Clusters | None
    groups: tuple[Group, ...]
    columns: tuple[str, ...]

    def measured(self, least_rows: int) -> tuple[Group, ...]:
        """Return the groups with enough rows, and some weight."""
        return tuple(
            one
            for one in self.groups
            if one.table.total_rows >= least_rows and float(one.table.weight.sum()) > 0.0
        )


def beside_of(columns: Columns, *, artifact: str | None) -> Beside:
    """Return what is gathered beside the first score."""
    if columns.others and artifact is not None:
        msg = f"{len(columns.others) + 1} scores and an artifact, which recalibrates one"
        raise UsageProblem(msg, "name one score, or leave out --artifact")
    others = {f"score {place}": place for place in range(1, len(columns.others) + 1)}
    judged = RAW if artifact is None else RECALIBRATED
    return Beside(
        columns=others,
        pairs=tuple((RAW, key) for key in others),
        sliced=(judged, *others) if columns.by else (),
        clustered=tuple(dict.fromkeys((RAW, judged, *others))) if columns.cluster else (),
    )


def views_of(judged: Judged) -> tuple[View, ...]:
    """Return every score of the input, the one that is judged first."""
    gathered = judged.gathered
    first = RECALIBRATED if judged.recalibrated else RAW
    views = [_view(judged, first, "", gathered.input)]
    for place, name in enumerate(gathered.others, start=1):
        source = replace(gathered.input, score=name)
        views.append(_view(judged, f"score {place}", f"score={name}", source))
    return tuple(views)


def clusters_of(judged: Judged, key: str) -> Clusters | None:
    """Return the clusters of all rows by one of the tables, or None where rows are independent."""
    sums = judged.gathered.aside.clusters.get(key)
    return None if sums is None else sums.whole()


def cluster_summary(judged: Judged, clusters: Clusters | None) -> ClusterSummary | None:
    """Return what is said of clusters, or None where there are none."""
    column = None if judged.gathered.chosen is None else judged.gathered.chosen.cluster
    if clusters is None or column is None:
        return None
    return ClusterSummary(column, clusters.count, clusters.effective)


def _view(judged: Judged, key: str, shown: str, source: InputSummary) -> View:
    aside, chosen = judged.gathered.aside, judged.gathered.chosen
    slices, sums = aside.slices.get(key), aside.clusters.get(key)
    columns = () if chosen is None else chosen.by
    tables = {} if slices is None else slices.tables()
    groups = tuple(_group(name, table, columns, shown, sums) for name, table in tables.items())
    return View(shown, source, judged.gathered.tables[key], clusters_of(judged, key), groups, columns)


def _group(name: Name, table: Table, columns: tuple[str, ...], shown: str, sums: ClusterSums | None) -> Group:
    several = len(columns) > 1
    # A slash within a value would look like the next column.
    values = [value.replace("/", "%2F") if several else value for value in name]
    pairs = [f"{column}={value}" for column, value in zip(columns, values, strict=True)]
    key = "/".join([shown, *pairs] if shown else pairs)
    return Group(key, table, None if sums is None else sums.of(name))


def level_of(confidence: float, groups: int) -> float:
    """
    Return the confidence of each of several groups at which all their
    intervals hold together (Bonferroni).
    """
    if groups <= 1:
        return confidence
    level = 1.0 - (1.0 - confidence) / groups
    if level > MOST_CONFIDENCE:
        msg = f"a confidence of {confidence!r} over {groups:,} groups"
        raise UsageProblem(msg, "lower --confidence, or look at fewer groups")
    return level


def refuse_cut_cells(group: Group, bins: int | None, edges: tuple[float, ...] | None) -> None:
    """Refuse bins that the cells of a group's grid do not make up."""
    if group.table.kind != "grid" or (bins is None and edges is None):
        return
    asked = [] if edges is None else [round(edge * COARSE_CELLS, 9) for edge in edges]
    if (bins is not None and COARSE_CELLS % bins) or any(edge != round(edge) for edge in asked):
        msg = f"these bins would cut the cells of the grid tables that groups share ({group.key})"
        raise UsageProblem(msg, "pass --exact or more --memory, or a number of bins that divides 5,040")


def binning_of(group: Table, whole: Table, *, discrete: bool) -> Binning:
    """Return how the bins of a group are cut where nothing was asked for: in the way of the whole."""
    atoms = discrete or looks_discrete(whole)
    return Binning.ATOMS if atoms and group.kind == "exact" else Binning.EQUAL_WIDTH


def groups_summary(
    view: View, reports: Mapping[str, MeasureReport], *, least_rows: int, confidence: float
) -> GroupsSummary | None:
    """Return what is said of the groups of a score; None where there are none."""
    if not view.columns:
        return None
    measured = tuple(one.key for one in view.groups if one.key in reports)
    left_out = {one.key: one.table.total_rows for one in view.groups if one.key not in reports}
    worst = worst_of({key: reports[key] for key in measured})
    return GroupsSummary(view.columns, measured, left_out, least_rows, confidence, worst)


def worst_of(reports: Mapping[str, MeasureReport]) -> WorstGroup | None:
    """Return which of several reports stands out by its ECE; None where none was measured."""
    return _worst(
        {key: one for key, part in reports.items() for one in part.measures if one.name is WORST_BY}
    )


def _worst(estimates: Mapping[str, Estimate]) -> WorstGroup | None:
    values = {key: one.value for key, one in estimates.items() if math.isfinite(one.value)}
    if not values:
        return None
    lowers = {
        key: one.interval.lower
        for key, one in estimates.items()
        if one.interval is not None and one.interval.lower is not None
    }
    top = max(values, key=lambda key: values[key])
    if not lowers:
        return WorstGroup(WORST_BY, top, values[top], None, None)
    low = max(lowers, key=lambda key: lowers[key])
    # Where every bound is 0, none stands out.
    return WorstGroup(WORST_BY, top, values[top], low if lowers[low] > 0.0 else None, lowers[low])


def without_bands(curve: ReliabilityCurve) -> ReliabilityCurve:
    """Return a curve without its bands, all of which need independent rows."""
    points = curve.binned
    gap = np.full(points.rows.size, math.nan)
    binned = replace(points, rate_lower=gap, rate_upper=gap, band=NO_BAND)
    smooth = curve.smooth
    if smooth is not None:
        gap = np.full(smooth.at.size, math.nan)
        smooth = replace(smooth, lower=gap, upper=gap, band=NO_BAND)
    return replace(curve, binned=binned, smooth=smooth)
