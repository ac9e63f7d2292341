"""Every diagram of rows that were measured, as a report shows them: nothing is read or measured again."""

from collections.abc import Iterator
from dataclasses import replace

from calibcli.codec import Node
from calibcli.names import MeasureName
from calibcli.options.measuring import MeasureOptions
from calibcli.picture_names import PlotKind
from calibcli.reports.measure import MeasureReport
from calibcli.tasks.judged import Judged
from calibcli.tasks.pictures.compare import scores_of_tree
from calibcli.tasks.pictures.cumulative import cumulative_drawn
from calibcli.tasks.pictures.diagram import Drawn
from calibcli.tasks.pictures.isotonic import isotonic_drawn
from calibcli.tasks.pictures.map import map_over_rows
from calibcli.tasks.pictures.reliability import Measured, caption_of
from calibcli.tasks.pictures.residual import residual_drawn
from calibcli.tasks.pictures.slices import classes_of_tree, groups_of_tree

Shown = tuple[PlotKind, Drawn]


def pictures_of(report: MeasureReport, judged: Judged, *, options: MeasureOptions) -> Iterator[Shown]:
    """
    Return every diagram there is, of the score itself first.

    Args:
        report: What was measured, the smooth curve included.

        judged: Of what rows.

        options: What was asked of the measures.
    """
    tree = Node(report.to_dict())
    smooth = report.curve.smooth is not None
    for kind in (PlotKind.SMOOTH, PlotKind.BINNED):
        if smooth or kind is PlotKind.BINNED:
            yield kind, Drawn(replace(report.curve, kind=kind), caption_of(tree, kind))
    yield PlotKind.ISOTONIC, isotonic_drawn(judged.table, options=options)
    yield PlotKind.CUMULATIVE, cumulative_drawn(judged.table, options=options)
    by_bins = report.table.discrete or not smooth
    measured = Measured(tree, report.curve, report.table.discrete)
    yield PlotKind.RESIDUAL, residual_drawn(measured, by_bins=by_bins)
    if judged.artifact is not None:
        drawn = map_over_rows(judged.artifact, judged, fitted_rows=judged.fitted_rows, options=options)
        yield PlotKind.MAP, drawn
    yield from _side_by_side(report, tree)


def _side_by_side(report: MeasureReport, tree: Node) -> Iterator[Shown]:
    """Return diagrams of several scores, groups and classes, where there are some."""
    named = {one.name for one in report.measures}
    # A diagram of several is headed by their errors.
    if not named & {MeasureName.ECE, MeasureName.SMECE}:
        return
    if report.differences or (report.artifact and f"score={report.input.score}" in report.slices):
        yield PlotKind.COMPARE, scores_of_tree(tree).drawn
    if report.groups is not None and report.groups.measured:
        yield PlotKind.GROUPS, groups_of_tree(tree).drawn
    if report.classes is not None and any(view.measured for view in report.classes.views):
        yield PlotKind.CLASSES, classes_of_tree(tree, None).drawn
