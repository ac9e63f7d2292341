"""Files that polars, DuckDB and fastparquet write, with types that are traps."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from inputs_cases import Case, Drawn
from inputs_of_tools import PROBS, gzipped, single

Frame = Callable[[Any, Drawn], Any]


def cases_of(tool: str) -> list[Case]:
    """Return the cases of a tool that is installed."""
    match tool:
        case "pandas":
            from inputs_of_pandas import CASES

            return CASES
        case "polars":
            return _polars()
        case "fastparquet":
            return _fastparquet()
        case _:
            return _duckdb()


def _polars() -> list[Case]:
    import polars as pl

    def case(
        kind: str, trap: str, name: str, write: Callable[[Any, Path], object], *words: str, **more: Any
    ) -> Case:
        columns = more.pop("columns", lambda _: {})

        def written(folder: Path, rows: Drawn) -> str:
            made = {"score": rows.score, "label": rows.label, "g": rows.group, **columns(rows)}
            write(pl.DataFrame(made), folder / name)
            return name

        return Case("polars", kind, trap, written, words, **more)

    def lists(kind: Any) -> Callable[[Drawn], Any]:
        return lambda rows: {"probs": pl.Series(rows.probs.tolist(), dtype=kind), "label": rows.right}

    def enum(rows: Drawn) -> Any:
        return {"label": pl.Series(np.where(rows.label, "yes", "no").tolist(), dtype=pl.Enum(["no", "yes"]))}

    def text(rows: Drawn) -> Any:
        return {"label": pl.Series([str(int(one)) for one in rows.label])}

    def nan(one: Any, path: Path) -> None:
        gaps = one.head(4).with_columns(score=pl.lit(float("nan")))
        nulls = one.head(3).with_columns(score=pl.lit(None, pl.Float64))
        pl.concat([one, gaps, nulls]).write_parquet(path)

    return [
        case(
            "CSV",
            "separator |",
            "a.csv",
            lambda one, path: one.write_csv(path, separator="|"),
            "--delimiter",
            "|",
        ),
        case("JSONL", "write_ndjson", "a.ndjson", lambda one, path: one.write_ndjson(path)),
        case("Parquet", "bool labels, zstd", "a.parquet", lambda one, path: one.write_parquet(path)),
        case("Parquet", "NaN and null are two things", "a.parquet", nan, "--on-missing", "drop"),
        case(
            "Parquet",
            "Float32",
            "a.parquet",
            lambda one, path: one.write_parquet(path),
            columns=lambda rows: {"score": rows.score.astype("f4")},
            rounded=single,
        ),
        case(
            "Parquet",
            "Decimal",
            "a.parquet",
            lambda one, path: one.with_columns(pl.col("score").cast(pl.Decimal(9, 3))).write_parquet(path),
        ),
        case(
            "Parquet",
            "labels Int128",
            "a.parquet",
            lambda one, path: one.with_columns(pl.col("label").cast(pl.Int128)).write_parquet(path),
            refused=True,
        ),
        case(
            "Parquet",
            "Enum labels",
            "a.parquet",
            lambda one, path: one.write_parquet(path),
            "--positive",
            "yes",
            columns=enum,
        ),
        case(
            "Arrow file",
            "string_view, zstd inside",
            "a.arrow",
            lambda one, path: one.write_ipc(path, compression="zstd"),
            columns=text,
        ),
        case(
            "Arrow file",
            "Enum labels, lz4 inside",
            "a.ipc",
            lambda one, path: one.write_ipc(path, compression="lz4"),
            "--positive",
            "yes",
            columns=enum,
        ),
        case(
            "Arrow stream",
            "write_ipc_stream",
            "a.arrows",
            lambda one, path: one.write_ipc_stream(path),
            columns=text,
        ),
        case(
            "Arrow file",
            "Array(Float32, 3)",
            "a.arrow",
            lambda one, path: one.write_ipc(path),
            *PROBS,
            columns=lists(pl.Array(pl.Float32, 3)),
            classes=True,
        ),
        case(
            "Parquet",
            "List(Float64)",
            "a.parquet",
            lambda one, path: one.write_parquet(path),
            *PROBS,
            columns=lists(pl.List(pl.Float64)),
            classes=True,
        ),
        case(
            "JSONL",
            "List(Float64)",
            "a.ndjson",
            lambda one, path: one.write_ndjson(path),
            *PROBS,
            columns=lists(pl.List(pl.Float64)),
            classes=True,
        ),
        case(
            "CSV",
            "a glob in quotes",
            "d",
            lambda one, path: (
                path.mkdir(),
                one.head(100).write_csv(path / "1.csv"),
                one.tail(-100).write_csv(path / "2.csv"),
            ),
            "d/[1]*.csv",
        ),
    ][:-1]


def _fastparquet() -> list[Case]:
    import fastparquet
    import pandas as pd

    def case(trap: str, columns: Callable[[Drawn], Any], *words: str, **more: Any) -> Case:
        def written(folder: Path, rows: Drawn) -> str:
            frame = pd.DataFrame({"score": rows.score, "label": rows.label.astype(int), **columns(rows)})
            fastparquet.write(str(folder / "a.parquet"), frame, row_group_offsets=170)
            return "a.parquet"

        return Case("fastparquet", "Parquet", trap, written, words, **more)

    return [
        case("as it is by default", lambda rows: {}),
        case(
            "text labels",
            lambda rows: {"label": np.where(rows.label, "yes", "no").tolist()},
            "--positive",
            "yes",
        ),
        case("text as bytes", lambda rows: {"label": [b"1" if one else b"0" for one in rows.label]}),
    ]


def _duckdb() -> list[Case]:
    import duckdb

    def case(kind: str, trap: str, name: str, sql: str, *words: str, **more: Any) -> Case:
        zipped = more.pop("zipped", False)

        def written(folder: Path, rows: Drawn) -> str:
            connection = duckdb.connect()
            import pyarrow as pa

            rows_table = pa.table(
                {
                    "score": rows.score,
                    "label": rows.label,
                    "g": rows.group,
                    "probs": rows.probs.tolist(),
                    "klass": rows.right,
                }
            )
            connection.register("rows", rows_table)
            connection.execute(sql.format(path=folder / name))
            return gzipped(folder, name) if zipped else name

        return Case("DuckDB", kind, trap, written, words, **more)

    return [
        case(
            "Parquet",
            "FLOAT, TINYINT",
            "a.parquet",
            "copy (select score::float score, label::tinyint label from rows) to '{path}'",
            rounded=single,
        ),
        case(
            "Parquet",
            "DECIMAL(9,3), ENUM",
            "a.parquet",
            "create type e as enum ('no','yes'); copy (select score::decimal(9,3) score, (case when label then 'yes' else 'no' end)::e label from rows) to '{path}'",
            "--positive",
            "yes",
        ),
        case(
            "Parquet",
            "HUGEINT labels",
            "a.parquet",
            "copy (select score, label::int::hugeint label from rows) to '{path}'",
        ),
        case(
            "Parquet",
            "UUID groups",
            "a.parquet",
            "copy (select score, label, md5(g)::uuid g from rows) to '{path}'",
            "--by",
            "g",
        ),
        case(
            "Parquet",
            "PARTITION_BY, with a null",
            "d",
            "copy (select score, label, case when g = 'g0' then null else g end g from rows) to '{path}' (format parquet, partition_by (g))",
            "--by",
            "g",
        ),
        case(
            "Parquet",
            "PARTITION_BY the label",
            "d",
            "copy (select score, label::int label from rows) to '{path}' (format parquet, partition_by (label))",
            "-y",
            "label",
        ),
        case(
            "Parquet",
            "DOUBLE[3]",
            "a.parquet",
            "copy (select probs::double[3] probs, klass label from rows) to '{path}'",
            *PROBS,
            classes=True,
        ),
        case(
            "CSV",
            "delimiter |, all quoted",
            "a.csv",
            "copy (select score, label from rows) to '{path}' (delimiter '|', force_quote *)",
            "--delimiter",
            "|",
        ),
        case(
            "JSONL",
            "COPY ... (format json)",
            "a.json",
            "copy (select score, label from rows) to '{path}' (format json)",
        ),
        case(
            "JSON",
            "COPY ... (format json, array true)",
            "a.json",
            "copy (select score, label from rows) to '{path}' (format json, array true)",
            refused=True,
        ),
        case(
            "JSONL",
            "gz",
            "a.jsonl",
            "copy (select score, label from rows) to '{path}' (format json)",
            zipped=True,
        ),
    ]
