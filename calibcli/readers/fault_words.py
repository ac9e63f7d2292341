"""Faults to the one line that a user reads."""

import shlex
from collections.abc import Iterable, Sequence
from typing import assert_never

from calibcli.errors import InputProblem
from calibcli.names import Scale
from calibcli.readers.columns import ChosenColumns
from calibcli.readers.faults import (
    HEAVIEST,
    LIGHTEST,
    MOST_LABELS,
    UNCOUNTABLE,
    Fault,
    FaultKind,
    Findings,
)
from calibcli.readers.labels import number_of
from calibcli.readers.names_of_columns import listing
from calibcli.view_names import OnSum

# Scores that pass 0 or 1 by less than this have been rounded, or added up from rounded ones.
_ROUNDED = 0.01
_SOFT = (
    "soft labels are not read: round them, or write each row twice, with label 1 and weight p and with "
    "label 0 and weight 1 - p"
)
_POSITIVE_WORDS = {"yes", "y", "t", "positive", "pos", "good", "correct", "right", "pass", "success", "event"}


def problem_of(
    findings: Findings, chosen: ChosenColumns, *, shown: str, partly: bool = False
) -> InputProblem | None:
    """
    Return the first fault, in the order of `FaultKind`, as the error a user sees; None without faults.

    Args:
        findings: What was found.

        chosen: The columns of the file.

        shown: The file's name in messages.

        partly: Whether the file was read only up to the fault.
    """
    if not findings.faults:
        return None
    order = list(FaultKind)
    kind, place = min(findings.faults, key=lambda one: (order.index(one[0]), one[1]))
    # Of lists every value counts, of other columns each by itself.
    in_list = kind is FaultKind.OUTSIDE and chosen.probs is not None and chosen.probs.in_list
    values = findings.rows * (len(chosen.classes) if in_list else 1)
    rows = f"{'the first ' if partly else ''}{values:,}"
    message, hint = _said(kind, findings, chosen, fault=findings.faults[kind, place], rows=rows)
    return InputProblem(f"{shown}, column {_column_of(kind, chosen, place)!r}: {message}", hint)


def never_positive(findings: Findings, chosen: ChosenColumns, *, shown: str) -> InputProblem | None:
    """Return the error for a `--positive` that no row of the whole input has."""
    positive = chosen.asked.positive
    if positive is None or findings.positive_rows or findings.rows == findings.dropped:
        return None
    msg = f"{shown}, column {chosen.label!r}: no label is {positive!r}, as --positive says"
    return InputProblem(msg, f"the labels are {_labels_listed(findings.labels)}")


def too_many(findings: Findings, chosen: ChosenColumns, *, shown: str) -> InputProblem | None:
    """Return the error for frequency weights that together are more than can be counted exactly."""
    if findings.counted < UNCOUNTABLE:
        return None
    msg = f"{shown}, column {chosen.weight!r}: frequency weights add up to {UNCOUNTABLE:,} rows or more"
    return InputProblem(msg, "leave out --weights-are frequency if the weights do not count repeated rows")


def _column_of(  # noqa: PLR0911 - one return a column
    kind: FaultKind, chosen: ChosenColumns, place: int
) -> str | None:
    match kind:
        case FaultKind.MISSING_SCORE | FaultKind.OUTSIDE:
            return chosen.scores[place]
        case FaultKind.NOT_SUMMING | FaultKind.WRONG_LENGTH:
            return chosen.shown_score
        case FaultKind.MISSING_GROUP:
            return chosen.group
        case FaultKind.MISSING_CLUSTER:
            return chosen.cluster
        case FaultKind.UNSEEN_GROUP:
            return chosen.member
        case FaultKind.MISSING_IDENTITY:
            return chosen.identity
        case FaultKind.MISSING_LABEL | FaultKind.NOT_BINARY | FaultKind.NOT_A_CLASS:
            return chosen.label
        case (
            FaultKind.MISSING_WEIGHT
            | FaultKind.BAD_WEIGHT
            | FaultKind.FRACTIONAL_WEIGHT
            | FaultKind.HUGE_WEIGHT
        ):
            return chosen.weight
        case _:
            assert_never(kind)


def _said(
    kind: FaultKind, findings: Findings, chosen: ChosenColumns, *, fault: Fault, rows: str
) -> tuple[str, str]:
    """Return what is wrong, with how many and the first, and what to do."""
    some = f"{fault.count:,} of {rows}"
    one = fault.count == 1
    first = f"the first is {fault.value} at row {fault.row:,}"
    match kind:
        case (
            FaultKind.MISSING_SCORE
            | FaultKind.MISSING_LABEL
            | FaultKind.MISSING_WEIGHT
            | FaultKind.MISSING_GROUP
            | FaultKind.MISSING_CLUSTER
            | FaultKind.MISSING_IDENTITY
        ):
            said = f"{some} values {'is' if one else 'are'} missing; the first is at row {fault.row:,}"
            if chosen.label is None:
                return said, "fill them in, or leave the rows out first: every row gets a value"
            return said, "--on-missing drop leaves such rows out and reports how many"
        case FaultKind.OUTSIDE:
            logs = chosen.asked.scale is Scale.LOGPROB
            where = "above 0, as no log-probability does" if logs else "outside [0, 1]"
            return f"{some} values {'lies' if one else 'lie'} {where}; {first}", _range_hint(fault, chosen)
        case FaultKind.NOT_BINARY:
            return _said_of_labels(findings.labels, some=some, first=first)
        case FaultKind.NOT_SUMMING | FaultKind.WRONG_LENGTH | FaultKind.NOT_A_CLASS:
            return _said_of_classes(kind, findings, chosen, fault=fault, some=some)
        case FaultKind.UNSEEN_GROUP:
            said = "rows {are} of a group that the fit has not seen"
            hint = "--unseen pooled takes the map of all fit rows for them"
        case FaultKind.BAD_WEIGHT:
            said, hint = "weights {are} negative or infinite", "weights must be finite and at least 0"
        case FaultKind.FRACTIONAL_WEIGHT:
            said = "frequency weights {are} not a whole number"
            hint = "leave out --weights-are frequency if the weights do not count repeated rows"
        case FaultKind.HUGE_WEIGHT:
            said = f"weights {{are}} above {HEAVIEST:g}, or above 0 and below {LIGHTEST:g}"
            hint = "divide all weights by the same number: only their ratios matter"
        case _:
            assert_never(kind)
    return f"{some} {said.format(are='is' if one else 'are')}; {first}", hint


