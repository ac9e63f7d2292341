"""Every option of the command line, once."""

from typing import Annotated

import typer

from calibcli.cli.completion import column_names, metric_names
from calibcli.names import (
    BetaForm,
    Binning,
    ColorWhen,
    CompatTool,
    DataFormat,
    DocumentKind,
    FitLoss,
    FitMethod,
    OnMissing,
    OnRange,
    RecalibratorName,
    ReportFormat,
    Scale,
    Split,
    WeightMeaning,
)
from calibcli.options.declaring import Reach

Kinds = Annotated[
    DocumentKind,
    typer.Argument(metavar="KIND", help="artifact, report, compare, compat, gate, plan, summary."),
]
Inputs = Annotated[
    list[str],
    typer.Argument(metavar="INPUT...", help="Data files, directories, patterns in quotes, or - for stdin."),
]
MeasureInputs = Annotated[
    list[str] | None,
    typer.Argument(metavar="INPUT...", help="Data files, directories, patterns in quotes, or - for stdin."),
]
ArtifactFile = Annotated[str, typer.Argument(metavar="ARTIFACT", help="What `calibcli fit` wrote.")]
AnyFile = Annotated[
    str, typer.Argument(metavar="FILE", help="A data file, an artifact, a report, or - for stdin.")
]

Score = Annotated[
    str | None,
    typer.Option(
        "-s",
        "--score",
        metavar="COL",
        autocompletion=column_names,
        help="Score column; else the one with a usual name.",
    ),
]
Label = Annotated[
    str | None,
    typer.Option(
        "-y",
        "--label",
        metavar="COL",
        autocompletion=column_names,
        help="Label column; else the one with a usual name.",
    ),
]
Weight = Annotated[
    str | None,
    typer.Option("-w", "--weight", metavar="COL", autocompletion=column_names, help="Weight column."),
]
WeightsAre = Annotated[
    WeightMeaning | None, typer.Option("--weights-are", help="What weights mean. [default: importance]")
]
Positive = Annotated[
    str | None,
    typer.Option(
        "--positive",
        metavar="VALUE",
        help="The label that counts as 1, the same text or number, where labels are not 0/1.",
    ),
]
ScoreScale = Annotated[
    Scale | None,
    typer.Option(
        "--scale", help="What the score column holds. [default: what the artifact was fitted to, else prob]"
    ),
]
Missing = Annotated[OnMissing, typer.Option("--on-missing", help="Refuse missing values, or drop and count.")]
Range = Annotated[OnRange, typer.Option("--on-range", help="Refuse scores outside [0,1], or clip and count.")]
InputFormat = Annotated[
    DataFormat | None, typer.Option("-f", "--input-format", help="Format of the inputs; else by content.")
]
Exact = Annotated[
    bool, typer.Option("--exact", help="Keep every distinct score, whatever memory that takes.")
]
Memory = Annotated[
    str, typer.Option("--memory", metavar="SIZE", help="Beyond this, scores are kept to 1.4e-6 on a grid.")
]
Jobs = Annotated[
    int | None, typer.Option("-j", "--jobs", min=1, metavar="N", help="Workers; else one per processor.")
]
Seed = Annotated[int, typer.Option("--seed", metavar="S", min=0, help="Seed of everything that is drawn.")]

