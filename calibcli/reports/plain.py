"""What every report that is kept says first: what wrote it."""

from dataclasses import dataclass
from typing import Annotated, Literal

from calibcli.codec import ROOT, Declared
from calibcli.version import __version__

# What the reader of a report should not miss, and where it comes from.
Notes = Annotated[tuple[str, ...], "What the reader should not miss."]
ArtifactPath = Annotated[str | None, "Path of the recalibrator that was applied first, or null."]


@dataclass(frozen=True, slots=True)
class Tool(Declared):
    """What wrote a report."""

    name: Literal["calibcli"] = "calibcli"
    version: str = __version__


class Kept(Declared):
    """A report that is kept as a document."""

    __slots__ = ()

    @property
    def tool(self) -> Annotated[Tool, ROOT]:
        """What wrote it."""
        return Tool()
