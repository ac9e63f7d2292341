"""Compare several scores of the same rows, or several models on the same questions, all pairs at once."""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache, reduce
from itertools import combinations
from shlex import quote

import numpy as np

from calibcli.commands.gathering import RAW, Gathered
from calibcli.commands.measure import refuse_class_measures
from calibcli.commands.reading import read_evaluation, rounding_notes
from calibcli.commands.slices import Group, gather_request_of, level_of, views_of
from calibcli.commands.two_tables import Seen, difference_over_clusters, differences, measured_alone
from calibcli.data.columns import alike_notes
from calibcli.data.files import refuse_read_once, stream_in
from calibcli.data.tally import GatherRequest
from calibcli.errors import EmptyTable, IdleOption, InputProblem, UsageProblem
from calibcli.names import (
    DEFAULT_BINS,
    DEFAULT_LEAST_ROWS,
    MISSING,
    Binning,
    ClassMeasure,
    MeasureName,
    OnMissing,
    Sign,
)
from calibcli.options.conditions import Condition, Literal
from calibcli.options.declaring import nearest
from calibcli.options.measuring import CompareOptions, Metrics
from calibcli.options.numerals import agreeing, in_order, number_of, plural
from calibcli.options.rows import Columns, RowRequest
from calibcli.reports.leaderboard import (
    PAIRWISE,
    Contrast,
    GroupBoard,
    GroupBoards,
    LeaderboardReport,
    Ranking,
    Standing,
)
from calibcli.reports.measure import ClusterSummary
from calibcli.stats.measures import ClassEstimate, Estimate
from calibcli.stats.measures.classes.differences import JOINT
from calibcli.stats.measures.clustered import Clusters, with_clusters
from calibcli.stats.measures.differences import PAIRED, Compared, Difference, PairedSums, Skill, skill
from calibcli.stats.measures.matched import Answers, in_common
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.bins import looks_discrete
from calibcli.stats.table.grid import Table
from calibcli.values import dataclass, field, replace

# Sums of differences take 0.3 MiB a pair, in every fragment that is read at once: 190 pairs at most.
MOST_IN_PAIRS = 20

# Each group of rows is read by itself.
_MOST_GROUPS = 20
# So many tables of scores over the rows that another has as well are held at once, each as large as a score's
# own may be. For those of more pairs rows are read again.
_MOST_BESIDE = 12

# With a reference: the share of the error that the interval of its own loss may take.
_FOR_REFERENCE = 0.1

C = ClassMeasure
_PROPER = (C.CLASS_LOG_LOSS, C.CLASS_BRIER)

PAIRED_ROWS = f"{PAIRWISE}: each score uses its own rows, and each difference the rows that both have"


@dataclass(frozen=True, slots=True)
class Entries:
    """What is compared.

    Args:
        paired: The differences of two, by their places, the second less the first.
        common: The rows of one that another has too, by their places; None where all have the same rows.
        classes: Measures of all classes together, by place and confidence; None where there is one score.
        clusters: Of the rows, by each score; empty where rows are independent.
        clustered: Those of the rows that two have, by place and measure; None where these are all rows.
    """

    scores: tuple[Seen, ...]
    paired: Callable[[int, int], PairedSums]
    common: Callable[[int, int], Table] | None = None
    notes: tuple[str, ...] = ()
    classes: Callable[[ClassMeasure, int, float], ClassEstimate] | None = None
    clusters: tuple[Clusters, ...] = ()
    clustered: Callable[[int, int, Compared], tuple[Clusters, Clusters]] | None = None

    def clusters_of(self, one: int, other: int, name: Compared) -> tuple[Clusters, Clusters] | None:
        """Return the clusters of the rows that two have; None where rows are independent."""
        if self.clustered is not None:
            return self.clustered(one, other, name)
        return (self.clusters[one], self.clusters[other]) if self.clusters else None


