"""Cox's logistic recalibration: intercept, slope, and calibration in the large on the scale of log odds."""

import math

import numpy as np

from calibcli.errors import NotConverged
from calibcli.names import MeasureName, RecalibratorName, Target
from calibcli.options.fitting import FitOptions
from calibcli.options.numerals import plural
from calibcli.stats.bounds import Interval
from calibcli.stats.measures import HELD_OUT, NO_WEIGHTED_INTERVAL, UNKNOWN, Estimate, Reference
from calibcli.stats.measures.bias import interval_of_bias
from calibcli.stats.measures.if_calibrated import MANY_EVENTS, Measures, of_moments
from calibcli.stats.measures.scores import entropy
from calibcli.stats.numerics import Booleans, Floats, crossing, student_quantile, summed_products
from calibcli.stats.recalibrators import newton
from calibcli.stats.recalibrators.logistic import Solution, solved
from calibcli.stats.table.grid import Table, open_variance
from calibcli.values import dataclass

_MOST_STEPS = 20

# Steps of Newton's method shrink so fast that the last one below this, relative to the width, is exact.
_STEP = 1e-8

_WITHIN = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """The deviance of the last coefficient, the others being chosen best for it.

    Args:
        points: What the curve is fitted to, in orthonormal coordinates, the last feature last.
        least: Smallest mean log loss of any curve, or its infimum.
        unit: Length of the last feature's own part: its coefficient times this is its coordinate.
    """

    points: newton.Points
    least: float
    rows: int
    unit: float

    @classmethod
    def of(cls, family: newton.Family, labelled: newton.Labelled, *, rows: int, least: float) -> "Profile":
        """Return the profile of the last feature of a family."""
        share = labelled.weight / np.sum(labelled.weight)
        frame = newton.Frame.of(family.features(labelled.score), share)
        offset = None if family.offset is None else family.offset(labelled.score)
        points = newton.Points(frame.design, labelled.label.astype(np.float64), share, offset)
        return cls(points, least, rows, float(frame.triangle[-1, -1]))

    def around(self, best: Solution, *, level: float) -> tuple[float, float]:
        """Return the coefficients on both sides of the best one where the deviance reaches a level.

        Newton's method for the equations of Venzon & Moolgavkar (1988), Applied Statistics 37: the deviance
        is the level, and the other coefficients are at their best. Where it fails, the root is enclosed.

        Args:
            best: The maximum of the likelihood, in the coordinates of `points`.
            level: Of the deviance: the square of a normal quantile.
        """
        ends = [self._end(best, side, level=level) for side in (-1.0, 1.0)]
        return ends[0] / self.unit, ends[1] / self.unit

    def below_infinity(self, side: float, *, level: float) -> float:
        """Return where the deviance falls to a level on the way to a best coefficient of infinity."""

        def rises(u: float) -> float:
            return level - self._deviance(side * u)

        low, high = 0.0, 0.0
        while rises(high) < 0.0:
            low, high = high, max(1.0, 2.0 * high)
        while rises(low) >= 0.0:
            high, low = low, min(-1.0, 2.0 * low)
        return side * sum(crossing(rises, low, high, within=_WITHIN)) / 2.0 / self.unit

    def _end(self, best: Solution, side: float, *, level: float) -> float:
        at, bend = best.optimum.at, best.optimum.slopes.curvature
        if level == 0.0:
            # A bound with a confidence of one half is the best coefficient itself.
            return float(at[-1])
        tilt = -np.linalg.solve(bend[:-1, :-1], bend[:-1, -1])
        own = float(bend[-1, -1] + bend[-1, :-1] @ tilt)
        width = math.sqrt(level / (self.rows * own)) if own > 0.0 else 1.0
        found = self._by_newton(at, side * width * np.append(tilt, 1.0), level=level)
        return self._enclosed(float(at[-1]), side, width=width, level=level) if found is None else found

    def _by_newton(self, best: Floats, step: Floats, *, level: float) -> float | None:
        """Return the coordinate where both equations hold, None if that is not found on the same side."""
        at, width = best + step, float(step[-1])
        for _ in range(_MOST_STEPS):
            here = newton.log_loss(self.points, at)
            excess = 2.0 * self.rows * (here.loss - self.least) - level
            left = np.append(excess, here.gradient[:-1])
            slopes = np.vstack((2.0 * self.rows * here.gradient, here.curvature[:-1]))
            try:
                move = np.linalg.solve(slopes, left)
            except np.linalg.LinAlgError:
                return None
            at = at - move
            if not (np.all(np.isfinite(at)) and np.sign(at[-1] - best[-1]) == np.sign(width)):
                return None
            if abs(move[-1]) <= _STEP * abs(width):
                return float(at[-1])
        return None

    def _enclosed(self, centre: float, side: float, *, width: float, level: float) -> float:
        def rises(u: float) -> float:
            return self._deviance(centre + side * u) - level

        far = width
        while rises(far) < 0.0:
            far *= 2.0
        low, high = crossing(rises, 0.0, far, within=_WITHIN * width)
        return centre + side * 0.5 * (low + high)

    def _deviance(self, coordinate: float) -> float:
        """Return twice the log likelihood lost by holding the last coordinate."""
        design = self.points.design
        if len(design) == 1:
            held = newton.log_loss(self.points, np.array([coordinate])).loss
        else:
            base = 0.0 if self.points.offset is None else self.points.offset
            offset = base + coordinate * design[-1]
            rest = newton.Points(design[:-1], self.points.target, self.points.weight, offset)
            start = np.zeros(len(design) - 1)
            held = newton.minimise(newton.log_loss, rest, start=start, what="log loss").slopes.loss
        return 2.0 * self.rows * (held - self.least)


