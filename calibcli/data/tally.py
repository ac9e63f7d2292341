"""A fragment to the sums of its rows, which is what an engine runs for every fragment.

Beside a table for each score stand differences between scores, slices, clusters, folds and tables of classes.
"""

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from enum import Enum
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from calibcli.ahead import made_ahead
from calibcli.data.columns import ResolvedColumns
from calibcli.data.faults import Findings, GivenSums, ScoreSums
from calibcli.data.fragments import Piece, batches_of
from calibcli.data.groups import OfMembers, OfSegments
from calibcli.data.intake import Intake, Rows
from calibcli.data.readers import Fragment, reader_of
from calibcli.data.row_ids import Fingerprints
from calibcli.errors import CalibcliError, InputProblem, UsageProblem
from calibcli.names import MOST_IDENTITIES, OF_DISTRIBUTIONS, MeasureName, Purpose, WeightMeaning
from calibcli.stats.numerics import stream
from calibcli.stats.table import Booleans, Floats, Integers
from calibcli.stats.table.grid import GridAccumulator
from calibcli.stats.table.running import Partial, RunningTable
from calibcli.values import dataclass, field, replace

if TYPE_CHECKING:
    from calibcli.data.class_intake import ClassRows
    from calibcli.stats.measures.classes.differences import ClassDifferences, Predicted
    from calibcli.stats.measures.clustered import ClusterSums
    from calibcli.stats.measures.differences import PairedSums
    from calibcli.stats.table.bins import Bins
    from calibcli.stats.table.classes import ClassSums, RunningClasses
    from calibcli.stats.table.grid import Table
    from calibcli.stats.table.levels import RunningValues
    from calibcli.stats.table.sliced import RunningSlices

# More groups than these are refused, unless little is worked out of each.
MOST_SLICES = 1_000
# Where little is worked out of each, so many may be.
MOST_BRIEF_SLICES = 100_000


Transform = Callable[[Floats], Floats]


@dataclass(frozen=True, slots=True)
class AtPlaces:
    """A transform that looks at where a row stands in its file too, counted from 0."""

    change: Callable[[Floats, Integers], Floats]


class Unchanged(Enum):
    """Rows of several classes as they were before a map: in the view asked for, or by their confidence."""

    VIEW = "view"
    CONFIDENCE = "confidence"


RowMap = Transform | AtPlaces | OfMembers | OfSegments

Change = RowMap | Unchanged

Transforms = Mapping[str, Change | None]


@dataclass(frozen=True, slots=True)
class GatherRequest:
    """What is gathered: a table of the first score column for each transform, and what beside it.

    Args:
        transforms: For each key the map that scores go through before they are counted; None for none.
        columns: For keys whose transform is not given the first score column, the place of the one it is.
        where: For keys that count only rows with a score in another column too, the place of that column.
        pairs: Pairs of keys whose losses are compared row by row.
        ranked: Areas of ranks by which they are compared too, in a second pass over the rows.
        folds: Folds that groups are shared out to by their hash, or rows at random where there are no groups,
            each with a table of raw scores; 0 for none.
        sliced: Keys whose rows are tabled for each part by itself as well.
        clustered: Keys whose losses are added up by cluster.
        classes: Whether each of several classes is tabled by itself as well.
        class_measures: With them, measures of all together that are requested: other losses are not added up.
        top: With them, how many of the largest probabilities are looked at together, and how each is cut.
        by_id: Key whose rows are kept one by one, each with its identity; None for none.
        compared: Whether rows of several classes are compared with what they were before their map.
        one_class: The one class that is compared, or None for all.
        thresholds: Where rows that only one score of a pair reaches are counted.
        part: Whether these rows are a part of more, so that the label that counts as 1 need not occur.
        most_slices: How many parts there may be.
        twice: Whether the rows may be read again.
    """

    transforms: Transforms = field(default_factory=lambda: {"raw": None})
    columns: Mapping[str, int] = field(default_factory=dict)
    where: Mapping[str, int] = field(default_factory=dict)
    pairs: tuple[tuple[str, str], ...] = ()
    ranked: tuple[MeasureName, ...] = ()
    folds: int = 0
    seed: int = 0
    sliced: tuple[str, ...] = ()
    clustered: tuple[str, ...] = ()
    classes: bool = False
    class_measures: tuple[str, ...] = ()
    top: "tuple[int, Bins] | None" = None
    by_id: str | None = None
    compared: bool = False
    one_class: str | None = None
    thresholds: tuple[float, ...] = ()
    part: bool = False
    most_slices: int = MOST_SLICES
    twice: bool = False

    @property
    def fold_keys(self) -> tuple[str, ...]:
        return tuple(f"fold {place}" for place in range(self.folds))


