"""Say which columns a data file has, and what calibcli would take each for."""

import shlex
from contextlib import suppress

from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import DataFormat
from calibcli.objects import source_of
from calibcli.readers import reader_of
from calibcli.readers.columns import Columns, resolve
from calibcli.readers.fragments import Fragment, list_fragments
from calibcli.reports.inspect import ColumnSummary, InspectReport

# What names of columns of several classes usually begin with.
_STARTS = ("p_", "prob_", "proba_", "probs_", "probability_")


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
    probs = _several(first, header)
    roles = _roles(header, first.shown)
    by_name = {name: role for role, name in roles.items()} | dict.fromkeys(probs, "probs")
    facts = [("format", first.format.value), *_size(first), ("columns", f"{len(header)}")]
    suggestion = f"calibcli measure {path} {_asked(probs, roles)} -y {roles.get('label', 'LABEL')}"
    columns = tuple(ColumnSummary(name, kind, by_name.get(name, "")) for name, kind in _kinds(first, header))
    return InspectReport(path, first.format.value, tuple(facts), columns, suggestion)


def _asked(probs: tuple[str, ...], roles: dict[str, str]) -> str:
    """Return the option that names the probabilities."""
    if not probs or roles.get("score", probs[0]) not in probs:
        return f"-s {roles.get('score', 'SCORE')}"
    start = next((one for one in _STARTS if len(probs) > 1 and probs[0].startswith(one)), None)
    return f"--probs {shlex.quote(probs[0] if start is None else f'{start}*')}"


def _several(fragment: Fragment, header: tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns that seem to hold probabilities of classes: one of lists, or some named alike."""
    if fragment.format is DataFormat.PARQUET:
        import pyarrow.parquet as pq

        from calibcli.readers.class_matrix import is_list_of_numbers

        with source_of(fragment.location) as source:
            lists = tuple(one.name for one in pq.read_schema(source) if is_list_of_numbers(one.type))
        if lists:
            return lists[:1]
    alike = (tuple(name for name in header if name.startswith(start)) for start in _STARTS)
    return next((names for names in alike if len(names) > 1), ())


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

    with source_of(fragment.location) as source:
        schema = pq.read_schema(source)
    return [(name, str(schema.field(index).type)) for index, name in enumerate(schema.names)]


def _size(fragment: Fragment) -> list[tuple[str, str]]:
    if fragment.format is not DataFormat.PARQUET:
        return []
    import pyarrow.parquet as pq

    with source_of(fragment.location) as source, pq.ParquetFile(source) as file:
        rows, groups = file.metadata.num_rows, file.metadata.num_row_groups
    return [("rows", f"{rows:,}"), ("row groups", f"{groups:,}")]
