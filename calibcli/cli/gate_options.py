"""Every option of gates alone, once; the others are in `options.py`."""

from typing import Annotated

import typer

from calibcli.cli.completion import column_names
from calibcli.gate_names import Inconclusive
from calibcli.names import MeasureName
from calibcli.options.declaring import Reach

GateInputs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="INPUT...",
        help="Data files, directories, patterns in quotes, or - for stdin; none for what --state holds.",
    ),
]
MaxEce = Annotated[
    float | None, typer.Option("--max-ece", metavar="EPS", help="The largest calibration error that passes.")
]
MaxL2 = Annotated[
    float | None,
    typer.Option("--max-l2", metavar="EPS", help="The largest l2 error; few-valued scores only."),
]
MaxLinf = Annotated[
    float | None,
    typer.Option("--max-linf", metavar="EPS", help="The largest error of any value; few-valued scores only."),
]
MaxSmece = Annotated[
    float | None, typer.Option("--max-smece", metavar="EPS", help="The largest smooth calibration error.")
]
MaxDce = Annotated[
    float | None, typer.Option("--max-dce", metavar="EPS", help="The largest distance to calibration.")
]
Rules = Annotated[
    list[str] | None,
    typer.Option(
        "--rule",
        metavar="RULE",
        help="MEASURE[.lower|.upper|.value] or TEST.p, then <= or >=, then a limit; repeatable.",
    ),
]
GateBins = Annotated[
    str | None,
    typer.Option(
        "--bins",
        metavar="N|none",
        help="Number of bins; none: a few-valued score. [default: 15, or each value of few-valued scores]",
    ),
]
JudgedBy = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        metavar="COL",
        autocompletion=column_names,
        help="Every rule holds in each group of equal values too; repeatable.",
    ),
]
LeastJudgedRows = Annotated[
    int | None,
    typer.Option(
        "--min-group-rows",
        metavar="N",
        min=1,
        help="Smaller groups are listed, not judged. [default: none is left out]",
    ),
]
Baseline = Annotated[
    str | None,
    typer.Option("--baseline", metavar="REPORT", help="A JSON report of `measure` to compare with."),
    Reach.READS,
]
BaselineScore = Annotated[
    str | None,
    typer.Option(
        "--baseline-score",
        metavar="COL",
        autocompletion=column_names,
        help="A score column to compare with row by row.",
    ),
]
MaxRegression = Annotated[
    float | None,
    typer.Option(
        "--max-regression", metavar="D", help="The most that a measure may exceed the baseline's by."
    ),
]
RegressionMetric = Annotated[
    list[MeasureName] | None,
    typer.Option("--regression-metric", help="Which measure that is; repeatable. [default: ece]"),
]
State = Annotated[
    str | None,
    typer.Option(
        "--state",
        metavar="GATE.json",
        help="Keep what was counted, so that the gate may be asked again as rows come in.",
    ),
    Reach.WRITES,
]
Batch = Annotated[
    str | None,
    typer.Option("--batch", metavar="NAME", help="Name of these rows in the state. [default: their digest]"),
]
RowId = Annotated[
    str | None,
    typer.Option(
        "--id",
        metavar="COL",
        autocompletion=column_names,
        help="Identity of a row: none is counted twice in the state.",
    ),
]
PlannedRows = Annotated[
    int | None,
    typer.Option(
        "--planned-rows",
        metavar="N",
        min=1,
        max=10**12,
        help="Rows the state will hold in the end; fixes dce's bins.",
    ),
]
Alarm = Annotated[
    bool,
    typer.Option("--alarm", help="Fail once the score is no longer calibrated, whenever that began."),
]
Reports = Annotated[
    list[str] | None,
    typer.Option(
        "--report",
        metavar="KIND[=FILE]",
        help="Also write junit=F, github, md=F, json=F or openmetrics=F; repeatable.",
    ),
    Reach.WRITES,
]

MinRows = Annotated[
    int,
    typer.Option(
        "--min-rows",
        metavar="N",
        min=1,
        help="Below so many rows, or 10 of the rarer label, nothing is concluded.",
    ),
]
OnInconclusive = Annotated[
    Inconclusive, typer.Option("--inconclusive", help="What inconclusive counts as: exit 4, 1 or 0.")
]
AllowFitRows = Annotated[
    bool, typer.Option("--allow-fit-rows", help="Judge an artifact by its own fit rows after all.")
]

Like = Annotated[
    str | None,
    typer.Option(
        "--like", metavar="INPUT", help="A file whose scores fall as those of the rows to come; unlabelled."
    ),
    Reach.READS,
]
PlanPower = Annotated[
    float, typer.Option("--power", metavar="P", help="Probability with which the gate is to decide.")
]
TrueError = Annotated[
    float, typer.Option("--error", metavar="E", help="The true error to reckon with; 0 is calibrated.")
]
AskedAgain = Annotated[
    bool,
    typer.Option("--any-time", help="For a gate that is asked again as rows come in, as with --state."),
]