def least_when_parted(ones: Floats, zeros: Floats, points: newton.Labelled) -> float:
    """Return the infimum of the mean log loss where a threshold parts the labels.

    Only rows at the threshold itself, where both labels may lie, are left with a loss.
    """
    weight = float(points.weight.sum())
    edges = (float(ones.min()), float(zeros.max())), (float(zeros.min()), float(ones.max()))
    for above, below in edges:
        if above == below:
            there: Booleans = newton.logit(points.score) == above
            held = float(points.weight[there].sum())
            share = points.weight[there & points.label].sum(keepdims=True) / held
            return held * float(entropy(share)[0]) / weight
    return 0.0


# With fewer rows that carry its noise an interval is called rough.
_MANY_CARRY = 50.0

_BY_RATE = "shifts that give scores the mean rates at the ends of bias"

# Beyond this deviance a coefficient may as well be anything.
_FARTHEST = 1e6

# Where labels scatter so many times as much as shifted scores would have them, a likelihood is no guide.
_FAR_OFF = 1.25

# No shift that leaves a mean rate other than 0 or 1 is larger.
_WIDEST = 1_000.0

_ONE_ROW = "no interval: nearly all of its noise comes from one row"

# What is left of a row when the line is fitted without it.
_LEAST_LEFT = 1e-6

_LINE = newton.Family(RecalibratorName.PLATT, newton.line)


# The coefficient of the last feature is the one that is measured.
_FAMILIES = {
    MeasureName.CITL_LOGIT: newton.Family(RecalibratorName.INTERCEPT, newton.constant, newton.logit),
    MeasureName.COX_INTERCEPT: newton.Family(
        RecalibratorName.PLATT, lambda scores: newton.line(scores)[::-1]
    ),
    MeasureName.COX_SLOPE: _LINE,
}


_ADJUSTED = "profile likelihood, adjusted"
_WITH_UNSEEN = f"{_ADJUSTED}, with room for the label not seen among extreme scores"


