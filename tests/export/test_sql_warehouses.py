"""Exported SQL in ClickHouse and MariaDB: the same numbers as `apply`, and NULL where that refuses."""

import csv
import importlib.util
import io
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibcli.commands.export import export
from calibcli.names import ExportTarget, OnUnseen, Scale, SqlDialect
from calibcli.options.fitting import ExportAsk
from exported_maps import (
    CLASS_SCORES,
    KINDS_AND_SCALES,
    asked_groups,
    asked_rows,
    asked_scores,
    class_map,
    group_map,
    many_map,
    many_rows,
    one_map,
    wanted,
    wanted_rows,
)

pytestmark = pytest.mark.system
NEAR = 1e-12
NAMES = ("calibrated", "calibrated_lower", "calibrated_upper")
# What a query makes of the columns of a table, as text, NULL as None; rows in their order.
Answered = Callable[[str, dict[str, np.ndarray]], pd.DataFrame]
MARIADB = [
    shutil.which(word, path="/usr/sbin:/usr/bin") for word in ("mariadbd", "mariadb-install-db", "mariadb")
]
ENGINES = [
    pytest.param(
        SqlDialect.CLICKHOUSE,
        marks=pytest.mark.skipif(importlib.util.find_spec("chdb") is None, reason="chdb is not installed"),
    ),
    pytest.param(
        SqlDialect.MYSQL, marks=pytest.mark.skipif(None in MARIADB, reason="there is no MariaDB server")
    ),
]


def of_clickhouse(folder: Path) -> Answered:
    """ClickHouse in this process, over a file of Parquet."""
    from chdb.session import Session  # type: ignore[import-not-found,import-untyped,unused-ignore]

    session = Session()
    session.query("SET max_query_size = 16000000")

    def ask(query: str, columns: dict[str, np.ndarray]) -> pd.DataFrame:
        path = folder / "predictions.parquet"
        pq.write_table(pa.table({**columns, "place": np.arange(len(next(iter(columns.values()))))}), path)
        query = query.replace('"predictions"', f"file('{path}')")
        text = str(session.query(f"SELECT * FROM ({query}) ORDER BY place", "CSVWithNames"))
        return pd.read_csv(io.StringIO(text), na_values=["\\N"], keep_default_na=False, dtype=str)

    return ask


def of_mariadb(socket: str) -> Answered:
    """A server of MariaDB, whose tables are filled by INSERT."""

    def cell(value: float | str | None) -> str:
        if isinstance(value, str):
            return f"CONVERT(X'{value.encode().hex()}' USING utf8mb4)"
        return "NULL" if value is None or np.isnan(value) else repr(value)

    def ask(query: str, columns: dict[str, np.ndarray]) -> pd.DataFrame:
        kinds = ", ".join(
            f"`{one}` {'TEXT CHARACTER SET utf8mb4' if column.dtype == object else 'DOUBLE'}"
            for one, column in columns.items()
        )
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        listed = ",\n".join(f"({place}, {', '.join(map(cell, row))})" for place, row in enumerate(rows))
        script = f"""CREATE OR REPLACE TABLE predictions (place INT, {kinds}) CHARACTER SET utf8mb4;
        INSERT INTO predictions VALUES {listed}; SELECT * FROM ({query}) AS t ORDER BY place;"""
        words = [str(MARIADB[2]), "--no-defaults", "-S", socket, "-u", "root", "--batch", "tests"]
        words.append("--default-character-set=utf8mb4")
        ended = subprocess.run(words, input=script.encode(), capture_output=True, check=False)
        assert ended.returncode == 0, ended.stderr[:2_000]
        return pd.read_csv(
            io.BytesIO(ended.stdout),
            sep="\t",
            lineterminator="\n",
            na_values=["NULL"],
            keep_default_na=False,
            dtype=str,
            quoting=csv.QUOTE_NONE,
        )

    return ask


@pytest.fixture(scope="module")
def mariadb() -> Iterator[str]:
    """The socket of a server for all tests, stopped and removed at the end."""
    folder = tempfile.mkdtemp(prefix="calibcli_maria_", dir="/tmp")
    become = []
    if os.getuid() == 0:
        shutil.chown(folder, "nobody")
        become = ["runuser", "-u", "nobody", "--"]
    store, socket = f"--datadir={folder}/store", f"{folder}/socket"
    install = [str(MARIADB[1]), "--no-defaults", store, "--auth-root-authentication-method=normal"]
    subprocess.run([*become, *install], check=True, capture_output=True, cwd=folder)
    serve = [str(MARIADB[0]), "--no-defaults", store, f"--socket={socket}", "--skip-networking"]
    with Path(folder, "log").open("w") as log:
        server = subprocess.Popen([*become, *serve], stdout=log, stderr=log)
    client = [str(MARIADB[2]), "--no-defaults", "-S", socket, "-u", "root", "-e"]
    for _ in range(100):
        made = [*client, "CREATE DATABASE IF NOT EXISTS tests"]
        if subprocess.run(made, check=False, capture_output=True).returncode == 0:
            break
        time.sleep(0.1)
    yield socket
    subprocess.run([*client, "SHUTDOWN"], check=True, capture_output=True)
    server.wait(30)
    shutil.rmtree(folder)


@pytest.fixture(params=ENGINES)
def dialect(request: pytest.FixtureRequest) -> SqlDialect:
    """An engine that is here."""
    found: SqlDialect = request.param
    return found


