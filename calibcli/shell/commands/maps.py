"""Commands of fitted maps: fit, apply and export."""

import inspect
import sys
from collections.abc import Iterable
from pathlib import PurePath

from calibcli.data.formats import refuse_promise
from calibcli.data.outputs import check_output, is_terminal, refuse_existing, write_file
from calibcli.errors import IdleOption, OutputProblem, UsageProblem
from calibcli.families import Known
from calibcli.names import STDOUT, ClassMethod, EngineName, ExportTarget, RecalibratorName, SqlForm
from calibcli.options import fitting
from calibcli.options.output import ArtifactFile, Inputs, Output
from calibcli.options.rows import ClassOptions, Columns, Reading, RowRequest, SeveralClasses, is_json
from calibcli.options.segmenting import FitCutting
from calibcli.shell.door import command
from calibcli.shell.output import progress_bar, request_of, say_line, say_notes, say_summary, write
from calibcli.values import replace


@command(
    "score label output method by on probs where positive force | *FitCutting classes group *MapOptions "
    "on_sum *FitOptions *RowSelection *values *InputFormat *Reading allow_edited quiet verbose color debug"
)
def fit(
    rows: RowRequest,
    which: fitting.MapOptions,
    options: fitting.FitOptions,
    cutting: FitCutting,
    out: Output,
) -> None:
    """Fit a recalibrator to labelled predictions.

    The artifact is JSON; without -o it goes to standard output and the summary to standard error.

    \b
    EXAMPLES
      calibcli fit cal.csv -s score -y label -o cal.json
      calibcli fit cal.parquet -s score -y label --method isotonic -o cal.json
      calibcli fit cal.csv -s score -y label --method auto --group patient -o cal.json
      calibcli fit cal.parquet -s score -y label --method scaling-binning --bins 10 -o cal.json
      calibcli fit cal.csv -s score -y label --by country -o cal.json
      calibcli fit cal.csv -s score -y label --method segments --on country,device,age -o cal.json
      calibcli fit cal.parquet --probs 'p_*' -y label --multiclass vector -o cal.json

    \b
    METHODS
      {methods}
      auto              one of these, chosen by cross-validation; identity where
                        no repair is better
      segments          looks at the columns of --on, too: an offset and a slope
                        for their values, offsets for intersections; cautious
                        where rows are few

    \b
    METHODS OF SEVERAL CLASSES
      {class_methods}
    """
    from calibcli.commands.fit import fit_map

    rows = request_of(rows, out)
    refuse_promise(out.output, "json", what="an artifact is JSON", hint="name it cal.json")
    report, artifact = fit_map(rows, which, options, cutting)
    write(artifact, out.output)
    say_summary(replace(report, output=None if out.output == STDOUT else out.output), out)


def _listed(methods: Iterable[Known]) -> str:
    """Return names with their words, as in the text of --help."""
    return "\n  ".join(f"{one.value:18}{one.words}" for one in methods)


# Those that are not made of maps of one score come first.
_OF_CLASSES = sorted(ClassMethod, key=lambda one: one.facts.made_of_maps)
# Python itself takes the indentation off from 3.13 on.
fit.__doc__ = inspect.cleandoc(fit.__doc__ or "").format(
    methods=_listed(RecalibratorName), class_methods=_listed(_OF_CLASSES)
)


@command(
    "output score name keep to out_dir prior probs force | *ApplyOptions *Shape classes on_sum scale "
    "score_map on_missing on_range unseen *InputFormat jobs engine engine_address allow_edited quiet "
    "verbose color debug"
)
def apply(
    artifact: ArtifactFile,
    inputs: Inputs,
    columns: Columns,
    classes: ClassOptions,
    shape: fitting.Shape,
    reading: Reading,
    out: Output,
    options: fitting.ApplyOptions,
) -> None:
    """Add the recalibrated probability to every row.

    No label is needed, and other columns stay as they are, byte for byte in CSV and JSON Lines; --keep says
    which, and --to or the name of the output whether they are written in another format. Venn-Abers adds the
    two ends of each probability as well, in NAME_lower and NAME_upper.

    A map of several classes adds NAME_CLASS for each class, or one column NAME of lists where they came as
    such, NAME_class, the most probable one, and NAME_confidence. Without --probs the columns are those of the
    fit, else those whose names end in its classes.

    With --prior the rows are taken to come from a population with another base rate, in which scores given
    the label are distributed as in the fit rows (label shift).

    With --out-dir every file gets an output of its own name, below directories as it stands below its own:
    partitions such as country=US stay partitions. Files that cannot be opened or have no score column are
    named before anything is written, those with values that cannot be used at the end.

    An output file appears whole or not at all. Standard output has no such promise: rows written before an
    error stay there, so look at the exit code.

    \b
    EXAMPLES
      calibcli apply cal.json preds.parquet -o repaired.parquet
      calibcli apply cal.json preds.csv -s score --name p -o repaired.csv
      calibcli apply cal.json preds.csv --prior 0.02 -o repaired.csv
      calibcli apply cal.json preds.csv --on-missing null --on-range null -o repaired.csv
      calibcli apply classes.json preds.parquet --probs 'p_*' -o repaired.parquet
      calibcli apply cal.json preds.parquet --keep 'id,x_*' -o repaired.jsonl
      calibcli apply cal.json preds/ --out-dir repaired --skip-existing
      cat preds.csv | calibcli apply cal.json | head
    """
    from calibcli.commands.apply import apply_file, apply_folder
    from calibcli.commands.predicting import ApplyRequest, refuse_classes_alone, refuse_strange_to_map
    from calibcli.documents.artifact import ClassArtifact, read_any_map, read_artifact

    _refuse_swapped(artifact, inputs)
    _refuse_places(options, reading)
    out_dir = options.out_dir
    output = STDOUT if out_dir is None and options.output is None else options.output
    if output is not None:
        check_output(output, force=out.force, inputs=inputs, documents=[artifact])
    loaded = read_any_map(artifact)
    of_classes = {"probs": classes.probs, "classes": classes.classes, "on_sum": classes.on_sum}
    refuse_strange_to_map(loaded, prior=options.prior, unseen=columns.on_unseen, **of_classes)
    if isinstance(loaded, ClassArtifact):
        if columns.score is not None:
            read_artifact(artifact)
        if classes.probs is None:
            refuse_classes_alone(classes.classes)
        else:
            columns = replace(columns, several=SeveralClasses.of(classes))
    requested = ApplyRequest(
        artifact, loaded, columns, classes.on_sum, options.name, options.prior, reading.input_format, shape
    )
    progress = progress_bar(quiet=out.quiet)
    if output is not None:
        say_summary(apply_file(requested, inputs, output, force=out.force, progress=progress), out)
    elif out_dir is not None:
        reading = replace(reading, progress=progress)
        skip = options.skip_existing
        say_summary(
            apply_folder(
                inputs, out_dir, requested=requested, force=out.force, skip_existing=skip, reading=reading
            ),
            out,
        )


