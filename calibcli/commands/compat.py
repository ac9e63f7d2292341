"""Give the numbers of another tool beside ours."""

from collections.abc import Mapping

from calibcli.commands.bins import may_cut_cells
from calibcli.commands.cutting import rows_again
from calibcli.commands.measure import measure_table
from calibcli.commands.reading import read_evaluation, with_scores
from calibcli.data.tally import GatherRequest
from calibcli.errors import EmptyTable, IdleOption, UsageProblem
from calibcli.names import CompatTool, MeasureName, TestName
from calibcli.options.measuring import MeasureOptions, Metrics
from calibcli.options.rows import RowRequest
from calibcli.reports.compat import CompatNumber, CompatReport, OurNumber
from calibcli.stats.measures import Estimate, TestResult
from calibcli.stats.measures.compat import OrderedRows, Part, Peer, PeerNumber, peer_numbers
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.grid import Table
from calibcli.values import replace

Ours = Mapping[MeasureName | TestName, Estimate | TestResult]


def compat_files(rows: RowRequest, *, tool: CompatTool, options: MeasureOptions) -> CompatReport:
    """Give the numbers of a tool with its default settings, for one score column, beside ours."""
    rows = with_scores(rows)
    if rows.columns.others:
        msg = "--compat gives the numbers of one score over all rows, without several scores"
        raise IdleOption(msg, "leave out one of them", options=("score", "compat"))
    in_order = tool is CompatTool.MAPIE
    twice = in_order or may_cut_cells(options.bins, options.binning)
    evaluation = read_evaluation(rows, GatherRequest(twice=twice))
    table = _exact(evaluation.table, tool)
    peer = peer_numbers(
        tool, table, rows=OrderedRows(*rows_again(evaluation).in_order()) if in_order else None
    )
    measured = measure_table(
        table,
        evaluation.input,
        options=replace(options, metrics=_metrics(peer)),
        discrete=evaluation.outputs is not None,
    )
    ours: Ours = {one.name: one for one in measured.measures} | {one.name: one for one in measured.tests}
    return CompatReport(
        input=evaluation.input,
        table=measured.table,
        artifact=evaluation.through,
        peer=tool,
        package=peer.package,
        version=peer.version,
        numbers=tuple(
            CompatNumber(one.name, one.value, _our_number(one, ours), one.why) for one in peer.numbers
        ),
        notes=(*peer.notes, *measured.notes, *evaluation.notes),
    )


def _exact(table: Table, tool: CompatTool) -> ScoreTable:
    """Refuse rows that the tool could not have been given."""
    if not isinstance(table, ScoreTable):
        msg = f"the numbers of {tool.value} need every distinct score, and they did not fit in memory"
        raise UsageProblem(msg, "pass --exact")
    if not table.weight.sum() > 0:
        msg = "every row has weight 0"
        raise EmptyTable(msg)
    if table.weighted and tool is not CompatTool.SKLEARN:
        msg = f"{tool.value} takes no importance weights here"
        raise UsageProblem(msg, "leave out --weight; whole numbers may be --weights-are frequency")
    return table


def _metrics(peer: Peer) -> Metrics:
    """Return what answers the same questions here, each once."""
    names = dict.fromkeys(one.beside for one in peer.numbers if one.beside is not None)
    measures = tuple(name for name in names if isinstance(name, MeasureName))
    return Metrics(measures, tuple(name for name in names if isinstance(name, TestName)))


def _our_number(theirs: PeerNumber, ours: Ours) -> OurNumber | None:
    name, part = theirs.beside, theirs.part
    if name is None:
        return None
    found = ours[name]
    if isinstance(found, TestResult):
        return OurNumber(name, part, found.p_value if part is Part.P_VALUE else found.statistic, None)
    partition = found.details.get("partition")
    return OurNumber(name, part, _of_estimate(found, part), partition if isinstance(partition, str) else None)


def _of_estimate(estimate: Estimate, part: Part) -> float | None:
    if part is Part.VALUE:
        return estimate.value
    interval = estimate.interval
    if interval is None:
        return None
    return interval.lower if part is Part.LOWER else interval.upper
