"""Say which columns a data file has, and what calibcli would take each for."""

import shlex
from contextlib import suppress

from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import DataFormat
from calibcli.options.rows import AS_FOUND, Columns, InputFormat
from calibcli.readers import reader_of
from calibcli.readers.classes_guessed import asking_for, guessed_classes
from calibcli.readers.columns import resolve
from calibcli.readers.files import file_word, found_in
from calibcli.readers.fragments import Fragment, list_fragments
from calibcli.readers.names_of_columns import folded, separator_hint
from calibcli.reports.inspect import ColumnSummary, InspectReport


def inspect_columns(path: str, *, input_format: InputFormat = AS_FOUND) -> InspectReport:
    """
    Look at the header of a data file.

    Args:
        path: The file, or "-" for standard input.

        input_format: Its format, and how text is written.

    Raises:
        InputProblem: If it cannot be read.
    """
    found = found_in([path])
    fragments = list_fragments(found, input_format=input_format)
    first = fragments[0]
    header = reader_of(first.format).header(first)
    kinds = reader_of(first.format).kinds(first)
    own = {folded(name) for name in header}
    partitions = tuple(dict.fromkeys(name for name, _ in first.partitions if folded(name) not in own))
    probs = guessed_classes(first, header)
    roles = _roles(header, first.shown)
    by_name = {name: role for role, name in roles.items()} | dict.fromkeys(probs, "probs")
    facts = [("format", first.format.value), *_size(fragments), ("columns", f"{len(header)}")]
    facts += [("found", note) for note in found.notes()]
    if partitions:
        facts.append(("in the path", ", ".join(partitions)))
    hint = separator_hint(header)
    if hint is not None:
        facts.append(("note", hint))
    words = f"{_asked(probs, roles)} -y {shlex.quote(roles.get('label', 'LABEL'))}{_as_said(input_format)}"
    typed = (*kinds, *((name, "partition") for name in partitions))
    columns = tuple(ColumnSummary(name, kind, by_name.get(name, "")) for name, kind in typed)
    following = f"calibcli measure {file_word(path)} {words}"
    return InspectReport(path, first.format.value, tuple(facts), columns, following)


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
        return f"-s {shlex.quote(roles.get('score', 'SCORE'))}"
    return asking_for(probs)


def _roles(header: tuple[str, ...], shown: str) -> dict[str, str]:
    """Return the columns that would be taken unasked, by what for."""
    roles: dict[str, str] = {}
    with suppress(InputProblem):
        roles["score"] = resolve(Columns(), header, path=shown, labelled=False).score
    # Any column may be the score while the label is looked for, but the label itself.
    for other in header[:2]:
        try:
            label = resolve(Columns(score=other), header, path=shown).label
        except (InputProblem, UsageProblem):
            continue
        if label is not None:
            roles["label"] = label
            break
    return roles


def _size(fragments: list[Fragment]) -> list[tuple[str, str]]:
    """Return how many files, rows and row groups there are, as far as no rows are read for it."""
    files = list({one.path: one for one in fragments}.values())
    facts = [("files", f"{len(files):,}; types are those of {files[0].shown}")] if len(files) > 1 else []
    counts = [reader_of(one.format).row_count(one) for one in files]
    known = [rows for rows in counts if rows is not None]
    if len(known) == len(counts):
        facts.append(("rows", f"{sum(known):,}"))
    if all(one.format is DataFormat.PARQUET for one in files):
        from calibcli.readers.parquet import row_group_rows

        facts.append(("row groups", f"{sum(len(row_group_rows(one)) for one in files):,}"))
    return facts
