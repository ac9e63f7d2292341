"""A logistic curve with offsets and slopes for many segments, held back by penalties: its optimum, proved."""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Self

import numpy as np

from calibcli.errors import NotConverged
from calibcli.stats.recalibrators.newton import logistic
from calibcli.stats.table import Booleans, Floats, Integers, numbered
from calibcli.values import dataclass, replace

# An intercept and a slope of all rows: held just so that labels which the score parts have a fit.
GLOBAL, _WIDE = 2, 100.0
# Neighbouring intervals are held together, and by so much of that to 0; then in intersections.
_LITTLE = 5e-4, 0.05
_MOST_STEPS, _SMALL = 200, 64
_MOST_HALVINGS = 30
# Where a borrowed curvature leaves more than this share of the decrement, its own is worth the time.
_SLOW = 0.5
_LARGEST = 1e3
# Of the law of coefficients of categories; and how often its scale is put right.
_FREEDOM, _SCALINGS = 2.0, 10
# By so many standard deviations residuals exceed what chance makes of them before they get coefficients.
_CLEARLY = 2.0


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """Coefficients of one kind: of the values of a column, or of an intersection of columns.

    Args:
        cells: The levels that each coefficient belongs to, shape (k, n_columns of the term).
        place: For each leaf the coefficient of its rows, k where it has none, shape (n_leaves,).
        slope: Whether the coefficients multiply the logit, or stand for themselves.
        first: Where the coefficients stand among all.
        roughness: What a variance of 1 penalises, positive definite, shape (k, k).
    """

    columns: tuple[int, ...]
    cells: Integers
    place: Integers
    slope: bool
    first: int
    roughness: Floats

    @property
    def size(self) -> int:
        """How many coefficients it has."""
        return int(self.cells.shape[0])

    @property
    def inside(self) -> slice:
        """Where they stand among all."""
        return slice(self.first, self.first + self.size)


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """The values of columns that rows have, and which intersections of them may have coefficients.

    Args:
        levels: For each column the level of each leaf, shape (n_columns, n_leaves); and the same in
            intersections, where levels may be fewer.
        ordered: For each column how many levels are neighbouring intervals of numbers, 0 for categories;
            and the same in intersections.
        rows: Of each leaf, shape (n_leaves,).
        depth: Intersections of up to so many columns may have coefficients.
        least: Those of fewer rows have none.
        most: So many coefficients at most, as long as values themselves leave room.
    """

    levels: tuple[Integers, Integers]
    ordered: tuple[Sequence[int], Sequence[int]]
    rows: Integers
    depth: int
    least: int
    most: int

    @property
    def varied(self) -> list[int]:
        """The columns of more than one value: another says nothing that all rows do not."""
        return [place for place, own in enumerate(self.levels[0]) if own.min() < own.max()]

    def cells(self, columns: Sequence[int], least: int) -> tuple[Integers, Integers, int]:
        """Return the intersections with enough rows, the place of each leaf's, and how many are left out."""
        levels = self.levels[len(columns) > 1][list(columns)]
        sizes = (levels.max(axis=1) + 1).tolist()
        code, place = numbered(np.asarray(np.ravel_multi_index(list(levels), sizes), np.int64))
        enough = np.bincount(place, weights=self.rows) >= least
        number = np.where(enough, np.cumsum(enough) - 1, int(enough.sum()))
        cells = np.stack(np.unravel_index(code[enough], sizes), axis=1)
        return cells, number[place], int(np.sum(~enough))

    def term(
        self, columns: tuple[int, ...], cells: Integers, place: Integers, *, slope: bool = False
    ) -> Term:
        """Return the coefficients of cells, which stand nowhere yet."""
        ordered = self.ordered[len(columns) > 1]
        return Term(columns, cells, place, slope, 0, _roughness(cells, [ordered[one] for one in columns]))


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """Rows by leaf and score, and the coefficients that speak of them.

    Args:
        starts: Where each leaf begins among the entries, shape (n_leaves,).
        z: Logit of each entry, shape (n,).
        centre: What slopes are about.
        terms: All coefficients but the first two.
        left_out: Intersections of too few rows for a coefficient.
    """

    starts: Integers
    z: Floats
    centre: float
    terms: tuple[Term, ...]
    size: int
    grid: Grid
    left_out: int = 0

    @classmethod
    def of(cls, starts: Integers, z: Floats, rows: Integers, grid: Grid) -> Self:
        """Return the design with an offset and a slope for each value; `rows` are those of entries."""
        centre = float(np.sum(z * rows) / np.sum(rows))
        every = cls(starts, z, centre, (), GLOBAL, grid)
        found = (((one,), *grid.cells((one,), 1)[:2]) for one in grid.varied)
        return every.joined([grid.term(*one, slope=slope) for one in found for slope in (False, True)])

    def joined(self, terms: Sequence[Term], left_out: int = 0) -> Self:
        firsts = [self.size, *(self.size + np.cumsum([term.size for term in terms])).tolist()]
        placed = (replace(term, first=first) for term, first in zip(terms, firsts, strict=False))
        return replace(self, terms=(*self.terms, *placed), size=firsts[-1], left_out=self.left_out + left_out)

    def crossing(self, many: int, here: "Here") -> Self:
        """Return the design with the intersections of so many columns that the rows speak for.

        These are those in which the squared sums of residuals clearly exceed their variances, less the share
        that the terms of fewer columns settle: there the marginal likelihood rises with the variance of a
        term from 0 on. A term of noise that came in would cost more than a weak one that stays out.
        """
        grid = self.grid
        chosen = [columns for columns in combinations(grid.varied, many) if self._speaks(columns, here)]
        least, rows = grid.least, int(grid.rows.sum())
        while chosen and least <= rows:
            found = [grid.cells(columns, least) for columns in chosen]
            if self.size + sum(cells.shape[0] for cells, _, _ in found) <= grid.most:
                terms = zip(chosen, found, strict=True)
                some = [grid.term(columns, *own[:2]) for columns, own in terms if own[0].size]
                return self.joined(some, sum(few for _, _, few in found))
            least *= 2
        return self

    def _speaks(self, columns: tuple[int, ...], here: "Here") -> bool:
        cells, place, _ = self.grid.cells(columns, self.grid.least)
        size = cells.shape[0]
        if not size:
            return False
        sums, variances = (
            np.bincount(place, weights=one, minlength=size + 1)[:size]
            for one in (here.pulls, here.weights[0])
        )
        free = {column: np.unique(own).size - 1 for column, own in zip(columns, cells.T, strict=True)}
        within = (one.columns for one in self.terms if not one.slope and free.keys() >= set(one.columns))
        settled = 1 + sum(math.prod(free[column] for column in some) for some in within)
        left = max(1.0 - settled / size, 0.0)
        chance = left * float(variances.sum()) + _CLEARLY * math.sqrt(
            2.0 * left * float(variances @ variances)
        )
        return bool(size > settled and float(sums @ sums) > chance)

    def some(self, which: Booleans) -> tuple["Design", Integers]:
        """Return the design with some of its terms, and which coefficients these are."""
        kept = [term for term, stays in zip(self.terms, which.tolist(), strict=True) if stays]
        places = [np.arange(self.size)[inside] for inside in (slice(GLOBAL), *(one.inside for one in kept))]
        return self.bare.joined(kept), np.concatenate(places)

    @property
    def bare(self) -> "Design":
        """The design of one curve for all rows."""
        return replace(self, terms=(), size=GLOBAL)

    def shared(self, squares: Floats) -> "Design":
        """Return the design in which each coefficient of categories has a share of its own in the variance.

        Those of a kind follow Student's law: most are next to nothing, and few are large, which one variance
        for all would hold back too much. Given its scale v and what the rows say of a square, a coefficient's
        own variance is the mean of that square and of v, weighed 1 to 2 (EM). Shares average 1.

        Args:
            squares: What the rows say of the square of each coefficient, shape (p,).

        References:
            Lange, Little & Taylor (1989), Robust statistical modeling using the t distribution, JASA 84.
        """
        terms = []
        for term in self.terms:
            ordered = self.grid.ordered[len(term.columns) > 1]
            if any(ordered[one] for one in term.columns):
                terms.append(term)
                continue
            own = squares[term.inside]
            scale = float(own.mean())
            for _ in range(_SCALINGS):
                scale = float(np.mean((_FREEDOM + 1.0) * own / (_FREEDOM + own / scale)))
            share = own + _FREEDOM * scale
            terms.append(replace(term, roughness=np.diag(share.mean() / share)))
        return replace(self, terms=tuple(terms))

    @property
    def lengths(self) -> Integers:
        """How many entries each leaf has."""
        return np.diff(self.starts, append=self.z.size)

    def penalty(self, variances: Sequence[float] = (), *, strength: float = 1.0) -> Floats:
        """Return the penalty of coefficients whose terms have these variances, shape (p, p)."""
        found = np.zeros((self.size, self.size))
        found[:GLOBAL, :GLOBAL] = np.eye(GLOBAL) / _WIDE
        for term, variance in zip(self.terms, variances, strict=True):
            found[term.inside, term.inside] = strength * term.roughness / variance
        return found

    def curves(self, at: Floats) -> tuple[Floats, Floats]:
        """Return the offset and the slope about the centre of each leaf, shape (n_leaves,)."""
        offset, slope = np.full(self.starts.size, at[0]), np.full(self.starts.size, at[1])
        for term in self.terms:
            own = np.append(at[term.inside], 0.0)[term.place]
            if term.slope:
                slope += own
            else:
                offset += own
        return offset, slope

    def logits(self, at: Floats) -> Floats:
        """Return the logit of each entry, shape (n,)."""
        offset, slope = (np.repeat(one, self.lengths) for one in self.curves(at))
        slope *= self.z - self.centre
        slope += offset
        slope += self.z
        return np.asarray(slope, np.float64)

    def gathered(self, by_leaf: Floats, by_leaf_z: Floats) -> Floats:
        """Return sums over rows for each coefficient, from those of leaves, shape (p,)."""
        found = np.empty(self.size)
        found[0], found[1] = by_leaf.sum(), by_leaf_z.sum()
        for term in self.terms:
            own = by_leaf_z if term.slope else by_leaf
            found[term.inside] = np.bincount(term.place, weights=own, minlength=term.size + 1)[: term.size]
        return found

    def crossed(self, weights: tuple[Floats, Floats, Floats]) -> Floats:
        """Return the curvature, from sums over leaves of weights times 1, the logit and its square."""
        every = Term(
            (), np.zeros((1, 0), np.int64), np.zeros(self.starts.size, np.int64), False, 0, np.eye(1)
        )
        inclined = Term((), every.cells, every.place, True, 1, every.roughness)
        terms = (every, inclined, *self.terms)
        found = np.zeros((self.size, self.size))
        for i, left in enumerate(terms):
            for right in terms[i:]:
                own = weights[left.slope + right.slope]
                code = left.place * (right.size + 1) + right.place
                table = np.bincount(code, weights=own, minlength=(left.size + 1) * (right.size + 1))
                block = table.reshape(left.size + 1, right.size + 1)[: left.size, : right.size]
                found[left.inside, right.inside] = block
                found[right.inside, left.inside] = block.T
        return found


