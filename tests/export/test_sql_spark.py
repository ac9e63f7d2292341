"""Exported SQL on a real Spark: the same numbers as `apply`, and NULL where that refuses."""

import importlib.util
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import calibcli
from calibcli.commands.export import export
from calibcli.names import ExportTarget, OnUnseen, Scale, SqlDialect
from calibcli.options.fitting import ExportAsk
from exported_maps import (
    CLASS_SCORES,
    GROUPS,
    KINDS_AND_SCALES,
    MANY,
    asked_groups,
    asked_rows,
    asked_scores,
    class_map,
    group_map,
    many_map,
    many_rows,
    one_map,
    segment_map,
    segment_rows,
    wanted,
    wanted_rows,
)

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(importlib.util.find_spec("pyspark") is None, reason="pyspark is not installed"),
    pytest.mark.skipif(shutil.which("java") is None, reason="there is no Java"),
    pytest.mark.filterwarnings("ignore"),
]
NEAR = 1e-12
Answered = Callable[[str, pd.DataFrame], pd.DataFrame]


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """One local session for all tests."""
    from pyspark.sql import SparkSession

    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    found = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    found.sparkContext.setLogLevel("ERROR")
    yield found
    found.stop()


def sql(artifact: object, **requested: object) -> str:
    """The query of an artifact."""
    ask = ExportAsk(ExportTarget.SQL, dialect=SqlDialect.SPARK, **requested)  # type: ignore[arg-type]
    return export(artifact, ask).decode()  # type: ignore[arg-type]


@pytest.fixture
def answered(spark: Any, tmp_path: Path) -> Answered:
    """What a query makes of rows of a file, in their order."""

    def ask(query: str, frame: pd.DataFrame) -> pd.DataFrame:
        path = str(tmp_path / "predictions.parquet")
        frame.assign(place=np.arange(len(frame))).to_parquet(path)
        spark.read.parquet(path).createOrReplaceTempView("predictions")
        rows = spark.sql(query).collect()
        return pd.DataFrame([row.asDict() for row in rows]).sort_values("place", ignore_index=True)

    return ask


@pytest.mark.parametrize(("kind", "scale"), KINDS_AND_SCALES)
def test_spark_gives_what_apply_gives(kind: str, scale: Scale, answered: Answered) -> None:
    """The probability and its ends agree to 1e-12, on fit scores, beside them, at both ends and anywhere."""
    artifact = one_map(kind, scale)
    scores = asked_scores(artifact)
    found = answered(sql(artifact), pd.DataFrame({"score": scores}))
    names = ("calibrated", "calibrated_lower", "calibrated_upper")
    for key, column in zip(names, wanted(artifact, scores), strict=False):
        np.testing.assert_allclose(found[key].to_numpy(np.float64), column, rtol=0.0, atol=NEAR)


@pytest.mark.parametrize("kind", ["platt", "histogram", "isotonic", "venn-abers", "smooth"])
def test_what_apply_refuses_is_null_in_spark(kind: str, spark: Any) -> None:
    """NULL, NaN and scores out of range get NULL, and no row is lost."""
    values = ["NULL", "'NaN'", "'Infinity'", "'-Infinity'", "'-1e-300'", "'1.0000000000000002'", "'0.5'"]
    rows = ", ".join(f"(CAST({value} AS DOUBLE))" for value in values)
    spark.sql(f"SELECT * FROM VALUES {rows} AS t(score)").createOrReplaceTempView("predictions")
    found = spark.sql(sql(one_map(kind))).collect()
    assert len(found) == len(values)
    assert sum(row["calibrated"] is not None for row in found) == 1


@pytest.mark.parametrize("word", ['x"; DROP TABLE predictions; --', "a`b", "it's", "*/ 1 /*", "back\\slash"])
def test_names_are_names_in_spark(word: str, spark: Any) -> None:
    """A view and columns that are called like SQL are read and made."""
    frame = spark.createDataFrame(pd.DataFrame({word: [0.5]}))
    frame.createOrReplaceTempView("predictions")
    found = spark.sql(sql(one_map("platt"), score=word, name=f"new {word}"))
    assert found.columns == [word, f"new {word}"]
    assert len(found.collect()) == 1


@pytest.mark.parametrize(
    ("kind", "scale"),
    [("temperature", Scale.PROB), ("vector", Scale.LOGIT), ("one-vs-rest histogram", Scale.PROB)],
)
def test_classes_in_spark_are_those_of_apply(kind: str, scale: Scale, answered: Answered) -> None:
    """Every class's probability agrees, and the most probable class is one."""
    classes = ("it's", "back\\slash", "`")
    artifact = class_map(kind, scale, classes)
    rows = asked_rows(scale)
    found = answered(sql(artifact, probs=CLASS_SCORES), pd.DataFrame(rows, columns=list(CLASS_SCORES)))
    columns = found[[f"calibrated_{one}" for one in classes]].to_numpy(np.float64)
    np.testing.assert_allclose(columns, wanted_rows(artifact, rows), rtol=0.0, atol=NEAR)
    assert set(found["calibrated_class"]) <= set(classes)


