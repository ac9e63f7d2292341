"""Valid inputs for every door: from the sample data, the frozen documents and the formats' writers."""
# ruff: noqa: E501 - lists of words are read more easily wide

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from command_line import SAMPLE
from doors import FROZEN, STATES, Door, _rows_file, ended, summary_file

_RULES = (
    "ece.upper<=0.02", "smece<=0.1", "cox_slope.lower>=0.8", "ks.p>=0.01", "brier . value <= 1e-1",
    "class_ece.upper<=.3", "max_ece<0.1", "ece==2",
)  # fmt: skip
_WHERE = ("score<=0.5", "label==1", "group!='a b'", "score in 0.1", "country==DE", 'x == "y"', "a=b")
_EDGES = ("0,0.1,0.5,1", "0,1", "0,.5,.5,1", "nan,1", "0," + "0.5," * 9 + "1")
_SIZES = ("256MiB", "1G", "4096", "1e3K", "0.5 M", "-1", "１G", "1KB", "infM")
_SETTINGS = (
    b'bins = 10\n[measure]\nscore = ["a", "b"]\nby = "c"\n[verify]\nmax-ece = 0.02\nrule = ["ks.p>=0.01"]\n',
    b'[tool.calibcli.plot]\nkind = "smooth"\n',
    b"[fit]\nmethod = 'beta'\nbins = 1_0\nseed = 0x10\nforce = true\n[apply]\nname = 1979-05-27\n",
)
_TREES = (
    b"country=*/*.csv\tcountry\ncountry=US/a.csv\ncountry=DE/b.csv\n_x/c.csv",
    b"**/part-*\tday\nday=1/part-0.csv\nday=2/hour=3/part-1.csv\nday=2/part-2.tsv",
    b"\tc\nc=%2F/a.csv\nc=__HIVE_DEFAULT_PARTITION__/b.csv\nc=1.0/c.csv\n.hidden/d.csv",
    b"[!b]?.csv\tlabel\na1.csv\nb2.csv\nc\xc4\xb0.csv",
    b"a=1:csv\ta\na=1/x.bin\na=1/y.bin",
)
_COMMANDS = (
    "measure GOOD --json", "measure GOOD --bins 10 --binning equal-mass -v", "measure PARQUET --probs p_* -y label",
    "fit GOOD -m isotonic", "fit PARQUET --probs p_* -y label -m auto", "fit GOOD -o OUT --force", "apply CAL GOOD -o -",
    "apply CAL GOOD --out-dir FOLDER --force", "verify GOOD --max-ece 0.5 --artifact CAL", "inspect STATE", "inspect CAL",
    "verify GOOD --rule ece.upper<=0.5 --format md", "plan --max-ece 0.05 --like GOOD", "merge STATE STATE",
    "compare GOOD --artifact CAL", "plot GOOD --terminal", "plot GOOD -o OUT --force", "schema artifact", "--help",
    "measure GOOD --by label --explain ece", "measure GOOD --compat sklearn", "measure GOOD --edges 0,0.5,1 --scale logit",
    "measure EMPTY", "measure NOWHERE", "measure CAL", "inspect GOOD -q", "measure GOOD -w score --weights-are importance",
    "verify GOOD --max-ece 0.5 --state OUT", "measure GOOD --on-missing drop --memory 1K --seed 3 --confidence .9",
)  # fmt: skip

_QUICK = (
    "inspect",
    "schema",
    "apply",
    "merge",
    "plan",
    "--help",
    "measure EMPTY",
    "measure NOWHERE",
    "verify",
)


