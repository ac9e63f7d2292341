"""Where the work runs: options of every command that reads rows into tables."""

from typing import Annotated

import typer

from calibcli.names import EngineName
from calibcli.options.declaring import Reach

EngineChoice = Annotated[
    EngineName,
    typer.Option("--engine", help="Where files are read: here, or on a cluster that exists."),
    Reach.CONNECTS,
]
EngineAddress = Annotated[
    str | None,
    typer.Option(
        "--engine-address",
        metavar="ADDR",
        help="tcp://HOST:8786 or a scheduler file of dask; local[N], spark://HOST:7077, sc://HOST of spark.",
    ),
    Reach.CONNECTS,
]
