"""Fit a recalibrator to each group of rows, and one to all of them for the groups too small for their own."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from calibcli.documents.artifact import Artifact
from calibcli.documents.group_artifact import GroupArtifact, Shared, group_artifact_text
from calibcli.errors import IdleOption, InputProblem, UsageProblem
from calibcli.names import DEFAULT_FOLDS, FitMethod, RecalibratorName
from calibcli.options.fitting import FitOptions
from calibcli.options.rows import Columns, Reading
from calibcli.readers.beside import Beside
from calibcli.recalibrators import brackets
from calibcli.recalibrators.selection import NOTHING_CHANGED
from calibcli.reports.fit import FitReport, GroupFit
from calibcli.table.grid import Table
from calibcli.tasks.fit import choice_of, fit_gathered, fit_table, needs_exact, refuse_idle
from calibcli.tasks.gather import RAW, Gathered
from calibcli.tasks.reading import read_tables
from calibcli.tasks.select import Choice, drawn_folds, select
from calibcli.tasks.what_was_read import selection_notes


def fit_group_files(
    inputs: Sequence[str],
    columns: Columns,
    *,
    method: FitMethod,
    options: FitOptions,
    candidates: Sequence[RecalibratorName] = (),
    least_rows: int,
    output: str | None = None,
    reading: Reading | None = None,
) -> tuple[FitReport, str]:
    """
    Fit a recalibrator to each group of equal values of a column, and one to all rows.

    Args:
        inputs: Files, "-" for standard input.

        columns: Which column is which; `by` names one.

        method: The method; what auto chooses for all rows is fitted to every group.

        options: What is asked of it.

        candidates: What auto chooses from; empty for the default candidates.

        least_rows: A group of fewer rows, or with one label alone, shares the map of all rows.

        output: Where the artifact will be written, for the report.

        reading: How to read.

    Returns:
        The report, and the artifact as canonical JSON: the same rows give the same bytes.

    Raises:
        InputProblem: If the rows cannot be fitted, with the group.

        UsageProblem: If what is asked for cannot be done group by group.
    """
    refuse_idle(columns, method, candidates=candidates, options=options)
    _refuse_misled(columns, options)
    how = reading or Reading()
    if needs_exact(method, candidates, options):
        how = replace(how, exact=True)
    gathered = read_tables(inputs, columns, reading=how, beside=Beside(sliced=(RAW,)), twice=True)
    whole = replace(columns, by=())
    choice: Choice | None = None
    if method is FitMethod.AUTO:
        choice = choice_of(gathered, whole, candidates=candidates, options=options, by=True)
    report, pooled = fit_gathered(
        gathered, whole, method=method, choice=choice, options=options, output=output
    )
    members, shared = _fitted(
        gathered, whole, method=method, choice=choice, options=options, least_rows=least_rows
    )
    by = "" if gathered.chosen is None else gathered.chosen.by[0]
    artifact = GroupArtifact(by, pooled, members, shared)
    groups = [
        GroupFit(key, one.fit.rows, one.fit.loss_before, one.fit.loss_after, method=one.recalibrator.name)
        for key, one in members.items()
    ]
    groups += [GroupFit(key, one.rows, reason=one.reason) for key, one in shared.items()]
    groups.sort(key=lambda one: one.key)
    answer = None if choice is None else _answer(artifact)
    return replace(report, by=by, groups=tuple(groups), answer=answer), group_artifact_text(artifact)


def _refuse_misled(columns: Columns, options: FitOptions) -> None:
    if len(columns.by) > 1:
        msg = f"--by {' --by '.join(columns.by)}: a fit takes one column of groups"
        raise UsageProblem(msg, "put the groups into one column first")
    if columns.group is not None:
        msg = "--group keeps rows together for auto, and --by fits each group by itself"
        raise IdleOption(msg, "leave out one of them", options=("group", "by"))
    if options.randomised:
        msg = "--randomised adds noise by the place of a row, and --by has a map for each group"
        raise IdleOption(msg, "leave out one of them", options=("randomised",))


def _fitted(
    gathered: Gathered,
    columns: Columns,
    *,
    method: FitMethod,
    choice: Choice | None,
    options: FitOptions,
    least_rows: int,
) -> tuple[dict[str, Artifact], dict[str, Shared]]:
    """Return the map of each group, and the groups that share that of all rows."""
    members: dict[str, Artifact] = {}
    shared: dict[str, Shared] = {}
    for (key,), table in gathered.aside.slices[RAW].tables().items():
        reason = _too_small(table, least_rows)
        if reason is not None:
            shared[key] = Shared(table.total_rows, reason)
            continue
        notes = (*selection_notes(gathered.input), *_grid_note(table))
        try:
            if choice is None:
                name = RecalibratorName(method)
                members[key] = fit_table(name, table, columns, options=options, notes=notes)
            else:
                members[key] = _chosen(choice, table, columns, options=options, notes=notes)
        except InputProblem as problem:
            msg = f"group {key!r}: {problem.message}"
            raise InputProblem(msg, problem.hint) from problem
    return members, shared


def _chosen(
    choice: Choice, table: Table, columns: Columns, *, options: FitOptions, notes: tuple[str, ...]
) -> Artifact:
    """
    Return the map that auto gives a group: the repair chosen by all rows, or none where that is as good.

    A group that cannot be cut into folds, and one of a map that brackets, gets the repair.
    """
    repair, once = choice.repair, replace(options, folds=None)
    if repair is None:
        return fit_table(RecalibratorName.IDENTITY, table, columns, options=once, notes=notes)
    own: Choice | None = None
    if not brackets(repair):
        with suppress(InputProblem, UsageProblem):
            folds = drawn_folds(table, options.folds or DEFAULT_FOLDS, seed=options.seed)
            own = select(folds, (repair,), options=options)
    name = repair if own is None else own.selection.chosen
    return fit_table(name, table, columns, options=once, notes=notes, choice=own)


def _answer(artifact: GroupArtifact) -> str | None:
    """Say in how many groups nothing was changed, if in any."""
    maps = [one.recalibrator.name for one in artifact.members.values()]
    same = maps.count(RecalibratorName.IDENTITY)
    shared = artifact.shared and artifact.pooled.recalibrator.name is RecalibratorName.IDENTITY
    if same == len(maps) and (shared or not artifact.shared):
        return NOTHING_CHANGED
    if not same:
        return None
    return f"in {same:,} of {len(maps):,} groups with a map of their own {NOTHING_CHANGED} there"


def _grid_note(table: Table) -> tuple[str, ...]:
    """Return what rounding did to the fit of a group, which sees no row once more."""
    if table.kind == "exact":
        return ()
    return (f"fitted on a grid table: scores were kept to {table.resolution:.2g}; --exact keeps all",)


def _too_small(table: Table, least_rows: int) -> str | None:
    """Return why a group cannot have a map of its own, or None where it can."""
    rows, positive = table.total_rows, table.total_positive_rows
    if rows < least_rows:
        return f"fewer than {least_rows:,} rows"
    if positive in (0, rows):
        return f"every label is {1 if positive else 0}"
    if not 0.0 < float(table.positive.sum()) < float(table.weight.sum()):
        return "no weight on one of the labels"
    return None
