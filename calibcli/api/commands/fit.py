"""calibcli.fit"""

from typing import TYPE_CHECKING

from calibcli.api.choices import all_chosen, at_least, chosen, maybe_chosen
from calibcli.api.fitting import fitted
from calibcli.api.reading import reading_of
from calibcli.api.recalibrator import Recalibrator
from calibcli.api.rows import Given
from calibcli.api.spoken import reads_documents
from calibcli.names import (
    DEFAULT_FIT_BINS,
    DEFAULT_LEAST_ROWS,
    DEFAULT_MEMORY,
    DEFAULT_SEED,
    BetaForm,
    Binning,
    EngineName,
    FitLoss,
    FitMethod,
    OnMissing,
    OnRange,
    RecalibratorName,
    Split,
)
from calibcli.view_names import DEFAULT_LEAST_CLASS_ROWS, ClassMethod, OnSum, OutputSum

if TYPE_CHECKING:
    from calibcli.api.columns import Values
    from calibcli.api.rows import Column, Names, Rows


@reads_documents
def fit(
    rows: "Rows",
    labels: "Values | None" = None,
    *,
    score: str | None = None,
    label: str | None = None,
    method: str = FitMethod.PLATT,
    probs: "Names | None" = None,
    classes: "Names | None" = None,
    multiclass: str | None = None,
    min_class_rows: int = DEFAULT_LEAST_CLASS_ROWS,
    output_sum: str = OutputSum.ONE,
    on_sum: str = OnSum.ERROR,
    candidate: "Names | None" = None,
    group: "Column | None" = None,
    bins: int = DEFAULT_FIT_BINS,
    binning: str = Binning.EQUAL_MASS,
    split: str = Split.NONE,
    base: str = RecalibratorName.PLATT,
    beta_form: str = BetaForm.ABM,
    folds: int | None = None,
    randomised: bool = False,
    loss: str = FitLoss.LOG,
    smooth_targets: bool = False,
    step: bool = False,
    seed: int = DEFAULT_SEED,
    weight: "Column | None" = None,
    weights_are: str | None = None,
    positive: object = None,
    scale: str | None = None,
    on_missing: str = OnMissing.ERROR,
    on_range: str = OnRange.ERROR,
    by: "Column | None" = None,
    min_group_rows: int = DEFAULT_LEAST_ROWS,
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
    allow_edited: bool = False,  # noqa: ARG001 - heard by `reads_documents`
) -> Recalibrator:
    """
    Fit a recalibrator to labelled predictions, as `calibcli fit` does.

    The same rows give the same artifact, byte for byte, whatever holds them. Fit on rows that trained nothing
    before, and measure on others. Every method, with its paper and what it assumes, is in `docs/methods.md`.

    Args:
        rows: Scores, shape (n,), or probabilities of several classes, shape (n, K), with `labels` beside
            them; a frame; or one path or several: as for `measure`.

        labels: Beside arrays, shape (n,): as for `measure`.

        score: Score column of a frame or of files.

        label: Label column of a frame or of files.

        method: "platt", "isotonic", "beta", "venn-abers" and so on, or "auto" for the one of these that
            cross-validation chooses. With several classes, the method of the maps that `multiclass` is made
            of.

        probs: Columns of several classes in a frame or in files.

        classes: Their names, where the columns do not say them.

        multiclass: "temperature" (the default), "vector", "structured", "matrix", "confidence", "top-label",
            "one-vs-rest" or "one-vs-one".

        min_class_rows: Classes with fewer fit rows share a map.

        output_sum: Of one-vs-rest: "one" divides rows by their sum, "free" leaves classes by themselves.

        on_sum: Rows that do not sum to 1: "error" or "normalise".

        candidate: What "auto" chooses from.

        group: Rows with equal values stay in one fold of "auto": a name or an array.

        bins: Most bins of histogram and scaling-binning.

        binning: How histogram cuts its bins.

        split: "three-way": fit, bins and means of scaling-binning see other rows.

        base: What scaling-binning bins.

        beta_form: Which parameters of beta are free.

        folds: Of the cross-validation of "auto", or of cross venn-abers.

        randomised: Let "smooth" add the kernel's noise to scores first.

        loss: What logistic methods minimise and "auto" compares: "log" or "brier".

        smooth_targets: Aim logistic methods at Platt's smoothed targets.

        step: Make isotonic a step function.

        seed: Of everything that is drawn.

        weight: Weights: a name or an array.

        weights_are: "importance" (the default) or "frequency".

        positive: The label that counts as 1, where labels are not 0 and 1; the artifact keeps it.

        scale: "prob", "logit" or "logprob"; the artifact keeps it.

        on_missing: Rows without a value: "error" or "drop".

        on_range: Scores outside [0, 1]: "error" or "clip".

        by: Fit a map to each group of equal values of this, a name or an array, and one to all rows.

        min_group_rows: Smaller groups share the map of all rows.

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

        allow_edited: Whether documents that were edited after they were written are read all the same, with a
            note.

    Returns:
        The map: `.predict(scores)`, `.save("cal.json")`, `.report`.

    Raises:
        UsageProblem: If the request cannot be what was meant.

        InputProblem: If the rows cannot be read or fitted.

        NotConverged: If the optimum does not exist or is out of reach.
    """
    from calibcli.recalibrators.options import FitOptions

    for keyword, number, least in (
        ("bins", bins, 1),
        ("folds", folds, 2),
        ("seed", seed, 0),
        ("min_class_rows", min_class_rows, 1),
        ("min_group_rows", min_group_rows, 1),
        ("limit", limit, 1),
        ("sample", sample, 1),
    ):
        at_least(least, number, keyword)
    taken = Given(
        rows=rows,
        labels=labels,
        score=score,
        label=label,
        probs=probs,
        classes=classes,
        on_sum=on_sum,
        weight=weight,
        weights_are=weights_are,
        positive=positive,
        scale=scale,
        on_missing=on_missing,
        on_range=on_range,
        by=by,
        where=where,
        limit=limit,
        sample=sample,
        seed=seed,
        group=group,
    ).taken()
    options = FitOptions(
        bins,
        chosen(Binning, binning, "binning"),
        chosen(FitLoss, loss, "loss"),
        smooth_targets,
        step,
        chosen(Split, split, "split"),
        chosen(RecalibratorName, base, "base"),
        chosen(BetaForm, beta_form, "beta_form"),
        folds,
        randomised,
        seed,
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
    return fitted(
        taken,
        chosen(FitMethod, method, "method"),
        options=options,
        candidates=all_chosen(RecalibratorName, candidate, "candidate"),
        multiclass=maybe_chosen(ClassMethod, multiclass, "multiclass"),
        least_rows=min_class_rows,
        least_group_rows=min_group_rows,
        output_sum=chosen(OutputSum, output_sum, "output_sum"),
        reading=reading,
    )
