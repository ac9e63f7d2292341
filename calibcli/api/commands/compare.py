"""calibcli.compare"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from calibcli.api.choices import at_least, listed, maybe_chosen
from calibcli.api.compared import Compared
from calibcli.api.reading import reading_of
from calibcli.api.rows import Given
from calibcli.api.spoken import reads_documents
from calibcli.names import (
    DEFAULT_CONFIDENCE,
    DEFAULT_MEMORY,
    DEFAULT_SEED,
    Binning,
    EngineName,
    OnMissing,
    OnRange,
)
from calibcli.view_names import OnSum, ViewName

if TYPE_CHECKING:
    from calibcli.api.columns import Values
    from calibcli.api.recalibrator import ArtifactLike
    from calibcli.api.rows import Column, Names, Rows


@reads_documents
def compare(
    rows: "Rows",
    labels: "Values | None" = None,
    *,
    score: "Names | None" = None,
    label: str | None = None,
    probs: "Names | None" = None,
    classes: "Names | None" = None,
    view: str = ViewName.CONFIDENCE,
    one_class: str | None = None,
    on_sum: str = OnSum.ERROR,
    artifact: "ArtifactLike | Sequence[ArtifactLike] | None" = None,
    metric: "Names | None" = None,
    fail_if_worse: bool = False,
    allow_fit_rows: bool = False,
    bins: int | None = None,
    binning: str | None = None,
    confidence: float = DEFAULT_CONFIDENCE,
    weight: "Column | None" = None,
    weights_are: str | None = None,
    positive: object = None,
    scale: str | None = None,
    on_missing: str = OnMissing.ERROR,
    on_range: str = OnRange.ERROR,
    where: "Names | None" = None,
    limit: int | None = None,
    sample: int | None = None,
    seed: int = DEFAULT_SEED,
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
) -> Compared:
    """
    Compare two models on the same rows, as `calibcli compare` does: differences with intervals, row by row.

    The first score or artifact is the baseline; with one artifact, the raw score is. Intervals assume
    independent rows that neither model was trained on.

    Args:
        rows: A frame, a mapping of two names to scores, or paths; scores of shape (n,) or probabilities of
            shape (n, K) with an artifact: as for `measure`.

        labels: Beside arrays, shape (n,): as for `measure`.

        score: The two score columns of a frame or of files; those of a mapping of two are known.

        label: Label column of a frame or of files.

        probs: Columns of several classes in a frame or in files.

        classes: Their names, where the columns do not say them.

        view: As for `measure`.

        one_class: Only this class.

        on_sum: Rows that do not sum to 1: "error", "normalise" or "accept".

        artifact: A `Recalibrator` or the path of one, or two of these.

        metric: Only these measures; by default five.

        fail_if_worse: Whether `worse_by` says by which of them the second is shown to be worse.

        allow_fit_rows: Compare artifacts on their own fit rows after all.

        bins: Number of bins.

        binning: "equal-width", "equal-mass" or "atoms".

        confidence: Probability that an interval holds.

        weight: Weights: a name or an array.

        weights_are: "importance" (the default) or "frequency".

        positive: The label that counts as 1, where labels are not 0 and 1.

        scale: "prob", "logit" or "logprob".

        on_missing: Rows without a value: "error" or "drop".

        on_range: Scores outside [0, 1]: "error" or "clip".

        where: Only rows that satisfy these conditions on columns, such as "country==US" or "age>=18".

        limit: Only the first so many of them.

        sample: Only so many of them, drawn with `seed`.

        seed: Of that draw.

        input_format: Format of files; else by content.

        delimiter: What separates the fields of CSV files.

        encoding: How text in files is encoded.

        decimal: What stands before the decimals of numbers in CSV files, a point or a comma.

        exact: Keep every distinct score, whatever memory that takes.

        memory: Beyond this, scores are kept to 1.4e-6 on a grid.

        jobs: Threads; by default one per processor.

        engine: Where files are read: "local", "dask" or "spark".

        engine_address: Where that engine is.

        allow_edited: Whether documents that were edited after they were written are read all the same, with a
            note.

    Returns:
        The comparison, by measure: `found["brier"].difference.interval`.

    Raises:
        UsageProblem: If there are not two things to compare.

        InputProblem: If something is wrong with a column or a value.
    """
    from calibcli.api.pairs import artifact_names, pair_of
    from calibcli.options.measuring import CompareOptions
    from calibcli.options.metrics import compared_metrics
    from calibcli.tasks.compare import compare_files

    for keyword, number, least in (
        ("bins", bins, 1),
        ("limit", limit, 1),
        ("sample", sample, 1),
        ("seed", seed, 0),
    ):
        at_least(least, number, keyword)
    options = CompareOptions(
        compared_metrics(listed(metric)),
        bins,
        maybe_chosen(Binning, binning, "binning"),
        confidence,
        fail_if_worse,
        allow_fit_rows,
    )
    taken = Given(
        rows=rows,
        labels=labels,
        score=pair_of(rows, labels, score=score, probs=probs),
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
        where=where,
        limit=limit,
        sample=sample,
        seed=seed,
    ).taken()
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
    report = compare_files(
        taken.inputs,
        taken.columns,
        artifacts=artifact_names(artifact),
        options=options,
        reading=reading,
    )
    return Compared(report)
