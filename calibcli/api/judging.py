"""Rows judged by themselves, or together with those that a state has counted."""

from dataclasses import dataclass, replace

from calibcli.api.rows import Taken
from calibcli.errors import IdleOption, UsageProblem
from calibcli.options.rows import Reading
from calibcli.reports.verify import VerifyReport
from calibcli.tasks.verify import VerifyOptions, verify_files
from calibcli.view_names import ViewName


@dataclass(frozen=True, slots=True)
class StateAsk:
    """
    What was said about keeping a state.

    Args:
        path: The file, or None.

        batch: Name of the rows, or None.

        planned_rows: Rows the state will hold in the end, or None.

        alarm: Whether any error at all is looked for.

        signed: Whether a key was named.
    """

    path: str | None
    batch: str | None
    planned_rows: int | None
    alarm: bool
    signed: bool = False


def judged(
    taken: Taken, options: VerifyOptions, kept: StateAsk, *, artifact: str | None, reading: Reading
) -> VerifyReport:
    """
    Judge rows.

    Args:
        taken: The rows.

        options: The rules.

        kept: What was said about keeping a state.

        artifact: A recalibrator to apply first, or None.

        reading: How to read.

    Raises:
        UsageProblem: If options contradict each other.

        InputProblem: If the rows cannot be judged.
    """
    columns = taken.columns
    several = columns.several
    if columns.by and options.regression is not None and not options.rules:
        msg = "--by with nothing but a baseline, which is compared over all rows"
        raise UsageProblem(msg, "leave out --by, or add a rule such as --max-ece 0.02")
    each = several is not None and several.view is not ViewName.CONFIDENCE and several.one_class is None
    if options.least_group_rows is not None and not columns.by and not each:
        msg = "--min-group-rows without groups"
        raise IdleOption(msg, "name the columns that make them with --by", options=("min-group-rows",))
    if kept.path is None:
        _refuse_without_path(kept, identified=columns.identity is not None)
        return verify_files(taken.inputs, columns, options=options, artifact=artifact, reading=reading)
    from calibcli.tasks.gate import StateOptions, judge_with_state

    many = len(options.rules) > 1 or not (options.rules or kept.alarm)
    if many or columns.by or options.regression is not None:
        msg = "--state keeps one rule over all rows, without --by and without a baseline"
        raise UsageProblem(msg, "keep one state file for each rule, and one for each group of rows")
    if columns.rows.options:
        msg = f"--state counts every row of its batches, and --{columns.rows.options[0]} leaves some out"
        raise UsageProblem(msg, "count the rows that are to be counted, and no others")
    state = StateOptions(kept.path, kept.batch, columns.identity, kept.planned_rows, kept.alarm)
    return judge_with_state(
        taken.inputs,
        replace(columns, identity=None),
        rule=options.rules[0] if options.rules else None,
        options=options,
        state=state,
        artifact=artifact,
        reading=reading,
    )


def _refuse_without_path(kept: StateAsk, *, identified: bool) -> None:
    """Refuse what speaks of a state where there is none."""
    said = {
        "batch": kept.batch,
        "id": identified,
        "planned-rows": kept.planned_rows,
        "alarm": kept.alarm,
        "state-key-file": kept.signed,
    }
    for option, value in said.items():
        if value:
            msg = f"--{option} without --state"
            raise IdleOption(
                msg, "name the file that keeps what was counted: state='gate.json'", options=(option,)
            )
