"""CSV and TSV: record batches of the columns asked for, as the file streams by.

Types are never inferred: scores and weights are numbers, labels are text seen through a dictionary. In a
file of several columns a blank line is no row; in a file of one column it is a missing value.

Where a row ends is found out before pyarrow sees it, by line ends and quotes alone (`records.py`), and
pyarrow has to give as many rows.
"""

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, ClassVar, cast

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from calibcli.data.arrays import Column, booleans, some_texts, source_of, without
from calibcli.data.columns import ResolvedColumns, separated_by
from calibcli.data.readers import (
    Reader,
    chunks_of,
    kept_bytes,
    number_hint,
    opened_text,
    text_problems,
)
from calibcli.data.records import (
    BOM,
    LONGEST_HEADER,
    Block,
    blocks,
    first_record,
    first_record_end,
    lines_before,
)
from calibcli.errors import InputProblem, first_words
from calibcli.names import DataFormat, Scale
from calibcli.values import dataclass

_ENCODING_HINT = "say which encoding it has, such as --encoding latin-1 or --encoding cp1252"
_NO_CSV = "is it CSV? Else name its format with --input-format, or its encoding, such as --encoding utf-16-le"
# Text that stands for a missing value; SAS writes a point.
MISSING = (*(pa_csv.ConvertOptions().null_values or ()), ".")
NUMBER = pa.float64()
WORD = pa.dictionary(pa.int32(), pa.string())
# So many rows with another number of fields than the header are named.
_NAMED = 10
# Of quoted text with thousands of lines so many are looked at one by one.
_LOOKED_AT = 100
_QUOTES = "fields that contain the separator must be quoted, and quotes must be closed"
_ONE_MORE = (
    "every row has one more: if its name stands first, as in R, write it without (row.names = FALSE); if all "
    "end in a separator, let the header end in one, too"
)
_AGAIN = "the header stands there again: were files put one after the other? Name them one by one instead"
_USUAL_LABELS = {"0", "1", "0.0", "1.0", "true", "false", ""}
_NOT_A_NUMBER = re.compile(
    r"column #(\d+): Row #(\d+): CSV conversion error to \w+: invalid value '(.*)'", re.DOTALL
)
_NOT_UTF8 = r"column #(\d+): Row #(\d+): CSV conversion error to \w+: invalid UTF8"
_WRONG_FIELDS = r"Row #(\d+): Expected (\d+) columns, got (\d+)"


class NoNumber(InputProblem):
    """Text in a column of numbers."""


class WrongFields(InputProblem):
    """A row with more or fewer fields than the header."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How a CSV file is laid out; `decimal` stands before the decimals of numbers, and some are `scores`."""

    shown: str
    names: tuple[str, ...]
    delimiter: str
    decimal: str = "."
    scores: tuple[str, ...] = ()

    def reported(self, *, rows_before: int = 0) -> AbstractContextManager[None]:
        """Turn what pyarrow says of a file into one line with the column and the row of the file."""
        return text_problems(self.shown, lambda said: self._problem(said, rows_before))

    def _problem(self, said: str, shift: int) -> InputProblem:
        """Return what pyarrow's words mean; its row numbers plus `shift` count the file's rows."""
        if match := _NOT_A_NUMBER.search(said):
            name, row, value = self.names[int(match[1])], int(match[2]) + shift, match[3]
            shown = repr(value if len(value) <= 40 else value[:37] + "...")
            what = f"{shown} at row {row:,} is" if value else f"the blanks at row {row:,} are"
            msg = f"{self.shown}, column {name!r}: {what} not a number"
            score = name in self.scores
            return NoNumber(msg, _AGAIN if value == name else number_hint(value, self.decimal, score=score))
        if match := re.search(_NOT_UTF8, said):
            name, row = self.names[int(match[1])], int(match[2]) + shift
            msg = f"{self.shown}, column {name!r}: the text at row {row:,} is not UTF-8"
            return InputProblem(msg, _ENCODING_HINT)
        if match := re.search(_WRONG_FIELDS, said):
            row, expected, got = int(match[1]) + shift, int(match[2]), int(match[3])
            fields = f"{got} field{'s' * (got != 1)}"
            msg = f"{self.shown}: row {row:,} has {fields} where the header has {expected}"
            return WrongFields(msg, _QUOTES)
        msg = f"{self.shown} cannot be read: {first_words(said)}"
        return InputProblem(msg, "is it CSV, and complete? path:parquet or path:tsv forces another format")