@pytest.fixture
def answered(dialect: SqlDialect, tmp_path: Path, request: pytest.FixtureRequest) -> Answered:
    """The engine."""
    if dialect is SqlDialect.CLICKHOUSE:
        return of_clickhouse(tmp_path)
    return of_mariadb(request.getfixturevalue("mariadb"))


def sql(artifact: Any, dialect: SqlDialect, **requested: object) -> str:
    """The query of an artifact."""
    return export(artifact, ExportAsk(ExportTarget.SQL, dialect=dialect, **requested)).decode()  # type: ignore[arg-type]


@pytest.mark.parametrize(("kind", "scale"), KINDS_AND_SCALES)
def test_scores_get_what_apply_gives(
    kind: str, scale: Scale, dialect: SqlDialect, answered: Answered
) -> None:
    """Knots and their neighbours, both ends and anything between; NULL where `apply` refuses."""
    artifact = one_map(kind, scale)
    scores = asked_scores(artifact)[::3]
    refused = [np.nan, -1e-300, 1.0000000000000002] if scale is Scale.PROB else [np.nan]
    found = answered(sql(artifact, dialect), {"score": np.concatenate((scores, refused))})
    for key, column in zip(NAMES, wanted(artifact, scores), strict=False):
        got = found[key].to_numpy(np.float64)
        np.testing.assert_allclose(got[: scores.size], column, rtol=0.0, atol=NEAR)
        assert np.isnan(got[scores.size :]).all()


@pytest.mark.parametrize("kind", ["platt", "venn-abers"])
def test_groups_get_what_apply_gives(kind: str, dialect: SqlDialect, answered: Answered) -> None:
    """Groups with quotes, backslashes and blanks, missing ones and strangers."""
    artifact = group_map(kind)
    for unseen in OnUnseen:
        scores, groups, expected = asked_groups(artifact, pooled=unseen is OnUnseen.POOLED)
        found = answered(sql(artifact, dialect, unseen=unseen), {"score": scores, "country": groups})
        for key, column in zip(NAMES, expected, strict=False):
            np.testing.assert_allclose(found[key].to_numpy(np.float64), column, rtol=0.0, atol=NEAR)


@pytest.mark.parametrize(
    ("kind", "scale"),
    [("temperature", Scale.PROB), ("vector", Scale.LOGIT), ("one-vs-rest histogram", Scale.PROB)],
)
def test_classes_get_what_apply_gives(
    kind: str, scale: Scale, dialect: SqlDialect, answered: Answered
) -> None:
    """Every class's probability agrees, and the most probable class is one."""
    classes = ("it's", "back\\slash", "`")
    artifact, rows = class_map(kind, scale, classes), asked_rows(scale)
    found = answered(sql(artifact, dialect, probs=CLASS_SCORES), dict(zip(CLASS_SCORES, rows.T, strict=True)))
    found.columns = [one.replace("\\\\", "\\") for one in found.columns]
    columns = found[[f"calibrated_{one}" for one in classes]].to_numpy(np.float64)
    np.testing.assert_allclose(columns, wanted_rows(artifact, rows), rtol=0.0, atol=NEAR)
    assert {one.replace("\\\\", "\\") for one in found["calibrated_class"]} <= set(classes)


@pytest.mark.parametrize(
    ("kind", "scale", "count"),
    [
        ("vector", Scale.PROB, 40),
        ("matrix", Scale.PROB, 40),
        ("matrix", Scale.LOGIT, 40),
        ("one-vs-rest platt", Scale.PROB, 40),
        ("top-label platt", Scale.PROB, 40),
        ("one-vs-one histogram", Scale.PROB, 16),
    ],
)
def test_many_classes_get_what_apply_gives(
    kind: str, scale: Scale, count: int, dialect: SqlDialect, tmp_path: Path
) -> None:
    """Step by step, where an expression for each class is too long; NULL where `apply` writes none."""
    if dialect is SqlDialect.MYSQL:
        pytest.skip("MariaDB has no joins that speak of the row at hand")
    ask = of_clickhouse(tmp_path)
    artifact, rows = many_map(kind, scale, count), many_rows(count, scale)[::7]
    refused = np.vstack((np.zeros(count), np.full(count, np.nan), np.full(count, 0.5), 2 * np.eye(1, count)))
    refused = np.full((1, count), np.nan) if scale is Scale.LOGIT else refused
    given = np.vstack((rows, refused)).T
    names = [f"p_{one}" for one in artifact.classes]
    query = sql(artifact, dialect)
    assert "ARRAY JOIN" in query
    found = ask(query, dict(zip(names, given, strict=True)))
    assert found[len(rows) :].filter(like="calibrated").isna().all(axis=None)
    columns = found[[f"calibrated_{one}" for one in artifact.classes]].to_numpy(np.float64)[: len(rows)]
    expected = wanted_rows(artifact, rows)
    np.testing.assert_allclose(columns, expected, rtol=0.0, atol=NEAR)


@pytest.mark.parametrize("word", ['x"; DROP TABLE predictions; --', "a`b", "it's", "*/ 1 /*", "é ✓"])
def test_names_are_names(word: str, dialect: SqlDialect, answered: Answered) -> None:
    """A column that is called like SQL is made, and nothing else happens."""
    found = answered(sql(one_map("platt"), dialect, name=f"new {word}"), {"score": np.array([0.5])})
    assert set(found.columns) == {"place", "score", f"new {word}"}
