"""Words and numbers of a call, refused as the command line refuses them."""

import operator
from collections.abc import Sequence
from enum import StrEnum
from typing import TypeVar

from calibcli.errors import UsageProblem

Word = TypeVar("Word", bound=StrEnum)


def chosen(kind: type[Word], word: str, keyword: str) -> Word:
    """
    Return the member of a vocabulary that a word is.

    Args:
        kind: The vocabulary.

        word: The word.

        keyword: Under which it was given, for messages.

    Raises:
        UsageProblem: If there is no such word, with all there are.
    """
    try:
        return kind(word)
    except ValueError:
        msg = f"{keyword}={word!r}: there is no such choice"
        raise UsageProblem(msg, f"one of {', '.join(repr(one.value) for one in kind)}") from None


def maybe_chosen(kind: type[Word], word: str | None, keyword: str) -> Word | None:
    """Return the member that a word is, and None for None."""
    return None if word is None else chosen(kind, word, keyword)


def all_chosen(kind: type[Word], words: str | Sequence[str] | None, keyword: str) -> tuple[Word, ...]:
    """Return the members that words are, none for None."""
    return tuple(chosen(kind, word, keyword) for word in listed(words))


def listed(words: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return one word or several as several, none for None."""
    if words is None:
        return ()
    return (words,) if isinstance(words, str) else tuple(words)


def at_least(least: int, number: int | None, keyword: str) -> None:
    """
    Refuse what is no whole number, or too small a one.

    Raises:
        UsageProblem: If it is; None is left to its default.
    """
    if number is None:
        return
    try:
        enough = not isinstance(number, bool) and operator.index(number) >= least
    except TypeError:
        enough = False
    if not enough:
        msg = f"{keyword}={number!r}"
        raise UsageProblem(msg, f"{keyword} takes a whole number, at least {least}")
