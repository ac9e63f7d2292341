"""Files with traps for whoever counts their rows, drawn by a seed, and what other readers make of them."""

import bz2
import csv
import gzip
import io
import json
import math
import random
import re
import warnings
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.json
import pyarrow.parquet as pq

BOM = "\ufeff"
# A score and a label, as numbers or None; of a refusal there is None instead of rows.
Row = tuple[float | None, float | None]
Found = list[Row] | None
PYTHON, PANDAS, DUCKDB, PYARROW, NUMPY = "Python", "pandas", "DuckDB", "pyarrow", "numpy"
PACKED = {"gz": "gzip", "bz2": "bz2", "zst": "zstd", "lz4": "lz4"}


@dataclass(frozen=True)
class Odd:
    """A file.

    Args:
        ending: Of its name, without that of a compression.

        content: Its bytes, decompressed.

        packed: Its bytes.

        traps: What is odd about it, in words.

        delimiter: What separates fields, where it is CSV.

        names: The columns, where it is CSV.

        packing: The ending of its compression, or nothing.

        whole: Whether the compression gives all of the content.
    """

    ending: str
    content: bytes
    packed: bytes
    traps: tuple[str, ...]
    delimiter: str = ","
    names: tuple[str, ...] = ()
    packing: str = ""
    whole: bool = True

    @property
    def name(self) -> str:
        """What the file is called."""
        return f"odd.{self.ending}{'.' * bool(self.packing)}{self.packing}"


def odd_file(seed: int, kind: str) -> Odd:
    """Draw a file of some kind: `csv`, `jsonl`, `parquet`, `arrow`, `arrows` or `npz`."""
    draw = random.Random(f"{kind} {seed}")  # noqa: S311 - no secret
    if kind == "csv":
        made = _csv(draw)
    elif kind == "jsonl":
        made = _jsonl(draw)
    else:
        made = _binary(draw, kind)
    return made if kind in ("parquet", "npz") else _packed(draw, made)


def _rows(draw: random.Random) -> list[tuple[float, int]]:
    scores = [round(draw.random(), draw.randint(1, 6)) for _ in range(draw.choice([0, 1, 2, 5, 20, 60]))]
    return [(score, int(draw.random() < score)) for score in scores]


_PLAIN = [
    "ok",
    "",
    "a b",
    "#no comment",
    '5" pipe',
    'x""y',
    "é",
    "\\",
    "\\n",
    "'",
    "-",
    "NA",
    "0.5",
    "\ta",
    "x" * 200,
]
_QUOTED = [
    '""',
    '"a,b"',
    '"a;b"',
    '"a\nb"',
    '"a\r\nb\r\n"',
    '"a\rb"',
    '"""a"""',
    '"a ""b"" c"',
    '"\n\n"',
    '""""',
    '"""\n"""',
    '"0.5,1,x\n"',
    '",,,\n,,,\n,"',
    '"' + "line, of text\n" * 30 + '"',
    '"\t"',
    '"#"',
    '" "',
]
_BAD = ['"a"b', '"a" ', '"a \\"b\\" c"', '"a', '"a,', '""a', '"a\n', '"a"\n"']
_CSV_TRAPS = (
    "bad quote",
    "bad quotes",
    "swallowed",
    "second header",
    "mark",
    "mark within",
    "blank lines",
    "blanks",
    "comment",
    "cut",
    "NULs at the end",
    "control-Z",
    "twice",
    "long row",
    "short row",
    "NUL",
    "no last line end",
    "wide",
    "blank before quote",
    "odd number",
)


