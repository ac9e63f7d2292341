"""Beta calibration: log odds that weigh the two ends of the score apart."""

import math
from functools import partial
from itertools import combinations
from typing import Annotated, ClassVar, Self

import numpy as np

from calibcli.codec import INLINE, Between, Node
from calibcli.errors import NotConverged
from calibcli.names import BetaForm, FitLoss, RecalibratorName
from calibcli.options.fitting import DEFAULT_FIT, FitOptions
from calibcli.stats.recalibrators import newton, require_both_labels
from calibcli.stats.recalibrators.logistic import LARGEST, Coefficient, LogitMap, Record, Solution, solved
from calibcli.stats.table import Floats
from calibcli.stats.table.again import Rows
from calibcli.stats.table.grid import Table
from calibcli.values import dataclass

# A loss that falls by less than this, as a coefficient leaves its bound by one, does not fall.
_INWARDS = 1e-9


def solved_within_bounds(
    family: newton.Family,
    points: newton.Labelled,
    *,
    aim: newton.Aim,
    free: int,
    table: Table,
    rows: Rows | None,
) -> tuple[Solution, tuple[float, ...]]:
    """Fit with all coefficients but the first few at least 0; return the fit on its face, and all.

    The best such fit lies inside one face of what is allowed, and is the unbounded fit of the features kept
    there; so each face is fitted, the one that holds nothing at 0 first, and the best is proved by the
    gradient at the bounds, which must point inwards (Karush, Kuhn and Tucker).
    """
    best = _best_face(family, points, aim=aim, free=free)
    if best is None:
        msg = f"no {family.method.value} fit within the bounds can be reached by Newton steps"
        raise NotConverged(msg, "the labels may be almost separated by the score: try --smooth-targets")
    kept, found = best
    found = found.over(table, rows)
    return found, _spread(found, kept, free=free, k=_count(family))


def _best_face(
    family: newton.Family, points: newton.Labelled, *, aim: newton.Aim, free: int
) -> tuple[tuple[int, ...], Solution] | None:
    """Return the face with the least loss whose fit is allowed, or None where the bounds disprove it."""
    k = _count(family)
    allowed: list[tuple[tuple[int, ...], Solution]] = []
    for size in range(k - free, -1, -1):
        for bounded in combinations(range(free, k), size):
            kept = (*range(free), *bounded)
            face = newton.Family(family.method, partial(_features_kept, family, kept))
            try:
                found = solved(face, points, aim=aim)
            except NotConverged:
                continue
            if any(found.coefficients[i] < 0.0 for i in range(free, len(kept))):
                continue
            if len(kept) == k:
                return kept, found
            allowed.append((kept, found))
    if not allowed:
        return None
    kept, found = min(allowed, key=lambda one: one[1].optimum.slopes.loss)
    at = np.array(_spread(found, kept, free=free, k=k))
    return (kept, found) if _points_inwards(family, points, aim=aim, at=at) else None


def _features_kept(family: newton.Family, kept: tuple[int, ...], scores: Floats) -> Floats:
    """Return the features of a family whose coefficients are not held at 0, shape (len(kept), n)."""
    return family.features(scores)[list(kept)]


def _points_inwards(family: newton.Family, points: newton.Labelled, *, aim: newton.Aim, at: Floats) -> bool:
    """Whether the loss rises as any coefficient leaves 0."""
    features, share = family.features(points.score), points.weight / np.sum(points.weight)
    loss = newton.squared_loss if aim.loss is FitLoss.BRIER else newton.log_loss
    gradient = loss(newton.Points(features, aim.targets(points.label), share), at).gradient
    size = np.sqrt(np.sum(share * features * features, axis=1))
    return bool(np.all(gradient[at == 0.0] >= -_INWARDS * size[at == 0.0]))


def _spread(found: Solution, kept: tuple[int, ...], *, free: int, k: int) -> tuple[float, ...]:
    """Return the coefficients of all features, those not kept 0; rows may have moved one across its bound."""
    every = [0.0] * k
    for place, value in zip(kept, found.coefficients, strict=True):
        every[place] = value if place < free else max(value, 0.0)
    return tuple(every)


def _count(family: newton.Family) -> int:
    return int(family.features(np.array([0.5])).shape[0])


_LN2 = math.log(2.0)


