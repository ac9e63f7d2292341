"""Options of pictures and of the page, each once."""

from typing import Annotated

import typer

from calibcli.cli.completion import column_names
from calibcli.options.declaring import Reach
from calibcli.picture_names import AxisScale, FigureSize, PlotKind, Theme

PlotInputs = Annotated[
    list[str],
    typer.Argument(metavar="INPUT...|REPORT", help="Files as for measure, a report, or a gate's state."),
]
Kind = Annotated[
    PlotKind | None,
    typer.Option(
        "--kind",
        help="Which diagram. [default: smooth, or binned for few values; compare for several scores, "
        "groups with --by, classes with --view]",
    ),
]
PlottedScores = Annotated[
    list[str] | None,
    typer.Option(
        "-s",
        "--score",
        metavar="COL",
        autocompletion=column_names,
        help="Score column, else the one with a usual name; up to 6 are drawn beside each other.",
    ),
]
PlottedBy = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        metavar="COL",
        autocompletion=column_names,
        help="Draw the worst groups of equal values; repeatable.",
    ),
]
CompareWith = Annotated[
    str | None,
    typer.Option(
        "--compare", metavar="CAL.json", help="Same as --kind compare --artifact: raw and recalibrated."
    ),
    Reach.READS,
]
Size = Annotated[FigureSize, typer.Option("--size", help="Fit one column of a journal, a page, or a slide.")]
Ground = Annotated[Theme, typer.Option("--theme", help="On white, or on a dark ground.")]
Axis = Annotated[
    AxisScale, typer.Option("--axis", help="Lay scores out as they are, or by log-odds near 0 and 1.")
]
Title = Annotated[str | None, typer.Option("--title", help="Title of the picture. [default: file, column]")]
PageTitle = Annotated[str | None, typer.Option("--title", help="Heading. [default: Calibration report]")]
PageDate = Annotated[
    str | None,
    typer.Option("--date", metavar="TEXT", help="A date to print, as you write it. [default: none]"),
]
ReportedRows = Annotated[
    int | None,
    typer.Option(
        "--min-group-rows",
        metavar="N",
        min=1,
        help="Smaller groups are listed alone. [default: 100 to be measured, 1 to be judged]",
    ),
]
PictureFile = Annotated[
    str | None,
    typer.Option("-o", "--output", metavar="FILE", help="Where to write: .png, .svg or .pdf."),
    Reach.WRITES,
]
InTerminal = Annotated[
    bool, typer.Option("--terminal", help="Draw a reliability diagram in letters; -o is then optional.")
]
