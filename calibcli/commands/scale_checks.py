"""Whether scores are on the scale they were read on, and on that of the scores a map was fitted to."""

import math
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from calibcli.data.fault_words import NO_SIGN
from calibcli.data.faults import SUM_TOLERANCE, RowSums
from calibcli.errors import InputProblem
from calibcli.names import Scale
from calibcli.options.numerals import agreeing, plural
from calibcli.stats.table import Booleans, Floats, Integers, run_starts
from calibcli.stats.table.bins import segment_sums
from calibcli.stats.table.grid import LEVELS, quantiles_of, score_quantiles
from calibcli.values import dataclass, replace

if TYPE_CHECKING:
    from calibcli.commands.gathering import Gathered
    from calibcli.data.intake import Intake
    from calibcli.documents.artifact import AnyArtifact, ClassArtifact, OneMap
    from calibcli.stats.table.grid import Table

# Fewer rows, or scores of fewer values, say nothing of the scale.
FEWEST = 100
FEWEST_VALUES = 20
# So many per cent of the fit rows must lie where the other scale has no values, or of the scores where no fit
# row does.
_APART = 50.0
_INNER = slice(1, -1)
# The log-odds of 0 and 1 are infinite, and those past this are not told from them.
_FARTHEST = 36.0
_ROUNDING = 1e-12
_PROBABILITIES, _LOGITS, _PERCENT = "probabilities", "log-odds", "percentages"
_WAYS = {
    _PROBABILITIES: "pass --scale prob",
    _LOGITS: "pass --scale logit",
    _PERCENT: "pass --scale percent",
}
_LABELS = {0.0, 1.0}
_HARD = "every score is 0 or 1, like predicted labels and unlike probabilities: is it the right column?"
PROBABILITIES = (
    "every value lies in [0, 1], and the map was fitted to logits: is it the right column?"
    " --scale prob reads probabilities"
)


@dataclass(frozen=True, slots=True)
class Seen:
    """Where scores lie.

    Args:
        values: How many different ones there are, or as many as were looked for.
        resolution: By how much a score may have moved.
        hard: Whether every one is 0 or 1.
    """

    rows: int
    quantiles: tuple[float, ...]
    values: int
    resolution: float = 0.0
    hard: bool = False


def seen_in(table: "Table") -> Seen:
    hard = table.distinct <= len(_LABELS) and _LABELS.issuperset(table.score.tolist())
    return Seen(table.total_rows, score_quantiles(table), table.distinct, table.resolution, hard)


def tables_of_scores(gathered: "Gathered", further: Mapping[str, str]) -> dict[str, "Table"]:
    """Return the table of each score by its name, before any map."""
    return {name: gathered.tables[key] for key, name in {"raw": gathered.input.score, **further}.items()}


_SURE = (
    "{} with {} {} a score of exactly {}, the nearest there is: one with label {} makes log loss infinite, "
    "as finite logarithms do not"
)
# Logarithms whose probability no double tells from 0 or 1, by scale, and the score that they have.
_TOO_SURE = {
    Scale.LOGIT: (("log-odds above 36.7", 1), ("log-odds below -745", 0)),
    Scale.LOGPROB: (("log-probabilities below -745", 0),),
}


def sure_notes(gathered: "Gathered", further: Mapping[str, str]) -> tuple[str, ...]:
    """Return how many logarithms are so large that no double but 0 or 1 is as near to their probability."""
    if gathered.input.classes is not None:
        return ()
    said = []
    for name, table in tables_of_scores(gathered, further).items():
        column = f"column {name!r}: " if further else ""
        for kind, score in _TOO_SURE.get(gathered.resolved.requested.read_as, ()):
            rows = int(table.rows[table.score == score].sum())
            counted = f"{column}{plural(rows, 'row')}"
            said += [_SURE.format(counted, kind, agreeing(rows, "has"), score, 1 - score)] if rows else []
    return tuple(said)


_MIXED = "; if it is on another scale than the other columns, comparisons with it are wrong"
_UNSURE_ROWS = "every row sums to {:g}, and was read as log-odds; {} reads {}"


