"""calibcli measure."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from calibcli.data.formats import refuse_promise
from calibcli.data.outputs import check_output, place_of
from calibcli.errors import IdleOption, UsageProblem
from calibcli.names import STDOUT, CompatTool, ReportFormat
from calibcli.options.declaring import built, options_given
from calibcli.options.measuring import MeasureOptions
from calibcli.options.output import Compat, Explain, Output, SummaryOut
from calibcli.options.rows import Columns, RowRequest
from calibcli.shell.door import command
from calibcli.shell.line import is_piped
from calibcli.shell.output import format_of, request_of, say_notes_beside, write_explanation, write_report
from calibcli.values import replace

if TYPE_CHECKING:
    from calibcli.reports.compat import CompatReport
    from calibcli.reports.measure import MeasureReport


def _explained(given: Mapping[str, Any]) -> bool:
    """Say what a measure is where that was asked, whatever else stands on the line."""
    if given["explain"] is None:
        return False
    out = built(Output, given)
    write_explanation(given["explain"], format_of(out), out)
    return True


@command(
    "score label by where probs artifact metric explain json output | threshold *MeasureOptions compat "
    "bounds confidence *ClassOptions cluster unseen *RowSelection *values *InputFormat *Reading "
    "allow_edited fmt summary_out force quiet verbose color debug",
    instead=_explained,
)
def measure(
    context: typer.Context,
    rows: RowRequest,
    options: MeasureOptions,
    out: Output,
    compat: Compat = None,
    explain: Explain = None,  # noqa: ARG001 - answered before
    summary_out: SummaryOut = None,
) -> None:
    """Measure miscalibration, with bounds that hold.

    \b
    EXAMPLES
      calibcli measure preds.csv -s score -y label
      calibcli measure preds.parquet -s score -y label --artifact cal.json
      calibcli measure preds.csv -s score -y label --metric ece --metric smece --json
      calibcli measure preds.csv -s score -y label --compat netcal
      calibcli measure preds.csv -s score -y label --by country --by device
      calibcli measure preds.csv -s old -s new -y label --cluster patient
      calibcli measure preds.parquet --probs 'p_*' -y label
      calibcli measure part1.parquet -s score -y label --summary-out part1.json
      calibcli measure preds.csv -s score -y label --threshold 0.1,0.2
      calibcli measure --explain smece
    """
    from calibcli.commands.measure import measure_files

    if not rows.inputs and is_piped():
        rows = replace(rows, inputs=[STDOUT])
    if not rows.inputs:
        msg = "Missing argument 'INPUT...'"
        raise UsageProblem(msg, "name a file, or - for what is piped: calibcli measure --help")
    if compat is not None:
        _refuse_beside_compat(rows.columns, options, compat, summary_out)
    rows, kind = request_of(rows, out), format_of(out)
    if summary_out is not None:
        if place_of(out.output) == place_of(summary_out):
            msg = f"-o and --summary-out both name {summary_out}"
            raise UsageProblem(msg, "send the summary to a file of its own")
        check_output(summary_out, force=out.force, inputs=rows.inputs, documents=[rows.artifact])
        refuse_promise(summary_out, "json", what="a summary is JSON", hint="name it part.json")
    brief, complete = kind.is_page and not out.verbose, kind is ReportFormat.JSON
    options = replace(options, beside_raw=out.verbose, complete=complete, brief=brief)
    report: MeasureReport | CompatReport
    further: Mapping[str, MeasureReport] = {}
    if compat is None:
        report = measure_files(rows, options=options, summary_out=summary_out)
        further = report.further_scores
    else:
        from calibcli.commands.compat import compat_files

        report = compat_files(rows, tool=compat, options=options)
    write_report(report, kind, out, context)
    table = report.table
    say_notes_beside(kind, report.input, report.notes, table=table, further=further, quiet=out.quiet)


# What is asked of our numbers beside those of another tool; `raw` is what --verbose asks.
_BESIDE_COMPAT = ("bins", "binning", "seed", "raw")


def _refuse_beside_compat(
    columns: Columns, options: MeasureOptions, tool: CompatTool, summary_out: str | None
) -> None:
    if options.metrics.selected:
        msg = "--compat says itself what is measured, and --metric does as well"
        raise IdleOption(msg, "leave out one of them", options=("metric", "compat"))
    apart = {
        "by": columns.by,
        "cluster": columns.cluster,
        "view": columns.each_in,
        "summary-out": summary_out,
    }
    # The only one whose numbers are ends of intervals.
    beside = (*_BESIDE_COMPAT, "confidence") if tool is CompatTool.CALZONE else _BESIDE_COMPAT
    of_ours = (option for option in options_given(options) if option not in beside)
    for option in (*(option for option, value in apart.items() if value), *of_ours):
        msg = f"--compat gives the numbers of one score over all rows, without --{option}"
        raise IdleOption(msg, "leave out one of them", options=(option, "compat"))
