"""calibcli.verify"""

import os
from typing import TYPE_CHECKING

from calibcli.api.choices import all_chosen, at_least, chosen, listed, maybe_chosen
from calibcli.api.judging import StateAsk, judged
from calibcli.api.reading import reading_of
from calibcli.api.rows import Given
from calibcli.api.spoken import reads_documents
from calibcli.api.verified import Verified
from calibcli.errors import UsageProblem
from calibcli.gate_names import Inconclusive
from calibcli.names import (
    DEFAULT_CONFIDENCE,
    DEFAULT_LEAST_ROWS,
    DEFAULT_MEMORY,
    DEFAULT_SEED,
    Binning,
    EngineName,
    MeasureName,
    OnMissing,
    OnRange,
)
from calibcli.selection_names import OnUnseen
from calibcli.view_names import OnSum, ViewName

if TYPE_CHECKING:
    from calibcli.api.columns import Values
    from calibcli.api.documents import ReportLike
    from calibcli.api.recalibrator import ArtifactLike
    from calibcli.api.rows import Column, Groups, Names, Rows


@reads_documents
def verify(
    rows: "Rows | None" = None,
    labels: "Values | None" = None,
    *,
    score: str | None = None,
    label: str | None = None,
    probs: "Names | None" = None,
    classes: "Names | None" = None,
    view: str = ViewName.CONFIDENCE,
    one_class: str | None = None,
    on_sum: str = OnSum.ERROR,
    max_ece: float | None = None,
    max_l2: float | None = None,
    max_linf: float | None = None,
    max_smece: float | None = None,
    max_dce: float | None = None,
    rule: "Names | None" = None,
    artifact: "ArtifactLike | None" = None,
    confidence: float = DEFAULT_CONFIDENCE,
    bins: int | str | None = None,
    binning: str | None = None,
    min_rows: int = DEFAULT_LEAST_ROWS,
    inconclusive: str = Inconclusive.ERROR,
    by: "Groups | None" = None,
    min_group_rows: int | None = None,
    baseline: "ReportLike | None" = None,
    baseline_score: str | None = None,
    max_regression: float | None = None,
    regression_metric: "Names | None" = None,
    state: str | os.PathLike[str] | None = None,
    batch: str | None = None,
    row_id: "Column | None" = None,
    planned_rows: int | None = None,
    alarm: bool = False,
    allow_fit_rows: bool = False,
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
    state_key_file: str | os.PathLike[str] | None = None,
    allow_edited: bool = False,  # noqa: ARG001 - heard by `reads_documents`
) -> Verified:
    """
    Gate on the calibration error, as `calibcli verify` does; a gate that fails is a value, not an exception.

    PASS if the error is shown to be at most the limit, FAIL if above, INCONCLUSIVE if the rows cannot tell;
    each wrong verdict has a probability of at most 1 - `confidence`, if rows are independent and none of them
    trained, chose or calibrated anything. Of several rules, and of groups or classes, all must pass. What
    each gate rests on is in `docs/gate.md`.

    Args:
        rows: As for `measure`; None for what a `state` holds.

        labels: Beside arrays, shape (n,): as for `measure`.

        score: Score column of a frame or of files.

        label: Label column of a frame or of files.

        probs: Columns of several classes in a frame or in files.

        classes: Their names, where the columns do not say them.

        view: As for `measure`; with "one-vs-rest" and "top-label" each class must pass.

        one_class: Only this class.

        on_sum: Rows that do not sum to 1: "error", "normalise" or "accept".

        max_ece: The largest calibration error that passes.

        max_l2: The largest l2 error; few-valued scores only.

        max_linf: The largest error of any value; few-valued scores only.

        max_smece: The largest smooth calibration error.

        max_dce: The largest distance to calibration.

        rule: Further rules, such as "smece.upper<=0.03", "bias.lower>=-0.01" or "ks.p>=0.01".

        artifact: A `Recalibrator`, or the path of one, that scores go through first.

        confidence: 1 - delta: the probability that a verdict is right.

        bins: Number of equal-width bins, or "none" for each value of a few-valued score.

        binning: "equal-width" or "atoms".

        min_rows: Below so many rows, or ten of the rarer label, nothing is concluded.

        inconclusive: What that counts as for `.passed`: "error" and "fail" are no pass, "pass" is one.

        by: Every rule holds in each of these groups too: as for `measure`.

        min_group_rows: Smaller groups are listed, not judged.

        baseline: What `measure` returned, or a report it was saved to, to compare with.

        baseline_score: A score column to compare with row by row.

        max_regression: The most that a measure may exceed the baseline's by.

        regression_metric: Which measure that is; "ece" by default.

        state: A file that keeps what was counted, so that the gate may be asked again as rows come in.

        batch: Name of these rows in the state; by default their digest.

        row_id: Identity of each row, so that none is counted twice in the state: a name or an array.

        planned_rows: Rows that the state will hold in the end.

        alarm: Fail once the score is no longer calibrated, whenever that began.

        allow_fit_rows: Judge an artifact by its own fit rows after all.

        weight: Weights: a name or an array.

        weights_are: "importance" (the default) or "frequency".

        positive: The label that counts as 1, where labels are not 0 and 1.

        scale: "prob", "logit" or "logprob".

        on_missing: Rows without a value: "error" or "drop".

        on_range: Scores outside [0, 1]: "error" or "clip".

        unseen: Rows of groups that an artifact by groups has not seen: "error" or "pooled".

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

        state_key_file: The file of the key that signs the state; by default the variable CALIBCLI_STATE_KEY,
            if set.

        allow_edited: Whether documents that were edited after they were written are read all the same, with a
            note.

    Returns:
        The verdict: `.passed`, `.status`, `.rules`.

    Raises:
        UsageProblem: If there is no rule, or one for which such a score has no bound.

        InputProblem: If something is wrong with a value, or the rows are those the artifact was fitted on.
    """
    from calibcli.api.documents import report_name
    from calibcli.api.recalibrator import artifact_name
    from calibcli.tasks.baseline import regression_of
    from calibcli.tasks.rules import bins_of_gate, require_some, rules_of
    from calibcli.tasks.verify import VerifyOptions

    for keyword, number in (
        ("min_rows", min_rows),
        ("min_group_rows", min_group_rows),
        ("planned_rows", planned_rows),
        ("limit", limit),
        ("sample", sample),
    ):
        at_least(1, number, keyword)
    limits = {
        MeasureName.ECE: max_ece,
        MeasureName.L2: max_l2,
        MeasureName.LINF: max_linf,
        MeasureName.SMECE: max_smece,
        MeasureName.DCE: max_dce,
    }
    metrics = all_chosen(MeasureName, regression_metric, "regression_metric")
    regression = regression_of(
        report_name(baseline), baseline_score, limit=max_regression, measures=metrics or None
    )
    options = VerifyOptions(
        rules_of(limits, listed(rule)),
        confidence,
        *bins_of_gate(None if bins is None else str(bins), maybe_chosen(Binning, binning, "binning")),
        min_rows,
        chosen(Inconclusive, inconclusive, "inconclusive"),
        allow_fit_rows,
        min_group_rows,
        regression,
    )
    if not alarm:
        asked_of = [*options.rules, *([] if regression is None else [regression])]
        require_some(asked_of, state=None if state is None else str(state))
    if rows is None and state is None:
        msg = "no rows, and no state that holds some"
        raise UsageProblem(msg, "pass scores and labels, a frame, or paths")
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
        row_id=row_id,
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
    kept = StateAsk(
        None if state is None else os.fspath(state), batch, planned_rows, alarm, state_key_file is not None
    )
    report = judged(taken, options, kept, artifact=artifact_name(artifact), reading=reading)
    return Verified(report)
