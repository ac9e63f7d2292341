"""Exported SQL, executed: the same numbers as `apply`, and NULL where that refuses."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import calibcli
import exported_maps as maps
from calibcli.commands.export import export
from calibcli.names import ExportTarget, OnUnseen, Scale, SqlDialect
from calibcli.options.fitting import ExportAsk
from sql_engines import OPENED, Ask, asked

NEAR = 1e-12
NAMES = ("calibrated", "calibrated_lower", "calibrated_upper")
SERVERS = [dialect for dialect in OPENED if dialect is not SqlDialect.DUCKDB]
GROUP_KINDS = [
    ("platt", Scale.PROB),
    ("isotonic", Scale.PROB),
    ("venn-abers", Scale.PROB),
    ("histogram", Scale.LOGIT),
    ("smooth", Scale.LOGPROB),
]
CLASS_KINDS = [
    *((kind, Scale.PROB) for kind in maps.CLASS_MAPS),
    *(("vector", scale) for scale in (Scale.LOGIT, Scale.LOGPROB, Scale.PERCENT)),
]
SOME_CLASS_KINDS = [
    ("temperature", Scale.PROB),
    ("vector", Scale.LOGIT),
    ("one-vs-rest histogram", Scale.PROB),
]
OF_CLICKHOUSE = [
    *((kind, Scale.PROB, 40) for kind in ("vector", "matrix", "one-vs-rest platt", "top-label platt")),
    ("matrix", Scale.LOGIT, 40),
    ("one-vs-one histogram", Scale.PROB, 16),
]
# What is too long for an expression goes step by step.
STEPWISE = {SqlDialect.DUCKDB: "LATERAL", SqlDialect.CLICKHOUSE: "ARRAY JOIN"}
OF_ALL = pytest.mark.parametrize("dialect", [asked(one) for one in OPENED], indirect=True, scope="module")


@pytest.fixture(scope="module")
def dialect(request: pytest.FixtureRequest) -> SqlDialect:
    """A system."""
    found: SqlDialect = request.param
    return found


@pytest.fixture(scope="module")
def ask(dialect: SqlDialect, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """The system, once for all tests."""
    with OPENED[dialect](tmp_path_factory.mktemp(dialect.value)) as found:
        yield found


def sql(artifact: object, dialect: SqlDialect, **requested: object) -> str:
    """The query of an artifact."""
    return export(artifact, ExportAsk(ExportTarget.SQL, dialect, **requested)).decode()  # type: ignore[arg-type]


def near(found: pd.DataFrame, expected: list[np.ndarray]) -> None:
    """The probability, and its ends where the map has them, are those of `apply`; NULL for NaN."""
    assert [one for one in found if one.startswith("calibrated")] == list(NAMES[: len(expected)])
    for key, column in zip(NAMES, expected, strict=False):
        np.testing.assert_allclose(found[key].to_numpy(np.float64), column, rtol=0.0, atol=NEAR)


@OF_ALL
@pytest.mark.parametrize(("kind", "scale"), maps.KINDS_AND_SCALES)
def test_scores_get_what_apply_gives(kind: str, scale: Scale, dialect: SqlDialect, ask: Ask) -> None:
    """On fit scores, beside them, at both ends and anywhere; what `apply` refuses is NULL, and stays."""
    artifact = maps.one_map(kind, scale)
    scores = maps.asked_scores(artifact)
    refused = [None, np.nan]
    if scale is Scale.PROB:
        refused += [np.inf, -np.inf, -1e-300, 1.0000000000000002]
    found = ask(sql(artifact, dialect), pa.table({"score": [*scores.tolist(), *refused]}))
    near(found, [np.append(one, np.full(len(refused), np.nan)) for one in maps.wanted(artifact, scores)])


@OF_ALL
@pytest.mark.parametrize(("kind", "scale"), GROUP_KINDS)
def test_groups_get_what_apply_gives(kind: str, scale: Scale, dialect: SqlDialect, ask: Ask) -> None:
    """Every row goes through the map of its group; NULL is that of missing ones, strangers are as asked."""
    # Spark refuses a group that it would replace.
    groups = tuple(one for one in maps.GROUPS if "${" not in one or dialect is not SqlDialect.SPARK)
    artifact = maps.group_map(kind, scale, groups)
    for unseen in OnUnseen:
        scores, given, expected = maps.asked_groups(artifact, pooled=unseen is OnUnseen.POOLED)
        rows = pa.table({"score": scores, "country": pa.array(given, pa.string())})
        near(ask(sql(artifact, dialect, unseen=unseen), rows), expected)


@pytest.mark.parametrize(
    ("dialect", "kind", "scale"),
    [
        *(asked(SqlDialect.DUCKDB, *one) for one in CLASS_KINDS),
        *(asked(dialect, *one) for dialect in SERVERS for one in SOME_CLASS_KINDS),
    ],
    indirect=["dialect"],
    scope="module",
)
def test_classes_get_what_apply_gives(kind: str, scale: Scale, dialect: SqlDialect, ask: Ask) -> None:
    """Every class's probability, the most probable one and its own agree."""
    artifact = maps.class_map(kind, scale, ("it's", "back\\slash", '"`'))
    rows = maps.asked_rows(scale)
    refused: list[tuple[float | None, ...]] = [(None, 0.5, 0.5), (np.nan, 0.5, 0.5)]
    if scale is Scale.PROB:
        refused += [(0.5, 0.3, 0.1), (-0.1, 0.6, 0.5)]
    columns = zip(*rows.tolist(), *refused, strict=True)
    found = ask(
        sql(artifact, dialect, probs=maps.CLASS_SCORES),
        pa.table([*map(pa.array, columns)], maps.CLASS_SCORES),
    )
    classes_agree(found, artifact, rows)


