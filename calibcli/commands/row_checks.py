"""Whether rows are what they seem: labels not reversed, none twice, columns in the order of the classes."""

import math
import shlex
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from calibcli.commands.scale_checks import FEWEST, FEWEST_VALUES, tables_of_scores, unfitted_notes
from calibcli.names import ViewName
from calibcli.options.numerals import plural
from calibcli.reports.measure import RANKS_WRONG
from calibcli.stats.table import Floats, Integers
from calibcli.stats.table.levels import number_words

if TYPE_CHECKING:
    from calibcli.commands.gathering import Gathered
    from calibcli.reports.input import InputSummary
    from calibcli.stats.table.grid import Table

# Fewer rows of a label may weigh the same by chance; and sums are rounded.
_FEWEST_OF_LABEL, _ROUNDED = 5, 1e-9
# So many rows of either label are not parted by chance: of ten each with a probability of 5e-6.
_FEWEST_PARTED = 10
# So many counts that all are multiples of a number are not by chance: even ones have a probability of 10^-9.
_FEWEST_COUNTS = 30
_HALF = 0.5
_BY_LABELS = (
    "{}: leave out --weight if these are weights of classes that a model was trained with; if rows were "
    "drawn by their labels values are right, and intervals rough: docs/inputs.md (Weights) has better ones"
)
_ORDER_OF_CLASSES = "do the columns stand for these classes, in this order?"


def read_notes(gathered: "Gathered", further: Mapping[str, str] = MappingProxyType({})) -> tuple[str, ...]:
    """Return what is to be said of each score where no fit tells what it is.

    Log-odds may be probabilities, scores that are 0 and 1 labels that a model predicts, labels reversed, and
    weights those of classes.

    Args:
        further: The names of further scores, by the keys of their tables.
    """
    return (*unfitted_notes(gathered, further), *label_notes(gathered, further))


_TWO = (
    "of two classes the largest probability hides errors that cancel, as where one is 0.1 too high in every "
    "row: --view one-vs-rest --class {} looks at one alone"
)


def two_classes_notes(source: "InputSummary", names: Sequence[str]) -> tuple[str, ...]:
    """Return how to look at one probability of two, where nothing but the largest is looked at."""
    classes = source.classes
    if classes is None or classes.view is not ViewName.CONFIDENCE or classes.count > 2:
        return ()
    name = names[-1]
    quoted = shlex.quote(name)
    # In Python it is text, also where it is a number.
    return (_TWO.format(f"'{name}'" if quoted == name else quoted),)


_REVERSED = (
    RANKS_WRONG + " (AUROC {:.3g}): is the score of the other class, or the outcome coded in reverse? "
    "--positive names the value that is label 1"
)
_PARTED = (
    "every row of label 1 has a higher score than any other (AUROC 1): does the score know the label, or "
    "what came after it?"
)
_BY_CHANCE = (
    "the score tells label 1 from others no better than chance (AUROC {:.3g}; {:.3g} if it were right): do "
    "scores and labels belong to the same rows?"
)
_CONFIDENCES = (
    "; scores of 1/2 and more are confidences, whose label is whether the predicted class is right?"
)
_ALL_ALIKE = "all {:,} rows have the score {:.7g}, which tells none from another: is it what the model says?"


def label_notes(gathered: "Gathered", further: Mapping[str, str] = MappingProxyType({})) -> tuple[str, ...]:
    """Return which scores are the lower, the likelier label 1 is, which part the labels without a fault, and
    whether weights follow the labels.

    Before that, whether all rows have one score.
    """
    from calibcli.stats.measures.discrimination import odd_area

    raw = gathered.tables["raw"]
    alike = raw.kind == "exact" and raw.distinct == 1 and raw.total_rows >= FEWEST
    said = [_ALL_ALIKE.format(raw.total_rows, float(raw.score[0]))] if alike else []
    if gathered.input.classes is not None:
        return (*said, *_class_notes(gathered))
    tables = tables_of_scores(gathered, further)
    said += _same_scores(tables)
    found = {name: odd_area(table) for name, table in tables.items()}
    right = gathered.input.label == "correct"
    wrong = {
        name: (_REVERSED if areas[1] is None else _BY_CHANCE).format(*areas)
        + (_CONFIDENCES if areas[1] is None and tables[name].score[0] >= _HALF and not right else "")
        for name, areas in found.items()
        if areas is not None
    }
    wrong |= {name: _PARTED for name, table in tables.items() if parts_the_labels(table)}
    said += [f"column {name!r}: {one}" if further else one for name, one in wrong.items()]
    weights = weights_by_label(raw)
    if weights is not None:
        one, other = map(number_words, weights)
        said.append(_BY_LABELS.format(f"every row of label 1 weighs {one} and every other {other}"))
    return tuple(said)


