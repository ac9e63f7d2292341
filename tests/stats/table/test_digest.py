"""A table's fingerprint depends on its rows and on nothing else."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from calibcli.stats.table.grid import digest, grid_of
from calibcli.stats.table.score_table import ScoreTable, merge_all

ROWS = st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=12)
Rows = list[tuple[int, bool]]


def table_of(rows: Rows) -> ScoreTable:
    """Rows with scores in fifths."""
    return ScoreTable.from_rows(np.array([s for s, _ in rows]) / 5, np.array([y for _, y in rows], bool))


@given(rows=ROWS, seed=st.integers(0, 9), cut=st.integers(0, 12))
def test_digest_is_stable_to_order_and_fragments(rows: Rows, seed: int, cut: int) -> None:
    """Shuffled and split rows have the digest of the whole, exact and on the grid."""
    shuffled = [rows[i] for i in np.random.default_rng(seed).permutation(len(rows))]
    merged = merge_all([table_of(shuffled[:cut]), table_of(shuffled[cut:])])
    assert digest(merged) == digest(table_of(rows))
    assert digest(grid_of(merged)) == digest(grid_of(table_of(rows)))


@given(one=ROWS, other=ROWS)
def test_different_tables_have_different_digests(one: Rows, other: Rows) -> None:
    """Two tables have one digest exactly if they are equal."""
    a, b = table_of(one), table_of(other)
    assert (digest(a) == digest(b)) == (a == b)


def test_kind_and_weights_are_part_of_the_digest() -> None:
    """The same rows exact or on a grid have one digest; with unit weights another, and none a third."""
    score, label = np.array([0.2, 0.6]), np.array([True, False])
    plain = ScoreTable.from_rows(score, label)
    weighted = ScoreTable.from_rows(score, label, weight=np.ones(2))
    assert digest(plain) == digest(grid_of(plain))
    assert len({digest(plain), digest(weighted), digest(ScoreTable.empty())}) == 3


def test_digest_is_frozen() -> None:
    """The digest of one small table, worked out by hand from its bytes, never changes."""
    import hashlib
    import struct

    table = ScoreTable.from_rows(np.array([0.25, 0.5, 0.5]), np.array([True, False, True]))
    # 0.25 and 0.5 are edges of cells, so nothing lies below them: codes, rows, positives, and two sums of 0.
    codes = [32_112 - 2 + 720_720 // 4, 32_112 - 2 + 720_720 // 2]
    packed = b"calibcli.table/1 grid 5 2\n" + struct.pack("<10q", *codes, 1, 2, 1, 1, 0, 0, 0, 0)
    assert digest(table) == f"sha256:{hashlib.sha256(packed).hexdigest()}"
