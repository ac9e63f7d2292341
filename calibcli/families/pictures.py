"""Diagrams: the title and the sentence of each, and what its axes are."""

from enum import StrEnum
from typing import NamedTuple, Self


class PictureFacts(NamedTuple):
    """
    What is known of a diagram.

    Args:
        title: What a page of diagrams calls it.
        reading: How it is read.
        scores: Whether its axes are those of scores on a page, so that they may be stretched.
        bins: Whether bins change it.
        panels: Whether it has a panel for each part, and takes the width of a page.
    """

    title: str
    reading: str
    scores: bool = False
    bins: bool = True
    panels: bool = False


class PlotKind(StrEnum):
    """Diagrams that `plot` draws."""

    facts: PictureFacts

    def __new__(cls, value: str, *facts: PictureFacts) -> Self:
        """Return the member; values alone are looked up by `Enum` itself."""
        found = str.__new__(cls, value)
        found._value_ = value
        (found.facts,) = facts
        return found

    SMOOTH = (
        "smooth",
        PictureFacts(
            "Reliability without bins",
            "Observed rate against score: above the diagonal scores are too low, below it too high.",
            scores=True,
            bins=False,
        ),
    )
    BINNED = (
        "binned",
        PictureFacts(
            "Reliability by bins",
            "Observed rate of each bin against its mean score; if calibrated, near the diagonal.",
            scores=True,
        ),
    )
    ISOTONIC = (
        "isotonic",
        PictureFacts(
            "Isotonic reliability (CORP)",
            "The best rising curve through the labels: above the diagonal scores are too low, "
            "below it too high.",
            scores=True,
            bins=False,
        ),
    )
    CUMULATIVE = (
        "cumulative",
        PictureFacts(
            "Cumulative differences",
            "Sums of label less score from low to high scores: where the path rises, scores are too low, "
            "and where it falls, too high.",
            bins=False,
        ),
    )
    MAP = (
        "map",
        PictureFacts("The recalibration map", "What the artifact makes of each score.", scores=True),
    )
    RESIDUAL = (
        "residual",
        PictureFacts(
            "Residuals",
            "Observed less predicted: above 0 scores are too low, below it too high.",
            scores=True,
        ),
    )
    MURPHY = (
        "murphy",
        PictureFacts(
            "Murphy curve", "Mean elementary score at every threshold; lower is better.", bins=False
        ),
    )
    RISK_COVERAGE = (
        "risk-coverage",
        PictureFacts(
            "Risk and coverage",
            "Share of label 0 among the rows with the highest scores, against how many are kept; lower is "
            "better.",
            bins=False,
        ),
    )
    DECISION = (
        "decision",
        PictureFacts(
            "Decision curve",
            "What acting from a threshold on is worth, against acting on all rows or on none.",
            bins=False,
        ),
    )
    CLINICAL = (
        "clinical",
        PictureFacts(
            "Calibration plot of a prediction model",
            "Observed rate against score, with the numbers that papers report: above the diagonal scores are "
            "too low, below it too high.",
            scores=True,
            bins=False,
        ),
    )
    COMPARE = (
        "compare",
        PictureFacts(
            "Scores side by side", "The same rows by each score, on the same axes.", scores=True, panels=True
        ),
    )
    CLASSES = (
        "classes",
        PictureFacts(
            "Classes, the worst first", "One panel a class, on the same axes.", scores=True, panels=True
        ),
    )
    GROUPS = (
        "groups",
        PictureFacts(
            "Groups, the worst first", "One panel a group, on the same axes.", scores=True, panels=True
        ),
    )
    TREND = (
        "trend",
        PictureFacts(
            "Groups in their order",
            "Observed rate less mean score of each group, in the order of names: above 0 scores are too "
            "low, below it too high.",
            bins=False,
        ),
    )
    SEGMENTS = (
        "segments",
        PictureFacts(
            "Segments",
            "Mean score less observed rate of every segment against its rows: above 0 scores are too high, "
            "below it too low.",
            bins=False,
        ),
    )
    HEATMAP = (
        "heatmap",
        PictureFacts(
            "Segments of two columns",
            "Mean score less observed rate of every pair of values: above 0 scores are too high, below it "
            "too low.",
            bins=False,
        ),
    )
    MONITOR = (
        "monitor",
        PictureFacts("A gate over time", "What the bets of a gate were worth as rows came in."),
    )
