"""Groups, clusters and several scores of one input: what is gathered for them, and what is said of them."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from calibcli.commands.gathering import RAW, RECALIBRATED, Gathered
from calibcli.data.tally import GatherRequest
from calibcli.errors import UsageProblem
from calibcli.names import GroupOrder, MeasureName
from calibcli.options.measuring import MOST_CONFIDENCE
from calibcli.options.numerals import by_name, by_time
from calibcli.options.rows import RowRequest
from calibcli.reports.input import InputSummary, without_slash
from calibcli.reports.measure import MeasureReport, WorstGroup
from calibcli.stats.curves.reliability import NO_WEIGHTED_BAND, ReliabilityCurve
from calibcli.stats.table.grid import Table
from calibcli.values import dataclass, replace

if TYPE_CHECKING:
    from calibcli.stats.measures.clustered import Clusters, ClusterSums
    from calibcli.stats.table.sliced import Name

WORST_BY = MeasureName.ECE


@dataclass(frozen=True, slots=True)
class Group:
    """Some of the rows, told by a value of each column, or by their class; no clusters if independent."""

    key: str
    table: Table
    clusters: "Clusters | None"
    name: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Slices:
    """The groups of the rows, or the classes in one view, in order; `absent` are keys without any row."""

    columns: tuple[str, ...] = ()
    groups: tuple[Group, ...] = ()
    absent: tuple[str, ...] = ()

    def measured(self, least_rows: int) -> tuple[Group, ...]:
        """Return those with enough rows, and some weight."""
        return tuple(
            one
            for one in self.groups
            if one.table.total_rows >= least_rows and float(one.table.weight.sum()) > 0.0
        )

    def left_out(self, keys: Collection[str]) -> dict[str, int]:
        """Return how many rows each has that is not among some keys."""
        few = {one.key: one.table.total_rows for one in self.groups if one.key not in keys}
        return {**few, **dict.fromkeys(self.absent, 0)}

    def outcome_notes(self) -> tuple[str, ...]:
        """Say that the column that makes the groups settles the label."""
        if not self.columns:
            return ()
        from calibcli.commands.cutting import outcome_of_groups

        return outcome_of_groups(self.columns, (one.table for one in self.groups))


@dataclass(frozen=True, slots=True)
class View:
    """One score of the input; the first has an empty `key`: it is the report itself, others are slices."""

    key: str
    source: InputSummary
    table: Table
    clusters: "Clusters | None"
    slices: Slices


def gather_request_of(rows: RowRequest) -> GatherRequest:
    columns = rows.columns
    if columns.others and rows.artifact is not None:
        msg = f"{len(columns.others) + 1} scores and an artifact, which recalibrates one"
        raise UsageProblem(msg, "name one score, or leave out the artifact")
    others = {f"score {place}": place for place in range(1, len(columns.others) + 1)}
    evaluation = RAW if rows.artifact is None else RECALIBRATED
    return GatherRequest(
        columns=others,
        pairs=tuple((RAW, key) for key in others),
        sliced=(evaluation, *others) if columns.by else (),
        clustered=tuple(dict.fromkeys((RAW, evaluation, *others))) if columns.cluster else (),
    )


def extras_beside_raw(rows: RowRequest) -> GatherRequest:
    """Return the same, and of one score through an artifact how each row's loss changes.

    Classes seen by the one that is predicted are other rows once they are recalibrated.
    """
    found, alone = gather_request_of(rows), rows.artifact is None or rows.columns.several is not None
    return found if alone else replace(found, pairs=((RAW, RECALIBRATED),))


def views_of(evaluation: Gathered) -> tuple[View, ...]:
    """Return every score of the input, the one that is judged first."""
    views = [_view(evaluation, evaluation.key, "", evaluation.input)]
    for place, name in enumerate(evaluation.resolved.further, start=1):
        views.append(
            _view(evaluation, f"score {place}", f"score={name}", replace(evaluation.input, score=name))
        )
    return tuple(views)


def clusters_of(evaluation: Gathered, key: str) -> "Clusters | None":
    sums = evaluation.extras.clusters.get(key)
    return None if sums is None else sums.whole()


def _view(evaluation: Gathered, key: str, shown: str, source: InputSummary) -> View:
    found, sums = evaluation.extras.slices.get(key), evaluation.extras.clusters.get(key)
    columns, tables = evaluation.resolved.by, {} if found is None else found.tables()
    groups = tuple(_group(name, table, columns, shown, sums) for name, table in tables.items())
    return View(shown, source, evaluation.tables[key], clusters_of(evaluation, key), Slices(columns, groups))


def _group(
    name: "Name", table: Table, columns: tuple[str, ...], shown: str, sums: "ClusterSums | None"
) -> Group:
    values = map(without_slash, name) if len(columns) > 1 else name
    pairs = [f"{column}={value}" for column, value in zip(columns, values, strict=True)]
    key = "/".join([shown, *pairs] if shown else pairs)
    clusters = None if sums is None else sums.of(name)
    # Where each cluster has one row here, such as each question of one model, rows are independent.
    alone = clusters is not None and not table.weighted and clusters.count == table.total_rows
    return Group(key, table, None if alone else clusters, tuple(name))


def sorted_groups(groups: Sequence[Group], order: GroupOrder | None) -> tuple[Group, ...]:
    """Return groups in an order; the worst is looked for where their table is made."""
    match order:
        case GroupOrder.ROWS:
            return tuple(sorted(groups, key=lambda one: -one.table.total_rows))
        case GroupOrder.SCORE:
            return tuple(sorted(groups, key=lambda one: mean_score(one.table)))
        case GroupOrder.NAME | GroupOrder.TIME:
            put = by_name if order is GroupOrder.NAME else by_time
            # Of several columns the first comes first.
            columns = zip(*(one.name for one in groups), strict=True)
            places = [
                {name: at for at, name in enumerate(put(list(dict.fromkeys(column))))} for column in columns
            ]
            return tuple(
                sorted(
                    groups,
                    key=lambda one: [place[name] for place, name in zip(places, one.name, strict=True)],
                )
            )
        case _:
            return tuple(groups)


def mean_score(table: Table) -> float:
    return float(table.weight @ table.score) / float(table.weight.sum())


def level_of(confidence: float, groups: int) -> float:
    """Confidence of each of several groups at which all their intervals hold together (Bonferroni)."""
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
    from calibcli.stats.table.sliced import COARSE_CELLS

    requested = [] if edges is None else [round(edge * COARSE_CELLS, 9) for edge in edges]
    if (bins is not None and COARSE_CELLS % bins) or any(edge != round(edge) for edge in requested):
        msg = f"these bins would cut the cells that scores of groups are rounded to in memory ({group.key})"
        raise UsageProblem(msg, "pass --exact or more --memory, or a number of bins that divides 5,040")


def worst_of(
    reports: Mapping[str, MeasureReport], at_least: Mapping[str, float] | None = None
) -> WorstGroup | None:
    """Return which of several reports stands out by its ECE, or by bounds of it; None where none has one."""
    estimates = {key: one for key, part in reports.items() for one in part.measures if one.name is WORST_BY}
    values = {key: one.value for key, one in estimates.items() if math.isfinite(one.value)}
    if not values:
        return None
    lowers = {
        key: one.interval.lower
        for key, one in estimates.items()
        if one.interval is not None and one.interval.lower is not None
    }
    lowers = lowers if at_least is None else dict(at_least)
    top = max(values, key=lambda key: values[key])
    if not lowers:
        return WorstGroup(WORST_BY, top, values[top], None, None)
    low = max(lowers, key=lambda key: lowers[key])
    # Where every bound is 0, none stands out.
    return WorstGroup(WORST_BY, top, values[top], low if lowers[low] > 0.0 else None, lowers[low])


def without_bands(curve: ReliabilityCurve) -> ReliabilityCurve:
    """Return a curve without its bands, all of which need independent rows."""
    from calibcli.stats.measures.clustered import NO_BAND

    points = curve.binned
    if points.band == NO_WEIGHTED_BAND:
        # There are none, and bins of weights hold no base rate, as this says.
        return curve
    gap = np.full(points.rows.size, math.nan)
    binned = replace(points, rate_lower=gap, rate_upper=gap, band=NO_BAND)
    smooth, other = (
        None if one is None else replace(one, lower=gaps, upper=gaps, band=NO_BAND)
        for one in (curve.smooth, curve.smooth_logit)
        for gaps in (np.full(0 if one is None else one.at.size, math.nan),)
    )
    return replace(curve, binned=binned, smooth=smooth, smooth_logit=other)