def leaderboard(rows: RowRequest, *, options: CompareOptions, part: bool = False) -> LeaderboardReport:
    """Compare scores with the best of them, or with the reference; `part` if these are some of the rows."""
    columns = rows.columns
    if columns.by and columns.identity is None:
        return _of_groups(rows, options)
    _refuse(columns, options)
    gate = options.gate()
    if columns.by:
        options, whole = _with_accuracy(options), columns.sees_all_classes and columns.sums_to_one
        gate = options.gate(_PROPER if whole else PAIRED)
        options = replace(options, metrics=JOINT) if whole and not options.metrics else options
        evaluation = read_evaluation(rows, GatherRequest(by_id=RAW))
        entries = _models(evaluation, options)
        positive = None
    else:
        columns = replace(columns, in_pairs=True)
        reference = options.reference
        if reference is not None and reference not in (columns.score, *columns.others):
            columns = replace(columns, others=(*columns.others, reference))
        evaluation, entries = _scores(replace(rows, columns=columns), options, part=part)
        positive = None
        if columns.on_missing is not OnMissing.PAIRWISE:
            positive = evaluation.table.total_positive_rows / evaluation.table.total_rows
    return replace(_report(evaluation, entries, options, positive), gate=gate)


def _refuse(columns: Columns, options: CompareOptions) -> None:
    if columns.several is not None and not columns.by:
        msg = "a leaderboard compares scores, and --probs names several classes"
        raise UsageProblem(
            msg, "name the column of models with --by, or compare two artifacts of the classes"
        )
    joint = [one for one in options.joint if options.metrics and not (columns.by and one is C.ACCURACY)]
    if joint and joint[0] not in JOINT:
        msg = f"{joint[0].value} is not a mean over rows, so models in rows cannot be compared by it"
        raise UsageProblem(msg, f"ask for {', '.join(JOINT)}")
    refuse_class_measures(columns, Metrics((), (), tuple(joint)))
    if columns.by and columns.on_missing is OnMissing.PAIRWISE:
        msg = (
            "--on-missing pairwise is for scores in columns; models in rows are compared on common questions"
        )
        raise IdleOption(msg, "pass --on-missing drop", options=("on-missing",))
    if columns.cluster is not None and columns.on_missing is OnMissing.PAIRWISE:
        msg = "--cluster compares score columns on the same rows, and --on-missing pairwise on different rows"
        raise IdleOption(msg, "pass --on-missing drop", options=("cluster",))
    if columns.cluster is not None and columns.several is not None:
        msg = "--cluster compares models by one score, and --probs names several classes"
        raise IdleOption(msg, "leave out --cluster", options=("cluster",))
    if columns.by and (columns.others or columns.weight is not None):
        what = "one score" if columns.others else "rows without weights"
        msg = f"--by compares the models that a column names by {what}"
        raise IdleOption(
            msg, "leave out one of them", options=("by", "score" if columns.others else "weight")
        )
    if options.fail_if_worse and options.reference is None:
        msg = "--fail-if-worse needs a score to compare all others with"
        named = "MODEL" if columns.by else "COL"
        raise UsageProblem(msg, f"name it with --reference {named}")
    count = len(columns.others) + 1
    if count > MOST_IN_PAIRS and (options.reference is None or options.pairs):
        msg = f"{count} scores make {count * (count - 1) // 2:,} pairs"
        hint = f"at most {MOST_IN_PAIRS} are compared in pairs: name one with --reference, without --pairs"
        raise UsageProblem(msg, hint)


