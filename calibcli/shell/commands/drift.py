"""calibcli drift."""

from dataclasses import replace

import typer

from calibcli.options.output import NewFile, OldFile, Output
from calibcli.options.rows import DRIFTED_BY, DRIFTED_ON, Columns, Reading
from calibcli.options.segmenting import DriftOptions
from calibcli.shell.door import command


@command(
    "score by on sort bins max_psi where json output | max_values categorical numeric confidence *rows seed "
    "weight weights_are scale score_map on_missing on_range *format *reading fmt force quiet verbose color "
    "debug",
    by=DRIFTED_BY,
    on=DRIFTED_ON,
)
def drift(
    context: typer.Context,
    old: OldFile,
    columns: Columns,
    options: DriftOptions,
    reading: Reading,
    out: Output,
    new: NewFile = None,
) -> int:
    """
    Say whether scores and other columns have shifted: PSI and p-value.

    No label is needed. Scores of at most 50 values are compared grade by grade, others at quantiles of OLD.

    \b
    EXAMPLES
      calibcli drift 2023.csv 2024.csv -s pd
      calibcli drift 2023.csv 2024.csv -s pd --max-psi 0.1
      calibcli drift loans.csv -s pd --by month
      calibcli drift train.parquet today.parquet -s score --on country,device,age
      calibcli drift train.parquet today.parquet -s score --bins 20 --json
    """
    from calibcli.commands.drift import drift_files
    from calibcli.data.outputs import check_output
    from calibcli.shell.line import line_of
    from calibcli.shell.output import format_of, progress_bar, say_notes_beside, write_report

    check_output(out.output, force=out.force, inputs=[old, *([] if new is None else [new])])
    kind = format_of(out)
    reading = replace(reading, progress=progress_bar(quiet=out.quiet))
    report = drift_files(old, new, columns, options=options, reading=reading)
    write_report(report, kind, out, line_of(context))
    if new is not None:
        say_notes_beside(kind, report.old, (), quiet=out.quiet)
    say_notes_beside(kind, report.new, report.notes, quiet=out.quiet)
    return 1 if report.gate is not None and report.gate.failed_by else 0
