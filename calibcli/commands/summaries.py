"""Summaries that stand in the place of files: written after a measurement, and read as tables."""

import hashlib
import shlex
from collections.abc import Sequence
from pathlib import Path

from calibcli.commands.gathering import RAW, Gathered
from calibcli.data.columns import ResolvedColumns
from calibcli.data.files import file_word, read_errors
from calibcli.data.groups import OfMembers, OfSegments
from calibcli.data.tally import NOTHING, AtPlaces, Change, GatherRequest, Unchanged
from calibcli.documents.summary import How, TableDocument, is_summary, read_summary, summary_text
from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import OnMissing, OnRange, WeightMeaning
from calibcli.options.numerals import folded, phrases_said, plural
from calibcli.options.rows import ALL_ROWS, Columns, RowSource
from calibcli.reports.input import in_several, together, unopened_words
from calibcli.reports.maps import InspectReport
from calibcli.show.words import step_words
from calibcli.stats.table.derived import with_scores
from calibcli.stats.table.grid import Table, digest
from calibcli.stats.table.running import RunningTable
from calibcli.values import replace

# Reading once more costs about a second for so many.
MOST_BYTES = 1 << 30

_CHUNK = 1 << 20

_SAMPLES, _SAMPLE = 16, 1 << 16

_SHORT = 1 << 10


def file_digests(paths: Sequence[str]) -> dict[str, str]:
    """By the name of each file; none where one of them is no file, or all are too large."""
    found = [Path(path) for path in paths]
    if not all(path.is_file() for path in found) or sum(path.stat().st_size for path in found) > MOST_BYTES:
        return {}
    return {name: _digest(path) for name, path in zip(paths, found, strict=True)}


def _digest(path: Path) -> str:
    found = hashlib.sha256()
    with read_errors(str(path)), path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            found.update(chunk)
    return found.hexdigest()


def file_marks(paths: Sequence[str]) -> tuple[str, ...] | None:
    """Return what tells the content of each file from others, whatever its name: of large ones by samples.

    Short files may well be equal and yet two, so that their names count too.
    """
    found = [Path(path) for path in paths]
    if not all(path.is_file() for path in found):
        return None
    return tuple(_mark(name, path) for name, path in zip(paths, found, strict=True))


