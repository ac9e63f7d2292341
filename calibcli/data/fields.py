"""Scores, labels and weights of a batch, checked."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any, assert_never, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from calibcli.data import arrays
from calibcli.data.arrays import Column
from calibcli.data.faults import HEAVIEST, LIGHTEST, MOST_LABELS, Fault, FaultKind, Findings, Places
from calibcli.names import OnRange, Scale
from calibcli.options.numerals import number_name, number_of, usual_name
from calibcli.options.rows import Columns
from calibcli.stats.table import Booleans, Floats, Indices, Integers, run_starts
from calibcli.values import dataclass


def probabilities(
    values: Floats, requested: Columns, *, findings: Findings, places: Places, column: int = 0
) -> Floats:
    """Scores outside [0, 1] are clipped on request, and else noted as faults."""
    scores = on_scale(values, requested.read_as)
    if not scores.size or (scores.min() >= 0.0 and scores.max() <= 1.0):
        return scores
    outside = np.flatnonzero((scores < 0.0) | (scores > 1.0))
    if requested.on_range is OnRange.CLIP:
        findings.clipped += outside.size
        return np.clip(scores, 0.0, 1.0)
    fault = Fault.among(outside, values[outside], places)
    findings.note(FaultKind.OUTSIDE, fault, column=column)
    return scores


def on_scale(values: Floats, scale: Scale) -> Floats:
    """Return what scores on a scale say as probabilities; those on no scale's range stay outside [0, 1]."""
    match scale:
        case Scale.PROB:
            return values
        case Scale.LOGIT:
            # Only negative numbers are exponentiated, so that nothing overflows.
            small = np.exp(-np.abs(values))
            return np.asarray(np.where(values >= 0, 1.0, small) / (1.0 + small))
        case Scale.LOGPROB:
            with np.errstate(over="ignore"):
                return np.asarray(np.exp(values))
        case Scale.PERCENT:
            return np.asarray(values / 100.0)
        case _:
            assert_never(scale)


_WORDS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """A column of labels.

    Args:
        strange: Shape (n,), which labels are neither 0 nor 1 (a missing one may seem so); None if all are.
        codes: Shape (n,), equal where labels are equal.
        text: Returns the label of a row as text.
        respelled: Shape (n,), which labels are text that differs from the positive one only as `1.0` or
            `true` does from `1`; None if none does.
        between: Shape (n,), which labels are numbers between 0 and 1 and not the positive one, as soft labels
            are; None if none is.
        place: Shape (n,), the place of each label's class, -1 where it names none; None where there are none.
        counted: Whether some are no names of classes, but numbers that were read as places counted from 0.
    """

    positive: Booleans
    missing: Booleans | None
    strange: Booleans | None
    codes: npt.NDArray[np.generic]
    text: Callable[[int], str]
    respelled: Booleans | None = None
    between: Booleans | None = None
    place: Integers | None = None
    counted: bool = False

    def distinct(self, places: Places) -> list[str]:
        """Return the different labels among the rows that are left, in order of appearance, as text."""
        order = _first_rows(places.select(self.codes))
        return [self.text(int(row)) for row in (order if places.kept is None else places.kept[order])]


def _first_rows(codes: npt.NDArray[np.generic]) -> Indices:
    """Return where each different code stands first, ascending; a few more than a message can list."""
    other = np.flatnonzero(codes != codes[:1])
    if not other.size or (codes[other] == codes[other[0]]).all():
        # One code or two, as labels mostly are: no need to sort them.
        return np.append(np.arange(codes.size)[:1], other[:1])
    ranked = np.argsort(codes, kind="stable")
    return np.sort(ranked[run_starts(codes[ranked])])[: MOST_LABELS + 1]


def unlabelled(rows: int) -> Labels:
    """Return labels of rows that need none: all 0."""
    return Labels(np.zeros(rows, np.bool_), None, None, np.zeros(rows, np.int8), str)


def can_be_labels(kind: pa.DataType) -> bool:
    truths = pa.types.is_boolean(kind) or pa.types.is_null(kind)
    return truths or arrays.is_number(kind) or arrays.is_text(kind)


def labels_of(column: Column, positive: str | None) -> Labels:
    column = arrays.plain(column)
    if pa.types.is_null(column.type):
        column = column.cast(pa.bool_())
    if arrays.is_text(column.type) or pa.types.is_decimal(column.type):
        # Each different one is looked at once.
        from calibcli.data.values import names_of

        names = names_of(column) if arrays.is_text(column.type) else arrays.wide_decimals(column)
        column = names.dictionary_encode()
    if isinstance(column, pa.DictionaryArray):
        return _of_dictionary(column, positive)
    if pa.types.is_boolean(column.type):
        values = arrays.booleans(column)
        wanted = True if positive is None else _binary(positive.strip())
        ones = np.zeros_like(values) if wanted is None else values == wanted
        return Labels(ones, arrays.nulls(column), None, values, lambda row: str(bool(values[row])).lower())
    return _of_numbers(column, positive)


