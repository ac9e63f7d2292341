"""Exported SQL gives what `apply` gives: executed in DuckDB, parsed as the other dialects."""

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations

import duckdb
import jinja2
import numpy as np
import pandas as pd
import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st

from calibcli.commands.export import export
from calibcli.documents.artifact import Artifact
from calibcli.errors import UsageProblem
from calibcli.export.dialects import SPELLINGS, name, number, string
from calibcli.export.sql_classes import read_from
from calibcli.names import ExportTarget, Scale, SqlDialect, SqlForm
from calibcli.options.fitting import ExportAsk, FitOptions
from calibcli.stats.recalibrators import fit_recalibrator
from calibcli.stats.recalibrators.classes.linear import Linear
from calibcli.stats.recalibrators.classes.one_vs_one import OneVsOne, PairMap
from calibcli.stats.recalibrators.classes.top_label import TopLabel
from calibcli.stats.recalibrators.logits import shifted
from calibcli.stats.recalibrators.smooth import Smooth
from calibcli.stats.table import ScoreTable
from exported_maps import (
    ELSEWHERE,
    HOSTILE,
    R,
    asked_rows,
    asked_scores,
    class_map,
    many_map,
    many_rows,
    one_map,
    wanted,
    wanted_rows,
)

NEAR = 1e-12
# Maps of one score are executed for these, in test_sql_engines.py and test_sql_elsewhere.py.
EXECUTED = {SqlDialect.DUCKDB, *ELSEWHERE}


