"""Compare the scores of new rows, and any other columns, with those of old ones; no label is needed."""

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np

from calibcli.commands.cutting import rows_again
from calibcli.commands.gathering import RAW, Gathered
from calibcli.commands.reading import read_rows, rounding_notes
from calibcli.commands.scale_checks import unfitted_notes
from calibcli.data.columns import alike_notes
from calibcli.data.files import same_file, shown_path
from calibcli.data.tally import NOTHING, TWICE, GatherRequest
from calibcli.errors import IdleOption, UsageProblem
from calibcli.names import MISSING, GroupOrder, Purpose, WeightMeaning
from calibcli.options.numerals import by_name, by_time, in_order
from calibcli.options.rows import Columns, RowRequest, RowsInMemory, RowSource
from calibcli.options.segmenting import DriftCutting, DriftOptions
from calibcli.reports.drift import Compared, DriftColumn, DriftLevel, DriftReport
from calibcli.show.words import share, step_words
from calibcli.stats.bounds import holm
from calibcli.stats.measures.drift import Chance, Shift, shift_of
from calibcli.stats.numerics import Floats, stream
from calibcli.stats.table.grid import GridTable, Table, cell_and_edge, upper_edge
from calibcli.stats.table.levels import LEAST_ROWS_EACH, OTHER, Levels, Mixed, RunningValues
from calibcli.values import replace

# Scores of so few different values are grades, compared one by one.
_MOST_GRADES = 50
_QUANTILES = 10


def drift_files(rows: RowRequest, options: DriftOptions) -> DriftReport:
    """Say whether the score, and further columns, have shifted; of one input by groups of its rows."""
    columns = rows.columns
    _refuse_idle(columns, options)
    kinds = options.cut.kinds(columns.on)
    if len(rows.inputs) == 1:
        return _by_group(rows, options)
    old, new = rows.inputs
    _refuse_pair(old, new, rows)
    before = _read(rows, old, options)
    score = before.resolved.score
    if not (isinstance(new, RowsInMemory) and new.nameless):
        # As of several files of one input: the column that was found in the first is that of the other.
        columns = replace(columns, score=score)
        rows = replace(rows, columns=columns)
    after = _read(rows, new, options)
    tables = before.table, after.table
    first, second = _scores(score, tables)
    values = [(first, second)]
    values += [(before.extras.values[k], after.extras.values[k]) for k in range(len(columns.on))]
    cut = zip(
        (_few(tables, values[0], options), *kinds),
        (_MOST_GRADES, *len(kinds) * [options.cut.most_values]),
        strict=True,
    )
    shifts = _shifts(values, cut, options)
    listed = _columns(shifts, options)
    if options.sort is not None:
        scores = [np.zeros(len(one.levels)) for one in listed[1:]]
        if options.sort is GroupOrder.SCORE:
            scores = _mean_scores((before, after), [one.levels for one in shifts[1:]])
        further = zip(listed[1:], scores, strict=True)
        listed = (listed[0], *(_sorted(one, options.sort, mean) for one, mean in further))
    return DriftReport(
        before.input,
        after.input,
        options.confidence,
        listed,
        options.seed,
        (
            *_shared_notes(before.table, after.table),
            *_crowded_notes(tables, first, options),
            *_empty_notes(listed),
            *_other_notes(listed[1:]),
            *rounding_notes(*(one.resolution for one in tables)),
        ),
        max_psi=options.max_psi,
    )


def _refuse_idle(columns: Columns, options: DriftOptions) -> None:
    if columns.weight is not None and columns.weights_are is not WeightMeaning.FREQUENCY:
        msg = "tests of shifts need counts of rows, and importance weights are not counts"
        raise UsageProblem(msg, "pass --weights-are frequency for repeated rows, or leave out --weight")
    said = {
        "sort": (options.sort is not None, "orders the values"),
        "max-values": (options.cut.most_values != DriftCutting().most_values, "is"),
    }
    for option, (is_said, does) in said.items():
        if is_said and not columns.on:
            msg = f"--{option} {does} of further columns, and --on names none"
            raise IdleOption(msg, f"name them with --on, or leave out --{option}", options=(option,))


def _refuse_pair(old: RowSource, new: RowSource, rows: RowRequest) -> None:
    """Refuse two inputs that cannot be compared."""
    if rows.columns.by:
        msg = "--by compares the groups of one file, and two are named"
        raise UsageProblem(msg, "leave out NEW, or --by")
    if old == "-" and new == "-":
        msg = "old and new rows are both standard input"
        raise UsageProblem(msg, "write one of them to a file first")
    if isinstance(old, str) and isinstance(new, str) and same_file(old, new):
        msg = f"{shown_path(new)} would be compared with itself"
        raise UsageProblem(msg, "name the new rows second, or one file and --by COL")