def header_names(head: bytes, delimiter: str, *, shown: str, encoding: str | None = None) -> tuple[str, ...]:
    """Return the names in a header line; `head` may run on beyond it."""
    end = first_record_end(head, delimiter)
    if end is None and len(head) >= LONGEST_HEADER:
        msg = f"{shown}: the header is longer than {LONGEST_HEADER >> 20} MiB"
        raise InputProblem(msg, "is it CSV, with all quotes closed? Else name its format with --input-format")
    try:
        text = head[:end].decode(encoding or "utf-8-sig")
    except UnicodeError:
        text = "\0"
    if "\0" in text:
        msg = f"{shown}: the header is not {encoding or 'UTF-8'} text"
        hint = _NO_CSV if b"\0" in head else _ENCODING_HINT
        raise InputProblem(msg, hint)
    try:
        names = _fields(text, delimiter)
    except csv.Error as error:
        msg = f"{shown}: the header is not CSV: {error}"
        raise InputProblem(msg, _other_mark(text, delimiter)) from None
    if not any(names):
        msg = f"{shown}: line 1, where the names of the columns should be, is blank"
        raise InputProblem(msg, "remove the blank lines before the header, such as with: grep -v '^$' FILE")
    return tuple(names)


def _fields(line: str, delimiter: str) -> list[str]:
    return next(csv.reader(io.StringIO(line, newline=""), delimiter=delimiter, strict=True), [""])


def _other_mark(line: str, delimiter: str) -> str | None:
    """Say which mark stands between quoted names, as R writes them, where it is not the one expected."""
    for mark in ";\t|, ".replace(delimiter, ""):
        with suppress(csv.Error):
            if len(_fields(line, mark)) > 1:
                return separated_by(mark)
    return None


class CsvReader(Reader):
    """Lines of fields, as they stream by."""

    ahead: ClassVar[bool] = False

    def header(self) -> tuple[str, ...]:
        """Return the names of a file's columns, without losing anything of a pipe."""
        return self.layout().names

    def batches(self, resolved: ResolvedColumns) -> Iterator[pa.RecordBatch]:
        types: dict[str, pa.DataType] = {
            name: WORD if name in resolved.words else NUMBER for name in resolved.stored
        }
        types |= {name: pa.string() for name in resolved.identity if name in types}
        return self._stream(resolved, types=types)

    def schema(self, resolved: ResolvedColumns) -> pa.Schema:
        """Return the scores as numbers, unless they are words, and all other columns as text."""
        scores = () if resolved.requested.in_words else resolved.scores
        names = resolved.carries(self.header())
        return pa.schema([pa.field(name, NUMBER if name in scores else pa.string()) for name in names])

    def batches_of_all(self, resolved: ResolvedColumns) -> Iterator[pa.RecordBatch]:
        """Stream every column, the score as a number and all others as the text that they are."""
        types = {field.name: field.type for field in self.schema(resolved)}
        return self._stream(resolved, types=types, verbatim=True)

    def kinds(self) -> tuple[tuple[str, str], ...]:
        return tuple((name, "text") for name in self.header())

    def list_length(self, name: str) -> int | None:
        return None

    def layout(self, scores: tuple[str, ...] = ()) -> Layout:
        """Read the layout of a file from its first line; some of its columns are scores."""
        fragment, shown = self.fragment, self.fragment.shown
        delimiter = fragment.delimiter or ("\t" if fragment.format is DataFormat.TSV else ",")
        if fragment.pipe is not None and fragment.streams:
            head, encoding = fragment.pipe.first_record(delimiter), fragment.encoding
        else:
            with Layout(shown, (), "").reported(), opened_text(fragment) as stream:
                head, encoding = first_record(b"", stream.read, delimiter), None
        names = header_names(head, delimiter, shown=shown, encoding=encoding)
        return Layout(shown, names, delimiter, fragment.decimal or ".", scores)

    @contextmanager
    def text(self, within: Layout) -> Iterator[Callable[[int], bytes]]:
        """Give a function that returns up to so many of a file's bytes, decompressed, and none at the end.

        They are the file's own where new fields can be written beside them (`kept_bytes`), and else UTF-8.
        """
        with chunks_of(self.fragment, decoded=not kept_bytes(self.fragment)) as chunk:

            def read(size: int) -> bytes:
                with within.reported():
                    return chunk(size)

            yield read

    def _stream(
        self, resolved: ResolvedColumns, *, types: Mapping[str, pa.DataType], verbatim: bool = False
    ) -> Iterator[pa.RecordBatch]:
        found, rows = self.layout(resolved.own_scores), 0
        parser = Parser(found, resolved, types, verbatim)
        with found.reported(), opened_text(self.fragment) as stream:
            cut = blocks_of(stream.read, found)
            next(cut, None)
            for block in cut:
                batch = parser.rows_of(block, rows)
                rows += batch.num_rows
                if batch.num_rows:
                    yield batch


