"""Add up what shards wrote: states of gates, or summaries of rows."""

from collections.abc import Sequence

from calibcli.commands.gate import report_of
from calibcli.commands.summaries import added, summary_report
from calibcli.data.outputs import refuse_existing, write_file
from calibcli.documents.sealed import trust
from calibcli.documents.state import locked, save_state, state_in, state_text
from calibcli.documents.summary import is_summary, read_summary, summary_text
from calibcli.errors import IdleOption, UsageProblem
from calibcli.names import EXACT_LIMIT, STDOUT
from calibcli.reports.maps import InspectReport
from calibcli.stats.gates.growth import merged
from calibcli.stats.gates.state import GateState

# What the whole holds and says, and what became of the parts.
Merged = tuple[InspectReport, tuple[str, ...]]


def merge_documents(paths: Sequence[str], *, output: str, force: bool = False) -> Merged:
    """Add up states of gates or summaries of rows; say what the whole holds, and what became of the parts."""
    kinds = [is_summary(path) for path in paths]
    if not any(kinds):
        return merge_states(paths, output=output, force=force)
    if not all(kinds):
        one, other = paths[kinds.index(True)], paths[kinds.index(False)]
        msg = f"{one} is a summary of rows, and {other} is not"
        raise UsageProblem(msg, "merge summaries with summaries, and states of gates with states")
    if trust().key_file is not None:
        msg = f"--state-key-file signs states of gates, and {paths[0]} is a summary of rows"
        raise IdleOption(msg, "leave it out", options=("state-key-file",))
    return merge_summaries(paths, output=output, force=force), ()


def merge_states(paths: Sequence[str], *, output: str, force: bool = False) -> Merged:
    refuse_existing(output, force=force, inputs=paths)
    states: dict[str, tuple[str, GateState]] = {}
    notes: list[str] = []
    for path in paths:
        state = state_in(path)
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
    return report_of(None if output == STDOUT else output, whole), tuple(notes)


def merge_summaries(paths: Sequence[str], *, output: str, force: bool = False) -> InspectReport:
    refuse_existing(output, force=force, inputs=paths)
    parts = [(path, read_summary(path)) for path in paths]
    large = any(one.table.kind == "exact" and one.table.distinct > EXACT_LIMIT for _, one in parts)
    whole = added(parts, limit=None if large else EXACT_LIMIT)
    write_file(output, summary_text(whole).encode("ascii"))
    return summary_report(output, whole)
