"""Families: each name with its words and what is known of it before anything is computed."""

import math
from enum import StrEnum, auto
from importlib import import_module
from typing import Any, NamedTuple, Self

# What a definition says of a measure or test, in this order.
LABELS = ("Reading", "Estimand", "Estimator", "Interval", "Assumes", "Reference")


def loaded(place: str) -> Any:  # noqa: ANN401 - a function, a class or a table
    """Return what a member names, as `room.module.name`; its module is imported here and not before."""
    module, _, name = place.rpartition(".")
    return getattr(import_module(f"calibcli.{module}"), name)


class Home(StrEnum):
    """The modules of `calibcli.stats.measures`, each with a table of the measures that it computes."""

    BINNED = auto()
    L2 = auto()
    SMOOTH_ECE = auto()
    DISTANCE = auto()
    SMOOTH = auto()
    CUTOFF = auto()
    BIAS = auto()
    COX = auto()
    SCORES = auto()
    SKILL = auto()
    DECOMPOSITIONS = auto()
    DISCRIMINATION = auto()


class Facts(NamedTuple):
    """What is known of a measure or test: where it is computed, whether an interval exists, its range.

    Args:
        gate: What judges a limit by bounds made for gates, as `module.function` of `calibcli.stats.gates`; by
            default that is the interval.
        any_time: Whether a state may count rows for such a limit and be asked after each batch.
        compared: Whether more of it is worse and bounds say by how much, so that a gate compares it with a
            baseline.
        percent: A limit from here on is one in per cent, where no end of the range shows that.
        best: What a perfect score has, infinite where more is always better; None where neither more nor less
            is better.
    """

    home: Home | None = None
    interval: bool = True
    least: float = 0.0
    most: float = 1.0
    gate: str = "other_rules.interval_rule"
    any_time: bool = False
    compared: bool = False
    percent: float = math.inf
    best: float | None = 0.0

    @property
    def more_is_better(self) -> bool:
        """Whether a larger value is better wherever it lies."""
        return self.best is not None and self.best >= self.most

    def badness(self, value: float) -> float:
        """Return what grows as a value gets worse: how far it is from the best one."""
        if self.best is None:
            return math.nan
        return -value if math.isinf(self.best) else abs(value - self.best)


class Known(StrEnum):
    """A name together with what is known of it, declared behind its value."""

    facts: Any
    words: str

    def __new__(cls, value: str, facts: object = None, words: str = "") -> Self:
        """Return the member; values alone are looked up by `Enum` itself."""
        found = str.__new__(cls, value)
        found._value_ = value
        found.facts, found.words = facts, words
        return found


class Explained(Known):
    """A measure or test: its name, its facts and its words.

    The words are a line with what the field calls it, one sentence for a reader who has not met it, and a
    paragraph for each of `LABELS`; a paragraph begins a line.
    """

    facts: Facts

    @property
    def called(self) -> str:
        """What the field calls it, within a sentence."""
        return self.words.lstrip().partition("\n")[0]

    @property
    def meaning(self) -> str:
        """One sentence for a reader who has not met it."""
        return paragraphs_of(self.words)[1]

    @property
    def definition(self) -> tuple[str, ...]:
        """What is said under each of `LABELS`."""
        return paragraphs_of(self.words)[2:]


def paragraphs_of(words: str) -> tuple[str, ...]:
    """Return the name, the sentence and the paragraphs of a definition, each as one line."""
    called, _, text = words.strip().partition("\n")
    parts: list[list[str]] = [[called], []]
    for line in map(str.strip, text.splitlines()):
        label, _, rest = line.partition(": ")
        # A label that another must come before is a word of the text.
        if len(parts) <= 1 + len(LABELS) and label == LABELS[len(parts) - 2]:
            parts.append([rest])
        else:
            parts[-1].append(line)
    if len(parts) != 2 + len(LABELS):
        msg = f"a definition has a name, a sentence and {', '.join(LABELS)}, in this order: {called!r}"
        raise ValueError(msg)
    return tuple(" ".join(part) for part in parts)
