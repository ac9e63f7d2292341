"""A fragment with the columns of its file: what one piece of work needs to know of the input, and no more."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from calibcli.readers.columns import ChosenColumns
from calibcli.readers.fragments import Fragment


@dataclass(frozen=True, slots=True)
class Piece:
    """
    An item of work.

    What is sent to a worker elsewhere is as much as the piece, however many files there are.

    Args:
        fragment: What to read.

        columns: The columns of its file.
    """

    fragment: Fragment
    columns: ChosenColumns


def pieces_of(fragments: Sequence[Fragment], chosen: Mapping[str, ChosenColumns]) -> list[Piece]:
    """Return each fragment with the columns of its file."""
    return [Piece(fragment, chosen[fragment.path]) for fragment in fragments]