@dataclass(frozen=True, slots=True)
class _Found:
    """A value, with its ends or the reason for none, and how many rows its noise is as good as."""

    value: float
    ends: tuple[float, float] | None
    why: str | None = None
    carried: float | None = None
    method: str = _ADJUSTED
    finite_sample: bool = False


def cox_measure(name: MeasureName, table: Table, *, confidence: float = 0.95) -> Estimate:
    """Fit log odds of label 1 = intercept + slope logit(score) and return a coefficient, of the best line.

    `cox_intercept` and `cox_slope` are fitted together; `citl_logit` is the intercept for a slope of 1.
    Infinite, with one end, where the labels have no finite fit; NaN where nothing settles it.

    References:
        Royall & Tsou (2003), JRSS-B 65, for the adjusted likelihood; Long & Ervin (2000), American
        Statistician 54, for the variance (HC3); others in the entries of the family.
    """
    points, limited = newton.Labelled.of(table), newton.limited_rows(table)
    because = [HELD_OUT, "of the line that fits best, whether or not the truth is on it"]
    because += limited_words(limited)
    try:
        found = _Cox(name, table, points, confidence).found()
    except NotConverged as problem:
        found = _Found(math.nan, None, f"no interval: undefined, {problem.message}")
    if found.why is not None:
        because.append(found.why)
    details: dict[str, float | int | str] = {"limited_rows": limited}
    method = found.method
    if found.carried is not None:
        details["carried_by"] = found.carried
        if found.carried < _MANY_CARRY and not found.finite_sample:
            rows = round(max(found.carried, 1.0))
            because.append(f"rough: its noise is that of about {rows} row{'s' * (rows != 1)}")
            method = f"{method}; {because[-1]}"
    interval = None
    if found.ends is not None:
        proven = found.finite_sample
        interval = Interval(*found.ends, confidence, method, Target.FIXED_DESIGN, finite_sample=proven)
    null = UNKNOWN if math.isnan(found.value) else _if_calibrated(name, table)
    return Estimate.of(name, table, found.value, interval, null=null, because=because, details=details)


def _if_calibrated(name: MeasureName, table: Table) -> Reference:
    """Return what the coefficient tends to if labels follow the scores, with Fisher's range.

    There is no range where the scores leave fewer than 20 events open, or with importance weights; nor of a
    line where all scores that leave events open have one logit.
    """
    null = 1.0 if name is MeasureName.COX_SLOPE else 0.0
    information = open_variance(table)
    whole = float(information.sum())
    if table.weighted or whole < MANY_EVENTS:
        return null, None
    if name is MeasureName.CITL_LOGIT:
        return null, of_moments(null, 1.0 / whole)
    z = newton.logit(table.score)
    if float(np.ptp(z[information > 0.0])) == 0.0:
        return null, None
    middle = float((information * z).sum()) / whole
    slope = 1.0 / float((information * (z - middle) ** 2).sum())
    return null, of_moments(null, slope if name is MeasureName.COX_SLOPE else 1.0 / whole + middle**2 * slope)


def fitted_line(points: newton.Labelled, table: Table) -> Solution:
    return solved(_LINE, points, aim=newton.Aim.of(table, FitOptions(), separated=False))


def limited_words(rows: int) -> list[str]:
    """Return the sentence about rows whose logit was limited, if there are any."""
    return [f"{plural(rows, 'row', 'lies')} within 2^-53 of 0 or 1: limited inside the logit"] if rows else []


