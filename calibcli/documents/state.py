"""The state of a gate on disk: what its parts must agree on, and how it is read and grown under a lock."""

import math
import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np

from calibcli.codec import AGAIN, Node, ascending, version_of
from calibcli.data.objects import is_object
from calibcli.data.outputs import beginning_of, refuse_existing, write_file
from calibcli.documents import sealed
from calibcli.errors import DocumentProblem, InputProblem, OutputProblem, UsageProblem
from calibcli.names import DEFAULT_LEAST_ROWS, STDOUT
from calibcli.stats.gates.any_time import MOST_EPOCHS
from calibcli.stats.gates.cells import Partition, Sums, plausible_distance
from calibcli.stats.gates.claim import too_few_counted
from calibcli.stats.gates.state import GateState, Look
from calibcli.values import replace

_TOLERANCE = 1e-9

# How near a bound on file must be to where the evidence reaches 1 / delta.
_NEAR = 1e-8

# The evidence of an alarm over more cells, all starts together, takes too long at every call.
_MOST_CELLS = 200_000


def check_looks(root: Node, state: GateState) -> None:
    """Refuse looks and verdicts that the rows of a state do not give.

    The last look is found anew from the rows, and so is each verdict of a gate that stands, from the rows it
    was shown on, which must be among them. A look that had the evidence, over rows enough, has its verdict.
    Looks before the last speak of rows that have been added up since, and only how they hang together is
    seen; of an alarm over very many cells the estimate alone is found again.
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
    bets, limit = terms.bets_on(sums), terms.limit or 0.0
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


def from_dict(root: Node) -> GateState:
    version = version_of(root, GateState.SCHEMA, **GateState.ORIGIN)
    ids = root.optional("ids")
    known = root.knowing(
        since=1,
        by_id=ids is not None,
        ids=np.frombuffer(b"" if ids is None else sealed.eight_bytes(ids), "<u8").astype(np.uint64),
        partition=Partition.from_dict(root.child("partition")),
    )
    state = GateState.from_dict(known)
    _check_batches(root.child("batches"), state, version=version)
    _check_epochs(root.child("epochs"), state)
    _check_rows(root, state)
    if state.terms.alarm:
        for key in ("passed_at", *(("passed_on", "failed_on") if version > 1 else ())):
            root.child(key).expect(None)
    elif state.terms.limit is None:
        root.child("rule").child("limit").number()
    if version > 1 and state.since > 1 and state.batches and state.terms.label is None:
        root.child("input").child("label").text()
    if version > 1 and state.since == 1 and not state.notes:
        msg = "is 1, and no note says so"
        raise root.child("since").problem(msg)
    check_looks(root, state)
    return state


def _check_batches(node: Node, state: GateState, *, version: int) -> None:
    """Refuse two batches of one name, and what looks at such a state do not say."""
    seen: set[str] = set()
    for batch, item in zip(state.batches, node.items(), strict=True):
        if batch.key in seen:
            msg = f"is {batch.key!r}, which an earlier batch is called"
            raise item.child("key").problem(msg)
        seen.add(batch.key)
        if batch.content is not None and not state.terms.by_id:
            msg = "is there, and no identities are"
            raise item.child("content").problem(msg)
        if batch.look is None:
            continue
        look = item.child("look")
        if version > 1 and state.since > 1:
            look.child("least")
        if batch.look.positive is not None:
            look.child("least")
        if not state.terms.alarm:
            look.child("log_pass").number()
            look.child("upper" if look.has("upper") else "value").number(batch.look.lower or 0.0)
        elif batch.look.lower is not None:
            msg = "is there, and an alarm has no bounds"
            raise look.child("lower").problem(msg)
        else:
            look.child("log_pass").expect(None)


def _check_epochs(node: Node, state: GateState) -> None:
    """Refuse sums by starting point that are not those of the batches."""
    items, count = node.items(), len(state.batches)
    if (len(items) > 1 and not state.terms.alarm) or (count and not items):
        msg = f"has {len(items)} elements, should have from 1 to {MOST_EPOCHS if state.terms.alarm else 1}"
        raise node.problem(msg)
    firsts = [item.child("first") for item in items]
    for first in firsts:
        first.whole(1, count)
    ascending(firsts)
    if firsts:
        firsts[0].expect(1)
    ends = [*(epoch.first for epoch in state.epochs), count + 1]
    for item, epoch, (begin, end) in zip(items, state.epochs, pairwise(ends), strict=True):
        rows = sum(batch.rows for batch in state.batches[begin - 1 : end - 1])
        if epoch.sums.total_rows != rows:
            msg = f"does not hold the {rows:,} rows that the batches have"
            raise (node if len(items) == 1 else item).problem(msg)


def _check_rows(root: Node, state: GateState) -> None:
    """Refuse more fingerprints than rows, and verdicts on more rows than there are."""
    if state.id_kinds and not state.terms.by_id:
        msg = "is there, and no identities are"
        raise root.child("id_kinds").problem(msg)
    if state.ids.size > state.rows or np.any(state.ids[1:] <= state.ids[:-1]):
        msg = f"has {state.ids.size:,} fingerprints of {state.rows:,} rows, or they do not ascend"
        raise root.child("ids").problem(msg)
    for key in ("passed_at", "failed_at"):
        place = root.optional(key)
        if place is not None:
            place.whole(1, state.rows)


_KEY_VARIABLE = "CALIBCLI_STATE_KEY"

_SHORTEST_KEY = 16

_MOST_KEYS = 1 << 16

_PATIENCE = 60.0

_RESTORE = "restore it from a copy, or count the rows anew under another --state"


def state_text(state: GateState) -> str:
    """Return the one text of a state: the same state, and the same key, give the same bytes."""
    keys = signing_keys()
    return sealed.sealed_text(state.to_dict(), key=keys[0] if keys else None)


def signing_keys() -> tuple[bytes, ...]:
    """Return the keys that states may be signed with, those of a named file before that of the environment.

    Each line is one. The first signs; the others are those of before, so that a key can be replaced while
    states are still signed with the old one. Nothing that is printed holds any of them. The file is read once
    a command, since a pipe gives what it holds only once.
    """
    path = sealed.trust().key_file
    if path is not None and sealed.trust().keys:
        return sealed.trust().keys
    where, content = path or _KEY_VARIABLE, os.environ.get(_KEY_VARIABLE, "").encode(errors="surrogateescape")
    if path is not None:
        try:
            with Path(path).open("rb") as file:
                content = file.read(_MOST_KEYS + 1)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            msg = f"{path}: the key of the state cannot be read ({reason})"
            raise InputProblem(msg, "name a file with --state-key-file") from None
    elif _KEY_VARIABLE not in os.environ:
        return ()
    keys = tuple(line.strip() for line in content.splitlines() if line.strip())
    if not keys or len(content) > _MOST_KEYS or min(map(len, keys)) < _SHORTEST_KEY:
        lacks = f"holds a key of less than {_SHORTEST_KEY} characters" if keys else "holds no key"
        msg = f"{where} {'is no file of keys' if len(content) > _MOST_KEYS else lacks}"
        raise UsageProblem(msg, "write one a line, such as `openssl rand -hex 32` makes")
    if path is not None:
        sealed.trust_from_now_on(replace(sealed.trust(), keys=keys))
    return keys


def read_state(path: str | Path) -> GateState | None:
    """Read a state; None where there is none yet."""
    try:
        content = sealed.content_in(path)
    except FileNotFoundError:
        return None
    try:
        with sealed.trusting(replace(sealed.trust(), keys=signing_keys())):
            state, doubts = sealed.parse(content).built(from_dict, keyed=True)
    except DocumentProblem as problem:
        raise sealed.in_file(path, DocumentProblem(problem.path, problem.detail, _hint(problem))) from None
    return state.doubted(doubts)


def state_in(path: str) -> GateState:
    """Read a state that must be there."""
    state = read_state(path)
    if state is None:
        msg = f"{path}: there is no such file"
        raise InputProblem(msg, "a state is what `calibcli verify --state` writes")
    return state


def refuse_state(path: str, *, inputs: Iterable[str | Path] = ()) -> None:
    """Refuse a path that no state can be kept at, before any row is read."""
    if path in (STDOUT, ""):
        msg = "a state cannot be kept on standard output" if path else "--state '' names no file"
        raise UsageProblem(msg, "name a file with --state")
    if is_object(path):
        msg = f"--state {path}: a state is locked while it is changed, which object stores cannot do"
        raise UsageProblem(msg, "keep it on a file system, and copy it to the store afterwards")
    refuse_existing(path, force=True, inputs=inputs)
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116 - one call, links followed
            msg = f"{path} is not a file"
            raise OutputProblem(msg, "name a file with --state, or one that is not there yet")


def save_state(path: str, state: GateState) -> None:
    """Replace a state; the caller holds its lock, and has looked at what is there (`refuse_state`)."""
    _remove_leftovers(path)
    write_file(path, state_text(state).encode("ascii"))
    _flush_folder(path)


@contextmanager
def locked(path: str) -> Iterator[None]:
    """Hold the lock of a state; it need not exist yet."""
    try:
        import fcntl
    except ImportError:
        msg = f"{path} cannot be locked: this system has no flock"
        raise OutputProblem(msg, "keep the state on a system that has it, such as Linux or macOS") from None
    target = Path(os.path.realpath(path))
    companion = target.with_name(f".{target.name}.lock")
    descriptor = _opened(companion, path)
    try:
        _wait(lambda: fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB), path)
        yield
    finally:
        os.close(descriptor)


def _opened(companion: Path, path: str) -> int:
    """Open the companion of a state, and make it if it is not there.

    That of another user is not asked to be made, which systems refuse in a folder such as /tmp, and is read
    where it may not be written: a lock takes no more.
    """
    flags = getattr(os, "O_CLOEXEC", 0)
    for access in (os.O_RDWR, os.O_RDONLY):
        try:
            return os.open(companion, access | flags)
        except FileNotFoundError:
            break
        except PermissionError:
            continue
        except OSError as error:
            raise _not_locked(path, error) from error
    try:
        return os.open(companion, os.O_RDWR | os.O_CREAT | flags, 0o666)
    except OSError as error:
        raise _not_locked(path, error) from error


def _wait(take: Callable[[], None], path: str) -> None:
    """Take a lock, waiting for others to let go of it."""
    begun, pause = time.monotonic(), 0.002
    while True:
        try:
            take()
        except BlockingIOError:
            if time.monotonic() - begun > _PATIENCE:
                msg = f"{path} cannot be locked: another process has held it for {_PATIENCE:.0f} seconds"
                raise OutputProblem(msg, "see what that process does, and run this again") from None
        except OSError as error:
            raise _not_locked(path, error) from error
        else:
            return
        time.sleep(pause)
        pause = min(0.05, 2.0 * pause)


def _not_locked(path: str, error: OSError) -> OutputProblem:
    msg = f"{path} cannot be locked: {(error.strerror or str(error)).lower()}"
    return OutputProblem(msg, "keep the state on a local file system, in a directory that can be written")


def _remove_leftovers(path: str) -> None:
    """Remove what killed processes left beside a state; whoever holds its lock is alone here."""
    target = Path(os.path.realpath(path))
    if beginning_of(target.name) != target.name:
        # What is left of such a name could be another's.
        return
    left = re.compile(rf"\.{re.escape(target.name)}\.\d+-[0-9a-f]{{8}}\.part")
    with suppress(OSError):
        for entry in os.scandir(target.parent):
            if left.fullmatch(entry.name):
                with suppress(OSError):
                    os.unlink(entry.path)  # noqa: PTH108 - scandir gives no Path


def _flush_folder(path: str) -> None:
    """Make a rename outlast a power failure, where the file system can."""
    with suppress(OSError):
        descriptor = os.open(Path(os.path.realpath(path)).parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _hint(problem: DocumentProblem) -> str:
    """Keep a hint that does not ask to write the document again, which would begin another state."""
    if problem.hint == sealed.NO_JSON:
        return f"{sealed.NO_JSON} A state is what `calibcli verify --state` wrote"
    return problem.hint if problem.hint and AGAIN not in problem.hint else _RESTORE
