"""Maps for groups of rows: the artifact of a fit, and the group that each score is given."""

from calibcli.api.columns import column_of
from calibcli.documents.group_artifact import GroupArtifact
from calibcli.documents.sealed import MOST_BYTES, parse
from calibcli.errors import UsageProblem
from calibcli.readers.in_memory import HeldColumn


def group_artifact_of_text(text: str) -> GroupArtifact:
    """
    Return the artifact that `fit --by` gave the text of.

    Raises:
        DocumentProblem: If it is that of none.
    """
    return parse(text.encode(), most=MOST_BYTES).built(GroupArtifact.from_dict)[0]


def groups_given(values: object, artifact: GroupArtifact, *, rows: int) -> HeldColumn:
    """
    Return the group of each score as a column.

    Args:
        values: An array of groups.

        artifact: The maps.

        rows: How many scores there are.

    Raises:
        UsageProblem: If there are none, or not one for each score.
    """
    if values is None:
        msg = f"the map was fitted by groups of {artifact.by!r}, and none are given"
        raise UsageProblem(msg, "pass the group of each score with by=[...]")
    column = column_of(values, what="by")
    if len(column) != rows:
        msg = f"by has {len(column):,} values for {rows:,} scores"
        raise UsageProblem(msg, "give every score its group")
    return column