def _roughness(cells: Integers, ordered: Sequence[int]) -> Floats:
    """Return the penalty of coefficients themselves, or of how rough they are over neighbouring intervals.

    Of one column these are second differences, which leave a straight line alone, of intersections first
    ones; and a little of the coefficients, so that every one is held. Scaled so that coefficients that follow
    from a variance of 1 are of that size on average.
    """
    size = cells.shape[0]
    if not any(ordered):
        return np.eye(size)
    if len(ordered) == 1:
        inside = int(np.sum(cells[:, 0] < ordered[0]))
        steps, little = np.diff(np.eye(size)[:inside], 2, axis=0), _LITTLE[0]
    else:
        steps, little = _steps(cells, ordered), _LITTLE[1]
    joined = np.any(steps != 0.0, axis=0)
    found = steps.T @ steps + np.diag(np.where(joined, little, 0.0))
    if joined.any():
        inner = np.ix_(joined, joined)
        found[inner] *= np.mean(np.diagonal(np.linalg.inv(found[inner])))
    return np.asarray(found + np.diag(np.where(joined, 0.0, 1.0)))


def _steps(cells: Integers, ordered: Sequence[int]) -> Floats:
    """Return the differences between neighbouring cells, a row each."""
    places = {tuple(cell): place for place, cell in enumerate(cells.tolist())}
    pairs = [
        (place, places[nearby])
        for cell, place in places.items()
        for k, many in enumerate(ordered)
        if cell[k] + 1 < many and (nearby := (*cell[:k], cell[k] + 1, *cell[k + 1 :])) in places
    ]
    found = np.zeros((len(pairs), cells.shape[0]))
    for row, (one, other) in enumerate(pairs):
        found[row, one], found[row, other] = -1.0, 1.0
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Here:
    """The summed log loss of rows at some coefficients, with its penalty.

    Args:
        pulls: Sums over leaves of p less the label.
        weights: Sums over leaves of p (1 - p) times 1, the logit about its centre and its square.
    """

    loss: float
    gradient: Floats
    pulls: Floats
    weights: tuple[Floats, Floats, Floats]


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Rows to fit.

    Args:
        ones: How many rows of each entry have label 1, or what their targets sum to; shape (n,).
        penalty: Shape (p, p).
    """

    design: Design
    ones: Floats
    rows: Floats
    penalty: Floats

    def at(self, coefficients: Floats) -> Here:
        design, starts = self.design, self.design.starts
        t = design.logits(coefficients)
        loss = summed_loss(t, self.ones, self.rows)
        curve = logistic(t)
        pull = curve * self.rows - self.ones
        bend = pull + self.ones
        bend *= 1.0 - curve
        about = design.z - design.centre
        by_leaf = np.add.reduceat(pull, starts)
        pull *= about
        by_leaf_z = np.add.reduceat(pull, starts)
        weights = [np.add.reduceat(bend, starts)]
        for _ in range(2):
            bend *= about
            weights.append(np.add.reduceat(bend, starts))
        held = self.penalty @ coefficients
        return Here(
            loss + 0.5 * float(coefficients @ held),
            design.gathered(by_leaf, by_leaf_z) + held,
            by_leaf,
            (weights[0], weights[1], weights[2]),
        )

    def curvature(self, here: Here) -> Floats:
        return self.design.crossed(here.weights) + self.penalty

    def gap(self, here: Here, curvature: Floats) -> float:
        """Return what the summed loss lies above its optimum at most; infinity where that is not known.

        The third derivative of the loss of a row is at most the second times the length of the way in its
        logit (Bach 2010, Electronic Journal of Statistics 4, lemma 1). With x the product of the Newton
        decrement and of the largest leverage r of a row, below 1, integrating twice gives at most
        ((1 - x) log(1 - x) + x) / r^2.
        """
        inverse = inverted(curvature)
        decrement = math.sqrt(max(float(here.gradient @ (inverse @ here.gradient)), 0.0))
        spread = np.sqrt(np.maximum(np.diagonal(inverse), 0.0))
        offset, slope = self.design.curves(spread)
        about = np.abs(self.design.z - self.design.centre)
        offset, slope = (np.repeat(one, self.design.lengths) for one in (offset, slope))
        leverage = float(np.max(offset + slope * about))
        x = decrement * leverage
        if not x < 1.0:
            return math.inf
        # The difference of nearly equal numbers, by its series where these are small.
        if x < 1e-4:
            return decrement * decrement * (0.5 + x / 6.0 + x * x / 6.0)
        return ((1.0 - x) * math.log1p(-x) + x) / (leverage * leverage)


def summed_loss(t: Floats, ones: Floats, rows: Floats) -> float:
    """Return the log loss of rows with these logits."""
    each = np.log1p(np.exp(-np.abs(t)))
    each += np.maximum(t, 0.0)
    each *= rows
    each -= ones * t
    return float(np.sum(each))


def inverted(matrix: Floats) -> Floats:
    """Return the inverse of a symmetric positive definite matrix, in half the time of any other's."""
    try:
        root = _inverted_below(np.asarray(np.linalg.cholesky(matrix), np.float64))
    except np.linalg.LinAlgError:
        msg = "the fit by segments has a curvature that cannot be inverted"
        hint = "labels may be parted by the score: more rows may help, or --method platt"
        raise NotConverged(msg, hint) from None
    return np.asarray(root.T @ root, np.float64)


