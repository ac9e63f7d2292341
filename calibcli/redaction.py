"""What is shown of an address: neither who asks for it by which password, nor what else grants access."""

import re

_HIDDEN = "***"
# Compiled when first used: most commands never meet an address.
# A user, or a user and a password, before a host; pathlib makes one slash of two.
_USER = r"(\b[A-Za-z][A-Za-z0-9+.-]{1,30}:/{1,2})([^\s/?#'\"<>]{1,1000})@"
# A password with a slash in it, which is not the port and the path of a host.
_ODD = r"(\b[A-Za-z][A-Za-z0-9+.-]{1,30}:/{1,2})[^\s/?#@:'\"<>]{0,200}:(?!\d{1,5}[/?#])[^\s@'\"<>]{1,1000}@"
# In the query of an address, as S3, Azure, Google and Spark write it.
_KEY = (
    r"([?&;](?:[\w.-]{0,40}(?:signature|credential|secret|token|passw(?:or)?d|pwd"
    r"|(?:api|access|account|storage)[-_]?key)[\w.-]{0,40}|sig|sas|key|auth)=)[^\s&;#'\"<>]+"
)


def without_secrets(text: str) -> str:
    """
    Return a text with asterisks for users and passwords of addresses, and for tokens in their queries.

    Args:
        text: A name, an address, or sentences around some.
    """
    if "@" in text and ":/" in text:
        text = re.sub(_ODD, rf"\1{_HIDDEN}@", re.sub(_USER, _hidden, text))
    if "=" in text and any(mark in text for mark in "?&;"):
        text = re.sub(_KEY, rf"\1{_HIDDEN}", text, flags=re.IGNORECASE)
    return text


def _hidden(found: re.Match[str]) -> str:
    # Azure names a container before the @.
    container = found[1].lower().startswith("abfs") and ":" not in found[2]
    return found[0] if container else f"{found[1]}{_HIDDEN}@"