@pytest.fixture
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory."""
    with duckdb.connect() as found:
        yield found


def sql(artifact: object, **requested: object) -> str:
    """The query of an artifact."""
    return export(artifact, ExportAsk(ExportTarget.SQL, **requested)).decode()  # type: ignore[arg-type]


def answered(database: duckdb.DuckDBPyConnection, query: str, scores: np.ndarray) -> dict[str, np.ndarray]:
    """What a query makes of scores, in their order; NaN where it says NULL."""
    frame = pd.DataFrame({"score": scores, "place": np.arange(scores.size)})
    database.register("predictions", frame)
    found = database.execute(f"SELECT * FROM ({query}) ORDER BY place").fetchnumpy()
    return {key: np.ma.filled(column, np.nan) for key, column in found.items()}


@pytest.mark.parametrize("column", ["REAL", "DECIMAL(5, 3)", "INTEGER", "DOUBLE"])
def test_columns_of_any_number_are_taken(column: str, database: duckdb.DuckDBPyConnection) -> None:
    """A column of another type is worked on as doubles."""
    database.execute(f"CREATE TABLE predictions AS SELECT CAST(1 AS {column}) AS score")
    for kind in ("platt", "isotonic", "venn-abers"):
        found = database.execute(sql(one_map(kind))).fetchall()[0][1]
        assert found == pytest.approx(wanted(one_map(kind), np.ones(1))[0][0], abs=NEAR)


@pytest.mark.parametrize("kind", ["platt", "histogram", "isotonic", "venn-abers"])
def test_another_base_rate_is_that_of_apply(kind: str, database: duckdb.DuckDBPyConnection) -> None:
    """With --prior the query moves probabilities and ends as `apply --prior` does."""
    artifact = one_map(kind)
    scores = asked_scores(artifact)
    found = answered(database, sql(artifact, prior=0.02), scores)
    assert artifact.fit.base_rate is not None
    for key, column in zip(
        [one for one in found if one.startswith("cal")], wanted(artifact, scores), strict=True
    ):
        expected = shifted(column, fitted=artifact.fit.base_rate, prior=0.02)
        np.testing.assert_allclose(found[key], expected, rtol=0.0, atol=NEAR)


@pytest.mark.parametrize("word", HOSTILE)
def test_names_are_names_and_nothing_else(word: str, database: duckdb.DuckDBPyConnection) -> None:
    """A table and columns that are called like SQL are read and made, and nothing is dropped."""
    quoted = name(word, SqlDialect.DUCKDB)
    database.execute("CREATE TABLE predictions (one INTEGER)")
    if "." not in word:
        database.execute(f"CREATE TABLE {quoted} AS SELECT 0.5::DOUBLE AS {quoted}")
        query = sql(one_map("platt"), score=word, table=word, name=f"new {word}")
        found = database.execute(query).fetchdf()
        assert list(found.columns) == [word, f"new {word}"]
    assert database.execute("SELECT count(*) FROM predictions").fetchone() == (0,)


@pytest.mark.parametrize("dialect", SqlDialect)
@pytest.mark.parametrize("word", HOSTILE)
def test_every_dialect_reads_a_name_back(word: str, dialect: SqlDialect) -> None:
    """A parser of each dialect finds one statement with the very names that were asked for."""
    if SPELLINGS[dialect].substituted and "${" in word:
        return
    query = sql(
        one_map("platt"), dialect=dialect, score=word, table=word.replace(".", ""), name=f"new {word}"
    )
    statements = sqlglot.parse(query, dialect=dialect.value)
    assert len(statements) == 1
    assert statements[0] is not None
    assert statements[0].selects[-1].alias == f"new {word}"
    assert {one.name for one in statements[0].find_all(sqlglot.exp.Column)} >= {word}
    assert [one.name for one in statements[0].find_all(sqlglot.exp.Table)] == [word.replace(".", "")]


# How each dialect looks up many steps.
LOOKED_UP = {
    SqlDialect.DUCKDB: "ASOF LEFT JOIN",
    SqlDialect.SPARK: "aggregate(",
    SqlDialect.POSTGRES: "WIDTH_BUCKET(",
    SqlDialect.BIGQUERY: "RANGE_BUCKET(",
    SqlDialect.SNOWFLAKE: "ELSE CASE WHEN",
    SqlDialect.DATABRICKS: "aggregate(",
    SqlDialect.TRINO: "WIDTH_BUCKET(",
    SqlDialect.REDSHIFT: "ELSE CASE WHEN",
    SqlDialect.TSQL: "ELSE CASE WHEN",
    SqlDialect.CLICKHOUSE: "transform(",
    SqlDialect.MYSQL: "ELSE CASE WHEN",
}


@pytest.mark.parametrize("dialect", SqlDialect)
def test_few_steps_are_cases_and_many_are_looked_up(dialect: SqlDialect) -> None:
    """A map of up to 64 steps needs no table; a parser takes what is executed nowhere as one statement."""
    few, many = (sql(one_map(kind), dialect=dialect) for kind in ("histogram", "venn-abers"))
    assert LOOKED_UP[dialect] not in few
    assert LOOKED_UP[dialect] in many
    if not SPELLINGS[dialect].translated:
        assert LOOKED_UP[dialect] in sql(one_map("smooth"), dialect=dialect)
    queries = [sql(class_map("one-vs-rest platt"), dialect=dialect)]
    if dialect not in EXECUTED:
        queries += [many, few, sql(one_map("spline", Scale.LOGIT), dialect=dialect)]
    for query in queries:
        assert len(sqlglot.parse(query, dialect=dialect.value)) == 1


@pytest.mark.parametrize("dialect", SqlDialect)
def test_a_map_that_says_one_number_needs_no_case(
    dialect: SqlDialect, database: duckdb.DuckDBPyConnection
) -> None:
    """Venn-Abers ends of a score that tells nothing are numbers, on every scale."""
    table = ScoreTable.from_rows(np.array([0.0, 1.0, 1.0]), np.array([True, False, False]))
    flat = fit_recalibrator(R.VENN_ABERS, table, options=FitOptions())
    one = replace(one_map("venn-abers"), recalibrator=flat)
    for artifact in (one, replace(one, scale=Scale.LOGIT)):
        query = sql(artifact, dialect=dialect)
        assert len(sqlglot.parse(query, dialect=dialect.value)) == 1
        if dialect is SqlDialect.DUCKDB:
            found = answered(database, query, np.array([0.0, 0.3, 1.0]))
            point, lower, upper = wanted(artifact, np.array([0.0, 0.3, 1.0]))
            np.testing.assert_array_equal(found["calibrated"], point)
            np.testing.assert_array_equal(found["calibrated_lower"], lower)
            np.testing.assert_array_equal(found["calibrated_upper"], upper)


def test_classes_are_read_from_one_column_of_lists(database: duckdb.DuckDBPyConnection) -> None:
    """Each dialect reads places of a list; DuckDB gives what columns give, and NULL where a list is short."""
    artifact = class_map("temperature")
    rows = asked_rows(artifact.scale)
    short = [*(list(map(float, row)) for row in rows), [1.0]]
    database.register("predictions", pd.DataFrame({"probs": short, "place": range(len(short))}))
    query = sql(artifact, probs=("probs",))
    found = database.execute(f"SELECT * FROM ({query}) ORDER BY place").df()
    columns = found[[f"calibrated_{one}" for one in artifact.classes]].to_numpy(np.float64)
    np.testing.assert_allclose(columns[:-1], wanted_rows(artifact, rows), rtol=0.0, atol=NEAR)
    assert np.isnan(columns[-1]).all()
    for dialect in SqlDialect:
        if dialect in (SqlDialect.TSQL, SqlDialect.MYSQL):
            with pytest.raises(UsageProblem, match="no column of lists is read"):
                sql(artifact, probs=("probs",), dialect=dialect)
            continue
        text = sql(artifact, probs=("probs",), dialect=dialect)
        assert len(sqlglot.parse(text, dialect=dialect.value)) == 1


def test_comments_say_what_a_dialect_asks_for() -> None:
    """Which names Snowflake finds, and which version of SQL Server has the functions."""
    platt = one_map("platt", Scale.PROB)
    assert "SCORE, not score" in sql(platt, dialect=SqlDialect.SNOWFLAKE)
    assert "SCORE, not score" not in sql(platt, dialect=SqlDialect.DUCKDB)


@pytest.mark.untraced
def test_queries_longer_than_the_engine_takes_are_refused() -> None:
    """A map of 16,385 knots is refused where a query may have a million characters."""
    smooth = Smooth(2.0**-11, np.linspace(0.0, 1.0, 16_385) ** 2, randomised=False, seed=0)
    with pytest.raises(UsageProblem, match="the map takes more than 1,000,000 characters") as caught:
        sql(Artifact(smooth, one_map("platt").fit), dialect=SqlDialect.SNOWFLAKE)
    assert "fewer parameters; longer queries are taken by --dialect duckdb, spark, postgres" in str(
        caught.value.hint
    )


def test_numbers_of_dialects_without_all_doubles_are_the_nearest() -> None:
    """No infinity in T-SQL and MySQL, and nothing below the smallest normal number in T-SQL."""
    assert number(np.inf, SqlDialect.MYSQL) == "1.7976931348623157e+308"
    assert number(-np.inf, SqlDialect.TSQL) == "(-1.7976931348623157e+308)"
    assert number(5e-324, SqlDialect.TSQL) == "2.2250738585072014e-308"
    assert number(5e-324, SqlDialect.MYSQL) == "5e-324"
    assert number(0.0, SqlDialect.TSQL) == "0.0e0"


def test_databricks_is_given_what_spark_runs() -> None:
    """Both dialects are one, so that what is executed in Spark speaks for both."""
    for artifact in (one_map("isotonic"), class_map("vector"), one_map("platt", Scale.LOGIT)):
        assert sql(artifact, dialect=SqlDialect.DATABRICKS) == sql(artifact, dialect=SqlDialect.SPARK)


def test_without_sqlglot_its_dialects_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line to type is named; other dialects need nothing."""
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    with pytest.raises(UsageProblem, match="sqlglot is not installed") as caught:
        sql(one_map("platt"), dialect=SqlDialect.TRINO)
    assert caught.value.hint == "pip install '.[sql]'"
    assert sql(one_map("platt"), dialect=SqlDialect.DATABRICKS)


