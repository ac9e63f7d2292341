"""
What a state on disk says of itself, against what its rows say.

The last look, and every verdict that stands, follow from the rows, the limit and the bets, so that none of
these can be changed, or damaged, without the state giving itself away. A change to the formula of a bet is a
change of the schema. What docs/gate.md lists as not derived is what the digest and the key are for.
"""

import math
from itertools import accumulate

from calibcli.codec import Node
from calibcli.gates.bets import Bets
from calibcli.gates.cells import Sums, plausible_distance
from calibcli.gates.state import GateState, Look
from calibcli.names import DEFAULT_LEAST_ROWS
from calibcli.verdicts.outcome import too_few_counted

_TOLERANCE = 1e-9
# How near a bound on file must be to where the evidence reaches 1 / delta.
_NEAR = 1e-8
# The evidence of an alarm over more cells, all starts together, takes too long at every call.
_MOST_CELLS = 200_000


def check_looks(root: Node, state: GateState) -> None:
    """
    Refuse looks and verdicts that the rows of a state do not give.

    The last look is found anew from the rows, and so is each verdict of a gate that stands, from the rows it
    was shown on, which must be among them. A look that had the evidence, over rows enough, has its verdict.
    Looks before the last speak of rows that have been added up since, and only how they hang together is
    seen; of an alarm over very many cells the estimate alone is found again.

    Args:
        root: The document.

        state: What it holds otherwise.

    Raises:
        DocumentProblem: With the place.
    """
    nodes = root.child("batches").items()
    counted = list(accumulate(batch.rows for batch in state.batches))
    _check_order(nodes, state, counted)
    if state.batches and state.batches[-1].look is not None:
        _check_last(nodes[-1].child("look"), state.batches[-1].look, state)
    _check_verdict(root, "passed", state, counted)
    _check_verdict(root, "failed", state, counted)


def _check_order(nodes: tuple[Node, ...], state: GateState, counted: list[int]) -> None:
    """Refuse looks at other rows than the batches by then, and batches without a look after one with it."""
    rows = ones = 0
    looked = False
    for node, batch, by_then in zip(nodes, state.batches, counted, strict=True):
        look = batch.look
        if look is None:
            if looked:
                msg = "is null, and an earlier batch was looked at"
                raise node.child("look").problem(msg)
            continue
        looked = True
        place = node.child("look")
        place.child("rows").expect(by_then)
        if look.positive is None:
            continue
        if not ones <= look.positive <= ones + by_then - rows:
            msg = f"is {look.positive:,}, which {by_then - rows:,} rows after {ones:,} do not give"
            raise place.child("positive").problem(msg)
        rows, ones = by_then, look.positive


def _check_last(node: Node, found: Look, state: GateState) -> None:
    pairs: list[tuple[str, float | None, float | None]] = [("value", found.value, state.bets.value)]
    if len(state.epochs) * state.terms.partition.size <= _MOST_CELLS:
        mine = state.look()
        pairs += [("log_pass", found.log_pass, mine.log_pass), ("log_fail", found.log_fail, mine.log_fail)]
    for name, said, due in pairs:
        _refuse_other(node.child(name), said, due)
    if found.positive is not None:
        node.child("positive").expect(state.sums.total_positive)
    if found.lower is not None and found.upper is not None:
        _check_bounds(node, found.lower, found.upper, state)


def _check_bounds(node: Node, lower: float, upper: float, state: GateState) -> None:
    """Refuse bounds that are not where the evidence is just enough: beyond it is, and before it is not."""
    bets, stakes, level = state.bets, state.terms.stakes, state.terms.threshold
    outer, inner = min(1.0, upper + _NEAR), max(0.0, upper - _NEAR)
    enough = upper >= 1.0 - _NEAR or bets.log_pass(outer, stakes) >= level
    if not (enough and (upper <= _NEAR or bets.log_pass(inner, stakes) < level)):
        msg = f"is {upper:.10g}, and what was counted gives another bound"
        raise node.child("upper").problem(msg)
    outer, inner = max(0.0, lower - _NEAR), min(1.0, lower + _NEAR)
    enough = lower <= _NEAR or bets.log_fail(outer, stakes) >= level
    if not (enough and (lower >= 1.0 - _NEAR or bets.log_fail(inner, stakes) < level)):
        msg = f"is {lower:.10g}, and what was counted gives another bound"
        raise node.child("lower").problem(msg)