def _of_groups(rows: RowRequest, options: CompareOptions) -> LeaderboardReport:
    """Compare score columns in all rows and in each group of them; files are read once for each."""
    columns, by = rows.columns, rows.columns.by[0]
    if not columns.others:
        msg = "--by compares models in rows, and needs a column that says which question a row answers"
        raise UsageProblem(msg, "name it with --id COL; or name several scores, to compare them in groups")
    _refuse_in_groups(rows, options)
    whole = leaderboard(replace(rows, columns=replace(columns, by=())), options=options)
    slices = views_of(read_evaluation(rows, gather_request_of(rows)))[0].slices
    # Rows without a value are no group that a condition chooses.
    named = {one.name[0]: one for one in slices.groups if one.name != (MISSING,)}
    slices = replace(slices, groups=tuple(named[name] for name in in_order(list(named))))
    measured = slices.measured(DEFAULT_LEAST_ROWS)
    if not measured:
        msg = f"no group of {by!r} has {DEFAULT_LEAST_ROWS} rows"
        raise EmptyTable(msg, "leave out --by, or name a column with larger groups")
    if len(measured) > _MOST_GROUPS:
        msg = f"--by {by} makes {len(measured):,} groups, and scores are compared in at most {_MOST_GROUPS}"
        raise InputProblem(msg, "name a column with fewer values, or choose some of them with --where")
    each = replace(options, confidence=level_of(options.confidence, len(measured)))
    boards = []
    for one in measured:
        found = _in_group(rows, one, options=each)
        boards.append(GroupBoard(one.name[0], one.table.total_rows, found.each, found.rankings))
    few = slices.left_out([one.key for one in measured])
    left_out = {key.removeprefix(f"{by}="): count for key, count in few.items()}
    groups = GroupBoards(by, each.confidence, tuple(boards), left_out, DEFAULT_LEAST_ROWS)
    without = _rows_of(whole) - sum(one.rows for one in boards) - sum(left_out.values())
    have, are = plural(without, "row", "has"), agreeing(without, "is")
    note = (f"{have} no value in {by!r}, and {are} in no group",) if without else ()
    return replace(whole, groups=groups, notes=(*whole.notes, *alike_notes(by, named), *note))


def _refuse_in_groups(rows: RowRequest, options: CompareOptions) -> None:
    columns = rows.columns
    if len(columns.by) > 1:
        msg = f"--by names {len(columns.by)} columns, and scores are compared in the groups of one"
        raise UsageProblem(msg, "name one of them, and choose rows by the other with --where")
    refuse_read_once(rows.inputs, "--by reads it group by group")
    said = {
        "fail-if-worse": options.fail_if_worse,
        "limit": columns.rows.limit is not None,
        "sample": columns.rows.sample is not None,
        "on-missing": columns.on_missing is OnMissing.PAIRWISE,
    }
    for name in (name for name, given in said.items() if given):
        what = "--on-missing pairwise" if name == "on-missing" else f"--{name}"
        msg = f"{what} is for all rows together, and --by compares scores in groups"
        raise IdleOption(msg, "leave out one of them, or choose a group with --where", options=("by", name))


def _rows_of(report: LeaderboardReport) -> int:
    """Return how many rows every score has, each as often as it counts."""
    return report.rankings[0].standings[0].rows


def _in_group(rows: RowRequest, group: Group, *, options: CompareOptions) -> LeaderboardReport:
    """Compare the scores in one group, whose value is a number or a text."""
    (by,), (value,) = rows.columns.by, group.name
    text = f"{by}=={value}"
    for number in dict.fromkeys((number_of(value), None)):
        where = Condition(by, Sign.EQUAL, (Literal(value, number),), text)
        chosen = replace(rows.columns.rows, where=(*rows.columns.rows.where, where))
        with suppress(InputProblem):
            inside = replace(rows, columns=replace(rows.columns, by=(), rows=chosen))
            found = leaderboard(inside, options=options, part=True)
            if _rows_of(found) == group.table.total_rows:
                return found
    msg = f"the rows of {text} cannot be chosen by themselves"
    raise InputProblem(msg, "name a column of text or whole numbers")


def _with_accuracy(options: CompareOptions) -> CompareOptions:
    """Return what is asked of models, the share of right answers by its name."""
    asked = (C.ACCURACY if one is MeasureName.OBSERVED_RATE else one for one in options.metrics or ())
    return replace(options, metrics=tuple(dict.fromkeys(asked)) or None)