def _said_of_labels(labels: Iterable[str], *, some: str, first: str) -> tuple[str, str]:
    seen = list(labels)
    if _soft(seen):
        said = f"{some} labels are neither 0 nor 1; {first}; there are {_labels_listed(seen)}"
        return (f"the labels are {_labels_listed(seen)}, not 0 and 1" if len(seen) == 2 else said), _SOFT
    if len(seen) == 1:
        positive = shlex.quote(seen[0])
        said = f"the only label is {seen[0]!r}, not 0 or 1"
        return said, f"--positive {positive} if it stands for 1"
    if len(seen) == 2:
        said = f"the labels are {_labels_listed(seen)}, not 0 and 1"
        return said, f"--positive {shlex.quote(likely_positive(seen))} says which of them stands for 1"
    said = f"{some} labels are neither 0 nor 1; {first}; there are {_labels_listed(seen)}"
    return said, "--positive VALUE makes one label stand for 1 and all others for 0"


def _soft(labels: Iterable[str]) -> bool:
    """Whether labels are numbers from 0 to 1, and some of them neither."""
    numbers = [number_of(label) for label in labels]
    return all(one is not None and 0 <= one <= 1 for one in numbers) and not {0, 1}.issuperset(numbers)


def _said_of_classes(
    kind: FaultKind, findings: Findings, chosen: ChosenColumns, *, fault: Fault, some: str
) -> tuple[str, str]:
    """Return what is wrong with rows of several classes, and what to do."""
    classes = () if chosen.probs is None else chosen.probs.classes
    do = "does" if fault.count == 1 else "do"
    first = f"the first is {fault.value} at row {fault.row:,}"
    if kind is FaultKind.NOT_SUMMING:
        return f"{some} rows {do} not sum to 1 within 0.001; {first}", _sum_hint(fault, chosen)
    if kind is FaultKind.WRONG_LENGTH:
        said = f"{some} lists {do} not hold {len(classes):,} numbers; {first}"
        return said, "every row needs a number for each class"
    name = "names" if fault.count == 1 else "name"
    said = f"{some} labels {name} none of the {len(classes):,} classes {listing(classes)}; {first}"
    strange = f"{said}; there are {_labels_listed(findings.labels)}"
    return strange, "--classes a,b,c names the classes in the order of their columns"


def _sum_hint(fault: Fault, chosen: ChosenColumns) -> str:
    several = chosen.asked.several
    if several is not None and several.on_sum is OnSum.NORMALISE:
        return "a row whose sum is 0 or infinite cannot be divided by it: leave such rows out"
    if chosen.asked.scale is Scale.PROB and (fault.lowest < 0.0 or fault.highest > 1.5):
        return (
            "if these are logits, pass --scale logit; if only rounded, --on-sum normalise divides by the sum;"
            " --on-sum accept takes rows as they are"
        )
    return "--on-sum normalise divides such rows by their sum, --on-sum accept takes them as they are"


def likely_positive(labels: Sequence[str]) -> str:
    """Return the label of two that more likely stands for 1: a word for yes, else the larger."""
    words = [label for label in labels if label.strip().casefold() in _POSITIVE_WORDS]
    return words[0] if len(words) == 1 else max(labels, key=_label_order)


def _label_order(label: str) -> tuple[bool, float, str]:
    """Order numbers by size, before text in alphabetical order."""
    try:
        return False, float(label), label
    except ValueError:
        return True, 0.0, label


def _labels_listed(labels: Iterable[str]) -> str:
    seen = list(labels)
    if len(seen) > MOST_LABELS:
        return ", ".join(map(repr, seen[:MOST_LABELS])) + " and more"
    ordered = [repr(label) for label in sorted(seen, key=_label_order)]
    return " and ".join(filter(None, (", ".join(ordered[:-1]), ordered[-1])))


def _range_hint(fault: Fault, chosen: ChosenColumns) -> str:
    scale = chosen.asked.scale
    if chosen.label is None:
        return f"the map was fitted with --scale {scale}: are these on it? --on-range clip takes the nearest"
    logs = scale is Scale.LOGPROB
    if max(-fault.lowest, fault.highest - (0.0 if logs else 1.0)) < _ROUNDED:
        return "if this is rounding, --on-range clip moves them to 0 or 1 and reports how many"
    if logs:
        return "leave out --scale logprob if these are probabilities"
    if fault.lowest > 1.0 and 1.5 < fault.highest <= 100.0:
        return "if these are percentages, divide them by 100; if they are logits, pass --scale logit"
    if fault.highest <= 0.0:
        return "if these are logits, pass --scale logit; if they are log-probabilities, --scale logprob"
    return "if these are logits, pass --scale logit"
