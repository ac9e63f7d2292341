"""Add the recalibrated probability to every row of a file."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from calibcli.artifacts.document import Artifact
from calibcli.artifacts.store import read_artifact
from calibcli.errors import UsageProblem
from calibcli.names import DataFormat
from calibcli.readers import reader_of
from calibcli.readers.columns import Columns, resolve
from calibcli.readers.fragments import Fragment, list_fragments
from calibcli.readers.intake import Intake
from calibcli.reports.apply import ApplyReport
from calibcli.table.score_table import Floats
from calibcli.tasks.added_columns import AddedColumns, added_columns, fitted_rate
from calibcli.tasks.destination import check_output
from calibcli.tasks.widened import Widening, output_format, refuse_names, text_note, write_widened


def apply_file(
    artifact: str | Artifact,
    inputs: Sequence[str],
    *,
    output: str,
    columns: Columns | None = None,
    name: str = "calibrated",
    prior: float | None = None,
    input_format: DataFormat | None = None,
    force: bool = False,
) -> ApplyReport:
    """
    Apply an artifact to a file; other columns stay as they are, and no label is needed.

    Args:
        artifact: Path of the artifact, or what was read from there.

        inputs: One file, or "-" for standard input.

        output: Where to write, "-" for standard output. The suffixes `.csv`, `.tsv` and `.parquet` decide
            the format; other names keep that of the input.

        columns: Which column is the raw score, and what is to be done with its values; the scale is that of
            the fit. None to find the one with a usual name.

        name: Name of the new column; the ends of a probability, where there are some, are `NAME_lower` and
            `NAME_upper`.

        prior: Base rate of the population that the rows are from, or None for that of the fit rows. Assumes
            that scores given the label are distributed as in the fit rows.

        input_format: The format of the input, or None to look.

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
    check_output(output, force=force, inputs=inputs, artifact=path)
    loaded = read_artifact(artifact) if isinstance(artifact, str) else artifact
    columns = replace(columns or Columns(), scale=loaded.scale)
    fragment = only_file(inputs[0], input_format)
    added = added_columns(loaded, name=name, prior=prior)
    report = apply_map(added, fragment, columns=columns, output=output)
    return report if prior is None else replace(report, prior=prior, fitted_rate=fitted_rate(loaded))


def apply_map(added: AddedColumns, fragment: Fragment, *, columns: Columns, output: str) -> ApplyReport:
    """
    Apply a map to a file.

    Args:
        added: What each row gets.

        fragment: The file as one fragment.

        columns: Which column is the score, and what is to be done with its values.

        output: Where to write.

    Raises:
        UsageProblem: If a new column has the name of another, or the output's name cannot be meant.
    """
    header = reader_of(fragment.format).header(fragment)
    chosen = resolve(columns, header, path=fragment.shown, labelled=False)
    refuse_names(added.names, header, shown=fragment.shown)
    predictor = Predictor(added, Intake(chosen, shown=fragment.shown))
    job = Widening(
        fragment,
        chosen,
        output_format(output, fragment),
        tuple(pa.field(name, pa.float64()) for name in added.names),
        lambda batch: predictor(batch.column(chosen.score)),
        predictor.intake,
    )
    rows = write_widened(job, output)
    name, *ends = added.names
    return ApplyReport(
        files=(fragment.path,),
        score=chosen.score,
        output=output,
        column=name,
        rows=rows,
        clipped=predictor.intake.findings.clipped,
        lowest=predictor.lowest,
        highest=predictor.highest,
        notes=(*chosen.notes, *text_note(job)),
        ends=tuple(ends),
    )


class Predictor:
    """
    From a score column to the new columns, remembering the range of the probabilities.

    Args:
        added: What each row gets.

        intake: Checks the scores.
    """

    def __init__(self, added: AddedColumns, intake: Intake) -> None:
        self.intake = intake
        self.lowest: float | None = None
        self.highest: float | None = None
        self._values = added.values

    def __call__(self, column: "pa.Array[Any]") -> tuple[Floats, ...]:
        """Return the new values of every row; columns must come in the order of the file."""
        before = self.intake.findings.rows
        values = self._values(self.intake.scores_of(column), before)
        point = values[0]
        if point.size:
            lowest, highest = float(point.min()), float(point.max())
            self.lowest = lowest if self.lowest is None else min(self.lowest, lowest)
            self.highest = highest if self.highest is None else max(self.highest, highest)
        return values


def only_file(path: str, input_format: DataFormat | None) -> Fragment:
    """Return the one file of an input as one fragment."""
    fragments = list_fragments([path], input_format=input_format)
    if len({fragment.path for fragment in fragments}) > 1:
        msg = f"{path} holds several files"
        raise UsageProblem(msg, "--out-dir gives each an output of its own")
    return replace(fragments[0], row_groups=None)