@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_read_back_as_the_same_double(value: float) -> None:
    """A literal is a double of the same bits, never a decimal."""
    found = duckdb.sql(f"SELECT {number(value, SqlDialect.DUCKDB)} AS n, typeof(n) AS kind").fetchall()
    assert found == [(value, "DOUBLE")]


@given(text=st.text(max_size=20))
def test_texts_read_back(text: str) -> None:
    """A literal of text is that text, or refused."""
    try:
        written = string(text, SqlDialect.DUCKDB)
    except UsageProblem:
        assert not text.isprintable()
        return
    assert duckdb.sql(f"SELECT {written}").fetchall() == [(text,)]


def test_steps_are_kept_apart_from_a_table_of_their_name(database: duckdb.DuckDBPyConnection) -> None:
    """A table that is called as the steps would be is read all the same."""
    database.execute("CREATE TABLE steps_1 AS SELECT 0.25::DOUBLE AS score")
    found = database.execute(sql(one_map("venn-abers"), table="steps_1")).fetchall()
    assert found[0][1] == pytest.approx(wanted(one_map("venn-abers"), np.array([0.25]))[0][0])


def test_names_of_classes_are_names_and_texts(database: duckdb.DuckDBPyConnection) -> None:
    """Classes that are called like SQL name columns and are given as text, and nothing else happens."""
    classes = ('a"; DROP TABLE predictions; --', "it's", "*/ $(x) `y`")
    columns = ", ".join(f"{1 / 3} AS {name(f'p_{one}', SqlDialect.DUCKDB)}" for one in classes)
    database.execute(f"CREATE TABLE predictions AS SELECT {columns}")
    found = database.execute(sql(class_map("vector", classes=classes))).fetchdf()
    assert set(found["calibrated_class"]) <= set(classes)
    assert [f"calibrated_{one}" in found.columns for one in classes] == [True] * 3


