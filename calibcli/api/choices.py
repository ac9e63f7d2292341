"""Words and numbers of a call, refused as the command line refuses them."""

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
