"""Scores in words: percentages with their sign, and phrases such as "very likely" by the user's table."""

import csv
import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa

from calibcli.data.arrays import Column, Decoded, places_in, plain
from calibcli.data.columns import ResolvedColumns
from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import Scale
from calibcli.options.numerals import in_full, number_of
from calibcli.options.rows import ScoreMap, names_of
from calibcli.stats.table import Booleans, Floats, Integers
from calibcli.values import dataclass

# What every reader of CSV takes for a missing number, as texts of other formats are taken, too.
MISSING = {"", "#n/a", "#n/a n/a", "#na", "n/a", "na", "nan", "-nan", "null", "none"} | {
    "-1.#ind",
    "-1.#qnan",
    "1.#ind",
    "1.#qnan",
    ".",
}
INFINITE = {"inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"}
_FILES = (".csv", ".tsv", ".json")
_HOW = "write phrases with their numbers, 'very likely=.9,likely=.7', or name a .csv or .json file of them"


def score_map_of(said: object) -> ScoreMap | None:
    """Return the number of each phrase, from a mapping, a text like `very likely=.9,likely=.7`, or a file.

    Numbers are on the scale of the score column. A file is an object of JSON, or CSV of two columns without
    or with a header.
    """
    if said is None:
        return None
    if isinstance(said, Mapping):
        pairs = [(str(phrase), str(number)) for phrase, number in said.items()]
    elif str(said).endswith(_FILES):
        pairs = _in_file(Path(str(said)))
    else:
        pairs = [_pair(one) for one in names_of(str(said)) or ()]
    found: dict[str, float] = {}
    for phrase, text in pairs:
        number = number_of(text)
        if number is None:
            msg = f"--score-map: {text!r} is not the number of {phrase!r}"
            share = number_of(text.strip().removesuffix("%"))
            hint = _HOW if share is None else f"write {share.scaleb(-2):f}, or {share:f} with --scale percent"
            raise UsageProblem(msg, hint)
        key = folded_phrase(phrase)
        if key in MISSING or number_of(key.removesuffix("%")) is not None:
            what = "stands for a missing value" if key in MISSING else "is a number already"
            msg = f"--score-map: {phrase!r} {what}"
            raise UsageProblem(msg, "leave it out")
        if found.setdefault(key, float(number)) != float(number):
            msg = (
                f"--score-map: {phrase!r} has two numbers, {in_full(found[key])} and {in_full(float(number))}"
            )
            raise UsageProblem(msg, "phrases are compared without regard to case and blanks: leave one out")
    return tuple(found.items())


def _pair(text: str) -> tuple[str, str]:
    phrase, sign, number = text.rpartition("=")
    if not sign:
        msg = f"--score-map: {text!r} has no '='"
        raise UsageProblem(msg, _HOW)
    return phrase, number


