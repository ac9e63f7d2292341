"""The groups of rows that go through a map with members, where no label is read."""

import pyarrow as pa

from calibcli.errors import InputProblem
from calibcli.readers.columns import ChosenColumns
from calibcli.readers.decode import value_type
from calibcli.readers.fault_words import problem_of
from calibcli.readers.faults import Findings
from calibcli.readers.groups import Groups, can_be_groups, groups_of
from calibcli.readers.members import placed_members
from calibcli.readers.places import Places
from calibcli.readers.sound import sound


def known_groups(batch: pa.RecordBatch, chosen: ChosenColumns, findings: Findings, *, shown: str) -> Groups:
    """
    Return the group of each row of a batch.

    Args:
        batch: Rows with the column of groups.

        chosen: The columns; one of them says which member of the map a row goes through.

        findings: What was found up to the end of the batch.

        shown: The file's name in messages.

    Raises:
        InputProblem: If the groups are damaged, or the fit has not seen one, and the map of all rows is not
            to be taken.
    """
    name = str(chosen.member)
    column = sound(batch.select([name]), shown=shown).column(name)
    kind = value_type(column.type)
    if not can_be_groups(kind):
        msg = f"{shown}, column {name!r}: it holds {kind}, which does not tell groups apart"
        raise InputProblem(msg, "the map was fitted to groups of text, whole numbers or dates")
    groups = groups_of(column).filled()
    before = Places(findings.rows - batch.num_rows)
    placed_members(groups, column=chosen.asked.member, findings=findings, places=before)
    problem = problem_of(findings, chosen, shown=shown, partly=True)
    if problem is not None:
        raise problem
    return groups
