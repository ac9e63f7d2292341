"""Exports of a map for each group give what `apply` gives, in SQL and in Python."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, cast

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlglot
from hypothesis import example, given
from hypothesis import strategies as st

from calibcli.commands.apply import apply_file
from calibcli.commands.export import export, query_notes
from calibcli.commands.predicting import ApplyRequest
from calibcli.data.groups import groups_of
from calibcli.documents.artifact import artifact_text
from calibcli.errors import UsageProblem
from calibcli.export import dialects
from calibcli.export.dialects import string
from calibcli.names import ExportTarget, OnUnseen, Scale, SqlDialect
from calibcli.options.fitting import ExportAsk
from exported_maps import BLANKS, GROUPS, asked_groups, group_map, one_map

NEAR = 1e-12
KINDS = [
    ("platt", Scale.PROB),
    ("isotonic", Scale.PROB),
    ("venn-abers", Scale.PROB),
    ("histogram", Scale.LOGIT),
    ("smooth", Scale.LOGPROB),
]
NAMES = ("calibrated", "calibrated_lower", "calibrated_upper")


def written(artifact: object, target: ExportTarget = ExportTarget.SQL, **requested: object) -> str:
    """The text of an export."""
    return export(artifact, ExportAsk(target, **requested)).decode()  # type: ignore[arg-type]


@pytest.mark.parametrize(("kind", "scale"), KINDS)
def test_module_takes_the_map_of_the_group(kind: str, scale: Scale) -> None:
    """`calibrate` and `ends` of a score and its group are those of `apply`; a strange group as asked."""
    artifact = group_map(kind, scale)
    for unseen in OnUnseen:
        given: dict[str, object] = {}
        exec(written(artifact, ExportTarget.PYTHON, unseen=unseen), given)  # noqa: S102 - that is what is tested
        scores, groups, expected = asked_groups(artifact, pooled=unseen is OnUnseen.POOLED)
        known = ~np.isnan(expected[0])
        rows = list(zip(scores[known].tolist(), groups[known], strict=True))
        found = given["calibrate_all"](*zip(*rows, strict=True))  # type: ignore[operator]
        np.testing.assert_allclose(found, expected[0][known], rtol=0.0, atol=NEAR)
        with pytest.raises(ValueError, match="1 groups for 2 scores"):
            given["calibrate_all"]([0.2, 0.3], groups[known][:1])  # type: ignore[operator]
        assert ("ends" in given) == (len(expected) == 3)
        if "ends" in given:
            ends = np.array([given["ends"](*row) for row in rows]).T  # type: ignore[operator]
            np.testing.assert_allclose(ends, [one[known] for one in expected[1:]], rtol=0.0, atol=NEAR)
        for score, group in zip(scores[~known][:20].tolist(), groups[~known], strict=False):
            with pytest.raises(ValueError, match="has not seen the group"):
                given["calibrate"](score, group)  # type: ignore[operator]


@pytest.mark.parametrize("dialect", SqlDialect)
def test_a_query_that_joins_a_table_says_that_the_order_of_rows_may_change(dialect: SqlDialect) -> None:
    """A query names tables of its own exactly where it says so: DuckDB mixes rows at a join of groups."""
    by_group = group_map("platt", groups=("1", "2"))
    for artifact in (one_map("platt", Scale.PROB), one_map("isotonic", Scale.PROB), by_group):
        query = written(artifact, dialect=dialect)
        assert ("\nWITH " in query) == ("-- a join may change the order of rows" in query)
    assert "\nWITH " in query


@pytest.mark.parametrize(
    ("known", "column"),
    [
        (("1", "2", "(missing)"), pa.array([1, 2, None], pa.int64())),
        (("true", "false"), pa.array([True, False, True])),
        (("2020-01-02",), pa.array([18_263], pa.int32()).cast(pa.date32())),
        (("a", "b"), pa.array(["a ", "\tb", "a"]).dictionary_encode()),
    ],
)
def test_columns_of_groups_of_any_kind_are_those_of_apply(
    known: tuple[str, ...], column: pa.Array, tmp_path: Path
) -> None:
    """Whole numbers, booleans, dates and categories name the same groups in DuckDB, Python and `apply`."""
    artifact = group_map("platt", groups=known)
    rows = pa.table({"score": np.linspace(0.1, 0.8, len(column)), "country": column})
    pq.write_table(rows, tmp_path / "rows.parquet")
    output = str(tmp_path / "applied.parquet")
    apply_file(ApplyRequest("cal.json", artifact), [str(tmp_path / "rows.parquet")], output)
    expected = pq.read_table(output)["calibrated"].to_numpy()
    with duckdb.connect() as database:
        database.execute(f"CREATE VIEW predictions AS FROM '{tmp_path}/rows.parquet'")
        found = database.execute(f"FROM ({written(artifact)}) ORDER BY score").fetchnumpy()["calibrated"]
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=NEAR)
    given: dict[str, object] = {}
    exec(written(artifact, ExportTarget.PYTHON), given)  # noqa: S102 - that is what is tested
    called = given["calibrate_all"](rows["score"].to_pylist(), column.to_pylist())  # type: ignore[operator]
    np.testing.assert_allclose(called, expected, rtol=0.0, atol=NEAR)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (
            (None, float("nan"), np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT", "s"), "", BLANKS),
            "(missing)",
        ),
        (("nan", " nan", b"nan"), "nan"),
        (("<NA>",), "<NA>"),
        ((1, 1.0, np.float16(1.0), np.float32(1.0), np.float64(1.0), np.int8(1), "1", Decimal(1)), "1"),
        ((0.5, np.float32(0.5), "0.5"), "0.5"),
        ((True, np.True_), "true"),
        ((b"\xff", "ff"), "ff"),
    ],
)
def test_module_reads_values_of_numpy_and_pandas(values: tuple[object, ...], text: str) -> None:
    """What is missing is one group, and a whole number is one whatever type it has, as in `apply`."""
    artifact = group_map("platt", groups=("(missing)", "nan", "<NA>", "1", "0.5", "true", "ff"))
    given: dict[str, object] = {}
    exec(written(artifact, ExportTarget.PYTHON), given)  # noqa: S102 - that is what is tested
    # NaN is missing in a column of text; in one of floats it is a group `nan`.
    kind = "string" if text == "(missing)" else "object"
    expected = artifact.members[text].recalibrator.predict(np.array([0.3]))[0]
    for value in values:
        found = groups_of(pa.array(pd.Series([value], dtype=kind), from_pandas=True)).filled()
        assert found.text[found.code[0]] == text
        assert given["calibrate"](0.3, value) == pytest.approx(expected, abs=NEAR)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        (("1.5", "2"), True),
        (("12:30:00.5",), True),
        (("2024-05-01 12:00:00Z",), True),
        (("90s", "-7e-9s"), True),
        (("DE", "a:b", "s"), False),
    ],
)
def test_a_query_says_where_engines_write_groups_otherwise(groups: tuple[str, ...], said: int) -> None:
    """Decimals, floats, times and durations have a text of their own in each engine; names have one."""
    notes = query_notes(group_map("platt", groups=groups), ExportAsk(ExportTarget.SQL))
    assert [("cast it to these texts" in note) for note in notes] == [True] * said
    assert query_notes(group_map("platt", groups=groups), ExportAsk(ExportTarget.PYTHON)) == ()


@cache
def module_text() -> Callable[[object], str]:
    """Return what a module calls a group."""
    made: dict[str, Any] = {}
    exec(written(group_map("platt"), ExportTarget.PYTHON), made)  # noqa: S102 - that is what is tested
    return cast("Callable[[object], str]", made["_text"])


@example(timedelta(0))
@given(
    st.one_of(
        st.floats(allow_nan=False),
        st.floats(1e-12, 1e-3),
        st.datetimes(),
        st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30))])),
        st.times(),
        st.timedeltas(timedelta(-106_751_991), timedelta(106_751_991)),
        st.timedeltas(timedelta(-1), timedelta(1)),
        st.timedeltas(timedelta(0), timedelta(0, 0, 500)),
    )
)
def test_module_names_numbers_and_times_as_apply_does(value: object) -> None:
    """Floats of any size and times of any zone are the group that the fit has called so."""
    column = pa.array([value])
    name = groups_of(column).text[0]
    text = module_text()
    assert text(value) == name
    if isinstance(value, datetime) and value.tzinfo is None and 1700 < value.year < 2200:
        assert text(np.datetime64(value)) == text(np.datetime64(value, "ns")) == name
        assert text(pd.Timestamp(value)) == name
    if isinstance(value, timedelta):
        assert text(np.timedelta64(value)) == name
    if isinstance(value, timedelta) and abs(value.days) < 100_000:
        assert text(np.timedelta64(value, "ns")) == text(pd.Timedelta(value)) == name
        finest = np.array([np.timedelta64(value, "ns") + np.timedelta64(7, "ns")])
        name = groups_of(pa.array(finest)).text[0]
        assert text(finest[0]) == text(pd.Timedelta(finest[0])) == name


@pytest.mark.parametrize("dialect", SqlDialect)
def test_every_dialect_reads_the_groups_back(dialect: SqlDialect) -> None:
    """A parser of each dialect finds one statement with every group as a text of its own."""
    substituted = dialects.SPELLINGS[dialect].substituted
    groups = tuple(one for one in GROUPS if not substituted or "${" not in one)
    query = written(group_map("platt", groups=groups), dialect=dialect, by='it\'s `a` "column"')
    (statement,) = sqlglot.parse(query, dialect=dialect.value)
    assert statement is not None
    texts = statement.find_all(sqlglot.exp.Literal, sqlglot.exp.National)
    assert set(groups) <= {one.name for one in texts}
    assert 'it\'s `a` "column"' in {one.name for one in statement.find_all(sqlglot.exp.Column)}


def test_blanks_around_a_group_are_those_of_python() -> None:
    """The code points that queries take off are all that str.strip does, and no others."""
    assert "".join(map(chr, dialects.BLANKS)) == BLANKS


def test_groups_that_sql_cannot_write_are_refused() -> None:
    """A group that is not printable, or that Spark would replace, is refused with its name."""
    with pytest.raises(UsageProblem, match=r"the group 'a\\x00' cannot be written"):
        written(group_map("platt", groups=("a\0",)))
    with pytest.raises(UsageProblem, match="Spark replaces") as caught:
        written(group_map("platt"), dialect=SqlDialect.SPARK)
    assert caught.value.hint == "use --to python, or another dialect"
    with pytest.raises(UsageProblem, match=r"the class '\$\{x\}': Spark") as caught:
        string("${x}", SqlDialect.SPARK)
    assert caught.value.hint == "use --to python, or another dialect"


def test_new_column_is_not_that_of_the_groups() -> None:
    """A new column of the name of the groups' is refused."""
    with pytest.raises(UsageProblem, match="name of another"):
        written(group_map("platt"), name="Country")


def test_digest_is_that_of_the_file() -> None:
    """The export names the hash of the artifact's text."""
    import hashlib

    artifact = group_map("platt")
    digest = hashlib.sha256(artifact_text(artifact).encode()).hexdigest()
    assert f"sha256:{digest}" in written(artifact)
