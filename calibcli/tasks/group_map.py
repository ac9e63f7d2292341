"""A map for each group of rows, as readers and writers take it."""

from calibcli.documents.group_artifact import GroupArtifact
from calibcli.errors import UsageProblem
from calibcli.readers.members import MemberColumn, OfMembers
from calibcli.recalibrators.interface import values_of
from calibcli.selection_names import OnUnseen


def refuse_prior(prior: float | None) -> None:
    """
    Refuse a base rate for a map of several members.

    Raises:
        UsageProblem: If there is one.
    """
    if prior is not None:
        msg = "--prior is the base rate of all rows, and the map is one for each group"
        raise UsageProblem(msg, "leave it out, or fit without --by")


def member_column(artifact: GroupArtifact, on_unseen: OnUnseen) -> MemberColumn:
    """Return the column of groups, and what is known of it."""
    return MemberColumn(artifact.by, artifact.known, on_unseen is OnUnseen.POOLED)


def of_members(artifact: GroupArtifact) -> OfMembers:
    """Return the map of rows: that of their group, or that of all rows."""
    maps = {key: one.recalibrator.predict for key, one in artifact.members.items()}
    return OfMembers(maps, artifact.pooled.recalibrator.predict)


def outputs_of_members(artifact: GroupArtifact) -> tuple[float, ...] | None:
    """Return every value that a score can have afterwards, ascending; None where there are too many."""
    values: set[float] = set()
    for one in (artifact.pooled, *artifact.members.values()):
        own = values_of(one.recalibrator.bins)
        if own is None:
            return None
        values.update(own)
    return tuple(sorted(values))