def _csv(draw: random.Random) -> Odd:
    """Return CSV: good rows, and at times what goes wrong with such files."""
    delimiter, ending = draw.choice([(",", "csv"), (";", "csv"), ("\t", "tsv"), (",", "csv")])
    traps = tuple(draw.sample(_CSV_TRAPS, draw.choice([0, 0, 0, 0, 1, 1, 2, 3])))
    ends = draw.choice([["\n"], ["\r\n"], ["\r"], ["\n", "\r\n", "\r"], ["\n"]])
    names = ["score", "label", *(f"text {i}" for i in range(draw.choice([0, 1, 1, 2, 3])))]
    if "wide" in traps:
        names += [f"a rather long name {i}" for i in range(draw.choice([50, 500]))]
    draw.shuffle(names)
    always = draw.random() < 0.2

    def cell(name: str, row: tuple[float, int]) -> str:
        if name in ("score", "label"):
            text = repr(row[name == "label"])
            return f'"{text}"' if always or draw.random() < 0.05 else text
        text = draw.choice(_QUOTED if draw.random() < 0.4 else _PLAIN)
        return text if text.startswith('"') or delimiter not in text else f'"{text}"'

    lines = [delimiter.join(f'"{name}"' if always else name for name in names)]
    lines += [delimiter.join(cell(name, row) for name in names) for row in _rows(draw)]
    lines = _with_line_traps(draw, lines, traps, delimiter=delimiter, width=len(names))
    text = "".join(line + draw.choice(ends) for line in lines)
    text = _with_text_traps(draw, text, traps)
    return Odd(ending, text.encode(), text.encode(), traps, delimiter, tuple(names))


def _with_line_traps(
    draw: random.Random, lines: list[str], traps: Sequence[str], *, delimiter: str, width: int
) -> list[str]:
    """Return the lines with others between them, or with fields that are not as they should be."""
    between = {
        "second header": lines[0],
        "blank lines": "",
        "blanks": "   ",
        "comment": "# a comment, of a kind",
        "mark within": BOM + lines[-1],
        "long row": lines[-1] + delimiter + "more",
        "short row": delimiter.join(lines[-1].split(delimiter)[:-1]),
        "NUL": "\0",
        "odd number": delimiter.join(["0,5", "1e-3", "nan", " 0.5 ", "0.5\0", "0x1"][: max(1, width)]),
    }
    for trap in traps:
        for _ in range(draw.choice([1, 1, 3])):
            if trap in between:
                lines.insert(draw.randint(1, len(lines)), between[trap])
    broken = {
        "bad quote": (1, _BAD),
        "bad quotes": (2, _BAD),
        "swallowed": (2, ['"x', '5"']),
        "blank before quote": (1, [' "a', ' "a"', ' "a\n']),
    }
    for trap in traps:
        count, texts = broken.get(trap, (0, []))
        places = sorted(draw.sample(range(1, len(lines)), min(count, len(lines) - 1)))
        for at, place in enumerate(places):
            fields = lines[place].split(delimiter)
            text = texts[at % 2] if trap == "swallowed" else draw.choice(texts)
            fields[draw.randrange(len(fields))] = text
            lines[place] = delimiter.join(fields)
    return lines


def _with_text_traps(draw: random.Random, text: str, traps: Sequence[str]) -> str:
    if "no last line end" in traps:
        text = text.rstrip("\r\n")
    if "twice" in traps:
        text += text
    if "cut" in traps:
        text = text[: draw.randint(text.find("\n") + 1, len(text))]
    if "NULs at the end" in traps:
        text += "\0" * draw.choice([1, 300])
    if "control-Z" in traps:
        text += "\x1a"
    return BOM + text if "mark" in traps else text


_JSON_TRAPS = (
    "blank lines",
    "mark",
    "mark within",
    "cut",
    "NUL",
    "NULs at the end",
    "side by side",
    "null",
    "list",
    "raw line end",
    "key twice",
    "twice",
    "comment",
    "trailing comma",
    "no last line end",
    "other keys",
    "deep",
    "text of numbers",
)


