"""Add the recalibrated probability to every row of a file."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import pyarrow as pa

from calibcli.ahead import Progress, unseen
from calibcli.commands.added_columns import (
    AddedColumns,
    Widening,
    added_columns,
    conversion_notes,
    fitted_rate,
    group_columns,
    output_format,
    prepared,
    refuse_names,
    write_widened,
)
from calibcli.commands.destination import Destination, check_output, destination_of
from calibcli.commands.evaluation import ClassMap, member_column, refuse_prior
from calibcli.commands.gathering import choose_columns, with_counted
from calibcli.commands.right_scale import ScaleCheck, class_scale_notes
from calibcli.data.arrays import list_column, list_like, text_column
from calibcli.data.class_intake import ClassIntake
from calibcli.data.class_rows import is_list_of_numbers
from calibcli.data.column_names import folded
from calibcli.data.columns import ChosenColumns, columns_of_classes, resolve
from calibcli.data.engines import engine_named
from calibcli.data.files import Found, InputFile, files_of, fixed_part, found_in, is_pattern
from calibcli.data.formats import compression_of, format_of, split_forced
from calibcli.data.fragment import Fragment
from calibcli.data.fragments import list_fragments
from calibcli.data.intake import Intake, known_groups
from calibcli.data.objects import is_object
from calibcli.data.outputs import COMPLETION, refuse_existing
from calibcli.data.pieces import columns_of, with_path
from calibcli.data.pipes import STDIN
from calibcli.data.readers import reader_of
from calibcli.data.tally import Refused
from calibcli.data.writers.csv import quoted
from calibcli.documents.artifact import Artifact, ClassArtifact, GroupArtifact, read_one_or_members
from calibcli.errors import CalibcliError, OutputProblem, UsageProblem
from calibcli.names import DataFormat, EndsOf, OnSum, OutputSum
from calibcli.options.maps import AS_IT_COMES, Shape
from calibcli.options.rows import AS_FOUND, Columns, InputFormat, Reading, SeveralClasses, refuse_any_sum
from calibcli.reports.apply import ApplyReport, ClassApplyReport, FolderApplyReport
from calibcli.stats.recalibrators.classes.interface import kind_of_ends
from calibcli.stats.table.score_table import Floats


def apply_file(
    artifact: str | Artifact | GroupArtifact,
    inputs: Sequence[str],
    *,
    output: str | Destination,
    columns: Columns | None = None,
    name: str = "calibrated",
    prior: float | None = None,
    input_format: InputFormat = AS_FOUND,
    force: bool = False,
) -> ApplyReport:
    """Apply an artifact to a file; other columns stay as they are, and no label is needed."""
    if len(inputs) != 1:
        msg = f"{len(inputs)} inputs for one output"
        raise UsageProblem(msg, "--out-dir gives each an output of its own")
    path = artifact if isinstance(artifact, str) else None
    to = destination_of(output)
    check_output(to.path, force=force, inputs=inputs, artifact=path)
    found = read_one_or_members(artifact) if isinstance(artifact, str) else artifact
    loaded = found.pooled if isinstance(found, GroupArtifact) else found
    asked = columns or Columns()
    columns = replace(asked, scale=asked.scale or loaded.scale)
    listed = found_in(inputs)
    fragment = only_file(listed, input_format)
    if isinstance(found, GroupArtifact):
        refuse_prior(prior)
        columns = replace(columns, member=member_column(found, columns.on_unseen))
        added = group_columns(found, name=name)
    else:
        added = added_columns(loaded, name=name, prior=prior)
    check = None if asked.scale is not None else ScaleCheck(loaded)
    report = apply_map(added, fragment, columns=columns, output=to, check=check)
    report = replace(report, notes=(*found.doubts, *listed.notes(made=[to.path]), *report.notes))
    return report if prior is None else replace(report, prior=prior, fitted_rate=fitted_rate(loaded))


def apply_map(
    added: AddedColumns,
    fragment: Fragment,
    *,
    columns: Columns,
    output: str | Destination,
    check: ScaleCheck | None = None,
) -> ApplyReport:
    """Apply a map to a file."""
    to = destination_of(output)
    chosen = _chosen(fragment, columns)
    predictor = Predictor(added, Intake(chosen, shown=fragment.shown), check=check)
    job = Widening(
        fragment,
        chosen,
        output_format(to, fragment),
        tuple(pa.field(name, pa.float64()) for name in added.names),
        lambda batch: predictor.of(batch, chosen),
        predictor.intake,
        lambda: predictor.notes,
    )
    job = prepared(job, to.shape.keep)
    rows, notes = write_widened(job, to)
    name, *ends = added.names
    findings = predictor.intake.findings
    return ApplyReport(
        files=(fragment.path,),
        score=chosen.score,
        output=to.path,
        column=name,
        rows=rows,
        clipped=findings.clipped,
        lowest=predictor.lowest,
        highest=predictor.highest,
        notes=(*chosen.notes, *conversion_notes(job), *notes),
        ends=tuple(ends),
        pooled_rows=findings.pooled_rows,
        pooled_groups=tuple(findings.pooled),
    )


def _chosen(fragment: Fragment, columns: Columns) -> ChosenColumns:
    """Find the columns in a file, and that of groups also in its path."""
    member = None if columns.member is None else folded(columns.member.name)
    outside = tuple(one for one in fragment.partitions if folded(one[0]) == member)
    return columns_of(replace(fragment, partitions=outside), columns, labelled=False)


class Predictor:
    """
    From a score column to the new columns, remembering the range of the probabilities.

    Args:
        check: What asks whether the scores are on the scale of the fit; None where that is not asked.
    """

    def __init__(self, added: AddedColumns, intake: Intake, *, check: ScaleCheck | None = None) -> None:
        self.intake = intake
        self._check = check
        self.lowest: float | None = None
        self.highest: float | None = None
        self._values = added.values
        self._of_groups = added.of_groups
        self._shown = intake.shown

    def of(self, batch: pa.RecordBatch, chosen: ChosenColumns) -> tuple[Floats, ...]:
        """Return the new values of every row; batches must come in the order of the file."""
        column = batch.column(chosen.score)
        if chosen.member is None or self._of_groups is None:
            return self(column)
        scores = self._scores(column)
        batch = with_path(batch, chosen, shown=self._shown)
        groups = known_groups(batch, chosen, self.intake.findings, shown=self._shown)
        return self._noted(self._of_groups(scores, groups))

    def __call__(self, column: "pa.Array[Any]") -> tuple[Floats, ...]:
        """Return the new values of every row; columns must come in the order of the file."""
        before = self.intake.findings.rows
        return self._noted(self._values(self._scores(column), before))

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be said of the scores that were read."""
        return () if self._check is None else self._check.notes(self.intake)

    def _scores(self, column: "pa.Array[Any]") -> Floats:
        """Return scores, and remember where they lie."""
        scores = self.intake.scores_of(column)
        if self._check is not None:
            self._check.add(scores)
        return scores

    def _noted(self, values: tuple[Floats, ...]) -> tuple[Floats, ...]:
        """Return values, and remember their range."""
        point = values[0]
        if point.size:
            lowest, highest = float(point.min()), float(point.max())
            self.lowest = lowest if self.lowest is None else min(self.lowest, lowest)
            self.highest = highest if self.highest is None else max(self.highest, highest)
        return values


