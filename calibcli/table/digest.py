"""A table's fingerprint: the same rows give the same digest, whatever file or order they came in."""

import hashlib

from calibcli.table.grid import Table


def digest(table: Table) -> str:
    """Return `sha256:` and the hash of the table's canonical bytes: kind, then each column little-endian."""
    state = hashlib.sha256(f"calibcli.table/1 {table.kind} {len(table.columns)} {table.distinct}\n".encode())
    for column in table.columns:
        state.update(column.astype(column.dtype.newbyteorder("<"), copy=False).tobytes())
    return f"sha256:{state.hexdigest()}"