@pytest.mark.parametrize(("kind", "scale", "count"), MANY)
def test_many_classes_in_spark_are_those_of_apply(
    kind: str, scale: Scale, count: int, answered: Answered
) -> None:
    """In arrays; a row of zeros, which `apply` refuses, is NULL and no error."""
    artifact, rows = many_map(kind, scale, count), many_rows(count, scale)
    requested = rows if scale is Scale.LOGIT else np.vstack((rows, np.zeros(count)))
    found = answered(sql(artifact), pd.DataFrame(requested, columns=[f"p_{one}" for one in artifact.classes]))
    columns = found[[f"calibrated_{one}" for one in artifact.classes]].to_numpy(np.float64)
    np.testing.assert_allclose(columns[: len(rows)], wanted_rows(artifact, rows), rtol=0.0, atol=NEAR)
    assert np.isnan(columns[len(rows) :]).all()


@pytest.mark.parametrize(
    ("kind", "scale"), [("platt", Scale.PROB), ("venn-abers", Scale.PROB), ("isotonic", Scale.LOGIT)]
)
def test_groups_in_spark_are_those_of_apply(kind: str, scale: Scale, answered: Answered) -> None:
    """Every row goes through the map of its group, NULL and strangers as `apply` has them."""
    artifact = group_map(kind, scale, tuple(one for one in GROUPS if "${" not in one))
    for unseen in OnUnseen:
        scores, groups, expected = asked_groups(artifact, pooled=unseen is OnUnseen.POOLED)
        frame = pd.DataFrame({"score": scores, "country": groups})
        found = answered(sql(artifact, unseen=unseen), frame)
        names = ("calibrated", "calibrated_lower", "calibrated_upper")
        for key, column in zip(names, expected, strict=False):
            np.testing.assert_allclose(found[key].to_numpy(np.float64), column, rtol=0.0, atol=NEAR)


def test_pandas_udf_of_the_exported_estimator_gives_the_same(spark: Any, tmp_path: Path) -> None:
    """The recipe of docs/export.md: a pandas UDF that calls the exported module on every worker."""
    path = tmp_path / "calibrated_for_spark.py"
    artifact = one_map("isotonic")
    path.write_bytes(export(artifact, ExportAsk(ExportTarget.SKLEARN)))
    from pyspark.sql.functions import pandas_udf

    spark.sparkContext.addPyFile(str(path))

    @pandas_udf("double")
    def calibrated(score: pd.Series) -> pd.Series:
        from calibrated_for_spark import Calibrated

        return pd.Series(Calibrated().predict_proba(score.to_frame().to_numpy())[:, 1])

    scores = asked_scores(artifact)[:2_000]
    frame = spark.createDataFrame(pd.DataFrame({"score": scores, "place": np.arange(scores.size)}))
    found = frame.withColumn("calibrated", calibrated("score")).toPandas().sort_values("place")
    np.testing.assert_allclose(found["calibrated"], wanted(artifact, scores)[0], rtol=0.0, atol=NEAR)


def test_python_udf_of_the_exported_module_gives_the_same(spark: Any, tmp_path: Path) -> None:
    """The recipe of docs/export.md for workers without numpy: a plain UDF of the standard library."""
    path = tmp_path / "calibrated_alone.py"
    artifact = one_map("beta")
    path.write_bytes(export(artifact, ExportAsk(ExportTarget.PYTHON)))
    from pyspark.sql.functions import udf

    spark.sparkContext.addPyFile(str(path))

    @udf("double")
    def calibrated(score: float | None) -> float | None:
        from calibrated_alone import calibrate

        return None if score is None else calibrate(score)

    scores = asked_scores(artifact)[:500]
    frame = spark.createDataFrame(pd.DataFrame({"score": scores, "place": np.arange(scores.size)}))
    found = frame.withColumn("calibrated", calibrated("score")).toPandas().sort_values("place")
    np.testing.assert_allclose(found["calibrated"], wanted(artifact, scores)[0], rtol=0.0, atol=NEAR)


def test_spark_adds_up_segments(answered: Answered) -> None:
    """A map by segments is a sum of CASE terms there, too."""
    frame = segment_rows()
    held = calibcli.Recalibrator(segment_map(), "map")
    expected = calibcli.apply(held, frame, score="score")["calibrated"]
    found = answered(sql(segment_map()), frame)
    np.testing.assert_allclose(found["calibrated"].to_numpy(np.float64), expected, rtol=0.0, atol=NEAR)
