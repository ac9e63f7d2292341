"""calibcli schema."""

from calibcli.names import STDOUT
from calibcli.options.output import DocumentName
from calibcli.shell.door import command


@command("debug")
def schema(kind: DocumentName) -> None:
    """
    Print the JSON Schema of artifacts, reports and states of gates.

    \b
    EXAMPLES
      calibcli schema artifact > artifact.schema.json
      calibcli schema report
    """
    from calibcli.documents.schemas import schema_text
    from calibcli.shell.output import write

    write(schema_text(kind), STDOUT)