def _refuse_other(node: Node, said: float | None, due: float | None) -> None:
    if said is None or due is None or math.isclose(said, due, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE):
        return
    msg = f"is {said:.10g}, and what was counted gives {due:.10g}: one of the two was changed"
    raise node.problem(msg)


def _check_verdict(root: Node, name: str, state: GateState, counted: list[int]) -> None:
    """Refuse a verdict that nothing shows, and evidence that has no verdict."""
    terms, passing = state.terms, name == "passed"
    at = state.passed_at if passing else state.failed_at
    shown_on = state.passed_on if passing else state.failed_on
    looks = [batch.look for batch in state.batches if batch.look is not None]
    enough = terms.threshold - _TOLERANCE * (1.0 + terms.threshold)
    shown = [look.rows for look in looks if _evidence(look, passing=passing) >= enough]
    first = next((look.rows for look in looks if _concludes(look, state, passing=passing)), None)
    place = root.child(f"{name}_at")
    if first is not None and (at is None or at > first):
        msg = f"is {'null' if at is None else f'{at:,}'}, and the look at {first:,} rows had the evidence"
        raise place.problem(msg)
    if at is None:
        if shown_on is not None:
            root.child(f"{name}_on").expect(None)
        return
    by_looks = len(looks) == len(state.batches) and at not in shown
    if at not in counted or by_looks:
        msg = f"is {at:,}, and no look at so many rows had the evidence"
        raise place.problem(msg)
    if shown_on is not None:
        _check_shown_on(root.child(f"{name}_on"), shown_on, at, state, passing=passing)
    elif not terms.alarm and state.since > 1:
        msg = "is null, and the verdict was shown on some rows"
        raise root.child(f"{name}_on").problem(msg)


def _check_shown_on(node: Node, sums: Sums, at: int, state: GateState, *, passing: bool) -> None:
    """Refuse rows that do not show a verdict, or are not among those that were counted."""
    terms = state.terms
    if sums.total_rows != at:
        msg = f"has {sums.total_rows:,} rows, and the verdict was shown at {at:,}"
        raise node.problem(msg)
    if not _among(sums, state.sums, width=terms.partition.width):
        msg = "has rows that are not among those counted"
        raise node.problem(msg)
    bets, limit = Bets(sums, terms.partition, measure=terms.measure), terms.limit or 0.0
    evidence = bets.log_pass(limit, terms.stakes) if passing else bets.log_fail(limit, terms.stakes)
    if evidence < terms.threshold - _TOLERANCE * (1.0 + terms.threshold):
        msg = "does not show the verdict"
        raise node.problem(msg)
    look = next((one.look for one in state.batches if one.look is not None and one.look.rows == at), None)
    if look is not None and not math.isclose(
        _evidence(look, passing=passing), evidence, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE
    ):
        msg = "does not give the look at so many rows"
        raise node.problem(msg)


def _among(some: Sums, whole: Sums, *, width: float) -> bool:
    """Whether rows may be some of others: what is left in every cell are rows as well."""
    for mine, all_rows in zip(zip(*some.columns, strict=True), zip(*whole.columns, strict=True), strict=True):
        rows, ones, *below = (there - here for here, there in zip(mine, all_rows, strict=True))
        if not 0 <= ones <= rows:
            return False
        if not all(
            plausible_distance(found, count, width=width)
            for found, count in zip(below, (ones, rows - ones), strict=True)
        ):
            return False
    return True


def _evidence(look: Look, *, passing: bool) -> float:
    found = look.log_pass if passing else look.log_fail
    return -math.inf if found is None else found


def _concludes(look: Look, state: GateState, *, passing: bool) -> bool:
    """Whether a look had the evidence, by a margin for rounding, over rows enough to conclude from."""
    level = state.terms.threshold
    if _evidence(look, passing=passing) < level + _TOLERANCE * (1.0 + level):
        return False
    if state.terms.alarm:
        return True
    if look.positive is not None and look.least is not None:
        return too_few_counted(look.rows, look.positive, least=look.least) is None
    # A look of version 1 does not say how many rows had label 1: so many at least of the rarer label.
    ones = state.sums.total_positive
    rarer = min(ones, state.rows - ones) - (state.rows - look.rows)
    return too_few_counted(look.rows, max(0, min(rarer, look.rows)), least=DEFAULT_LEAST_ROWS) is None
