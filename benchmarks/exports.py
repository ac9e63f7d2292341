"""Time of exported SQL in DuckDB, a million rows: CASE against a join with the table of steps.

Run with `python benchmarks/exports.py`; prints a table of milliseconds, the least of three runs each.
"""

import time

import duckdb
import numpy as np

from calibcli.export import sql as sql_text
from calibcli.export.maps import Score, steps
from calibcli.export.sql import SqlText
from calibcli.names import SqlDialect

ROWS = 1_000_000
STEPS = (8, 16, 32, 64, 128, 256, 512, 2_048, 32_768)


def query(count: int, most_cases: int) -> str:
    """Return a query of so many steps, by CASE up to a number of them."""
    rng = np.random.default_rng(count)
    starts = np.concatenate(([0.0], np.sort(rng.random(count - 1))))
    formula = steps(Score(), starts, np.sort(rng.random(count)))
    sql_text.MOST_CASES = most_cases
    text = SqlText(SqlDialect.DUCKDB, ("r.score",), "steps_")
    column = text.of(formula)
    parts = [table.definition() for table in text.tables]
    head = f"WITH {', '.join(part for part in parts if part)}" if parts else ""
    joins = " ".join(table.join() or "" for table in text.tables)
    return " ".join((head, f"SELECT sum({column})", "FROM predictions AS r", joins))


def milliseconds(database: duckdb.DuckDBPyConnection, text: str) -> float:
    """Return the least time of three runs."""
    found = []
    for _ in range(3):
        start = time.perf_counter()
        database.execute(text).fetchall()
        found.append(time.perf_counter() - start)
    return 1_000.0 * min(found)


def main() -> None:
    """Print the table."""
    database = duckdb.connect()
    database.execute("SET threads = 2")
    database.execute("CREATE TABLE predictions AS SELECT random() AS score FROM range(?)", [ROWS])
    print("| steps | CASE | join |\n|---:|---:|---:|")
    for count in STEPS:
        case = f"{milliseconds(database, query(count, 10**9)):,.0f}" if count <= 512 else "-"
        print(f"| {count:,} | {case} | {milliseconds(database, query(count, 1)):,.0f} |", flush=True)


if __name__ == "__main__":
    main()