def _refuse_swapped(artifact: str, inputs: list[str]) -> None:
    """Refuse rows before the artifact, where the names of both say so."""
    if is_json(inputs[0]) and len(inputs) == 1 and not is_json(artifact):
        msg = f"{artifact} stands where the artifact does, and {inputs[0]} where the rows do"
        import shlex

        raise UsageProblem(msg, shlex.join(["calibcli", "apply", inputs[0], artifact]))


def _refuse_places(options: fitting.ApplyOptions, reading: Reading) -> None:
    """Refuse two places, and what is for many files where there is one."""
    output, out_dir = options.output, options.out_dir
    if output is not None and out_dir is not None:
        msg = f"--output {output} and --out-dir {out_dir}"
        raise UsageProblem(msg, "pass -o for one file, or --out-dir for any number")
    # --jobs says how many files at most, and may be a default from a file.
    if out_dir is None and (options.skip_existing, reading.engine) != (False, EngineName.LOCAL):
        msg = "--skip-existing and --engine are for many files"
        raise IdleOption(msg, "pass --out-dir in place of -o", options=("skip-existing", "engine"))


@command(
    "to dialect form view table score probs by unseen name prior *ExportAsk output allow_edited force quiet "
    "debug"
)
def export(artifact: ArtifactFile, ask: fitting.ExportAsk, out: Output) -> None:
    """Write the map of an artifact as SQL, Python, scikit-learn or ONNX.

    What comes out gives the same probabilities as `calibcli apply`, without calibcli. Of a map for each group
    (`fit --by`) SQL reads the column of groups, and the Python module takes the group beside the score.

    \b
    EXAMPLES
      calibcli export cal.json --to sql -s score --table predictions
      calibcli export cal.json --to sql --dialect postgres -o calibrated.sql
      calibcli export cal.json --to sql --dialect trino --as view --view scores.calibrated
      calibcli export cal.json -o calibrated.py
      calibcli export cal.json --to sklearn --prior 0.02 -o calibrated.py
      calibcli export cal.json --to onnx -o calibrated.onnx
    """
    from calibcli.commands.export import TABLE, query_notes
    from calibcli.commands.export import export as exported
    from calibcli.documents.artifact import GroupArtifact, read_any_map

    ask = ask.for_output(out.output)
    ask.refuse_idle()
    if ask.target is ExportTarget.ONNX and out.output == STDOUT and is_terminal(sys.stdout):
        msg = "an ONNX model is not text, and standard output is a terminal"
        raise OutputProblem(msg, "name a file with -o, or send it through a pipe")
    refuse_existing(out.output, force=out.force, inputs=[artifact])
    kind = "python" if ask.target is ExportTarget.SKLEARN else ask.target.value
    ending = ".py" if kind == "python" else f".{kind}"
    refuse_promise(out.output, kind, what=f"--to says {ask.target.value}", hint=f"name it calibrated{ending}")
    if ask.form is SqlForm.DBT and PurePath(out.output).stem == (ask.table or TABLE):
        msg = f"dbt would call the model {ask.table or TABLE}, after its file, which is what it reads"
        raise UsageProblem(msg, "give the file another name, or pass --table MODEL")
    loaded = read_any_map(artifact)
    write_file(out.output, exported(loaded, ask))
    say_notes((*loaded.doubts, *query_notes(loaded, ask)), quiet=out.quiet)
    if out.output != STDOUT:
        one = loaded.pooled if isinstance(loaded, GroupArtifact) else loaded
        what = f"{one.recalibrator.name.value} map{'s' if one is not loaded else ''}"
        say_line(f"{out.output}: the {what} of {artifact} as {ask.target.value}", quiet=out.quiet)
