"""Fit a map: of one score, of each group of rows, or of several classes."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

import numpy as np

from calibcli.commands.cutting import (
    cut_columns,
    outcome_notes,
    outcome_of_groups,
    rows_again,
    spelling_notes,
)
from calibcli.commands.gathering import RAW, Gathered, SecondPass, selection_notes
from calibcli.commands.reading import group_notes, read_tables, rounding_notes
from calibcli.commands.row_checks import odd_classes, read_notes, repeated_notes, weights_by_class
from calibcli.commands.scale_checks import sure_notes
from calibcli.data.engines import default_workers
from calibcli.data.faults import GivenSums
from calibcli.data.tally import TWICE, GatherRequest
from calibcli.documents.artifact import (
    Artifact,
    ClassArtifact,
    ClassFitRecord,
    FitRecord,
    GroupArtifact,
    SegmentArtifact,
    Shared,
    artifact_text,
)
from calibcli.errors import CalibcliError, IdleOption, InputProblem, TooManyCells, UsageProblem
from calibcli.names import (
    DEFAULT_FOLDS,
    DEFAULT_LEAST_CLASS_ROWS,
    Binning,
    ClassMethod,
    EngineName,
    FitLoss,
    FitMethod,
    OutputSum,
    Purpose,
    RecalibratorName,
    Split,
    WeightMeaning,
)
from calibcli.options.fitting import FitOptions, MapOptions
from calibcli.options.numerals import agreeing, plural
from calibcli.options.rows import Columns, Reading, RowRequest, RowsInMemory, as_one, bytes_of
from calibcli.options.segmenting import Cutting, FitCutting
from calibcli.reports.maps import ClassFitReport, FitReport, GroupFit
from calibcli.show.words import quoted, rounded_words
from calibcli.stats.measures.scores import brier, log_error, log_loss, mean_loss, squared_error
from calibcli.stats.numerics import ExactSum, stream
from calibcli.stats.recalibrators import Recalibrator, distinct_outputs, fit_recalibrator, recalibrator_class
from calibcli.stats.recalibrators.classes import (
    ClassFitOptions,
    ClassRecalibrator,
    ClassTables,
    class_recalibrator_class,
    least_of,
    require_several,
)
from calibcli.stats.recalibrators.classes.members import notes_of
from calibcli.stats.recalibrators.newton import logistic, logit
from calibcli.stats.recalibrators.segments import (
    DEFAULT_SEGMENT_FOLDS,
    MOST_INTERVALS,
    completed,
    fit_segments,
    levels_of_leaves,
)
from calibcli.stats.recalibrators.selection import (
    DEFAULT_CANDIDATES,
    NOTHING_CHANGED,
    FoldLosses,
    Selection,
    choose,
    too_few_for,
)
from calibcli.stats.table import Floats, Integers, ScoreTable, Weighing
from calibcli.stats.table.again import ClassBlock, ClassRowSource, Rows
from calibcli.stats.table.classes import log_loss_of
from calibcli.stats.table.derived import draw_folds, refuse_few, with_scores
from calibcli.stats.table.grid import GridTable, Table, digest_of_rows, grid_of, score_quantiles
from calibcli.stats.table.levels import Levels
from calibcli.stats.table.running import RunningTable
from calibcli.stats.table.sliced import Leaves
from calibcli.values import dataclass, field, fields, replace


def fit_map(
    rows: RowRequest, which: MapOptions, options: FitOptions, cutting: Cutting
) -> tuple[FitReport | ClassFitReport, str]:
    """Return what was found, and the artifact as canonical JSON: the same rows give the same bytes."""
    columns = rows.columns
    which.refuse_idle(columns)
    if which.method is FitMethod.SEGMENTS:
        return fit_segment_files(rows, cutting, options)
    _refuse_cutting(columns, cutting)
    if columns.several is not None:
        method = which.multiclass or ClassMethod.TEMPERATURE
        inner = inner_method(method, which.method)
        _refuse_idle_class_options(method, which, inner, options)
        of_classes = ClassFitOptions(
            inner,
            options,
            which.min_class_rows,
            which.output_sum,
            options.folds or 5,
            options.seed,
        )
        return fit_class_files(rows, method=method, options=of_classes)
    return fit_files(rows, which, options)


SHARED_UNCHANGED = (
    "over all rows the raw score is as good as any repair: groups without a map of their own keep it"
)


@dataclass(frozen=True, slots=True)
class Folds:
    """Parts of a cross-validation, none empty: drawn, or by a column whose equal values stay together."""

    tables: tuple[Table, ...]
    grouped_by: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """Chosen by cross-validation; `repair` is the best of those that change scores, if one was tried."""

    selection: Selection
    repair: RecalibratorName | None
    notes: tuple[str, ...]


def drawn_folds(table: Table, count: int, *, seed: int) -> Folds:
    """Draw folds from a table, never from the order of rows."""
    return Folds(tuple(draw_folds(table, count, generator=stream(seed, Purpose.FOLDS))))


def gathered_folds(tables: Sequence[Table], *, column: str | None, groups: int, rounded: bool) -> Folds:
    """Take folds that rows went to while they were read, by the hash of their group or at random."""
    requested = len(tables)
    if column is None:
        refuse_few(sum(table.total_rows for table in tables), requested)
    elif groups < requested:
        msg = f"column {column!r} has {plural(groups, 'group')}, fewer than the {requested:,} folds"
        hint = f"--folds {groups} asks for fewer" if groups > 1 else "group by a column with more values"
        raise InputProblem(msg, hint)
    some = tuple(
        grid_of(table) if rounded and isinstance(table, ScoreTable) else table
        for table in tables
        if table.total_rows and table.weight.sum() > 0.0
    )
    if len(some) < 2:
        what = "all rows" if column is None else f"all groups of column {column!r}"
        msg = f"{what} fall into one of the {requested:,} folds"
        raise InputProblem(msg, "try another --seed or another number of --folds")
    what = "row" if column is None else "group"
    left_out = f"{requested - len(some):,} of {requested:,} folds got no {what} and were left out"
    return Folds(some, column, (left_out,) if len(some) < requested else ())


def select(
    folds: Folds,
    candidates: Sequence[RecalibratorName],
    *,
    options: FitOptions,
    by: bool = False,
    shared: Recalibrator | None = None,
) -> Choice:
    """Compare methods by their loss on rows that their fit has not seen.

    Args:
        candidates: Methods that were named; without any the default ones for which there are rows enough.
        shared: What a group has without a map of its own, in place of raw scores.
    """
    requested = replace(options, folds=None)
    losses: dict[RecalibratorName, list[float]] = {
        name: [] for name in candidates or DEFAULT_CANDIDATES if name is not RecalibratorName.IDENTITY
    }
    few = {} if candidates else {name: too_few_for(name, folds.tables) for name in losses}
    reasons = {name: reason for name, reason in few.items() if reason is not None}
    for place, fold in enumerate(folds.tables):
        rest = _rest(folds.tables, place)
        for name in [name for name in losses if name not in reasons]:
            try:
                after = fit_recalibrator(name, rest, options=requested).predict(fold.score)
                # A rate of 0 or 1 is one that the next row may prove wrong, whatever these rows say.
                sure = not name.facts.logistic and bool(((after == 0.0) | (after == 1.0)).any())
                loss = _mean_loss(with_scores(fold, after), requested.loss)
                losses[name].append(math.inf if sure and requested.loss is FitLoss.LOG else loss)
            except CalibcliError as problem:
                reasons[name] = f"without fold {place + 1}: {problem.message}"
    before = [
        fold if shared is None else with_scores(fold, shared.predict(fold.score)) for fold in folds.tables
    ]
    found = FoldLosses(
        weight=np.array([float(fold.weight.sum()) for fold in folds.tables]),
        raw=np.array([_mean_loss(fold, options.loss) for fold in before]),
        of={name: reasons.get(name) or np.array(some) for name, some in losses.items()},
    )
    selection = Selection(options.loss, len(folds.tables), folds.grouped_by, options.seed, choose(found))
    repair: RecalibratorName | None = None
    if any(losses.size and np.isfinite(losses).all() for losses in found.fitted.values()):
        other = replace(selection, trials=choose(found, unchanged=False))
        unchanged = selection.chosen is RecalibratorName.IDENTITY
        repair = other.chosen if unchanged else selection.chosen
        if by and unchanged and recalibrator_class(repair).brackets:
            selection = other
    same = selection.chosen is RecalibratorName.IDENTITY
    note = SHARED_UNCHANGED if by else NOTHING_CHANGED
    return Choice(selection, repair, (*folds.notes, note) if same else folds.notes)


def _rest(tables: Sequence[Table], left_out: int) -> Table:
    running = RunningTable(None)
    for place, table in enumerate(tables):
        if place != left_out:
            running.add(table)
    rest = running.table()
    positive = float(rest.positive.sum())
    if positive <= 0.0 or positive >= float(rest.weight.sum()):
        msg = f"without fold {left_out + 1} of {len(tables):,} every label is {int(positive > 0.0)}"
        raise InputProblem(msg, "ask for fewer folds with --folds, or name a method")
    return rest


def _mean_loss(table: Table, loss: FitLoss) -> float:
    return (brier if loss is FitLoss.BRIER else log_loss)(table, confidence=None).value


_WITHOUT_NOISE = "The loss after is that of the curve; the noise that apply adds to each score raises it."


@dataclass(frozen=True, slots=True)
class _OneScore:
    """Fits to rows of one score.

    Args:
        asked: What was gathered of them: folds, where rows of one score and label are not alike.
        columns: As an artifact keeps them.
    """

    gathered: Gathered
    asked: GatherRequest
    columns: Columns
    which: MapOptions
    options: FitOptions

    @property
    def folds(self) -> int:
        return self.options.folds or DEFAULT_FOLDS

    @property
    def once(self) -> FitOptions:
        """The options of a single fit: folds are what auto compares methods by."""
        auto = self.which.of_one_score is FitMethod.AUTO
        return replace(self.options, folds=None) if auto else self.options

    def choice(self) -> Choice | None:
        """Return what auto chooses by all rows; None where a method was named."""
        if self.which.of_one_score is not FitMethod.AUTO:
            return None
        tables, keys, column = self.gathered.tables, self.asked.fold_keys, self.columns.group
        if column is None and not (tables[RAW].weighted and keys):
            folds = drawn_folds(tables[RAW], self.folds, seed=self.options.seed)
        else:
            rounded, groups = tables[RAW].kind == "grid", self.gathered.groups
            folds = gathered_folds(
                [tables[key] for key in keys], column=column, groups=groups, rounded=rounded
            )
        by = bool(self.gathered.resolved.by)
        return select(folds, self.which.candidate, options=self.options, by=by)

    def map_of(
        self,
        name: RecalibratorName,
        table: Table,
        notes: tuple[str, ...],
        *,
        choice: Choice | None = None,
        rows: Rows | None = None,
    ) -> Artifact:
        """Fit a method to a table; `rows` are those of the table once more."""
        recalibrator = fit_recalibrator(name, table, options=self.once, rows=rows)
        noise = (_WITHOUT_NOISE,) if recalibrator.drawn else ()
        record = FitRecord.of(
            recalibrator,
            table,
            options=self.once.used_by(name),
            losses=_mean_losses(table, recalibrator, self.options.loss),
            notes=(*notes, *noise, *(() if choice is None else choice.notes)),
            selection=None if choice is None else choice.selection,
        )
        columns = self.columns
        return Artifact(
            recalibrator,
            record,
            columns.read_as,
            columns.positive,
            score_map=_phrases(columns),
            columns=None if columns.fitted is None else (columns.fitted,),
        )

    def members(
        self, tables: Mapping[str, Table], choice: Choice | None, whole: Recalibrator
    ) -> tuple[dict[str, Artifact], dict[str, Shared]]:
        """Return the map of each group that is large enough, and why others share that of all rows."""
        members: dict[str, Artifact] = {}
        shared: dict[str, Shared] = {}
        parts: dict[str, list[Table]] = {key: [] for key in tables}
        if self.gathered.extras.folded is not None:
            for (key, _), part in self.gathered.extras.folded.tables().items():
                parts[key].append(part)
        for key, table in tables.items():
            reason = _too_small(table, self.which.min_group_rows)
            if reason is not None:
                shared[key] = Shared(table.total_rows, reason)
                continue
            notes = (*selection_notes(self.gathered.input), *rounding_notes(table.resolution))
            few = None
            if choice is not None and choice.repair is not None and not self.which.candidate:
                few = too_few_for(choice.repair, (table,))
            try:
                if choice is None:
                    name = RecalibratorName(self.which.of_one_score)
                    members[key] = self.map_of(name, table, notes)
                elif few is None:
                    members[key] = self._chosen(choice, table, notes, parts[key])
                elif (simpler := self._simpler(table, parts[key], whole)) is not None:
                    members[key] = self.map_of(simpler, table, notes)
                else:
                    shared[key] = Shared(table.total_rows, few)
            except InputProblem as problem:
                msg = f"group {key!r}: {problem.message}"
                raise InputProblem(msg, problem.hint) from problem
        return members, shared

    def _chosen(
        self, choice: Choice, table: Table, notes: tuple[str, ...], parts: Sequence[Table]
    ) -> Artifact:
        """Return the map that auto gives a group: the repair chosen by all rows, or none where as good.

        A group that cannot be cut into folds, and one of a map that brackets, gets the repair.
        """
        repair = choice.repair
        if repair is None:
            return self.map_of(RecalibratorName.IDENTITY, table, notes)
        own: Choice | None = None
        if not recalibrator_class(repair).brackets:
            with suppress(InputProblem, UsageProblem):
                own = select(self._folds_of(table, parts), (repair,), options=self.options)
        name = repair if own is None else own.selection.chosen
        return self.map_of(name, table, notes, choice=own)

    def _simpler(self, table: Table, parts: Sequence[Table], whole: Recalibrator) -> RecalibratorName | None:
        """Return what a group with too few rows for the repair of all can bear and needs beside their map."""
        if not whole.brackets:
            with suppress(InputProblem, UsageProblem):
                own = select(self._folds_of(table, parts), (), options=self.options, shared=whole)
                name = own.selection.chosen
                return None if name is RecalibratorName.IDENTITY else name
        return None

    def _folds_of(self, table: Table, parts: Sequence[Table]) -> Folds:
        """Return the folds of a group; rows with importance weights went to them while they were read."""
        if table.weighted:
            return gathered_folds(parts, column=None, groups=0, rounded=False)
        return drawn_folds(table, self.folds, seed=self.options.seed)


def fit_files(rows: RowRequest, which: MapOptions, options: FitOptions) -> tuple[FitReport, str]:
    """Fit a recalibrator to all rows, and one to each group where a column of groups is named."""
    columns = rows.columns
    _refuse_idle(columns, which, options)
    grouped = bool(columns.by)
    if grouped:
        _refuse_misled(columns, options)
    if _needs_exact(which, options):
        rows = replace(rows, reading=replace(rows.reading, exact=True))
    asked = _gather_request(columns, options, auto=which.of_one_score is FitMethod.AUTO)
    gathered = read_tables(rows, replace(asked, sliced=(RAW,)) if grouped else asked)
    stood_in = _columns_in(gathered, rows)
    # What was said of the columns stands in a summary, where one is read in place of files.
    columns = replace(gathered.resolved.requested, by=(), fitted=None if stood_in is None else stood_in[0])
    fit = _OneScore(gathered, asked, columns, which, options)
    choice = fit.choice()
    name = RecalibratorName(which.of_one_score) if choice is None else choice.selection.chosen
    table, selected = gathered.tables[RAW], selection_notes(gathered.input)
    notes = (*read_notes(gathered), *selected, *_grid_notes(gathered, name, fit.once))
    whole = fit.map_of(name, table, notes, choice=choice, rows=gathered.again)
    report = replace(
        _report(gathered, FitMethod(name), whole.fit),
        notes=(*whole.fit.notes, *_of_rows(gathered), *_sure(((whole, table),))),
        loss="squared error" if options.loss is FitLoss.BRIER else "log loss",
        outputs=distinct_outputs(whole.recalibrator),
        answer=NOTHING_CHANGED if NOTHING_CHANGED in whole.fit.notes else None,
        selection=whole.fit.selection,
    )
    if not grouped:
        return report, artifact_text(whole)
    tables = {key: one for (key,), one in gathered.extras.slices[RAW].tables().items()}
    members, shared = fit.members(tables, choice, whole.recalibrator)
    artifact = GroupArtifact(gathered.resolved.by[0], whole, members, shared)
    through = [(members.get(key, whole), one) for key, one in tables.items()]
    groups = [
        GroupFit(key, one.fit.rows, one.fit.loss_before, one.fit.loss_after, method=one.recalibrator.name)
        for key, one in members.items()
    ]
    groups += [GroupFit(key, one.rows, reason=one.reason) for key, one in shared.items()]
    report = replace(
        report,
        loss_after=_loss_through(through, options.loss),
        outputs=distinct_outputs(*{id(one): one.recalibrator for one, _ in through}.values()),
        notes=(
            *whole.fit.notes,
            *_of_rows(gathered),
            *group_notes(gathered),
            *outcome_of_groups((artifact.by,), tables.values()),
            *_notes_of_groups(artifact),
            *_sure(through),
        ),
        by=artifact.by,
        groups=tuple(sorted(groups, key=lambda one: one.key)),
        answer=None if choice is None else _answer(artifact),
    )
    return report, artifact_text(artifact)


def _of_rows(gathered: Gathered) -> tuple[str, ...]:
    """Return what is said of the rows and kept in no artifact."""
    return repeated_notes(gathered) + sure_notes(gathered, {})


# Maps, each with the rows that it is for.
Through = Sequence[tuple[Artifact, Table]]


def _loss_through(through: Through, loss: FitLoss) -> float:
    """Return the mean loss of all rows, each through the map that it gets."""
    weights = np.array([float(table.weight.sum()) for _, table in through])
    losses = np.array([_mean_losses(table, one.recalibrator, loss)[1] for one, table in through])
    weighed = weights > 0.0
    return float(np.average(losses[weighed], weights=weights[weighed]))


def _sure(through: Through) -> tuple[str, ...]:
    """Return how many fit rows maps are sure of: a rate may be 0 or 1, a probability hardly ever is."""
    counts = {0.0: 0, 1.0: 0}
    for one, table in through:
        given = one.recalibrator.predict(table.score)
        for end in counts:
            counts[end] += int(table.rows[given == end].sum())
    rows = sum(counts.values())
    if not rows:
        return ()
    ends = " or ".join(f"{end:g}" for end, some in counts.items() if some)
    cost = "a new row there with the other label has an infinite log loss"
    return (f"{rows:,} of the fit rows {agreeing(rows, 'gets')} {ends}: {cost}.",)


def _notes_of_groups(artifact: GroupArtifact) -> tuple[str, ...]:
    """Return what is to be read of the groups' own maps, and not of that of all rows."""
    said = set(artifact.pooled.recalibrator.notes)
    maps = {key: one.recalibrator for key, one in sorted(artifact.members.items())}
    return notes_of(
        {
            f"{quoted(artifact.by)} = {quoted(key)}": one
            for key, one in maps.items()
            if not said.issuperset(one.notes)
        }
    )


