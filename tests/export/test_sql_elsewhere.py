"""The SQL of systems that are not here, executed in DuckDB with their rules where these are others.

sqlglot reads the text as theirs and writes it as DuckDB's. What the manuals say of
logarithms, exponentials, quotients, comparisons and the largest of several numbers stands in functions,
which the query is made to call; what those systems call an error is an error here.
"""

from collections.abc import Callable, Iterator

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import sqlglot
from sqlglot import exp

import exported_maps as maps
from calibcli.commands.export import export
from calibcli.errors import UsageProblem
from calibcli.export.dialects import SPELLINGS
from calibcli.names import ExportTarget, OnUnseen, Scale, SqlDialect
from calibcli.options.fitting import ExportAsk

NEAR = 1e-12
NAMES = ("calibrated", "calibrated_lower", "calibrated_upper")
# Places of lists, RANGE_BUCKET, which is NULL for NaN, and WIDTH_BUCKET, which refuses it.
LISTS = """
CREATE MACRO own_place(items, i) AS CASE WHEN i >= 0 AND i < len(items) THEN items[(i + 1)::BIGINT] END;
CREATE MACRO range_bucket(x, starts) AS CASE WHEN isnan(x) THEN NULL
    ELSE len(list_filter(starts, lambda one: one <= x)) END;
CREATE MACRO width_bucket(x, starts) AS CASE WHEN isnan(x) THEN error('NaN is in no bucket')
    ELSE len(list_filter(starts, lambda one: one <= x)) END;
"""
# What sqlglot takes for something smaller than it is there, and what older ones know by one name alone.
WHOLE = {"AS FLOAT)": "AS DOUBLE PRECISION)", "VARCHAR(MAX)": "VARCHAR", "BTRIM(": "TRIM("}
CALLED = {
    exp.Ln: "own_ln",
    exp.Exp: "own_exp",
    exp.Div: "own_over",
    exp.LT: "own_below",
    exp.LTE: "own_at_most",
    exp.GTE: "own_at_least",
    exp.Greatest: "own_greatest",
    exp.Least: "own_least",
}


def logarithm(x: np.ndarray) -> np.ndarray:
    """LN: an error for what is not positive."""
    if (x <= 0.0).any():
        msg = "logarithm of a number that is not positive"
        raise ValueError(msg)
    return np.log(x)


def exponential(x: np.ndarray) -> np.ndarray:
    """EXP: an error where it overflows."""
    if (x[np.isfinite(x)] > 709.78).any():
        msg = "e to a number overflows"
        raise ValueError(msg)
    return np.exp(x)


