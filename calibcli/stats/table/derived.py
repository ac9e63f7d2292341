"""Tables made from a table: drawn from it, or with every distinct score moved."""

import numpy as np

from calibcli.errors import InputProblem, UsageProblem
from calibcli.options.numerals import plural
from calibcli.stats.table import Floats, Integers, ScoreTable, Weighing, grouped
from calibcli.stats.table.grid import GridTable, Table

# The largest population numpy draws a multivariate hypergeometric sample from.
_MOST_ROWS = 999_999_999


def split_table(table: Table, parts: int, *, generator: np.random.Generator) -> list[ScoreTable]:
    """Share the rows out at random into disjoint parts whose sizes differ by at most one.

    Rows of one score and label are alike, so which of them go where is a multivariate hypergeometric draw.
    """
    if not isinstance(table, ScoreTable):
        msg = f"scores rounded to fit in memory ({table.distinct:,} cells) cannot be split at random"
        raise UsageProblem(msg, "pass --exact to keep every distinct score")
    if table.weighted:
        msg = "rows with importance weights cannot be split at random from their table"
        raise UsageProblem(msg, "use --split none")
    if table.total_rows > _MOST_ROWS:
        msg = f"{table.total_rows:,} rows are too many to split at random (at most {_MOST_ROWS:,})"
        raise InputProblem(msg, "fit on a sample of the rows, or use --split none")
    left = np.concatenate((table.rows - table.positive_rows, table.positive_rows))
    drawn = []
    for remaining in range(parts, 0, -1):
        size = -(-int(left.sum()) // remaining)
        counts = generator.multivariate_hypergeometric(left, size, method="marginals")
        left = left - counts
        drawn.append(_part(table, counts))
    return drawn


def draw_folds(table: Table, folds: int, *, generator: np.random.Generator) -> list[ScoreTable]:
    """Share the rows out at random into folds whose sizes differ by at most one."""
    if table.weighted:
        msg = "rows with importance weights cannot be shared out to folds from their table"
        raise UsageProblem(msg, "name a method, or the files that a summary was made from")
    rows = table.total_rows
    refuse_few(rows, folds)
    if rows > _MOST_ROWS:
        msg = f"{rows:,} rows are too many to share out at random (at most {_MOST_ROWS:,})"
        raise InputProblem(msg, "choose on a sample of the rows, or name a column with --group")
    exact = with_scores(table, table.score) if isinstance(table, GridTable) else table
    return split_table(exact, folds, generator=generator)


def refuse_few(rows: int, folds: int) -> None:
    if rows < folds:
        msg = f"{plural(rows, 'row')} cannot be shared out to {folds:,} folds"
        raise InputProblem(msg, "ask for fewer with --folds, or name a method")


def cells_as_scores(table: GridTable) -> ScoreTable:
    """Return the exact table of two scores a cell: the mean score of its rows with each label."""
    negative = table.rows - table.positive_rows
    score = np.concatenate((table.score_of_negative, table.score_of_positive))
    label = np.repeat([False, True], table.distinct)
    return ScoreTable.from_rows(
        score, label, Weighing(counts=np.concatenate((negative, table.positive_rows)))
    )


def _part(table: ScoreTable, counts: Integers) -> ScoreTable:
    negative, positive = counts[: table.distinct], counts[table.distinct :]
    rows = negative + positive
    kept = rows > 0
    return ScoreTable(table.score[kept], rows[kept], positive[kept])


def with_scores(table: Table, scores: Floats) -> ScoreTable:
    """Return the exact table of the rows under other scores, (n_distinct,), merging equal ones."""
    if not table.distinct:
        return ScoreTable.empty()
    weights = table.weights.columns if isinstance(table, ScoreTable) and table.weights else ()
    return grouped(np.asarray(scores, np.float64), (table.rows, table.positive_rows, *weights))
