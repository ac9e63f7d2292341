"""Fit a map: of one score, of each group of rows, or of several classes."""

from collections.abc import Sequence

from calibcli.options.fitting import FitOptions, MapOptions
from calibcli.options.rows import Columns, Reading
from calibcli.reports.fit import FitReport
from calibcli.reports.fit_classes import ClassFitReport
from calibcli.view_names import ClassMethod


def fit_map(
    inputs: Sequence[str],
    columns: Columns,
    which: MapOptions,
    options: FitOptions,
    *,
    output: str | None = None,
    reading: Reading,
) -> tuple[FitReport | ClassFitReport, str]:
    """
    Return what was found, and the artifact as canonical JSON: the same rows give the same bytes.

    `output` is where the artifact will be written, for the report.

    Raises:
        UsageProblem: If an option would have no effect.

        InputProblem: If the rows cannot be fitted.
    """
    which.refuse_idle(columns)
    if columns.several is not None:
        from calibcli.recalibrators.classes.interface import ClassFitOptions
        from calibcli.tasks.fit_classes import fit_class_files, inner_method, refuse_idle_class_options

        method = which.multiclass or ClassMethod.TEMPERATURE
        refuse_idle_class_options(method, least_rows=which.min_class_rows, output_sum=which.output_sum)
        of_classes = ClassFitOptions(
            inner_method(method, which.method),
            options,
            which.min_class_rows,
            which.output_sum,
            options.folds or 5,
            options.seed,
        )
        return fit_class_files(
            inputs, columns, method=method, options=of_classes, output=output, reading=reading
        )
    if columns.by:
        from calibcli.tasks.fit_groups import fit_group_files

        return fit_group_files(
            inputs,
            columns,
            method=which.method,
            candidates=which.candidate,
            options=options,
            least_rows=which.min_group_rows,
            output=output,
            reading=reading,
        )
    from calibcli.tasks.fit import fit_files

    return fit_files(
        inputs,
        columns,
        method=which.method,
        candidates=which.candidate,
        options=options,
        output=output,
        reading=reading,
    )