def _report(gathered: Gathered, method: FitMethod, record: FitRecord) -> FitReport:
    return FitReport(
        input=gathered.input,
        method=method,
        output=None,
        rows=record.rows,
        positive=record.positive,
        loss="log loss",
        loss_before=record.loss_before,
        loss_after=record.loss_after,
        outputs=None,
        notes=record.notes,
    )


def _columns_in(gathered: Gathered, rows: RowRequest) -> tuple[str, ...] | None:
    """Return the columns that the scores stood in; None where arrays were given, whose names nobody chose."""
    scores = gathered.resolved.scores
    nameless = any(isinstance(one, RowsInMemory) and scores[0] in one.nameless for one in rows.inputs)
    return None if nameless else scores


def _phrases(columns: Columns) -> dict[str, float] | None:
    return None if columns.score_map is None else dict(columns.score_map)


def _refuse_idle(columns: Columns, which: MapOptions, options: FitOptions) -> None:
    """Refuse options that would change nothing; losses are compared by any method."""
    method, heeded = which.of_one_score, {"seed", "loss"}
    auto = method is FitMethod.AUTO
    if auto and options.randomised:
        msg = "the noise of --randomised is not part of what auto compares"
        raise IdleOption(msg, "leave it out, or fit with --method smooth", options=("randomised",))
    methods = which.candidate or DEFAULT_CANDIDATES if auto else (RecalibratorName(method),)
    heeded = heeded.union({"folds"} if auto else (), *map(options.used_by, methods))
    _refuse_unheeded(f"--method {method.value}", heeded, options)
    if columns.group is not None and not auto:
        msg = "--group without --method auto"
        raise IdleOption(msg, "pass --method auto, or leave out --group", options=("group",))