@dataclass(frozen=True, slots=True)
class Beta(LogitMap):
    """1 / (1 + exp(-(a ln f - b ln(1 - f) + c))) with a, b >= 0.

    References:
        Kull, Silva Filho & Flach (2017), AISTATS, section 4.
    """

    name: ClassVar = RecalibratorName.BETA
    a: Annotated[float, Between(0.0, LARGEST), "Weight of the logarithm of the score; bends the low end."]
    b: Annotated[float, Between(0.0, LARGEST), "Weight of that of its complement; bends the high end."]
    c: Annotated[Coefficient, "Constant; the map passes 1/2 at the m with c = b ln(1 - m) - a ln m."]
    form: Annotated[
        BetaForm,
        "Which of a, b and m were free: `abm` all, `am` has a = b, `ab` has m = 1/2, `a` has both.",
    ]
    record: Annotated[Record, INLINE]

    @classmethod
    def fit(cls, table: Table, *, options: FitOptions = DEFAULT_FIT, rows: Rows | None = None) -> Self:
        """Fit by maximum likelihood under a, b >= 0, or by least squares started from there.

        Where a threshold on the score (1/2, where m = 1/2) parts the labels, the targets are smoothed, as
        they always are on request.
        """
        require_both_labels(table)
        form, points = options.form, newton.Labelled.of(table)
        _require_scores(form, points, table)
        centred = form in (BetaForm.AB, BetaForm.A)
        separated = (newton.parted_at_zero if centred else newton.parted_upwards)(*points.logits)
        family = newton.Family(RecalibratorName.BETA, partial(features_of, form=form))
        aim = newton.Aim.of(table, options, separated=separated)
        found, coefficients = solved_within_bounds(
            family, points, aim=aim, free=0 if centred else 1, table=table, rows=rows
        )
        return cls(*_abc(form, coefficients), form, found.record(table))

    def check(self, node: Node) -> None:
        """Refuse coefficients that the form does not leave free."""
        if self.form in (BetaForm.AM, BetaForm.A):
            node.child("b").expect(self.a)
        if self.form in (BetaForm.AB, BetaForm.A):
            node.child("c").expect((self.a - self.b) * _LN2)

    def log_odds(self, scores: Floats) -> Floats:
        if self.a == self.b:
            return self.c + self.a * newton.logit(scores)
        low, high = _ends(scores)
        return self.c + self.a * low + self.b * high

    @property
    def notes(self) -> tuple[str, ...]:
        centred = self.form in (BetaForm.AB, BetaForm.A)
        parting = "The score 1/2" if centred else "A threshold on the score"
        if self.a == 0.0 and self.b == 0.0:
            flat = (
                "a and b stand at their bound 0: labels do not rise with the score, and the map is constant."
            )
            return self.record.notes(flat, parting=parting)
        if self.a == 0.0 or self.b == 0.0:
            which = "a" if self.a == 0.0 else "b"
            bound = f"{which} stands at its bound 0: below it the map would not be increasing."
            return self.record.notes(bound, parting=parting)
        return self.record.notes(parting=parting)


def features_of(scores: Floats, *, form: BetaForm) -> Floats:
    """Return the features of a form, shape (k, n), the constant first where there is one."""
    if form is BetaForm.AM:
        return newton.line(scores)
    if form is BetaForm.A:
        return newton.ray(scores)
    low, high = _ends(scores)
    if form is BetaForm.AB:
        return np.stack((low + _LN2, high - _LN2))
    return np.stack((np.ones(scores.size), low, high))


def _ends(scores: Floats) -> tuple[Floats, Floats]:
    """Return ln f and -ln(1 - f), of scores limited as in the logit."""
    inside = np.clip(scores, newton.NEAREST, 1.0 - newton.NEAREST)
    return np.log(inside), -np.log1p(-inside)


def _abc(form: BetaForm, coefficients: tuple[float, ...]) -> tuple[float, float, float]:
    """Return a, b and c from the coefficients of the form's features."""
    if form is BetaForm.ABM:
        c, a, b = coefficients
        return a, b, c
    if form is BetaForm.AM:
        c, a = coefficients
        return a, a, c
    a, b = coefficients if form is BetaForm.AB else (coefficients[0], coefficients[0])
    return a, b, (a - b) * _LN2


def _require_scores(form: BetaForm, points: newton.Labelled, table: Table) -> None:
    """Refuse scores too few of which differ after the logit for the coefficients to be told apart."""
    z = np.unique(newton.logit(points.score))
    least, other = {
        BetaForm.ABM: (3, ""),
        BetaForm.AM: (2, ""),
        BetaForm.AB: (2, " other than 1/2"),
        BetaForm.A: (1, " other than 1/2"),
    }[form]
    found = int(np.count_nonzero(z)) if other else z.size
    if found < least:
        msg = f"beta calibration of form {form.value} needs {least} distinct scores{other}, and there "
        msg += "is 1" if found == 1 else f"are {found}"
        enough = form is BetaForm.ABM and found == 2
        raise newton.too_few(msg, table, "use --beta-form am" if enough else newton.ALIKE)