def _inverted_below(root: Floats) -> Floats:
    """Return the inverse of a lower triangle, by blocks."""
    size = root.shape[0]
    if size <= _SMALL:
        return np.asarray(np.linalg.inv(root), np.float64)
    half = size // 2
    first, last = _inverted_below(root[:half, :half]), _inverted_below(root[half:, half:])
    return np.block([[first, np.zeros((half, size - half))], [-(last @ root[half:, :half]) @ first, last]])


def descend(
    problem: Problem, start: Floats, *, within: float, curvature: Floats | None = None
) -> tuple[Floats, Here]:
    """Return where half the squared Newton decrement is at most `within`, and what is there.

    It begins with the inverse of a curvature, for many problems that are alike, or with its own.
    """
    at, here, inverse = start, problem.at(start), curvature
    borrowed = curvature is not None
    last = math.inf
    for _ in range(_MOST_STEPS):
        if inverse is None:
            step = -np.linalg.solve(problem.curvature(here), here.gradient)
        else:
            step = -(inverse @ here.gradient)
        decrement = -0.5 * float(step @ here.gradient)
        if decrement <= within:
            return at, here
        if borrowed and decrement > _SLOW * last:
            inverse, borrowed, last = None, False, math.inf
            continue
        last = decrement
        share = 1.0
        for _ in range(_MOST_HALVINGS):
            there = at + share * step
            found = problem.at(there)
            if found.loss <= here.loss - 0.1 * share * decrement or share * decrement < 1e-9 * abs(here.loss):
                break
            share /= 2.0
        else:
            break
        at, here = there, found
        if float(np.max(np.abs(at))) > _LARGEST:
            break
    msg = f"the fit by segments has no optimum that {_MOST_STEPS} Newton steps reach"
    raise NotConverged(msg, "labels may be parted by the score: more rows may help, or --method platt")


