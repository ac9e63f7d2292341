"""Every option of exports alone, once; the others are in `options.py`."""

from typing import Annotated

import typer

from calibcli.export_names import ExportTarget, SqlDialect

To = Annotated[ExportTarget, typer.Option("--to", help="What to write the map as.")]
Dialect = Annotated[
    SqlDialect | None, typer.Option("--dialect", help="Whose SQL. [default: duckdb]", show_default=False)
]
Table = Annotated[
    str | None,
    typer.Option(
        "--table", metavar="NAME", help="The table in the SQL, dots after its schema. [default: predictions]"
    ),
]
ScoreName = Annotated[
    str | None,
    typer.Option("-s", "--score", metavar="COL", help="The score in the SQL or ONNX. [default: score]"),
]
ClassNames = Annotated[
    str | None,
    typer.Option(
        "--probs",
        metavar="A,B,...",
        help="The columns of classes in the SQL, or one of lists. [default: p_CLASS for each]",
    ),
]
GroupColumn = Annotated[
    str | None,
    typer.Option("--by", metavar="COL", help="The column of groups in the SQL. [default: that of fit --by]"),
]
NewName = Annotated[
    str | None,
    typer.Option("--name", metavar="COL", help="The new column in the SQL or ONNX. [default: calibrated]"),
]
Single = Annotated[
    bool, typer.Option("--float32", help="Let the ONNX model take scores in single precision.")
]
