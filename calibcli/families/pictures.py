"""Diagrams: the title and the sentence of each, and what its axes are."""

from typing import NamedTuple

from calibcli.families import Known


class PictureFacts(NamedTuple):
    """What is known of a diagram.

    Args:
        title: What a page of diagrams calls it.
        reading: How it is read.
        figure: The module of `show/figures` and its function that draw it.
        made: The module of `commands/pictures` and its function that read for it.
        logit: Whether scores may be laid out by log-odds.
        bins: Whether bins change it.
        several: Whether it shows several scores, or the groups of `--by`, as well as one.
    """

    title: str
    reading: str
    figure: str
    made: str = "of_tables.diagram_of_tables"
    logit: bool = True
    bins: bool = True
    several: bool = False


class PlotKind(Known):
    """Diagrams that `plot` draws."""

    facts: PictureFacts

    SMOOTH = (
        "smooth",
        PictureFacts(
            "Reliability without bins",
            "Observed rate against score: above the diagonal scores are too low, below it too high.",
            "reliability.reliability_figure",
            "reliability.reliability_diagram",
            bins=False,
        ),
    )
    BINNED = (
        "binned",
        PictureFacts(
            "Reliability by bins",
            "Observed rate of each bin against its mean score; if calibrated, near the diagonal.",
            "reliability.reliability_figure",
            "reliability.reliability_diagram",
        ),
    )
    ISOTONIC = (
        "isotonic",
        PictureFacts(
            "Isotonic reliability (CORP)",
            "The best rising curve through the labels: above the diagonal scores are too low, "
            "below it too high.",
            "isotonic.isotonic_figure",
            bins=False,
            several=True,
        ),
    )
    CUMULATIVE = (
        "cumulative",
        PictureFacts(
            "Cumulative differences",
            "Running sum of label less score, low scores first: scores are too low where it rises, "
            "too high where it falls.",
            "cumulative.cumulative_figure",
            bins=False,
            logit=False,
        ),
    )
    MAP = (
        "map",
        PictureFacts(
            "The recalibration map",
            "The recalibrated probability of each score.",
            "map.map_figure",
            "map.map_diagram",
        ),
    )
    RESIDUAL = (
        "residual",
        PictureFacts(
            "Residuals",
            "Observed less predicted: above 0 scores are too low, below it too high.",
            "reliability.residual_figure",
            "reliability.residual_diagram",
        ),
    )
    MURPHY = (
        "murphy",
        PictureFacts(
            "Murphy curve",
            "Mean elementary score at every threshold; lower is better.",
            "lines.murphy_figure",
            bins=False,
            several=True,
        ),
    )
    MCB_DSC = (
        "mcb-dsc",
        PictureFacts(
            "Miscalibration and discrimination",
            "Each score by what recalibration would save (across) and what it tells apart (up): further left "
            "and further up is better.",
            "mcb_dsc.mcb_dsc_figure",
            "of_tables.mcb_dsc_diagram",
            bins=False,
            logit=False,
            several=True,
        ),
    )
    RISK_COVERAGE = (
        "risk-coverage",
        PictureFacts(
            "Risk and coverage",
            "Share of label 0 among the rows with the highest scores, against how many are kept; lower is "
            "better.",
            "lines.risk_coverage_figure",
            bins=False,
            logit=False,
            several=True,
        ),
    )
    DECISION = (
        "decision",
        PictureFacts(
            "Decision curve",
            "Net benefit of acting from a threshold on, against acting on all rows or on none.",
            "lines.decision_figure",
            bins=False,
            several=True,
        ),
    )
    CLINICAL = (
        "clinical",
        PictureFacts(
            "Calibration plot of a prediction model",
            "Observed rate against score, with the numbers that papers report: above the diagonal scores are "
            "too low, below it too high.",
            "clinical.clinical_figure",
            bins=False,
            several=True,
        ),
    )
    COMPARE = (
        "compare",
        PictureFacts(
            "Scores side by side",
            "The same rows by each score, on the same axes.",
            "reliability.reliability_figure",
            "reliability.compare_diagram",
        ),
    )
    CLASSES = (
        "classes",
        PictureFacts(
            "Classes, the worst first",
            "One panel a class, on the same axes.",
            "reliability.reliability_figure",
            "reliability.classes_diagram",
        ),
    )
    GROUPS = (
        "groups",
        PictureFacts(
            "Groups side by side",
            "One panel a group, on the same axes.",
            "reliability.reliability_figure",
            "reliability.groups_diagram",
        ),
    )
    TREND = (
        "trend",
        PictureFacts(
            "Groups in their order",
            "Observed rate less mean score of each group: above 0 scores are too low, below it too high.",
            "trend.trend_figure",
            "over_time.trend_diagram",
            bins=False,
            logit=False,
        ),
    )
    SEGMENTS = (
        "segments",
        PictureFacts(
            "Segments",
            "Mean score less observed rate of every segment against its rows: above 0 scores are too high, "
            "below it too low.",
            "segments.points_figure",
            "segments.segments_diagram",
            bins=False,
            logit=False,
        ),
    )
    HEATMAP = (
        "heatmap",
        PictureFacts(
            "Segments of two columns",
            "Mean score less observed rate of every pair of values: above 0 scores are too high, below it "
            "too low.",
            "segments.cells_figure",
            "segments.segments_diagram",
            bins=False,
            logit=False,
        ),
    )
    MONITOR = (
        "monitor",
        PictureFacts(
            "A gate over time",
            "Evidence and bounds of a gate as rows came in.",
            "monitor.monitor_figure",
            "over_time.monitor_diagram",
            logit=False,
        ),
    )

    @classmethod
    def _missing_(cls, value: object) -> "PlotKind | None":
        """Return the diagram that is also called so."""
        return cls(KIND_ALIASES[value]) if isinstance(value, str) and value in KIND_ALIASES else None


KIND_ALIASES = {
    "reliability": "smooth",
    "calibration": "smooth",
    "corp": "isotonic",
    "dca": "decision",
    "net-benefit": "decision",
}
"""What people and other packages call a diagram."""
