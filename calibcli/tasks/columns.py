"""Say which columns a data file has, and what calibcli would take each for."""

import re
import shlex
from contextlib import suppress

from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import DataFormat
from calibcli.readers import reader_of
from calibcli.readers.columns import Columns, resolve
from calibcli.readers.fragments import Fragment, list_fragments
from calibcli.readers.input_format import AS_FOUND, InputFormat
from calibcli.reports.inspect import ColumnSummary, InspectReport

# How types are written whose rows may hold several numbers.
_LIST = re.compile(r"list|struct|extension|, \d+\)")
# What names of columns of several classes usually begin with.
_STARTS = ("p_", "prob_", "proba_", "probs_", "probability_")


def inspect_columns(path: str, *, input_format: InputFormat = AS_FOUND) -> InspectReport:
    """
    Look at the header of a data file.

    Args:
        path: The file, or "-" for standard input.

        input_format: Its format, and how text is written.

    Raises:
        InputProblem: If it cannot be read.
    """
    fragments = list_fragments([path], input_format=input_format)
    first = fragments[0]
    header = reader_of(first.format).header(first)
    kinds = reader_of(first.format).kinds(first)
    probs = _several(first, header, dict(kinds))
    roles = _roles(header, first.shown)
    by_name = {name: role for role, name in roles.items()} | dict.fromkeys(probs, "probs")
    facts = [("format", first.format.value), *_size(first), ("columns", f"{len(header)}")]
    words = f"{_asked(probs, roles)} -y {roles.get('label', 'LABEL')}{_as_said(input_format)}"
    columns = tuple(ColumnSummary(name, kind, by_name.get(name, "")) for name, kind in kinds)
    return InspectReport(path, first.format.value, tuple(facts), columns, f"calibcli measure {path} {words}")


def _as_said(asked: InputFormat) -> str:
    """Return the options that said how the file is read."""
    said = {
        "--input-format": None if asked.format is None else asked.format.value,
        "--delimiter": asked.delimiter,
        "--encoding": asked.encoding,
        "--decimal": asked.decimal,
    }
    words = [f" {option} {shlex.quote(value)}" for option, value in said.items() if value is not None]
    return "".join(words).replace("'\t'", "tab")


def _asked(probs: tuple[str, ...], roles: dict[str, str]) -> str:
    """Return the option that names the probabilities."""
    if not probs or roles.get("score", probs[0]) not in probs:
        return f"-s {roles.get('score', 'SCORE')}"
    start = next((one for one in _STARTS if len(probs) > 1 and probs[0].startswith(one)), None)
    return f"--probs {shlex.quote(probs[0] if start is None else f'{start}*')}"


def _several(fragment: Fragment, header: tuple[str, ...], types: dict[str, str]) -> tuple[str, ...]:
    """Return the columns that seem to hold probabilities of classes: one of lists, or some named alike."""
    reader = reader_of(fragment.format)
    lists = tuple(name for name in header if _LIST.search(types[name]) and reader.list_length(fragment, name))
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


def _size(fragment: Fragment) -> list[tuple[str, str]]:
    rows = reader_of(fragment.format).row_count(fragment)
    facts = [] if rows is None else [("rows", f"{rows:,}")]
    if fragment.format is DataFormat.PARQUET:
        from calibcli.readers.parquet import row_group_rows

        facts.append(("row groups", f"{len(row_group_rows(fragment)):,}"))
    return facts