@OF_ALL
@pytest.mark.parametrize("count", [3, 24])
def test_logits_that_are_far_apart_get_what_apply_gives(count: int, dialect: SqlDialect, ask: Ask) -> None:
    """Of unbounded margins a class has nothing once another is 708 above; a high temperature shows it."""
    # MariaDB has no joins beside a row, as many classes need.
    artifact = maps.many_map("temperature", Scale.LOGIT, 3 if dialect is SqlDialect.MYSQL else count)
    artifact = replace(artifact, recalibrator=replace(artifact.recalibrator, temperature=200.0))
    rows = np.random.default_rng(3).normal(size=(200, len(artifact.classes))) * 1e4
    rows[0], rows[1, 0] = 0.0, 3_000.0
    gaps = rows.max(axis=1, keepdims=True) - rows
    rows = rows[~((gaps > 699.0) & (gaps < 709.0)).any(axis=1)]
    names = [f"p_{one}" for one in artifact.classes]
    found = ask(sql(artifact, dialect, probs=names), pa.table([*map(pa.array, rows.T)], names))
    classes_agree(found, artifact, rows)


def classes_agree(found: pd.DataFrame, artifact: object, rows: np.ndarray) -> None:
    """The first rows are what `apply` makes of them, and the others NULL."""
    expected = maps.wanted_rows(artifact, rows)  # type: ignore[arg-type]
    classes = artifact.classes  # type: ignore[attr-defined]
    assert found[len(rows) :].filter(like="calibrated").isna().all(axis=None)
    found = found[: len(rows)]
    columns = found[[f"calibrated_{one}" for one in classes]].to_numpy(np.float64)
    np.testing.assert_allclose(columns, expected, rtol=0.0, atol=NEAR)
    own = found["calibrated_confidence"].to_numpy(np.float64)
    np.testing.assert_allclose(own, expected.max(axis=1), rtol=0.0, atol=NEAR)
    sure = np.diff(np.sort(expected, axis=1)[:, -2:])[:, 0] > NEAR
    assert list(found["calibrated_class"][sure]) == list(np.array(classes)[expected.argmax(axis=1)][sure])


@pytest.mark.parametrize(
    ("dialect", "kind", "scale", "count"),
    [
        *(
            asked(one, *row)
            for one in (SqlDialect.DUCKDB, SqlDialect.POSTGRES, SqlDialect.SPARK)
            for row in maps.MANY
        ),
        asked(SqlDialect.POSTGRES, "matrix", Scale.PROB, 100),
        asked(SqlDialect.POSTGRES, "one-vs-one platt", Scale.PROB, 60),
        *(asked(SqlDialect.CLICKHOUSE, *row) for row in OF_CLICKHOUSE),
    ],
    indirect=["dialect"],
    scope="module",
)
def test_many_classes_get_what_apply_gives(
    kind: str, scale: Scale, count: int, dialect: SqlDialect, ask: Ask
) -> None:
    """In lists, as long as the parameters; rows that `apply` refuses are NULL, and stay."""
    artifact, rows = maps.many_map(kind, scale, count), maps.many_rows(count, scale)
    refused = [np.zeros(count), np.full(count, 0.5), 2.0 * np.eye(1, count)[0]]
    refused = [np.full(count, np.inf)] if scale is Scale.LOGIT else refused
    given = np.vstack((rows, np.full(count, np.nan), *refused))
    columns = [pa.array([*column.tolist(), None]) for column in given.T]
    query = sql(artifact, dialect)
    assert STEPWISE.get(dialect, "") in query
    classes_agree(ask(query, pa.table(columns, [f"p_{one}" for one in artifact.classes])), artifact, rows)


# Of DuckDB in test_sql.py, where tables have such names too.
@pytest.mark.parametrize("dialect", [asked(one) for one in SERVERS], indirect=True, scope="module")
@pytest.mark.parametrize("word", maps.HOSTILE)
def test_names_are_names_and_nothing_else(word: str, dialect: SqlDialect, ask: Ask) -> None:
    """A column that is called like SQL is read, another is made, and nothing is dropped."""
    found = ask(sql(maps.one_map("platt"), dialect, score=word, name=f"new {word}"), pa.table({word: [0.5]}))
    assert set(found.columns) == {"place", word, f"new {word}"}
    table = '"predictions"' if dialect is SqlDialect.CLICKHOUSE else "predictions"
    assert len(ask(f"SELECT * FROM {table}", None)) == 1


@pytest.mark.parametrize(
    # MariaDB, which stands for MySQL, has no joins that speak of the row at hand.
    "dialect",
    [asked(one) for one in OPENED if one is not SqlDialect.MYSQL],
    indirect=True,
    scope="module",
)
@pytest.mark.parametrize("rows", [maps.segment_rows, maps.text_rows])
def test_segments_are_added_up(dialect: SqlDialect, ask: Ask, rows: Callable[[], pd.DataFrame]) -> None:
    """Text, truth, codes and cut numbers, gaps, blanks, quotes and new values are as `apply` has them, and so
    are numbers in text, whatever else stands among them.
    """
    frame = rows()
    with pytest.warns(UserWarning, match="had not seen|lie beyond"):
        expected = calibcli.apply(calibcli.Recalibrator(maps.segment_map(), "map"), frame, score="score")
    # NaN is kept beside NULL.
    texts = {one: pa.array(frame[one], from_pandas=frame[one].dtype == object) for one in frame}
    found = ask(sql(maps.segment_map(), dialect), pa.table(texts))
    assert [one for one in found if one != "place"] == [*frame.columns, "calibrated"]
    near(found, [expected["calibrated"].to_numpy()])
