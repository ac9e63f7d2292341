"""The same rows as arrays, as frames of every make, and as files; and what the command says of the files."""

import json
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

Columns = Mapping[str, Any]

MAKES = {
    "mapping": dict,
    "pandas": pd.DataFrame,
    "pandas of Arrow": lambda rows: pa.table(dict(rows)).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda rows: pl.DataFrame(dict(rows)),
    "table": lambda rows: pa.table(dict(rows)),
    "chunks": lambda rows: in_chunks(pa.table(dict(rows))),
    "batch": lambda rows: pa.table(dict(rows)).combine_chunks().to_batches()[0],
    "reader": lambda rows: in_chunks(pa.table(dict(rows))).to_reader(),
}


def in_chunks(table: pa.Table) -> pa.Table:
    """Return a table in pieces that no batch begins or ends with."""
    sizes = [0, 1, 7, table.num_rows // 2, table.num_rows]
    cuts = sorted({min(size, table.num_rows) for size in sizes})
    return pa.concat_tables([table.slice(a, b - a) for a, b in pairwise(cuts)])


def written(rows: Columns, folder: Path, kind: str = "parquet") -> Path:
    """Write rows to a file."""
    path = folder / f"rows.{kind}"
    if kind == "parquet":
        pq.write_table(pa.table(dict(rows)), path)
    else:
        names = list(rows)
        lines = [",".join(names)]
        columns = (np.asarray(rows[name]).tolist() for name in names)
        lines += [",".join(map(str, values)) for values in zip(*columns, strict=True)]
        path.write_text("\n".join(lines) + "\n")
    return path


def without_source(document: str | dict[str, Any]) -> dict[str, Any]:
    """Return a report without the names of what was read, the one thing that differs."""
    found = json.loads(document) if isinstance(document, str) else json.loads(json.dumps(document))
    bodies = [found, *found.get("slices", {}).values()]
    for body in bodies:
        source = body["input"]
        if source.get("files") and "notes" in source:
            source["notes"] = [note.removeprefix(f"{source['files'][0]}: ") for note in source["notes"]]
        for key in ("files", "score", "label", "weight"):
            body["input"].pop(key, None)
        body["artifact"] = None
    # The answer of a comparison names both.
    for key in ("first", "second", "digest", *(["answer"] if "first" in found else [])):
        found.pop(key, None)
    return found


def drawn_rows(seed: int, size: int = 400) -> dict[str, Any]:
    """Return scores that are too sure, with all that may stand beside them."""
    generator = np.random.default_rng(seed)
    score = generator.beta(0.7, 1.1, size)
    return {
        "score": score,
        "other": np.sqrt(score),
        "label": (generator.random(size) < score**1.4).astype(np.int64),
        "country": generator.choice(np.array(["UK", "US", "a/b"], object), size),
        "device": generator.integers(0, 2, size),
        "patient": generator.integers(0, 60, size),
        "times": generator.integers(0, 4, size),
        "weight": generator.exponential(1.0, size),
    }