NOTHING, TWICE = GatherRequest(), GatherRequest(twice=True)


@dataclass(slots=True, eq=False)
class Extras:
    """What is gathered beside the tables of the transforms, under construction.

    Args:
        paired: Differences between two scores, for each pair.
        slices: For each sliced key its tables by part.
        folded: Where rows are shared out to folds, raw scores by part and fold.
        clusters: For each clustered key its sums by cluster.
        values: Those of each column that makes segments, by the place of the column.
    """

    request: GatherRequest = NOTHING
    paired: "tuple[PairedSums, ...]" = ()
    slices: "Mapping[str, RunningSlices]" = field(default_factory=dict)
    folded: "RunningSlices | None" = None
    clusters: "Mapping[str, ClusterSums]" = field(default_factory=dict)
    classes: "ClassExtras | None" = None
    by_id: "RowsById | None" = None
    compared: "ClassesCompared | None" = None
    values: "dict[int, RunningValues]" = field(default_factory=dict)

    @classmethod
    def start(cls, request: GatherRequest, *, limit: int | None, classes: tuple[str, ...] = ()) -> "Extras":
        """Return nothing yet of what is wanted; the slices of all keys share the limit."""
        extras = cls(request)
        if request.sliced:
            from calibcli.stats.table.sliced import RunningSlices

            share = None if limit is None else max(1, limit // len(request.sliced))
            extras.slices = {key: RunningSlices(share) for key in request.sliced}
            extras.folded = RunningSlices(share) if request.folds else None
        if request.pairs:
            from calibcli.stats.measures.differences import PairedSums

            extras.paired = tuple(PairedSums(thresholds=request.thresholds) for _ in request.pairs)
        if request.clustered:
            from calibcli.stats.measures.clustered import ClusterSums

            extras.clusters = {key: ClusterSums() for key in request.clustered}
        if request.classes:
            extras.classes = ClassExtras.start(
                classes, limit=limit, measures=request.class_measures, top=request.top
            )
        if request.by_id is not None:
            extras.by_id = RowsById()
        if request.compared:
            extras.compared = ClassesCompared.start(classes, one_class=request.one_class, limit=limit)
        return extras

    def add(self, rows: Rows, seen: Mapping[str, Floats], resolved: ResolvedColumns) -> None:
        for (one, two), paired in zip(self.request.pairs, self.paired, strict=True):
            first, second, own = seen[one], seen[two], rows
            if rows.gaps:
                both = np.flatnonzero(~np.isnan(first + second))
                first, second, own = first[both], second[both], rows.kept(both)
            paired.add(first, second, own.label, own.weighing)
        if rows.parts is not None:
            names, code, weighing = rows.parts.names, rows.parts.code, rows.weighing
            for key, slices in self.slices.items():
                slices.add_rows(seen[key], rows.label, names=names, code=code, weighing=weighing)
                self._refuse_many(slices, resolved)
        for key, clusters in self.clusters.items():
            _add_clusters(clusters, rows, seen[key])
        if self.classes is not None:
            self.classes.add(rows)
        if self.by_id is not None and self.request.by_id is not None:
            self.by_id.add(rows, seen[self.request.by_id])
        if self.compared is not None:
            self.compared.add(rows)
        for place, values in enumerate(rows.on):
            self._values(place, resolved.on[place]).add_rows(values, rows.counts)

    def add_folds(self, rows: Rows, fold: Integers) -> None:
        if self.folded is None or rows.parts is None:
            return
        count = self.request.folds
        names = [(*name, str(place)) for name in rows.parts.names for place in range(count)]
        code = rows.parts.code * count + fold
        self.folded.add_rows(rows.score, rows.label, names=names, code=code, weighing=rows.weighing)

    def _values(self, place: int, name: str) -> "RunningValues":
        from calibcli.stats.table.levels import RunningValues

        return self.values.setdefault(place, RunningValues(name))

    def merge(self, later: "Extras", resolved: ResolvedColumns) -> None:
        for mine, theirs in zip(self.paired, later.paired, strict=True):
            mine.merge(theirs)
        for key, clusters in self.clusters.items():
            clusters.add(later.clusters[key])
        for key, slices in self.slices.items():
            slices.add(later.slices[key])
            self._refuse_many(slices, resolved)
        if self.folded is not None and later.folded is not None:
            self.folded.add(later.folded)
        if self.classes is not None and later.classes is not None:
            self.classes.merge(later.classes)
        if self.by_id is not None and later.by_id is not None:
            self.by_id.merge(later.by_id)
        if self.compared is not None and later.compared is not None:
            self.compared.merge(later.compared)
        for place, values in later.values.items():
            self._values(place, values.name).add(values)

    def _refuse_many(self, slices: "RunningSlices", resolved: ResolvedColumns) -> None:
        many, most = len(slices.registry), self.request.most_slices
        if many > most:
            msg = f"--by {' --by '.join(resolved.by)} makes over {most:,} groups ({many:,} so far)"
            hint = "name columns of fewer different values, such as the day of a time; --cluster is for ids"
            if most == MOST_SLICES:
                hint += f"; `calibcli measure` and `verify` take up to {MOST_BRIEF_SLICES:,} groups"
            raise InputProblem(msg, hint)


def _add_clusters(clusters: "ClusterSums", rows: Rows, score: Floats) -> None:
    """Add rows to the sums of their clusters, apart for each part of the rows."""
    if rows.cluster is None:
        return
    weight = rows.weight if rows.counts is None else rows.counts
    parts: dict[str, Any] = {} if rows.parts is None else {"names": rows.parts.names, "code": rows.parts.code}
    clusters.add_rows(rows.cluster, score, rows.label, weight=weight, **parts)


@dataclass(slots=True)
class RowsById:
    """Rows with their identities, in order: those of each batch read."""

    batches: list[Rows] = field(default_factory=list)
    size: int = 0

    def add(self, rows: Rows, score: Floats) -> None:
        if rows.identity is not None:
            counts = np.ones(score.size, np.int64) if rows.counts is None else rows.counts
            own = Rows(score, rows.label, counts, parts=rows.parts, cluster=rows.cluster)
            self._grow([replace(own, classes=rows.classes, identity=rows.identity)])

    def merge(self, later: "RowsById") -> None:
        self._grow(later.batches)

    def columns(self) -> tuple[Fingerprints, Floats, Booleans, Integers]:
        """Return fingerprints, scores, labels and counts, each of shape (n,)."""
        no_rows = (np.zeros(0, np.uint64), np.zeros(0), np.zeros(0, np.bool_), np.zeros(0, np.int64))
        batches: Any = ((one.identity, one.score, one.label, one.counts) for one in self.batches)
        ids, score, label, counts = map(np.concatenate, zip(*batches, no_rows, strict=True))
        return ids, score, label, counts

    def by_part(self) -> dict[str, dict[str, np.ndarray]]:
        """Return the columns of each part of the rows by name, in order of its first row.

        Those are ids, score and label, and where there are some the probability of each class, the place of
        the right one, and the cluster.
        """
        found: dict[str, list[dict[str, np.ndarray]]] = {}
        named: dict[str, tuple[str, ...]] = {}
        for rows in self.batches:
            if rows.parts is None or rows.identity is None:
                continue
            columns: dict[str, np.ndarray] = {"ids": rows.identity, "score": rows.score, "label": rows.label}
            if rows.classes is not None:
                columns |= {"probability": rows.classes.probability, "place": rows.classes.label}
            if rows.cluster is not None:
                columns["cluster"] = rows.cluster
            for place, name in enumerate(rows.parts.names):
                own = np.flatnonzero(rows.parts.code == place)
                some = {key: one[own] for key, one in columns.items()}
                shown = "/".join(name)
                if named.setdefault(shown, name) != name:
                    both = f"{' with '.join(map(repr, named[shown]))}, and {' with '.join(map(repr, name))}"
                    msg = f"--by would call two models {shown!r}: {both}"
                    raise InputProblem(msg, "write one of their names without a slash")
                found.setdefault(shown, []).append(some)
        return {
            name: {key: np.concatenate([one[key] for one in some]) for key in some[0]}
            for name, some in found.items()
        }

    def _grow(self, batches: Sequence[Rows]) -> None:
        self.batches.extend(batches)
        self.size += sum(one.score.size for one in batches)
        if self.size > MOST_IDENTITIES:
            msg = f"--id keeps at most {MOST_IDENTITIES:,} identities, and there are more rows"
            whole = all(one.parts is None for one in self.batches)
            instead = "leave out --id: whole batches are known again by their digests"
            raise UsageProblem(msg, instead if whole else "choose some rows with --where or --sample")


# Without slots, so that tables are made once.
@dataclass(frozen=True)
class ClassExtras:
    """Tables of the views of several classes, under construction.

    Args:
        top: The confidence of the rows that predict each class.
        rest: The probability of each class in all rows, against the rest.
    """

    classes: tuple[str, ...]
    top: "RunningSlices"
    rest: "RunningClasses"
    sums: "ClassSums"

    @classmethod
    def start(
        cls,
        classes: tuple[str, ...],
        *,
        limit: int | None,
        measures: Collection[str],
        top: "tuple[int, Bins] | None" = None,
    ) -> Self:
        """Return nothing yet; each row has one score in the one view, and one for each class in the other."""
        from calibcli.stats.table.classes import ClassSums, RunningClasses, TopCells
        from calibcli.stats.table.sliced import RunningSlices

        if top is not None and top[0] > len(classes):
            msg = f"--top {top[0]}, and there are {len(classes)} classes"
            raise UsageProblem(msg, f"take at most {len(classes)}")
        sums = ClassSums(len(classes), None if top is None else TopCells(*top), measures)
        slices = RunningSlices(limit)
        slices.registry.places((name,) for name in classes)
        return cls(classes, slices, RunningClasses(classes, limit), sums)

    @cached_property
    def tables(self) -> "dict[str, Table]":
        """The table of each class against the rest, once all rows are in."""
        return self.rest.tables()

    def add(self, rows: Rows) -> None:
        if rows.classes is None:
            return
        seen = rows.classes
        # The registry has the classes in their order.
        self.top.add_numbered(seen.confidence, seen.correct, part=seen.predicted, weighing=rows.weighing)
        self.rest.add_rows(seen.probability, seen.label, rows.weighing)
        self.sums.add_rows(seen.probability, seen.label, seen.predicted, rows.weighing)

    def merge(self, later: Self) -> None:
        self.top.add(later.top)
        self.rest.add(later.rest)
        self.sums.merge(later.sums)


# Exact sums of one class take half a MiB, in every fragment that is read at once.
MOST_PAIRED = 20


@dataclass(frozen=True, slots=True)
class ClassesCompared:
    """Two sides of the same rows, growing; without views of every class where one alone is looked at."""

    sides: tuple[ClassExtras, ...]
    differences: "ClassDifferences"

    @classmethod
    def start(cls, classes: tuple[str, ...], *, one_class: str | None, limit: int | None) -> Self:
        from calibcli.stats.measures.classes.differences import ClassDifferences

        if one_class is not None:
            return cls((), ClassDifferences((classes.index(one_class),)))
        share = None if limit is None else max(1, limit // 2)
        places = tuple(range(len(classes))) if len(classes) <= MOST_PAIRED else ()
        sides = tuple(ClassExtras.start(classes, limit=share, measures=OF_DISTRIBUTIONS) for _ in range(2))
        return cls(sides, ClassDifferences(places))

    def add(self, rows: Rows) -> None:
        if rows.before is None:
            return
        whole, given, changed = rows.before.confidence, rows.before.given, rows.before.changed
        for side, seen in zip(self.sides, (given, changed), strict=False):
            side.add(replace(whole, classes=seen))
        self.differences.add_rows(_predicted(given), _predicted(changed), given.label, whole.weighing)

    def merge(self, later: Self) -> None:
        for mine, theirs in zip(self.sides, later.sides, strict=True):
            mine.merge(theirs)
        self.differences.merge(later.differences)


def _predicted(rows: "ClassRows") -> "Predicted":
    from calibcli.stats.measures.classes.differences import Predicted

    return Predicted(rows.probability, rows.predicted)


@dataclass(slots=True)
class Signals:
    """What running tallies may learn from outside; it changes how they work and never what they find.

    Args:
        grids: Keys whose table is known to become a grid, so that it may as well start as one.
        stopped: Whether nobody waits for the result any more.
    """

    grids: set[str] = field(default_factory=set)
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class Tally:
    """The rows of one fragment.

    Args:
        tables: A table for each key; empty ones where the rows are refused.
        extras: What else was asked for; None where it comes with a later fragment.
    """

    tables: Mapping[str, Partial]
    findings: Findings
    extras: Extras | None = None


@dataclass(frozen=True, slots=True)
class TallyWork:
    """The work on one fragment, the same for all: called by an engine with each of them.

    Args:
        onto: Tables that rows are added to as they come, for fragments taken one by one; None for tables
            of each fragment's own.
        by_file: Whether it is looked at where the scores of each file lie.
    """

    limit: int | None
    signals: Signals
    onto: Mapping[str, RunningTable] | None = None
    gather_request: GatherRequest = NOTHING
    by_file: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        return (*self.gather_request.transforms, *self.gather_request.fold_keys)

    def __call__(self, piece: Piece) -> Tally | CalibcliError:
        """Tally a fragment; a problem is returned, not raised: every engine carries a value unharmed."""
        (found,) = self.each([piece])
        return found

    def each(self, pieces: Iterable[Piece]) -> Iterator[Tally | CalibcliError]:
        """Tally fragments in their order up to the first problem, while rows of the next are read already."""
        try:
            with closing(taken(pieces)) as read:
                for piece, intake, batches in read:
                    yield self._tally(piece, intake, batches)
                    if self.signals.stopped:
                        return
        except CalibcliError as problem:
            yield problem

    def tables(self) -> dict[str, RunningTable]:
        """Return empty tables, those that are known to become grids as such."""
        tables = {key: RunningTable(self.limit) for key in self.keys}
        for key in self.signals.grids & tables.keys():
            tables[key].become_grid()
        return tables

    def _tally(self, piece: Piece, intake: Intake, batches: Iterator[Rows | None]) -> Tally:
        resolved = piece.columns
        tables, gather_request = self.tables() if self.onto is None else dict(self.onto), self.gather_request
        extras = Extras.start(gather_request, limit=self.limit, classes=resolved.classes)
        folds_of = _folding(gather_request, piece.fragment)
        for rows in batches:
            if self.signals.stopped:
                break
            if rows is not None:
                seen = {
                    key: _add(
                        tables[key],
                        rows.seen(gather_request.columns.get(key, 0), where=gather_request.where.get(key)),
                        change,
                    )
                    for key, change in gather_request.transforms.items()
                }
                extras.add(rows, seen, resolved)
                if self.by_file:
                    _note_scores(intake.findings, rows)
                if folds_of is not None:
                    fold = folds_of(rows)
                    extras.add_folds(rows, fold)
                    for place, key in enumerate(gather_request.fold_keys):
                        _add(tables[key], rows.kept(np.flatnonzero(fold == place)), None)
        if self.onto is not None:
            return Tally({}, intake.findings, extras)
        refused = intake.findings.refused
        return Tally(
            {key: RunningTable().partial() if refused else table.partial() for key, table in tables.items()},
            intake.findings,
            extras,
        )


def _folding(gather_request: GatherRequest, fragment: Fragment) -> Callable[[Rows], Integers] | None:
    """Return what gives the fold of each of the next rows of a fragment; None where there are no folds."""
    if not gather_request.folds:
        return None
    count, seed = gather_request.folds, gather_request.seed
    draws = stream(seed, Purpose.FOLDS, fragment.index)

    def folds_of(rows: Rows) -> Integers:
        if rows.group is not None:
            return rows.group.folds(count, seed=seed)
        return (draws.random(rows.label.size) * count).astype(np.int64)

    return folds_of


def _note_scores(findings: Findings, rows: Rows) -> None:
    """Note where scores lie that are those of one row each, and what rows give several classes."""
    if not (rows.counts is None and rows.weight is None and not rows.gaps and rows.label.size):
        return
    if rows.classes is not None:
        findings.note_classes(GivenSums.of(rows.classes.probability, rows.classes.label))
        return
    for place, score in enumerate((rows.score, *rows.others)):
        findings.note_scores(place, ScoreSums.of(score, rows.label))


def intake_of(resolved: ResolvedColumns, *, shown: str, first_row: int = 0) -> Intake:
    if resolved.probs is None:
        return Intake(resolved, shown=shown, first_row=first_row)
    from calibcli.data.class_intake import ClassIntake

    return ClassIntake(resolved, shown=shown, first_row=first_row)


# Batches decoded and checked before they are asked for: as many as last while those that wait are counted.
_AHEAD = 8

_END = object()


def taken(
    pieces: Iterable[Piece], most: int = _AHEAD
) -> Generator[tuple[Piece, Intake, Iterator[Rows | None]], None, None]:
    """Yield for each fragment its intake, and what that makes of its batches, to be used up before the next.

    Batches of most formats are decoded and checked ahead in a thread, at most so many, those of the next
    fragments as well, but not those of small files. What comes through a pipe may keep a reader waiting, and
    so is read where an interrupt is heard, as is CSV.
    """
    for ahead, some in groupby(pieces, _is_read_ahead):
        with closing(made_ahead(_read(some), most * ahead)) as coming:
            for piece, intake in coming:
                yield piece, intake, _up_to_end(coming)


def _is_read_ahead(piece: Piece) -> bool:
    fragment = piece.fragment
    return reader_of(fragment).ahead and not (fragment.streams or fragment.is_small)


def _read(pieces: Iterable[Piece]) -> Iterator[Any]:
    """Yield each fragment with its intake, then its rows, then how it ended."""
    for piece in pieces:
        fragment, resolved = piece.fragment, piece.columns
        intake = intake_of(resolved, shown=fragment.shown, first_row=fragment.first_row)
        yield piece, intake
        ended: object = _END
        try:
            batches = batches_of(fragment, resolved)
            yield from map(intake.rows_of, resolved.rows.first_of(batches, fragment.first_row))
        except CalibcliError as problem:
            ended = problem
        yield ended


def _up_to_end(coming: Iterator[Any]) -> Iterator[Rows | None]:
    for one in coming:
        if one is _END:
            return
        if isinstance(one, CalibcliError):
            raise one
        yield one


def _add(table: RunningTable, rows: Rows, change: Change | None) -> Floats:
    """Add rows to a table, and return the scores they were added with."""
    if isinstance(change, Unchanged):
        if rows.before is not None:
            rows = rows.before.view if change is Unchanged.VIEW else rows.before.confidence
        change = None
    score = changed(rows, change)
    own = replace(rows, score=score)
    if rows.gaps:
        own = own.kept(np.flatnonzero(~np.isnan(score)))
    table.add_rows(own.score, own.label, own.weighing)
    return score


def changed(rows: Rows, change: RowMap | None) -> Floats:
    if change is None:
        return rows.score
    if isinstance(change, OfMembers | OfSegments):
        return change.change(rows.score, rows.members)
    if isinstance(change, AtPlaces):
        return change.change(rows.score, rows.places.numbers(rows.score.size))
    return change(rows.score)


# At most so many tables travel, however many fragments there are.
MOST_BUNDLES = 512


@dataclass(frozen=True, slots=True)
class BundleWork:
    """The work on one bundle: called by an engine with the fragments of each."""

    work: TallyWork

    def __call__(self, bundle: Sequence[Piece]) -> list[Tally | CalibcliError]:
        """Tally the fragments in their order; what was counted of all comes with the last."""
        onto = self.work.tables()
        counted = replace(self.work, onto=onto)
        classes = bundle[0].columns.classes
        extras = Extras.start(self.work.gather_request, limit=self.work.limit, classes=classes)
        tallies = zip(counted.each(bundle), bundle, strict=False)
        results = [_merged(tally, extras, piece) for tally, piece in tallies]
        last = results[-1]
        if isinstance(last, Tally):
            tables = {key: _packed(table.partial()) for key, table in onto.items()}
            results[-1] = replace(last, tables=tables, extras=extras)
        return results


def bundles_of(pieces: Sequence[Piece], gather_request: GatherRequest) -> list[list[Piece]]:
    """Return the fragments in bundles; each by itself while they are few.

    Importance weights and the losses of clusters are added up as floating point numbers, whose sum depends
    on how they are grouped: such fragments stay by themselves, so that an engine changes no digit.
    """
    floating = any(piece.columns.weights_are is WeightMeaning.IMPORTANCE for piece in pieces[:1])
    size = 1 if floating or gather_request.clustered else max(1, -(-len(pieces) // MOST_BUNDLES))
    return [list(pieces[start : start + size]) for start in range(0, len(pieces), size)]


def _merged(result: Tally | CalibcliError, extras: Extras, piece: Piece) -> Tally | CalibcliError:
    """Add what a fragment gave beside its tables to that of those before it."""
    if isinstance(result, CalibcliError) or result.extras is None:
        return result
    try:
        extras.merge(result.extras, piece.columns)
    except CalibcliError as problem:
        return problem
    return replace(result, extras=None)


def _packed(table: Partial) -> Partial:
    """Return a grid by its occupied cells where that is less than all of its cells."""
    if not isinstance(table, GridAccumulator):
        return table
    occupied = table.table()
    every = sum(column.nbytes for column in table.sums())
    return occupied if 2 * sum(column.nbytes for column in occupied.columns) < every else table
