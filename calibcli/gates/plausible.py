"""
What a state on disk says of itself, against what its rows say.

The looks of a state follow from its rows, its limit and its bets, so that none of these can be changed, or
damaged, without the last look giving it away. A change to the formula of a bet is a change of the schema.
"""

import math
from itertools import accumulate

from calibcli.documents import Node
from calibcli.gates.state import GateState, Look

_TOLERANCE = 1e-9
# The evidence of an alarm over more cells, all starts together, takes too long at every call.
_MOST_CELLS = 200_000


def check_looks(root: Node, state: GateState) -> None:
    """
    Refuse looks and verdicts that the rows of a state do not give.

    Looks before the last speak of rows that have been added up since, and are believed; so is the evidence of
    an alarm over very many cells, of which the estimate alone is found again. Where batches were
    merged, and so have no looks, a verdict may be of rows that no look is kept of.

    Args:
        root: The document.

        state: What it holds otherwise.

    Raises:
        DocumentProblem: If the last look is not what the rows, the limit and the bets give, or no look has
            the evidence of a pass or fail, with the place.
    """
    nodes = root.child("batches").items()
    counted = accumulate(batch.rows for batch in state.batches)
    for node, batch, rows in zip(nodes, state.batches, counted, strict=True):
        if batch.look is not None:
            node.child("look").child("rows").expect(rows)
    if state.batches and state.batches[-1].look is not None:
        _check_last(nodes[-1].child("look"), state.batches[-1].look, state)
    if state.looks == len(state.batches):
        _check_verdicts(root, state)


def _check_last(node: Node, found: Look, state: GateState) -> None:
    pairs: list[tuple[str, float | None, float | None]] = [("value", found.value, state.bets.value)]
    if len(state.epochs) * state.terms.partition.size <= _MOST_CELLS:
        mine = state.look()
        pairs += [("log_pass", found.log_pass, mine.log_pass), ("log_fail", found.log_fail, mine.log_fail)]
    for name, said, due in pairs:
        if said is None or due is None or math.isclose(said, due, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE):
            continue
        msg = f"is {said:.10g}, and what was counted gives {due:.10g}: one of the two was changed"
        raise node.child(name).problem(msg)


def _check_verdicts(root: Node, state: GateState) -> None:
    looks = [batch.look for batch in state.batches if batch.look is not None]
    enough = state.terms.threshold - _TOLERANCE * (1.0 + state.terms.threshold)
    passes = {look.rows for look in looks if look.log_pass is not None and look.log_pass >= enough}
    fails = {look.rows for look in looks if look.log_fail >= enough}
    for name, at, shown in (("passed_at", state.passed_at, passes), ("failed_at", state.failed_at, fails)):
        if at is not None and at not in shown:
            msg = f"is {at:,}, and no look at so many rows had the evidence"
            raise root.child(name).problem(msg)
