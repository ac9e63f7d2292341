"""Tables of files, or of summaries in their place; recalibrated while they are read where a map is named."""

from collections.abc import Sequence
from dataclasses import replace

from calibcli.commands.gathering import RAW, Gathered, gather
from calibcli.commands.right_scale import read_notes, table_scale_notes
from calibcli.data.engines import engine_named
from calibcli.data.fragments import with_fitting_scores
from calibcli.data.tally import NOTHING, Beside, Transforms
from calibcli.options.rows import AS_FOUND, Columns, Reading
from calibcli.options.sources import DocumentSource, RowSource, is_json


def read_tables(
    inputs: Sequence[RowSource],
    columns: Columns,
    *,
    reading: Reading,
    transforms: Transforms | None = None,
    beside: Beside = NOTHING,
    twice: bool = False,
) -> Gathered:
    """Read files or summaries into tables, as `gather` does, in the way asked for."""
    if any(map(is_json, inputs)):
        from calibcli.commands.summaries import gather_summaries, summaries_in

        summaries = summaries_in(inputs)
        if summaries:
            limit = reading.limit
            return gather_summaries(summaries, columns, limit=limit, transforms=transforms, beside=beside)
    return gather(
        inputs,
        columns,
        engine=engine_named(reading.engine, reading.jobs, address=reading.engine_address),
        limit=reading.limit,
        transforms=transforms,
        input_format=reading.input_format,
        beside=beside,
        twice=twice,
        progress=reading.progress,
    )


def with_scores(inputs: Sequence[RowSource], columns: Columns, reading: Reading | None) -> Columns:
    """Return columns with what fits a pattern of scores in its place; summaries have one score."""
    if any(map(is_json, inputs)):
        return columns
    form = AS_FOUND if reading is None else reading.input_format
    return with_fitting_scores(inputs, columns, input_format=form)


def read_judged(
    inputs: Sequence[RowSource],
    columns: Columns,
    *,
    artifact: DocumentSource | None,
    reading: Reading,
    twice: bool = False,
    beside: Beside = NOTHING,
) -> Gathered:
    """Read the rows, recalibrated while they are read if an artifact is given."""
    if artifact is not None:
        return _read_through(artifact, inputs, columns, reading=reading, twice=twice, beside=beside)
    columns.refuse_unseen()
    scores: Transforms = {RAW: None, **dict.fromkeys(beside.columns)}
    gathered = read_tables(inputs, columns, reading=reading, transforms=scores, beside=beside, twice=twice)
    return replace(gathered, notes=read_notes(gathered, columns.read_as))


def _read_through(
    source: DocumentSource,
    inputs: Sequence[RowSource],
    columns: Columns,
    *,
    reading: Reading,
    twice: bool,
    beside: Beside,
) -> Gathered:
    """Read rows through an artifact, raw and recalibrated side by side."""
    from calibcli.commands.evaluation import outputs_through, refuse_applied_twice, through
    from calibcli.documents.artifact import read_class_artifact, read_one_or_members

    several, said = columns.several, columns.scale is not None
    loaded = read_one_or_members(source) if several is None else read_class_artifact(source)
    path = str(source)
    columns, transforms = through(loaded, columns, path)
    if several is not None:
        # Rows may be others in the view of the raw probabilities, whose clusters are not theirs.
        beside = replace(beside, clustered=tuple(key for key in beside.clustered if key != RAW))
        twice = False
    transforms = {**transforms, **dict.fromkeys(beside.columns)}
    gathered = read_tables(
        inputs, columns, reading=reading, transforms=transforms, beside=beside, twice=twice
    )
    outputs = outputs_through(loaded, several)
    refuse_applied_twice(gathered.tables[RAW], outputs, column=gathered.input.score, path=path)
    notes = (*loaded.doubts, *(() if said else table_scale_notes(gathered, loaded)))
    return replace(gathered, artifact=loaded, through=path, outputs=outputs, notes=notes)
