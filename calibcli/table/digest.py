"""
A table's fingerprint: the same rows give the same digest, whatever file or order they came in.

Unweighted rows are gathered in the cells of a grid first, so that it does not matter either whether the table
was kept exact: counts and exact sums by cell tell rows apart as well as the rows themselves.
"""

import hashlib

from calibcli.table.grid import Table, grid_of
from calibcli.table.score_table import ScoreTable


def digest(table: Table) -> str:
    """Return `sha256:` and the hash of the table's canonical bytes: kind, then each column little-endian."""
    if isinstance(table, ScoreTable) and not table.weighted:
        table = grid_of(table)
    state = hashlib.sha256(f"calibcli.table/1 {table.kind} {len(table.columns)} {table.distinct}\n".encode())
    for column in table.columns:
        state.update(column.astype(column.dtype.newbyteorder("<"), copy=False).tobytes())
    return f"sha256:{state.hexdigest()}"
