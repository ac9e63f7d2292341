"""Repair by segments: log odds with an offset and a slope for the values of some columns."""

import math
from collections.abc import Sequence
from functools import reduce
from typing import Annotated, ClassVar, Literal, Self

import numpy as np

from calibcli.codec import Ascending, Between, Declared, Node, OrInfinite, Size, Strings
from calibcli.errors import InputProblem, NotConverged
from calibcli.names import MISSING, FitMethod
from calibcli.options.numerals import plural
from calibcli.stats.recalibrators import FittedBin, checked_scores, penalised, require_both_labels
from calibcli.stats.recalibrators.logistic import Coefficient, limited_words
from calibcli.stats.recalibrators.newton import LARGEST_LOGIT, NEAREST, logistic, logit
from calibcli.stats.recalibrators.selection import RAW, over_folds
from calibcli.stats.table import Booleans, Floats, Integers, ScoreTable, Weighing, run_starts
from calibcli.stats.table.grid import score_quantiles
from calibcli.stats.table.levels import (
    MOST_NUMBERS,
    OTHER,
    Levels,
    Mixed,
    interval_words,
    number_words,
)
from calibcli.stats.table.sliced import Leaves
from calibcli.values import dataclass, replace

# Intersections of fewer rows have no offset of their own, nor have the smallest beyond so many coefficients.
LEAST_CELL, MOST_COEFFICIENTS, ROWS_FOR_ONE = 20, 1_500, 25
# Columns of numbers are cut into so many intervals, in intersections into the second.
MOST_INTERVALS, _CROSSED_INTERVALS = 48, 16
DEFAULT_SEGMENT_FOLDS = 5
# Coefficients are kept to this, a thousandth of what any digit of a probability shows.
_UNIT = 2.0**-30
# Of the mean log loss, in which the optimum is proved.
LARGEST_GAP, _LEAST_GAP = 1e-9, 1e-12
# Digits of losses that no order of adding changes.
_DIGITS = 10
# Of a standard error, by which a weaker penalty has to be better.
_HALF = 0.5
_EDGE = "the weakest penalty tried is the best one: more rows would settle more"
POOLED, BY_SEGMENTS = "all rows alike", "by segments"