def unfitted_notes(
    gathered: "Gathered", further: Mapping[str, str] = MappingProxyType({})
) -> tuple[str, ...]:
    """Return which scores seem to be on another scale than they were read on, or to be labels."""
    raw, scale = gathered.tables["raw"], gathered.resolved.requested.read_as
    if gathered.sums is not None and scale is Scale.LOGIT:
        what = _whole_rows(gathered.sums) if raw.total_rows >= FEWEST else None
        return () if what is None else (_UNSURE_ROWS.format(_WHOLE[what], _WAYS[what][5:], what),)
    tables = tables_of_scores(gathered, further)
    unsigned = any(NO_SIGN in note for note in gathered.input.notes)
    said = {name: _scale_notes(table, scale, unsigned=unsigned) for name, table in tables.items()}
    # Beside columns on another scale every comparison would be wrong.
    mixed = _MIXED if further and not all(said.values()) else ""
    said = {name: tuple(f"{one}{mixed}" for one in notes) for name, notes in said.items()}
    if scale is not Scale.LOGIT and gathered.input.classes is None:
        said = {name: said[name] or ((_HARD,) if _is_hard(table) else ()) for name, table in tables.items()}
    return tuple(
        f"column {name!r}: {one}" if further else one for name, notes in said.items() for one in notes
    )


# What rows of all classes sum to.
_WHOLE = {_PROBABILITIES: 1.0, _PERCENT: 100.0}


def _whole_rows(sums: RowSums) -> str | None:
    """Return what rows of several classes that were read as logits seem to be; None for logits."""
    near = (what for what, total in _WHOLE.items() if sums.all_near(total, within=SUM_TOLERANCE * total))
    return next(near, None)


def _is_hard(table: "Table") -> bool:
    return table.total_rows >= FEWEST and seen_in(table).hard


_UNSURE = "every value lies in [0, 1], and was read as log-odds; --scale prob reads probabilities"
_PERCENT_INSTEAD = "events are a hundredth of what the scores expect: --scale percent reads 0.4 as 0.4 %"
_PERCENT_READ = "no value is below 0, and they were read as log-odds; --scale percent reads percentages"
_LOGPROB_READ = (
    "no value is above 0, many are next to it, and they were read as log-odds; --scale logprob reads "
    "log-probabilities"
)
_UNSURE_PERCENT = "no value is above 1, and they were read as percentages; --scale prob reads probabilities"
_FRACTIONS = "{} between 0 and 1 among percentages: 0.9 was read as 0.9 %; where it means 90 %, write 90"


def _scale_notes(table: "Table", scale: Scale, *, unsigned: bool) -> tuple[str, ...]:
    """Return that percentages or log-odds may be probabilities, or probabilities percentages.

    Args:
        unsigned: Whether it was said already that some percentages lack the sign of others.
    """
    if table.total_rows < FEWEST:
        return ()
    if scale is Scale.PROB:
        return (_PERCENT_INSTEAD,) if _a_hundredth(table) else ()
    if scale is Scale.PERCENT:
        if float(table.score[-1]) <= 1.0 / 100.0:
            return (_UNSURE_PERCENT,)
        mixed = 0 if unsigned else _fractions_among_percentages(table)
        return (_FRACTIONS.format(plural(mixed, "score")),) if mixed else ()
    return _notes_on_logits(table) if table.distinct > len(_LABELS) else ()


def _notes_on_logits(table: "Table") -> tuple[str, ...]:
    seen = seen_in(table)
    if _within(seen, 1.0):
        return (_UNSURE,)
    if _log_probabilities(table, seen):
        return (_LOGPROB_READ,)
    return (_PERCENT_READ,) if _percentages(table, seen) else ()


# So near 0 is the logarithm of a probability above 0.9.
_NEXT_TO_0 = -0.1


def _log_probabilities(table: "Table", seen: Seen) -> bool:
    """Whether scores that were read as log-odds crowd below 0 and end there, as log-probabilities do.

    Log-odds of expected errors of two classes do so too; then events are as many as they say.
    """
    *_, at_95, _, highest = _log_odds(seen.quantiles)
    near = np.count_nonzero(_log_odds(table.score[-FEWEST_VALUES:]) > _NEXT_TO_0)
    if highest > 8.0 * seen.resolution + _ROUNDING or at_95 <= _NEXT_TO_0 or near < FEWEST_VALUES:
        return False
    return table.weighted or not _right_on_average(table, table.score)


