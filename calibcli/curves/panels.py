"""Several reliability curves to be seen side by side."""

from dataclasses import dataclass

from calibcli.curves.reliability import ReliabilityCurve
from calibcli.picture_names import PlotKind


@dataclass(frozen=True, slots=True, eq=False)
class CurvePanel:
    """
    One of several curves.

    Args:
        name: What it is of: a score, a class, a group.

        rows: How many rows it rests on.

        error: The error that it shows with its interval, in wordings that say the same, the longest first; as
            many as the other panels have.

        curve: The curve.

        against: How that error differs from that of the first, likewise; empty where nothing is said.
    """

    name: str
    rows: int
    error: tuple[str, ...]
    curve: ReliabilityCurve
    against: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class CurvePanels:
    """
    Several curves, all of bins or all without.

    Args:
        kind: What they are of: scores, classes, groups.

        panels: In reading order, at least one.
    """

    kind: PlotKind
    panels: tuple[CurvePanel, ...]

    @property
    def smooth(self) -> bool:
        """Whether the curves are those without bins."""
        return all(one.curve.kind is PlotKind.SMOOTH for one in self.panels)
