"""How inputs are to be read, as far as the user says: format, separator, encoding, decimal mark."""

import codecs
from dataclasses import dataclass

from calibcli.errors import UsageProblem
from calibcli.names import DataFormat

_TAB = {"tab", "\\t"}
_DECIMALS = {".", ","}
_NO_DELIMITERS = '"\r\n\x00'
# What every reader takes for granted.
_UTF8 = {"utf-8", "utf-8-sig"}


@dataclass(frozen=True, slots=True)
class InputFormat:
    """
    What the user said of all inputs.

    Args:
        format: The format of every input that does not force its own; None to look.

        delimiter: What separates the fields of CSV; None for commas, and tabs in TSV.

        encoding: How text is encoded, by Python's name; None for UTF-8.

        decimal: What stands before the decimals of numbers in CSV, a point or a comma; None for a point.

    Raises:
        UsageProblem: If there is no such separator, encoding or decimal mark.
    """

    format: DataFormat | None = None
    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None

    def __post_init__(self) -> None:
        if self.delimiter is not None:
            object.__setattr__(self, "delimiter", _delimiter(self.delimiter))
        if self.encoding is not None:
            object.__setattr__(self, "encoding", _encoding(self.encoding))
        if self.decimal is not None and self.decimal not in _DECIMALS:
            msg = f"--decimal {self.decimal!r} is not a decimal mark"
            raise UsageProblem(msg, "write ',' for numbers such as 0,5; a point is usual")


AS_FOUND = InputFormat()


def keeps_ascii(encoding: str | None) -> bool:
    """
    Whether a byte of text below 128 is always the ASCII character that it seems to be.

    Then separators, quotes and line ends can be found, and numbers read, without decoding: in UTF-8 (None)
    and in encodings of one byte a character, such as latin-1 and cp1252.
    """
    if encoding is None:
        return True
    ascii_bytes = bytes(range(128))
    try:
        return ascii_bytes.decode(encoding) == ascii_bytes.decode("ascii") and all(
            len(bytes((byte, 65)).decode(encoding, "replace")) == 2 for byte in range(256)
        )
    except UnicodeError:
        return False


def _delimiter(text: str) -> str:
    one = "\t" if text.casefold() in _TAB else text
    if len(one) != 1 or not one.isascii() or one in _NO_DELIMITERS:
        msg = f"--delimiter {text!r} is not one ASCII character"
        raise UsageProblem(msg, "write it like ';', '|' or tab")
    return one


def _encoding(text: str) -> str | None:
    """Return Python's name of an encoding, None for UTF-8."""
    try:
        "a".encode(text).decode(text)
        name = codecs.lookup(text).name
    except (LookupError, UnicodeError, ValueError):
        msg = f"--encoding {text!r} is not an encoding of text"
        raise UsageProblem(msg, "write it like latin-1, cp1252 or utf-16") from None
    return None if name in _UTF8 else name