_SAME_SCORES = (
    "columns {!r} and {!r} have the same scores beside the same labels{}: is one a copy by mistake?"
)


def _same_scores(tables: Mapping[str, "Table"]) -> list[str]:
    """Return which columns are copies of one before them; of few values, scores may well be alike."""
    pairs: list[tuple[str, str]] = []
    known: dict[int, str] = {}
    for name, one in tables.items() if len(tables) > 1 else ():
        if one.distinct >= FEWEST_VALUES:
            content = hash((one.score.tobytes(), one.rows.tobytes(), one.positive.tobytes()))
            earlier = known.setdefault(content, name)
            pairs += [] if earlier == name else [(earlier, name)]
    more = f", and so have {plural(len(pairs) - 1, 'more pair')}" if len(pairs) > 1 else ""
    return [_SAME_SCORES.format(*pairs[0], more)] if pairs else []


_ALL_RIGHT = (
    "the most probable class of every row is its label, where {:,.0f} rows should miss it if probabilities "
    "are right: are the labels those that the model predicts, or does it know them?"
)
_NEVER_SEEN = "no label is {}, which {:,} rows give a probability above 1/2: " + _ORDER_OF_CLASSES


def _class_notes(gathered: "Gathered") -> list[str]:
    """Return that labels may be predictions, or columns those of other classes."""
    raw, source = gathered.tables["raw"], gathered.input.classes
    missed = float((raw.weight * (1.0 - raw.score)).sum())
    confidence = source is not None and source.view is ViewName.CONFIDENCE and source.one_class is None
    if confidence and raw.total_positive_rows == raw.total_rows and missed >= _FEWEST_PARTED:
        return [_ALL_RIGHT.format(missed)]
    extras = gathered.extras.classes
    if extras is None:
        return []
    tables = extras.tables
    observed = np.array([one.total_positive_rows for one in tables.values()], np.int64)
    if raw.weighted:
        weights = [(one.positive.sum(), one.positive_sq.sum()) for one in tables.values()]
        return [*weights_by_class(tuple(tables), observed, np.reshape(weights, (-1, 2)).T)]
    sums = [
        (one.weight @ one.score, one.weight @ np.square(one.score), one.positive @ one.score)
        for one in tables.values()
    ]
    said = odd_classes(tuple(tables), observed, np.reshape(sums, (-1, 3)).T, rows=raw.total_rows)
    # Of labels that were chosen it is said already that they are.
    if gathered.resolved.label in gathered.resolved.rows.columns:
        return [*said]
    likely = {
        repr(name): int(one.rows[one.score > _HALF].sum())
        for name, one in tables.items()
        if not one.total_positive_rows
    }
    unseen = {name: rows for name, rows in likely.items() if rows >= _FEWEST_COUNTS}
    never = [_NEVER_SEEN.format(" or ".join(list(unseen)[:3]), sum(unseen.values()))] if unseen else []
    # As of a column that is of no class, such as the largest of the others.
    large = [
        _NEVER_LARGE.format(name, expected / raw.total_rows)
        for name, expected in zip(tables, (one[0] for one in sums), strict=True)
        if repr(name) in likely and expected >= max(_FEWEST_COUNTS, _NEVER_SHARE * raw.total_rows)
    ]
    return [*said, *(never or large[:1])]


_NEVER_LARGE = "no label is {!r}, which rows give a probability of {:.3g} on average: " + _ORDER_OF_CLASSES
_NEVER_SHARE = 0.1


def odd_classes(classes: Sequence[str], observed: Integers, given: Floats, *, rows: int) -> tuple[str, ...]:
    """Say which classes have the lower probabilities where they are the label, as columns of others do; else
    whether labels follow the probabilities by chance alone, as those of other rows do.

    Args:
        observed: How many rows are of each class, shape (K,).
        given: The sums of its probabilities, of their squares, and over the rows of the class itself, shape
            (3, K).
        rows: How many rows there are, of whatever class.
    """
    return lower_where_seen(classes, observed, given, rows=rows) or _by_chance(observed, given, rows=rows)


_LOWER = (
    "the probability of {} is lower where that is the label (of the first {:.3g} on average, and {:.3g} "
    "elsewhere): "
) + _ORDER_OF_CLASSES
# A probability is clearly lower where its class is the label by so many standard errors, and by so much.
_ERRORS_BELOW, _CLEARLY_BELOW = 4.0, 0.02