def _by_group(rows: RowRequest, requested: DriftOptions) -> DriftReport:
    """Compare the scores of each group with those of the first, such as those of each month."""
    columns = rows.columns
    if len(columns.by) != 1 or columns.on:
        if columns.on:
            msg = "--on with one file: further columns are compared between two"
            raise UsageProblem(msg, "leave out --on, or name the new rows as well")
        msg = "nothing to compare with: one file, and no column that makes groups"
        if columns.by:
            msg = f"--by names {len(columns.by)} columns, and the groups of one are compared"
        raise UsageProblem(msg, "name the new rows, or one column such as --by month")
    found = _read(rows, rows.inputs[0], requested)
    tables = {name: table for (name,), table in found.extras.slices[RAW].tables().items()}
    if len(tables) < 2:
        msg = f"every row has one value of {columns.by[0]!r}"
        raise UsageProblem(msg, "name another column with --by, or a second file")
    by, names = found.resolved.by[0], in_order(list(tables))
    scores = _scores(found.resolved.score, [tables[name] for name in names])
    values = dict(zip(names, scores, strict=True))
    base, *others = names
    cut = len(others) * [(_few(tables.values(), values.values(), requested), _MOST_GRADES)]
    shifts = _shifts([(values[base], values[name]) for name in others], cut, requested)
    shifted = _columns(shifts, requested)
    listed = tuple(replace(one, name=name) for name, one in zip(others, shifted, strict=True))
    rounded = rounding_notes(*(one.resolution for one in tables.values()))
    shared = _shared_notes(tables[base], tables[others[0]])
    crowded = _crowded_notes(tables.values(), values[base], requested)
    notes = (*shared, *crowded, *_empty_notes(listed), *alike_notes(by, names), *rounded)
    return DriftReport(
        found.input,
        found.input,
        requested.confidence,
        listed,
        requested.seed,
        notes,
        Compared(by, base),
        requested.max_psi,
    )