@pytest.mark.parametrize("kind", ["confidence platt", "top-label venn-abers", "one-vs-one histogram"])
def test_maps_that_go_by_steps_are_refused_where_no_join_speaks_of_a_row(kind: str) -> None:
    """Even of three classes; the refusal says why, and names a dialect that takes the very map."""
    with pytest.raises(UsageProblem, match="is worked out step by step, and there are no joins") as caught:
        sql(class_map(kind), dialect=SqlDialect.REDSHIFT)
    assert "--dialect duckdb, spark, bigquery, snowflake, postgres" in str(caught.value.hint)
    # The one that is executed nowhere.
    assert len(sqlglot.parse(sql(class_map(kind), dialect=SqlDialect.MYSQL), dialect="mysql")) == 1


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        pytest.param("confidence platt", 1_000, marks=pytest.mark.slow),
        pytest.param("top-label histogram", 1_000, marks=pytest.mark.slow),
        pytest.param("one-vs-one platt", 100, marks=pytest.mark.slow),
        ("one-vs-one platt", 16),
    ],
)
def test_hard_rows_of_many_classes_in_duckdb_are_those_of_apply(
    kind: str, count: int, database: duckdb.DuckDBPyConnection
) -> None:
    """Classes that had next to nothing get what others may not have."""
    small = many_map(kind, Scale.PROB, 12)
    names, recalibrator = tuple(f"c{one}" for one in range(count)), small.recalibrator
    if isinstance(recalibrator, OneVsOne):
        maps, pairs = recalibrator.maps, combinations(range(count), 2)
        # Some pairs have no map.
        some = ((at, pair) for at, pair in enumerate(pairs) if at % 9)
        listed = tuple(PairMap(*pair, maps[at % len(maps)].map) for at, pair in some)
        recalibrator = replace(recalibrator, classes=names, maps=listed)
    else:
        assert isinstance(recalibrator, TopLabel)
        own = {one: recalibrator.members.of(at % 12) for at, one in enumerate(names)}
        members = replace(recalibrator.members, classes=names, own=own)
        recalibrator = replace(recalibrator, members=members)
    artifact = replace(small, recalibrator=recalibrator, classes=names)
    halves = 0.5 ** np.minimum(np.arange(1, count + 1), count - 1)
    tiny = np.zeros((5, count))
    tiny[0, :2] = 1.0, 5e-324
    tiny[1, :2] = 0.9, 0.1
    tiny[2, :2] = 0.5, 0.5
    tiny[3] = [1.0, *[1e-310] * (count - 1)]
    tiny[4, :3] = 0.6, 0.4, 1e-320
    rows = np.vstack((many_rows(count, Scale.PROB), halves, halves[::-1], tiny))
    database.register("predictions", pd.DataFrame({"probs": rows.tolist(), "place": range(len(rows))}))
    query = sql(artifact, probs=("probs",))
    # Parameters in lists: to plan an expression for each of 4,950 pairs takes DuckDB minutes.
    assert query.count("EXP(") < 2 + count
    found = database.execute(f"SELECT * FROM ({query}) ORDER BY place").df()
    columns = found[[f"calibrated_{one}" for one in artifact.classes]].to_numpy(np.float64)
    expected = wanted_rows(artifact, rows)
    np.testing.assert_allclose(columns, expected, rtol=0.0, atol=NEAR)
    sure = np.diff(np.sort(expected, axis=1)[:, -2:])[:, 0] > NEAR
    assert list(found["calibrated_class"][sure]) == list(np.array(names)[expected.argmax(axis=1)][sure])


