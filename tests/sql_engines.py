"""Systems that execute exported SQL: each is asked alike, and answers with rows in their order."""

import csv
import importlib.util
import io
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibcli.names import SqlDialect

# What a query makes of a table `predictions`; without one, of the table that was there before.
Ask = Callable[[str, pa.Table | None], pd.DataFrame]
_FOLDERS = sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin")), reverse=True)
_WHERE = os.pathsep.join([os.environ.get("PATH", ""), *_FOLDERS, "/usr/sbin", "/usr/bin"])
POSTGRES = [shutil.which(word, path=_WHERE) for word in ("initdb", "pg_ctl", "psql")]
MARIADB = [shutil.which(word, path=_WHERE) for word in ("mariadbd", "mariadb-install-db", "mariadb")]
# Where the second answer is read from text, with its own word for NULL.
_TEXT: dict[str, Any] = {"keep_default_na": False, "dtype": str}


def _placed(rows: pa.Table) -> pa.Table:
    return rows.append_column("place", pa.array(np.arange(rows.num_rows), pa.int32()))


def _inserted(rows: pa.Table, quote: str, text: str, cell: Callable[..., str]) -> str:
    """The columns of a table as a dialect declares them, and its rows as values."""
    kinds = {pa.string(): text, pa.large_string(): text, pa.bool_(): "BOOLEAN"}
    declared = ", ".join(
        f"{quote}{one.name.replace(quote, 2 * quote)}{quote} {kinds.get(one.type, 'DOUBLE PRECISION')}"
        for one in rows.schema
    )
    values = ", ".join(
        f"({place}, {', '.join(map(cell, row))})"
        for place, row in enumerate(zip(*(column.to_pylist() for column in rows.columns), strict=True))
    )
    return f"predictions (place INT, {declared}); INSERT INTO predictions VALUES {values};"


@contextmanager
def _of_server(*users: str) -> Iterator[tuple[Path, list[str]]]:
    """A short folder that is removed at the end, and how to run there what does not run as root."""
    with tempfile.TemporaryDirectory(prefix="calibcli_", dir="/tmp", ignore_cleanup_errors=True) as folder:
        if os.getuid() != 0:
            yield Path(folder), []
            return
        known = {one.pw_name for one in pwd.getpwall()}
        user = next(one for one in users if one in known)
        shutil.chown(folder, user)
        yield Path(folder), ["runuser", "-u", user, "--"]


@contextmanager
def _duckdb(_: Path) -> Iterator[Ask]:
    with duckdb.connect() as database:

        def ask(query: str, rows: pa.Table | None) -> pd.DataFrame:
            if rows is not None:
                database.register("predictions", _placed(rows))
            return database.execute(f"SELECT * FROM ({query}) ORDER BY place").df()

        yield ask


@contextmanager
def _postgres(_: Path) -> Iterator[Ask]:
    """A server on a socket in a folder of its own."""
    with _of_server("postgres", "nobody") as (folder, become):
        yield from _asked_postgres(folder, become)


def _asked_postgres(folder: Path, become: list[str]) -> Iterator[Ask]:
    store, log = f"{folder}/store", f"{folder}/log"

    def control(*words: str | None) -> None:
        subprocess.run([*become, *map(str, words)], check=True, capture_output=True, cwd=folder)

    def cell(value: float | str | None) -> str:
        if isinstance(value, str):
            return "'" + value.replace("'", "''") + "'"
        return "NULL" if value is None else f"'{value!r}'"

    def ask(query: str, rows: pa.Table | None) -> pd.DataFrame:
        script = f"COPY (SELECT * FROM ({query}) AS t ORDER BY place) TO STDOUT WITH (FORMAT csv, HEADER);\n"
        if rows is not None:
            made = f"CREATE TABLE {_inserted(rows, chr(34), 'TEXT', cell)}"
            script = f"DROP TABLE IF EXISTS predictions; {made}\n{script}"
        words = ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", str(folder), "-U", "calib", "postgres"]
        ended = subprocess.run(
            [str(POSTGRES[2]), *words], input=script, capture_output=True, text=True, check=False
        )
        assert ended.returncode == 0, ended.stderr[-2_000:]
        return pd.read_csv(io.StringIO(ended.stdout), na_values=[""], **_TEXT)

    control(POSTGRES[0], "-D", store, "-U", "calib", "-A", "trust", "-E", "UTF8", "--no-sync")
    socket = f"-k {folder} -c listen_addresses= -c fsync=off"
    control(POSTGRES[1], "-D", store, "-l", log, "-w", "-o", socket, "start")
    yield ask
    control(POSTGRES[1], "-D", store, "-m", "immediate", "stop")


@contextmanager
def spark_session() -> Iterator[Any]:
    """A local session of Spark."""
    from pyspark.sql import SparkSession

    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    found = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    found.sparkContext.setLogLevel("ERROR")
    yield found
    found.stop()