def _in_file(path: Path) -> list[tuple[str, str]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix == ".json":
            found = json.loads(text, object_pairs_hook=_each_once)
            if isinstance(found, dict):
                return [(phrase, str(number)) for phrase, number in found.items()]
            msg = f"{path}: it is no object of phrases and numbers"
            raise InputProblem(msg, 'write it like {"very likely": 0.9, "likely": 0.7}')
        rows = [
            row
            for row in csv.reader(text.splitlines(), delimiter="\t" if path.suffix == ".tsv" else ",")
            if row
        ]
    except (OSError, ValueError, csv.Error, RecursionError) as error:
        msg = f"{path}: cannot be read as phrases and numbers ({error})"
        raise InputProblem(msg, _HOW) from None
    strange = next((row for row in rows if len(row) != 2), None)
    if strange is not None or not rows:
        msg = f"{path}: {strange or 'nothing'} is no phrase with its number"
        raise InputProblem(msg, "every line holds two fields, such as: very likely,0.9")
    # A header names the numbers; what only looks like one, such as 97%, is a mistake to be told.
    headed = number_of(rows[0][1]) is None and re.match(r"\s*[-+.]?[0-9]", rows[0][1]) is None
    return [(phrase, number) for phrase, number in rows[headed:]]


def _each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Refuse an object that gives one key two values, of which JSON would keep the last."""
    found = dict(pairs)
    for key, value in pairs:
        if found[key] != value:
            msg = f"{key!r} has two numbers, {value} and {found[key]}"
            raise ValueError(msg)
    return found


def folded_phrase(text: str) -> str:
    """Return a phrase without regard to case and blanks."""
    return " ".join(text.split()).casefold()


# A phrase up to so long is an example of its own entry.
_LONGEST_ENTRY = 40


def entry_of(phrase: str) -> str:
    """Return what to type for a phrase, as one word of a shell; for one that only a file can hold another."""
    folded = folded_phrase(phrase)
    fits = folded.isprintable() and len(folded) <= _LONGEST_ENTRY and not {",", "="} & set(folded)
    is_phrase = folded not in MISSING and number_of(folded) is None
    return shlex.quote(f"{folded if fits and is_phrase else 'likely'}=NUMBER")


def number_in(text: str, known: Mapping[str, float], scale: Scale, *, decimal: str = ".") -> float | None:
    """Return the number that a text is on the scale of the column: NaN where it is missing, None for none."""
    phrase = folded_phrase(text)
    if phrase in known:
        return known[phrase]
    if phrase in MISSING:
        return float("nan")
    if phrase in INFINITE:
        return float(phrase)
    shares = phrase.endswith("%") and scale in (Scale.PROB, Scale.PERCENT)
    exact = number_of(phrase.removesuffix("%") if shares else phrase, decimal=decimal)
    if exact is None:
        return None
    return float(exact.scaleb(-2) if shares and scale is Scale.PROB else exact)


@dataclass(frozen=True, slots=True, eq=False)
class Worded:
    """A column of texts as scores.

    Args:
        unknown: Shape (n,), which texts are no scores; None if all are.
        bare: Shape (n,), which texts were read as percentages of at most 1 without their sign.
        signed: Whether some have the sign of a percentage.
        code: Shape (n,), the place of each text among `texts`.
    """

    scores: Decoded
    unknown: Booleans | None
    bare: Booleans | None
    signed: bool
    code: Integers
    texts: tuple[str, ...]


def worded_scores(column: Column, resolved: ResolvedColumns) -> Worded:
    """Read a column of texts as scores; each different text is looked at once."""
    from calibcli.data.values import names_of

    texts = plain(column)
    if not isinstance(texts, pa.DictionaryArray):
        texts = names_of(texts).dictionary_encode()
    words = tuple("" if one is None else str(one) for one in names_of(plain(texts.dictionary)).to_pylist())
    code, gone = places_in(texts)
    if not words:
        return Worded(Decoded(np.zeros(len(texts)), gone), None, None, False, code, ())
    columns = resolved.requested
    known = dict(columns.score_map or ())
    # A percentage is read where words are expected, and is as strange as any word where none are.
    strange = "" if columns.in_words else "%"
    numbers = [
        None
        if strange and word.rstrip().endswith(strange)
        else number_in(word, known, columns.read_as, decimal=resolved.decimal)
        for word in words
    ]
    values: Floats = np.array([0.0 if one is None else one for one in numbers])[code]
    missing = np.isnan(values) if gone is None else gone | np.isnan(values)
    unknown = np.array([one is None for one in numbers], np.bool_)[code]
    if gone is not None:
        unknown &= ~gone
    signs = [word.rstrip().endswith("%") for word in words]
    bare: Booleans | None = None
    if columns.read_as is Scale.PERCENT:
        said = [
            not (sign or folded_phrase(word) in known) and one is not None and 0.0 < one <= 1.0
            for word, sign, one in zip(words, signs, numbers, strict=True)
        ]
        bare = np.array(said, np.bool_)[code]
        if gone is not None:
            bare &= ~gone
    scores = Decoded(np.where(missing, np.nan, values), missing if missing.any() else None)
    return Worded(scores, unknown if unknown.any() else None, bare, any(signs), code, words)