def only_file(found: Found, input_format: InputFormat) -> Fragment:
    """Return the one file of an input as one fragment."""
    fragments = list_fragments(found, input_format=input_format)
    if len({fragment.path for fragment in fragments}) > 1:
        msg = f"{found.inputs[0]} holds several files"
        raise UsageProblem(msg, "--out-dir gives each an output of its own")
    return replace(fragments[0], row_groups=None)


@dataclass(frozen=True, slots=True)
class ClassAsk:
    """
    What is asked of rows of several classes.

    Args:
        columns: What is to be done with values; its `several` names the columns, or is None to find those
            whose names end in the classes of the fit.
        on_sum: What becomes of a row whose probabilities do not sum to one, where columns are to be found.
        name: What the names of new columns begin with.
    """

    columns: Columns
    on_sum: OnSum = OnSum.ERROR
    name: str = "calibrated"


@dataclass(frozen=True, slots=True)
class FolderAsk:
    """
    What is done with every file.

    Args:
        artifact: The path of the artifact, for messages.
        ask: The columns and the name of the new one.
        prior: Base rate of the rows, or None for that of the fit rows.
        input_format: The format of every input, and how text is written.
        shape: The format of outputs, and which other columns go along.
    """

    artifact: str
    loaded: Artifact | ClassArtifact | GroupArtifact
    ask: ClassAsk
    prior: float | None = None
    input_format: InputFormat = AS_FOUND
    shape: Shape = AS_IT_COMES

    def apply(
        self, inputs: Sequence[str], path: str, *, force: bool, progress: Progress = unseen
    ) -> ApplyReport | ClassApplyReport:
        """Apply the artifact to one file, as `apply_file` and `apply_class_file` do."""
        output = Destination(path, self.shape, progress)
        if isinstance(self.loaded, ClassArtifact):
            return apply_class_file(
                self.loaded,
                inputs,
                artifact=self.artifact,
                output=output,
                ask=self.ask,
                input_format=self.input_format,
                force=force,
            )
        return apply_file(
            self.loaded,
            inputs,
            output=output,
            columns=self.ask.columns,
            name=self.ask.name,
            prior=self.prior,
            input_format=self.input_format,
            force=force,
        )


