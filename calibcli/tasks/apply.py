"""Add the recalibrated probability to every row of a file."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from calibcli.documents.artifact import Artifact
from calibcli.documents.group_artifact import GroupArtifact, read_one_or_members
from calibcli.errors import UsageProblem
from calibcli.options.rows import AS_FOUND, Columns, InputFormat
from calibcli.readers.columns import ChosenColumns
from calibcli.readers.files import Found, found_in
from calibcli.readers.files_with_paths import columns_of, with_path
from calibcli.readers.fragments import Fragment, list_fragments
from calibcli.readers.intake import Intake
from calibcli.readers.member_rows import known_groups
from calibcli.readers.names_of_columns import folded
from calibcli.reports.apply import ApplyReport
from calibcli.table.score_table import Floats
from calibcli.tasks.added_columns import AddedColumns, added_columns, fitted_rate, group_columns
from calibcli.tasks.converted import conversion_notes, output_format
from calibcli.tasks.destination import Destination, check_output, destination_of
from calibcli.tasks.group_map import member_column, refuse_prior
from calibcli.tasks.right_scale import ScaleCheck
from calibcli.tasks.widened import prepared, write_widened
from calibcli.tasks.widening import Widening


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
    """
    Apply an artifact to a file; other columns stay as they are, and no label is needed.

    Args:
        artifact: Path of the artifact, or what was read from there.

        inputs: One file, or "-" for standard input.

        output: Where to write, "-" for standard output, or that with the format, the columns that go along
            and who is told of progress. Of a plain name the suffix decides the format, such as `.csv`,
            `.tsv`, `.jsonl`, `.parquet` and `.arrow`; other names keep that of the input.

        columns: Which column is the raw score, and what is to be done with its values; the scale is that of
            the fit. None to find the one with a usual name.

        name: Name of the new column; the ends of a probability, where there are some, are `NAME_lower` and
            `NAME_upper`.

        prior: Base rate of the population that the rows are from, or None for that of the fit rows. Assumes
            that scores given the label are distributed as in the fit rows.

        input_format: The format of the input, and how text is written.

        force: Whether an existing output may be replaced.

    Raises:
        UsageProblem: If there are several inputs, a new column has the name of another, or the base rate is
            impossible or that of the fit rows unknown.

        OutputProblem: If the output exists or cannot be written.

        InputProblem: If something is wrong with the input; then there is no output.
    """
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
    """
    Apply a map to a file.

    Args:
        added: What each row gets.

        fragment: The file as one fragment.

        columns: Which column is the score, and what is to be done with its values.

        output: Where to write.

        check: What asks whether the scores are on the scale of the fit; None where the user said so.

    Raises:
        UsageProblem: If a new column has the name of another, the output's name cannot be meant, or it
            cannot hold a column.
    """
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
        added: What each row gets.

        intake: Checks the scores.

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
        """
        What must be said of the scores that were read.

        Raises:
            InputProblem: If they are on another scale than that of the fit.
        """
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
