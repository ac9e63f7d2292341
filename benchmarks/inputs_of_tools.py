"""Files that pyarrow, numpy, pandas, polars, DuckDB and fastparquet write, with types that are traps."""

import gzip
import importlib.util
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from inputs_cases import Case, Drawn, Floats
from pyarrow import feather

Columns = dict[str, Any]


def single(values: Floats) -> Floats:
    """Round to float32."""
    return values.astype(np.float32).astype(np.float64)


def half(values: Floats) -> Floats:
    """Round to float16."""
    return values.astype(np.float16).astype(np.float64)


def table_of(columns: Callable[[Drawn], Columns]) -> Callable[[Drawn], pa.Table]:
    """Return what makes a table of scores, labels, and what takes their place."""
    return lambda rows: pa.table({"score": rows.score, "label": rows.label, **columns(rows)})


def parquet(columns: Callable[[Drawn], Columns]) -> Callable[[Path, Drawn], str]:
    """Write Parquet."""

    def write(folder: Path, rows: Drawn) -> str:
        pq.write_table(table_of(columns)(rows), folder / "a.parquet", row_group_size=250)
        return "a.parquet"

    return write


def ipc(
    columns: Callable[[Drawn], Columns], name: str = "a.arrow", **how: Any
) -> Callable[[Path, Drawn], str]:
    """Write Arrow IPC, as a file or, where it is called so, as a stream."""

    def write(folder: Path, rows: Drawn) -> str:
        table = table_of(columns)(rows)
        new = pa.ipc.new_stream if name.endswith(".arrows") else pa.ipc.new_file
        with new(folder / name, table.schema, options=pa.ipc.IpcWriteOptions(**how)) as out:
            out.write_table(table, max_chunksize=170)
        return name

    return write


def decimals(rows: Drawn, kind: pa.DataType) -> pa.Array:
    """Return scores as decimals."""
    return pa.array([Decimal(str(score)) for score in rows.score.tolist()], kind)


def lists(rows: Drawn, kind: pa.DataType) -> Columns:
    """Return probabilities of classes as lists of some kind."""
    return {"probs": pa.array(rows.probs.tolist(), kind), "label": rows.right}


