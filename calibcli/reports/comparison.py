"""One measure of two sides, and how they differ."""

from dataclasses import dataclass

from calibcli.measures.estimate import ClassEstimate, Estimate
from calibcli.measures.paired import Compared, Difference
from calibcli.names import ComparisonName
from calibcli.reports.measure import difference_to_dict, estimate_to_dict


@dataclass(frozen=True, slots=True)
class Comparison:
    """
    One measure of both.

    Args:
        first: Of the baseline.

        second: Of the other.

        difference: Second less first.
    """

    first: Estimate | ClassEstimate
    second: Estimate | ClassEstimate
    difference: Difference

    @property
    def name(self) -> Compared:
        """The measure."""
        return self.difference.name

    @property
    def is_worse(self) -> bool:
        """Whether the second is shown to be worse."""
        return self.difference.verdict is ComparisonName.WORSE

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {
            "first": estimate_to_dict(self.first),
            "second": estimate_to_dict(self.second),
            "difference": difference_to_dict(self.difference),
            "verdict": self.difference.verdict.value,
        }
