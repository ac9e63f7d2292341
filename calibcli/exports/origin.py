"""Where an export comes from: what every target says of itself."""

import json
from dataclasses import dataclass

from calibcli.names import Scale
from calibcli.version import __version__


@dataclass(frozen=True, slots=True)
class Origin:
    """
    What was exported.

    Args:
        digest: The hash of the artifact's text.

        calibcli: The version that fitted it.

        method: How it was fitted, in a word.

        scale: What the score column held.

        prior: The base rate it was moved to, or None.

        classes: What the classes are called; empty for one score.

        positive: The label that counted as 1, where labels were not 0 and 1.

        rows: How many rows it was fitted to.

        by: The column of the fit whose groups have maps of their own, or None.
    """

    digest: str
    calibcli: str
    method: str
    scale: Scale
    rows: int
    prior: float | None = None
    classes: tuple[str, ...] = ()
    positive: str | None = None
    by: str | None = None

    def facts(self) -> dict[str, str]:
        """Return what is known, each as plain ASCII on one line that nothing takes for anything but text."""
        known: dict[str, object] = {
            "exported_by": f"calibcli {__version__}",
            "fitted_by": f"calibcli {self.calibcli}",
            "artifact": self.digest,
            "method": self.method,
            "scale": self.scale.value,
            "rows": self.rows,
        }
        if self.prior is not None:
            known["prior"] = self.prior
        if self.classes:
            known["classes"] = list(self.classes)
        if self.positive is not None:
            known["positive"] = self.positive
        if self.by is not None:
            known["by"] = self.by
        return {key: plain(value) for key, value in known.items()}

    def lines(self) -> list[str]:
        """Return the facts as lines of text."""
        return [f"{key:<12} {value}" for key, value in self.facts().items()]


def plain(value: object) -> str:
    """
    Return a value as JSON without the letters that end a comment, begin a substitution, or move a cursor.

    Text made of letters, digits and the marks of a version or a hash stands without quotation marks.
    """
    if isinstance(value, str) and value.replace(" ", "").translate(_HARMLESS).isascii():
        bare = value.translate(_HARMLESS).replace(" ", "")
        if bare.isalnum():
            return value
    text = json.dumps(value)
    return "".join(letter if letter not in _DANGEROUS else f"\\u{ord(letter):04x}" for letter in text)


_HARMLESS = str.maketrans("", "", ".-_:")
# JSON has escaped all but these: of comments, of substitutions in SQL, shells and templates, and of markup.
_DANGEROUS = frozenset("$*/{}%&;#`<>'-\x7f")
