"""One measure of two sides, and how they differ."""

from dataclasses import dataclass
from typing import Annotated

from calibcli.codec import Declared
from calibcli.measures.estimate import ClassEstimate, Estimate
from calibcli.measures.paired import Compared, Difference
from calibcli.names import ComparisonName


@dataclass(frozen=True, slots=True)
class Comparison(Declared):
    """One measure of both."""

    first: Annotated[Estimate | ClassEstimate, "Of the baseline."]
    second: Annotated[Estimate | ClassEstimate, "Of the other."]
    difference: Annotated[Difference, "Second less first."]

    @property
    def verdict(self) -> Annotated[ComparisonName, "How the second stands to the first."]:
        """Which way the difference lies of 0, if it does."""
        return self.difference.verdict

    @property
    def name(self) -> Compared:
        """The measure."""
        return self.difference.name

    @property
    def is_worse(self) -> bool:
        """Whether the second is shown to be worse."""
        return self.difference.verdict is ComparisonName.WORSE