@pytest.mark.slow
def test_a_matrix_of_a_thousand_classes_runs_in_duckdb(database: duckdb.DuckDBPyConnection) -> None:
    """A million parameters, from one column of lists."""
    rng, count = np.random.default_rng(0), 1_000
    small = many_map("matrix", Scale.PROB, 12)
    assert isinstance(small.recalibrator, Linear)
    matrix = np.eye(count) + rng.normal(size=(count, count)) * 0.01
    recalibrator = replace(small.recalibrator, weight=matrix, intercept=rng.normal(size=count))
    artifact = replace(small, recalibrator=recalibrator, classes=tuple(f"c{one}" for one in range(count)))
    rows = many_rows(count, Scale.PROB)[:20]
    database.register("predictions", pd.DataFrame({"probs": rows.tolist(), "place": range(len(rows))}))
    found = database.execute(f"SELECT * FROM ({sql(artifact, probs=('probs',))}) ORDER BY place").df()
    columns = found[[f"calibrated_{one}" for one in artifact.classes]].to_numpy(np.float64)
    np.testing.assert_allclose(columns, wanted_rows(artifact, rows), rtol=0.0, atol=NEAR)


def test_many_classes_are_refused_where_no_join_speaks_of_a_row() -> None:
    """And the refusal names dialects that take the very map, and targets that do."""
    artifact = many_map("matrix", Scale.PROB, 12)
    for dialect, words in SPELLINGS.items():
        if words.lateral:
            if dialect not in EXECUTED:
                assert len(sqlglot.parse(sql(artifact, dialect=dialect), dialect=dialect.value)) == 1
            continue
        with pytest.raises(UsageProblem, match="takes more than 300,000 characters") as caught:
            sql(artifact, dialect=dialect)
        assert "--dialect duckdb, spark, bigquery, snowflake, postgres" in str(caught.value.hint)
    for target in (ExportTarget.PYTHON, ExportTarget.ONNX):
        assert export(artifact, ExportAsk(target))