def _scatter(profile: Profile, best: Solution) -> tuple[float, float]:
    """Return how far the labels scatter around the best line, by what each row does to the coefficient.

    That is its variance by the labels themselves over that by the likelihood, at least 1; and how many rows
    of equal influence would leave this variance as uncertain.

    Where the truth is not on the line, the curvature of the likelihood is not the variance of its gradient:
    that is the sum of squares of what the rows pull, each as if the line had been fitted without it (HC3).
    """
    points, rows = profile.points, profile.rows
    offset = 0.0 if points.offset is None else points.offset
    curve = newton.logistic(offset + best.optimum.at @ points.design)
    inverse = np.linalg.pinv(best.optimum.slopes.curvature)
    pull = inverse @ points.design
    held = curve * (1.0 - curve) * np.sum(points.design * pull, axis=0) / rows
    squares = (pull[-1] * (points.target - curve)) ** 2
    fourth = float(np.sum(points.weight * squares**2))
    carried = rows * float(np.sum(points.weight * squares)) ** 2 / fourth if fourth > 0.0 else 0.0
    alone = np.maximum(1.0 - held, _LEAST_LEFT)
    own = float(inverse[-1, -1])
    ratio = float(np.sum(points.weight * squares / alone**2)) / own if own > 0.0 else 1.0
    return max(1.0, ratio), carried