# Variances of coefficients, in squared log odds. What is less moves no probability by more than a thousandth.
_LEAST_VARIANCE, _MOST_VARIANCE, _FIRST_VARIANCE = 1e-5, 16.0, 0.05
# Where all scores are one, squares of slopes are 0.
_NEXT_TO_NONE = 1e-300
_ROUNDS, _TURNS, _SETTLED, _ROUGHLY = 6, 8, 0.05, 0.3


def with_variances(problem: Problem) -> tuple[Problem, tuple[float, ...]]:
    """Return the problem with the terms that the rows speak for, penalised by the variance of each.

    Values come first, then intersections of two columns in which residuals are left, then of more. Each time
    the marginal likelihood of the rows, with the curvature at the optimum (Laplace), is climbed by a
    fixpoint: the squares of a term's coefficients over the number of them that the rows settle. Terms whose
    variance falls to nothing are left out. Variances are kept to a quarter of an octave, so that no rounding
    moves them. The terms of the problem that is given are for the values of columns.

    References:
        MacKay (1992), Bayesian interpolation, Neural Computation 4, section 4.
        Lin (1997), Variance component testing in generalised linear models with random effects,
            Biometrika 84, for the residuals that are left.
    """
    design = problem.design
    variances, at = np.zeros(0), np.zeros(GLOBAL)
    for many in range(1, min(design.grid.depth, len(design.grid.varied)) + 1):
        if many > 1:
            held = replace(problem, design=design, penalty=design.penalty(variances.tolist()))
            at, here = descend(held, at, within=1e-3)
            wider = design.crossing(many, here)
            if wider is design:
                continue
            design = wider
        new = len(design.terms) - variances.size
        variances = np.append(variances, np.full(new, _FIRST_VARIANCE))
        at = np.append(at, np.zeros(design.size - at.size))
        design, variances, at = _settled(replace(problem, design=design), variances, at)
    return _penalised(problem, design, variances)


