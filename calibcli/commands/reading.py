"""Tables of files, or of summaries in their place; recalibrated while they are read where a map is named."""

from collections.abc import Sequence
from typing import TypeVar

from calibcli.commands.gathering import RAW, RECALIBRATED, Gathered, gather
from calibcli.commands.row_checks import label_notes, read_notes, repeated_notes, two_classes_notes
from calibcli.commands.scale_checks import sure_notes, table_scale_notes
from calibcli.data.columns import alike_notes, refuse_null
from calibcli.data.engines import engine_named
from calibcli.data.fragments import looked_at, with_fitting_scores
from calibcli.data.tally import NOTHING, GatherRequest, Transforms
from calibcli.errors import IdleOption, UsageProblem
from calibcli.names import DEFAULT_MEMORY, OnSum
from calibcli.options.declaring import options_given
from calibcli.options.numerals import agreeing, plural
from calibcli.options.rows import AS_FOUND, DocumentSource, RowRequest, is_json
from calibcli.reports.input import InputSummary
from calibcli.show.words import rounded_words, step_words
from calibcli.values import replace

Request = TypeVar("Request", bound=RowRequest)


def read_rows(rows: RowRequest, gather_request: GatherRequest = NOTHING) -> Gathered:
    reading = rows.reading
    if any(map(is_json, rows.inputs)):
        from calibcli.commands.summaries import summaries_in

        if summaries := summaries_in(rows.inputs):
            msg = f"{summaries[0]} is a summary of rows, and this command reads rows"
            raise UsageProblem(msg, "name the files that it was made from")
    if not rows.columns.labelled:
        refuse_null(rows.columns)
    return gather(
        rows.inputs,
        rows.columns,
        engine=engine_named(reading.engine, reading.jobs, address=reading.engine_address),
        limit=reading.limit,
        input_format=reading.input_format,
        gather_request=gather_request,
        progress=reading.progress,
    )


def read_tables(rows: RowRequest, gather_request: GatherRequest = NOTHING) -> Gathered:
    if any(map(is_json, rows.inputs)):
        from calibcli.commands.summaries import gather_summaries, summaries_in

        summaries = summaries_in(rows.inputs)
        reading = rows.reading
        # It is added up here, in no time, as exactly as memory allows.
        workers = replace(reading, input_format=AS_FOUND, exact=False, memory=DEFAULT_MEMORY)
        if summaries and (idle := (*options_given(reading.input_format), *options_given(workers))):
            msg = f"--{idle[0]} says how files are read, and {summaries[0]} is a summary of rows"
            raise IdleOption(msg, "leave it out", options=idle)
        if summaries:
            limit = rows.reading.limit
            return gather_summaries(summaries, rows.columns, limit=limit, gather_request=gather_request)
    return read_rows(rows, gather_request)


def with_scores(rows: Request) -> Request:
    """Return rows with what fits a pattern of scores in its place; summaries have one score."""
    if any(map(is_json, rows.inputs)):
        return rows
    rows = with_classes_of_map(rows)
    columns = with_fitting_scores(rows.inputs, rows.columns, input_format=rows.reading.input_format)
    return replace(rows, columns=columns)


def with_classes_of_map(rows: Request, *, maps: Sequence[DocumentSource] = ()) -> Request:
    """Return rows with the columns of the classes that a map was fitted to, where nothing names a score.

    The map is that of the rows, or the first of those that they are to be compared by.
    """
    columns, path = rows.columns, maps[0] if maps else rows.artifact
    if path is None or not rows.inputs or any(map(is_json, rows.inputs)):
        return rows
    if columns.several is not None or columns.score is not None or columns.others:
        return rows
    from calibcli.commands.predicting import classes_chosen
    from calibcli.documents.artifact import ClassArtifact, read_any_map

    loaded = read_any_map(path)
    if not isinstance(loaded, ClassArtifact):
        return rows
    first = looked_at(rows.inputs, columns, input_format=rows.reading.input_format)
    if first.pipe is not None:
        return rows
    resolved = classes_chosen(loaded, columns, first, on_sum=OnSum.ERROR)
    return replace(rows, columns=replace(columns, several=resolved.requested.several))


def read_evaluation(rows: RowRequest, gather_request: GatherRequest = NOTHING) -> Gathered:
    """Read the rows, through the map where one is named, with what is to be said of them."""
    if rows.artifact is None:
        gathered = _read_unmapped(rows, gather_request)
    else:
        gathered = _read_through(rows.artifact, rows, gather_request)
    one_alone = () if gather_request.classes else two_classes_notes(gathered.input, gathered.resolved.classes)
    # A part is counted by cells of its own, and not by those of groups.
    of_groups = group_notes(gathered, rounded=not gather_request.part)
    return replace(gathered, notes=(*gathered.notes, *one_alone, *of_groups))


