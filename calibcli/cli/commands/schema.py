"""calibcli schema."""

from calibcli.cli import options as o
from calibcli.outputs import STDOUT


def schema(
    kind: o.Kinds,
    debug: o.Debug = False,  # noqa: ARG001 - read by the gate in app.py
) -> None:
    """
    Print the JSON Schema of artifacts, reports, comparisons or states of gates.

    \b
    EXAMPLES
      calibcli schema artifact > artifact.schema.json
      calibcli schema report
    """
    from calibcli.cli.output import write
    from calibcli.schemas import schema_text

    write(schema_text(kind), STDOUT)