PROBS = ("--probs", "probs", "-y", "label")
ARROW_CASES = [
    Case(
        "pyarrow",
        "Parquet",
        "float32 scores",
        parquet(lambda rows: {"score": rows.score.astype("f4")}),
        rounded=single,
    ),
    Case(
        "pyarrow",
        "Parquet",
        "float16 scores",
        parquet(lambda rows: {"score": rows.score.astype("f2")}),
        rounded=half,
    ),
    Case(
        "pyarrow",
        "Parquet",
        "decimal128 scores",
        parquet(lambda rows: {"score": decimals(rows, pa.decimal128(5, 3))}),
    ),
    Case(
        "pyarrow",
        "Parquet",
        "decimal256 scores",
        parquet(lambda rows: {"score": decimals(rows, pa.decimal256(40, 3))}),
    ),
    Case(
        "pyarrow",
        "Arrow file",
        "decimal32 scores",
        ipc(lambda rows: {"score": decimals(rows, pa.decimal32(5, 3))}),
    ),
    Case(
        "pyarrow",
        "Parquet",
        "labels a dictionary of ints",
        parquet(lambda rows: {"label": pa.array(rows.label.astype(int)).dictionary_encode()}),
    ),
    Case(
        "pyarrow",
        "Arrow file",
        "labels a dictionary of ints",
        ipc(lambda rows: {"label": pa.array(rows.label.astype(int)).dictionary_encode()}),
    ),
    Case(
        "pyarrow",
        "Arrow file",
        "labels run-end encoded",
        ipc(lambda rows: {"label": pa.compute.run_end_encode(pa.array(rows.label.astype(int)))}),
    ),
    Case(
        "pyarrow",
        "Arrow file",
        "scores run-end encoded",
        ipc(lambda rows: {"score": pa.compute.run_end_encode(pa.array(rows.score))}),
    ),
    Case(
        "pyarrow",
        "Arrow file",
        "labels arrow.bool8",
        ipc(
            lambda rows: {
                "label": pa.ExtensionArray.from_storage(pa.bool8(), pa.array(rows.label.astype("i1")))
            }
        ),
    ),
    Case(
        "pyarrow",
        "Arrow file",
        "labels string_view",
        ipc(lambda rows: {"label": pa.array([str(one) for one in rows.label], pa.string_view())}),
    ),
    Case(
        "pyarrow",
        "Arrow file",
        "labels large_string, zstd",
        ipc(
            lambda rows: {"label": pa.array([str(one) for one in rows.label], pa.large_string())},
            compression="zstd",
        ),
    ),
    Case(
        "pyarrow",
        "Parquet",
        "labels as bytes without a mark of text",
        parquet(lambda rows: {"label": pa.array([str(one).encode() for one in rows.label])}),
    ),
    Case(
        "pyarrow",
        "Parquet",
        "groups are UUIDs",
        parquet(
            lambda rows: {
                "g": pa.array(
                    [bytes([len(set(rows.group)), int(one[1])]) + bytes(14) for one in rows.group], pa.uuid()
                )
            }
        ),
        ("--by", "g"),
    ),
    Case(
        "pyarrow",
        "Parquet",
        "labels int64 in one file, text in the next",
        lambda folder, rows: two(folder, rows),
    ),
    Case("pyarrow", "Arrow stream", "through a pipe", ipc(lambda rows: {}, "a.arrows"), stdin=True),
    Case(
        "pyarrow",
        "Arrow file",
        "through a pipe, lz4 inside",
        ipc(lambda rows: {}, compression="lz4"),
        stdin=True,
    ),
    Case(
        "pyarrow",
        "Parquet",
        "probabilities list<float>",
        parquet(lambda rows: lists(rows, pa.list_(pa.float32()))),
        PROBS,
        classes=True,
    ),
    Case(
        "pyarrow",
        "Parquet",
        "probabilities fixed_size_list",
        parquet(lambda rows: lists(rows, pa.list_(pa.float64(), 3))),
        PROBS,
        classes=True,
    ),
    Case(
        "pyarrow",
        "Parquet",
        "probabilities large_list",
        parquet(lambda rows: lists(rows, pa.large_list(pa.float64()))),
        PROBS,
        classes=True,
    ),
    Case(
        "pyarrow",
        "Arrow file",
        "probabilities list_view",
        ipc(lambda rows: lists(rows, pa.list_view(pa.float64()))),
        PROBS,
        classes=True,
    ),
    Case(
        "pyarrow",
        "Arrow file",
        "probabilities fixed_shape_tensor",
        ipc(
            lambda rows: {
                "probs": pa.FixedShapeTensorArray.from_numpy_ndarray(rows.probs),
                "label": rows.right,
            }
        ),
        PROBS,
        classes=True,
    ),
    Case(
        "pyarrow",
        "Arrow file",
        "scores are text",
        ipc(lambda rows: {"score": [str(one) for one in rows.score]}),
        refused=True,
    ),
    Case(
        "pyarrow",
        "Feather 1",
        "the old format, another one",
        lambda folder, rows: feather1(folder, rows),
        refused=True,
    ),
    Case(
        "pyarrow",
        "Arrow file",
        "cut short",
        lambda folder, rows: cut(folder, ipc(lambda _: {})(folder, rows)),
        refused=True,
    ),
    Case(
        "pyarrow",
        "Parquet",
        "cut short",
        lambda folder, rows: cut(folder, parquet(lambda _: {})(folder, rows)),
        refused=True,
    ),
]


def feather1(folder: Path, rows: Drawn) -> str:
    """Write Feather as it was before it was Arrow."""
    feather.write_feather(table_of(lambda _: {})(rows), folder / "a.feather", version=1)
    return "a.feather"