def _read_unmapped(rows: RowRequest, gather_request: GatherRequest) -> Gathered:
    rows.columns.refuse_unseen()
    scores: Transforms = {RAW: None, **dict.fromkeys(gather_request.columns)}
    gathered = read_tables(rows, replace(gather_request, transforms=scores))
    names = gathered.resolved.scores
    further = {
        key: names[at] for key, at in gather_request.columns.items() if key not in gather_request.where
    }
    notes = repeated_notes(gathered) + read_notes(gathered, further) + sure_notes(gathered, further)
    return replace(gathered, notes=notes)


def group_notes(gathered: Gathered, *, rounded: bool = True) -> tuple[str, ...]:
    """Say which names of groups differ in capitals alone, and how far scores of groups are rounded.

    Those of all rows may not be, or less.
    """
    slices, by = gathered.extras.slices.values(), gathered.resolved.by
    names = {name for one in slices for name in one.registry.names if len(name) == len(by)}
    alike = (
        note
        for column, values in zip(by, zip(*sorted(names), strict=True), strict=False)
        for note in alike_notes(column, dict.fromkeys(values))
    )
    steps = [one.resolution for one in slices if rounded]
    return (*alike, *rounding_notes(*steps, what="scores of groups"))


def rounding_notes(*steps: float, what: str = "scores") -> tuple[str, ...]:
    """Say to what scores were rounded to fit in memory, where they were."""
    return (rounded_words(step_words(max(steps)), what=what),) if any(steps) else ()


def _read_through(source: DocumentSource, rows: RowRequest, gather_request: GatherRequest) -> Gathered:
    """Read rows through an artifact, raw and recalibrated side by side."""
    from calibcli.commands.through_maps import note_reach, outputs_through, refuse_applied_twice, through
    from calibcli.documents.artifact import Artifact, read_class_artifact, read_one_or_members

    several = rows.columns.several
    scale = rows.columns.scale
    loaded = read_one_or_members(source) if several is None else read_class_artifact(source)
    path = str(source)
    columns, transforms = through(loaded, rows.columns, path)
    if several is not None:
        # Rows may be others in the view of the raw probabilities, whose clusters are not theirs.
        clustered = tuple(key for key in gather_request.clustered if key != RAW)
        gather_request = replace(gather_request, clustered=clustered, twice=False)
    transforms = {**transforms, **dict.fromkeys(gather_request.columns)}
    rows = replace(rows, columns=columns)
    gathered = read_tables(rows, replace(gather_request, transforms=transforms))
    outputs = outputs_through(loaded, several)
    if (
        isinstance(loaded, Artifact)
        and gather_request.pairs[:1] == ((RAW, RECALIBRATED),)
        and gathered.paired
    ):
        # Nothing but the map moves a loss, so that it is known how far: every command has the same interval.
        both = gathered.tables[RAW], gathered.tables[RECALIBRATED]
        note_reach(gathered.paired, [loaded.recalibrator], both[0], sides=both)
    refuse_applied_twice(gathered.tables[RAW], outputs, column=gathered.input.score, path=path)
    scales = () if scale is not None else table_scale_notes(gathered, loaded)
    notes = (*loaded.doubts, *scales, *repeated_notes(gathered), *label_notes(gathered))
    return replace(gathered, artifact=loaded, through=path, outputs=outputs, notes=notes)


def one_label(evaluation: Gathered) -> tuple[str, ...]:
    """Return what to look at where every label is the same, which is seldom what was meant."""
    rows, ones = evaluation.table.total_rows, evaluation.table.total_positive_rows
    if evaluation.input.classes is not None or 0 < ones < rows:
        return ()
    every = "the only row has" if rows == 1 else f"all {rows:,} rows have"
    found, empty = f"{every} label {int(ones > 0)}", empty_means(evaluation.input, int(ones > 0))
    asked = f"is {evaluation.input.label!r} the label column (--label, --positive)?"
    return (f"{found}: {empty or asked}",)


def empty_means(source: InputSummary, label: int) -> str:
    """Return the question that rows left out raise where all others have label 1, as where events alone are
    marked; that there is no event among a few rows is nothing odd.
    """
    if not label or not source.dropped or source.classes is not None:
        return ""
    dropped = f"{plural(source.dropped, 'row')} with a missing value {agreeing(source.dropped, 'was')}"
    return f"{dropped} left out: does that mean 0?"
