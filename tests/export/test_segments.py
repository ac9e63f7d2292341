"""Exports of a map by segments give what `apply` gives, in SQL and in Python."""

from functools import cache
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
import sqlglot

import calibcli
from calibcli.commands.export import export
from calibcli.documents.artifact import SegmentArtifact
from calibcli.errors import UsageProblem
from calibcli.export.dialects import SPELLINGS
from calibcli.names import ExportTarget, SqlDialect
from calibcli.options.fitting import ExportAsk
from exported_maps import segment_map, segment_rows

NEAR = 1e-12


def written(target: ExportTarget = ExportTarget.SQL, **requested: Any) -> str:
    """The text of an export."""
    return export(segment_map(), ExportAsk(target, **requested)).decode()


@cache
def wanted() -> np.ndarray:
    """What `apply` makes of the rows."""
    with pytest.warns(UserWarning, match="had not seen"):
        found = calibcli.apply(calibcli.Recalibrator(segment_map(), "map"), segment_rows(), score="score")
    return found["calibrated"].to_numpy()


def test_duckdb_adds_up_the_segments() -> None:
    """Text, truth, codes and cut numbers, gaps, blanks, quotes and new values are as `apply` has them."""
    frame = segment_rows().assign(place=np.arange(len(segment_rows())))
    with duckdb.connect() as database:
        database.register("predictions", frame)
        found = database.execute(f"SELECT * FROM ({written()}) ORDER BY place").df()
    assert list(found.columns) == [*frame.columns, "calibrated"]
    np.testing.assert_allclose(found["calibrated"], wanted(), rtol=0.0, atol=NEAR)


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
    """The module gives the same, from values as pandas has them, and refuses the same scores."""
    text = written(ExportTarget.PYTHON)
    module: dict[str, Any] = {}
    exec(compile(text, "module", "exec"), module)  # noqa: S102 - what is tested
    rows = segment_rows()
    found = module["calibrate_all"](rows["score"], rows.to_dict("records"))
    np.testing.assert_allclose(found, wanted(), rtol=0.0, atol=NEAR)
    with pytest.raises(ValueError, match="missing"):
        module["calibrate"](None, rows.iloc[0])


@pytest.mark.parametrize("target", [ExportTarget.ONNX, ExportTarget.SKLEARN])
def test_scores_alone_do_not_do(target: ExportTarget) -> None:
    """What is given scores alone cannot look at columns, and says so."""
    with pytest.raises(UsageProblem, match="looks at word, truth, code, size too"):
        written(target)


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