def _percentages(table: "Table", seen: Seen) -> bool:
    """Whether scores that were read as log-odds are none below 0, and as right as percentages as they are
    wrong as log-odds.
    """
    if table.weighted or not _within(seen, 100.0):
        return False
    off = abs(table.total_positive_rows - float(table.rows @ table.score))
    percentages = np.minimum(_log_odds(table.score), 100.0) / 100.0
    return _right_on_average(table, percentages) and off > _NEAR * math.sqrt(table.total_rows)


def _right_on_average(table: "Table", scores: Floats) -> bool:
    """Whether there are about as many events as scores in the place of the table's expect."""
    expected = float(table.rows @ scores)
    return abs(table.total_positive_rows - expected) <= _NEAR * math.sqrt(expected)


def _fractions_among_percentages(table: "Table") -> int:
    """Return how many rows have a score that seems to be a probability where all others are percentages.

    There are more events than such percentages expect, and scores rank labels better so, or the others are
    whole numbers and probabilities expect nearly as many; one value below 1, as the least of a list, is none.
    """
    percent = 100.0 * table.score
    below = (percent > 0.0) & (percent < 1.0 - _ROUNDING)
    above = percent[percent > 1.0 + _ROUNDING]
    if table.resolution or not above.size or np.count_nonzero(below) < len(_LABELS):
        return 0
    events, expected = int(table.positive_rows[below].sum()), float(table.rows[below] @ table.score[below])
    if events <= expected + _NEAR * math.sqrt(max(expected, 1.0)):
        return 0
    # Grades of 0.03 %, 0.1 % and 0.3 % beside whole ones may have three times as many.
    whole = np.abs(above - np.round(above)).max() < 100.0 * _ROUNDING and events > 50.0 * expected
    return int(table.rows[below].sum()) if whole or _rank_better(table, below) else 0


def _rank_better(table: "Table", below: Booleans) -> bool:
    """Whether the log loss of rising curves falls clearly once some scores stand for a hundred times as much.

    It falls further if all are turned round where labels are coded in reverse.
    """
    moved = np.argsort(np.where(below, 100.0 * table.score, table.score), kind="stable")
    ways = slice(None), slice(None, None, -1), moved
    read, turned, loss = (_rising_loss(table.rows[one], table.positive_rows[one]) for one in ways)
    return loss < min(read, turned) - _CLEARLY


def _rising_loss(rows: Integers, positive: Integers) -> float:
    """Return the sum of the log losses of the best rising curve."""
    from calibcli.stats.measures.scores import entropy
    from calibcli.stats.recalibrators.pooling import bends

    starts = bends(rows, positive)
    total = segment_sums(rows, starts)
    return float(total @ entropy(segment_sums(positive, starts) / total))


# So many standard errors may events lie from a hundredth of those expected, and so few tell nothing.
_NEAR, _FEWEST_EVENTS = 3.0, 5
# By so much the log loss of two curves does not differ by chance.
_CLEARLY = 10.0


def _a_hundredth(table: "Table") -> bool:
    """Whether there are about as many events as if scores were percentages, each a hundred times too high."""
    if table.weighted or table.total_positive_rows < _FEWEST_EVENTS:
        return False
    return _right_on_average(table, table.score / 100.0)


def table_scale_notes(gathered: "Gathered", artifact: "AnyArtifact") -> tuple[str, ...]:
    """Refuse raw scores on another scale than that of the fit; return what is to be said of others."""
    from calibcli.documents.artifact import ClassArtifact

    raw, one = gathered.as_fitted, artifact.of_all_rows
    if not isinstance(one, ClassArtifact):
        column = f"column {gathered.input.score!r}"
        return scale_notes(seen_in(raw) if raw.total_rows else None, one, column=column)
    highest = float(raw.score[-1]) - raw.resolution if raw.total_rows else 0.0
    return class_scale_notes(gathered.sums, one, rows=raw.total_rows, highest=highest)


# Scores that pass by are remembered evenly: so many at least, once there are as many.
_REMEMBERED = 1 << 12