def _mark(name: str, path: Path) -> str:
    found = hashlib.sha256(b"calibcli.file/1 ")
    with read_errors(str(path)), path.open("rb") as file:
        size = path.stat().st_size
        found.update(f"{size} {name if size < _SHORT else ''}\n".encode(errors="surrogatepass"))
        if size <= _SAMPLES * _SAMPLE:
            found.update(file.read())
        else:
            for place in range(_SAMPLES):
                file.seek((size - _SAMPLE) * place // (_SAMPLES - 1))
                found.update(file.read(_SAMPLE))
    return f"sha256:{found.hexdigest()}"


def summaries_in(inputs: Sequence[RowSource]) -> tuple[str, ...]:
    """Return the inputs where they are summaries, all of them; none where they are rows."""
    found = [is_summary(path) for path in inputs]
    if any(found) and not all(found):
        one, other = inputs[found.index(True)], inputs[found.index(False)]
        msg = f"{one} is a summary of rows, and {other} is none"
        raise UsageProblem(msg, "summarise both with `calibcli measure --summary-out`, or name files of rows")
    return tuple(map(str, inputs)) if any(found) else ()


def gather_summaries(
    inputs: Sequence[str],
    columns: Columns,
    *,
    limit: int | None,
    gather_request: GatherRequest,
) -> Gathered:
    """Return what reading the files behind summaries would have gathered."""
    if gather_request.part:
        msg = f"--state counts rows, and {inputs[0]} is a summary of rows"
        raise UsageProblem(msg, "name the files that it was made from, or leave out --state")
    # How many groups there may be is no question to a table that has none, nor what two scores differ by.
    most = NOTHING.most_slices
    alone = replace(
        gather_request, transforms=NOTHING.transforms, most_slices=most, ranked=(), thresholds=(), twice=False
    )
    if columns.on or alone != NOTHING:
        msg = f"{inputs[0]} is a summary of one score over all rows, without groups, clusters or other scores"
        raise UsageProblem(msg, "name the files that it was made from, or summarise each group with --where")
    whole = added([(path, read_summary(path)) for path in inputs], limit=limit)
    _refuse_other_columns(inputs[0], columns, whole)
    changes = gather_request.transforms.items()
    tables = {key: _changed(inputs[0], whole.table, change) for key, change in changes}
    resolved = ResolvedColumns(
        _as_read(columns, whole), whole.input.score, whole.input.label, whole.input.weight
    )
    # Of a summary it is part of how rows were read.
    return Gathered(tables, replace(whole.input, positive=whole.how.positive), resolved)


def _as_read(columns: Columns, whole: TableDocument) -> Columns:
    """Return the columns with what was said of them when they were summarised, as of files it is said now."""
    how = whole.how
    phrases = None if how.score_map is None else tuple(how.score_map.items())
    return replace(
        columns,
        weight=whole.input.weight,
        weights_are=how.weights_are,
        positive=how.positive,
        scale=how.scale,
        score_map=phrases,
    )


def added(parts: Sequence[tuple[str, TableDocument]], *, limit: int | None) -> TableDocument:
    first_path, first = parts[0]
    running = RunningTable(limit)
    seen: dict[str, str] = {}
    older: dict[str, str] = {}
    for path, one in parts:
        _refuse_different(first_path, first, path, one)
        for identity in one.identities:
            if identity in seen:
                raise _twice(path, seen[identity])
            seen[identity] = path
        if one.digest_of_many and one.first_identity not in one.identities:
            older[one.first_identity] = path
        running.add(one.table)
    for identity, path in older.items():
        if identity in seen:
            raise _twice(path, seen[identity])
    sources = [one.input for _, one in parts]
    source = together(sources)
    source = replace(source, notes=tuple(dict.fromkeys((*source.notes, *in_several(sources)))))
    return TableDocument(source, first.how, running.table(), tuple(seen))


def _twice(path: str, other: str) -> InputProblem:
    return InputProblem(
        f"{path} holds rows of {other}, which would count twice",
        "name each summary once, no sum beside one of its parts, and no file in two summaries",
    )


def summary_report(path: str, document: TableDocument) -> InspectReport:
    source, table = document.input, document.table
    selected = source.selected
    left_out = f"{source.dropped:,} dropped, {0 if selected is None else selected.unselected:,} not selected"
    if selected is not None and selected.unopened:
        left_out += f"; {unopened_words(selected.unopened)}"
    facts = [
        ("files", ", ".join(source.files[:10]) + (" ..." if len(source.files) > 10 else "")),
        ("score", source.score),
        ("label", source.label or "none"),
        ("rows", f"{table.total_rows:,}, {table.total_positive_rows:,} with label 1"),
        (
            "table",
            f"{table.kind}, {plural(table.distinct, 'cell' if table.kind == 'grid' else 'distinct score')}",
        ),
        ("left out", left_out),
        ("digest", digest(table)),
    ]
    if source.weight is not None:
        facts.insert(3, ("weight", source.weight))
    facts += [("note", note) for note in source.notes]
    return InspectReport(path, "summary", tuple(facts), (), f"calibcli measure {file_word(path)}")


def refuse_summary(columns: Columns) -> None:
    """Refuse to summarise what a summary cannot hold, before anything is read."""
    beyond = {
        "--by": columns.by,
        "--cluster": columns.cluster,
        "--probs": columns.several,
        "a second --score": columns.others,
    }
    for option, value in beyond.items():
        if value:
            msg = f"--summary-out keeps one score over all rows, without {option}"
            each = "; --where summarises a group by itself" if option == "--by" else ""
            raise UsageProblem(msg, f"leave out one of them{each}")
    for option in ("limit", "sample"):
        if option in columns.rows.options:
            msg = f"--summary-out is for parts that are added up, and --{option} takes some rows of each"
            raise UsageProblem(msg, "leave out one of them")


def write_summary(gathered: Gathered, path: str, *, inputs: Sequence[RowSource]) -> None:
    from calibcli.data.outputs import write_file

    document = TableDocument(gathered.input, _how_read(gathered.resolved.requested), gathered.tables[RAW])
    document = replace(document, parts=_parts(inputs, document))
    write_file(path, summary_text(document).encode("ascii"))


def _parts(inputs: Sequence[RowSource], document: TableDocument) -> tuple[str, ...]:
    """Return what tells the rows of a summary from those of others: of its files, and of so many scores."""
    summaries = summaries_in(inputs)
    if summaries:
        return tuple(dict.fromkeys(part for one in summaries for part in read_summary(one).identities))
    marks = file_marks(document.input.files)
    own = document.identities if marks is None else (*marks, *document.digest_of_many)
    return tuple(dict.fromkeys(own))


def _how_read(columns: Columns) -> How:
    weights = None if columns.weight is None else columns.weights_are or WeightMeaning.IMPORTANCE
    phrases = None if columns.score_map is None else dict(columns.score_map)
    return How(columns.read_as, columns.positive, weights, phrases)


def _changed(path: str, table: Table, change: Change | None) -> Table:
    """Return a table after a map, which exact scores alone can go through."""
    if change is None:
        return table
    if isinstance(change, AtPlaces | OfMembers | OfSegments | Unchanged):
        msg = f"{path} is a summary, and this map looks at more than the score of a row"
        raise UsageProblem(msg, "apply it to the files of rows")
    if table.kind == "grid":
        msg = f"{path} keeps scores to {step_words(table.resolution)}, and a map needs them exactly"
        raise UsageProblem(msg, "summarise with --exact, or measure the files of rows with --artifact")
    return with_scores(table, change(table.score))


def _read_how(document: TableDocument) -> dict[str, str | tuple[str, ...] | None]:
    """Return how rows were read when they were summarised, by the options that say so."""
    source, how = document.input, document.how
    return {
        "score": source.score,
        "label": source.label,
        "weight": source.weight,
        "scale": how.scale,
        "positive": how.positive,
        "weights-are": how.weights_are,
        "score-map": None if how.score_map is None else phrases_said(how.score_map),
        "where": () if source.selected is None else source.selected.where,
    }


def _refuse_other_columns(path: str, columns: Columns, whole: TableDocument) -> None:
    """Refuse what was said of columns unless it is what was summarised."""
    if columns.several is not None or columns.rows != ALL_ROWS:
        msg = f"{path} is a summary: its rows can no longer be selected, or read as several classes"
        raise UsageProblem(msg, "select rows where they are summarised")
    if (columns.on_missing, columns.on_range) != (OnMissing.ERROR, OnRange.ERROR):
        msg = f"{path} is a summary: what is missing or outside [0, 1] was dealt with when it was made"
        raise UsageProblem(msg, "leave out --on-missing and --on-range")
    there = _read_how(whole)
    weights_are = columns.weights_are if whole.how.weights_are else None
    said = {
        **{name: getattr(columns, name) for name in ("score", "label", "weight", "scale", "positive")},
        "weights-are": weights_are,
        "score-map": None if columns.score_map is None else phrases_said(dict(columns.score_map)),
    }
    for option, asked in said.items():
        was = there[option]
        same = folded if option in ("score", "label", "weight") else str
        if asked is not None and (was is None or same(asked) != same(str(was))):
            msg = f"{path} was summarised {_asked_for(option, was)}, and not {_asked_for(option, asked)}"
            # That of an artifact stands here too, where nobody said one.
            right = f"leave out --{option}" if was is None else f"pass --{option} {shlex.quote(str(was))}"
            raise UsageProblem(msg, f"{right}, or summarise anew")


def _refuse_different(first_path: str, first: TableDocument, path: str, one: TableDocument) -> None:
    theirs = _read_how(one)
    for option, mine in _read_how(first).items():
        if mine != theirs[option]:
            here = _asked_for(option, mine) if mine else "without"
            msg = f"{path} was summarised {_asked_for(option, theirs[option])}, {first_path} {here}"
            raise UsageProblem(msg, "summarise all parts with the same options")


def _asked_for(option: str, value: str | tuple[str, ...] | None) -> str:
    """Return that an option was said, as it is typed, or that it was not."""
    if not value:
        return f"without --{option}"
    values = value if isinstance(value, tuple) else (value,)
    return "with " + " ".join(f"--{option} {shlex.quote(str(one))}" for one in values)
