"""States of shards to one."""

from collections.abc import Sequence
from dataclasses import dataclass

from calibcli.documents.state_store import locked, read_state, save_state, state_text
from calibcli.documents.summary import is_summary
from calibcli.errors import InputProblem, UsageProblem
from calibcli.gates.merging import merged
from calibcli.gates.state import GateState
from calibcli.outputs import STDOUT, refuse_existing, write_file
from calibcli.reports.inspect import InspectReport
from calibcli.tasks.gate_facts import report_of
from calibcli.tasks.summaries import merge_summaries


@dataclass(frozen=True, slots=True)
class Merged:
    """
    What became of the states.

    Args:
        report: What the merged state holds and says.

        notes: Sentences the reader should not miss.
    """

    report: InspectReport
    notes: tuple[str, ...] = ()


def merge_documents(paths: Sequence[str], *, output: str, force: bool = False) -> Merged:
    """
    Add up states of gates or summaries of rows, whichever they are.

    Args:
        paths: Documents of one kind.

        output: Where the sum goes; "-" is standard output.

        force: Whether a file there may be replaced.

    Raises:
        InputProblem: If one cannot be read, or rows would count twice.

        UsageProblem: If they are of two kinds, or were begun on different terms.

        OutputProblem: If the output exists, is one of them, or cannot be written.
    """
    kinds = [is_summary(path) for path in paths]
    if not any(kinds):
        return merge_states(paths, output=output, force=force)
    if not all(kinds):
        one, other = paths[kinds.index(True)], paths[kinds.index(False)]
        msg = f"{one} is a summary of rows, and {other} is not"
        raise UsageProblem(msg, "merge summaries with summaries, and states of gates with states")
    return Merged(merge_summaries(paths, output=output, force=force))


def merge_states(paths: Sequence[str], *, output: str, force: bool = False) -> Merged:
    """
    Add up states that gates on shards of the rows have written.

    Args:
        paths: The states; one that is given twice counts once.

        output: Where the merged state goes; "-" is standard output.

        force: Whether a file there may be replaced.

    Returns:
        What the merged state holds and says, and which states counted once only.

    Raises:
        InputProblem: If a state cannot be read, or a batch or a row's identity is in more than one.

        UsageProblem: If the states were begun on different terms.

        OutputProblem: If the output exists, is one of the states, or cannot be written.
    """
    refuse_existing(output, force=force, inputs=paths)
    states: dict[str, tuple[str, GateState]] = {}
    notes: list[str] = []
    for path in paths:
        state = read_state(path)
        if state is None:
            msg = f"{path}: there is no such file"
            raise InputProblem(msg, "a state is what `calibcli verify --state` writes")
        first, kept = states.setdefault(state_text(state), (path, state))
        if kept is not state:
            same = "is given twice" if first == path else f"is the very state of {first}"
            notes.append(f"{path} {same}: it counts once")
    whole = merged(list(states.values()))
    if output == STDOUT:
        write_file(output, state_text(whole).encode("ascii"))
    else:
        with locked(output):
            refuse_existing(output, force=force, inputs=paths)
            save_state(output, whole)
    return Merged(report_of(None if output == STDOUT else output, whole), tuple(notes))