def apply_class_file(
    loaded: ClassArtifact,
    inputs: Sequence[str],
    *,
    artifact: str,
    output: str | Destination,
    ask: ClassAsk,
    input_format: InputFormat = AS_FOUND,
    force: bool = False,
) -> ClassApplyReport:
    """
    Apply a map of several classes to a file; other columns stay as they are, and no label is needed.

    Each class gets a column `NAME_CLASS`, or all get one column `NAME` of lists where they came as such;
    `NAME_class` is the most probable class, and `NAME_confidence` its probability. Methods with ends add
    those of every class as `NAME_CLASS_lower` and `NAME_CLASS_upper`, or those of the most probable one as
    `NAME_confidence_lower` and `NAME_confidence_upper`.
    """
    if len(inputs) != 1:
        msg = f"{len(inputs)} inputs for one output"
        raise UsageProblem(msg, "--out-dir gives each an output of its own")
    refuse_any_sum(ask.on_sum)
    to = destination_of(output)
    check_output(to.path, force=force, inputs=inputs, artifact=artifact)
    listed = found_in(inputs)
    fragment = only_file(listed, input_format)
    chosen = classes_chosen(loaded, ask, fragment)
    change = ClassMap(loaded, artifact)
    change.order_of(chosen.classes)
    kind = output_format(to, fragment)
    quotes, checked = _delimiter(kind, fragment), ask.columns.scale is None
    predictor = ClassPredictor(change, chosen, fragment, quotes=quotes, checked=checked)
    fields = fields_added(loaded, chosen, fragment, name=ask.name)
    refuse_names([ask.name], (), shown=fragment.shown)
    width = 2 * len(chosen.classes) + len(fields)
    job = Widening(
        fragment, chosen, kind, fields, predictor, predictor.intake, lambda: predictor.notes, width
    )
    job = prepared(job, to.shape.keep)
    rows, notes = write_widened(job, to)
    findings = predictor.intake.findings
    return ClassApplyReport(
        files=(fragment.path,),
        probs=chosen.shown_score,
        output=to.path,
        columns=job.names,
        method=loaded.recalibrator.name,
        classes=chosen.classes,
        rows=rows,
        changed=predictor.changed,
        tied=predictor.tied,
        keeps_prediction=loaded.recalibrator.keeps_prediction,
        clipped=findings.clipped,
        normalised=findings.normalised,
        notes=(
            *loaded.doubts,
            *listed.notes(made=[to.path]),
            *chosen.notes,
            *conversion_notes(job),
            *_ends_notes(loaded),
            *notes,
        ),
    )


