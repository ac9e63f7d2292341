"""calibcli schema."""

from calibcli.cli.door import command
from calibcli.options.output import DocumentName
from calibcli.outputs import STDOUT


@command("debug")
def schema(kind: DocumentName) -> None:
    """
    Print the JSON Schema of artifacts, reports, comparisons or states of gates.

    \b
    EXAMPLES
      calibcli schema artifact > artifact.schema.json
      calibcli schema report
    """
    from calibcli.cli.output import write
    from calibcli.documents.schemas import schema_text

    write(schema_text(kind), STDOUT)
