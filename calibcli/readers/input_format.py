"""How inputs are to be read, as far as the user says: format, separator, encoding, decimal mark."""

_TAB = {"tab", "\\t"}
_DECIMALS = {".", ","}
_NO_DELIMITERS = '"\r\n\x00'
# What every reader takes for granted.
_UTF8 = {"utf-8", "utf-8-sig"}


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
