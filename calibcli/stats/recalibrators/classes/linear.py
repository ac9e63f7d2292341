"""softmax(W log p + b): vector scaling, the same towards one slope, and matrix or Dirichlet scaling."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Annotated, Self

import numpy as np

from calibcli.ahead import in_order
from calibcli.codec import HIDDEN, ROWS, Between, Node, same_length
from calibcli.errors import InputProblem, NotConverged, UsageProblem
from calibcli.names import ClassMethod
from calibcli.stats.recalibrators import classes
from calibcli.stats.recalibrators.classes.log_rows import LogBlock, LogRows, summed
from calibcli.stats.table import Floats
from calibcli.values import dataclass

# How much of the penalty falls on what the slopes of a matrix differ by.
LITTLE = 0.01

# What curvature is taken for at least, as a share of the largest.
_LEAST_CURVATURE = 1e-12

Rounding = Callable[[Floats], Floats]


class Diagonal:
    """W and b by coefficients, shape (m,): a slope and an intercept for each class.

    Where penalised, what slopes differ by is, and all intercepts.
    """

    full = False
    numbers = 1 << 16

    def __init__(self, count: int, *, penalised: bool) -> None:
        self._count = count
        self.penalised = penalised

    def start(self) -> Floats:
        """Return the coefficients of the map that changes nothing: one slope, which no penalty holds."""
        return np.concatenate((np.ones(self._count), np.zeros(self._count)))

    def parts(self, coefficients: Floats) -> tuple[Floats, Floats]:
        """Return the diagonal of W, and b."""
        return coefficients[: self._count], coefficients[self._count :]

    def logits(self, coefficients: Floats, log: Floats) -> Floats:
        """Return W log p + b for rows, shape (n, K)."""
        slope, intercept = self.parts(coefficients)
        result = log * slope
        result += intercept
        return np.asarray(result)

    def pull(self, excess: Floats, block: LogBlock) -> Floats:
        """Return the derivative of a loss by the coefficients."""
        return np.concatenate((np.einsum("ij,ij->j", excess, block.log), excess.sum(axis=0)))

    def held(self, coefficients: Floats) -> Floats:
        """Return the derivative of the penalty: the mean square of each kind of difference."""
        if not self.penalised:
            return np.zeros(2 * self._count)
        slope, intercept = self.parts(coefficients)
        return np.concatenate((slope - slope.mean(), intercept)) * (2.0 / self._count)

    def moments(self, likely: Floats, block: LogBlock) -> Floats:
        """Return for each class the sums of q (1 - q) times x^2, x and 1."""
        spread = (likely - likely * likely) * block.weight[:, None].astype(likely.dtype)
        moved = spread * block.log
        return np.concatenate(
            (np.einsum("ij,ij->j", moved, block.log), moved.sum(axis=0), spread.sum(axis=0))
        )

    def rounding(self, moments: Floats, penalty: float) -> Rounding:
        """Return what solves, class by class, for slope and intercept."""
        square, mixed, whole = moments.reshape(3, self._count)
        stiff = 2.0 * penalty / self._count if self.penalised else 0.0
        square = square + stiff + _LEAST_CURVATURE * square.max()
        whole = whole + stiff + _LEAST_CURVATURE * whole.max()
        # Not negative, whatever rounding says of classes whose logarithms hardly vary.
        free = np.maximum(square * whole - mixed * mixed, _LEAST_CURVATURE * square * whole)

        def rounded(pull: Floats) -> Floats:
            slope, intercept = self.parts(pull)
            return np.concatenate(
                ((whole * slope - mixed * intercept) / free, (square * intercept - mixed * slope) / free)
            )

        return rounded


class Full:
    """All of W and b, with all but one slope for all classes penalised.

    What slopes of classes differ by is penalised too, if little: where a class is only ever right at a
    probability of exactly 1, its slope has no end else.
    """

    full = True
    penalised = True
    numbers = 1 << 20

    def __init__(self, count: int) -> None:
        self._count = count
        # An intercept of so much for a column of the matrix costs as much as that does.
        self._one = 1.0 / np.sqrt(max(1, count - 1))

    def start(self) -> Floats:
        return np.column_stack((np.eye(self._count), np.zeros(self._count))).ravel()

    def parts(self, coefficients: Floats) -> tuple[Floats, Floats]:
        both = self._shaped(coefficients)
        return both[:, :-1], both[:, -1]

    def logits(self, coefficients: Floats, log: Floats) -> Floats:
        weight, intercept = self.parts(coefficients)
        result = log @ weight.T
        result += intercept
        return np.asarray(result)

    def pull(self, excess: Floats, block: LogBlock) -> Floats:
        return np.column_stack((excess.T @ block.log, excess.sum(axis=0))).ravel()

    def held(self, coefficients: Floats) -> Floats:
        """Return the derivative of the mean squares off the diagonal and of b, and of a part on slopes."""
        weight, intercept = self.parts(coefficients)
        slope = np.diag(weight)
        off = weight / max(1, self._count * (self._count - 1))
        np.fill_diagonal(off, LITTLE / self._count * (slope - slope.mean()))
        return 2.0 * np.column_stack((off, intercept / self._count)).ravel()

    def moments(self, likely: Floats, block: LogBlock) -> Floats:
        """Return the sums of diag(q) - q q' and of x x', where x is log p with a constant behind it."""
        weight = block.weight[:, None].astype(likely.dtype)
        heavy = likely * weight
        between = np.diag(heavy.sum(axis=0)) - heavy.T @ likely
        x = np.column_stack((block.log, np.full(block.label.size, self._one, likely.dtype)))
        return np.concatenate((between.ravel(), ((x * weight).T @ x).ravel()))

    def rounding(self, moments: Floats, penalty: float) -> Rounding:
        """Return what divides by the product of both sums, as if classes and logarithms were independent."""
        between, of_logs = np.split(moments, [self._count**2])
        left, rows = np.linalg.eigh(between.reshape(self._count, self._count))
        right, columns = np.linalg.eigh(of_logs.reshape(self._count + 1, self._count + 1))
        curve = np.outer(np.maximum(left, 0.0), np.maximum(right, 0.0))
        curve += 2.0 * penalty / max(1, self._count * (self._count - 1)) + _LEAST_CURVATURE * curve.max()

        def rounded(pull: Floats) -> Floats:
            both = self._shaped(pull).copy()
            both[:, -1] *= self._one
            both = rows @ ((rows.T @ both @ columns) / curve) @ columns.T
            both[:, -1] *= self._one
            return np.asarray(both.ravel())

        return rounded

    def _shaped(self, coefficients: Floats) -> Floats:
        return coefficients.reshape(self._count, self._count + 1)


# A way to write W and b by coefficients, shape (m,).
LinearModel = Diagonal | Full


def model_named(method: ClassMethod, count: int) -> LinearModel:
    """Return what a method leaves free for so many classes."""
    if method is ClassMethod.MATRIX:
        return Full(count)
    return Diagonal(count, penalised=method is ClassMethod.STRUCTURED)


Known = tuple[LogBlock, Floats]


@dataclass(frozen=True, slots=True, eq=False)
class PenalisedLoss:
    """The loss over some rows; where these are rough, sums are those of single precision."""

    model: LinearModel
    rows: LogRows
    penalty: float = 0.0

    def at(self, coefficients: Floats) -> tuple[float, Floats]:
        """Return the loss, and its derivative by the coefficients, shape (m,)."""
        held, common = self.penalty * self.model.held(coefficients), self.model.start()
        # Without the slope that no penalty holds, whose product with what does is but rounding.
        apart = coefficients - float(coefficients @ common) / float(common @ common) * common
        work = partial(_loss_and_pull, self.model, coefficients)
        summed = self.rows.summed(work, numbers=self.model.numbers)
        return float(summed[0]) + 0.5 * float(apart @ held), summed[1:] + held

    def mean(self, coefficients: Floats) -> float:
        """Return the mean log loss alone, without penalty."""
        work = partial(_loss, self.model, coefficients)
        return float(self.rows.summed(work, numbers=self.model.numbers)[0])


class Curvature:
    """How the derivative of a loss changes around some coefficients."""

    def __init__(self, loss: PenalisedLoss, coefficients: Floats) -> None:
        self._loss = loss
        self._coefficients = coefficients
        self._known = list(self._likely()) if loss.rows.kept is not None else None

    def along(self, direction: Floats) -> Floats:
        """Return how the derivative changes in a direction, to first order; shape (m,)."""
        work = partial(_bent, self._loss.model, direction)
        return self._summed(work) + self._loss.penalty * self._loss.model.held(direction)

    def rounding(self) -> Rounding:
        """Return what nearly divides a derivative by the curvature, and exactly along the common slope."""
        model, common = self._loss.model, self._loss.model.start()
        nearly = model.rounding(self._summed(partial(_moments, model)), self._loss.penalty)
        curve = float(common @ self.along(common))
        if not curve > 0.0:
            return nearly

        def rounded(pull: Floats) -> Floats:
            return nearly(pull) + float(common @ pull) / curve * common

        return rounded

    def _summed(self, work: "partial[Floats]") -> Floats:
        known = self._likely() if self._known is None else self._known
        return summed(work, known, self._loss.rows.workers)

    def _likely(self) -> Iterator[Known]:
        """Yield the rows with their probabilities under the map."""
        model, rows = self._loss.model, self._loss.rows
        work = partial(_with_likely, model, self._coefficients)
        yield from in_order(work, rows.blocks(model.numbers), rows.workers)


def _loss(model: LinearModel, coefficients: Floats, block: LogBlock) -> Floats:
    loss, _ = classes.losses_and_softmax(_logits(model, coefficients, block), block.label)
    return np.array([block.weight @ loss])


def _loss_and_pull(model: LinearModel, coefficients: Floats, block: LogBlock) -> Floats:
    """Return the sum of losses, and their derivative, of shape (1 + m,)."""
    loss, excess = classes.losses_and_softmax(_logits(model, coefficients, block), block.label)
    excess[np.arange(block.label.size), block.label] -= 1.0
    excess *= block.weight[:, None].astype(excess.dtype)
    return np.concatenate(([block.weight @ loss], model.pull(excess, block)))


def _with_likely(model: LinearModel, coefficients: Floats, block: LogBlock) -> Known:
    return block, classes.losses_and_softmax(_logits(model, coefficients, block), block.label)[1]


def _bent(model: LinearModel, direction: Floats, known: Known) -> Floats:
    block, likely = known
    moved = _logits(model, direction, block)
    moved -= np.einsum("ij,ij->i", likely, moved)[:, None]
    moved *= likely
    moved *= block.weight[:, None].astype(moved.dtype)
    return model.pull(moved, block)


def _moments(model: LinearModel, known: Known) -> Floats:
    block, likely = known
    return model.moments(likely, block)


def _logits(model: LinearModel, coefficients: Floats, block: LogBlock) -> Floats:
    """Return logits in the precision of the rows."""
    return model.logits(coefficients.astype(block.log.dtype), block.log)


_MOST_STEPS = 100

_MOST_DIRECTIONS = 500

_MOST_HALVES = 30

# The largest component of the derivative at the end, over that at the start or 1.
_FLAT = 1e-10

# How much of that a further step may win: next to nothing where there is an end.
_STILL_WON = 1e-3

# So many steps on it has won all there is to win where there is none.
_FAR = 4.0

# How much of the loss a step may still win where penalties are compared.
NEARLY = 1e-5

# How much of what a step should win it must.
_SOME = 1e-4

_ROUNDING = 1e-14

_SINGLE_ROUNDING = 1e-6

# How near a step comes to that of Newton: nearer as the steps get small, as far as precision allows.
_LOOSE, _TIGHT, _SINGLE_TIGHT = 0.3, 1e-8, 1e-3

# What a derivative may grow by, squared, before rounding is taken for all that is left of the curvature.
_ASTRAY = 1e30

# The mean log loss of rows that a map can make as sure as it likes.
_NO_LOSS = 1e-6

# Coefficients that grow beyond this have no end.
_RUNAWAY = 1e4

_NO_END = "the fit has no end: its coefficients grow while the loss hardly falls"


def _not_reached(model: LinearModel, msg: str) -> NotConverged:
    """Return that no coefficients were found to be best, with the methods that need fewer rows."""
    other = "temperature" if model.penalised and not model.full else "structured or temperature"
    return NotConverged(msg, f"fit on more rows, or use --multiclass {other}")


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """A step, and by how much the parabola that touches the loss falls along it."""

    change: Floats
    fall: float


def minimum(loss: PenalisedLoss, start: Floats, *, by: LogRows) -> Floats:
    """Return the coefficients where the derivative is 0, as far as double precision tells."""
    curved = PenalisedLoss(loss.model, by, loss.penalty)
    rounding = Curvature(curved, start).rounding()
    best, (value, pull) = start, loss.at(start)
    flat = _FLAT * max(1.0, float(np.abs(pull).max()))
    for _ in range(_MOST_STEPS):
        if np.abs(pull).max() <= flat or np.abs(best).max() > _RUNAWAY:
            break
        step = _newton_step(curved, best, pull, rounding=rounding)
        found = _lower(loss, best, value, step, slack=_ROUNDING)
        if found is None:
            break
        best, value, pull = found
    largest, runs_away = float(np.abs(pull).max()), bool(np.abs(best).max() > _RUNAWAY)
    if not loss.model.penalised:
        if value < _NO_LOSS:
            msg = "the map can make every row right for certain, so that no coefficients are best"
            raise NotConverged(msg, "fit on more rows, or on rows the model has not been trained on")
        if runs_away or largest <= flat:
            _refuse_parted(loss, best, pull, curved=curved, rounding=rounding, least=_STILL_WON * flat)
    if runs_away:
        raise _not_reached(loss.model, _NO_END)
    if not largest <= flat:
        raise _not_reached(loss.model, f"the fit did not settle: its gradient is still {largest:.1g}")
    return best


def near_minimum(loss: PenalisedLoss, start: Floats) -> Floats:
    """Return coefficients near enough to the best to compare penalties by: a step would win 1e-5."""
    rounding = Curvature(loss, start).rounding()
    best, (value, pull) = start, loss.at(start)
    slack = _SINGLE_ROUNDING if loss.rows.single else _ROUNDING
    for _ in range(_MOST_STEPS):
        step = _newton_step(loss, best, pull, rounding=rounding)
        found = _lower(loss, best, value, step, slack=slack)
        if found is None:
            return best
        best, value, pull = found
        if np.abs(best).max() > _RUNAWAY:
            break
        if step.fall <= NEARLY:
            return best
    raise _not_reached(loss.model, _NO_END)


def _newton_step(loss: PenalisedLoss, coefficients: Floats, pull: Floats, *, rounding: Rounding) -> _Step:
    """Return the step to the minimum of the parabola, by conjugate gradients among rounded derivatives."""
    curvature = Curvature(loss, coefficients)
    change, left = np.zeros_like(pull), -pull
    direction = rounding(left)
    size = first = float(left @ direction)
    tight = _SINGLE_TIGHT if loss.rows.single else _TIGHT
    end = max(tight, min(_LOOSE, np.sqrt(max(first, 0.0)))) ** 2 * first
    for _ in range(_MOST_DIRECTIONS):
        bent = curvature.along(direction)
        curve = float(direction @ bent)
        if not curve > 0.0:
            break
        change += size / curve * direction
        left -= size / curve * bent
        rounded = rounding(left)
        last, size = size, float(left @ rounded)
        if size <= end or size > _ASTRAY * first:
            break
        direction = rounded + size / last * direction
    return _Step(change, max(0.0, -0.5 * float(pull @ change)))


def _lower(
    loss: PenalisedLoss, best: Floats, value: float, step: _Step, *, slack: float
) -> tuple[Floats, float, Floats] | None:
    """Return where a step leads, with the loss and its derivative there, halved until it is lower."""
    share = 1.0
    for _ in range(_MOST_HALVES):
        there = best + share * step.change
        found, pull = loss.at(there)
        if found <= value - _SOME * share * step.fall + slack * abs(value):
            return there, found, pull
        share *= 0.5
    return None


def _refuse_parted(
    loss: PenalisedLoss,
    best: Floats,
    pull: Floats,
    *,
    curved: PenalisedLoss,
    rounding: Rounding,
    least: float,
) -> None:
    """Refuse a class whose coefficients have no end, since they part its rows from others.

    There a further step wins about as much as the derivative is large, where there is a best one the square
    of that; and far beyond the step the loss has not risen, as it has where coefficients are told apart by
    rounding alone, those of a class of one probability.
    """
    slope, intercept = loss.model.parts(pull)
    # Intercepts that rise together change nothing.
    own = np.concatenate((slope, intercept - intercept.mean()))
    step = _newton_step(curved, best, own, rounding=rounding)
    if step.fall <= least or not loss.mean(best + _FAR * step.change) <= loss.mean(best) - step.fall:
        return
    slope, intercept = loss.model.parts(step.change)
    name = loss.rows.rows.classes[int((np.abs(slope) + np.abs(intercept - intercept.mean())).argmax())]
    msg = f"its probabilities part class {name!r} from others, so that no slope and intercept of it are best"
    raise NotConverged(msg, "fit on more rows of that class, or use --multiclass structured")


# The strongest penalty, as a power of ten of what falls on each coefficient, and the weakest of all.
_STRONGEST, _WEAKEST = 1, -5

# Weaker penalties are not tried once the loss has risen so often, by more than steps that are left out win.
_RISES = 2

# Rows times coefficients, over all folds: what is judged on every fold takes no more.
_MOST_WORK = 5e9


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """What was found, at the `penalty` that was chosen, None where there is none, `judged` on some folds."""

    coefficients: Floats
    penalty: float | None = None
    judged: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class _Path:
    """Penalties from strong to weak, on one fold; `weight` is that of the rows that were held out."""

    weight: float
    losses: list[float]
    found: list[Floats]


def fitted(model: LinearModel, whole: LogRows, *, folds: int) -> Fitted:
    """Return the best coefficients, at the penalty with the least cross-validated log loss."""
    rough = whole.rough()
    if not model.penalised:
        return Fitted(minimum(PenalisedLoss(model, whole), model.start(), by=rough))
    judged = _judged(model, whole, folds)
    paths = _paths(model, rough, folds=folds, judged=judged)
    tried = min(len(path.losses) for path in paths)
    losses = sum(path.weight * np.array(path.losses[:tried]) for path in paths)
    # The strongest of several.
    place = int(np.argmin(losses))
    penalty, start = penalties_of(model)[place], paths[0].found[place]
    del paths
    return Fitted(minimum(PenalisedLoss(model, whole, penalty), start, by=rough), penalty, judged)


def penalties_of(model: LinearModel) -> tuple[float, ...]:
    """Return the penalties that are tried, from strong to weak, so that each start is near its end."""
    strongest = round(np.log10(model.start().size)) + _STRONGEST
    return tuple(10.0**power for power in range(strongest, _WEAKEST - 1, -1))


def _judged(model: LinearModel, whole: LogRows, folds: int) -> int:
    """Return on how many folds penalties are judged."""
    work = float(model.start().size) * whole.count
    return folds if folds * work <= _MOST_WORK else 1


def _paths(model: LinearModel, rough: LogRows, *, folds: int, judged: int) -> list[_Path]:
    """Return the losses of the first folds that have rows; no path is longer than the first."""
    weights = rough.fold_weights(folds)
    places = np.flatnonzero((weights > 0.0) & (weights < weights.sum()))
    if places.size < 2:
        msg = f"these rows do not split into {folds} folds to choose a penalty by"
        raise InputProblem(msg, "fit on more different rows, or use --multiclass temperature")
    paths: list[_Path] = []
    for place in places[:judged].tolist():
        fit, held_out = (rough.of_fold((place, folds, inside)) for inside in (False, True))
        paths.append(_path(model, fit, held_out, like=paths[0] if paths else None))
        if len(paths) > 1:
            paths[-1].found.clear()
    return paths


def _path(model: LinearModel, fit: LogRows, held_out: LogRows, *, like: _Path | None) -> _Path:
    """Return what each penalty loses on the rows held out."""
    start, rises = model.start(), 0
    path = _Path(held_out.total, [], [])
    penalties = penalties_of(model)
    for place, penalty in enumerate(penalties if like is None else penalties[: len(like.losses)]):
        try:
            start = near_minimum(
                PenalisedLoss(model, fit, penalty), start if like is None else like.found[place]
            )
        except NotConverged:
            # Where a penalty is too weak to hold the coefficients, weaker ones are too.
            if not path.losses:
                raise
            break
        path.losses.append(PenalisedLoss(model, held_out).mean(start))
        path.found.append(start)
        rises = rises + 1 if path.losses[-1] > min(path.losses) + NEARLY else 0
        if like is None and rises == _RISES:
            break
    return path


MOST_OF_MATRIX = 1_000

_LIMITS = Between(-1e6, 1e6)


@dataclass(frozen=True, slots=True, eq=False)
class Linear(classes.ClassRecalibrator):
    """softmax(W log p + b).

    References:
        Guo, Pleiss, Sun & Weinberger (2017), ICML, section 4.2; Kull, Perello-Nieto, Kaengsepp et al.
        (2019), NeurIPS, on Dirichlet calibration and its off-diagonal and intercept penalty (ODIR); what the
        slopes of a matrix differ by is penalised too here, a hundredth as much.
    """

    # Vector scaling: a slope and an intercept for each class. Structured: the same, pulled towards one slope
    # for all. Matrix: a full W, pulled towards that too, which is Dirichlet calibration.
    method: Annotated[ClassMethod, HIDDEN]
    weight: Annotated[Floats, _LIMITS, ROWS, "The diagonal of W, shape (K,), or all of it, shape (K, K)."]
    intercept: Annotated[Floats, _LIMITS, "b, shape (K,), summing to 0."]
    penalty: Annotated[
        float | None,
        Between(0.0),
        "How strongly the coefficients that may not be needed were pulled towards 0, as chosen by "
        "cross-validated log loss; null for vector scaling, which has no penalty.",
    ]
    # On how many folds of how many, right after the fit; None for a map that was restored.
    judged: Annotated[tuple[int, int] | None, HIDDEN] = None
    least: classes.Least = classes.LEAST_BESIDE_ZERO
    # How many probabilities were limited, in words, right after the fit.
    limited: Annotated[tuple[str, ...], HIDDEN] = ()

    @classmethod
    def fit(cls, method: ClassMethod, seen: classes.ClassTables, *, options: classes.ClassFitOptions) -> Self:
        """Fit by maximum likelihood, penalised where the method asks for it."""
        count = len(seen.rows.classes)
        if method is ClassMethod.MATRIX and count > MOST_OF_MATRIX:
            msg = f"a matrix for {count:,} classes has {count * (count + 1):,} coefficients"
            raise UsageProblem(
                msg, f"use --multiclass structured; matrix is for up to {MOST_OF_MATRIX:,} classes"
            )
        again = LogRows.of(seen.rows, least=options.least)
        if method is ClassMethod.VECTOR and again.absent:
            msg = f"no row has label {again.absent[0]!r}, so that no intercept of that class is best"
            raise InputProblem(msg, "fit on rows of all classes, or use --multiclass structured")
        if method is ClassMethod.VECTOR and (alike := again.alike) is not None:
            msg = f"class {alike!r} has one probability in all rows, so that no slope of it is best"
            raise InputProblem(msg, "use --multiclass structured")
        model = model_named(method, count)
        if model.penalised:
            # No penalty holds the slope that all classes share.
            again.refuse_never_wrong("slope")
        found = fitted(model, again, folds=options.folds)
        weight, intercept = model.parts(found.coefficients)
        judged = (found.judged, options.folds)
        return cls(
            method,
            weight.copy(),
            intercept - intercept.mean(),
            found.penalty,
            judged,
            again.least,
            again.limited,
        )

    def check(self, node: Node) -> None:
        """Refuse other coefficients than the method has for so many classes."""
        count = len(node.given["classes"])
        model = model_named(self.method, count)
        weight, penalty = node.child("weight"), node.child("penalty")
        for array in (node.child("intercept"), weight):
            same_length(array, count, reason="there are so many classes")
        if (self.weight.ndim == 2) is not model.full:
            weight.items()[0].refuse("an array" if model.full else "a finite number")
        if model.penalised:
            penalty.number(0.0)
        else:
            penalty.expect(None)

    @property
    def name(self) -> ClassMethod:
        return self.method

    @property
    def keeps_prediction(self) -> bool:
        diagonal = self.weight if self.weight.ndim == 1 else np.diag(self.weight)
        alike = bool(np.all(diagonal == diagonal[0])) and not self.intercept.any()
        off = self.weight.ndim == 2 and bool(np.any(self.weight != np.diag(diagonal)))
        return alike and not off and bool(diagonal[0] > 0.0)

    @property
    def notes(self) -> tuple[str, ...]:
        if self.penalty is None:
            return self.limited
        chosen = f"the penalty {self.penalty:g} was chosen by cross-validated log loss"
        if self.judged is None or self.judged[0] == self.judged[1]:
            return (chosen, *self.limited)
        judged, folds = self.judged
        return (f"{chosen}, on {judged} of {folds} folds since all would take long", *self.limited)

    def predict(self, probability: Floats) -> Floats:
        log = classes.log_of(probability, self.least)
        slope = log * self.weight if self.weight.ndim == 1 else log @ self.weight.T
        after = classes.softmax(slope + self.intercept)
        return classes.with_prediction_of(probability, after) if self.keeps_prediction else after
