"""calibcli apply."""

from typing import TYPE_CHECKING

from calibcli.cli import apply_options as a
from calibcli.cli import class_options as k
from calibcli.cli import document_options as d
from calibcli.cli import engine_options as e
from calibcli.cli import input_options as i
from calibcli.cli import options as o
from calibcli.cli import selection_options as s
from calibcli.errors import IdleOption, UsageProblem
from calibcli.names import ColorWhen, EngineName, OnRange, ReportFormat
from calibcli.outputs import STDERR
from calibcli.selection_names import OnUnseen
from calibcli.view_names import OnSum, ViewName

if TYPE_CHECKING:
    from calibcli.reports.apply import ApplyReport
    from calibcli.reports.apply_classes import ClassApplyReport
    from calibcli.reports.apply_folder import FolderApplyReport


def apply(
    artifact: o.ArtifactFile,
    inputs: o.Inputs,
    output: a.OneOut = None,
    out_dir: a.OutDir = None,
    skip_existing: a.SkipExisting = False,
    score: o.Score = None,
    name: a.Column = "calibrated",
    keep: a.Keep = None,
    to: a.ToFormat = None,
    prior: o.Prior = None,
    probs: k.Probs = None,
    classes: k.Classes = None,
    on_sum: k.HowSummed = OnSum.ERROR,
    scale: o.ScoreScale = None,
    on_range: o.Range = OnRange.ERROR,
    unseen: s.Unseen = OnUnseen.ERROR,
    input_format: o.InputFormat = None,
    delimiter: i.Delimiter = None,
    encoding: i.Encoding = None,
    decimal: i.Decimal = None,
    jobs: o.Jobs = None,
    engine: e.EngineChoice = EngineName.LOCAL,
    engine_address: e.EngineAddress = None,
    allow_edited: d.AllowEdited = False,  # noqa: ARG001 - heard where it is declared
    force: o.Force = False,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
    color: o.Color = ColorWhen.AUTO,
    debug: o.Debug = False,  # noqa: ARG001 - read by the gate in app.py
) -> None:
    """
    Add the recalibrated probability to every row.

    No label is needed, and other columns stay as they are, byte for byte in CSV and JSON Lines; --keep says
    which, and --to or the name of the output whether they are written in another format. Venn-Abers adds the
    two ends of each probability as well, in NAME_lower and NAME_upper.

    A map of several classes adds NAME_CLASS for each class, or one column NAME of lists where they came as
    such, NAME_class, the most probable one, and NAME_confidence. Without --probs the columns are those whose
    names end in the classes of the fit.

    With --prior the rows are taken to come from a population with another base rate, in which scores given
    the label are distributed as in the fit rows (label shift).

    With --out-dir every file gets an output of its own name, below directories as it stands below its own:
    partitions such as country=US stay partitions.

    \b
    EXAMPLES
      calibcli apply cal.json preds.parquet -o repaired.parquet
      calibcli apply cal.json preds.csv -s score --name p -o repaired.csv
      calibcli apply cal.json preds.csv --prior 0.02 -o repaired.csv
      calibcli apply classes.json preds.parquet --probs 'p_*' -o repaired.parquet
      calibcli apply cal.json preds.parquet --keep 'id,x_*' -o repaired.jsonl
      calibcli apply cal.json preds/ --out-dir repaired --skip-existing
      cat preds.csv | calibcli apply cal.json - -o - | head
    """
    from calibcli.artifacts.document import Artifact
    from calibcli.artifacts.group_document import GroupArtifact, read_any_map
    from calibcli.artifacts.store import read_artifact, read_class_artifact
    from calibcli.cli.output import renderer_for, say
    from calibcli.cli.progress_bar import progress_bar
    from calibcli.options.rows import Columns
    from calibcli.tasks.apply_asked import ClassAsk, FolderAsk
    from calibcli.tasks.destination import Shape, check_output

    if (output is None) == (out_dir is None):
        msg = "where to?" if output is None else f"--output {output} and --out-dir {out_dir}"
        raise UsageProblem(msg, "pass -o for one file, or --out-dir for any number")
    if output is not None:
        # --jobs says how many files at most, and may be a default from a file.
        if (skip_existing, engine) != (False, EngineName.LOCAL):
            msg = "--skip-existing and --engine are for many files"
            raise IdleOption(msg, "pass --out-dir in place of -o", options=("skip-existing", "engine"))
        check_output(output, force=force, inputs=inputs, artifact=artifact)
    loaded = read_any_map(artifact)
    if unseen is not OnUnseen.ERROR and not isinstance(loaded, GroupArtifact):
        msg = f"--unseen {unseen.value} speaks of groups, and {artifact} has no map for each"
        raise IdleOption(msg, "leave it out, or apply what `calibcli fit --by` wrote", options=("unseen",))
    several = None
    if isinstance(loaded, Artifact | GroupArtifact):
        if (probs, classes, on_sum) != (None, None, OnSum.ERROR):
            read_class_artifact(artifact)
    else:
        if score is not None:
            read_artifact(artifact)
        k.refuse_prior(prior)
        if probs is not None:
            several = k.several_classes(
                probs, classes, on_sum=on_sum, view=ViewName.CONFIDENCE, one_class=None
            )
    columns = Columns(score=score, scale=scale, on_range=on_range, several=several, on_unseen=unseen)
    form = i.input_format_of(input_format, delimiter, encoding, decimal=decimal)
    asked = FolderAsk(artifact, loaded, ClassAsk(columns, on_sum, name), prior, form, Shape(to, a.kept(keep)))
    report: ApplyReport | ClassApplyReport | FolderApplyReport
    progress = progress_bar(quiet=quiet)
    if out_dir is not None:
        from calibcli.options.rows import Reading
        from calibcli.tasks.apply_folder import apply_folder

        reading = Reading(jobs=jobs, engine=engine, engine_address=engine_address, progress=progress)
        report = apply_folder(
            inputs, out_dir, asked=asked, force=force, skip_existing=skip_existing, reading=reading
        )
    else:
        report = asked.apply(inputs, str(output), force=force, progress=progress)
    summary = renderer_for(ReportFormat.TABLE, STDERR, color=color, verbose=verbose)
    say(summary.render(report), quiet=quiet)
