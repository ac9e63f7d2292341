"""From what was asked of a fit to a recalibrator, of one score or of several classes."""

from typing import TYPE_CHECKING

from calibcli.api.group_maps import group_artifact_of_text
from calibcli.api.recalibrator import Recalibrator
from calibcli.api.rows import Taken
from calibcli.artifacts.store import artifact_of_text
from calibcli.names import FitMethod, RecalibratorName
from calibcli.options.rows import Reading
from calibcli.recalibrators.options import FitOptions
from calibcli.tasks.fit_asked import refuse_candidates, refuse_class_options, refuse_idle_groups
from calibcli.view_names import ClassMethod, OutputSum

if TYPE_CHECKING:
    from calibcli.reports.fit import FitReport
    from calibcli.reports.fit_classes import ClassFitReport


def fitted(  # noqa: PLR0913 - as many as there are options
    taken: Taken,
    method: FitMethod,
    *,
    options: FitOptions,
    candidates: tuple[RecalibratorName, ...],
    multiclass: ClassMethod | None,
    least_rows: int,
    least_group_rows: int,
    output_sum: OutputSum,
    reading: Reading,
) -> Recalibrator:
    """
    Fit a recalibrator.

    Args:
        taken: The rows.

        method: The method, or that of the maps a method of several classes is made of.

        options: What is asked of it.

        candidates: What "auto" chooses from.

        multiclass: The method of several classes, or None for the default.

        least_rows: Classes with fewer fit rows share a map.

        least_group_rows: Groups with fewer fit rows share a map.

        output_sum: Whether one-vs-rest divides by the sum.

        reading: How to read.

    Raises:
        UsageProblem: If an option would have no effect.

        InputProblem: If the rows cannot be fitted.
    """
    report: FitReport | ClassFitReport
    several = taken.columns.several is not None
    refuse_idle_groups(by=bool(taken.columns.by), least_rows=least_group_rows, several=several)
    if not several:
        refuse_class_options(multiclass, least_rows, output_sum)
        return _fitted_to_score(
            taken,
            method,
            options=options,
            candidates=candidates,
            least_rows=least_group_rows,
            reading=reading,
        )
    from calibcli.recalibrators.classes.interface import ClassFitOptions
    from calibcli.tasks.fit_classes import fit_class_files, inner_method, refuse_idle_class_options

    chosen = multiclass or ClassMethod.TEMPERATURE
    refuse_candidates(candidates)
    refuse_idle_class_options(chosen, least_rows=least_rows, output_sum=output_sum)
    asked = ClassFitOptions(
        inner_method(chosen, method), options, least_rows, output_sum, options.folds or 5, options.seed
    )
    report, text = fit_class_files(taken.inputs, taken.columns, method=chosen, options=asked, reading=reading)
    return Recalibrator(artifact_of_text(text), f"{report.method.value} map", report)


def _fitted_to_score(
    taken: Taken,
    method: FitMethod,
    *,
    options: FitOptions,
    candidates: tuple[RecalibratorName, ...],
    least_rows: int,
    reading: Reading,
) -> Recalibrator:
    """Fit one map, or one for each group."""
    if not taken.columns.by:
        from calibcli.tasks.fit import fit_files

        report, text = fit_files(
            taken.inputs,
            taken.columns,
            method=method,
            candidates=candidates,
            options=options,
            reading=reading,
        )
        return Recalibrator(artifact_of_text(text), f"{report.method.value} map", report)
    from calibcli.tasks.fit_groups import fit_group_files

    report, text = fit_group_files(
        taken.inputs,
        taken.columns,
        method=method,
        candidates=candidates,
        options=options,
        least_rows=least_rows,
        reading=reading,
    )
    return Recalibrator(group_artifact_of_text(text), f"{report.method.value} map by group", report)