def lower_where_seen(
    classes: Sequence[str], observed: Integers, given: Floats, *, rows: int
) -> tuple[str, ...]:
    # Of few rows of a class nothing is said, and of many classes many have few.
    some = (observed >= _FEWEST_PARTED) & (rows - observed >= _FEWEST_PARTED)
    ones, (every, squares, own) = observed[some], given[:, some]
    here, elsewhere = own / ones, (every - own) / (rows - ones)
    spread = np.maximum(squares / rows - (every / rows) ** 2, 0.0)
    error = np.sqrt(spread * (1.0 / ones + 1.0 / (rows - ones)))
    below = elsewhere - here > np.maximum(_ERRORS_BELOW * error, _CLEARLY_BELOW)
    if not below.any():
        return ()
    names = [repr(name) for name, is_so in zip(np.array(classes)[some].tolist(), below, strict=True) if is_so]
    first = int(np.argmax(below))
    return (_LOWER.format(" and of ".join(names[:3]), here[first], elsewhere[first]),)


_CLASSES_BY_CHANCE = (
    "labels follow the probabilities no better than chance (that of the label is {:.3g} on average, and "
    "{:.3g} if they were right): do probabilities and labels belong to the same rows?"
)
# That of the label is the one by chance within so many standard errors, and would be so many larger, and so
# much, if probabilities were right, as they are on average. Of few questions a model may well know nothing.
_FEWEST_UNTOLD = 500
_ERRORS_OFF, _FAR_ERRORS, _FAR, _OFF_ON_AVERAGE = 2.0, 8.0, 0.1, 0.05


def _by_chance(observed: Integers, given: Floats, *, rows: int) -> tuple[str, ...]:
    shares, (mean, squares, own) = observed / rows, given / rows
    if rows < _FEWEST_UNTOLD or np.abs(mean - shares).max() > _OFF_ON_AVERAGE:
        return ()
    found, chance, right = float(own.sum()), float(shares @ mean), float(squares.sum())
    error = math.sqrt(max(0.0, float(shares @ squares) - chance**2) / rows)
    near, far = _ERRORS_OFF * error, max(_FAR, _FAR_ERRORS * error)
    is_so = abs(found - chance) <= near and right - chance > far
    return (_CLASSES_BY_CHANCE.format(found, right),) if is_so else ()


def weights_by_class(classes: Sequence[str], observed: Integers, sums: Floats) -> tuple[str, ...]:
    """Say what a row of each class weighs where its class alone settles that; of few rows it may by chance.

    Args:
        observed: How many rows are of each class, shape (K,).
        sums: What they weigh together, and the sums of the squares of that, shape (2, K).
    """
    some = observed > 0
    many, (whole, squares) = observed[some], sums[:, some]
    # By Cauchy and Schwarz, equal weights alone have so small a sum of squares.
    equal = many * squares <= whole**2 * (1.0 + _ROUNDED)
    weights = whole / many
    told = weights[many >= _FEWEST_OF_LABEL]
    if not equal.all() or told.size < 2 or math.isclose(told.min(), told.max(), rel_tol=_ROUNDED):
        return ()
    named = zip(np.array(classes)[some].tolist(), weights.tolist(), strict=True)
    each = [f"{name!r} {one:.7g}" for name, one in named]
    listed = ", ".join([*each[:3], *(["..."] if len(each) > 3 else [])])
    return (_BY_LABELS.format(f"all rows of a class weigh the same ({listed})"),)


def repeated_notes(gathered: "Gathered") -> tuple[str, ...]:
    """Return that rows occur more than once: all, those of one label, or many.

    No artifact keeps that: it is that of the rows, however they are counted.
    """
    columns = gathered.resolved
    told = (columns.cluster, columns.group) != (None, None) or columns.identity != ()
    return () if gathered.input.weight else tuple(_repeated(gathered.tables["raw"], told=told))


_REPEATED = (
    "every pair of score and label occurs {0}, or a multiple of that: were rows read {0}, as from two copies "
    "of a file? Each counts as a row of its own{1}"
)
_RESAMPLED = (
    "every row of label {} occurs {}, or a multiple of that, and others do not: were rows repeated by their "
    "labels, as for training? Then rates here are not those of the population"
)
_MIRRORED = (
    "for every row there is one with the other label and a score of 1 less its own: is each pair there in "
    "both orders, or are both classes of each row? Then it counts twice, and intervals are too narrow: keep "
    "one of both, drawn at random, or name what they share, with `measure --cluster`"
)
_TIED_ALIKE = (
    "of {:,} scores that several rows share {} both labels, and {:,} or more should if rows are independent: "
    "were rows repeated, as by a join, or are several of one person? Then intervals are too narrow: name "
    "what such rows have in common, with `measure --cluster` or `fit --group`"
)


