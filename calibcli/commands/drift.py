"""Compare the scores of new rows, and any other columns, with those of old ones; no label is needed."""

import numpy as np

from calibcli.commands.gathering import Gathered
from calibcli.commands.reading import read_rows
from calibcli.errors import UsageProblem
from calibcli.names import Purpose, WeightMeaning
from calibcli.options.rows import Columns, Reading, RowRequest
from calibcli.options.segmenting import DriftOptions
from calibcli.options.sources import RowSource
from calibcli.reports.drift import DriftColumn, DriftLevel, DriftReport
from calibcli.show.words import rounded_words
from calibcli.stats.measures.drift import Shift, shift_of
from calibcli.stats.measures.tests import holm
from calibcli.stats.numerics import stream
from calibcli.stats.table.grid import GridTable, Table, cell_and_edge, upper_edge
from calibcli.stats.table.levels import Mixed, RunningValues

# Scores of so few different values are grades, compared one by one.
_MOST_GRADES = 50
_QUANTILES = 10


def drift_files(
    old: RowSource,
    new: RowSource,
    columns: Columns,
    *,
    options: DriftOptions | None = None,
    reading: Reading | None = None,
) -> DriftReport:
    """Say whether the score, and further columns, have shifted."""
    requested, how = options or DriftOptions(), reading or Reading()
    if columns.weight is not None and columns.weights_are is not WeightMeaning.FREQUENCY:
        msg = "tests of shifts need counts of rows, and importance weights are not counts"
        raise UsageProblem(msg, "pass --weights-are frequency for repeated rows, or leave out --weight")
    if old == "-" and new == "-":
        msg = "old and new rows are both standard input"
        raise UsageProblem(msg, "write one of them to a file first")
    kinds = requested.cut.kinds(columns.on)
    before, after = _read(old, columns, how), _read(new, columns, how)
    score = before.resolved.score
    # If one file is kept in cells both are: else its scores would have shifted by rounding alone.
    tables = before.table, after.table
    in_cells = any(isinstance(one, GridTable) for one in tables)
    first, second = (_scores(score, one, in_cells=in_cells) for one in tables)
    values = [(first, second)]
    values += [(before.extras.values[k], after.extras.values[k]) for k in range(len(columns.on))]
    few = (
        requested.bins is None
        and len(set(values[0][0].numbers()[0]) | set(values[0][1].numbers()[0])) <= _MOST_GRADES
    )
    found = [
        shift_of(
            *pair,
            most=requested.cut.most_values if place else _MOST_GRADES,
            categorical=kind,
            intervals=requested.bins or _QUANTILES,
            error=(1.0 - requested.confidence) / len(values),
            generator=stream(requested.seed, Purpose.DRIFT),
        )
        for place, (pair, kind) in enumerate(zip(values, (few, *kinds), strict=True))
    ]
    joint = holm([one.p_value for one in found])
    listed = tuple(
        _column(one, p or 0.0, confidence=requested.confidence) for one, p in zip(found, joint, strict=True)
    )
    return DriftReport(
        before.input,
        after.input,
        requested.confidence,
        listed,
        requested.seed,
        tuple(_notes(listed, before, after)),
    )


def _read(source: RowSource, columns: Columns, reading: Reading) -> Gathered:
    """Count the values of old or new rows."""
    return read_rows(RowRequest([source], columns, reading=reading), labelled=False)


def _scores(name: str, table: Table, *, in_cells: bool) -> RunningValues:
    """Return the scores as values of a column, or the cells of a grid that they are in."""
    found, score = RunningValues(name), table.score
    if in_cells:
        score = upper_edge(table.code) if isinstance(table, GridTable) else cell_and_edge(score)[1]
    found.add_rows(Mixed(score), table.rows)
    return found


def _column(shift: Shift, joint: float, *, confidence: float) -> DriftColumn:
    old, new = int(shift.old.sum()), int(shift.new.sum())
    rows = np.stack((shift.old, shift.new), axis=1).tolist()
    return DriftColumn(
        shift.levels.name,
        "quantiles" if shift.levels.ends else "values",
        shift.psi,
        shift.by_chance,
        shift.p_value,
        joint,
        joint <= 1.0 - confidence,
        shift.method,
        tuple(
            DriftLevel(words, one, other, one / old, other / new, part)
            for words, (one, other), part in zip(shift.levels.words, rows, shift.parts.tolist(), strict=True)
        ),
    )


def _notes(columns: tuple[DriftColumn, ...], old: Gathered, new: Gathered) -> list[str]:
    """Return what the reader should not miss."""
    notes = []
    for one in columns:
        empty = [level.where for level in one.levels if level.one_sided]
        if empty:
            many = f"{len(empty):,} levels are" if len(empty) > 1 else f"{empty[0]} is"
            half = "empty in one file, and counted as half a row there; PSI would be infinite"
            notes.append(f"{one.name}: {many} {half}")
    if "grid" in (old.table.kind, new.table.kind):
        notes.append(rounded_words("1.4e-6"))
    return notes
