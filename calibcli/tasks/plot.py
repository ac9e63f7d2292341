"""Everything a diagram shows, computed from files or taken from documents."""

from typing import assert_never

from calibcli.picture_names import PlotKind
from calibcli.tasks.pictures.asked import kind_meant
from calibcli.tasks.pictures.diagram import Diagram, PlotRequest


def diagram_of(request: PlotRequest) -> Diagram:  # noqa: PLR0911 - one return a kind
    """
    Return what is to be drawn.

    Args:
        request: What was asked.

    Raises:
        CalibcliError: For input that cannot be drawn, with what, where and how many.
    """
    kind = kind_meant(request)
    match kind:
        case None | PlotKind.SMOOTH | PlotKind.BINNED:
            from calibcli.tasks.pictures.reliability import reliability_diagram

            return reliability_diagram(request)
        case PlotKind.MAP:
            from calibcli.tasks.pictures.map import map_diagram

            return map_diagram(request)
        case PlotKind.RESIDUAL:
            from calibcli.tasks.pictures.residual import residual_diagram

            return residual_diagram(request)
        case PlotKind.COMPARE:
            from calibcli.tasks.pictures.compare import compare_diagram

            return compare_diagram(request)
        case PlotKind.CLASSES:
            from calibcli.tasks.pictures.slices import classes_diagram

            return classes_diagram(request)
        case PlotKind.GROUPS:
            from calibcli.tasks.pictures.slices import groups_diagram

            return groups_diagram(request)
        case PlotKind.MONITOR:
            from calibcli.tasks.pictures.monitor import monitor_diagram

            return monitor_diagram(request)
        case PlotKind.ISOTONIC | PlotKind.CUMULATIVE | PlotKind.MURPHY | PlotKind.DECISION:
            from calibcli.tasks.pictures.of_table import diagram_of_table

            return diagram_of_table(request, kind)
        case _:
            assert_never(kind)