def _jsonl(draw: random.Random) -> Odd:
    """Return JSON Lines."""
    traps = tuple(draw.sample(_JSON_TRAPS, draw.choice([0, 0, 0, 1, 1, 2])))
    end = draw.choice(["\n", "\r\n", "\n", "\r"])
    lines = []
    for score, label in _rows(draw):
        row: dict[str, object] = {
            "score": score,
            "label": label,
            "t": draw.choice(["", "a\nb", 'x"', "{}", "}{", "\\"]),
        }
        if "other keys" in traps:
            row[f"key {draw.randrange(9)}"] = draw.choice([None, 1, "x", [1], {"a": "}"}])
        if "deep" in traps:
            row["d"] = {"a": [{"b": [[], {}]}]}
        if "text of numbers" in traps and draw.random() < 0.5:
            row["score"] = str(score)
        lines.append(json.dumps(row, ensure_ascii=draw.random() < 0.5))
    between = {
        "blank lines": draw.choice(["", "  "]),
        "null": "null",
        "list": "[1, 2]",
        "NUL": "\0",
        "comment": "// no",
        "raw line end": '{"score": 0.5, "label": 1, "t": "a\nb"}',
        "key twice": '{"score": 0.5, "score": 0.25, "label": 1}',
        "trailing comma": '{"score": 0.5, "label": 1,}',
        "mark within": BOM + '{"score": 0.5, "label": 1}',
    }
    for trap in traps:
        if trap in between:
            lines.insert(draw.randint(0, len(lines)), between[trap])
    text = "".join(line + ("" if "side by side" in traps and draw.random() < 0.5 else end) for line in lines)
    return Odd("jsonl", *[_with_text_traps(draw, text, traps).encode()] * 2, traps)


def _binary(draw: random.Random, kind: str) -> Odd:
    """Return Arrow, Parquet or npz: whole, cut, with something after or before it, or twice."""
    rows = [*_rows(draw), (0.5, 1)] * draw.choice([1, 3])
    table = pa.table(
        {"score": [row[0] for row in rows], "label": [row[1] for row in rows], "t": ["x"] * len(rows)}
    )
    out = io.BytesIO()
    some = draw.choice([1, 7, 1000])
    if kind == "parquet":
        pq.write_table(
            table,
            out,
            some,
            use_dictionary=draw.random() < 0.5,
            write_page_index=draw.random() < 0.5,
            compression=draw.choice(["none", "zstd"]),
        )
    elif kind == "npz":
        save = draw.choice([np.savez, np.savez_compressed])
        save(
            out,
            score=table["score"].to_numpy(),
            label=table["label"].to_numpy(),
            t=np.array(["x"] * len(rows)),
        )
    else:
        options = pa.ipc.IpcWriteOptions(compression=draw.choice([None, "zstd"]))
        make = pa.ipc.new_file if kind == "arrow" else pa.ipc.new_stream
        with make(out, table.schema, options=options) as writer:
            writer.write_table(table, max_chunksize=some)
    content = out.getvalue()
    trap = draw.choice(["", "", "", "", "cut", "after", "NULs at the end", "before", "twice", "line end"])
    changed = {
        "cut": content[: draw.randint(9, len(content))],
        "after": content + b"more",
        "before": b"more" + content,
        "NULs at the end": content + b"\0" * 64,
        "twice": content * 2,
        "line end": content + b"\n",
    }.get(trap, content)
    return Odd(kind, changed, changed, (trap,) * bool(trap))


def packed_as(packing: str, content: bytes) -> bytes:
    """Return bytes compressed."""
    if packing == "gz":
        return gzip.compress(content, 1, mtime=0)
    if packing == "bz2":
        return bz2.compress(content)
    out = pa.BufferOutputStream()
    with pa.CompressedOutputStream(out, PACKED[packing]) as file:
        file.write(content)
    return out.getvalue().to_pybytes()


def _packed(draw: random.Random, odd: Odd) -> Odd:
    """Return a file compressed, or as it is; at times in members, cut, or with something behind it."""
    packing = draw.choice(["", "", "", "gz", "bz2", "zst", "lz4"])
    if not packing:
        return odd
    content, trap = odd.content, draw.choice(["", "members", "empty member", "cut", "after", "zeros after"])
    packed = packed_as(packing, content)
    if trap == "members":
        at = draw.randint(0, len(content))
        packed = packed_as(packing, content[:at]) + packed_as(packing, content[at:])
    elif trap == "empty member":
        packed += packed_as(packing, b"")
    elif trap == "cut":
        packed = packed[: draw.randint(8, len(packed) - 1)]
    elif trap == "after":
        packed += b"more of it"
    elif trap == "zeros after":
        packed += b"\0" * 64
    traps = (*odd.traps, *(f"{packing}: {word}" for word in [trap] if word))
    whole = trap not in ("cut", "after", "zeros after")
    return Odd(odd.ending, content, packed, traps, odd.delimiter, odd.names, packing, whole)