@dataclass(frozen=True, slots=True, eq=False)
class _Cox:
    """What is asked of a table, with its rows one by one."""

    name: MeasureName
    table: Table
    points: newton.Labelled
    confidence: float

    def found(self) -> _Found:
        name, table, points = self.name, self.table, self.points
        if name is MeasureName.CITL_LOGIT:
            if points.one_label:
                side = 1.0 if points.label.all() else -1.0
                why = f"every label is {int(side > 0.0)}: the fit has no finite intercept"
                if table.weighted:
                    return _Found(side * math.inf, None, f"{NO_WEIGHTED_INTERVAL}; {why}")
                # How probable such labels are follows from the shift only if the truth is that shift.
                low, high = self._by_rate()
                ends = (low, math.inf) if side > 0.0 else (-math.inf, high)
                return _Found(side * math.inf, ends, why, method=_BY_RATE, finite_sample=True)
        elif points.one_label or points.one_logit:
            same = "score" if float(np.ptp(points.score)) == 0.0 else "logit"
            same = "label" if points.one_label else same
            return _Found(math.nan, None, f"no interval: undefined where there is one {same} only")
        elif newton.parted(*points.logits):
            return self._parted()
        best = solved(_FAMILIES[name], points, aim=newton.Aim.of(table, FitOptions(), separated=False))
        if table.weighted:
            return _Found(best.coefficients[-1], None, NO_WEIGHTED_INTERVAL)
        return self._around(best)

    def _around(self, best: Solution) -> _Found:
        """Return the coefficient of the best line with its interval."""
        name, value = self.name, best.coefficients[-1]
        profile = self._profile(best.optimum.slopes.loss)
        scatter, carried = _scatter(profile, best)
        if name is MeasureName.CITL_LOGIT and carried < _MANY_CARRY:
            # The best shift gives scores the mean rate of the labels, whose bounds need no large sample.
            low, high = self._by_rate()
            ends = min(low, value), max(high, value)
            return _Found(value, ends, carried=carried, method=_BY_RATE, finite_sample=True)
        quantile = student_quantile(0.5 + self.confidence / 2.0, max(carried - 1.0, 1.0))
        level = quantile**2 * scatter
        try:
            low, high = profile.around(best, level=level) if level < _FARTHEST else (math.nan, math.nan)
        except NotConverged:
            low, high = math.nan, math.nan
        if not (math.isfinite(low) and math.isfinite(high)):
            return _Found(value, None, _ONE_ROW, carried)
        if name is MeasureName.CITL_LOGIT and scatter > _FAR_OFF:
            by_rate = self._by_rate()
            low, high = min(low, by_rate[0]), max(high, by_rate[1])
        ends = min(low, value), max(high, value)
        if name is MeasureName.CITL_LOGIT:
            return _Found(value, ends, carried=carried)
        wider = self._with_unseen(best, profile, *ends)
        return _Found(value, wider, carried=carried, method=_ADJUSTED if wider == ends else _WITH_UNSEEN)

    def _with_unseen(self, best: Solution, profile: Profile, low: float, high: float) -> tuple[float, float]:
        """Return ends that hold the coefficient with as many more rows of label 1 among the lowest scores, or
        of label 0 among the highest, as may have been missed: of many sure rows few are wrong, and move it
        by far.
        """
        points, at = self.points, best.optimum.at
        z, delta = newton.logit(points.score), (1.0 - self.confidence) / 2.0
        # A step of Newton's method is near enough to see where such rows do not matter, and which do most.
        least = 0.25 * (high - low) * abs(profile.unit)
        own = np.linalg.pinv(best.optimum.slopes.curvature)[-1]
        for side, label in ((1.0, True), (-1.0, False)):
            outwards = side * z
            seen = outwards < outwards[points.label == label].min()
            run = np.flatnonzero(seen)[np.argsort(outwards[seen], kind="stable")]
            if run.size == 0:
                continue
            # If none of so many rows is of that label, so many may have been, but for an error of delta.
            weight = points.weight[run]
            rows = np.cumsum(weight)
            unseen = -rows * np.expm1(math.log(delta) / rows)
            there = profile.points.design[:, run]
            pull = (own @ there) * (label - newton.logistic(at @ there))
            steps = np.abs(np.cumsum(weight * pull) / rows * unseen) / profile.rows
            most = int(steps.argmax())
            if steps[most] < least:
                continue
            run, share = run[: most + 1], weight[: most + 1] / rows[most]
            more = newton.Labelled(
                np.append(points.score, points.score[run]),
                np.append(points.label, np.full(run.size, label)),
                np.append(points.weight, unseen[most] * share),
            )
            try:
                found = solved(_FAMILIES[self.name], more, aim=best.aim).coefficients[-1]
            except NotConverged:
                continue
            low, high = min(low, found), max(high, found)
        return low, high

    def _profile(self, least: float) -> Profile:
        return Profile.of(_FAMILIES[self.name], self.points, rows=self.table.total_rows, least=least)

    def _by_rate(self) -> tuple[float, float]:
        """Return the shifts of log odds at which scores have the mean rates that `bias` has as its ends."""
        z, share = newton.logit(self.points.score), self.points.weight / np.sum(self.points.weight)
        mean = summed_products(share, self.points.score)

        def shift(rate: float) -> float:
            if not 0.0 < rate < 1.0:
                return math.copysign(math.inf, rate - 0.5)
            ends = crossing(
                lambda a: summed_products(share, newton.logistic(z + a)) - rate, -_WIDEST, _WIDEST
            )
            return sum(ends) / 2.0

        lower, upper = interval_of_bias(self.table, confidence=self.confidence).ends
        return shift(mean + lower), shift(mean + upper)

    def _parted(self) -> _Found:
        """Return the coefficient where a threshold on the score parts the labels."""
        why = "a threshold on the score parts the labels: the fit has no finite slope"
        if self.name is MeasureName.COX_INTERCEPT:
            return _Found(math.nan, None, f"no interval: undefined, {why}")
        least = least_when_parted(*self.points.logits, self.points)
        side = 1.0 if newton.parted_upwards(*self.points.logits) else -1.0
        level = student_quantile(0.5 + self.confidence / 2.0, 1.0) ** 2
        return self._infinite(least=least, side=side, why=why, level=level)

    def _infinite(self, *, least: float, side: float, why: str, level: float) -> _Found:
        """Return an infinite coefficient with the end that the likelihood still gives."""
        if self.table.weighted:
            return _Found(side * math.inf, None, f"{NO_WEIGHTED_INTERVAL}; {why}")
        try:
            end = self._profile(least).below_infinity(side, level=level)
        except NotConverged:
            return _Found(side * math.inf, None, f"no interval: {why}, and no end can be computed")
        ends = (end, math.inf) if side > 0.0 else (-math.inf, end)
        return _Found(side * math.inf, ends, why, method="profile likelihood, no finite fit")


MEASURES: Measures = dict.fromkeys(
    _FAMILIES, lambda name, table, settings: cox_measure(name, table, confidence=settings.confidence)
)
