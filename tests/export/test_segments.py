"""Exports of a map by segments give what `apply` gives, in SQL and in Python."""

from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sqlglot
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator

import calibcli
from calibcli.commands.export import export, query_notes
from calibcli.documents.artifact import SegmentArtifact
from calibcli.errors import UsageProblem
from calibcli.export.dialects import SPELLINGS
from calibcli.names import ExportTarget, SqlDialect
from calibcli.options.fitting import ExportAsk
from calibcli.stats.recalibrators.newton import logit
from exported_maps import segment_map, segment_rows, text_rows

NEAR = 1e-12


def written(target: ExportTarget = ExportTarget.SQL, **requested: Any) -> str:
    """The text of an export."""
    return export(segment_map(), ExportAsk(target, **requested)).decode()


@cache
def wanted() -> np.ndarray:
    """What `apply` makes of the rows."""
    with pytest.warns(UserWarning, match="had not seen|lie beyond"):
        found = calibcli.apply(calibcli.Recalibrator(segment_map(), "map"), segment_rows(), score="score")
    return found["calibrated"].to_numpy()


def test_scores_that_apply_refuses_are_null() -> None:
    """NULL, NaN and scores out of range get NULL, and no row is lost."""
    frame = segment_rows().head(4).assign(score=[None, np.nan, 1.5, -0.1])
    with duckdb.connect() as database:
        database.register("predictions", frame)
        found = database.execute(written()).df()
    assert len(found) == 4
    assert found["calibrated"].isna().all()


@pytest.mark.untraced
@pytest.mark.parametrize("dialect", list(SqlDialect))
def test_every_dialect_parses(dialect: SqlDialect) -> None:
    """The query is one statement of its dialect, with the new column last; some have none."""
    if not SPELLINGS[dialect].lateral:
        with pytest.raises(UsageProblem, match="no joins that speak of the row at hand"):
            written(dialect=dialect)
        return
    (parsed,) = sqlglot.parse(written(dialect=dialect, table="db.rows", score="s"), read=dialect.value)
    assert parsed is not None
    assert parsed.named_selects[-1] == "calibrated"


def test_python_adds_up_the_segments() -> None:
    """The module gives the same, of values as pandas has them and of text, and refuses the same scores."""
    text = written(ExportTarget.PYTHON)
    module: dict[str, Any] = {}
    exec(compile(text, "module", "exec"), module)  # noqa: S102 - what is tested
    with pytest.warns(UserWarning, match="had not seen"):
        applied = calibcli.apply(calibcli.Recalibrator(segment_map(), "map"), text_rows(), score="score")
    found = module["calibrate_all"](text_rows()["score"], text_rows().to_dict("records"))
    np.testing.assert_allclose(found, applied["calibrated"], rtol=0.0, atol=NEAR)
    rows = segment_rows()
    found = module["calibrate_all"](rows["score"], rows.to_dict("records"))
    np.testing.assert_allclose(found, wanted(), rtol=0.0, atol=NEAR)
    with pytest.raises(ValueError, match="1 rows for 2 scores"):
        module["calibrate_all"]([0.2, 0.3], rows.to_dict("records")[:1])
    with pytest.raises(ValueError, match="missing"):
        module["calibrate"](None, rows.iloc[0])


def test_times_and_durations_are_the_segments_of_apply() -> None:
    """With parts of a second and in any zone; a query says that they are compared as text."""
    rng = np.random.default_rng(3)
    late, score = rng.random(2_000) < 0.5, rng.uniform(0.2, 0.8, 2_000)
    days = np.where(late, "2024-06-01T12:30:00.12Z", "2024-01-01T00:00:00Z")
    frame = pd.DataFrame(
        {"score": score, "at": pd.to_datetime(days, format="ISO8601").tz_convert("Europe/Berlin")}
    )
    frame["span"] = pd.to_timedelta(np.where(rng.random(2_000) < 0.5, 5, 86_400_000_000), unit="us")
    frame["label"] = (rng.random(2_000) < score + np.where(late, 0.2, -0.2)).astype(int)
    fitted = calibcli.fit(frame, score="score", label="label", method="segments", on=["at", "span"])
    expected = calibcli.apply(fitted, frame, score="score")["calibrated"]
    artifact, found = fitted.artifact, dict[ExportTarget, dict[str, Any]]()
    assert isinstance(artifact, SegmentArtifact)
    for target in (ExportTarget.PYTHON, ExportTarget.SKLEARN):
        found[target] = {}
        exec(compile(export(artifact, ExportAsk(target)), "module", "exec"), found[target])  # noqa: S102
    by_row = found[ExportTarget.PYTHON]["calibrate_all"](frame["score"], frame.to_dict("records"))
    np.testing.assert_allclose(by_row, expected, rtol=0.0, atol=NEAR)
    by_frame = found[ExportTarget.SKLEARN]["Calibrated"]().predict_proba(frame)[:, 1]
    np.testing.assert_allclose(by_frame, expected, rtol=0.0, atol=NEAR)
    assert expected[late].mean() - expected[~late].mean() > 0.2
    assert any("column 'at' holds times" in one for one in query_notes(artifact, ExportAsk(ExportTarget.SQL)))