def _refuse_unheeded(method: str, heeded: Collection[str], options: FitOptions) -> None:
    default = FitOptions()
    for one in fields(FitOptions):
        if one.name not in heeded and getattr(options, one.name) != getattr(default, one.name):
            flag = one.metadata["option"].flags[-1]
            msg = f"{flag} has no effect on {method}"
            raise IdleOption(msg, f"leave out {flag}, or name a method that does", options=(flag[2:],))


def _needs_exact(which: MapOptions, options: FitOptions) -> bool:
    """Whether a fit draws single rows, so that no grid will do."""
    binned = (
        which.of_one_score is FitMethod.SCALING_BINNING or RecalibratorName.SCALING_BINNING in which.candidate
    )
    thirds = binned and options.split is Split.THREE_WAY
    return thirds or (which.of_one_score is FitMethod.VENN_ABERS and options.folds is not None)


def _gather_request(columns: Columns, options: FitOptions, *, auto: bool) -> GatherRequest:
    """Return the folds that are gathered while rows are read: where groups are to be kept together, and where
    rows of one score and label are not alike, as they have weights.
    """
    weighted = columns.weight is not None and columns.weights_are is not WeightMeaning.FREQUENCY
    if not auto or (columns.group is None and not weighted):
        return TWICE
    return replace(TWICE, folds=options.folds or DEFAULT_FOLDS, seed=options.seed)