class ScaleCheck:
    """Asks of scores that pass by whether they are on the scale of a fit, without a second look at them.

    Every so many of them are remembered, evenly over all.
    """

    def __init__(self, artifact: "OneMap") -> None:
        self._artifact = artifact
        self._rows = 0
        self._step = 1
        self._kept: list[Floats] = []
        self._size = 0
        self._ends = (math.inf, -math.inf)
        self._hard = True

    def add(self, scores: Floats) -> None:
        """Look at some scores, in the order of the file."""
        if not scores.size:
            return
        self._ends = min(self._ends[0], float(scores.min())), max(self._ends[1], float(scores.max()))
        self._hard = self._hard and bool(((scores == 0.0) | (scores == 1.0)).all())
        some = scores[-self._rows % self._step :: self._step]
        self._rows += scores.size
        self._kept.append(some.copy())
        self._size += some.size
        while self._size >= 2 * _REMEMBERED:
            # Those at multiples of the step from the first row stay at multiples of twice the step.
            every = np.concatenate(self._kept)[::2]
            self._kept, self._size, self._step = [every], every.size, 2 * self._step

    def notes(self, intake: "Intake") -> tuple[str, ...]:
        column = f"{intake.shown}, column {intake.column!r}"
        return scale_notes(self._seen(), self._artifact, column=column)

    def _seen(self) -> Seen | None:
        """Return where they lie; the ends are those of all."""
        if not self._rows:
            return None
        # np.unique would import numpy.ma on the way to a small file.
        every = np.concatenate(self._kept)
        lowest, *inner, highest = quantiles_of(every)
        lowest, highest = min(lowest, self._ends[0]), max(highest, self._ends[1])
        values = int(run_starts(np.sort(every)).size)
        return Seen(self._rows, (lowest, *inner, highest), values, hard=self._hard)


def scale_notes(seen: Seen | None, artifact: "OneMap", *, column: str) -> tuple[str, ...]:
    """Refuse scores that are on another scale than those of a fit, and return what is to be said of others.

    Scores that seem to be outputs of the map itself are said to be, and labels in the place of scores.

    They are refused where all of these hold: there are at least 100 rows and 20 different scores; their
    log-odds spread at least three times as far as those of the fit rows, or a third as far or less; half of
    them lie outside the range of the fit rows, or half of the fit rows where values of the other scale cannot
    lie; and read on that scale their quantiles are those of the fit rows, to within a third of the spread.
    """
    if seen is None or seen.rows < FEWEST:
        return ()
    scale, fitted = artifact.scale, artifact.fit.score_quantiles
    if fitted is not None and seen.values >= FEWEST_VALUES:
        there, here = _log_odds(fitted), _log_odds(seen.quantiles)
        for what, other, ends in _readings(seen, scale, fitted=there):
            apart = max(_outside(there, ends), _outside(here, there[[0, -1]])) >= _APART
            if apart and _disagrees(here, there) and _agrees(other, there):
                raise _refused(seen, fitted, scale, what=what, column=column)
    said = _mistaken(seen, artifact) or _beyond_fit(seen, artifact)
    return () if not said else (said if said == PROBABILITIES else f"{column}: {said}",)


_TWICE = (
    "these scores look like outputs of this map, not like the scores that it was fitted to: has it been "
    "applied to them already?"
)
_HUNDREDFOLD = (
    "half of these scores or more lie beyond those that the map was fitted to, and read as {} they would lie "
    "where those did: {} reads them so"
)


def _mistaken(seen: Seen, artifact: "OneMap") -> str:
    """Return what scores seem to be instead of those that a map was fitted to."""
    scale, fitted = artifact.scale, artifact.fit.score_quantiles
    if fitted is not None and seen.values >= FEWEST_VALUES:
        there, here = _log_odds(fitted), _log_odds(seen.quantiles)
        outputs = _log_odds(np.sort(artifact.recalibrator.predict(np.array(fitted))))
        if _applied_before(here, there, outputs=outputs):
            return _TWICE
        if (instead := _hundredfold(seen, scale, fitted=there)) is not None:
            return _HUNDREDFOLD.format(instead, _WAYS[instead].removeprefix("pass "))
    hard = seen.hard and scale is not Scale.LOGIT and not _LABELS.issuperset(fitted or _LABELS)
    if hard or _all_outputs(seen, artifact):
        return _HARD if hard else _TWICE
    if scale is not Scale.LOGIT or not _within(seen, 1.0):
        return ""
    # Of fit rows that all lay there, too, nothing is odd.
    return "" if fitted is not None and _within(replace(seen, quantiles=fitted), 1.0) else PROBABILITIES