class ClassPredictor:
    """
    From the columns of classes to the new columns, counting predictions that change.

    Args:
        quotes: What separates fields of a text file that rows are spliced into, and names of classes are
            quoted for; None for any other.
        checked: Whether to ask if the rows are on the scale of the fit.
    """

    def __init__(
        self,
        change: ClassMap,
        chosen: ChosenColumns,
        fragment: Fragment,
        *,
        quotes: str | None,
        checked: bool = True,
    ) -> None:
        self.intake = ClassIntake(chosen, shown=fragment.shown)
        self.changed = 0
        self.tied = 0
        self._highest = 0.0
        self._checked = checked
        self._change = change
        self._classes = chosen.classes
        self._texts = [one if quotes is None else quoted(one, quotes) for one in chosen.classes]
        self._list = _list_kind(chosen, fragment)

    def __call__(self, batch: pa.RecordBatch) -> tuple["Floats | pa.Array[Any]", ...]:
        """Return the new columns of some rows; they must come in the order of the file."""
        probability = self.intake.probabilities_of(batch)
        after = self._change(probability, self._classes)
        predicted = after.argmax(axis=1)
        before = probability.argmax(axis=1)
        top = probability[np.arange(before.size), before]
        self._highest = float(top.max(initial=self._highest))
        self.tied += int(np.count_nonzero((probability == top[:, None]).sum(axis=1) > 1))
        self.changed += int(np.count_nonzero(before != predicted))
        ends = self._change.ends(probability, after, self._classes)
        return (
            *self._columns(after),
            text_column(self._texts, predicted),
            after[np.arange(predicted.size), predicted],
            *(() if ends is None else _interleaved(ends.lower, ends.upper)),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be said of the rows that were read."""
        if not self._checked:
            return ()
        findings, change = self.intake.findings, self._change
        return class_scale_notes(findings.sums, change.artifact, rows=findings.rows, highest=self._highest)

    def _columns(self, after: Floats) -> tuple["Floats | pa.Array[Any]", ...]:
        if self._list is not None:
            return (list_column(np.ascontiguousarray(after), self._list),)
        return tuple(np.ascontiguousarray(after.T))


def _interleaved(lower: Floats, upper: Floats) -> tuple[Floats, ...]:
    """Return lower and upper ends by turns, of each class or of one."""
    pairs = zip(np.atleast_2d(lower.T), np.atleast_2d(upper.T), strict=True)
    return tuple(np.ascontiguousarray(one) for pair in pairs for one in pair)


def classes_chosen(loaded: ClassArtifact, ask: ClassAsk, fragment: Fragment) -> ChosenColumns:
    """Return the columns named, or those that are found by the names of the classes."""
    header = reader_of(fragment.format).header(fragment)
    columns = replace(ask.columns, scale=ask.columns.scale or loaded.scale)
    if columns.several is not None:
        found = resolve(columns, header, path=fragment.shown, labelled=False)
        if found.probs is not None and found.probs.in_list and not found.classes:
            return replace(found, probs=replace(found.probs, classes=loaded.classes))
        return with_counted(found, fragment)
    lists = [
        field.name
        for field in (reader_of(fragment.format).schema(fragment, _no_columns(columns, header)))
        if is_list_of_numbers(field.type)
    ]
    columns = replace(columns, several=SeveralClasses("", on_sum=ask.on_sum))
    return columns_of_classes(loaded.classes, columns, header, lists=lists, path=fragment.shown)


def _no_columns(columns: Columns, header: Sequence[str]) -> ChosenColumns:
    return ChosenColumns(columns, header[0] if header else "", None)


def _list_kind(chosen: ChosenColumns, fragment: Fragment) -> pa.DataType | None:
    """Return the type of the new column of lists, or None where each class has a column."""
    if chosen.probs is None or not chosen.probs.in_list:
        return None
    schema = reader_of(fragment.format).schema(fragment, chosen)
    return list_like(schema.field(chosen.score).type, len(chosen.classes))


def fields_added(
    loaded: ClassArtifact, chosen: ChosenColumns, fragment: Fragment, *, name: str
) -> tuple["pa.Field[Any]", ...]:
    """Return the new columns."""
    number = pa.float64()
    kind = _list_kind(chosen, fragment)
    each = [f"{name}_{one}" for one in chosen.classes]
    own = [pa.field(one, number) for one in each] if kind is None else [pa.field(name, kind)]
    bracketed: list[str] = []
    match kind_of_ends(loaded.recalibrator):
        case EndsOf.CLASSES:
            bracketed = each
        case EndsOf.PREDICTED:
            bracketed = [f"{name}_confidence"]
        case None:
            pass
    ends = [pa.field(f"{one}_{end}", number) for one in bracketed for end in ("lower", "upper")]
    return (*own, pa.field(f"{name}_class", pa.string()), pa.field(f"{name}_confidence", number), *ends)


def _ends_notes(loaded: ClassArtifact) -> tuple[str, ...]:
    """Say where ends do not bracket what stands beside them."""
    if kind_of_ends(loaded.recalibrator) is not EndsOf.CLASSES:
        return ()
    if loaded.recalibrator.to_dict().get("output_sum") == OutputSum.FREE.value:
        return ()
    return ("ends are those of each class by itself, before rows were divided by their sums",)


def _delimiter(kind: DataFormat, fragment: Fragment) -> str | None:
    """Return what separates fields where rows are spliced, None where a writer quotes by itself."""
    if kind is not fragment.format or not kind.is_csv:
        return None
    return fragment.delimiter or ("\t" if kind is DataFormat.TSV else ",")


def output_pairs(
    inputs: Sequence[str], out_dir: str, *, to: DataFormat | None = None
) -> list[tuple[str, str]]:
    """Return each input file with its output."""
    pairs: list[tuple[str, str]] = []
    taken: dict[str, str] = {}
    for named in inputs:
        for file in files_of([named]):
            if file.path == STDIN or not (is_object(file.path) or Path(file.path).is_file()):
                msg = f"{named} is a pipe, which has no name to give an output"
                raise UsageProblem(msg, "pass -o with a name for it")
            name = _renamed(_below(file.path, _folder_named(named, file)), to)
            output = f"{out_dir.rstrip('/')}/{name}"
            if output in taken:
                msg = f"{file.path} and {taken[output]} would both be written to {output}"
                raise UsageProblem(msg, "apply them to directories of their own")
            taken[output] = file.path
            pairs.append((file.path if file.forced is None else f"{file.path}:{file.forced.value}", output))
    return pairs


def _folder_named(named: str, file: InputFile) -> str:
    """Return the directory that a file was found below, also of a pattern, without the format it forces."""
    named = named if file.forced is None else split_forced(named, exists=False)[0]
    return fixed_part(named) if is_pattern(named) else named


def _below(path: str, named: str) -> str:
    """Return the name of an output below the output directory."""
    path = path.partition("?")[0]
    folder = named.partition("?")[0].rstrip("/") + "/" if named else ""
    below = path[len(folder) :] if path.startswith(folder) else PurePath(path).name
    above = path[: len(path) - len(below)].rstrip("/").split("/")
    columns: list[str] = []
    while above and "=" in above[-1]:
        columns.insert(0, above.pop())
    return "/".join([*columns, below])


def _renamed(name: str, to: DataFormat | None) -> str:
    """Return a name that promises a format; a compression around text stays around text."""
    found = format_of(name)
    if to is None or found is to:
        return name
    pure = PurePath(name)
    compression = "" if compression_of(name) is None else pure.suffix
    if compression:
        pure = pure.with_suffix("")
    stem = pure if found is None else pure.with_suffix("")
    return f"{stem}.{to.value}{compression if to.is_text else ''}"


@dataclass(frozen=True, slots=True)
class FileWork:
    """
    The work on one file: called by an engine with its name and that of its output.

    Args:
        force: Whether an output that is there may be replaced.
    """

    asked: FolderAsk
    force: bool
    folder: str = field(default_factory=os.getcwd)

    def __call__(self, pair: tuple[str, str]) -> ApplyReport | ClassApplyReport | Refused:
        """Apply; a problem is returned, not raised. Reports name files as the user did."""
        path, output = pair
        source, made = self._placed(path), self._placed(output)
        try:
            if not is_object(made):
                Path(made).parent.mkdir(parents=True, exist_ok=True)
            report = self.asked.apply([source], made, force=self.force)
        except OSError as error:
            return Refused(OutputProblem(f"{output} cannot be written: {error.strerror or error}"))
        except CalibcliError as problem:
            return Refused(_apply_folder_renamed(problem, {source: path, made: output}))
        return replace(report, files=(split_forced(path, exists=False)[0],), output=output)

    def _placed(self, name: str) -> str:
        """Return a name that means the same in this process, as the user wrote it where that does."""
        here = is_object(name) or os.getcwd() == self.folder  # noqa: PTH109 - as the folder is
        return name if here else os.path.join(self.folder, name)  # noqa: PTH118


def apply_folder(
    inputs: Sequence[str],
    out_dir: str,
    *,
    asked: FolderAsk,
    force: bool = False,
    skip_existing: bool = False,
    reading: Reading | None = None,
) -> FolderApplyReport:
    """
    Apply an artifact to files; each gets an output of its name, below
    directories as it stands below its own.
    """
    found = found_in(inputs)
    pairs = output_pairs(inputs, out_dir, to=asked.shape.to)
    there = {output for _, output in pairs if _exists(output)}
    sources = [*(file.path for file in found.files), asked.artifact]
    for _, output in pairs:
        if output in there:
            refuse_existing(output, force=force or skip_existing, inputs=sources)
    if isinstance(asked.loaded, Artifact):
        # The same score column in every file, also where it is found by its name.
        fragments = list_fragments(found, input_format=asked.input_format)
        choose_columns(fragments, asked.ask.columns, labelled=False)
    wanted = [pair for pair in pairs if not (skip_existing and pair[1] in there)]
    how = reading or Reading()
    engine = engine_named(how.engine, how.jobs or 1, address=how.engine_address)
    parts: list[ApplyReport | ClassApplyReport] = []
    # On a cluster a file may be worked on once more, when its worker is lost, and then its output is there.
    work = FileWork(asked, force or not engine.shares_interpreter)
    COMPLETION.expect(len(wanted))
    try:
        with _folders_of(output for _, output in wanted), how.progress(len(wanted)) as advance:
            for result in engine.map(work, wanted):
                if isinstance(result, Refused):
                    raise result.problem
                parts.append(result)
                advance(result.rows)
    except CalibcliError as problem:
        # A file, or an engine that gave up.
        raise _with_written(problem, len(parts)) from problem.__cause__
    COMPLETION.expect(0)
    skipped = tuple(output for _, output in pairs if skip_existing and output in there)
    return FolderApplyReport(
        out_dir, tuple(parts), skipped, found.notes(made=[output for _, output in pairs])
    )


@contextmanager
def _folders_of(outputs: Iterable[str]) -> Iterator[None]:
    """Take away folders that were made in the block and hold nothing, should it not end well."""
    folders = {folder for output in outputs if not is_object(output) for folder in Path(output).parents}
    new = [folder for folder in folders if not folder.exists()]
    try:
        yield
    except BaseException:
        for folder in sorted(new, reverse=True):
            with suppress(OSError):
                folder.rmdir()
        raise


def _apply_folder_renamed(problem: CalibcliError, names: Mapping[str, str]) -> CalibcliError:
    """Return a problem that names files as the user did."""
    for placed, name in names.items():
        problem.message = problem.message.replace(placed, name)
        problem.hint = problem.hint and problem.hint.replace(placed, name)
    return problem


def _exists(output: str) -> bool:
    try:
        refuse_existing(output, force=False)
    except OutputProblem:
        return is_object(output) or os.path.lexists(output)
    return False


def _with_written(problem: CalibcliError, written: int) -> CalibcliError:
    """Return a problem that says what came before it."""
    if written:
        done = f"{written:,} file{'s' * (written != 1)} before it {'are' if written != 1 else 'is'} written"
        hint = f"{problem.hint}; " if problem.hint else ""
        problem.hint = f"{hint}{done}: --skip-existing goes on from there"
    return problem
