"""What a column can be: one thing."""

from collections import Counter
from typing import TYPE_CHECKING

from calibcli.errors import UsageProblem

if TYPE_CHECKING:
    from calibcli.readers.columns import ChosenColumns


def refuse_two_roles(chosen: "ChosenColumns") -> None:
    """
    Refuse a column that is to be two things.

    Args:
        chosen: The columns of a file.

    Raises:
        UsageProblem: If there is one.
    """
    name, times = Counter(chosen.roles).most_common(1)[0]
    if times == 1:
        return
    if chosen.scores.count(name) == times:
        msg = f"column {name!r} is named twice as the score"
        raise UsageProblem(msg, "--score takes two different columns")
    if chosen.by.count(name) == times:
        msg = f"column {name!r} is named twice with --by"
        raise UsageProblem(msg, "--by takes different columns")
    further = {"group": chosen.group, "--by": chosen.by, "cluster": chosen.cluster, "id": chosen.identity}
    roles = ["score", "label", "weight", *(role for role, column in further.items() if column)]
    msg = f"column {name!r} cannot be two of {', '.join(roles[:-1])} and {roles[-1]} at once"
    raise UsageProblem(msg, "name another column with --score, --label or --weight")