def _few(tables: Iterable[Table], scores: Iterable[RunningValues], requested: DriftOptions) -> bool:
    """Whether scores are grades: of so few different values, with two rows each on average, that each is a
    level, and no cells of more. Where hardly a value comes twice, levels of one row would tell nothing apart.
    """
    tables = list(tables)
    if any(isinstance(one, GridTable) for one in tables):
        return False
    distinct = np.unique(np.concatenate([one.numbers()[0] for one in scores])).size
    few = distinct <= min(_MOST_GRADES, sum(one.total_rows for one in tables) // LEAST_ROWS_EACH)
    return requested.bins is None and few


def _shifts(
    pairs: Sequence[tuple[RunningValues, RunningValues]],
    cut: Iterable[tuple[bool | None, int]],
    requested: DriftOptions,
) -> list[Shift]:
    """Compare old values with new ones, each pair cut into categories or not, and at most so many."""
    chance = Chance(lambda: stream(requested.seed, Purpose.DRIFT))
    error = (1.0 - requested.confidence) / len(pairs)
    intervals = requested.bins or _QUANTILES
    return [
        shift_of(*pair, most=most, categorical=categorical, intervals=intervals, error=error, chance=chance)
        for pair, (categorical, most) in zip(pairs, cut, strict=True)
    ]


def _columns(shifts: Sequence[Shift], requested: DriftOptions) -> tuple[DriftColumn, ...]:
    joint = holm([one.p_value for one in shifts])
    return tuple(
        _column(one, p or 0.0, confidence=requested.confidence) for one, p in zip(shifts, joint, strict=True)
    )


def _read(rows: RowRequest, source: RowSource, requested: DriftOptions) -> Gathered:
    extras = GatherRequest(sliced=(RAW,)) if rows.columns.by else NOTHING
    extras = TWICE if requested.sort is GroupOrder.SCORE else extras
    read = read_rows(replace(rows, inputs=[source], columns=replace(rows.columns, labelled=False)), extras)
    # Said of each file: the scale holds for both, and one of them may have another.
    return replace(read, input=replace(read.input, notes=(*read.input.notes, *unfitted_notes(read))))


def _sorted(column: DriftColumn, order: GroupOrder, scores: Floats) -> DriftColumn:
    """Return a column with its values in an order, as by the mean score of each; intervals of numbers keep
    theirs, and by score all other values come last.
    """
    if column.kind != "values":
        return column
    match order:
        case GroupOrder.WORST:
            levels = sorted(column.levels, key=lambda one: -one.psi)
        case GroupOrder.ROWS:
            levels = sorted(column.levels, key=lambda one: -one.old - one.new)
        case GroupOrder.SCORE:
            means = zip(column.levels, scores.tolist(), strict=True)
            levels = [one for one, _ in sorted(means, key=lambda each: (each[0].name == OTHER, each[1]))]
        case _:
            put = by_time if order is GroupOrder.TIME else by_name
            places = {name: place for place, name in enumerate(put([one.name for one in column.levels]))}
            levels = sorted(column.levels, key=lambda one: places[one.name])
    return replace(column, levels=tuple(levels))


def _mean_scores(read: Iterable[Gathered], columns: Sequence[Levels]) -> list[Floats]:
    """Return the mean score of each level of every column, of old and new rows together."""
    sums = [np.zeros((2, len(one.words))) for one in columns]
    for rows in chain.from_iterable(rows_again(one).in_turn() for one in read):
        counts = rows.weighing.times(rows.score.size)
        for levels, values, found in zip(columns, rows.on, sums, strict=True):
            place = levels.places(values)
            found[0] += np.bincount(place, rows.score * counts, found.shape[1])
            found[1] += np.bincount(place, counts, found.shape[1])
    return [np.divide(total, many, out=np.full(total.size, np.inf), where=many > 0) for total, many in sums]


def _scores(name: str, tables: Sequence[Table]) -> list[RunningValues]:
    """Return the scores of some tables as values of a column.

    If one is kept in cells all are, by the edges of these: by the means in them, scores would have shifted by
    rounding alone.
    """
    in_cells = any(isinstance(one, GridTable) for one in tables)
    found = []
    for table in tables:
        values, score = RunningValues(name, every=True), table.score
        if in_cells:
            score = upper_edge(table.code) if isinstance(table, GridTable) else cell_and_edge(score)[1]
        values.add_rows(Mixed(score), table.rows)
        found.append(values)
    return found


def _column(shift: Shift, joint: float, *, confidence: float) -> DriftColumn:
    old, new = int(shift.old.sum()), int(shift.new.sum())
    rows, parts = np.stack((shift.old, shift.new), axis=1).tolist(), shift.parts.tolist()
    levels, names = shift.levels, shift.levels.names or shift.levels.words
    return DriftColumn(
        levels.name,
        "quantiles" if levels.ends else "values",
        shift.psi,
        shift.by_chance,
        shift.p_value,
        joint,
        joint <= 1.0 - confidence,
        shift.method,
        tuple(
            DriftLevel(words, one, other, one / old, other / new, part, name)
            for words, name, (one, other), part in zip(levels.words, names, rows, parts, strict=True)
        ),
        at_most=shift.drawn,
    )


def _other_notes(columns: Iterable[DriftColumn]) -> list[str]:
    """Say of which columns values differ in capitals alone, or most rows are one level, as of numbers that
    text holds.
    """
    notes: list[str] = []
    for one in columns:
        levels = {level.name: level for level in one.levels}
        notes += alike_notes(one.name, levels)
        rest, rows = levels.get(OTHER), sum(level.old + level.new for level in one.levels)
        if rest is not None and 2 * (counted := rest.old + rest.new) > rows:
            few = len(levels.keys() - {OTHER, MISSING})
            all_but = f"all but the {few} most frequent values, {share(counted, rows)} of the rows"
            asked = "a shift among these is not seen; are they numbers written as text, such as 1,234.5?"
            notes.append(f"{one.name} = {OTHER} is {all_but}: {asked}")
    return notes


# Scores of files of so many rows, nine in ten of which differ within each, are not alike by half by chance.
_FEWEST_ROWS, _DISTINCT, _SHARED = 100, 0.9, 0.5


def _shared_notes(old: Table, new: Table) -> tuple[str, ...]:
    """Say that the same rows seem to be among the old ones and the new, which then are not independent."""
    for one in (old, new):
        if one.kind != "exact" or one.distinct < max(_FEWEST_ROWS, _DISTINCT * one.total_rows):
            return ()
    shared = np.intersect1d(old.score, new.score, assume_unique=True).size
    enough = shared >= _SHARED * min(old.distinct, new.distinct)
    return (_SHARED_WORDS.format(shared, old.distinct),) if enough else ()


_SHARED_WORDS = (
    "{:,} of {:,} old scores are among the new ones, to the last digit: are rows, or persons, in both? "
    "What is called chance holds for independent rows"
)


def _crowded_notes(tables: Iterable[Table], old: RunningValues, requested: DriftOptions) -> tuple[str, ...]:
    """Say where a cell of the grid holds more old rows than an interval is to: no cut tells them apart.

    Only 0 and 1 have cells of their own; whether the scores of another are one is not known.
    """
    step = max(one.resolution for one in tables)
    if not step:
        return ()
    edge, rows = old.numbers()
    most, every = int(rows[(edge > 0.0) & (edge < 1.0)].max(initial=0)), int(rows.sum())
    if most * (requested.bins or _QUANTILES) <= every:
        return ()
    many = f"{share(most, every)} of the old scores lie within {step_words(step)} of each other"
    return (f"{many}: a shift among them, unless they are one score, is not seen; --exact shows it",)


def _empty_notes(columns: tuple[DriftColumn, ...]) -> list[str]:
    notes = []
    for one in columns:
        empty = [level.where for level in one.levels if level.one_sided]
        if empty:
            many = f"{len(empty):,} levels are" if len(empty) > 1 else f"{empty[0]} is"
            half = "empty on one side, and counted as half a row there; PSI would be infinite"
            notes.append(f"{one.name}: {many} {half}")
    return notes
