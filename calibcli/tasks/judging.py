"""Judge rows by themselves, or together with those that a state has counted."""

from collections.abc import Sequence
from dataclasses import replace

from calibcli.errors import IdleOption, UsageProblem
from calibcli.options.gating import StateOptions, VerifyOptions, refuse_without_state
from calibcli.options.rows import Columns, Reading
from calibcli.reports.verify import VerifyReport
from calibcli.tasks.verify import require_some, verify_files
from calibcli.view_names import ViewName


def judge_rows(
    inputs: Sequence[str],
    columns: Columns,
    options: VerifyOptions,
    state: StateOptions | None,
    *,
    artifact: str | None,
    reading: Reading,
) -> VerifyReport:
    """
    Judge rows; without inputs by what the state holds.

    Raises:
        UsageProblem: If options contradict each other.

        InputProblem: If the rows cannot be judged.
    """
    _refuse_misled(columns, options, state)
    if state is None:
        return verify_files(inputs, columns, options=options, artifact=artifact, reading=reading)
    from calibcli.tasks.gate import judge_with_state

    return judge_with_state(
        inputs,
        replace(columns, identity=None),
        rule=options.rules[0] if options.rules else None,
        options=options,
        state=replace(state, id_column=columns.identity),
        artifact=artifact,
        reading=reading,
    )


def _refuse_misled(columns: Columns, options: VerifyOptions, state: StateOptions | None) -> None:
    """Refuse what is not asked of such rows, or not of a state."""
    alarm = state is not None and state.alarm
    if not alarm:
        asked = [*options.rules, *([] if options.regression is None else [options.regression])]
        require_some(asked, state=None if state is None else state.path)
    if columns.by and options.regression is not None and not options.rules:
        msg = "--by with nothing but a baseline, which is compared over all rows"
        raise UsageProblem(msg, "leave out --by, or add a rule such as --max-ece 0.02")
    several = columns.several
    each = several is not None and several.view is not ViewName.CONFIDENCE and several.one_class is None
    if options.least_group_rows is not None and not columns.by and not each:
        msg = "--min-group-rows without groups"
        raise IdleOption(msg, "name the columns that make them with --by", options=("min-group-rows",))
    if state is None:
        if columns.identity is not None:
            refuse_without_state("id")
        return
    many = len(options.rules) > 1 or not (options.rules or alarm)
    if many or columns.by or options.regression is not None:
        msg = "--state keeps one rule over all rows, without --by and without a baseline"
        raise UsageProblem(msg, "keep one state file for each rule, and one for each group of rows")
    if columns.rows.options:
        msg = f"--state counts every row of its batches, and --{columns.rows.options[0]} leaves some out"
        raise UsageProblem(msg, "keep a file of the rows that are to be counted, and of no others")
