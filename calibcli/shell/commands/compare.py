"""calibcli compare."""

import typer

from calibcli.options.measuring import CompareOptions
from calibcli.options.output import Artifacts, Inputs, Output
from calibcli.options.rows import (
    COMPARED_BY,
    COMPARED_MISSING,
    QUESTION,
    TWO_SCORES,
    TWO_SETS,
    Columns,
    Reading,
)
from calibcli.shell.door import command


@command(
    "score label artifact metric reference probs where fail_if_worse json output "
    "| by row_id cluster pairs *classes allow_fit_rows "
    "bins binning confidence *rows seed *values *format *reading allow_edited fmt "
    "force quiet verbose color debug",
    score=TWO_SCORES,
    probs=TWO_SETS,
    by=COMPARED_BY,
    row_id=QUESTION,
    on_missing=COMPARED_MISSING,
)
def compare(
    context: typer.Context,
    inputs: Inputs,
    columns: Columns,
    options: CompareOptions,
    reading: Reading,
    out: Output,
    artifact: Artifacts = None,
) -> int:
    """
    Compare models on the same rows.

    Of two scores or artifacts the first is the baseline; with one artifact, the raw score or probabilities
    are. More scores make a leaderboard, whose differences hold all at once.

    \b
    EXAMPLES
      calibcli compare eval.csv -s old -s new -y label
      calibcli compare eval.csv -s score -y label --artifact cal.json
      calibcli compare eval.csv -s score --artifact old.json --artifact new.json
      calibcli compare eval.csv -s old -s new -y label --fail-if-worse
      calibcli compare forecasts.csv -s 'fc_*' -y rain --reference climatology
      calibcli compare forecasts.csv -s 'fc_*' -y rain --cluster week
      calibcli compare answers.csv --by model --id question -s confidence -y correct
      calibcli compare eval.parquet --probs 'p_*' -y label --artifact cal.json
    """
    from calibcli.commands.compare import compare_files
    from calibcli.data.outputs import check_output
    from calibcli.shell.line import line_of
    from calibcli.shell.output import format_of, request_of, say_notes_beside, write_report

    artifacts = tuple(artifact or ())
    for path in artifacts:
        check_output(out.output, force=out.force, inputs=inputs, artifact=path)
    rows, kind = request_of(inputs, columns, reading, out), format_of(out)
    report = compare_files(rows, artifacts=artifacts, options=options)
    write_report(report, kind, out, line_of(context))
    say_notes_beside(kind, report.input, report.notes, quiet=out.quiet)
    return 1 if report.worse_by else 0