READER = CsvReader


def with_gaps(text: Column) -> Column:
    """Return a column that was read verbatim with null where its text stands for a missing value."""
    import pyarrow.compute as pc

    missing: Any = some_texts(MISSING).cast(text.type)
    return without(text, booleans(cast("Column", pc.is_in(text, value_set=missing))))


def blocks_of(read: Callable[[int], bytes], within: Layout) -> Iterator[Block]:
    """Cut a file into the header and blocks of whole rows; a blank line is a row of a single column."""
    return blocks(read, delimiter=within.delimiter, blank=len(within.names) == 1, shown=within.shown)


@dataclass(frozen=True, slots=True)
class Parser:
    """Parses some columns of a file, in the order of its blocks.

    Args:
        verbatim: Whether text stays what it is, of which some else stands for a missing value.
    """

    within: Layout
    resolved: ResolvedColumns
    types: Mapping[str, pa.DataType]
    verbatim: bool = False

    def rows_of(self, block: Block, rows_before: int) -> pa.RecordBatch:
        """Parse some columns of some whole rows, as many as line ends and quotes say."""
        try:
            batch = self._parsed(block, self.types, rows_before)
        except WrongFields as problem:
            raise self._wrong_fields(block, rows_before) or problem from None
        except NoNumber:
            if not self.resolved.requested.takes_texts:
                raise
            # Texts are told apart where there are some: it takes several times as long.
            words = dict(self.types) | dict.fromkeys(self.resolved.scores, WORD)
            batch = self._parsed(block, words, rows_before)
        if batch.num_rows != block.most:
            counted = block.bounds()[0].size
            if batch.num_rows != counted:
                where = f"lines {block.line:,} to {block.line + block.lines - 1:,}"
                msg = f"{self.within.shown}: {where} hold {counted:,} rows, and {batch.num_rows:,} were read"
                raise InputProblem(msg, "rewrite the file with a CSV library, or export it as Parquet")
        if block.most != block.lines:
            self._refuse_swallowed(block)
        return batch

    def _wrong_fields(self, block: Block, rows_before: int) -> InputProblem | None:
        """Name the rows of a block that have more or fewer fields than the header, with their lines."""
        starts, ends = block.bounds()
        separators, columns, shown = block.separators(), len(self.within.names), self.within.shown
        fields = 1 + np.searchsorted(separators, ends) - np.searchsorted(separators, starts)
        wrong = np.flatnonzero(fields != columns).tolist()
        named = []
        for at in wrong[:_NAMED]:
            line = block.line + lines_before(block.whole, int(starts[at]))
            named.append(f"row {rows_before + at + 1:,} (line {line:,}) has {int(fields[at])}")
        if len(wrong) < 2:
            one = "".join(named)
            msg = f"{shown}: {one} field{'s' * (not one.endswith(' 1'))} where the header has {columns}"
            return InputProblem(msg, _QUOTES) if wrong else None
        more = f" and {len(wrong) - _NAMED:,} more" if len(wrong) > _NAMED else ""
        counted = (
            f"{len(wrong):,} of the first {rows_before + starts.size:,} rows do not have {columns} fields"
        )
        msg = f"{shown}: {counted} as the header has: {', '.join(named)}{more}"
        return InputProblem(msg, _ONE_MORE if (fields == columns + 1).all() else _QUOTES)

    def _refuse_swallowed(self, block: Block) -> None:
        """Refuse quoted text most of whose lines look like rows of the file: those between two stray quotes.

        Text of many lines is usual, and so is a table within text. What gives stray quotes away is that most
        lines have as many fields as the header, a score where the scores are and a label where the labels
        are.
        """
        within, names = self.within, self.within.names
        lines = block.quoted_lines() if len(names) > 1 else None
        if lines is None:
            return
        numbers = [names.index(name) for name in self.resolved.scores]
        # Of the lines on which quotes open and close only what is within is text: the scores must be there.
        counts = (lines.begins | (lines.outside < min(numbers))) & (
            lines.ends | (lines.separators - lines.outside > max(numbers))
        )
        # Where two texts meet on a line, what stands between them is none.
        counts &= ~(lines.begins & lines.ends & (lines.outside > 0))
        alike = counts & (lines.separators == len(names) - 1)
        if not alike.any():
            return
        rows = np.bincount(lines.text[counts & (lines.stops - lines.starts > 1)])
        many = np.bincount(lines.text[alike], minlength=rows.size)
        for text in np.flatnonzero(2 * many > rows).tolist():
            places = np.flatnonzero(alike & (lines.text == text)).tolist()
            looked_at = (block.whole[lines.starts[at] : lines.stops[at]] for at in places[:_LOOKED_AT])
            found = sum(self._is_row(line.decode("utf-8", "replace"), numbers) for line in looked_at)
            found = found * len(places) // min(len(places), _LOOKED_AT)
            if 2 * found > rows[text]:
                at = block.line + lines_before(block.whole, lines.opening(text))
                look = "line that looks like a row" if found == 1 else "lines that look like rows"
                where = f"the text in quotes that opens on line {at:,}"
                msg = f"{within.shown}: {where} holds {found:,} {look} of the file"
                raise InputProblem(
                    msg,
                    "close its quote; if it is text, write the file as Parquet or JSON Lines, without quotes",
                )

    def _is_row(self, line: str, numbers: list[int]) -> bool:
        within, resolved = self.within, self.resolved
        fields = line.replace('"', "").rstrip("\r").split(within.delimiter)
        if len(fields) != len(within.names):
            return False
        try:
            scores = self._scores_of([fields[place] for place in numbers])
        except ValueError:
            return False
        requested = resolved.requested
        if requested.read_as is Scale.PROB and not all(0.0 <= score <= 1.0 for score in scores):
            return False
        if (
            resolved.label not in within.names
            or requested.positive is not None
            or requested.several is not None
        ):
            return True
        return fields[within.names.index(str(resolved.label))].strip().casefold() in _USUAL_LABELS

    def _scores_of(self, texts: list[str]) -> list[float]:
        requested, decimal = self.resolved.requested, self.resolved.decimal
        if not requested.in_words:
            return [float(text.replace(decimal, ".")) for text in texts]
        from calibcli.data.score_words import number_in

        known = dict(requested.score_map or ())
        found = [number_in(text, known, requested.read_as, decimal=decimal) for text in texts]
        return [float(text) if number is None else number for text, number in zip(texts, found, strict=True)]

    def _parsed(self, block: Block, types: Mapping[str, pa.DataType], rows_before: int) -> pa.RecordBatch:
        within = self.within
        if block.is_blank and not block.blank:
            return pa.RecordBatch.from_arrays(
                [pa.array([], kind) for kind in types.values()], names=list(types)
            )
        content: Any = memoryview(block.whole)[: block.size]
        if block.whole.startswith(BOM):
            # In the middle of a file it is text, which pyarrow leaves out at the beginning of what it gets.
            content = BOM + content
        # Others have no name there: pyarrow would copy and look up all of a million.
        place = {name: str(at) for at, name in enumerate(types)}
        names = [place.get(name, "") for name in within.names]
        with within.reported(rows_before=rows_before):
            reader = pa_csv.open_csv(
                source_of(content),
                read_options=pa_csv.ReadOptions(
                    use_threads=False, block_size=len(content) + 1, column_names=names
                ),
                parse_options=pa_csv.ParseOptions(
                    delimiter=within.delimiter, ignore_empty_lines=not block.blank, newlines_in_values=True
                ),
                convert_options=pa_csv.ConvertOptions(
                    include_columns=list(place.values()),
                    column_types={place[name]: kind for name, kind in types.items()},
                    null_values=list(MISSING),
                    strings_can_be_null=not self.verbatim,
                    decimal_point=within.decimal,
                ),
            )
            # The block is shorter than the reader's, so that one batch is all there is.
            return reader.read_next_batch().rename_columns(list(types))