def _mean_losses(table: Table, recalibrator: Recalibrator, loss: FitLoss) -> tuple[float, float]:
    """Return the mean loss on the fit rows before and after."""
    each = squared_error if loss is FitLoss.BRIER else log_error
    if isinstance(table, GridTable):
        # Rows of one cell may lie on both sides of a bend, such as where an isotonic map leaves 0.
        one, other = (recalibrator.predict(at) for at in (table.score_of_positive, table.score_of_negative))
        after = each(one, other, other).mean(table.positive, table.weight - table.positive)
        return mean_loss(table, each), after
    return mean_loss(table, each), mean_loss(with_scores(table, recalibrator.predict(table.score)), each)


def _grid_notes(gathered: Gathered, name: RecalibratorName, options: FitOptions) -> tuple[str, ...]:
    """Return what rounding to a grid did to a fit; nothing to those that saw the rows once more, which no
    summary holds.
    """
    by_width = name is RecalibratorName.HISTOGRAM and options.binning is Binning.EQUAL_WIDTH
    seen_again = name.facts.exact and gathered.again is not None
    return () if seen_again or by_width else rounding_notes(gathered.tables[RAW].resolution)


def _refuse_misled(columns: Columns, options: FitOptions) -> None:
    if len(columns.by) > 1:
        msg = f"--by {' --by '.join(columns.by)}: a fit takes one column of groups"
        raise UsageProblem(msg, "put the groups into one column first")
    if columns.score in columns.by:
        msg = f"--by {columns.score} would fit a map to each value of the score"
        raise UsageProblem(msg, "name a column of groups, or leave out --by")
    if columns.group is not None:
        msg = "--group keeps rows together for auto, and --by fits each group by itself"
        raise IdleOption(msg, "leave out one of them", options=("group", "by"))
    if options.randomised:
        msg = "--randomised adds noise by the place of a row, and --by has a map for each group"
        raise IdleOption(msg, "leave out one of them", options=("randomised",))


