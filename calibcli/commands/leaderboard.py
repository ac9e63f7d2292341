"""Compare several scores of the same rows, or several models on the same questions, all pairs at once."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations

from calibcli.commands.comparing import Seen, differences, measured_alone
from calibcli.commands.gathering import RAW, Gathered
from calibcli.commands.reading import read_judged
from calibcli.commands.slices import beside_of, level_of, views_of
from calibcli.data.tally import Beside
from calibcli.errors import EmptyTable, IdleOption, InputProblem, UsageProblem
from calibcli.names import Binning, MeasureName, OnMissing
from calibcli.options.comparing import CompareOptions
from calibcli.options.declaring import nearest
from calibcli.options.rows import Columns, RowRequest
from calibcli.reports.leaderboard import PAIRWISE, Contrast, LeaderboardReport, Ranking, Standing
from calibcli.stats.measures.differences import PAIRED, PairedSums, Skill, skill
from calibcli.stats.measures.estimate import Estimate
from calibcli.stats.measures.matched import Answers, in_common
from calibcli.stats.table.bins import looks_discrete
from calibcli.stats.table.grid import Table
from calibcli.stats.table.score_table import ScoreTable
from calibcli.values import dataclass

# Sums of differences take 0.3 MiB a pair, in every fragment that is read at once: 190 pairs at most.
MOST_IN_PAIRS = 20

# With a reference: the share of the error that the interval of its own loss may take.
_FOR_REFERENCE = 0.1

PAIRED_ROWS = f"{PAIRWISE}: each score uses its own rows, and each difference the rows that both have"


@dataclass(frozen=True, slots=True)
class Entries:
    """
    What is compared.

    Args:
        scores: Each with its rows.
        paired: The differences of two, by their places, the second less the first.
        common: The rows of one that another has too, by their places; None where all have the same rows.
        notes: What must be said of rows that do not count.
    """

    scores: tuple[Seen, ...]
    paired: Callable[[int, int], PairedSums]
    common: Callable[[int, int], Table] | None = None
    notes: tuple[str, ...] = ()


def leaderboard(rows: RowRequest, *, options: CompareOptions) -> LeaderboardReport:
    """Compare any number of scores with the best of them, or with the reference."""
    columns = rows.columns
    _refuse(columns, options)
    if columns.by:
        judged = read_judged(rows, beside=Beside(identified=RAW))
        entries = _models(judged)
        positive = None
    else:
        columns = replace(columns, in_pairs=True)
        reference = options.reference
        if reference is not None and reference not in (columns.score, *columns.others):
            columns = replace(columns, others=(*columns.others, reference))
        judged, entries = _scores(replace(rows, columns=columns), options)
        positive = None
        if columns.on_missing is not OnMissing.PAIRWISE:
            positive = judged.table.total_positive_rows / judged.table.total_rows
    return _report(judged, entries, options, positive)


def _refuse(columns: Columns, options: CompareOptions) -> None:
    """Refuse what is not compared so."""
    if columns.several is not None:
        msg = "a leaderboard compares scores, and --probs names several classes"
        raise UsageProblem(msg, "compare two artifacts of them, or one class as a score")
    if options.joint and options.metrics:
        msg = f"{options.joint[0].value} is a measure of several classes, and --probs names none"
        raise UsageProblem(msg, "ask for brier or log_loss")
    if columns.by and columns.on_missing is OnMissing.PAIRWISE:
        msg = (
            "--on-missing pairwise is for scores in columns: models in rows are compared on common questions"
        )
        raise IdleOption(msg, "pass --on-missing drop", options=("on-missing",))
    if columns.by and columns.identity is None:
        msg = "--by compares the models that a column names, and nothing tells their questions apart"
        raise UsageProblem(msg, "name the column that does with --id")
    if columns.by and (columns.others or columns.weight is not None):
        what = "one score" if columns.others else "rows without weights"
        msg = f"--by compares the models that a column names by {what}"
        raise IdleOption(
            msg, "leave out one of them", options=("by", "score" if columns.others else "weight")
        )
    if options.fail_if_worse and options.reference is None:
        msg = "--fail-if-worse holds every score against one"
        raise UsageProblem(msg, "name it with --reference")
    count = len(columns.others) + 1
    if count > MOST_IN_PAIRS and (options.reference is None or options.pairs):
        msg = f"{count} scores make {count * (count - 1) // 2:,} pairs"
        hint = f"at most {MOST_IN_PAIRS} are compared in pairs: name one with --reference, without --pairs"
        raise UsageProblem(msg, hint)


def _scores(rows: RowRequest, options: CompareOptions) -> tuple[Gathered, Entries]:
    """Read score columns side by side, with the differences of their losses row by row."""
    columns, beside = rows.columns, beside_of(rows)
    keys = (RAW, *beside.columns)
    pairs = tuple(combinations(keys, 2))
    place, apart = None, columns.on_missing is OnMissing.PAIRWISE
    if options.reference is not None:
        place = (columns.score, *columns.others).index(options.reference)
    if place is not None and not options.pairs:
        pairs = tuple((keys[place], key) for key in keys if key != keys[place])
    if place is not None and apart:
        # What skill is a share of: the loss of the reference on the rows that another score has as well.
        where = {f"reference where {key}": other for other, key in enumerate(keys) if other != place}
        beside = replace(beside, columns={**beside.columns, **dict.fromkeys(where, place)}, where=where)
    judged = read_judged(rows, beside=replace(beside, pairs=pairs))
    sums = dict(zip(pairs, judged.aside.paired, strict=True))
    views = dict(zip(keys, views_of(judged), strict=True))
    seen = {key: Seen(view.source.score, view.source.score, view.table) for key, view in views.items()}
    empty = [one.name for one in seen.values() if not one.table.total_rows]
    if empty and (len(empty) > len(seen) - 2 or options.reference in empty):
        msg = f"{empty[0]!r} has no value in any of {judged.input.rows:,} rows"
        raise EmptyTable(msg, "leave it out")
    kept = [key for key, one in seen.items() if one.table.total_rows]

    def paired(one: int, other: int) -> PairedSums:
        found = sums.get((kept[one], kept[other]))
        return sums[kept[other], kept[one]].turned() if found is None else found

    def common(_: int, other: int) -> Table:
        return judged.tables[f"reference where {kept[other]}"]

    notes = [PAIRED_ROWS] if apart else []
    notes += [f"{one!r} is left out: it has no value in any row" for one in empty]
    found = tuple(seen[key] for key in kept)
    return judged, Entries(found, paired, common if apart else None, tuple(notes))


def _models(judged: Gathered) -> Entries:
    """Match the rows of different models by their questions."""
    kept = judged.aside.identified
    models = {} if kept is None else kept.by_part()
    if len(models) < 2:
        msg = f"--by {judged.chosen.by[0]} names {len(models)} model, and nothing to compare it with"
        raise InputProblem(msg, "name the column that tells models apart, or compare score columns")
    if len(models) > MOST_IN_PAIRS:
        msg = f"--by {judged.chosen.by[0]} names {len(models):,} models"
        raise InputProblem(msg, f"at most {MOST_IN_PAIRS} are compared: choose some with --where")
    answers = {name: Answers.of(*columns) for name, columns in models.items()}
    notes = []
    for name, one in answers.items():
        if one.repeated:
            rows = "1 row repeats" if one.repeated == 1 else f"{one.repeated:,} rows repeat"
            notes.append(f"{name}: {rows} an id of the model: of equal ids the first row counts")
    asked = {one.ids.tobytes() for one in answers.values()}
    if len(asked) > 1:
        common = in_common(list(answers.values()))
        alone = [
            f"{one.ids.size - common:,} of {name}" for name, one in answers.items() if one.ids.size > common
        ]
        notes.append(
            f"{common:,} ids are answered by every model, and {', '.join(alone)} are not. "
            "Two models are compared on the ids that both have"
        )
    listed = list(answers.values())
    seen = tuple(
        Seen(name, name, ScoreTable.from_rows(one.score, one.label)) for name, one in answers.items()
    )
    return Entries(
        seen,
        lambda one, other: listed[one].against(listed[other]),
        None if len(asked) == 1 else lambda one, other: listed[one].where(listed[other]),
        tuple(notes),
    )


def _report(
    judged: Gathered, entries: Entries, options: CompareOptions, positive: float | None
) -> LeaderboardReport:
    names = [one.name for one in entries.scores]
    reference = None
    if options.reference is not None:
        reference = _place_of(options.reference, names, judged)
    each, family = level_of_each(options, len(names))
    return LeaderboardReport(
        input=judged.input,
        models="/".join(judged.chosen.by) or None,
        reference=None if reference is None else names[reference],
        confidence=options.confidence,
        each=each,
        family=family,
        rankings=rankings(entries, options, reference),
        positive=positive,
        gate=options.gate(),
        notes=(*judged.notes, *entries.notes),
    )


def level_of_each(options: CompareOptions, count: int) -> tuple[float, int]:
    """
    Return the confidence of each difference at which all hold together, and how many those are.

    Which score is the best is seen on the rows themselves, so that without a reference every pair counts.
    """
    whole = options.reference is None or options.pairs
    family = count * (count - 1) // 2 if whole else count - 1
    share = 1.0 if options.reference is None else 1.0 - _FOR_REFERENCE
    return level_of(1.0 - (1.0 - options.confidence) * share, family), family


def rankings(entries: Entries, options: CompareOptions, reference: int | None) -> tuple[Ranking, ...]:
    """Return all scores by every measure; `reference` is the place of one that all are held against."""
    each, _ = level_of_each(options, len(entries.scores))
    asked = replace(options, metrics=options.metrics or PAIRED, confidence=each)
    few_valued = all(looks_discrete(one.table) for one in entries.scores)
    if options.binning is None and options.bins is None and not few_valued:
        asked = replace(asked, binning=Binning.EQUAL_WIDTH)
    board = _Board(entries, asked, options.confidence, reference)
    return tuple(board.ranking(name) for name in asked.shown)


def _place_of(reference: str, names: Sequence[str], judged: Gathered) -> int:
    """Return which of the scores is the reference; a column may be spelled as the user wrote it."""
    if reference in names:
        return names.index(reference)
    if not judged.chosen.by:
        from calibcli.data.columns import named

        return names.index(named(reference, names, path=judged.input.files[0]))
    msg = f"--reference {reference}: there is no such model"
    raise UsageProblem(msg, nearest(reference, names))


@dataclass(slots=True)
class _Board:
    """
    Scores, and what compares them.

    Args:
        options: Its confidence is that of each difference.
        confidence: Of each score by itself, and of all differences together.
    """

    entries: Entries
    options: CompareOptions
    confidence: float
    reference: int | None

    def ranking(self, name: MeasureName) -> Ranking:
        """Return all scores by one measure."""
        scores = self.entries.scores
        estimates = [self._estimate(name, one, self.confidence) for one in scores]
        wins = self._wins(name)
        order = sorted(range(len(scores)), key=lambda place: (-wins[place], estimates[place].value, place))
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

    def _wins(self, name: MeasureName) -> list[int]:
        """
        Return how many others each score is better than on the rows that both have.

        Where all have the same rows their values say who is better. Where rows differ, one score may have the
        easier ones.
        """
        scores = self.entries.scores
        wins = [0] * len(scores)
        pairs = list(combinations(range(len(scores)), 2)) if self.reference is None and name in PAIRED else []
        most = max(one.table.total_rows for one in scores)
        if all(self.entries.paired(*pair).rows == most for pair in pairs):
            return wins
        for one, two in pairs:
            value = self._contrast(name, one, two).difference.value
            if value is not None and abs(value) > 0.0:
                wins[two if value < 0.0 else one] += 1
        return wins

    def _estimate(self, name: MeasureName, one: Seen, confidence: float) -> Estimate:
        return measured_alone(name, one, options=replace(self.options, confidence=confidence))

    def _contrast(self, name: MeasureName, first: int, second: int) -> Contrast:
        one, two = (self.entries.scores[place] for place in (first, second))
        sums = self.entries.paired(first, second)
        only = replace(self.options, metrics=(name,))
        (found,) = differences(one, two, sums, options=only)
        return Contrast(one.name, two.name, sums.rows, found)

    def _skill(self, name: MeasureName, reference: int, place: int, contrast: Contrast) -> Skill | None:
        """Return the share saved of the loss of the reference on the rows of both; None without any."""
        one, common = self.entries.scores[reference], self.entries.common
        if not contrast.rows:
            return None
        if common is not None:
            one = replace(one, table=common(reference, place))
        safer = 1.0 - (1.0 - self.confidence) * _FOR_REFERENCE
        loss = self._estimate(name, one, safer)
        return skill(contrast.difference, loss, confidence=self.confidence)