def quotient(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """A quotient: an error where the divisor is 0, or where numbers overflow."""
    found = np.divide(x, y, where=y != 0.0, out=np.full(x.shape, np.inf))
    if (np.isinf(found) & np.isfinite(x)).any():
        msg = "division by 0, or an overflow"
        raise ValueError(msg)
    return found


def rules_of(dialect: SqlDialect) -> dict[str, Callable[..., np.ndarray]]:
    """What the functions and comparisons of a system do with numbers none of which is NULL."""
    rules: dict[str, Callable[..., np.ndarray]] = {
        "own_ln": logarithm,
        "own_exp": exponential,
        "own_over": quotient,
    }
    if dialect not in (SqlDialect.SNOWFLAKE, SqlDialect.REDSHIFT):
        # No comparison with NaN holds, and NaN is the largest and the least.
        return rules | {
            "own_below": np.less,
            "own_at_most": np.less_equal,
            "own_at_least": np.greater_equal,
            "own_greatest": np.maximum,
            "own_least": np.minimum,
        }
    # NaN equals itself and is above all.
    return rules | {
        "own_below": lambda x, y: (x < y) | (np.isnan(y) & ~np.isnan(x)),
        "own_at_most": lambda x, y: (x <= y) | np.isnan(y),
        "own_at_least": lambda x, y: (x >= y) | np.isnan(x),
        "own_greatest": np.maximum,
        "own_least": np.fmin,
    }


def null_if_any(rule: Callable[..., np.ndarray], count: int) -> Callable[..., pa.Array]:
    """A rule for columns: NULL where anything is NULL."""

    def called(*columns: pa.ChunkedArray) -> pa.Array:
        valid = np.logical_and.reduce([column.is_valid().to_numpy() for column in columns])
        with np.errstate(all="ignore"):
            found = rule(*(column.fill_null(0.5).to_numpy()[valid] for column in columns))
        filled = np.zeros(valid.size, found.dtype)
        filled[valid] = found
        return pa.array(filled, mask=~valid)

    def of_two(left: pa.ChunkedArray, right: pa.ChunkedArray) -> pa.Array:
        return called(left, right)

    def of_one(only: pa.ChunkedArray) -> pa.Array:
        return called(only)

    return of_one if count == 1 else of_two


def by_own_rules(node: exp.Expression) -> exp.Expression:
    """Return a part of a query as a call of what has its rule."""
    if isinstance(node, exp.Bracket) and node.args.get("safe"):
        (place,) = node.expressions
        if node.args.get("offset"):
            place = exp.Sub(this=exp.Paren(this=place), expression=exp.Literal.number(1))
        return exp.Anonymous(this="own_place", expressions=[node.this, place])
    word = CALLED.get(type(node))
    if word is None:
        return node
    rest = [node.expression] if isinstance(node, exp.Binary) else node.expressions
    found = node.this
    if isinstance(node, (exp.Ln, exp.Exp)):
        return exp.Anonymous(this=word, expressions=[found])
    for one in rest:
        found = exp.Anonymous(this=word, expressions=[found, one])
    return found


@pytest.fixture(params=maps.ELSEWHERE)
def dialect(request: pytest.FixtureRequest) -> SqlDialect:
    """A system that is not here."""
    found: SqlDialect = request.param
    return found


@pytest.fixture
def database(dialect: SqlDialect) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database with the rules of the system."""
    with duckdb.connect() as found:
        found.execute(LISTS)
        for word, rule in rules_of(dialect).items():
            count = 1 if word in ("own_ln", "own_exp") else 2
            kind = "BOOLEAN" if word in ("own_below", "own_at_most", "own_at_least") else "DOUBLE"
            found.create_function(
                word,
                null_if_any(rule, count),
                ["DOUBLE"] * count,
                kind,
                type="arrow",
                null_handling="special",
            )
        yield found


def answered(
    database: duckdb.DuckDBPyConnection, query: str, rows: pa.Table, dialect: SqlDialect
) -> pd.DataFrame:
    """What a query of a system makes of rows, in their order."""
    for word, whole in WHOLE.items():
        query = query.replace(word, whole)
    (statement,) = sqlglot.parse(query, dialect=dialect.value)
    assert statement is not None
    # What is within goes first: a call that replaces a part takes its parts along.
    for node in reversed(list(statement.walk(bfs=True))):
        ruled = by_own_rules(node)
        if ruled is not node:
            node.replace(ruled)
    text = statement.sql(dialect="duckdb", unsupported_level=sqlglot.ErrorLevel.RAISE)
    # A CROSS APPLY has no condition.
    text = text.replace(" INNER JOIN LATERAL ", " CROSS JOIN LATERAL ")
    database.register("predictions", rows.append_column("place", pa.array(np.arange(rows.num_rows))))
    return database.execute(f"SELECT * FROM ({text}) ORDER BY place").df()


def sql(artifact: object, dialect: SqlDialect, **requested: object) -> str:
    """The query of an artifact."""
    return export(artifact, ExportAsk(ExportTarget.SQL, dialect, **requested)).decode()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "scale"),
    [
        ("beta", Scale.PROB),
        ("spline", Scale.PROB),
        ("histogram", Scale.PROB),
        ("venn-abers", Scale.PROB),
        ("isotonic", Scale.LOGIT),
        pytest.param("smooth", Scale.LOGPROB, marks=pytest.mark.slow),
    ],
)
def test_scores_get_what_apply_gives(
    kind: str, scale: Scale, dialect: SqlDialect, database: duckdb.DuckDBPyConnection
) -> None:
    """Knots and their neighbours, both ends, and anything between; what `apply` refuses is NULL, no error."""
    artifact = maps.one_map(kind, scale)
    ends = {
        Scale.PROB: [0.0, 5e-324, 1.0],
        Scale.LOGIT: [-np.inf, -1e300, np.inf],
        Scale.LOGPROB: [-np.inf, 0.0],
    }
    refused = {Scale.PROB: [np.inf, -np.inf, -1e-300], Scale.LOGIT: [], Scale.LOGPROB: [np.inf, 1.0]}
    scores = np.concatenate((maps.asked_scores(artifact)[::3], ends[scale]))
    if dialect is SqlDialect.TSQL:
        # No other numbers are there.
        scores = scores[(np.abs(scores) >= np.finfo(np.float64).tiny) & np.isfinite(scores) | (scores == 0.0)]
    rows = pa.table({"score": [*scores, *refused[scale], float("nan"), None]})
    assert rows["score"].null_count == 1
    found = answered(database, sql(artifact, dialect), rows, dialect)
    for key, column in zip(NAMES, maps.wanted(artifact, scores), strict=False):
        np.testing.assert_allclose(found[key][: scores.size], column, rtol=0.0, atol=NEAR)
        assert found[key][scores.size :].isna().all()


@pytest.mark.parametrize("kind", ["platt", pytest.param("isotonic", marks=pytest.mark.slow)])
def test_groups_get_what_apply_gives(
    kind: str, dialect: SqlDialect, database: duckdb.DuckDBPyConnection
) -> None:
    """Groups with quotes, backslashes and blanks, missing ones and strangers."""
    if dialect is SqlDialect.TSQL:
        pytest.skip("DuckDB has neither NCHAR nor the order of letters that the query asks for")
    artifact = maps.group_map(kind)
    scores, groups, (expected,) = maps.asked_groups(artifact, pooled=False)
    given = pa.table({"score": scores, "country": pa.array(groups, pa.string())})
    found = answered(database, sql(artifact, dialect), given, dialect)
    np.testing.assert_allclose(found["calibrated"].to_numpy(np.float64), expected, rtol=0.0, atol=NEAR)
    scores, groups, (expected,) = maps.asked_groups(artifact, pooled=True)
    found = answered(database, sql(artifact, dialect, unseen=OnUnseen.POOLED), given, dialect)
    np.testing.assert_allclose(found["calibrated"].to_numpy(np.float64), expected, rtol=0.0, atol=NEAR)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "scale"), [("temperature", Scale.LOGIT), ("one-vs-rest histogram", Scale.PROB)]
)
def test_classes_get_what_apply_gives(
    kind: str, scale: Scale, dialect: SqlDialect, database: duckdb.DuckDBPyConnection
) -> None:
    """Probabilities of several classes, in columns and in one column of lists."""
    classes = ("it's", "back\\slash", "`")
    artifact, rows = maps.class_map(kind, scale, classes), maps.asked_rows(scale)
    given = pa.table([*rows.T, rows.tolist()], [*maps.CLASS_SCORES, "listed"])
    for probs in (maps.CLASS_SCORES, ("listed",))[: 1 if dialect is SqlDialect.TSQL else 2]:
        found = answered(database, sql(artifact, dialect, probs=probs), given, dialect)
        columns = found[[f"calibrated_{one}" for one in classes]].to_numpy(np.float64)
        np.testing.assert_allclose(columns, maps.wanted_rows(artifact, rows), rtol=0.0, atol=NEAR)
        assert set(found["calibrated_class"]) <= set(classes)


# Which of the maps each system is asked for in short: each map by one of them, and each way to look up steps.
IN_SHORT = {
    SqlDialect.BIGQUERY: (0, 3, 6),
    SqlDialect.SNOWFLAKE: (1, 4, 7),
    SqlDialect.TRINO: (3, 8),
    SqlDialect.REDSHIFT: (5,),
    SqlDialect.TSQL: (2, 5, 7),
}


@pytest.mark.parametrize(
    ("dialect", "kind", "scale", "count"),
    [
        pytest.param(dialect, *one, marks=() if place in IN_SHORT[dialect] else pytest.mark.slow)
        for dialect in maps.ELSEWHERE
        for place, one in enumerate(maps.MANY)
        # Without joins that speak of a row so few classes are written out, and more are refused.
        if SPELLINGS[dialect].lateral or place in IN_SHORT[dialect]
    ],
    indirect=["dialect"],
)
def test_many_classes_get_what_apply_gives(
    kind: str, scale: Scale, count: int, dialect: SqlDialect, database: duckdb.DuckDBPyConnection
) -> None:
    """In a column of each step for each class; rows that `apply` refuses are NULL, and stay."""
    artifact, rows = maps.many_map(kind, scale, count), maps.many_rows(count, scale)[::7]
    names = [f"p_{one}" for one in artifact.classes]
    refused = np.vstack((np.zeros(count), np.full(count, np.nan), np.full(count, 0.5)))
    refused = np.full((1, count), np.nan) if scale is Scale.LOGIT else refused
    given = pa.table([*np.vstack((rows, refused)).T], names)
    if not SPELLINGS[dialect].lateral:
        with pytest.raises(UsageProblem, match="no joins that speak of the row at hand"):
            sql(artifact, dialect)
        return
    found = answered(database, sql(artifact, dialect), given, dialect)
    assert found[len(rows) :].filter(like="calibrated").isna().all(axis=None)
    columns = found[[f"calibrated_{one}" for one in artifact.classes]].to_numpy(np.float64)[: len(rows)]
    expected = maps.wanted_rows(artifact, rows)
    np.testing.assert_allclose(columns, expected, rtol=0.0, atol=NEAR)
    sure = np.diff(np.sort(expected, axis=1)[:, -2:])[:, 0] > NEAR
    named = np.array(artifact.classes)[expected.argmax(axis=1)]
    assert list(found["calibrated_class"][: len(rows)][sure]) == list(named[sure])


@pytest.mark.parametrize("expression", ["LN(score)", "EXP(score + 1000)", "score / score"])
def test_rules_of_the_systems_are_in_force(
    expression: str, dialect: SqlDialect, database: duckdb.DuckDBPyConnection
) -> None:
    """What the systems call an error is one here, so that a query which runs makes none."""
    rows = pa.table({"score": [0.0]})
    with pytest.raises(duckdb.InvalidInputException, match=r"logarithm of|e to|division by"):
        answered(database, f"SELECT *, {expression} AS x FROM predictions", rows, dialect)