def _answer(artifact: GroupArtifact) -> str | None:
    """Say in how many groups nothing was changed, if in any."""
    maps = [one.recalibrator.name for one in artifact.members.values()]
    same = maps.count(RecalibratorName.IDENTITY)
    shared = artifact.shared and artifact.pooled.recalibrator.name is RecalibratorName.IDENTITY
    if same == len(maps) and (shared or not artifact.shared):
        return NOTHING_CHANGED
    if not same:
        return None
    return f"in {same:,} of {len(maps):,} groups with a map of their own {NOTHING_CHANGED} there"


def _too_small(table: Table, least_rows: int) -> str | None:
    rows, positive = table.total_rows, table.total_positive_rows
    if rows < least_rows:
        return f"fewer than {least_rows:,} rows"
    if positive in (0, rows):
        return f"every label is {1 if positive else 0}"
    if not 0.0 < float(table.positive.sum()) < float(table.weight.sum()):
        return "no weight on one of the labels"
    return None


def _refuse_cutting(columns: Columns, cutting: Cutting) -> None:
    """Refuse to be told of segments where no map looks at them."""
    if columns.on or cutting != FitCutting():
        msg = "--on, --depth, --max-values, --categorical and --numeric are for --method segments"
        idle = ("on", "depth", "max-values", "categorical", "numeric")
        raise IdleOption(msg, "pass --method segments, or leave them out", options=idle)


