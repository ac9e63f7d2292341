"""calibcli apply."""

from dataclasses import replace

from calibcli.errors import IdleOption, UsageProblem
from calibcli.names import STDOUT, EngineName, OnUnseen
from calibcli.options.fitting import NO_SCORE, OFF_SUM, OUT_OF_RANGE, ApplyOptions, Shape
from calibcli.options.output import ArtifactFile, Inputs, Output
from calibcli.options.rows import ClassOptions, Columns, Reading, SeveralClasses, is_json
from calibcli.shell.door import command


@command(
    "output score name keep to out_dir prior probs force | skip_existing classes on_sum scale score_map "
    "on_missing on_range unseen *format jobs engine engine_address allow_edited force quiet verbose color "
    "debug",
    on_missing=NO_SCORE,
    on_range=OUT_OF_RANGE,
    on_sum=OFF_SUM,
)
def apply(
    artifact: ArtifactFile,
    inputs: Inputs,
    columns: Columns,
    classes: ClassOptions,
    shape: Shape,
    reading: Reading,
    out: Output,
    options: ApplyOptions,
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
    from calibcli.commands.predicting import ApplyRequest
    from calibcli.data.outputs import check_output
    from calibcli.documents.artifact import (
        ClassArtifact,
        GroupArtifact,
        read_any_map,
        read_artifact,
        read_class_artifact,
    )
    from calibcli.shell.output import progress_bar, say_summary

    _refuse_swapped(artifact, inputs)
    _refuse_places(options, reading)
    out_dir = options.out_dir
    output = STDOUT if out_dir is None and options.output is None else options.output
    if output is not None:
        check_output(output, force=out.force, inputs=inputs, artifact=artifact)
    loaded = read_any_map(artifact)
    if columns.on_unseen is not OnUnseen.ERROR and not isinstance(loaded, GroupArtifact):
        msg = f"--unseen {columns.on_unseen.value} speaks of groups, and {artifact} has no map for each"
        raise IdleOption(msg, "leave it out, or apply what `calibcli fit --by` wrote", options=("unseen",))
    if not isinstance(loaded, ClassArtifact):
        if classes != ClassOptions():
            read_class_artifact(artifact)
    else:
        if columns.score is not None:
            read_artifact(artifact)
        if options.prior is not None:
            msg = "--prior is the base rate of one label, and the map was fitted to several classes"
            raise UsageProblem(msg, "leave it out, or fit again on rows of the population meant")
        if classes.probs is not None:
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


def _refuse_places(options: ApplyOptions, reading: Reading) -> None:
    """Refuse two places, and what is for many files where there is one."""
    output, out_dir = options.output, options.out_dir
    if output is not None and out_dir is not None:
        msg = f"--output {output} and --out-dir {out_dir}"
        raise UsageProblem(msg, "pass -o for one file, or --out-dir for any number")
    # --jobs says how many files at most, and may be a default from a file.
    if out_dir is None and (options.skip_existing, reading.engine) != (False, EngineName.LOCAL):
        msg = "--skip-existing and --engine are for many files"
        raise IdleOption(msg, "pass --out-dir in place of -o", options=("skip-existing", "engine"))
