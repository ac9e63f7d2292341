"""calibcli plan."""

import typer

from calibcli.errors import UsageProblem
from calibcli.names import ReportFormat
from calibcli.options.gating import PlanOptions
from calibcli.options.output import Artifact, Like, LikeFile, Output
from calibcli.options.rows import JUDGED_ON, Columns, Reading
from calibcli.shell.door import command


@command(
    "max_ece max_smece artifact like score power error any_time confidence json | max_l2 max_linf max_dce "
    "max_segment_bias on depth max_values categorical numeric min_segment_rows bins binning *classes "
    "min_rows seed scale score_map on_missing on_range *format exact memory allow_edited fmt output force "
    "quiet verbose color debug",
    on=JUDGED_ON,
)
def plan(
    context: typer.Context,
    columns: Columns,
    options: PlanOptions,
    reading: Reading,
    out: Output,
    file: LikeFile = None,
    artifact: Artifact = None,
    like: Like = None,
) -> None:
    """
    Say how many labelled rows a gate will need, before you collect them.

    The gate of `verify` is simulated with labels that follow the scores, or are off by --error. Where the
    scores fall is taken from the fit rows of an artifact, or from a file of scores.

    \b
    EXAMPLES
      calibcli plan --max-ece 0.02 --artifact cal.json
      calibcli plan --max-ece 0.02 --artifact cal.json --any-time --error 0.005
      calibcli plan preds.csv --max-ece 0.03 -s score --power 0.8
      calibcli plan --max-ece 0.02 --like preds.csv -s score --error 0.05
      calibcli plan preds.csv --max-ece 0.03 --probs 'p_*' --view one-vs-rest
      calibcli plan preds.csv --max-segment-bias 0.05 -s score --on country,device
    """
    from calibcli.commands.plan import plan_rows
    from calibcli.shell.line import line_of
    from calibcli.shell.output import format_of, request_of, say_notes, write_report

    if file is not None and like is not None:
        msg = f"{file} and --like {like} both say how scores fall"
        raise UsageProblem(msg, "leave out one of them")
    inputs = [one for one in (like, file) if one is not None]
    rows, kind = request_of(inputs, columns, reading, out, artifact), format_of(out)
    report = plan_rows(options, rows)
    write_report(report, kind, out, line_of(context))
    # The other formats hold the notes where they are read.
    notes = () if report.input is None else report.input.notes
    say_notes(notes, quiet=out.quiet or kind is not ReportFormat.JSON)
