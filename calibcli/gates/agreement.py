"""What two states, or a state and a call, must agree on."""

from calibcli.gates.cells import Partition
from calibcli.gates.seen_classes import class_differences
from calibcli.gates.state import Terms


def differences(mine: Terms, other: Terms) -> list[str]:
    """Return what differs between terms, as `what: mine, not other`; rows under both could not be added."""
    pairs = [
        ("measure", mine.measure.value, other.measure.value),
        ("limit", _limit(mine), _limit(other)),
        ("confidence", f"{mine.confidence:g}", f"{other.confidence:g}"),
        ("question", _question(mine), _question(other)),
        ("artifact", mine.artifact or "none", other.artifact or "none"),
        ("score column", mine.score.strip().casefold(), other.score.strip().casefold()),
        *_columns(mine, other),
        ("scale", mine.scale.value, other.scale.value),
        *class_differences(mine.classes, other.classes),
        ("label that counts as 1", repr(mine.positive), repr(other.positive)),
        ("bins", _bins(mine.partition), _bins(other.partition)),
        ("identities", _kept(mine), _kept(other)),
    ]
    found = [f"{what}: {one}, not {two}" for what, one, two in pairs if one != two]
    if not found and mine.partition != other.partition:
        found.append("outputs of the artifact: other values")
    if not found and mine.stakes != other.stakes:
        found.append("bets: other sizes")
    return found


def _columns(mine: Terms, other: Terms) -> list[tuple[str, str, str]]:
    """Return the columns beside the score, where both are known: a state of version 1 does not say."""
    if mine.label is None or other.label is None:
        return []
    return [
        ("label column", _folded(mine.label), _folded(other.label)),
        ("weight column", _folded(mine.weight), _folded(other.weight)),
    ]


def _folded(name: str | None) -> str:
    return "none" if name is None else name.strip().casefold()


def _limit(terms: Terms) -> str:
    return "none" if terms.limit is None else f"{terms.limit!r}"


def _question(terms: Terms) -> str:
    return "an alarm" if terms.alarm else "a gate"


def _bins(partition: Partition) -> str:
    return "each output" if partition.outputs else f"{partition.bins}"


def _kept(terms: Terms) -> str:
    return "of rows" if terms.identified else "of batches"
