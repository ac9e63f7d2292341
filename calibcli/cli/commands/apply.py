"""calibcli apply."""

from typing import TYPE_CHECKING

from calibcli.cli import class_options as k
from calibcli.cli import options as o
from calibcli.names import ColorWhen, OnRange, ReportFormat
from calibcli.outputs import STDERR
from calibcli.view_names import OnSum, ViewName

if TYPE_CHECKING:
    from calibcli.reports.apply import ApplyReport
    from calibcli.reports.apply_classes import ClassApplyReport


def apply(
    artifact: o.ArtifactFile,
    inputs: o.Inputs,
    output: o.OutFile,
    score: o.Score = None,
    name: o.Column = "calibrated",
    prior: o.Prior = None,
    probs: k.Probs = None,
    classes: k.Classes = None,
    on_sum: k.HowSummed = OnSum.ERROR,
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

    A map of several classes adds NAME_CLASS for each class, or one column NAME of lists where they came as
    such, NAME_class, the most probable one, and NAME_confidence. Without --probs the columns are those whose
    names end in the classes of the fit.

    With --prior the rows are taken to come from a population with another base rate, in which scores given
    the label are distributed as in the fit rows (label shift).

    \b
    EXAMPLES
      calibcli apply cal.json preds.parquet -o repaired.parquet
      calibcli apply cal.json preds.csv -s score --name p -o repaired.csv
      calibcli apply cal.json preds.csv --prior 0.02 -o repaired.csv
      calibcli apply classes.json preds.parquet --probs 'p_*' -o repaired.parquet
      cat preds.csv | calibcli apply cal.json - -o - | head
    """
    from calibcli.artifacts.document import Artifact
    from calibcli.artifacts.store import read_any_artifact, read_artifact, read_class_artifact
    from calibcli.cli.output import renderer_for, say
    from calibcli.readers.columns import Columns
    from calibcli.tasks.destination import check_output

    check_output(output, force=force, inputs=inputs, artifact=artifact)
    loaded = read_any_artifact(artifact)
    report: ApplyReport | ClassApplyReport
    if isinstance(loaded, Artifact):
        from calibcli.tasks.apply import apply_file

        if (probs, classes, on_sum) != (None, None, OnSum.ERROR):
            read_class_artifact(artifact)
        report = apply_file(
            loaded,
            inputs,
            output=output,
            columns=Columns(score=score, on_range=on_range),
            name=name,
            prior=prior,
            input_format=input_format,
            force=force,
        )
    else:
        from calibcli.tasks.apply_classes import ClassAsk, apply_class_file

        if score is not None:
            read_artifact(artifact)
        k.refuse_prior(prior)
        several = None
        if probs is not None:
            several = k.several_classes(
                probs, classes, on_sum=on_sum, view=ViewName.CONFIDENCE, one_class=None
            )
        report = apply_class_file(
            loaded,
            inputs,
            artifact=artifact,
            output=output,
            ask=ClassAsk(Columns(on_range=on_range, several=several), on_sum, name),
            input_format=input_format,
            force=force,
        )
    summary = renderer_for(ReportFormat.TABLE, STDERR, color=color, verbose=verbose)
    say(summary.render(report), quiet=quiet)