class Scores(ClassifierMixin, BaseEstimator):
    """A classifier that knows its scores, by the labels of its classes."""

    def fit(self, rows: pd.DataFrame, label: np.ndarray) -> "Scores":
        """Note the classes."""
        self.classes_, self.columns_ = np.unique(label), list(rows.columns)
        return self

    def predict_proba(self, rows: pd.DataFrame) -> np.ndarray:
        """Return the score of a column."""
        return np.column_stack((1.0 - rows["score"], rows["score"]))


def test_an_estimator_adds_up_the_segments() -> None:
    """Alone and around a model it gives what apply gives, of frames of either kind."""
    text, module = written(ExportTarget.SKLEARN), dict[str, Any]()
    exec(compile(text, "module", "exec"), module)  # noqa: S102 - what is tested
    rows, label = segment_rows(), np.arange(len(segment_rows())) % 2
    alone = clone(module["Calibrated"]())
    found = alone.predict_proba(rows)
    np.testing.assert_allclose(found[:, 1], wanted(), rtol=0.0, atol=NEAR)
    np.testing.assert_array_equal(alone.predict_proba(pl.from_pandas(rows)), found)
    assert (alone.predict(rows) == (found[:, 1] > 0.5)).all()
    around = module["Calibrated"](Scores()).fit(rows, label)
    np.testing.assert_array_equal(around.predict_proba(rows), found)
    assert around.estimator_.columns_ == list(rows.columns)
    frozen = module["Calibrated"](FrozenEstimator(Scores().fit(rows, label))).fit(rows, label)
    np.testing.assert_array_equal(frozen.predict_proba(rows), found)
    with pytest.raises(NotFittedError):
        module["Calibrated"](Scores()).predict_proba(rows)
    with pytest.raises(ValueError, match="3 classes"):
        module["Calibrated"](Scores()).fit(rows, np.arange(len(rows)) % 3)
    with pytest.raises(ValueError, match="missing"):
        alone.predict_proba(rows.assign(score=np.nan))


def test_scores_alone_do_not_do() -> None:
    """What is given scores alone cannot look at columns, and says so."""
    with pytest.raises(UsageProblem, match="looks at word, truth, code, size too"):
        written(ExportTarget.ONNX)


def test_map_without_segments_is_its_score() -> None:
    """Where nothing was changed the query gives the score."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"score": rng.beta(1.0, 2.0, 4_000), "word": rng.choice(["a", "b"], 4_000)})
    frame["label"] = (rng.random(4_000) < frame["score"]).astype(int)
    kept = calibcli.fit(frame, score="score", label="label", method="segments", on=["word"]).artifact
    assert isinstance(kept, SegmentArtifact)
    assert kept.recalibrator.strength is None
    with duckdb.connect() as database:
        database.register("predictions", frame)
        query = export(kept, ExportAsk(ExportTarget.SQL)).decode()
        assert database.execute(f"SELECT max(abs(calibrated - score)) FROM ({query})").fetchone() == (0.0,)


def test_infinite_numbers_are_values_like_others(tmp_path: Path) -> None:
    """A map keeps them, as categories and where an interval ends, and so do a query and a module."""
    rng, many, inf = np.random.default_rng(4), 6_000, float("inf")
    frame = pd.DataFrame({"score": rng.beta(1.0, 1.2, many)})
    frame["code"] = rng.choice([1.0, inf, -inf], many)
    frame["size"] = np.where(rng.random(many) < 0.4, -inf, rng.normal(size=many))
    t = logit(frame["score"].to_numpy()) + np.sign(frame["code"]) * 0.8 + (frame["size"] == -inf)
    frame["label"] = (rng.random(many) < 1.0 / (1.0 + np.exp(-t))).astype(int)
    kept = calibcli.fit(frame, score="score", label="label", method="segments", on=["code", "size"])
    kept.save(tmp_path / "map.json")
    found = calibcli.load(tmp_path / "map.json")
    assert isinstance(found, calibcli.Recalibrator)
    artifact = found.artifact
    assert isinstance(artifact, SegmentArtifact)
    first, second = artifact.recalibrator.columns
    assert (first.numbers, second.numbers[0]) == ((-inf, 1.0, inf), -inf)
    expected = calibcli.apply(kept, frame)["calibrated"].to_numpy()
    with duckdb.connect() as database:
        database.register("predictions", frame)
        query = export(artifact, ExportAsk(ExportTarget.SQL)).decode()
        np.testing.assert_allclose(database.execute(query).df()["calibrated"], expected, rtol=0.0, atol=NEAR)
    module: dict[str, Any] = {}
    exec(export(artifact, ExportAsk(ExportTarget.PYTHON)).decode(), module)  # noqa: S102 - what is tested
    some = frame[:400]
    for rows in (some, some.astype({"code": str})):
        got = module["calibrate_all"](rows["score"], rows.to_dict("records"))
        np.testing.assert_allclose(got, expected[:400], rtol=0.0, atol=NEAR)
