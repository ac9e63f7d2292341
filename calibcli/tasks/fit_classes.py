"""Fit a map of several classes to labelled predictions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibcli.documents.class_artifact import ClassArtifact, ClassFitRecord
from calibcli.documents.store import artifact_text
from calibcli.engines import default_workers
from calibcli.errors import IdleOption, UsageProblem
from calibcli.names import EngineName, FitMethod, RecalibratorName
from calibcli.options.rows import Columns, Reading, bytes_of, refuse_any_sum
from calibcli.readers.beside import Beside
from calibcli.recalibrators.classes import fit_class_recalibrator
from calibcli.recalibrators.classes.interface import ClassFitOptions, ClassRecalibrator, ClassTables
from calibcli.recalibrators.classes.softmax import least_of, require_several
from calibcli.reports.fit_classes import ClassFitReport
from calibcli.table.class_rows_again import ClassRowSource
from calibcli.table.class_sums import log_loss_of
from calibcli.table.digest import digest
from calibcli.table.exact_sum import ExactSum
from calibcli.table.quantiles import score_quantiles
from calibcli.tasks.class_source import source_of
from calibcli.tasks.gather import RAW, Gathered
from calibcli.tasks.reading import read_tables
from calibcli.tasks.right_scale import read_notes
from calibcli.tasks.what_was_read import selection_notes
from calibcli.view_names import DEFAULT_LEAST_CLASS_ROWS, ClassMethod, OutputSum, ViewName

_OF_MEMBERS = (ClassMethod.CONFIDENCE, ClassMethod.TOP_LABEL, ClassMethod.ONE_VS_REST, ClassMethod.ONE_VS_ONE)

# Methods that are made of maps of one score.
OF_MEMBERS = (
    ClassMethod.CONFIDENCE,
    ClassMethod.TOP_LABEL,
    ClassMethod.ONE_VS_REST,
    ClassMethod.ONE_VS_ONE,
)
_FROM_TABLES = (ClassMethod.CONFIDENCE, ClassMethod.TOP_LABEL, ClassMethod.ONE_VS_REST)


def inner_method(method: ClassMethod, inner: FitMethod) -> RecalibratorName:
    """
    Return the method of the maps that a method of several classes is made of.

    Raises:
        UsageProblem: If it is made of none and one was asked for, or a choice was asked for.
    """
    if inner is FitMethod.AUTO:
        msg = "--method auto chooses for one score, and --probs names several classes"
        raise UsageProblem(msg, "name a method")
    if method not in OF_MEMBERS and inner is not FitMethod.PLATT:
        msg = f"--multiclass {method.value} is not made of maps of one score, as --method {inner.value} is"
        same = inner.value in set(ClassMethod)
        instead = inner.value if same else ClassMethod.ONE_VS_REST.value
        hint = f"pass --multiclass {instead}{' in place of --method' if same else ', or leave out --method'}"
        raise IdleOption(msg, hint, options=("method",))
    return RecalibratorName(inner)


def fit_class_files(
    inputs: Sequence[str],
    columns: Columns,
    *,
    method: ClassMethod,
    options: ClassFitOptions,
    output: str | None = None,
    reading: Reading | None = None,
) -> tuple[ClassFitReport, str]:
    """
    Fit a map of several classes.

    Args:
        inputs: Files, "-" for standard input.

        columns: Which columns are the classes, and the label.

        method: The method.

        options: What is asked of it.

        output: Where the artifact will be written, for the report.

        reading: How to read.

    Returns:
        The report, and the artifact as canonical JSON: the same rows give the same bytes.

    Raises:
        InputProblem: If the rows cannot be fitted.

        UsageProblem: If one view of the classes was asked for, or rows of any sum are to be taken.
    """
    how = reading or Reading()
    _refuse_misled(columns, options, how)
    beside = Beside(classes=method in _FROM_TABLES)
    gathered = read_tables(inputs, columns, reading=how, beside=beside, twice=True)
    workers = default_workers() if how.jobs is None else max(1, how.jobs)
    rows = source_of(gathered, memory=bytes_of(how.memory), workers=workers)
    options = replace(options, least=least_of(columns.read_as))
    recalibrator = fit_class_recalibrator(method, _tables(gathered, rows.classes), rows, options=options)
    after = _compared(recalibrator, rows)
    record = ClassFitRecord(
        rows=gathered.tables[RAW].total_rows,
        class_rows=after.class_rows,
        table_digest=digest(gathered.tables[RAW]),
        options=_options(method, options),
        loss_before=after.losses[0],
        loss_after=after.losses[1],
        accuracy_before=after.accuracies[0],
        accuracy_after=after.accuracies[1],
        changed=after.changed,
        notes=(
            *selection_notes(gathered.input),
            *read_notes(gathered, columns.read_as),
            *recalibrator.notes,
        ),
        score_quantiles=score_quantiles(gathered.tables[RAW]),
    )
    artifact = ClassArtifact(recalibrator, record, rows.classes, scale=columns.read_as)
    report = ClassFitReport(
        input=gathered.input,
        method=method,
        inner=options.inner.value if method in OF_MEMBERS else None,
        output=output,
        classes=rows.classes,
        rows=record.rows,
        loss_before=record.loss_before,
        loss_after=record.loss_after,
        accuracy_before=record.accuracy_before,
        accuracy_after=record.accuracy_after,
        changed=record.changed,
        keeps_prediction=recalibrator.keeps_prediction,
        notes=record.notes,
    )
    return report, artifact_text(artifact)


def _refuse_misled(columns: Columns, options: ClassFitOptions, how: Reading) -> None:
    """Refuse one view, rows of any sum, and what would have no effect, or none that could be kept."""
    if columns.several is None or columns.several.view is not ViewName.CONFIDENCE:
        msg = "a fit of several classes sees all of them, and --view names one view"
        raise UsageProblem(msg, "leave out --view; --multiclass says how classes are recalibrated")
    refuse_any_sum(columns.several.on_sum)
    if how.engine is not EngineName.LOCAL:
        msg = f"--engine {how.engine.value}: a fit of several classes reads its rows again and again, here"
        raise UsageProblem(msg, "leave it out; a sample of the rows fits as well")
    if columns.group is not None:
        msg = "--group keeps rows together for --method auto, which chooses for one score"
        raise IdleOption(msg, "leave it out", options=("group",))
    if options.inner_options.randomised:
        msg = "--randomised adds noise by the place of a row, and maps of several classes have none"
        raise IdleOption(msg, "leave it out", options=("randomised",))


def _tables(gathered: Gathered, classes: tuple[str, ...]) -> ClassTables:
    """Return the views that were gathered."""
    aside, confidence = gathered.aside.classes, gathered.tables[RAW]
    if aside is None:
        return ClassTables(classes, confidence, {}, {})
    top = {name[0]: table for name, table in aside.top.tables().items()}
    rest = aside.rest.tables()
    rates = np.array([float(rest[name].positive.sum()) if name in rest else 0.0 for name in classes])
    require_several(classes, rates, confidence.total_rows)
    return ClassTables(classes, confidence, top, rest)


@dataclass(frozen=True, slots=True)
class _Compared:
    """What a map does to the rows it was fitted to: losses and accuracies before and after."""

    losses: tuple[float, float]
    accuracies: tuple[float, float]
    changed: int
    class_rows: tuple[int, ...]


def _compared(recalibrator: ClassRecalibrator, rows: ClassRowSource) -> _Compared:
    """Add up exactly, so that neither order nor cut of the input changes a digit."""
    losses, right, total = (ExactSum(), ExactSum()), (ExactSum(), ExactSum()), ExactSum()
    certain = [False, False]
    changed = 0
    of_class = np.zeros(len(rows.classes), np.int64)
    for block in rows.blocks():
        weight = block.weights
        times = np.ones(block.label.size, np.int64) if block.counts is None else block.counts
        sides = (block.probability, recalibrator.predict(block.probability))
        predicted = [one.argmax(axis=1) for one in sides]
        for place, one in enumerate(sides):
            loss = log_loss_of(one, block.label)
            finite = np.isfinite(loss)
            certain[place] |= bool(weight[~finite].any())
            if block.weight is None:
                losses[place].add_repeated(loss[finite], times[finite])
            else:
                losses[place].add(weight[finite] * loss[finite])
            right[place].add(weight[predicted[place] == block.label])
        total.add(weight)
        changed += int(times[predicted[0] != predicted[1]].sum())
        np.add.at(of_class, block.label, times)
    whole = total.exact()
    found = [
        math.inf if some else float(one.exact() / whole) for one, some in zip(losses, certain, strict=True)
    ]
    return _Compared(
        (found[0], found[1]),
        (float(right[0].exact() / whole), float(right[1].exact() / whole)),
        changed,
        tuple(of_class.tolist()),
    )


def _options(method: ClassMethod, options: ClassFitOptions) -> dict[str, object]:
    """Return what was asked of the method, in plain values."""
    if method in OF_MEMBERS:
        own: dict[str, object] = {"inner": options.inner.value, "min_class_rows": options.least_rows}
        own |= {f"inner_{key}": value for key, value in options.inner_options.used_by(options.inner).items()}
        return own | ({"output_sum": options.output_sum.value} if method is ClassMethod.ONE_VS_REST else {})
    return {} if method in (ClassMethod.TEMPERATURE, ClassMethod.VECTOR) else {"folds": options.folds}


def refuse_idle_class_options(method: ClassMethod, *, least_rows: int, output_sum: OutputSum) -> None:
    """
    Refuse options that do nothing for a method of several classes.

    Args:
        method: The method.

        least_rows: The least rows of a class with a map of its own.

        output_sum: Whether probabilities of a row add up to 1.

    Raises:
        UsageProblem: If one was given.
    """
    if least_rows != DEFAULT_LEAST_CLASS_ROWS and method not in _OF_MEMBERS:
        msg = f"--min-class-rows has no effect on --multiclass {method.value}, of all classes together"
        raise IdleOption(msg, "leave it out, or pass --multiclass one-vs-rest", options=("min-class-rows",))
    if output_sum is not OutputSum.ONE and method is not ClassMethod.ONE_VS_REST:
        msg = f"--output-sum {output_sum.value} has no effect on --multiclass {method.value}"
        raise IdleOption(msg, "leave it out, or pass --multiclass one-vs-rest", options=("output-sum",))
