"""Maps for groups of rows: scores through the map of their group, and what is said of all of them."""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from calibcli.api.columns import column_of
from calibcli.artifacts.group_document import GroupArtifact
from calibcli.documents import MOST_BYTES, parse
from calibcli.errors import InputProblem, UsageProblem
from calibcli.readers.groups import Groups, groups_of
from calibcli.readers.held import piece_of
from calibcli.readers.names_of_columns import listing
from calibcli.render.blocks import Column, Grid, Line, Tone, paragraph
from calibcli.render.words import count, four
from calibcli.selection_names import OnUnseen
from calibcli.tasks.group_map import of_members

if TYPE_CHECKING:
    from calibcli.render.blocks import Page

Array = npt.NDArray[np.float64]


def group_artifact_of_text(text: str) -> GroupArtifact:
    """
    Return the artifact that `fit --by` gave the text of.

    Raises:
        DocumentProblem: If it is that of none.
    """
    return GroupArtifact.from_dict(parse(text.encode(), most=MOST_BYTES))


def groups_given(values: object, artifact: GroupArtifact, *, rows: int, unseen: OnUnseen) -> Groups:
    """
    Return the group of each row.

    Args:
        values: An array of groups.

        artifact: The maps.

        rows: How many scores there are.

        unseen: What becomes of groups that the fit has not seen.

    Raises:
        UsageProblem: If there are none, or not one for each score.

        InputProblem: If the fit has not seen one, unless those are to go through the map of all rows.
    """
    if values is None:
        msg = f"the map was fitted by groups of {artifact.by!r}, and none are given"
        raise UsageProblem(msg, "pass the group of each score with --by")
    column = column_of(values, what="by")
    if len(column) != rows:
        msg = f"by has {len(column):,} values for {rows:,} scores"
        raise UsageProblem(msg, "give every score its group")
    groups = groups_of(piece_of(column, 0, rows)).filled()
    seen = [groups.text[code] for code in np.unique(groups.code)]
    strange = [text for text in seen if text not in artifact.known]
    if strange and unseen is OnUnseen.ERROR:
        msg = f"by: the fit has not seen {listing(strange)}"
        raise InputProblem(msg, "--unseen pooled takes the map of all rows for these")
    return groups


def through_groups(artifact: GroupArtifact, scores: Array, groups: Groups) -> Array:
    """Return the probability of each score by the map of its group."""
    return np.asarray(of_members(artifact).change(scores, groups), np.float64)


def group_page(name: str, artifact: GroupArtifact) -> "Page":
    """Return what is said of maps by groups."""
    fit = artifact.pooled.fit
    method = artifact.pooled.recalibrator.name.value
    title = Line(f"{name}: {method}, one map for each group of {artifact.by!r}", Tone.TITLE)
    columns = (
        Column("group"),
        Column("fit rows", numeric=True),
        Column("loss before", numeric=True),
        Column("loss after", numeric=True),
        Column("map"),
    )
    rows = [("all rows", count(fit.rows), four(fit.loss_before), four(fit.loss_after), "of all rows")]
    for key, one in artifact.members.items():
        rows.append(
            (key, count(one.fit.rows), four(one.fit.loss_before), four(one.fit.loss_after), "its own")
        )
    for key, shared in artifact.shared.items():
        rows.append((key, count(shared.rows), "", "", f"of all rows: {shared.reason}"))
    return (paragraph(title), Grid(columns, tuple(rows)))