_BEYOND = (
    "about {:.0f} % of these scores lie beyond those that the map was fitted to ({}): what it makes of them "
    "no fit row has shown"
)
# So many per cent of scores, and as many as twenty of the fit rows, lie beyond these by more than rounding.
_BEYOND_LEAST, _BEYOND_ROWS, _BY_ROUNDING = 10.0, 2_000.0, 1e-3


def _beyond_fit(seen: Seen, artifact: "OneMap") -> str:
    """Return how many scores lie where a map had no fit row, if they are many."""
    fitted = artifact.fit.score_quantiles
    if fitted is None:
        return ""
    there, here = _log_odds(fitted), _log_odds(seen.quantiles)
    below, up_to = np.interp((there[0] - _BY_ROUNDING, there[-1] + _BY_ROUNDING), here, LEVELS)
    share = float(below + 100.0 - up_to)
    if share < max(_BEYOND_LEAST, _BEYOND_ROWS / artifact.fit.rows):
        return ""
    lowest, highest = (there if artifact.scale is Scale.LOGIT else np.asarray(fitted))[[0, -1]]
    return _BEYOND.format(share, f"{lowest:.3g} to {highest:.3g}")


def _readings(seen: Seen, scale: Scale, *, fitted: Floats) -> Iterator[tuple[str, Floats, Floats]]:
    """Yield what scores may be instead, their log-odds if so, and the ends of how those are read."""
    scores = np.array(seen.quantiles)
    if scale is Scale.PROB:
        yield _LOGITS, scores, np.array([-_FARTHEST, _FARTHEST])
    if scale is not Scale.LOGIT:
        return
    logits = _log_odds(seen.quantiles)
    if _within(seen, 1.0):
        yield _PROBABILITIES, _log_odds(np.clip(logits, 0.0, 1.0)), np.array([0.0, 1.0])
    elif _within(seen, 100.0):
        shares = _log_odds(np.clip(logits / 100.0, 0.0, 1.0))
        # Past that the log-odds are not known any more, only that they are at least so high.
        shares = np.where(logits >= _FARTHEST, np.maximum(fitted, shares), shares)
        yield _PERCENT, shares, np.array([0.0, _FARTHEST])


def _hundredfold(seen: Seen, scale: Scale, *, fitted: Floats) -> str | None:
    """Return what scores seem to be that are a hundred times too high or low for a map; None for nothing.

    Their spread says nothing, since that of small log-odds stays what it was.
    """
    others = {Scale.PROB: (_PERCENT, 0.01), Scale.PERCENT: (_PROBABILITIES, 100.0)}
    what, times = others.get(scale, ("", math.nan))
    otherwise = np.array(seen.quantiles) * times
    if not otherwise[-1] <= 1.0:
        return None
    apart = _outside(_log_odds(seen.quantiles), fitted[[0, -1]]) >= _APART
    return what if apart and _agrees(_log_odds(otherwise), fitted) else None


def _within(seen: Seen, most: float) -> bool:
    """Whether all scores are logits from 0 to `most`; those not told from infinite ones may be any."""
    lowest, highest = _log_odds(seen.quantiles)[[0, -1]]
    spare = 8.0 * seen.resolution + _ROUNDING
    return bool(-spare <= lowest and highest <= most + spare)


def _log_odds(scores: Sequence[float] | Floats) -> Floats:
    share = np.asarray(scores, np.float64)
    with np.errstate(divide="ignore"):
        return np.asarray(np.clip(np.log(share) - np.log1p(-share), -_FARTHEST, _FARTHEST))


# Log-odds agree with those of the fit rows where no quantile from 1 to 99 % is farther off than this share of
# the fit rows' distance from 10 to 90 %, and disagree where that distance is so many times as large or small.
_AGREES = 1.0 / 3.0
_DISAGREES = 3.0