def seeds(door: Door) -> Iterator[bytes]:  # noqa: C901, PLR0912 - one branch for each door
    """Return inputs that the door takes, and some that it nearly takes."""
    match door:
        case Door.CSV | Door.REPAIR:
            yield _text(",")
            yield (SAMPLE / "breast_cancer_evaluation.csv").read_bytes()[:600]
            yield b'score,label,"a ""b"\n0.1,0,"x\ny"\n0.9,1,\n'
        case Door.TSV:
            yield _text("\t")
        case Door.PARQUET:
            for compression, version in (("none", "1.0"), ("snappy", "2.6"), ("zstd", "2.6")):
                yield _parquet(compression, version)
        case Door.JSONL:
            yield "".join(json.dumps(row) + "\n" for row in _table().to_pylist()).encode()
        case Door.ARROW:
            yield from _arrow()
        case Door.NPZ:
            yield from _npz()
        case Door.CLASSES:
            yield b"p_a,p_b,p_c,label\n0.2,0.3,0.5,a\n1,0,0,c\n0.25,0.25,0.5,b\n"
            yield (SAMPLE / "digits_forest_evaluation.csv").read_bytes()[:900]
            yield _class_parquet()
        case Door.ARTIFACT:
            yield from quick_seeds(door)
            yield from _fits()
        case Door.STATE:
            for path in sorted(STATES.glob("*.json")):
                yield path.read_bytes()
        case Door.REPORT:
            yield ended("measure", _rows_file(), "--json").out.encode()
            yield ended("plan", "--max-ece", "0.1", "--json").out.encode()
            yield ended(
                "measure", _rows_file(), "--by", "label", "--min-group-rows", "1", "--json"
            ).out.encode()
        case Door.SUMMARY:
            yield Path(summary_file()).read_bytes()
        case Door.TREE:
            yield from _TREES
        case Door.COLUMNS:
            yield from (
                b"score\nscore\nlabel",
                b"p_*\np_a\np_b\ny",
                b"Score \n score\nLABEL\np",
                b"a,b\na\nb",
            )
        case Door.SETTINGS:
            yield from _SETTINGS
        case Door.COMMAND:
            yield from (line.replace(" ", "\n").encode() for line in _COMMANDS)
        case Door.RELATIONS:
            yield from (bytes([number]) * 4 for number in range(24))
        case Door.RULE | Door.WHERE | Door.EDGES | Door.MEMORY:
            texts = {Door.RULE: _RULES, Door.WHERE: _WHERE, Door.EDGES: _EDGES, Door.MEMORY: _SIZES}
            yield from (text.encode() for text in texts[door])


def quick_seeds(door: Door) -> Iterator[bytes]:
    """Return the inputs that take no fit and no picture to make, or to try."""
    match door:
        case Door.ARTIFACT:
            for path in sorted(FROZEN.parent.glob("frozen*/*.json")):
                yield path.read_bytes()
        case Door.COMMAND:
            yield from (line.replace(" ", "\n").encode() for line in _COMMANDS if line.startswith(_QUICK))
        case _:
            yield from seeds(door)


def _table() -> pa.Table:
    rows = 40
    return pa.table(
        {
            "score": [(i % 19 + 1) / 20 for i in range(rows)],
            "label": [i % 3 == 0 for i in range(rows)],
            "group": [("a", "b", "=1+1")[i % 3] for i in range(rows)],
            "n": list(range(rows)),
        }
    )


def _text(separator: str) -> bytes:
    rows = _table().to_pylist()
    lines = [separator.join(rows[0]), *(separator.join(map(str, row.values())) for row in rows)]
    return "\n".join(lines).encode() + b"\n"


def _parquet(compression: str, version: str) -> bytes:
    out = io.BytesIO()
    pq.write_table(_table(), out, compression=compression, version=version, row_group_size=25)
    return out.getvalue()


def _class_parquet() -> bytes:
    out = io.BytesIO()
    lists = pa.table({"p_x": [[0.2, 0.8], [0.5, 0.5]], "p_y": [0.1, 0.2], "label": ["a", "b"]})
    pq.write_table(lists, out)
    return out.getvalue()


def _arrow() -> Iterator[bytes]:
    for start in (pa.ipc.new_file, pa.ipc.new_stream):
        out = io.BytesIO()
        with start(out, _table().schema) as writer:
            writer.write_table(_table(), max_chunksize=25)
        yield out.getvalue()
    out = io.BytesIO()
    pyarrow.feather.write_feather(_table(), out, compression="zstd")
    yield out.getvalue()


def _npz() -> Iterator[bytes]:
    for save in (np.savez, np.savez_compressed):
        out = io.BytesIO()
        score = np.linspace(0.0, 1.0, 30)
        save(out, score=score, label=(score > 0.4).astype(int), group=np.array(["a", "bc"] * 15))
        yield out.getvalue()
    out = io.BytesIO()
    np.savez(out, score=np.linspace(0.0, 1.0, 4), label=np.array([0, 1, None, "x"], dtype=object))
    yield out.getvalue()


def _fits() -> Iterator[bytes]:
    """Return an artifact of each method that the frozen ones lack."""
    for method in ("temperature", "beta", "venn-abers", "smooth", "spline", "auto", "centred-isotonic"):
        made = ended("fit", _rows_file(), "-m", method)
        if made.code == 0:
            yield made.out.encode()