def fit_segment_files(rows: RowRequest, cutting: Cutting, options: FitOptions) -> tuple[FitReport, str]:
    columns = rows.columns
    _refuse_beside_segments(columns, options)
    gathered = read_tables(rows, TWICE)
    table = gathered.tables[RAW]
    found = cut_columns(gathered, columns, cutting, intervals=min(cutting.most_values, MOST_INTERVALS))
    kept, levels = completed(found)
    leaves, kept_to = _in_leaves(rows_again(gathered), levels, limit=rows.reading.limit)
    outcomes = {
        one.name: (np.bincount(level, leaves.rows), np.bincount(level, leaves.positive))
        for one, level in zip(kept, levels_of_leaves(leaves.part, kept), strict=True)
    }
    folds = options.folds or DEFAULT_SEGMENT_FOLDS
    fitted = fit_segments(
        leaves, kept, depth=cutting.depth, folds=folds, generator=stream(options.seed, Purpose.FOLDS)
    )
    record = FitRecord.of_table(
        table,
        options={
            "depth": cutting.depth,
            "max_values": cutting.most_values,
            **({"categorical": ",".join(map(as_one, cutting.categorical))} if cutting.categorical else {}),
            **({"numeric": ",".join(map(as_one, cutting.numeric))} if cutting.numeric else {}),
            "folds": folds,
            "seed": options.seed,
        },
        losses=(fitted.loss_before, fitted.loss_after),
        mean_variance=fitted.mean_variance,
        output_quantiles=fitted.output_quantiles,
        notes=(
            *fitted.map.notes,
            *read_notes(gathered),
            *selection_notes(gathered.input),
            *kept_to,
            *spelling_notes(found),
            *outcome_notes(outcomes),
        ),
    )
    artifact = SegmentArtifact(
        "segments",
        fitted.map,
        record,
        columns.read_as,
        columns.positive,
        score_map=_phrases(columns),
        columns=_columns_in(gathered, rows),
    )
    report = replace(
        _report(gathered, FitMethod.SEGMENTS, record),
        notes=(*record.notes, *_of_rows(gathered)),
        answer=NOTHING_CHANGED if fitted.map.strength is None else None,
        segments=fitted.map,
    )
    return report, artifact_text(artifact)


# Past the memory allowed logits are kept to this: a tenth of what would move a coefficient by a thousandth.
_LOGIT_STEP = 0.125


def _in_leaves(
    again: SecondPass, levels: tuple[Levels, ...], *, limit: int | None
) -> tuple[Leaves, tuple[str, ...]]:
    """Return the rows by level and score, and what is said of scores that were kept to cells."""
    try:
        found = again.by_levels(levels, limit=limit)
        return found.leaves(), ((rounded_words("1/5,040"),) if found.is_grid else ())
    except TooManyCells:
        found = replace(again, change=_coarse).by_levels(levels, limit=limit)
        return found.leaves(), (rounded_words(f"{_LOGIT_STEP:g}", what="logits of scores"),)


def _coarse(score: Floats) -> Floats:
    """Return scores whose logits are kept to a step."""
    return logistic(np.rint(logit(score) / _LOGIT_STEP) * _LOGIT_STEP)


def _refuse_beside_segments(columns: Columns, options: FitOptions) -> None:
    if not columns.on:
        msg = "--method segments looks at columns beside the score, and none is named"
        raise UsageProblem(msg, "name some, such as --on country,device")
    if columns.several is not None:
        msg = "--method segments repairs one score, and --probs names several classes"
        raise UsageProblem(msg, "name one score with --score")
    if columns.weight is not None and columns.weights_are is not WeightMeaning.FREQUENCY:
        msg = "--method segments needs counts of rows, and importance weights are not counts"
        raise UsageProblem(msg, "pass --weights-are frequency for repeated rows, or leave out --weight")
    for given, option in ((columns.by, "by"), (columns.group, "group")):
        if given:
            msg = f"--{option} and --method segments"
            raise IdleOption(msg, f"leave out --{option}, or use another --method", options=(option,))
    _refuse_unheeded("--method segments", {"folds", "seed"}, options)


_BYTES = 8


@dataclass(slots=True)
class ClassSource:
    """Rows of an input that can be read again."""

    again: SecondPass
    memory: int
    workers: int = 1
    _kept: list[ClassBlock] = field(default_factory=list)

    @property
    def classes(self) -> tuple[str, ...]:
        return self.again.resolved[self.again.fragments[0].path].classes

    @property
    def in_memory(self) -> bool:
        """Whether a fit may keep what it makes of the rows.

        That is allowed twice the memory of a table, since another pass over the files costs far more.
        """
        return self._size <= 2 * self.memory

    @property
    def _size(self) -> int:
        return _BYTES * self.again.rows * len(self.classes)

    def blocks(self) -> Iterator[ClassBlock]:
        """Yield all rows, in the order of the input."""
        if self._kept:
            yield from self._kept
            return
        kept: list[ClassBlock] = []
        keeps = 3 * self._size <= self.memory
        for rows in self.again.in_turn():
            if rows.classes is None or not rows.classes.label.size:
                continue
            block = ClassBlock(rows.classes.probability, rows.classes.label, rows.weighing)
            if keeps:
                kept.append(block)
            yield block
        self._kept = kept


