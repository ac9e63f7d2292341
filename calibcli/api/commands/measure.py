"""calibcli.measure"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from calibcli.api.choices import at_least, listed, maybe_chosen
from calibcli.api.measured import Measured
from calibcli.api.reading import reading_of
from calibcli.api.rows import Given
from calibcli.api.spoken import reads_documents
from calibcli.errors import IdleOption
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
from calibcli.selection_names import OnUnseen
from calibcli.view_names import OnSum, ViewName

if TYPE_CHECKING:
    from calibcli.api.columns import Values
    from calibcli.api.recalibrator import ArtifactLike
    from calibcli.api.rows import Column, Groups, Names, Rows


@reads_documents
def measure(
    rows: "Rows",
    labels: "Values | None" = None,
    *,
    score: "Names | None" = None,
    label: str | None = None,
    artifact: "ArtifactLike | None" = None,
    probs: "Names | None" = None,
    classes: "Names | None" = None,
    view: str = ViewName.CONFIDENCE,
    one_class: str | None = None,
    on_sum: str = OnSum.ERROR,
    metric: "Names | None" = None,
    power: float = 2.0,
    by: "Groups | None" = None,
    min_group_rows: int = DEFAULT_LEAST_ROWS,
    cluster: "Column | None" = None,
    bins: int | None = None,
    binning: str | None = None,
    edges: Sequence[float] | None = None,
    bounds: bool = False,
    confidence: float = DEFAULT_CONFIDENCE,
    seed: int = DEFAULT_SEED,
    weight: "Column | None" = None,
    weights_are: str | None = None,
    positive: object = None,
    scale: str | None = None,
    on_missing: str = OnMissing.ERROR,
    on_range: str = OnRange.ERROR,
    unseen: str = OnUnseen.ERROR,
    where: "Names | None" = None,
    limit: int | None = None,
    sample: int | None = None,
    raw: bool = False,
    input_format: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    exact: bool = False,
    memory: str = DEFAULT_MEMORY,
    jobs: int | None = None,
    engine: str = EngineName.LOCAL,
    engine_address: str | None = None,
    allow_edited: bool = False,  # noqa: ARG001 - heard by `reads_documents`
) -> Measured:
    """
    Measure miscalibration, each number with bounds that hold, as `calibcli measure` does.

    The same rows give the same bits as in the command, whatever holds them. What each measure estimates,
    under which assumptions its interval holds, and from which paper it is, stands in `docs/methods.md` and in
    the estimate's own `assumptions`; the first of them is mostly that rows are independent.

    Args:
        rows: Scores, shape (n,), with `labels` beside them; probabilities of several classes, shape (n, K);
            a frame of pandas, polars or Arrow, a mapping of names to arrays, or anything with
            `__arrow_c_stream__`; or one path or several, as the command takes them.

        labels: Beside arrays: 0 and 1, booleans, or any values with `positive`, shape (n,). For several
            classes their names, or their places counted from 0.

        score: Score column of a frame or of files; several are measured one by one and compared with the
            first.

        label: Label column of a frame or of files.

        artifact: A `Recalibrator`, or the path of one, that scores go through first.

        probs: Columns of several classes in a frame or in files: names, a pattern such as "p_*", or a column
            of lists.

        classes: Their names in the order of the columns, where those do not say them.

        view: How several classes are seen as one score: "confidence", "top-label" or "one-vs-rest".

        one_class: Only this class, with another view than "confidence".

        on_sum: Rows that do not sum to 1: "error", "normalise" or "accept".

        metric: Only these measures, tests or groups of them, such as "ece", "corp" or "all".

        power: The p of the metric "lp", at least 1.

        by: What makes groups, each measured by itself too: names of columns, or beside arrays an array, a
            frame, or a mapping of names to arrays.

        min_group_rows: Smaller groups are listed, not measured.

        cluster: Rows with equal values are dependent, clusters are not: a name or an array.

        bins: Number of bins; by default 15, or each value of a few-valued score.

        binning: "equal-width", "equal-mass" or "atoms".

        edges: Edges of the bins from 0 to 1, in place of both.

        bounds: Whether "ece", "ece_equal_mass" and "l2" list every other bound.

        confidence: Probability that an interval holds, at most 0.999999.

        seed: Of everything that is drawn; the same seed gives the same bits.

        weight: Weights: a name or an array.

        weights_are: What they mean: "importance" (the default) or "frequency".

        positive: The label that counts as 1, where labels are not 0 and 1.

        scale: What the scores are: "prob", "logit" or "logprob".

        on_missing: Rows without a value: "error" or "drop", which counts them.

        on_range: Scores outside [0, 1]: "error" or "clip", which counts them.

        unseen: Rows of groups that an artifact by groups has not seen: "error" or "pooled".

        where: Only rows that satisfy these conditions on columns, such as "country==US" or "age>=18".

        limit: Only the first so many of them.

        sample: Only so many of them, drawn with `seed`.

        raw: With an artifact, whether the raw scores are measured as well, as with `--verbose`.

        input_format: Format of files; else by content.

        delimiter: What separates the fields of CSV files.

        encoding: How text in files is encoded.

        decimal: What stands before the decimals of numbers in CSV files, a point or a comma.

        exact: Keep every distinct score, whatever memory that takes.

        memory: Beyond this, scores are kept to 1.4e-6 on a grid.

        jobs: Threads; by default one per processor. They never change a digit.

        engine: Where files are read: "local", "dask" or "spark".

        engine_address: Where that engine is.

        allow_edited: Whether documents that were edited after they were written are read all the same, with a
            note.

    Returns:
        The measures, by name: `report.ece.value`, `report["ece"].interval.upper`.

    Raises:
        UsageProblem: If the request cannot be what was meant.

        InputProblem: If something is wrong with a file, a column or a value: what, where, and how many.

        EmptyTable: If no row is left.
    """
    from calibcli.api.recalibrator import artifact_name
    from calibcli.options.measuring import MeasureOptions
    from calibcli.options.metrics import metrics_of
    from calibcli.tasks.measure import measure_files

    for keyword, number, least in (
        ("min_group_rows", min_group_rows, 1),
        ("seed", seed, 0),
        ("bins", bins, 1),
        ("limit", limit, 1),
        ("sample", sample, 1),
    ):
        at_least(least, number, keyword)
    if bounds and cluster is not None:
        msg = "--bounds lists bounds for independent rows, and with --cluster they are not"
        raise IdleOption(msg, "leave out one of them", options=("bounds", "cluster"))
    taken = Given(
        rows=rows,
        labels=labels,
        score=score,
        label=label,
        probs=probs,
        classes=classes,
        view=view,
        one_class=one_class,
        on_sum=on_sum,
        weight=weight,
        weights_are=weights_are,
        positive=positive,
        scale=scale,
        on_missing=on_missing,
        on_range=on_range,
        unseen=unseen,
        where=where,
        limit=limit,
        sample=sample,
        seed=seed,
        by=by,
        cluster=cluster,
    ).taken()
    options = MeasureOptions(
        metrics_of(listed(metric)),
        bins,
        maybe_chosen(Binning, binning, "binning"),
        confidence,
        seed,
        beside_raw=raw,
        power=power,
        least_rows=min_group_rows,
        bounds=bounds,
        edges=None if edges is None else tuple(map(float, edges)),
    )
    reading = reading_of(
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
    )
    report = measure_files(
        taken.inputs, taken.columns, artifact=artifact_name(artifact), options=options, reading=reading
    )
    return Measured(report)
