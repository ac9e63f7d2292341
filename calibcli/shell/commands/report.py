"""calibcli report."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from calibcli.errors import UsageProblem
from calibcli.names import STDOUT
from calibcli.options.gating import VerifyOptions
from calibcli.options.measuring import BINS, MIN_GROUP_ROWS, MeasureOptions
from calibcli.options.output import TO_A_FILE, Artifact, Inputs, Output
from calibcli.options.pictures import PageOptions
from calibcli.options.rows import REPORTED_ON, SEVERAL_SCORES, Columns, Reading
from calibcli.shell.door import command

if TYPE_CHECKING:
    from calibcli.reports.verify import VerifyReport


@command(
    "output score label artifact by max_ece rule metric probs title | threshold *classes max_l2 max_linf "
    "max_smece max_dce max_segment_bias on depth max_values categorical numeric min_segment_rows min_rows "
    "allow_fit_rows min_group_rows sort bins binning confidence seed axis date unseen *rows *values *format "
    "*reading allow_edited force quiet debug",
    output=TO_A_FILE,
    score=SEVERAL_SCORES,
    on=REPORTED_ON,
    bins=BINS,
    min_group_rows=MIN_GROUP_ROWS._replace(
        help="Smaller groups are listed alone. [default: 100 to be measured, 1 to be tested]"
    ),
)
def report(
    context: typer.Context,
    inputs: Inputs,
    columns: Columns,
    options: MeasureOptions,
    gate: VerifyOptions,
    page: PageOptions,
    reading: Reading,
    out: Output,
    artifact: Artifact = None,
) -> None:
    """
    Write measures, verdicts and diagrams as one page of HTML.

    One self-contained file, to send or print. Rules get the verdicts of verify, but the exit code is 0
    whatever the verdict: to gate, use verify. It needs pip install '.[report]'.

    \b
    EXAMPLES
      calibcli report eval.csv -s score -y label -o report.html
      calibcli report eval.csv -s score -y label --artifact cal.json --max-ece 0.02 -o report.html
      calibcli report eval.parquet -s old -s new -y label --by country -o report.html
      calibcli report eval.csv -s score -y label --on country,device -o report.html
      calibcli report eval.csv -s score -y label -m clinical --threshold 0.1,0.2 -o report.html
      calibcli report eval.parquet --probs 'p_*' -y label -o report.html
    """
    from calibcli.data.outputs import write_file
    from calibcli.shell.line import command_line, line_of
    from calibcli.shell.output import request_of, say_line, say_notes
    from calibcli.show.html.page import require_templates

    require_templates()
    _refuse_suffix(out.output)
    rows = request_of(inputs, columns, reading, out, artifact)
    from calibcli.commands.report import ReportRequest
    from calibcli.shell.drawing_cache import drawing_cache

    judged = gate if gate.rules else None
    request = ReportRequest(inputs, columns, artifact, rows.reading, options, judged, gate.segments)
    with drawing_cache():
        from calibcli.commands.page import html_report

        again = command_line(context, output="report.html")
        written = html_report(request, page, command=again, settings=line_of(context).settings)
    write_file(out.output, written.html.encode("utf-8"))
    measured = written.found.measured
    say_notes((*measured.input.notes, *measured.notes), quiet=out.quiet)
    if out.output != STDOUT:
        say_line(f"{out.output}: {_outcome(written.found.verdicts)}", quiet=out.quiet)


def _refuse_suffix(output: str) -> None:
    """Refuse a name that promises something else."""
    if output != STDOUT and Path(output).suffix.lower() not in (".html", ".htm"):
        msg = f"{output}: a report is a page of HTML"
        raise UsageProblem(msg, f"name it {Path(output).stem or 'report'}.html")


def _outcome(verdicts: "VerifyReport | None") -> str:
    """Return what there is to say of the page in a few words."""
    return "written; no limit was set" if verdicts is None else verdicts.outcome.value.upper()
