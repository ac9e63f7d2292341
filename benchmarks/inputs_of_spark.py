"""Directories that Spark writes, with types that are traps; one session for all."""

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from inputs_cases import Case, Drawn
from inputs_of_tools import PROBS


@cache
def _session() -> Any:
    from pyspark.sql import SparkSession

    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.memory", "1g")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    return session


_FRAMES: list[Any] = []


def _frame(rows: Drawn) -> Any:
    """Return the rows as Spark has them, made once: they are the same for every case."""
    if not _FRAMES:
        _FRAMES.append(_made(rows))
    return _FRAMES[0]


def _made(rows: Drawn) -> Any:
    from pyspark.ml.linalg import Vectors

    data = [
        (
            score,
            int(label),
            group,
            Vectors.sparse(3, [(at, p) for at, p in enumerate(probs) if p > 0.0])
            if place % 2
            else Vectors.dense(probs),
            right,
            probs,
        )
        for place, (score, label, group, probs, right) in enumerate(
            zip(
                rows.score.tolist(),
                rows.label,
                rows.group,
                rows.probs.tolist(),
                rows.right.tolist(),
                strict=True,
            )
        )
    ]
    names = ["score", "label", "g", "probability", "klass", "probs"]
    return _session().createDataFrame(data, names).repartition(3).cache()


def _case(
    kind: str, trap: str, write: Callable[[Any, str], object], *words: str, ending: str = "", **more: Any
) -> Case:
    def written(folder: Path, rows: Drawn) -> str:
        write(_frame(rows), str(folder / "d"))
        return f"d{ending}"

    return Case("Spark", kind, trap, written, words, **more)


CASES = [
    _case(
        "Parquet",
        "a directory with _SUCCESS and .crc files",
        lambda one, path: one.drop("probability").write.parquet(path),
    ),
    _case(
        "Parquet",
        "partitionBy, with a null",
        lambda one, path: (
            one.selectExpr("score", "label", "nullif(g, 'g1') g").write.partitionBy("g").parquet(path)
        ),
        "--by",
        "g",
    ),
    _case(
        "Parquet",
        "partitionBy, used with --where",
        lambda one, path: one.drop("probability").write.partitionBy("g").parquet(path),
        "--where",
        "g != none",
    ),
    _case(
        "Parquet",
        "DecimalType(9, 3), BooleanType",
        lambda one, path: one.selectExpr(
            "cast(score as decimal(9,3)) score", "label = 1 label"
        ).write.parquet(path),
    ),
    _case(
        "Parquet",
        "VectorUDT, dense and sparse",
        lambda one, path: one.selectExpr("probability probs", "klass label").write.parquet(path),
        *PROBS,
        classes=True,
    ),
    _case(
        "Parquet",
        "array<double>",
        lambda one, path: one.selectExpr("probs", "klass label").write.parquet(path),
        *PROBS,
        classes=True,
    ),
    _case(
        "CSV",
        "with a header",
        lambda one, path: one.select("score", "label").write.option("header", True).csv(path),
    ),
    _case(
        "CSV",
        "gz, with a header",
        lambda one, path: (
            one.select("score", "label").write.option("header", True).option("compression", "gzip").csv(path)
        ),
    ),
    _case(
        "CSV",
        "without a header, as by default",
        lambda one, path: one.select("score", "label").write.csv(path),
        refused=True,
    ),
    _case(
        "JSONL",
        "part-*.json, taken with :jsonl",
        lambda one, path: one.select("score", "label").write.json(path),
        ending=":jsonl",
    ),
    _case(
        "JSONL",
        "VectorUDT as JSON",
        lambda one, path: one.selectExpr("probability probs", "klass label").write.json(path),
        *PROBS,
        ending=":jsonl",
        classes=True,
    ),
    _case(
        "ORC", "another format", lambda one, path: one.select("score", "label").write.orc(path), refused=True
    ),
]
