"""The recipes of docs/export.md for Spark: exported modules as functions of a session."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from calibcli.commands.export import export
from calibcli.names import ExportTarget
from calibcli.options.fitting import ExportAsk
from exported_maps import asked_scores, one_map, wanted
from sql_engines import NO_SPARK, spark_session

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(NO_SPARK, reason="there is no Spark, or no Java"),
    pytest.mark.filterwarnings("ignore"),
]
NEAR = 1e-12


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """One local session for all tests."""
    with spark_session() as found:
        yield found


def gives_the_same(spark: Any, artifact: Any, function: Any, *, rows: int) -> None:
    """Ask a function of Spark for some scores; it gives what the map does."""
    scores = asked_scores(artifact)[:rows]
    frame = spark.createDataFrame(pd.DataFrame({"score": scores, "place": np.arange(scores.size)}))
    found = frame.withColumn("calibrated", function("score")).toPandas().sort_values("place")
    np.testing.assert_allclose(found["calibrated"], wanted(artifact, scores)[0], rtol=0.0, atol=NEAR)


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

    gives_the_same(spark, artifact, calibrated, rows=2_000)


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

    gives_the_same(spark, artifact, calibrated, rows=500)
