"""Commands that look for differences: of scores, of old and new rows, and between parts of the rows."""

import typer

from calibcli.options.measuring import CompareOptions
from calibcli.options.output import Artifacts, NewFile, OldFile, Output
from calibcli.options.rows import RowRequest
from calibcli.options.segmenting import DriftOptions, SegmentOptions
from calibcli.shell.door import command
from calibcli.shell.output import format_of, request_of, say_notes_beside, write_report
from calibcli.values import replace


@command(
    "score label artifact metric reference probs where fail_if_worse json output | by row_id cluster pairs "
    "*CompareOptions *ClassOptions *RowSelection *values *InputFormat *Reading allow_edited fmt force quiet "
    "verbose color debug"
)
def compare(
    context: typer.Context,
    rows: RowRequest,
    options: CompareOptions,
    out: Output,
    artifact: Artifacts = None,
) -> int:
    """Compare models on the same rows.

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

    artifacts = tuple(artifact or ())
    rows, kind = request_of(rows, out, *artifacts), format_of(out)
    report = compare_files(rows, artifacts=artifacts, options=options)
    write_report(report, kind, out, context)
    table = getattr(report, "table", None)
    say_notes_beside(kind, report.input, report.notes, table=table, quiet=out.quiet)
    return 1 if report.worse_by else 0


@command(
    "score by on sort bins max_psi where json output | max_values categorical numeric *DriftOptions "
    "*RowSelection weight weights_are scale score_map on_missing on_range *InputFormat *Reading fmt force "
    "quiet verbose color debug"
)
def drift(
    context: typer.Context,
    old: OldFile,
    rows: RowRequest,
    options: DriftOptions,
    out: Output,
    new: NewFile = None,
) -> int:
    """Say whether scores and other columns have shifted: PSI and p-value.

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

    rows = replace(rows, inputs=[one for one in (old, new) if one is not None])
    rows, kind = request_of(rows, out), format_of(out)
    report = drift_files(rows, options)
    write_report(report, kind, out, context)
    if new is not None:
        say_notes_beside(kind, report.old, (), side="old: ", quiet=out.quiet)
    say_notes_beside(kind, report.new, report.notes, side="" if new is None else "new: ", quiet=out.quiet)
    return 1 if report.gate is not None and report.gate.failed_by else 0


@command(
    "score label on artifact depth min_rows where json output verbose | *Cutting *SegmentOptions "
    "*ClassOptions unseen *RowSelection *values *InputFormat *Reading allow_edited fmt force quiet color "
    "debug"
)
def segments(
    context: typer.Context,
    rows: RowRequest,
    options: SegmentOptions,
    out: Output,
) -> None:
    """Find the segments in which scores are wrong.

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

    rows, kind = request_of(rows, out), format_of(out)
    report = segments_files(rows, options=options)
    write_report(report, kind, out, context)
    table, further = report.table, report.slices
    say_notes_beside(kind, report.input, report.notes, table=table, further=further, quiet=out.quiet)
