"""calibcli apply."""

from calibcli.cli import options as o
from calibcli.names import ColorWhen, OnRange, ReportFormat
from calibcli.outputs import STDERR


def apply(
    artifact: o.ArtifactFile,
    inputs: o.Inputs,
    output: o.OutFile,
    score: o.Score = None,
    name: o.Column = "calibrated",
    prior: o.Prior = None,
    on_range: o.Range = OnRange.ERROR,
    input_format: o.InputFormat = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
    color: o.Color = ColorWhen.AUTO,
    debug: o.Debug = False,  # noqa: ARG001 - read by the gate in app.py
) -> None:
    """
    Add the recalibrated probability to every row.

    No label is needed, and other columns stay as they are. Venn-Abers adds the two ends of each probability
    as well, in NAME_lower and NAME_upper.

    With --prior the rows are taken to come from a population with another base rate, in which scores given
    the label are distributed as in the fit rows (label shift).

    \b
    EXAMPLES
      calibcli apply cal.json preds.parquet -o repaired.parquet
      calibcli apply cal.json preds.csv -s score --name p -o repaired.csv
      calibcli apply cal.json preds.csv --prior 0.02 -o repaired.csv
      cat preds.csv | calibcli apply cal.json - -o - | head
    """
    from calibcli.cli.output import renderer_for, say
    from calibcli.readers.columns import Columns
    from calibcli.tasks.apply import apply_file

    report = apply_file(
        artifact,
        inputs,
        output=output,
        columns=Columns(score=score, on_range=on_range),
        name=name,
        prior=prior,
        input_format=input_format,
        force=force,
    )
    summary = renderer_for(ReportFormat.TABLE, STDERR, color=color, verbose=verbose)
    say(summary.render(report), quiet=quiet)