def inner_method(method: ClassMethod, inner: FitMethod | None) -> RecalibratorName:
    """Return the method of the maps that a method of several classes is made of."""
    if inner is FitMethod.AUTO:
        msg = "--method auto chooses for one score, and --probs names several classes"
        raise UsageProblem(msg, "name a method")
    if inner is None or inner.value == method.value:
        # What one score and several classes call alike can only mean the map of all of them.
        return RecalibratorName.PLATT
    if not method.facts.made_of_maps:
        msg = f"--method {inner.value} is for one score; --multiclass {method.value} fits all classes at once"
        same = inner.value in set(ClassMethod)
        instead = inner.value if same else ClassMethod.ONE_VS_REST.value
        hint = f"pass --multiclass {instead}{' in place of --method' if same else ', or leave out --method'}"
        raise IdleOption(msg, hint, options=("method",))
    return RecalibratorName(inner)


def fit_class_files(
    rows: RowRequest, *, method: ClassMethod, options: ClassFitOptions
) -> tuple[ClassFitReport, str]:
    columns, how = rows.columns, rows.reading
    if columns.several is not None:
        columns = replace(columns, several=replace(columns.several, mapped=True))
    _refuse_misled_classes(columns, options, how)
    rows = replace(rows, columns=columns)
    gathered = read_tables(rows, replace(TWICE, classes=method.facts.from_tables))
    workers = how.jobs or default_workers()
    source = ClassSource(rows_again(gathered), bytes_of(how.memory), workers)
    options = replace(options, least=least_of(columns.read_as))
    seen = _tables(gathered, source, method, limit=how.limit)
    recalibrator = class_recalibrator_class(method).fit(method, seen, options=options)
    notes = (
        *selection_notes(gathered.input),
        *read_notes(gathered),
        *_grid_notes_of_classes(method, seen),
        *recalibrator.notes,
    )
    said = _options(method, options)
    record = _record(recalibrator, source, gathered.tables[RAW], options=said, notes=notes)
    artifact = ClassArtifact(
        recalibrator, record, source.classes, columns.read_as, columns=_columns_in(gathered, rows)
    )
    report = ClassFitReport(
        input=gathered.input,
        method=method,
        inner=options.inner.value if method.facts.made_of_maps else None,
        output=None,
        classes=source.classes,
        rows=record.rows,
        loss_before=record.loss_before,
        loss_after=record.loss_after,
        accuracy_before=record.accuracy_before,
        accuracy_after=record.accuracy_after,
        changed=record.changed,
        keeps_prediction=recalibrator.keeps_prediction,
        notes=(*record.notes, *repeated_notes(gathered)),
    )
    return report, artifact_text(artifact)


def _refuse_misled_classes(columns: Columns, options: ClassFitOptions, how: Reading) -> None:
    """Refuse what would have no effect, or none that could be kept."""
    if how.engine is not EngineName.LOCAL:
        msg = f"--engine {how.engine.value}: a fit of several classes runs on this machine only"
        raise UsageProblem(msg, "leave out --engine; pass --sample N if there are too many rows")
    if columns.group is not None:
        msg = "--group keeps rows together for --method auto, which chooses for one score"
        raise IdleOption(msg, "leave it out", options=("group",))
    if options.inner_options.randomised:
        msg = "--randomised adds noise by the place of a row, and maps of several classes have none"
        raise IdleOption(msg, "leave it out", options=("randomised",))


def _tables(
    gathered: Gathered, rows: ClassRowSource, method: ClassMethod, *, limit: int | None
) -> ClassTables:
    extras, confidence, classes = gathered.extras.classes, gathered.tables[RAW], rows.classes
    if method is ClassMethod.ONE_VS_ONE:
        from calibcli.stats.recalibrators.classes.one_vs_one import pair_tables

        return ClassTables(rows, confidence, {}, {}, pair_tables(rows, limit))
    if extras is None:
        return ClassTables(rows, confidence, {}, {})
    top = {name[0]: table for name, table in extras.top.tables().items()}
    rest = extras.tables
    rates = np.array([float(rest[name].positive.sum()) if name in rest else 0.0 for name in classes])
    require_several(classes, rates, confidence.total_rows)
    return ClassTables(rows, confidence, top, rest)


def _grid_notes_of_classes(method: ClassMethod, seen: ClassTables) -> tuple[str, ...]:
    """Return what rounding to a grid did to the fits of single scores; all others look at the rows."""
    fitted_to: dict[ClassMethod, Iterable[Table]] = {
        ClassMethod.CONFIDENCE: [seen.confidence],
        ClassMethod.TOP_LABEL: seen.top.values(),
        ClassMethod.ONE_VS_REST: seen.rest.values(),
        ClassMethod.ONE_VS_ONE: seen.pairs.values(),
    }
    return rounding_notes(*(table.resolution for table in fitted_to.get(method, ())))