def _penalised(problem: Problem, design: Design, variances: Floats) -> tuple[Problem, tuple[float, ...]]:
    """Return the problem with these terms, and their variances as they are kept."""
    kept = tuple(2.0 ** (round(4.0 * math.log2(one)) / 4.0) for one in variances.tolist())
    return replace(problem, design=design, penalty=design.penalty(kept)), kept


def _settled(
    problem: Problem, found: Floats, at: Floats, *, within: float = _SETTLED
) -> tuple[Design, Floats, Floats]:
    """Climb to the variances of terms from some, and return the terms that stay, theirs, and coefficients."""
    design, inverse = problem.design, None
    for _ in range(_ROUNDS):
        penalty = design.penalty(found.tolist())
        held = replace(problem, design=design, penalty=penalty)
        at, here = descend(held, at, within=1e-3, curvature=inverse)
        curvature = design.crossed(here.weights)
        toward = curvature @ at - (here.gradient - penalty @ at)
        before = found.copy()
        for _ in range(_TURNS):
            inverse = inverted(curvature + design.penalty(found.tolist()))
            there = inverse @ toward
            new = _variances(design.terms, found, there, inverse)
            design = design.shared(there * there + np.diagonal(inverse))
            moved = float(np.max(np.abs(np.log(new / found)), initial=0.0))
            found = new
            stays = found >= _LEAST_VARIANCE
            if not stays.all():
                design, kept = design.some(stays)
                found, before, at, toward = found[stays], before[stays], at[kept], toward[kept]
                curvature = curvature[np.ix_(kept, kept)]
            elif moved < within:
                break
        if float(np.max(np.abs(np.log(found / before)), initial=0.0)) < within:
            break
        inverse = inverted(curvature + design.penalty(found.tolist()))
    return design, found, at


