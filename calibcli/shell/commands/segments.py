"""calibcli segments."""

import typer

from calibcli.options.output import Artifact, Inputs, Output
from calibcli.options.rows import SEGMENTED_SCORES, Columns, Reading
from calibcli.options.segmenting import SegmentOptions
from calibcli.shell.door import command


@command(
    "score label on artifact depth min_rows where json output verbose | *classes max_values categorical "
    "numeric confidence unseen *rows seed *values *format *reading allow_edited fmt force quiet color debug",
    score=SEGMENTED_SCORES,
)
def segments(
    context: typer.Context,
    inputs: Inputs,
    columns: Columns,
    options: SegmentOptions,
    reading: Reading,
    out: Output,
    artifact: Artifact = None,
) -> None:
    """
    Find the segments in which scores are wrong.

    Every intersection of the values of some columns is tested, and all statements hold together.

    \b
    EXAMPLES
      calibcli segments preds.csv -s score -y label --on country,device,age
      calibcli segments preds.parquet -s score -y label --on country,device --depth 3
      calibcli segments preds.csv -s score -y label --on region --artifact cal.json
      calibcli segments preds.csv -s score -y label --on age,code --categorical code
      calibcli segments preds.csv -s score -y label --on country,device -o segments.csv
      calibcli segments preds.csv -s old -s new -y label --on country,device
    """
    from calibcli.commands.segments import segments_files
    from calibcli.shell.line import line_of
    from calibcli.shell.output import format_of, request_of, say_notes_beside, write_report

    rows, kind = request_of(inputs, columns, reading, out, artifact), format_of(out)
    report = segments_files(rows, options=options)
    write_report(report, kind, out, line_of(context))
    say_notes_beside(kind, report.input, report.notes, quiet=out.quiet)