def unpacked(odd: Odd) -> bytes | None:
    """Return what Python makes of a compressed file; None where it refuses it."""
    opened: dict[str, Callable[[bytes], bytes]] = {"": bytes, "gz": gzip.decompress, "bz2": bz2.decompress}
    if odd.packing not in opened:
        return odd.content if odd.whole else None
    try:
        return opened[odd.packing](odd.packed)
    except (OSError, EOFError, ValueError, zlib.error):
        return None


def number(text: object) -> float | None:
    """Return the number that a field is, None for nothing."""
    if text is None or text == "" or text != text:  # noqa: PLR0124 - NaN
        return None
    value = float(str(text))
    return None if math.isnan(value) else value


def by_others(odd: Odd, path: Path) -> dict[str, Found]:
    """Return the scores and labels that each other reader finds; None where it refuses."""
    readers: dict[str, dict[str, Callable[[Odd, bytes, Path], Found]]] = {
        "csv": {PYTHON: csv_by_python, PANDAS: csv_by_pandas, DUCKDB: csv_by_duckdb, PYARROW: csv_by_pyarrow},
        "jsonl": {
            PYTHON: json_by_python,
            PANDAS: json_by_pandas,
            DUCKDB: json_by_duckdb,
            PYARROW: json_by_pyarrow,
        },
        "parquet": {PYARROW: parquet_by_pyarrow, DUCKDB: parquet_by_duckdb},
        "arrow": {PYARROW: arrow_by_pyarrow},
        "arrows": {PYARROW: arrow_by_pyarrow},
        "npz": {NUMPY: npz_by_numpy},
    }
    content = unpacked(odd)
    if content is None:
        return {}
    path.write_bytes(content)
    found: dict[str, Found] = {}
    for name, read in readers["csv" if odd.names else odd.ending].items():
        try:
            found[name] = read(odd, content, path)
        except _refusals():
            found[name] = None
    return found


class _Refused(ValueError):
    """A reader that gives rows, of which some are none of the table's."""


def csv_by_python(odd: Odd, content: bytes, _: Path) -> Found:
    """The standard library, told to be strict; a row of another length is refused."""
    text = io.StringIO(content.decode("utf-8-sig"), newline="")
    header, *rows = csv.reader(text, delimiter=odd.delimiter, strict=True)
    rows = [row for row in rows if row]
    if any(len(row) != len(header) for row in rows):
        raise _Refused
    at = header.index("score"), header.index("label")
    return [(number(row[at[0]]), number(row[at[1]])) for row in rows]


def csv_by_pandas(odd: Odd, content: bytes, _: Path) -> Found:
    """Every column as text; a row of fewer fields is filled up, and so is refused."""
    import pandas as pd

    warnings.simplefilter("error", pd.errors.ParserWarning)
    frame = pd.read_csv(
        io.BytesIO(content), sep=odd.delimiter, dtype=str, keep_default_na=False, index_col=False
    )
    return [(number(a), number(b)) for a, b in zip(frame["score"], frame["label"], strict=True)]


def csv_by_duckdb(odd: Odd, _: bytes, path: Path) -> Found:
    """With nothing left to guess."""
    types = ", ".join(f"'{name}': 'VARCHAR'" for name in odd.names)
    options = (
        f"header=true, delim='{odd.delimiter}', quote='\"', escape='\"', strict_mode=true, auto_detect=false"
    )
    rows = _duck(f"select score, label from read_csv('{path}', {options}, columns={{{types}}})")
    return [(number(a), number(b)) for a, b in rows]