@contextmanager
def _spark(folder: Path) -> Iterator[Ask]:
    """A session that reads the rows from a file."""
    path = str(folder / "predictions.parquet")
    with spark_session() as session:

        def ask(query: str, rows: pa.Table | None) -> pd.DataFrame:
            if rows is not None:
                pq.write_table(_placed(rows), path)
                session.read.parquet(path).createOrReplaceTempView("predictions")
            found = session.sql(query)
            listed = [list(row) for row in found.collect()]
            return pd.DataFrame(listed, columns=found.columns).sort_values("place", ignore_index=True)

        yield ask


@contextmanager
def _clickhouse(folder: Path) -> Iterator[Ask]:
    """ClickHouse in this process, over a file of Parquet."""
    from chdb.session import Session  # type: ignore[import-not-found,import-untyped,unused-ignore]

    session, path = Session(), folder / "predictions.parquet"
    session.query("SET max_query_size = 16000000")

    def ask(query: str, rows: pa.Table | None) -> pd.DataFrame:
        if rows is not None:
            pq.write_table(_placed(rows), path)
        query = query.replace('"predictions"', f"file('{path}')")
        text = str(session.query(f"SELECT * FROM ({query}) ORDER BY place", "CSVWithNames"))
        found = pd.read_csv(io.StringIO(text), na_values=["\\N"], **_TEXT)
        return found.rename(columns=lambda one: one.replace("\\\\", "\\"))

    yield ask


@contextmanager
def _mariadb(_: Path) -> Iterator[Ask]:
    """A server of MariaDB, which has no numbers but finite ones."""
    with _of_server("nobody") as (folder, become):
        yield from _asked_mariadb(folder, become)


def _asked_mariadb(folder: Path, become: list[str]) -> Iterator[Ask]:
    store, socket = f"--datadir={folder}/store", f"{folder}/socket"
    install = [str(MARIADB[1]), "--no-defaults", store, "--auth-root-authentication-method=normal"]
    subprocess.run([*become, *install], check=True, capture_output=True, cwd=folder)
    serve = [str(MARIADB[0]), "--no-defaults", store, f"--socket={socket}", "--skip-networking"]
    client = [str(MARIADB[2]), "--no-defaults", "-S", socket, "-u", "root"]
    client += ["--batch", "--default-character-set=utf8mb4"]

    def cell(value: float | str | None) -> str:
        if isinstance(value, str):
            return f"CONVERT(X'{value.encode().hex()}' USING utf8mb4)"
        return "NULL" if value is None or not np.isfinite(value) else repr(value)

    def ask(query: str, rows: pa.Table | None) -> pd.DataFrame:
        text = "TEXT CHARACTER SET utf8mb4"
        script = f"SELECT * FROM ({query}) AS t ORDER BY place;"
        if rows is not None:
            script = f"CREATE OR REPLACE TABLE {_inserted(rows, '`', text, cell)} {script}"
        ended = subprocess.run([*client, "tests"], input=script.encode(), capture_output=True, check=False)
        assert ended.returncode == 0, ended.stderr[:2_000]
        own = {"sep": "\t", "lineterminator": "\n", "quoting": csv.QUOTE_NONE, **_TEXT}
        found = pd.read_csv(io.BytesIO(ended.stdout), na_values=["NULL"], **own)
        found = found.map(lambda one: one.replace("\\\\", "\\") if isinstance(one, str) else one)
        return found.rename(columns=lambda one: one.replace("\\\\", "\\"))

    with (folder / "log").open("w") as log:
        server = subprocess.Popen([*become, *serve], stdout=log, stderr=log)
    for _ in range(100):
        made = [*client, "-e", "CREATE DATABASE IF NOT EXISTS tests"]
        if subprocess.run(made, check=False, capture_output=True).returncode == 0:
            break
        time.sleep(0.1)
    yield ask
    subprocess.run([*client, "-e", "SHUTDOWN"], check=True, capture_output=True)
    server.wait(30)


OPENED: dict[SqlDialect, Callable[[Path], Any]] = {
    SqlDialect.DUCKDB: _duckdb,
    SqlDialect.POSTGRES: _postgres,
    SqlDialect.SPARK: _spark,
    SqlDialect.CLICKHOUSE: _clickhouse,
    SqlDialect.MYSQL: _mariadb,
}
NO_SPARK = importlib.util.find_spec("pyspark") is None or shutil.which("java") is None
_LACKS = {
    SqlDialect.POSTGRES: (None in POSTGRES, "there is no Postgres server"),
    SqlDialect.SPARK: (NO_SPARK, "there is no Spark, or no Java"),
    SqlDialect.CLICKHOUSE: (importlib.util.find_spec("chdb") is None, "chdb is not installed"),
    SqlDialect.MYSQL: (None in MARIADB, "there is no MariaDB server"),
}


def asked(dialect: SqlDialect, *rest: object) -> Any:
    """Return a row of parameters that needs a system, which the machine may lack."""
    marks = []
    if dialect in _LACKS:
        lacking, reason = _LACKS[dialect]
        marks = [pytest.mark.system, pytest.mark.skipif(lacking, reason=reason)]
    if dialect is SqlDialect.SPARK:
        marks.append(pytest.mark.filterwarnings("ignore"))
    return pytest.param(dialect, *rest, marks=marks)
