"""What cannot be asked of a fit, whoever asks: options that would have no effect on its kind."""

from collections.abc import Sequence

from calibcli.errors import IdleOption
from calibcli.names import DEFAULT_LEAST_ROWS, RecalibratorName
from calibcli.view_names import DEFAULT_LEAST_CLASS_ROWS, ClassMethod, OutputSum


def refuse_idle_groups(*, by: bool, least_rows: int, several: bool) -> None:
    """
    Refuse groups of a fit that sees none.

    Args:
        by: Whether a column of groups is named.

        least_rows: The smallest group with a map of its own.

        several: Whether the fit is one of several classes.

    Raises:
        IdleOption: If groups or their size were named in vain.
    """
    if several and by:
        msg = "--by fits a map of one score to each group, and there are several classes"
        hint = "fit each group apart, with --where 'COL==GROUP', and apply each map to its rows alone"
        raise IdleOption(msg, hint, options=("by",))
    if not by and least_rows != DEFAULT_LEAST_ROWS:
        msg = "--min-group-rows without groups"
        raise IdleOption(msg, "name the column that makes them with --by", options=("min-group-rows",))


def refuse_candidates(candidates: Sequence[RecalibratorName]) -> None:
    """
    Refuse candidates where there is nothing to choose from: in a fit of several classes.

    Raises:
        IdleOption: If some were given.
    """
    if candidates:
        msg = "--candidate is what --method auto chooses from, and it chooses for one score"
        raise IdleOption(msg, "leave it out", options=("candidate",))


def refuse_class_options(method: ClassMethod | None, least_rows: int, output_sum: OutputSum) -> None:
    """
    Refuse options of several classes where there is one score.

    Raises:
        IdleOption: If one was given.
    """
    if (method, least_rows, output_sum) != (None, DEFAULT_LEAST_CLASS_ROWS, OutputSum.ONE):
        msg = (
            "--multiclass, --min-class-rows and --output-sum are for several classes, and there is one score"
        )
        idle = ("multiclass", "min-class-rows", "output-sum")
        raise IdleOption(msg, "name the columns of the classes, such as --probs 'p_*'", options=idle)