Scores = Annotated[
    list[str] | None,
    typer.Option(
        "-s",
        "--score",
        metavar="COL",
        autocompletion=column_names,
        help="Score column; twice for two scores, the baseline first.",
    ),
]
SeveralScores = Annotated[
    list[str] | None,
    typer.Option(
        "-s",
        "--score",
        metavar="COL",
        autocompletion=column_names,
        help="Score column, else the one with a usual name; repeat to compare further ones with the first.",
    ),
]
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        metavar="COL",
        autocompletion=column_names,
        help="Measure each group of equal values by itself too; repeatable.",
    ),
]
LeastGroupRows = Annotated[
    int, typer.Option("--min-group-rows", metavar="N", min=1, help="Smaller groups are listed, not measured.")
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="COL",
        autocompletion=column_names,
        help="Rows with equal values are dependent, clusters are not.",
    ),
]
Artifacts = Annotated[
    list[str] | None,
    typer.Option(
        "--artifact",
        metavar="CAL.json",
        help="Recalibrate the score; twice for two artifacts, the baseline first.",
    ),
    Reach.READS,
]
FailIfWorse = Annotated[
    bool,
    typer.Option("--fail-if-worse", help="Exit 1 if the second is shown to be worse by a gated measure."),
]
Artifact = Annotated[
    str | None,
    typer.Option("--artifact", metavar="CAL.json", help="Recalibrate the score with this artifact first."),
    Reach.READS,
]
Metric = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        metavar="NAME",
        autocompletion=metric_names,
        help="Only this measure, test or group, such as corp or all; repeatable.",
    ),
]
Power = Annotated[float, typer.Option("--power", metavar="P", help="The p of the metric lp.")]
Explain = Annotated[
    str | None,
    typer.Option(
        "--explain", metavar="NAME", help="Say what this measure or test is, and stop; all lists the names."
    ),
]
Compat = Annotated[
    CompatTool | None,
    typer.Option("--compat", help="The numbers that this tool gives by default, beside ours, and why."),
]
CompareMetric = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        metavar="NAME",
        help="Only this measure, the gate too; repeatable. [default: five, the gate on brier and log_loss]",
    ),
]
Bins = Annotated[
    int | None,
    typer.Option(
        "--bins", metavar="N", min=1, help="Number of bins. [default: 15, or each value of few-valued scores]"
    ),
]
FitBins = Annotated[
    int, typer.Option("--bins", metavar="N", min=1, help="Most bins of histogram and scaling-binning.")
]
HowBinned = Annotated[
    Binning | None,
    typer.Option("--binning", help="How bins are cut. [default: equal-width, or atoms of few-valued scores]"),
]
FitBinning = Annotated[Binning, typer.Option("--binning", help="How histogram cuts its bins.")]
Edges = Annotated[
    str | None,
    typer.Option("--edges", metavar="E,E,...", help="Edges of the bins, such as 0,0.1,0.5,1, for --bins."),
]
AllBounds = Annotated[
    bool, typer.Option("--bounds", help="List every other bound of ece, ece_equal_mass and l2 as well.")
]
Confidence = Annotated[
    float, typer.Option("--confidence", metavar="C", help="Probability that an interval or verdict is right.")
]

Method = Annotated[FitMethod, typer.Option("-m", "--method", help="How to recalibrate.")]
Candidates = Annotated[
    list[RecalibratorName] | None,
    typer.Option(
        "--candidate",
        metavar="METHOD",
        help="What auto chooses from; repeatable. [default: all but histogram and scaling-binning]",
    ),
]
Group = Annotated[
    str | None,
    typer.Option(
        "-g",
        "--group",
        metavar="COL",
        autocompletion=column_names,
        help="Rows with equal values stay in one fold of auto.",
    ),
]
Loss = Annotated[
    FitLoss, typer.Option("--loss", help="What the logistic methods minimise and auto compares.")
]
SmoothTargets = Annotated[
    bool,
    typer.Option(
        "--smooth-targets", help="Aim the logistic methods at Platt's smoothed targets instead of 0 and 1."
    ),
]
Step = Annotated[bool, typer.Option("--step", help="Make isotonic a step function, without interpolation.")]
HowSplit = Annotated[
    Split, typer.Option("--split", help="three-way: fit, bins and means of scaling-binning see other rows.")
]
Base = Annotated[RecalibratorName, typer.Option("--base", help="What scaling-binning bins.")]
HowBeta = Annotated[BetaForm, typer.Option("--beta-form", help="Which parameters of beta are free.")]
Folds = Annotated[
    int | None,
    typer.Option(
        "--folds",
        metavar="K",
        min=2,
        help="Folds of auto's cross-validation [default: 10], or of cross venn-abers.",
    ),
]
Randomise = Annotated[
    bool, typer.Option("--randomised", help="Let smooth add the kernel's noise to scores first, seeded.")
]

Prior = Annotated[
    float | None,
    typer.Option(
        "--prior", metavar="P", help="Base rate of these rows, where it is not that of the fit rows."
    ),
]

Format = Annotated[
    ReportFormat | None,
    typer.Option("--format", help="How to write the report; else by the suffix of -o, or as a table."),
]
Json = Annotated[bool, typer.Option("--json", help="Same as --format json.")]
Out = Annotated[
    str,
    typer.Option("-o", "--output", metavar="FILE", help="Where to write; - is standard output."),
    Reach.WRITES,
]
OutFile = Annotated[str, typer.Option("-o", "--output", metavar="FILE", help="Where to write."), Reach.WRITES]
Force = Annotated[bool, typer.Option("--force", help="Replace an output that exists."), Reach.REPLACES]

Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="Say what each number means and assumes.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="No notes on stderr.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Color = Annotated[ColorWhen, typer.Option("--color", help="When to use colour.")]