def _record(
    recalibrator: ClassRecalibrator,
    rows: ClassRowSource,
    table: Table,
    *,
    options: dict[str, object],
    notes: tuple[str, ...],
) -> ClassFitRecord:
    """Return what a map does to the rows it was fitted to.

    Losses are added up exactly, so that neither order nor cut of the input changes a digit.
    """
    losses, right, total = (ExactSum(), ExactSum()), (ExactSum(), ExactSum()), ExactSum()
    certain = [False, False]
    changed, confidence = 0, RunningTable()
    expected, variance = np.zeros(len(rows.classes)), np.zeros(len(rows.classes))
    given = GivenSums(np.zeros(len(rows.classes), np.int64), np.zeros((3, len(rows.classes))))
    # What rows of each class weigh: sums, and sums of squares.
    weighs = np.zeros((2, len(rows.classes)))
    for block in rows.blocks():
        weight = block.weights
        times = block.weighing.times(block.label.size)
        sides = (block.probability, recalibrator.predict(block.probability))
        predicted = [one.argmax(axis=1) for one in sides]
        for place, one in enumerate(sides):
            loss = log_loss_of(one, block.label)
            finite = np.isfinite(loss)
            certain[place] |= bool(weight[~finite].any())
            if block.weighing.weight is None:
                losses[place].add_repeated(loss[finite], times[finite])
            else:
                losses[place].add(weight[finite] * loss[finite])
            right[place].add(weight[predicted[place] == block.label])
        total.add(weight)
        largest, never = sides[1].max(axis=1), np.zeros(times.size, np.bool_)
        confidence.add_rows(largest, never, Weighing(block.weighing.counts))
        changed += int(times[predicted[0] != predicted[1]].sum())
        weighs += [np.bincount(block.label, one, len(rows.classes)) for one in (weight, np.square(weight))]
        given = given.joined(GivenSums.of(sides[0], block.label, times))
        expected += times @ sides[1]
        variance += times @ (sides[1] * (1.0 - sides[1]))
    whole = total.exact()
    if table.weighted:
        notes = (*notes, *weights_by_class(rows.classes, given.observed, weighs))
    else:
        notes = (
            *notes,
            *odd_classes(rows.classes, given.observed, given.given, rows=table.total_rows),
            *_off_on_average(rows.classes, given.observed, expected, variance),
        )
    before, after = (
        math.inf if some else float(one.exact() / whole) for one, some in zip(losses, certain, strict=True)
    )
    return ClassFitRecord(
        rows=table.total_rows,
        class_rows=tuple(given.observed.tolist()),
        table_digest=digest_of_rows(table),
        options=options,
        loss_before=before,
        loss_after=after,
        accuracy_before=float(right[0].exact() / whole),
        accuracy_after=float(right[1].exact() / whole),
        changed=changed,
        notes=notes,
        score_quantiles=score_quantiles(table),
        output_quantiles=score_quantiles(confidence.table()),
    )


# Where labels follow the outputs a class is said to be off with at most this probability; smaller shares of
# the rows are not worth saying.
_BY_CHANCE, _TELLING = 1e-6, 0.005


def _off_on_average(
    classes: Sequence[str], observed: Integers, expected: Floats, variance: Floats
) -> tuple[str, ...]:
    """Say which class a map leaves off on average, the farthest of them, as one temperature for all does.

    References:
        Bernstein's inequality: for sums of independent labels, however rare they are.
    """
    level, total = math.log(2.0 * len(classes) / _BY_CHANCE), observed.sum()
    reach = level / 3.0 + np.sqrt(level**2 / 9.0 + 2.0 * variance * level)
    # Rounded, as two classes are off by as much, and the last digits would choose.
    off = (np.abs(expected - observed) / total).round(9)
    off[off * total <= np.maximum(reach, _TELLING * total)] = 0.0
    place = int(off.argmax())
    if off[place] == 0.0:
        return ()
    said = _OFF.format(classes[place], expected[place] / total, observed[place] / total)
    return (said if observed.min() == 0 else f"{said}: --multiclass vector fits each class by itself",)


_OFF = "class {} has a mean probability of {:.3g} after this map, and {:.3g} of the fit rows are of it"


def _options(method: ClassMethod, options: ClassFitOptions) -> dict[str, object]:
    if method.facts.made_of_maps:
        own: dict[str, object] = {"inner": options.inner.value, "min_class_rows": options.least_rows}
        own |= {f"inner_{key}": value for key, value in options.inner_options.used_by(options.inner).items()}
        return own | ({"output_sum": options.output_sum.value} if method is ClassMethod.ONE_VS_REST else {})
    return {"folds": options.folds} if method.facts.folds else {}


def _refuse_idle_class_options(
    method: ClassMethod, which: MapOptions, inner: RecalibratorName, options: FitOptions
) -> None:
    output_sum = which.output_sum
    if which.min_class_rows != DEFAULT_LEAST_CLASS_ROWS and not method.facts.made_of_maps:
        msg = f"--min-class-rows has no effect on --multiclass {method.value}, of all classes together"
        raise IdleOption(msg, "leave it out, or pass --multiclass one-vs-rest", options=("min-class-rows",))
    if output_sum is not OutputSum.ONE and method is not ClassMethod.ONE_VS_REST:
        msg = f"--output-sum {output_sum.value} has no effect on --multiclass {method.value}"
        raise IdleOption(msg, "leave it out, or pass --multiclass one-vs-rest", options=("output-sum",))
    # Noise is refused for what it is, whatever the method.
    heeded, name = {"seed", "randomised"}, f"--multiclass {method.value}"
    if method.facts.made_of_maps:
        heeded, name = heeded | {"loss", *options.used_by(inner)}, f"{name} with --method {inner.value}"
    elif method.facts.folds:
        heeded.add("folds")
    _refuse_unheeded(name, heeded, options)