def two(folder: Path, rows: Drawn) -> str:
    """Write two files that do not agree on the type of the label."""
    half_way = len(rows.score) // 2
    table = pa.table({"score": rows.score, "label": rows.label.astype(int)})
    (folder / "d").mkdir()
    pq.write_table(table.slice(0, half_way), folder / "d" / "1.parquet")
    other = table.slice(half_way)
    texts = other["label"].cast(pa.string())
    pq.write_table(other.set_column(1, "label", texts), folder / "d" / "2.parquet")
    return "d"


def cut(folder: Path, name: str) -> str:
    """Take the end off a file."""
    whole = (folder / name).read_bytes()
    (folder / name).write_bytes(whole[: len(whole) * 2 // 3])
    return name


def npz(columns: Callable[[Drawn], Columns]) -> Callable[[Path, Drawn], str]:
    """Write arrays."""

    def write(folder: Path, rows: Drawn) -> str:
        np.savez_compressed(folder / "a.npz", **{"score": rows.score, "label": rows.label, **columns(rows)})
        return "a.npz"

    return write


def save(folder: Path, rows: Drawn) -> str:
    """Write one array."""
    np.save(folder / "a.npy", np.column_stack([rows.score, rows.label]))
    return "a.npy"


NUMPY_CASES = [
    Case("numpy.savez", "npz", "bool labels", npz(lambda rows: {})),
    Case(
        "numpy.savez",
        "npz",
        "float32 of shape (n, 1), as Keras predicts",
        npz(lambda rows: {"score": rows.score.astype("f4").reshape(-1, 1)}),
        rounded=single,
    ),
    Case("numpy.savez", "npz", "float16", npz(lambda rows: {"score": rows.score.astype("f2")}), rounded=half),
    Case(
        "numpy.savez",
        "npz",
        "big-endian",
        npz(lambda rows: {"score": rows.score.astype(">f8"), "label": rows.label.astype(">i4")}),
    ),
    Case("numpy.savez", "npz", "long double", npz(lambda rows: {"score": rows.score.astype(np.longdouble)})),
    Case(
        "numpy.savez",
        "npz",
        "labels as text",
        npz(lambda rows: {"label": np.where(rows.label, "yes", "no")}),
        ("--positive", "yes"),
    ),
    Case(
        "numpy.savez", "npz", "labels as bytes", npz(lambda rows: {"label": np.where(rows.label, b"1", b"0")})
    ),
    Case(
        "numpy.savez",
        "npz",
        "an array of another length beside",
        npz(lambda rows: {"classes": np.array(["no", "yes"])}),
    ),
    Case(
        "numpy.savez",
        "npz",
        "predict_proba of shape (n, 3)",
        npz(lambda rows: {"probs": rows.probs, "label": rows.right}),
        PROBS,
        classes=True,
    ),
    Case(
        "numpy.savez",
        "npz",
        "the same in Fortran order",
        npz(lambda rows: {"probs": np.asfortranarray(rows.probs), "label": rows.right}),
        PROBS,
        classes=True,
    ),
    Case(
        "numpy.savez",
        "npz",
        "labels of Python objects (pickled)",
        npz(lambda rows: {"label": np.array(rows.label.tolist(), object)}),
        refused=True,
    ),
    Case("numpy.savez", "npz", "through a pipe", npz(lambda rows: {}), stdin=True),
    Case(
        "numpy.savez",
        "npz",
        "cut short",
        lambda folder, rows: cut(folder, npz(lambda _: {})(folder, rows)),
        refused=True,
    ),
    Case("numpy.save", "npy", "one array of two columns", save, refused=True),
]


def cases_of_installed() -> tuple[list[Case], str]:
    """Return the cases of the tools that are installed, and the names of the others."""
    found: list[Case] = []
    missing: list[str] = []
    for tool in ("pandas", "polars", "duckdb", "fastparquet", "pyspark"):
        if importlib.util.find_spec(tool) is None:
            missing.append(tool)
        elif tool == "pyspark":
            from inputs_of_spark import CASES

            found += CASES
        else:
            import inputs_of_frames

            found += inputs_of_frames.cases_of(tool)
    return found, ", ".join(missing)


def gzipped(folder: Path, name: str) -> str:
    """Compress a file."""
    (folder / f"{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes()))
    return f"{name}.gz"
