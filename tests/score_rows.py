"""Rows that laws of numbers are tried on: tied, at 0 and 1, on edges of bins and beside them, with counts."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from calibcli.names import Binning
from calibcli.stats.table import ScoreTable, Weighing
from calibcli.stats.table.bins import Bins, equal_width_edges
from calibcli.stats.table.grid import Table, grid_of

# Their bins nest the cells of a grid.
COUNTS = (1, 2, 3, 5, 7, 10, 12, 15, 16)
EDGES = [k / count for count in (7, 10, 15) for k in range(count + 1)]
BESIDE = [float(np.nextafter(edge, to)) for edge in (0.1, 0.3, 0.5, 2 / 15) for to in (0.0, 1.0)]
ENDS = [0.0, 1.0, 5e-324, 1e-300, 2.0**-53, 1.0 - 2.0**-53, float(np.float32(0.1)), 0.1 + 0.2]
SCORES = st.one_of(
    st.sampled_from([0.0, 1.0]), st.sampled_from(EDGES), st.sampled_from(BESIDE + ENDS), st.floats(0.0, 1.0)
)
# No cell moves them, and their distances from 0 and from 1 are both exact.
EVEN_SCORES = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, 4096).map(lambda k: k / 4096))
# One set of rows in four has one label only.
RATES = st.sampled_from([0.5, 0.5, 0.2, 0.8, 0.1, 0.9, 0.0, 1.0])
# Pairs, where a test builds its table by itself.
PAIRS = st.lists(
    st.tuples(
        st.one_of(st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.5, 0.9, 1.0]), st.floats(0.0, 1.0)), st.booleans()
    ),
    min_size=1,
    max_size=50,
)
Pairs = list[tuple[float, bool]]


@dataclass(frozen=True)
class Rows:
    """Rows with frequency weights: few scores, so that many are tied."""

    score: np.ndarray
    label: np.ndarray
    counts: np.ndarray
    on_grid: bool

    @property
    def size(self) -> int:
        """How many, before their weights."""
        return int(self.score.size)

    def table(self) -> Table:
        """Count them, exactly or in cells."""
        exact = ScoreTable.from_rows(self.score, self.label, Weighing(counts=self.counts))
        return grid_of(exact) if self.on_grid else exact

    def weighted(self, weight: np.ndarray | None = None) -> ScoreTable:
        """The rows with importance weights, unlike ones unless they are given."""
        return ScoreTable.from_rows(
            self.score,
            self.label,
            Weighing(weight=np.linspace(0.5, 2.0, self.size) if weight is None else weight),
        )

    def repeated(self) -> "Rows":
        """Write every row as often as it counts."""
        score, label = np.repeat(self.score, self.counts), np.repeat(self.label, self.counts)
        return replace(self, score=score, label=label, counts=np.ones(score.size, np.int64))

    def taken(self, places: np.ndarray) -> "Rows":
        """Take some of them, in this order."""
        return Rows(self.score[places], self.label[places], self.counts[places], self.on_grid)


@st.composite
def some_rows(draw: st.DrawFn, scores: st.SearchStrategy[float] = SCORES, most: int = 30) -> Rows:
    """Draw rows, exact or on a grid."""
    pool = draw(st.lists(scores, min_size=1, max_size=10, unique=True))
    size = draw(st.one_of(st.integers(1, 5), st.integers(8, most), st.integers(8, most)))
    score = st.one_of(st.sampled_from(pool), st.sampled_from(pool), scores)
    rows = draw(st.lists(st.tuples(score, st.integers(1, 3)), min_size=size, max_size=size))
    chance = np.random.default_rng(draw(st.integers(0, 2**16))).random(size)
    values, counts = (np.array(column) for column in zip(*rows, strict=True))
    return Rows(values, chance < draw(RATES), counts, on_grid=draw(st.booleans()))


TABLES = some_rows().map(Rows.table)
EVEN_TABLES = some_rows(EVEN_SCORES).map(Rows.table)
ANY_TABLES = st.one_of(TABLES, TABLES, some_rows().map(Rows.weighted))


def table_of(rows: list[tuple[float, bool]], weight: object = None) -> ScoreTable:
    """Count pairs of score and label."""
    score, label = np.array([s for s, _ in rows], float), np.array([y for _, y in rows], bool)
    return ScoreTable.from_rows(
        score, label, Weighing(weight=None if weight is None else np.asarray(weight, float))
    )


def table_of_columns(score: list[float], label: list[int], weight: list[float] | None = None) -> ScoreTable:
    """Count scores and labels, with importance weights if there are any."""
    return ScoreTable.from_rows(
        np.array(score),
        np.array(label, dtype=bool),
        Weighing(weight=None if weight is None else np.array(weight)),
    )


def scored(
    rows: int,
    rate: Callable[[np.ndarray], Any] | None = None,
    *,
    seed: int = 0,
    beta: tuple[float, float] | None = None,
    decimals: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Draw scores, uniform or by a beta law, and labels whose rate they are, or some function of them."""
    rng = np.random.default_rng(seed)
    score = rng.random(rows) if beta is None else rng.beta(*beta, rows)
    score = score if decimals is None else score.round(decimals)
    return score, rng.random(rows) < (score if rate is None else rate(score))


def scored_table(rows: int, rate: Callable[[np.ndarray], Any] | None = None, **how: Any) -> ScoreTable:
    """Count rows that are drawn so."""
    return ScoreTable.from_rows(*scored(rows, rate, **how))


def uniform(rows: int, power: float = 1.0, seed: int = 0) -> ScoreTable:
    """Uniform scores and labels of rate score^power."""
    return scored_table(rows, lambda score: score**power, seed=seed)


def calibrated(rows: int, seed: int = 0, *, weighted: bool = False) -> ScoreTable:
    """Calibrated rows."""
    rng = np.random.default_rng(seed)
    score = rng.beta(0.7, 1.3, rows)
    weight = rng.exponential(size=rows) if weighted else None
    return ScoreTable.from_rows(score, rng.random(rows) < score, Weighing(weight=weight))


def turned(table: Table) -> Table:
    """The same rows seen from the other label: f becomes 1 - f and y becomes 1 - y."""
    rows = ScoreTable.from_rows(
        np.tile(1.0 - table.score, 2),
        np.repeat([True, False], table.distinct),
        Weighing(counts=np.concatenate((table.rows - table.positive_rows, table.positive_rows))),
    )
    return grid_of(rows) if table.kind == "grid" else rows


def wide(count: int) -> Bins:
    """Equal-width bins."""
    return Bins(Binning.EQUAL_WIDTH, equal_width_edges(count))


TEN, FIFTEEN = wide(10), wide(15)