def _of_dictionary(column: "pa.DictionaryArray[Any, Any]", positive: str | None) -> Labels:
    """Look every label up by its place in the dictionary."""
    values = arrays.plain(cast("Column", column.dictionary))
    kind = values.type
    by_entry = _of_decimals if pa.types.is_decimal(kind) else _of_texts if arrays.is_text(kind) else labels_of
    entries = by_entry(values, positive)
    index, missing = arrays.places_in(column)
    if not len(values):
        # Nothing but nulls: there is no entry to look up.
        nothing = np.zeros(len(column), np.bool_)
        return Labels(nothing, missing, None, nothing, lambda _: "")
    if entries.missing is not None:
        lost = entries.missing[index]
        missing = lost if missing is None else missing | lost
    special = (entries.strange, entries.respelled, entries.between)
    strange, respelled, between = (None if one is None else one[index] for one in special)
    text = entries.text
    return Labels(
        entries.positive[index],
        missing,
        strange,
        index,
        lambda row: text(int(index[row])),
        respelled,
        between,
    )


def _of_texts(values: Column, positive: str | None) -> Labels:
    """Read the entries of a dictionary of text, one by one."""
    entries = values
    if not pa.types.is_string(values.type):
        # A cast imports pyarrow.compute, which takes longer than a small file does.
        from calibcli.data.values import names_of

        entries = names_of(values)
    texts = [("" if text is None else str(text)).strip() for text in entries.to_pylist()]
    missing = np.array([not text for text in texts], np.bool_)
    places = np.arange(len(texts))
    if positive is not None:
        wanted = positive.strip()
        ones = np.array([text == wanted for text in texts], np.bool_)
        near = _some([text != wanted and _reads_like(text, wanted) for text in texts])
        soft = _some([text != wanted and _between(number_of(text)) for text in texts])
        return Labels(ones, missing, None, places, texts.__getitem__, near, soft)
    meaning = [_binary(text) for text in texts]
    ones = np.array([bool(one) for one in meaning], np.bool_)
    return Labels(ones, missing, _some([one is None for one in meaning]), places, texts.__getitem__)


def _some(which: list[bool]) -> Booleans | None:
    return np.array(which, np.bool_) if any(which) else None


def _between(number: Decimal | None) -> bool:
    return number is not None and 0 < number < 1


def _reads_like(text: str, positive: str) -> bool:
    """Whether a text is hardly meant to be another label: 1.0 and 1, True and true, true and 1."""
    if text.casefold() in _WORDS or positive.casefold() in _WORDS:
        meaning = _binary(text)
        return meaning is not None and meaning == _binary(positive)
    usual = usual_name(positive)
    return usual is not None and usual_name(text) == usual


def _of_numbers(column: Column, positive: str | None) -> Labels:
    """Compare numbers as they are stored: rounding to a boolean would take 0.5 for true."""
    missing: Booleans | None
    values: Integers | Floats
    if pa.types.is_integer(column.type):
        values, missing = cast("Integers", np.from_dlpack(arrays.without_nulls(column))), arrays.nulls(column)
    else:
        decoded = arrays.floats(column)
        values, missing = decoded.values, decoded.missing
    strange: Booleans | None = None
    between: Booleans | None = None
    if positive is not None:
        from calibcli.data.values import equals

        ones = equals(column, positive)
        if not pa.types.is_integer(column.type):
            between = (values > 0) & (values < 1) & ~ones
    else:
        ones = values == 1
        if np.count_nonzero(ones) + np.count_nonzero(values == 0) < values.size:
            strange = ~ones & (values != 0)
    return Labels(
        ones, missing, strange, values, lambda row: number_name(values[row].item()), between=between
    )


def _of_decimals(values: Column, positive: str | None) -> Labels:
    """Read the different values of a column of decimals, as they are."""
    from calibcli.data.values import equals, names_of

    names = names_of(values).to_pylist()
    ones = equals(values, "1" if positive is None else positive)
    strange = None if positive is not None else ~ones & ~equals(values, "0")
    soft = [_between(None if name is None else number_of(str(name))) for name in names]
    between = None if positive is None else ~ones & np.array(soft, np.bool_)
    order = np.arange(len(names))
    return Labels(ones, arrays.nulls(values), strange, order, lambda row: str(names[row]), between=between)


def _binary(text: str) -> bool | None:
    """Return what a label means as it stands, or None if it is neither 0 nor 1."""
    word = _WORDS.get(text.casefold())
    number = number_of(text)
    return number == 1 if word is None and number in (0, 1) else word


def check_weights(weight: Floats, *, whole: bool, findings: Findings, places: Places) -> None:
    if not weight.size:
        return
    if not (weight.min() >= 0.0 and weight.max() <= np.finfo(np.float64).max):
        bad = (weight < 0.0) | np.isinf(weight)
        findings.note(FaultKind.BAD_WEIGHT, _fault(weight, bad, places))
    elif whole:
        fractional = weight != np.floor(weight)
        if fractional.any():
            findings.note(FaultKind.FRACTIONAL_WEIGHT, _fault(weight, fractional, places))
        with np.errstate(over="ignore"):
            findings.counted += float(weight.sum())
    else:
        extreme = (weight > HEAVIEST) | ((weight > 0.0) & (weight < LIGHTEST))
        if extreme.any():
            findings.note(FaultKind.HUGE_WEIGHT, _fault(weight, extreme, places))
    findings.weightless += weight.size - int(np.count_nonzero(weight))


def _fault(weight: Floats, where: Booleans, places: Places) -> Fault:
    first = int(np.argmax(where))
    return Fault(int(np.count_nonzero(where)), places.row(first), str(weight[first]).removesuffix(".0"))