def _variances(terms: Sequence[Term], variances: Floats, at: Floats, inverse: Floats) -> Floats:
    """Return the next variances; falling ones fall further, as the fixpoint is slow to reach nothing."""
    new = []
    for term, variance in zip(terms, variances.tolist(), strict=True):
        own, rough = at[term.inside], term.roughness
        settled = term.size - float(np.sum(rough * inverse[term.inside, term.inside])) / variance
        ratio = float(own @ rough @ own) / max(settled, 1e-3) / variance
        if ratio < 1.0:
            ratio = min(ratio**2, max(ratio**16, 0.5))
        new.append(min(max(variance * ratio, _NEXT_TO_NONE), _MOST_VARIANCE))
    return np.array(new)


@dataclass(frozen=True, slots=True, eq=False)
class FoldLosses:
    """Held-out log losses of a cross-validation, summed over each fold.

    Args:
        rows: Of each fold, shape (n_folds,), as for the curve of all rows.
        segments: For each strength, shape (n_strengths, n_folds).
    """

    strengths: tuple[float, ...]
    rows: Floats
    pooled: Floats
    segments: Floats


STRENGTHS = tuple(4.0**power for power in range(4, -3, -1))


Fold = tuple[Floats, Floats]
"""Ones and rows of each entry in a fold."""

# With so few rows a fold that had a say in the variances would flatter them.
_NESTED = 10_000


def cross_validated(
    problem: Problem, folds: Sequence[Fold], *, variances: Sequence[float], whole: Problem
) -> FoldLosses:
    """Return losses of rows that the fit had not seen, for each strength of the penalty.

    The variances are found anew without them, of few rows the terms, too.

    Args:
        problem: All rows, with the terms that they speak for.
        folds: Ones and rows of each entry in each fold.
        variances: Of these terms at a strength of 1.
        whole: The same rows with the terms of values, before any of intersections.
    """
    many = np.array([float(rows.sum()) for _, rows in folds])
    few = many.sum() <= _NESTED
    # Shares in a variance that the rows left out had a say in would flatter.
    design = whole.design if few else problem.design.shared(np.ones(problem.design.size))
    parts = []
    for ones, rows in folds:
        rest = Problem(design, problem.ones - ones, problem.rows - rows, whole.penalty)
        if few:
            held, own = with_variances(rest)
        else:
            start = np.array(variances), np.zeros(design.size)
            held, own = _penalised(rest, *_settled(rest, *start, within=_ROUGHLY)[:2])
        parts.append(_validated(held, own, (ones, rows)))
    pooled, losses = (np.stack(one, axis=-1) for one in zip(*parts, strict=True))
    # Of few rows, less than the variances say would follow noise.
    some = tuple(one for one in STRENGTHS if one >= 1.0 or not few)
    return FoldLosses(some, many, pooled, losses[: len(some)])


def _validated(problem: Problem, variances: Sequence[float], fold: Fold) -> tuple[float, Floats]:
    """Return losses of a fold by fits to the rest: of one curve for all, and for each strength."""
    design = problem.design
    pooled = replace(problem, design=design.bare, penalty=design.bare.penalty())
    at, _ = descend(pooled, np.zeros(GLOBAL), within=1e-3)
    ends = summed_loss(pooled.design.logits(at), *fold)
    at = np.append(at, np.zeros(design.size - GLOBAL))
    curvature = design.crossed(problem.at(at).weights)
    losses = []
    for strength in STRENGTHS:
        penalty = design.penalty(variances, strength=strength)
        inverse = inverted(curvature + penalty)
        at, _ = descend(replace(problem, penalty=penalty), at, within=1e-2, curvature=inverse)
        losses.append(summed_loss(design.logits(at), *fold))
    return ends, np.array(losses)