def csv_by_pyarrow(odd: Odd, content: bytes, _: Path) -> Found:
    """The whole file in one block, and types said."""
    read = pa.csv.read_csv(
        io.BytesIO(content),
        read_options=pa.csv.ReadOptions(block_size=len(content) + 1, use_threads=False),
        parse_options=pa.csv.ParseOptions(delimiter=odd.delimiter, newlines_in_values=True),
        convert_options=pa.csv.ConvertOptions(column_types=dict.fromkeys(odd.names, pa.string())),
    )
    return [
        (number(a), number(b))
        for a, b in zip(*(read[n].to_pylist() for n in ("score", "label")), strict=True)
    ]


def json_by_python(_: Odd, content: bytes, __: Path) -> Found:
    """One value after the other; keys that stand twice are refused."""

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        if len({key for key, _ in pairs}) < len(pairs):
            raise _Refused
        return dict(pairs)

    text = content.decode("utf-8-sig")
    decoder = json.JSONDecoder(object_pairs_hook=once)
    rows: list[Row] = []
    blank = re.compile(r"[ \t\r\n]*")
    place = blank.match(text, 0).end()  # type: ignore[union-attr]
    while place < len(text):
        value, end = decoder.raw_decode(text, place)
        if not isinstance(value, dict):
            raise _Refused
        rows.append((number(value.get("score")), number(value.get("label"))))
        place = blank.match(text, end).end()  # type: ignore[union-attr]
    return rows


def json_by_pandas(_: Odd, content: bytes, __: Path) -> Found:
    """Line by line."""
    import pandas as pd

    frame = pd.read_json(io.BytesIO(content), lines=True, precise_float=True, dtype=False)
    return [(number(a), number(b)) for a, b in zip(frame["score"], frame["label"], strict=True)]


def json_by_duckdb(_: Odd, __: bytes, path: Path) -> Found:
    """One object a line, and types said."""
    options = "format='newline_delimited', columns={score: 'VARCHAR', label: 'VARCHAR'}"
    return [
        (number(a), number(b)) for a, b in _duck(f"select score, label from read_json('{path}', {options})")
    ]


def json_by_pyarrow(_: Odd, content: bytes, __: Path) -> Found:
    """The whole file in one block."""
    if b"null" in content:
        # Which may end the process.
        raise _Refused
    options = pa.json.ReadOptions(block_size=len(content) + 1, use_threads=False)
    read = pa.json.read_json(io.BytesIO(content), read_options=options)
    return [
        (number(a), number(b))
        for a, b in zip(*(read[n].to_pylist() for n in ("score", "label")), strict=True)
    ]


def parquet_by_pyarrow(_: Odd, content: bytes, __: Path) -> Found:
    """As a table."""
    return _pairs(pq.read_table(io.BytesIO(content)))


def parquet_by_duckdb(_: Odd, __: bytes, path: Path) -> Found:
    """As a query."""
    return [(float(a), float(b)) for a, b in _duck(f"select score, label from read_parquet('{path}')")]


def arrow_by_pyarrow(_: Odd, content: bytes, __: Path) -> Found:
    """As a table, from a file or from a stream."""
    opened = pa.ipc.open_file if content.startswith(b"ARROW1") else pa.ipc.open_stream
    return _pairs(opened(io.BytesIO(content)).read_all())


def npz_by_numpy(_: Odd, content: bytes, __: Path) -> Found:
    """As arrays."""
    with np.load(io.BytesIO(content)) as arrays:
        return [(float(a), float(b)) for a, b in zip(arrays["score"], arrays["label"], strict=True)]


def _pairs(table: pa.Table) -> Found:
    return [
        (float(a), float(b)) for a, b in zip(*(table[n].to_pylist() for n in ("score", "label")), strict=True)
    ]


def _duck(query: str) -> list[tuple[Any, Any]]:
    import duckdb

    return duckdb.sql(query).fetchall()


@cache
def _refusals() -> tuple[type[Exception], ...]:
    import duckdb

    own = (csv.Error, Warning, ValueError, KeyError, IndexError, OSError, EOFError, TypeError, AttributeError)
    return (*own, pa.ArrowException, duckdb.Error, zipfile.BadZipFile, zlib.error, NotImplementedError)