def _repeated(table: "Table", *, told: bool) -> list[str]:
    """Return what is said of them; `told` is whether a column tells which rows belong together."""
    both = table.rows - table.positive_rows, table.positive_rows
    if (copies := copies_of(*both)) > 1:
        # Intervals over clusters allow for rows that are there several times.
        return [_REPEATED.format(_times(copies), "" if told else ", and intervals are too narrow")]
    for label, counts in enumerate(both):
        if (copies := copies_of(counts)) > 1:
            return [_RESAMPLED.format(label, _times(copies))]
    if told:
        return []
    if mirrored(table):
        return [_MIRRORED]
    found = tied_alike(table)
    return [] if found is None else [_TIED_ALIKE.format(*found)]


def _times(copies: int) -> str:
    return "twice" if copies == 2 else f"{copies:,} times"


def copies_of(*counts: Integers) -> int:
    """Return how often all rows occur, where hardly by chance: each count of a score and a label would be a
    multiple of it, by chance with a probability of at most about a half each.
    """
    # The first scores say nearly always that there are none.
    for some in (slice(_FEWEST_COUNTS), slice(None)):
        every = np.concatenate([one[some] for one in counts])
        common = int(np.gcd.reduce(every))
        if common == 1:
            return 1
    return common if np.count_nonzero(every) >= _FEWEST_COUNTS else 1


def mirrored(table: "Table") -> bool:
    """Whether each score has a counterpart as far from 1, whose rows have as many of the other label."""
    # Scores that all lie next to 0 and 1 are each other's counterparts without being pairs.
    cells = np.floor(table.score / (2.0 * _SAME_SCORE))
    if table.kind != "exact" or 1 + np.count_nonzero(np.diff(cells)) < _FEWEST_COUNTS:
        return False
    ones, zeros = table.positive_rows, table.rows - table.positive_rows
    return np.array_equal(ones, zeros[::-1]) and bool(
        np.all(np.abs(table.score + table.score[::-1] - 1.0) <= _SAME_SCORE)
    )


# Scores that are written with six digits and more are as far from 1 as their counterparts from 0.
_SAME_SCORE = 2e-6

# Of so many scores with both labels that are expected, a tenth or less is none that chance gives.
_FEWEST_UNLIKE, _SHARE_UNLIKE = 30.0, 0.1


def tied_alike(table: "Table") -> tuple[int, str, int] | None:
    """Return how many scores have several rows, how many of these have both labels, and how many should at
    least, where they are next to none.

    If rows are independent and rates do not jump, two rows of one score differ as often as a row of it and
    one of a neighbouring score.
    """
    if table.kind != "exact" or not _FEWEST_UNLIKE <= table.distinct < table.total_rows:
        return None
    share = table.positive_rows / table.rows
    unlike = share[:-1] + share[1:] - 2.0 * share[:-1] * share[1:]
    beside = (np.append(unlike, unlike[-1:]) + np.append(unlike[:1], unlike)) / 2.0
    several = table.rows > 1
    both = int(np.count_nonzero(several & (share > 0.0) & (share < 1.0)))
    expected = float(beside[several].sum())
    if expected < _FEWEST_UNLIKE or both > _SHARE_UNLIKE * expected:
        return None
    has = "none has" if not both else "1 has" if both == 1 else f"{both:,} have"
    return int(np.count_nonzero(several)), has, round(expected)


def parts_the_labels(table: "Table") -> bool:
    """Whether every row of label 1 has a higher score than any other, where that is not by chance."""
    ones, others = table.positive_rows, table.rows - table.positive_rows
    if table.total_rows < FEWEST or min(ones.sum(), others.sum()) < _FEWEST_PARTED:
        return False
    return bool(np.argmax(ones > 0) > table.distinct - 1 - np.argmax(others[::-1] > 0))


def weights_by_label(table: "Table") -> tuple[float, float] | None:
    """Return what each row of label 1 weighs, and what each other, where labels alone settle it."""
    if not table.weighted:
        return None
    found, ones = [], table.positive_rows
    for rows, weight, squares in (
        (ones, table.positive, table.positive_sq),
        (table.rows - ones, table.weight - table.positive, table.weight_sq - table.positive_sq),
    ):
        many, whole, square = (float(one.sum()) for one in (rows, weight, squares))
        # By Cauchy and Schwarz, equal weights alone have so small a sum of squares.
        if many < _FEWEST_OF_LABEL or many * square > whole * whole * (1.0 + _ROUNDED):
            return None
        found.append(whole / many)
    one, other = found
    return None if math.isclose(one, other, rel_tol=_ROUNDED) else (one, other)
