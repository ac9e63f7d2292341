"""What each kind of diagram is called, and how to read it, in a sentence."""

from calibcli.picture_names import PlotKind

TITLES = {
    PlotKind.SMOOTH: "Reliability without bins",
    PlotKind.BINNED: "Reliability by bins",
    PlotKind.ISOTONIC: "Isotonic reliability (CORP)",
    PlotKind.CUMULATIVE: "Cumulative differences",
    PlotKind.RESIDUAL: "Residuals",
    PlotKind.MAP: "The recalibration map",
    PlotKind.MURPHY: "Murphy curve",
    PlotKind.DECISION: "Decision curve",
    PlotKind.COMPARE: "Scores side by side",
    PlotKind.CLASSES: "Classes, the worst first",
    PlotKind.GROUPS: "Groups, the worst first",
    PlotKind.MONITOR: "A gate over time",
}
READINGS = {
    PlotKind.SMOOTH: "Observed rate against score: above the diagonal scores are too low, below it too high.",
    PlotKind.BINNED: "Observed rate of each bin against its mean score; if calibrated, near the diagonal.",
    PlotKind.ISOTONIC: (
        "The best rising curve through the labels: above the diagonal scores are too low, below it too high."
    ),
    PlotKind.CUMULATIVE: (
        "Sums of label less score from low to high scores: where the path rises, scores are too low, and "
        "where it falls, too high."
    ),
    PlotKind.RESIDUAL: "Observed rate less score: above 0 scores are too low, below it too high.",
    PlotKind.MAP: "What the artifact makes of each score.",
    PlotKind.MURPHY: "Mean elementary score at every threshold; lower is better.",
    PlotKind.DECISION: "What acting from a threshold on is worth, against acting on all rows or on none.",
    PlotKind.COMPARE: "The same rows by each score, on the same axes.",
    PlotKind.CLASSES: "One panel a class, on the same axes.",
    PlotKind.GROUPS: "One panel a group, on the same axes.",
    PlotKind.MONITOR: "What the bets of a gate were worth as rows came in.",
}
