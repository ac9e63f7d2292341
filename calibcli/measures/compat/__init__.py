"""
Numbers as other tools give them with their default settings, and why ours differ.

Each convention is written anew from the tool's documented and observed behaviour; no tool is called.
"""

from typing import assert_never

from calibcli.measures.compat.peer import OrderedRows, Peer
from calibcli.names import CompatTool
from calibcli.table.score_table import ScoreTable

__all__ = ["peer_numbers"]


def peer_numbers(  # noqa: PLR0911 - one return for each tool
    tool: CompatTool, table: ScoreTable, *, rows: OrderedRows | None = None
) -> Peer:
    """
    Return the numbers that a tool gives for one score and labels 0 and 1.

    Args:
        tool: The tool.

        table: The rows, with at least one of them; with importance weights for scikit-learn only.

        rows: The same rows in their order, which MAPIE's tests depend on; by default in the order of scores.
    """
    match tool:
        case CompatTool.SKLEARN:
            from calibcli.measures.compat.sklearn import sklearn_numbers

            return sklearn_numbers(table)
        case CompatTool.TORCHMETRICS:
            from calibcli.measures.compat.torchmetrics import torchmetrics_numbers

            return torchmetrics_numbers(table)
        case CompatTool.NETCAL:
            from calibcli.measures.compat.netcal import netcal_numbers

            return netcal_numbers(table)
        case CompatTool.MAPIE:
            from calibcli.measures.compat.mapie import mapie_numbers

            return mapie_numbers(table, rows or OrderedRows.of_table(table))
        case CompatTool.CALZONE:
            from calibcli.measures.compat.calzone import calzone_numbers

            return calzone_numbers(table)
        case CompatTool.RELPLOT:
            from calibcli.measures.compat.relplot import relplot_numbers

            return relplot_numbers(table)
        case CompatTool.UNCERTAINTY_CALIBRATION:
            from calibcli.measures.compat.uncertainty_calibration import uncertainty_calibration_numbers

            return uncertainty_calibration_numbers(table)
        case _:
            assert_never(tool)
