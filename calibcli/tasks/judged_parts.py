"""The parts of the rows that a gate judges one by one: groups by columns, or classes."""

from dataclasses import dataclass

from calibcli.tasks.classes import KEYS, class_groups, judged_view
from calibcli.tasks.judged import Judged
from calibcli.tasks.slices import Group, views_of


@dataclass(frozen=True, slots=True)
class JudgedParts:
    """
    The parts of the rows that are judged.

    Args:
        by: What tells them apart.

        judged: Those that are judged.

        left_out: Rows of the others, by key.

        alone: Whether the whole is not judged beside them.
    """

    by: tuple[str, ...]
    judged: tuple[Group, ...]
    left_out: dict[str, int]
    alone: bool


def judged_parts(judged: Judged, *, least_rows: int) -> JudgedParts:
    """
    Return the groups of the rows, or every class in the view that was asked for.

    Args:
        judged: What was read.

        least_rows: How many rows are enough.
    """
    chosen, classes = judged.gathered.chosen, judged.gathered.aside.classes
    view = None if chosen is None else judged_view(chosen.asked)
    if view is not None and classes is not None:
        every = class_groups(classes, view)
        some = every.measured(least_rows)
        return JudgedParts((KEYS[view],), some, every.left_out(some), alone=True)
    groups = views_of(judged)[0]
    some = groups.measured(least_rows)
    keys = {one.key for one in some}
    few = {one.key: one.table.total_rows for one in groups.groups if one.key not in keys}
    return JudgedParts(groups.columns, some, few, alone=False)