def _scores(rows: RowRequest, options: CompareOptions, *, part: bool) -> tuple[Gathered, Entries]:
    """Read score columns side by side, with the differences of their losses row by row."""
    columns, gather_request = rows.columns, gather_request_of(rows)
    keys = (RAW, *gather_request.columns)
    pairs = tuple(combinations(keys, 2))
    place, apart = None, columns.on_missing is OnMissing.PAIRWISE
    if options.reference is not None:
        place = (columns.score, *columns.others).index(options.reference)
    if place is not None and not options.pairs:
        pairs = tuple((keys[place], key) for key in keys if key != keys[place])
    # The rows of a score that another has as well: of what is no mean over rows for each pair, and of the
    # reference for the loss that skill is a share of. Ranks are not kept where rows differ.
    both: list[tuple[str, str]] = []
    if apart and any(name not in PAIRED for name in options.metrics or PAIRED):
        both = [two for pair in pairs for two in (pair, pair[::-1])]
    lost = [(keys[place], key) for key in keys if key != keys[place]] if apart and place is not None else []
    every = len(pairs) == len(keys) * (len(keys) - 1) // 2
    again = every and len(both) > _MOST_BESIDE and stream_in(rows.inputs) is None
    requested = replace(gather_request, pairs=pairs, ranked=options.ranked, part=part)
    evaluation = read_evaluation(rows, _with_beside(requested, lost if again else [*lost, *both]))
    sums = dict(zip(pairs, evaluation.extras.paired, strict=True))
    views = dict(zip(keys, views_of(evaluation), strict=True))
    seen = {key: Seen(view.source.score, view.source.score, view.table) for key, view in views.items()}
    empty = [one.name for one in seen.values() if not one.table.total_rows]
    if empty and (len(empty) > len(seen) - 2 or options.reference in empty):
        msg = f"{empty[0]!r} has no value in any of {evaluation.input.rows:,} rows"
        raise EmptyTable(msg, "leave it out")
    kept = [key for key, one in seen.items() if one.table.total_rows]

    def paired(one: int, other: int) -> PairedSums:
        found = sums.get((kept[one], kept[other]))
        return sums[kept[other], kept[one]].turned() if found is None else found

    @lru_cache(1)
    def read_again(start: int) -> Mapping[str, Table]:
        some = both[start : start + _MOST_BESIDE]
        request = _with_beside(gather_request, some)
        alone = {key: request.columns[key] for key in request.where}
        return read_evaluation(rows, replace(request, columns=alone, pairs=())).tables

    def common(one: int, other: int) -> Table:
        two = kept[one], kept[other]
        if again and two not in lost:
            return read_again(both.index(two) // _MOST_BESIDE * _MOST_BESIDE)[_beside(*two)]
        return evaluation.tables[_beside(*two)]

    notes = [PAIRED_ROWS] if apart else []
    notes += [f"{one!r} is left out: it has no value in any row" for one in empty]
    found = tuple(seen[key] for key in kept)
    clusters = [views[key].clusters for key in kept]
    known = tuple(one for one in clusters if one is not None)
    return evaluation, Entries(found, paired, common if apart else None, tuple(notes), clusters=known)


def _with_beside(request: GatherRequest, both: Sequence[tuple[str, str]]) -> GatherRequest:
    """Return a request for tables of one score over the rows that another has as well."""
    at = {key: number for number, key in enumerate((RAW, *request.columns))}
    return replace(
        request,
        columns={**request.columns, **{_beside(*two): at[two[0]] for two in both}},
        where={_beside(*two): at[two[1]] for two in both},
    )


def _beside(one: str, other: str) -> str:
    """Return the key of the table of one score over the rows that another has as well."""
    return f"{one} where {other}"


def _models(evaluation: Gathered, options: CompareOptions) -> Entries:
    """Match the rows of different models by their questions."""
    kept = evaluation.extras.by_id
    models = {} if kept is None else kept.by_part()
    if len(models) < 2:
        msg = f"--by {evaluation.resolved.by[0]} names {len(models)} model, and nothing to compare it with"
        raise InputProblem(msg, "name the column that tells models apart, or compare score columns")
    if len(models) > MOST_IN_PAIRS:
        msg = f"--by {evaluation.resolved.by[0]} names {len(models):,} models"
        hint = f"at most {MOST_IN_PAIRS} are compared: choose some with --where"
        ids, by = len(reduce(np.union1d, [one["ids"] for one in models.values()])), evaluation.resolved.by[0]
        if ids < len(models):
            hint = f"are --by and --id swapped? Try --by {evaluation.resolved.shown_identity} --id {by}"
        raise InputProblem(msg, hint)
    answers = {name: Answers.of(**columns) for name, columns in models.items()}
    notes = [*alike_notes(evaluation.resolved.by[0], answers)]
    for name, one in answers.items():
        if one.repeated:
            rows = plural(one.repeated, "row", "repeats")
            some = f", {one.unlike:,} of them" if one.unlike < one.repeated else ""
            unlike = f"{some} with other values" if one.unlike else ""
            notes.append(f"{name}: {rows} an id of the model{unlike}: of equal ids the first row counts")
    if any(one.unlike for one in answers.values()):
        told = evaluation.resolved.shown_identity
        notes.append(
            f"--id {quote(told)},COLUMN tells such rows apart by a further column; "
            "of several answers to one question --cluster names the question"
        )
    requested = {one.ids.tobytes() for one in answers.values()}
    if len(requested) > 1:
        common = in_common(list(answers.values()))
        alone = [
            f"{name} {one.ids.size - common:,}" for name, one in answers.items() if one.ids.size > common
        ]
        notes.append(
            f"all models answered {plural(common, 'id')}; beyond these answered: {', '.join(alone)}. "
            "Two models are compared on the ids that both answered"
        )
    listed = list(answers.values())

    def clustered(one: int, other: int, name: Compared) -> tuple[Clusters, Clusters]:
        first, second = listed[one].to(listed[other]), listed[other].to(listed[one])
        elsewhere = int(np.count_nonzero(first.cluster != second.cluster))
        if elsewhere:
            models = f"{names[other]} than of {names[one]}"
            msg = f"column {column!r}: {plural(elsewhere, 'id', 'is')} in another cluster of {models}"
            raise InputProblem(msg, "name a column of the questions, such as their topic")
        return first.clusters_beside(second, name)

    names, column = list(answers), evaluation.resolved.cluster
    return Entries(
        tuple(Seen(name, name, one.table) for name, one in answers.items()),
        cache(lambda one, other: listed[one].against(listed[other], ranked=options.ranked)),
        None if len(requested) == 1 else lambda one, other: listed[one].to(listed[other]).table,
        tuple(notes),
        lambda name, place, confidence: _class_estimate(name, listed[place], confidence),
        () if column is None else tuple(one.clusters() for one in listed),
        None if column is None else clustered,
    )


def _class_estimate(name: ClassMeasure, answers: Answers, confidence: float) -> ClassEstimate:
    """Return a measure of all classes together, as `measure` gives it of the rows of one model."""
    from calibcli.stats.measures.classes import ClassViews, class_measure
    from calibcli.stats.measures.classes.binned import Seen as SeenClass
    from calibcli.stats.table.bins import binned, bins_of
    from calibcli.stats.table.classes import ClassSums

    if answers.probability is None or answers.place is None:
        msg = f"{name} is a measure of several classes"
        raise TypeError(msg)
    count = answers.probability.shape[1]
    sums, rest = ClassSums(count, measures=[name]), []
    sums.add_rows(answers.probability, answers.place, answers.probability.argmax(axis=1))
    for place, column in enumerate(answers.probability.T):
        table = ScoreTable.from_rows(np.ascontiguousarray(column), answers.place == place)
        bins = bins_of(Binning.EQUAL_WIDTH, DEFAULT_BINS, table=table)
        rest.append(SeenClass(table, binned(table, bins)))
    return class_measure(name, ClassViews(answers.table, tuple(rest), (), sums, confidence))


def _report(
    evaluation: Gathered, entries: Entries, options: CompareOptions, positive: float | None
) -> LeaderboardReport:
    names = [one.name for one in entries.scores]
    reference = None
    if options.reference is not None:
        reference = _place_of(options.reference, names, evaluation)
    each, family = level_of_each(options, len(names))
    # Models in rows are compared by tables of their own, which are exact.
    steps = [one.table.resolution for one in entries.scores]
    return LeaderboardReport(
        input=evaluation.input,
        models="/".join(evaluation.resolved.by) or None,
        reference=None if reference is None else names[reference],
        confidence=options.confidence,
        each=each,
        family=family,
        rankings=rankings(entries, options, reference),
        positive=positive,
        notes=(*evaluation.notes, *rounding_notes(*steps), *entries.notes),
        clusters=_clusters_of(evaluation, entries),
    )


def _clusters_of(evaluation: Gathered, entries: Entries) -> ClusterSummary | None:
    column = evaluation.resolved.cluster
    if column is None or not entries.clusters:
        return None
    most = max(entries.clusters, key=lambda one: one.count)
    return ClusterSummary(column, most.count, most.effective)


def level_of_each(options: CompareOptions, count: int) -> tuple[float, int]:
    """Return the confidence of each difference at which all hold together, and how many those are.

    Which score is the best is seen on the rows themselves, so that without a reference every pair counts.
    """
    whole = options.reference is None or options.pairs
    family = count * (count - 1) // 2 if whole else count - 1
    share = 1.0 if options.reference is None else 1.0 - _FOR_REFERENCE
    return level_of(1.0 - (1.0 - options.confidence) * share, family), family


def rankings(entries: Entries, options: CompareOptions, reference: int | None) -> tuple[Ranking, ...]:
    """Return all scores by every measure; `reference` is the place of one that all are held against."""
    each, _ = level_of_each(options, len(entries.scores))
    names = options.metrics or PAIRED
    requested = replace(options, metrics=names, confidence=each)
    few_valued = all(looks_discrete(one.table) for one in entries.scores)
    if options.binning is None and options.bins is None and not few_valued:
        requested = replace(requested, binning=Binning.EQUAL_WIDTH)
    board = _Board(entries, requested, options.confidence, reference)
    return tuple(board.ranking(name) for name in dict.fromkeys(names))


def _place_of(reference: str, names: Sequence[str], evaluation: Gathered) -> int:
    """Return which of the scores is the reference; a column may be spelled as the user wrote it."""
    if reference in names:
        return names.index(reference)
    if not evaluation.resolved.by:
        from calibcli.data.columns import Header

        return names.index(Header(names, evaluation.input.files[0]).named(reference))
    msg = f"--reference {reference}: there is no such model"
    raise UsageProblem(msg, nearest(reference, names))


@dataclass(slots=True)
class _Board:
    """Scores, and what compares them.

    Args:
        options: Its confidence is that of each difference.
        confidence: Of each score by itself, and of all differences together.
    """

    entries: Entries
    options: CompareOptions
    confidence: float
    reference: int | None
    both: dict[tuple[int, int], Mapping[Compared, Difference]] = field(default_factory=dict)

    def ranking(self, name: Compared) -> Ranking:
        scores = self.entries.scores
        estimates = [self._estimate(name, place, self.confidence) for place in range(len(scores))]
        wins = self._wins(name)
        bad = [name.facts.badness(one.value) for one in estimates]
        order = sorted(
            range(len(scores)), key=lambda place: (-wins[place], math.isnan(bad[place]), bad[place], place)
        )
        against = order[0] if self.reference is None else self.reference
        standings = []
        for place in order:
            contrast = None if place == against else self._contrast(name, against, place)
            saved = None
            if contrast is not None and self.reference is not None and name in PAIRED:
                saved = self._skill(name, against, place, contrast)
            one = scores[place]
            standings.append(Standing(one.name, one.table.total_rows, estimates[place], contrast, saved))
        every = None
        if self.options.pairs:
            every = tuple(self._contrast(name, one, two) for one, two in combinations(range(len(scores)), 2))
        return Ranking(name, scores[against].name, tuple(standings), every)

    def _wins(self, name: Compared) -> list[int]:
        """Return how many others each score is better than on the rows that both have.

        Where all have the same rows their values say who is better. Where rows differ, one score may have the
        easier ones.
        """
        scores = self.entries.scores
        wins = [0] * len(scores)
        pairs = list(combinations(range(len(scores)), 2)) if self.reference is None else []
        sums = [self.entries.paired(*pair) for pair in pairs]
        most = max(one.table.total_rows for one in scores)
        if all(one.rows == most for one in sums):
            return wins
        for one, two in pairs:
            value = self._contrast(name, one, two).difference.value
            if value is not None and abs(value) > 0.0:
                wins[two if (value < 0.0) != name.facts.more_is_better else one] += 1
        return wins

    def _estimate(
        self,
        name: Compared,
        place: int,
        confidence: float,
        *,
        table: Table | None = None,
        within: Clusters | None = None,
    ) -> Estimate | ClassEstimate:
        """Return a measure of a score; of the rows of `table` and their clusters, where they are not all."""
        one, classes = self.entries.scores[place], self.entries.classes
        if isinstance(name, ClassMeasure) and name is not C.ACCURACY and classes is not None:
            return classes(name, place, confidence)
        own = MeasureName.OBSERVED_RATE if isinstance(name, ClassMeasure) else name
        one = one if table is None else replace(one, table=table)
        found = measured_alone(own, one, options=replace(self.options, confidence=confidence))
        if within is None and self.entries.clusters:
            within = self.entries.clusters[place]
        return found if within is None else with_clusters(found, within, confidence=confidence)

    def _contrast(self, name: Compared, first: int, second: int) -> Contrast:
        one, two = (self.entries.scores[place] for place in (first, second))
        sums = self.entries.paired(first, second)
        if isinstance(name, ClassMeasure):
            found = sums.difference(name, confidence=self.options.confidence)
        else:
            if self.entries.common is not None and sums.rows and name not in sums.names:
                found = self._over_both(first, second)[name]
            else:
                only = replace(self.options, metrics=(name,))
                (found,) = differences(one, two, sums, options=only)
            if not sums.rows:
                found = replace(found, value=None, interval=None)
        pair = self.entries.clusters_of(first, second, name) if sums.rows else None
        if pair is not None:
            found = difference_over_clusters(found, *pair, confidence=self.options.confidence)
        return Contrast(one.name, two.name, sums.rows, found)

    def _over_both(self, first: int, second: int) -> Mapping[Compared, Difference]:
        """Return the differences of all that is no mean over rows, of the rows that two scores have.

        They are kept, both ways, since rows may be read anew for the tables of a pair.
        """
        scores, common = self.entries.scores, self.entries.common
        if (first, second) not in self.both and common is not None:
            for one, two in ((first, second), (second, first)):
                sums = self.entries.paired(one, two)
                apart = tuple(name for name in self.options.metrics or () if name not in sums.names)
                left, right = (
                    replace(scores[mine], table=common(mine, other))
                    for mine, other in ((one, two), (two, one))
                )
                found = differences(left, right, sums, options=replace(self.options, metrics=apart))
                self.both[one, two] = {difference.name: difference for difference in found}
        return self.both[first, second]

    def _skill(self, name: Compared, reference: int, place: int, contrast: Contrast) -> Skill | None:
        """Return the share saved of the loss of the reference on the rows of both; None without any."""
        if not contrast.rows:
            return None
        common = self.entries.common
        table = None if common is None else common(reference, place)
        safer = 1.0 - (1.0 - self.confidence) * _FOR_REFERENCE
        pair = self.entries.clusters_of(reference, place, name)
        loss = self._estimate(name, reference, safer, table=table, within=None if pair is None else pair[0])
        return skill(contrast.difference, loss, confidence=self.confidence)