def _agrees(here: Floats, there: Floats) -> bool:
    farthest = float(np.abs(here - there)[_INNER].max())
    return farthest <= _AGREES * _spread(there)


def _disagrees(here: Floats, there: Floats) -> bool:
    one, other = _spread(here), _spread(there)
    return other > 0.0 and not other / _DISAGREES < one < other * _DISAGREES


# Scores are a map's own outputs where these are so many times nearer than the fit rows and than they are
# spread, and the map moves scores by so much of their log-odds, and by such a share of the spread.
_TIMES_NEARER = 8.0
_MOVED, _MOVED_SHARE = 0.05, 0.1


def _applied_before(here: Floats, there: Floats, *, outputs: Floats) -> bool:
    """Whether scores lie where the map's outputs lie, not its fit rows, by the mean over quantiles."""
    near, far, apart = (
        float(np.abs(one - other)[_INNER].mean())
        for one, other in ((here, outputs), (here, there), (there, outputs))
    )
    moves = apart >= max(_MOVED, _MOVED_SHARE * _spread(there))
    return moves and _TIMES_NEARER * near <= min(far, _spread(outputs))


_FEWEST_OUTPUTS = 3


def _all_outputs(seen: Seen, artifact: "OneMap") -> bool:
    """Whether scores are the very values that a map of few values has, and its fit rows were not."""
    from calibcli.stats.recalibrators import values_of

    outputs, scores = set(values_of(artifact.recalibrator.bins) or ()), set(seen.quantiles)
    fitted = artifact.fit.score_quantiles
    return len(scores) >= _FEWEST_OUTPUTS and scores <= outputs and not set(fitted or scores) <= outputs


def _outside(log_odds: Floats, ends: Floats) -> float:
    """Return how many per cent of some log-odds, known by quantiles, lie outside a range."""
    below, up_to = np.interp(ends, log_odds, LEVELS)
    return float(below + 100.0 - up_to)


_TEN, _NINETY = LEVELS.index(10), LEVELS.index(90)


def _spread(log_odds: Floats) -> float:
    return float(log_odds[_NINETY] - log_odds[_TEN])


def _refused(seen: Seen, fitted: Sequence[float], scale: Scale, *, what: str, column: str) -> InputProblem:
    own = _LOGITS if scale is Scale.LOGIT else _PROBABILITIES
    shown = _log_odds if scale is Scale.LOGIT else np.asarray
    (here, most), (there, highest) = (shown(one)[[0, -1]] for one in (seen.quantiles, fitted))
    more = " or more" if scale is Scale.LOGIT and most >= _FARTHEST else ""
    msg = (
        f"{column}: {seen.rows:,} values from {here:.3g} to {most:.3g}{more} do not look like the {own} "
        f"that the map was fitted to ({there:.3g} to {highest:.3g}); read as {what} they do"
    )
    return InputProblem(msg, f"{_WAYS[what]}; or --scale {scale.value} if they are {own} all the same")


def class_scale_notes(
    sums: RowSums | None, artifact: "ClassArtifact", *, rows: int, highest: float
) -> tuple[str, ...]:
    """Refuse rows of several classes that were read as logits and are probabilities, or percentages.

    They are refused where there are at least 100 rows, no number is below 0, every row sums to 1, or to 100,
    and the rows of the fit cannot have been of that kind.
    """
    if artifact.scale is not Scale.LOGIT or rows < FEWEST:
        return ()
    # What a logit of 1 beside logits of 0 is as a probability: more than any row of probabilities gives.
    most = math.e / (math.e + len(artifact.classes) - 1.0) + _ROUNDING
    fitted = artifact.fit.score_quantiles
    if sums is not None and fitted is not None and fitted[-1] > most:
        what = _whole_rows(sums)
        if what is not None:
            msg = (
                f"all {rows:,} rows sum to {_WHOLE[what]:g} with no number below 0, as {what} do, "
                f"and the map was fitted to {_LOGITS}"
            )
            raise InputProblem(msg, f"{_WAYS[what]}; or --scale logit if they are {_LOGITS} all the same")
    known = fitted is not None and fitted[-1] <= most
    return (PROBABILITIES,) if highest <= most and not known else ()