@pytest.mark.parametrize("kind", ["temperature", "vector", "one-vs-rest platt"])
def test_a_thousand_classes_are_written_wherever_a_join_speaks_of_a_row(kind: str) -> None:
    """As long as the parameters: a column of each step for each class."""
    small = many_map(kind, Scale.PROB, 12)
    # What Snowflake takes in one query ends before a thousand maps.
    count, recalibrator = 500 if kind.startswith("one-vs-rest") else 1_000, small.recalibrator
    if isinstance(recalibrator, Linear):
        rng = np.random.default_rng(0)
        recalibrator = replace(
            recalibrator, weight=rng.uniform(1, 2, count), intercept=rng.normal(size=count)
        )
    if kind.startswith("one-vs-rest"):
        members = recalibrator.members
        names = tuple(f"c{one}" for one in range(count))
        own = {one: members.of(place % 12) for place, one in enumerate(names)}
        recalibrator = replace(recalibrator, members=replace(members, classes=names, own=own))
    artifact = replace(small, recalibrator=recalibrator, classes=tuple(f"c{one}" for one in range(count)))
    for dialect in (SqlDialect.BIGQUERY, SqlDialect.SNOWFLAKE):
        query = sql(artifact, dialect=dialect)
        assert query.count("`c499`" if dialect is SqlDialect.BIGQUERY else '"calibrated_c499"') <= 1
        assert len(query) < 1_000_000


@pytest.mark.parametrize("word", ["calibrated", "it's", 'a"b'])
def test_a_view_gives_what_the_query_gives(word: str, database: duckdb.DuckDBPyConnection) -> None:
    """Made once and made again, it reads the table as it is by then."""
    database.execute("CREATE TABLE predictions AS SELECT 0.25::DOUBLE AS score")
    for kind in ("platt", "isotonic"):
        database.execute(sql(one_map(kind), form=SqlForm.VIEW, view=word))
        found = database.execute(f"SELECT calibrated FROM {name(word, SqlDialect.DUCKDB)}").fetchall()
        assert found[0][0] == pytest.approx(wanted(one_map(kind), np.array([0.25]))[0][0], abs=NEAR)


@pytest.mark.parametrize("dialect", SqlDialect)
def test_every_dialect_has_views(dialect: SqlDialect) -> None:
    """A parser finds one statement that makes a view of the name, with its schema."""
    text = sql(one_map("platt"), dialect=dialect, form=SqlForm.VIEW, view="scores.new ones")
    (statement,) = sqlglot.parse(text, dialect=dialect.value)
    assert isinstance(statement, sqlglot.exp.Create)
    assert statement.args["kind"] == "VIEW"
    assert (statement.this.name, statement.this.db) == ("new ones", "scores")


@pytest.mark.parametrize(
    ("table", "read", "dialect"),
    [
        *((None, "ref:predictions", dialect) for dialect in SqlDialect),
        ("stg", "ref:stg", SqlDialect.DUCKDB),
        ("raw.it's", "source:raw.it's", SqlDialect.DUCKDB),
        ("raw.it's", "source:raw.it's", SqlDialect.TSQL),
    ],
)
def test_dbt_reads_a_model_or_a_source(table: str | None, read: str, dialect: SqlDialect) -> None:
    """Once dbt has said what the table is called, the query is the same as without it."""
    requested = {} if table is None else {"table": table}
    text = sql(one_map("isotonic"), dialect=dialect, form=SqlForm.DBT, **requested)
    found = []

    def called(kind: str) -> Callable[..., str]:
        return lambda *words: found.append(f"{kind}:{'.'.join(words)}") or "THE_TABLE"

    rendered = jinja2.Template(text).render(ref=called("ref"), source=called("source"))
    assert found == [read]
    plain = sql(one_map("isotonic"), dialect=dialect, table="the_table")
    assert re.sub('[`"\\[]the_table[`"\\]]', "THE_TABLE", plain).strip() == rendered.strip()


def test_a_pattern_names_the_columns_of_the_classes() -> None:
    """As everywhere: `q_*` is the column of each class, and not one column of lists that is called so."""
    artifact = class_map("temperature", Scale.PROB, ("a", "b", "c"))
    assert sql(artifact, probs=("q_*",)) == sql(artifact, probs=("q_a", "q_b", "q_c"))


def test_a_query_of_very_many_classes_lists_a_few_columns() -> None:
    """A note of a thousand names is not read."""
    many = [f"p_{place}" for place in range(1000)]
    said = read_from(many, places=None)
    assert said.startswith("the classes are read from p_0, p_1, ")
    assert "p_9, ..., p_999; --probs" in said
    assert "p_9, p_10; --probs" in read_from(many[:11], places=None)