@dataclass(frozen=True, slots=True)
class SegmentColumn(Declared):
    """A column whose values have coefficients: its levels, then those of other values and of missing ones."""

    name: Annotated[str, "The column."]
    kind: Annotated[
        Literal["categories", "numbers"], "Whether its values are names, or numbers that are cut."
    ]
    numbers: Annotated[
        tuple[Annotated[float, Strings(("inf", "-inf"))], ...],
        Ascending(),
        "The first levels: categories that are numbers; or the numbers at which intervals end, but for the "
        "last one, which has no end.",
    ]
    texts: Annotated[tuple[str, ...], "The next levels: categories that are text."]
    other: Annotated[bool, "Whether fit rows had values without a level of their own, which share one."]
    missing: Annotated[bool, "Whether fit rows had no value, which is a level, too."]
    rare: Annotated[
        tuple[str, ...] | None,
        "The values that share the level of others in the fit; null where they are many.",
    ]
    together: Annotated[
        int, Between(1), "So many neighbouring intervals are one level in intersections with other columns."
    ] = 1

    @classmethod
    def of(cls, levels: Levels) -> Self:
        """Return levels as a document keeps them: values are compared with them exactly."""
        if levels.rounded and levels.numbers.size:
            msg = f"column {levels.name!r} holds over {MOST_NUMBERS:,} different numbers as categories"
            hint = "make all its values numbers, which are cut into intervals, or name another column"
            raise InputProblem(msg, hint)
        texts = sorted(levels.texts, key=lambda text: levels.texts[text])
        kind: Literal["categories", "numbers"] = "numbers" if levels.ends else "categories"
        numbers = tuple(levels.numbers.tolist())
        together = -(-(len(numbers) + 1) // _CROSSED_INTERVALS) if levels.ends else 1
        return cls(
            levels.name,
            kind,
            numbers,
            tuple(texts),
            levels.other >= 0,
            levels.missing >= 0,
            levels.rare,
            together,
        )

    @property
    def own(self) -> int:
        """How many levels there are but those of other and of missing values."""
        return len(self.numbers) + (1 if self.kind == "numbers" else len(self.texts))

    @property
    def ordered(self) -> int:
        """How many of these are neighbouring intervals."""
        return self.own if self.kind == "numbers" else 0

    @property
    def sizes(self) -> tuple[int, int]:
        """How many levels there are, and how many in intersections."""
        return self.own + 2, self.crossed_own + 2

    @property
    def crossed_own(self) -> int:
        """How many levels of its own there are in intersections."""
        return -(-self.own // self.together)

    @property
    def crossed_numbers(self) -> tuple[float, ...]:
        """The numbers at which intervals end in intersections, or those that are categories."""
        return self.numbers[self.together - 1 :: self.together]

    def crossed(self, places: Integers) -> Integers:
        """Return the levels in intersections."""
        if self.together == 1:
            return places
        inside = places // self.together
        return np.where(places < self.own, inside, places - self.own + self.crossed_own)

    def words(self, *, crossed: bool = False) -> tuple[str, ...]:
        """Return each level as a condition."""
        if self.kind == "numbers":
            own = interval_words(self.name, self.crossed_numbers if crossed else self.numbers)
        else:
            own = [f"{self.name} = {one}" for one in (*map(number_words, self.numbers), *self.texts)]
        return (*own, f"{self.name} = {OTHER}", f"{self.name} = {MISSING}")

    @property
    def levels(self) -> Levels:
        """How values are found: every value has a level, also those that no fit row had."""
        numbers = np.array(self.numbers, np.float64)
        texts = {text: len(self.numbers) + place for place, text in enumerate(self.texts)}
        numbered = np.arange(numbers.size + (self.kind == "numbers"))
        ends = self.kind == "numbers"
        return Levels(
            self.name,
            self.words(),
            numbers,
            numbered,
            texts,
            self.own,
            self.own + 1,
            ends=ends,
            rare=self.rare,
        )

    def strange_in(self, values: Mixed, places: Integers) -> Booleans:
        """Return which rows have a value that no fit row had, as far as the artifact knows them."""
        new: Booleans = (places == self.own + 1) & (not self.missing)
        others = np.flatnonzero(places == self.own)
        if not others.size or (self.other and self.rare is None):
            return new
        known = frozenset(self.rare or ())
        text = values.code
        if text is not None:
            strange = np.array([one not in known for one in values.texts] or [False])
            new[others] = strange[np.maximum(text[others], 0)] & (text[others] >= 0)
            others = others[text[others] < 0]
        distinct, place = np.unique(values.number[others] + 0.0, return_inverse=True)
        unknown = np.array([number_words(one) not in known for one in distinct.tolist()], np.bool_)
        if distinct.size:
            new[others] = unknown[place.reshape(-1)]
        return new

    def check(self, node: Node) -> None:
        """Refuse texts of intervals, and a level that is there twice."""
        if self.kind == "numbers" and self.texts:
            msg = "should be empty: the column is one of numbers"
            raise node.child("texts").problem(msg)
        if len(set(self.texts)) < len(self.texts):
            msg = "names a value twice"
            raise node.child("texts").problem(msg)


@dataclass(frozen=True, slots=True)
class SegmentTerm(Declared):
    """The coefficients of the values of a column, or of their intersections."""

    columns: Annotated[tuple[int, ...], Size(1), "Places of the columns, from 0."]
    slope: Annotated[bool, "Whether they multiply the logit of the score about the centre, or are offsets."]
    variance: Annotated[
        float, Between(0.0), "What the rows say that the squares of such coefficients are about."
    ]
    levels: Annotated[
        tuple[tuple[int, ...], ...],
        "For each coefficient the level of every column, ascending; other values come after the levels of a "
        "column, missing ones last. Levels that are not here have 0.",
    ]
    coefficients: Annotated[tuple[Coefficient, ...], Size(of="levels"), "The log odds that are added."]

    @property
    def crosses(self) -> bool:
        """Whether it is one of intersections."""
        return len(self.columns) > 1

    def codes(self, columns: "Sequence[SegmentColumn]") -> list[int]:
        """Return one number for the levels of each coefficient, ascending."""
        sizes = [columns[one].sizes[self.crosses] for one in self.columns]
        return [
            reduce(lambda code, one: code * one[1] + one[0], zip(level, sizes, strict=True), 0)
            for level in self.levels
        ]

    def values_of(self, places: Sequence[Integers], columns: "Sequence[SegmentColumn]") -> Floats:
        """Return the coefficient of each row, 0 where there is none, shape (n,)."""
        code: Integers = np.zeros(1, np.int64)
        for one in self.columns:
            level = columns[one].crossed(places[one]) if self.crosses else places[one]
            code = code * columns[one].sizes[self.crosses] + level
        known = np.array(self.codes(columns), np.int64)
        found = np.minimum(np.searchsorted(known, code), known.size - 1)
        own = np.array(self.coefficients)[found]
        own[known[found] != code] = 0.0
        return own


@dataclass(frozen=True, slots=True)
class StrengthTrial(Declared):
    """What cross-validation found of one strength of the penalty."""

    strength: Annotated[
        OrInfinite | None,
        "What the penalty is multiplied by; infinite for a curve of all rows alike, null for the raw scores.",
    ]
    loss: Annotated[
        OrInfinite,
        Between(0.0),
        "Mean log loss of rows left out of a fit, fold by fold; infinite where a certain score was wrong.",
    ]
    difference: Annotated[OrInfinite, "The loss less that of the best."]
    standard_error: Annotated[
        float | None, Between(0.0), "Of the difference, paired over folds; null where the loss is infinite."
    ]
    chosen: Annotated[bool, "Whether this is the one that was chosen."]


@dataclass(frozen=True, slots=True)
class SegmentMap(Declared):
    """1 / (1 + exp(-t)), with t = z + intercept + slope (z - centre) + offsets and slopes of a row's
    segments.

    z is the logit of the score. Offsets and slopes minimise the log loss and a penalty, so that what few rows
    say counts little; the penalty of each kind follows from how large its coefficients are (a variance).

    References:
        Guy et al. (2025), Measuring multi-calibration, arXiv 2506.11251, for the errors that it repairs.
        MacKay (1992), Bayesian interpolation, Neural Computation 4, section 4, for the variances.
    """

    name: ClassVar = FitMethod.SEGMENTS
    columns: Annotated[tuple[SegmentColumn, ...], Size(1), "The columns that are used beside the score."]
    centre: Annotated[float, Between(-LARGEST_LOGIT, LARGEST_LOGIT), "Mean logit of the fit rows."]
    intercept: Annotated[Coefficient, "What is added to the logit of every row."]
    slope: Annotated[Coefficient, "The same for each unit of the logit above the centre."]
    terms: Annotated[
        tuple[SegmentTerm, ...], "Coefficients of values and intersections; those that are none are not here."
    ]
    strength: Annotated[
        OrInfinite | None,
        "What the penalty was multiplied by; infinite for no terms, null for the raw scores.",
    ]
    folds: Annotated[int, Between(2), "Folds of the cross-validation that chose the strength."]
    trials: Annotated[tuple[StrengthTrial, ...], "What it found."]
    gap: Annotated[
        float,
        Between(0.0, LARGEST_GAP),
        "By how much the mean penalised loss may lie above its optimum at most.",
    ]
    limited_rows: Annotated[int, "Fit rows with a score so near 0 or 1 that its logit was limited."]
    coefficients_left_out: Annotated[int, "Intersections with too few rows for a coefficient."] = 0

    @property
    def bins(self) -> tuple[FittedBin, ...] | None:
        """None: outputs form a continuum."""
        return None

    @property
    def increasing(self) -> bool:
        """Whether within every segment a higher score never gets a lower probability."""
        least: dict[tuple[int, ...], float] = {}
        for term in (one for one in self.terms if one.slope):
            own = least.get(term.columns, 0.0) + min(0.0, *term.coefficients)
            least[term.columns] = own
        return bool(1.0 + self.slope + sum(least.values()) >= 0.0)

    @property
    def notes(self) -> tuple[str, ...]:
        found = []
        if not self.increasing:
            found.append("In some segment a higher score may get a lower probability.")
        found += limited_words(self.limited_rows)
        if self.coefficients_left_out:
            many = plural(self.coefficients_left_out, "intersection")
            found.append(f"Without a coefficient, for too few rows: {many}; larger segments count there.")
        if self.strength == self.trials[-1].strength:
            found.append(f"Cross-validation chose the edge of what it tries: {_EDGE}.")
        return tuple(found)

    @property
    def losses(self) -> tuple[tuple[str, float], ...]:
        """What cross-validation found of the raw scores, of one curve for all rows, and by segments."""
        best = min(self.trials[2:], key=lambda one: (not one.chosen, one.loss))
        return (RAW, self.trials[0].loss), (POOLED, self.trials[1].loss), (BY_SEGMENTS, best.loss)

    @property
    def strength_words(self) -> str:
        if self.strength is None:
            return "none: the raw scores are as good"
        if math.isinf(self.strength):
            return "infinite: the same curve for all rows"
        return f"{self.strength:g} times that of the variances, by {self.folds} folds"

    def check(self, node: Node) -> None:
        """Refuse columns and levels that there are not, and an order in which no coefficient is found."""
        if len(self.trials) < 3:
            msg = "should hold the raw scores, a curve of all rows, and at least one strength"
            raise node.child("trials").problem(msg)
        sizes = [one.sizes for one in self.columns]
        for term, place in zip(self.terms, node.child("terms").items(), strict=True):
            if list(term.columns) != sorted(set(term.columns)) or not 0 <= term.columns[0] <= term.columns[
                -1
            ] < len(sizes):
                msg = "should be ascending places of the columns"
                raise place.child("columns").problem(msg)
            widths = [sizes[one][term.crosses] for one in term.columns]
            within = all(
                len(one) == len(widths) and all(0 <= at < size for at, size in zip(one, widths, strict=True))
                for one in term.levels
            )
            if not within or not term.levels or list(term.levels) != sorted(set(term.levels)):
                msg = "should be ascending levels of the columns, one of each"
                raise place.child("levels").problem(msg)

    def places_of(self, values: Sequence[Mixed]) -> list[Integers]:
        """Return the level of each row in each column."""
        return [column.levels.places(one) for column, one in zip(self.columns, values, strict=True)]

    def predict(self, scores: Floats, values: Sequence[Mixed] = ()) -> Floats:
        """Return the recalibrated probability of each row, shape (n,); without values, by its score alone."""
        return self.predict_at(scores, self.places_of(values) if values else ())

    def predict_at(self, scores: Floats, places: Sequence[Integers]) -> Floats:
        """Return the recalibrated probability of rows whose levels are known."""
        scores = checked_scores(scores)
        if self.strength is None:
            return scores
        return logistic(self.logits(logit(scores), places))

    def logits(self, z: Floats, places: Sequence[Integers]) -> Floats:
        offset, slope = np.full(z.size, self.intercept), np.full(z.size, self.slope)
        for term in self.terms if places else ():
            own = term.values_of(places, self.columns)
            if term.slope:
                slope += own
            else:
                offset += own
        return z + (offset + slope * (z - self.centre))

    def strange_in(self, values: Sequence[Mixed], places: Sequence[Integers] | None = None) -> dict[str, int]:
        """Return for each column how many rows have a value that no fit row had."""
        places = self.places_of(values) if places is None else places
        columns = zip(self.columns, values, places, strict=True)
        rows = {column.name: int(column.strange_in(one, place).sum()) for column, one, place in columns}
        return {name: many for name, many in rows.items() if many}

    def conditions(self, term: SegmentTerm, level: Sequence[int]) -> str:
        """Return the segment of a coefficient in words."""
        pairs = zip(term.columns, level, strict=True)
        return " and ".join(self.columns[k].words(crossed=term.crosses)[at] for k, at in pairs)


@dataclass(frozen=True, slots=True, eq=False)
class SegmentFit:
    """A fitted map, and what it does to its rows; `mean_variance` is that of g (1 - g), g the new score."""

    map: SegmentMap
    loss_before: float
    loss_after: float
    mean_variance: float
    output_quantiles: tuple[float, ...]


def fit_segments(
    leaves: Leaves,
    columns: Sequence[SegmentColumn],
    *,
    depth: int,
    folds: int,
    generator: np.random.Generator,
) -> SegmentFit:
    """Fit a map to rows by the levels of their columns and by score; a part is the levels of all columns.

    Intersections of up to `depth` columns have coefficients.
    """
    rows, ones = leaves.rows, leaves.positive
    require_both_labels(ScoreTable(np.array([0.5]), np.array([rows.sum()]), np.array([ones.sum()])))
    score = (leaves.scores[0] + leaves.scores[1]) / rows
    score = np.clip(score, 0.0, 1.0)
    z = logit(score)
    whole = _problem(leaves, columns, z, depth)
    problem, variances = penalised.with_variances(whole)
    parts = _folds(rows, ones, folds, generator)
    losses = penalised.cross_validated(problem, parts, variances=variances, whole=whole)
    trials = _trials(losses, np.array([float(_raw_losses(score, *fold).sum()) for fold in parts]))
    strength = next(one.strength for one in trials if one.chosen)
    at, gap, design = _optimum(problem, variances, strength)
    terms = tuple(
        SegmentTerm(
            term.columns,
            term.slope,
            variance,
            tuple(tuple(one) for one in term.cells.tolist()),
            tuple(at[term.inside].tolist()),
        )
        for term, variance in zip(design.terms, variances[: len(design.terms)], strict=True)
    )
    limited = int(rows[(score < NEAREST) | (score > 1.0 - NEAREST)].sum())
    found = SegmentMap(
        tuple(columns),
        design.centre,
        float(at[0]),
        float(at[1]),
        terms,
        strength,
        folds,
        trials,
        # A power of ten that is no less, so that no rounding of the proof changes a digit.
        10.0 ** math.ceil(math.log10(max(gap / float(rows.sum()), _LEAST_GAP))),
        limited,
        problem.design.left_out,
    )
    return _measured(found, leaves, score)


def levels_of_leaves(part: Integers, columns: Sequence[SegmentColumn]) -> list[Integers]:
    """Return the level of each entry in each column."""
    found = []
    for column in reversed(columns):
        part, place = np.divmod(part, column.sizes[0])
        found.append(place)
    return found[::-1]


def _problem(leaves: Leaves, columns: Sequence[SegmentColumn], z: Floats, depth: int) -> penalised.Problem:
    starts = run_starts(leaves.part)
    levels = levels_of_leaves(leaves.part[starts], columns)
    both = np.stack(levels), np.stack([one.crossed(own) for one, own in zip(columns, levels, strict=True)])
    ordered = [one.ordered for one in columns], [one.crossed_own if one.ordered else 0 for one in columns]
    rows = np.add.reduceat(leaves.rows, starts)
    most = min(MOST_COEFFICIENTS, int(rows.sum()) // ROWS_FOR_ONE)
    design = penalised.Design.of(
        starts, z, leaves.rows, penalised.Grid(both, ordered, rows, depth, LEAST_CELL, most)
    )
    none = np.zeros((design.size, design.size))
    return penalised.Problem(design, leaves.positive.astype(float), leaves.rows.astype(float), none)


def _folds(
    rows: Integers, ones: Integers, folds: int, generator: np.random.Generator
) -> list[tuple[Floats, Floats]]:
    """Share rows out to folds by chance; rows of one entry and label are alike."""
    total = int(rows.sum())
    if total < folds:
        msg = f"{total:,} rows cannot be shared out to {folds:,} folds"
        raise InputProblem(msg, "ask for fewer with --folds, or use --method platt")
    found = []
    left = [ones.copy(), rows - ones]
    for remaining in range(folds, 0, -1):
        drawn = [generator.binomial(one, 1.0 / remaining) if remaining > 1 else one.copy() for one in left]
        left = [one - some for one, some in zip(left, drawn, strict=True)]
        found.append((drawn[0].astype(float), (drawn[0] + drawn[1]).astype(float)))
    return found


def _raw_losses(score: Floats, ones: Floats, rows: Floats) -> Floats:
    """Return the summed log loss of each score as it is, infinite where a certain one was wrong."""
    with np.errstate(divide="ignore", invalid="ignore"):
        missed = np.where(ones > 0.0, ones * np.log(score), 0.0)
        return -missed - np.where(rows > ones, (rows - ones) * np.log1p(-score), 0.0)


def _trials(losses: penalised.FoldLosses, raw: Floats) -> tuple[StrengthTrial, ...]:
    """Return what was tried, and which was chosen; `raw` is the loss of the raw scores in each fold.

    Of all repairs that is the strongest penalty whose loss exceeds the least by at most half a standard error
    of the difference; but the raw scores stay unless that beats them by more than a whole one.
    """
    rows = float(losses.rows.sum())
    tried: list[tuple[float | None, Floats]] = [(None, raw), (math.inf, losses.pooled)]
    tried += list(zip(losses.strengths, losses.segments, strict=True))
    means = [float(one.sum()) / rows for _, one in tried]
    best = 1 + int(np.argmin(means[1:]))
    apart = [_difference(one, tried[best][1], losses.rows) for _, one in tried]
    chosen = next(k for k, (more, error) in enumerate(apart) if k and more <= _HALF * error)
    more, error = _difference(raw, tried[chosen][1], losses.rows)
    chosen = chosen if more > error else 0
    top = int(np.argmin(means))
    trials = []
    for place, ((strength, one), mean) in enumerate(zip(tried, means, strict=True)):
        more, error = _difference(one, tried[top][1], losses.rows)
        loss, more, error = (round(value, _DIGITS) for value in (mean, more, error))
        known = error if math.isfinite(loss) else None
        trials.append(StrengthTrial(strength, loss, more, known, place == chosen))
    return tuple(trials)


def _difference(one: Floats, other: Floats, rows: Floats) -> tuple[float, float]:
    """Return by how much one loss exceeds another, as the mean per row, and the standard error of that.

    Losses are sums, one for each fold. Where one is infinite, so is the difference, with an error of 0.
    """
    apart = (one - other) / np.maximum(rows, 1.0)
    return over_folds(apart, rows) if np.isfinite(apart).all() else (math.inf, 0.0)


def _optimum(
    problem: penalised.Problem, variances: Sequence[float], strength: float | None
) -> tuple[Floats, float, penalised.Design]:
    """Return the coefficients, rounded, how far the loss may be from its least, and what they speak of."""
    design = problem.design
    if strength is None:
        return np.zeros(penalised.GLOBAL), 0.0, design.bare
    if math.isinf(strength):
        design, variances, strength = design.bare, (), 1.0
    one = replace(problem, design=design, penalty=design.penalty(variances, strength=strength))
    at, here = penalised.descend(one, np.zeros(design.size), within=1e-6)
    # One step more, so that what is rounded has settled.
    at = at - np.linalg.solve(one.curvature(here), here.gradient)
    at = np.rint(at / _UNIT) * _UNIT + 0.0
    here = one.at(at)
    gap = one.gap(here, one.curvature(here))
    if not gap <= LARGEST_GAP * float(problem.rows.sum()):
        msg = "the fit by segments is not proved to be at its optimum"
        raise NotConverged(msg, "labels may be parted by the score: more rows may help, or --method platt")
    return at, gap, design


def _measured(found: SegmentMap, leaves: Leaves, score: Floats) -> SegmentFit:
    rows, ones = leaves.rows.astype(float), leaves.positive.astype(float)
    z = logit(score)
    total = float(rows.sum())
    before = float(_raw_losses(score, ones, rows).sum())
    places = levels_of_leaves(leaves.part, found.columns)
    after = before if found.strength is None else penalised.summed_loss(found.logits(z, places), ones, rows)
    curve = found.predict_at(score, places)
    spread = float(np.sum(rows * curve * (1.0 - curve))) / total
    outputs = ScoreTable.from_rows(curve, np.zeros(curve.size, np.bool_), Weighing(counts=leaves.rows))
    return SegmentFit(found, before / total, after / total, spread, score_quantiles(outputs))


def completed(levels: Sequence[Levels]) -> tuple[tuple[SegmentColumn, ...], tuple[Levels, ...]]:
    """Return columns as the map keeps them, and levels in which every value has a place."""
    columns = tuple(SegmentColumn.of(one) for one in levels)
    return columns, tuple(one.levels for one in columns)
