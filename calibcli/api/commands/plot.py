"""calibcli.plot"""

import os
from typing import TYPE_CHECKING

from calibcli.api.choices import at_least, chosen, maybe_chosen
from calibcli.api.reading import reading_of
from calibcli.api.rows import Given
from calibcli.api.spoken import reads_documents
from calibcli.names import (
    DEFAULT_CONFIDENCE,
    DEFAULT_LEAST_ROWS,
    DEFAULT_MEMORY,
    DEFAULT_SEED,
    Binning,
    EngineName,
    OnMissing,
    OnRange,
)
from calibcli.picture_names import AxisScale, FigureSize, PlotKind, Theme
from calibcli.view_names import OnSum, ViewName

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from calibcli.api.columns import Values
    from calibcli.api.measured import Measured
    from calibcli.api.recalibrator import ArtifactLike, Recalibrator
    from calibcli.api.rows import Column, Groups, Names, Rows
    from calibcli.api.saved import SavedReport


@reads_documents
def plot(
    rows: "Rows | Measured | SavedReport | Recalibrator",
    labels: "Values | None" = None,
    *,
    path: str | os.PathLike[str] | None = None,
    score: "Names | None" = None,
    label: str | None = None,
    probs: "Names | None" = None,
    classes: "Names | None" = None,
    view: str = ViewName.CONFIDENCE,
    one_class: str | None = None,
    on_sum: str = OnSum.ERROR,
    kind: str | None = None,
    artifact: "ArtifactLike | None" = None,
    by: "Groups | None" = None,
    min_group_rows: int = DEFAULT_LEAST_ROWS,
    size: str = FigureSize.PAGE,
    theme: str = Theme.LIGHT,
    axis: str = AxisScale.LINEAR,
    title: str | None = None,
    bins: int | None = None,
    binning: str | None = None,
    confidence: float = DEFAULT_CONFIDENCE,
    seed: int = DEFAULT_SEED,
    weight: "Column | None" = None,
    weights_are: str | None = None,
    positive: object = None,
    scale: str | None = None,
    on_missing: str = OnMissing.ERROR,
    on_range: str = OnRange.ERROR,
    where: "Names | None" = None,
    limit: int | None = None,
    sample: int | None = None,
    input_format: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    exact: bool = False,
    memory: str = DEFAULT_MEMORY,
    jobs: int | None = None,
    engine: str = EngineName.LOCAL,
    engine_address: str | None = None,
    force: bool = False,
    allow_edited: bool = False,  # noqa: ARG001 - heard by `reads_documents`
) -> "Figure":
    """
    Draw a reliability diagram with the error in it, or another diagram, as `calibcli plot` does.

    What each diagram shows, its bands and what they assume is in `docs/pictures.md`.

    Args:
        rows: As for `measure`; or what `measure`, `fit` or `load` returned, a report on file, or the state of
            a gate, of which nothing is measured again.

        labels: Beside arrays, shape (n,): as for `measure`.

        path: Where to write it as well: .png, .svg or .pdf, the bytes that the command writes.

        score: Score column of a frame or of files; several are drawn beside each other.

        label: Label column of a frame or of files.

        probs: Columns of several classes in a frame or in files.

        classes: Their names, where the columns do not say them.

        view: As for `measure`; "one-vs-rest" and "top-label" draw one panel a class.

        one_class: Only this class.

        on_sum: Rows that do not sum to 1: "error", "normalise" or "accept".

        kind: "smooth", "binned", "isotonic", "cumulative", "residual", "map", "murphy", "decision",
            "compare", "classes", "groups" or "monitor"; by default what the rows imply.

        artifact: A `Recalibrator`, or the path of one; with kind="compare" raw and recalibrated.

        by: What makes groups, of which the worst are drawn: as for `measure`.

        min_group_rows: Smaller groups are left out.

        size: "column", "page" or "slide".

        theme: "light" or "dark".

        axis: "linear" or "logit".

        title: Title of the picture; by default what was read, and the column.

        bins: Number of bins.

        binning: "equal-width", "equal-mass" or "atoms".

        confidence: Of bands and intervals.

        seed: Of everything that is drawn by chance.

        weight: Weights: a name or an array.

        weights_are: "importance" (the default) or "frequency".

        positive: The label that counts as 1, where labels are not 0 and 1.

        scale: "prob", "logit" or "logprob".

        on_missing: Rows without a value: "error" or "drop".

        on_range: Scores outside [0, 1]: "error" or "clip".

        where: Only rows that satisfy these conditions on columns, such as "country==US" or "age>=18".

        limit: Only the first so many of them.

        sample: Only so many of them, drawn with `seed`.

        input_format: Format of files; else by content.

        delimiter: What separates the fields of CSV files.

        encoding: How text in files is encoded.

        decimal: What stands before the decimals of numbers in CSV files, a point or a comma.

        exact: Keep every distinct score, whatever memory that takes.

        memory: Beyond this, scores are kept to 1.4e-6 on a grid.

        jobs: Threads; by default one per processor.

        engine: Where files are read: "local", "dask" or "spark".

        engine_address: Where that engine is.

        force: Whether an existing `path` may be replaced.

        allow_edited: Whether documents that were edited after they were written are read all the same, with a
            note.

    Returns:
        A matplotlib `Figure` that pyplot knows nothing of; a notebook shows it, `.savefig` writes it.

    Raises:
        UsageProblem: If there is nothing to draw, or something was asked that would have no effect.

        InputProblem: If something is wrong with a column or a value.

        OutputProblem: If `path` exists or cannot be written.
    """
    from calibcli.api.documents import document_name
    from calibcli.api.drawing import PictureAsk, drawn_figure
    from calibcli.api.recalibrator import artifact_name
    from calibcli.options.measuring import MeasureOptions
    from calibcli.tasks.pictures.diagram import PlotRequest

    at_least(1, min_group_rows, "min_group_rows")
    at_least(0, seed, "seed")
    for keyword, number in (("bins", bins), ("limit", limit), ("sample", sample)):
        at_least(1, number, keyword)
    seen = chosen(ViewName, view, "view")
    picture = PictureAsk(
        None if path is None else os.fspath(path),
        chosen(FigureSize, size, "size"),
        chosen(Theme, theme, "theme"),
        chosen(AxisScale, axis, "axis"),
        title,
        force,
    )
    document = document_name(rows)
    # A document says itself what its classes are, so that a view may be asked of it by itself.
    of_document = document is not None or (probs is None and str(rows)[-5:] == ".json")
    taken = Given(
        rows=document or rows,
        labels=labels,
        score=score,
        label=label,
        probs=probs,
        classes=classes,
        view=ViewName.CONFIDENCE if of_document else seen,
        one_class=one_class,
        on_sum=on_sum,
        weight=weight,
        weights_are=weights_are,
        positive=positive,
        scale=scale,
        on_missing=on_missing,
        on_range=on_range,
        where=where,
        limit=limit,
        sample=sample,
        seed=seed,
        by=by,
    ).taken()
    request = PlotRequest(
        taken.inputs,
        taken.columns,
        maybe_chosen(PlotKind, kind, "kind"),
        artifact_name(artifact),
        MeasureOptions(
            bins=bins,
            binning=maybe_chosen(Binning, binning, "binning"),
            confidence=confidence,
            seed=seed,
            least_rows=min_group_rows,
        ),
        reading_of(
            in_memory=taken.in_memory,
            input_format=input_format,
            delimiter=delimiter,
            encoding=encoding,
            decimal=decimal,
            exact=exact,
            memory=memory,
            jobs=jobs,
            engine=engine,
            engine_address=engine_address,
        ),
        None if seen is ViewName.CONFIDENCE else seen,
    )
    return drawn_figure(request, picture)
