"""What a command may lack around it, and says so: memory, and names that are text."""

import sys
from collections.abc import Iterable

from calibcli.errors import InputProblem, UsageProblem

_NO_TEXT = "is not text in the encoding of this system"
# Of a library that could not be loaded, a thread that could not be started, and a call to the system.
_NO_MEMORY = ("failed to map segment", "can't start new thread", "Cannot allocate memory")
_OTHER_LOCALE = "set PYTHONUTF8=1, or a locale of UTF-8 such as LC_ALL=C.UTF-8"
_RENAME = "rename the file, or pipe it in: calibcli ... - < FILE"


def lacking(error: Exception) -> InputProblem | None:
    """Return what an error that nobody else has explained says of the surroundings; None if it is our bug."""
    if isinstance(error, UnicodeEncodeError):
        return InputProblem(f"{error.object!r} {_NO_TEXT}", _way_out())
    if isinstance(error, MemoryError) or any(words in str(error) for words in _NO_MEMORY):
        return InputProblem("there is not enough memory", "give it more, or lower --memory and --jobs")
    return None


def refuse_bytes(words: Iterable[str]) -> None:
    """
    Refuse words that stand for bytes which are no text: they could be opened, but be shown in no report.

    Raises:
        UsageProblem: If there is one.
    """
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError:
            msg = f"{word!r} {_NO_TEXT}"
            raise UsageProblem(msg, _way_out()) from None


def _way_out() -> str:
    return _RENAME if sys.getfilesystemencoding() == "utf-8" else _OTHER_LOCALE
