"""Say which columns a data file has, and what calibcli would take each for."""

from contextlib import suppress

from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import DataFormat
from calibcli.readers import reader_of
from calibcli.readers.columns import Columns, resolve
from calibcli.readers.fragments import Fragment, list_fragments
from calibcli.reports.inspect import ColumnSummary, InspectReport


def inspect_columns(path: str, *, input_format: DataFormat | None = None) -> InspectReport:
    """
    Look at the header of a data file.

    Args:
        path: The file, or "-" for standard input.

        input_format: Its format, or None to look.

    Raises:
        InputProblem: If it cannot be read.
    """
    fragments = list_fragments([path], input_format=input_format)
    first = fragments[0]
    header = reader_of(first.format).header(first)
    roles = _roles(header, first.shown)
    facts = [("format", first.format.value), *_size(first), ("columns", f"{len(header)}")]
    score, label = roles.get("score"), roles.get("label")
    suggestion = f"calibcli measure {path} -s {score or 'SCORE'} -y {label or 'LABEL'}"
    by_name = {name: role for role, name in roles.items()}
    columns = tuple(ColumnSummary(name, kind, by_name.get(name, "")) for name, kind in _kinds(first, header))
    return InspectReport(path, first.format.value, tuple(facts), columns, suggestion)


def _roles(header: tuple[str, ...], shown: str) -> dict[str, str]:
    """Return the columns that would be taken unasked, by what for."""
    roles: dict[str, str] = {}
    with suppress(InputProblem):
        roles["score"] = resolve(Columns(), header, path=shown, labelled=False).score
    # Any column may be the score while the label is looked for.
    for other in header:
        try:
            label = resolve(Columns(score=other), header, path=shown).label
        except (InputProblem, UsageProblem):
            continue
        if label is not None:
            roles["label"] = label
            break
    return roles


def _kinds(fragment: Fragment, header: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return each column with its type; the columns of a text file have none."""
    if fragment.format is not DataFormat.PARQUET:
        return [(name, "text") for name in header]
    import pyarrow.parquet as pq

    schema = pq.read_schema(fragment.location)
    return [(name, str(schema.field(index).type)) for index, name in enumerate(schema.names)]


def _size(fragment: Fragment) -> list[tuple[str, str]]:
    if fragment.format is not DataFormat.PARQUET:
        return []
    import pyarrow.parquet as pq

    with pq.ParquetFile(fragment.location) as file:
        rows, groups = file.metadata.num_rows, file.metadata.num_row_groups
    return [("rows", f"{rows:,}"), ("row groups", f"{groups:,}")]
