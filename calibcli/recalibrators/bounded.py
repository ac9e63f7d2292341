"""Coefficients that must not be negative: the best fit on each face of what is allowed."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from calibcli.errors import NotConverged
from calibcli.names import FitLoss
from calibcli.recalibrators.design import Aim, Family, Labelled
from calibcli.recalibrators.logistic import Solution, solved
from calibcli.recalibrators.newton import Points, log_loss, squared_loss
from calibcli.table.grid import Table
from calibcli.table.rows import Rows
from calibcli.table.score_table import Floats

# A loss that falls by less than this, as a coefficient leaves its bound by one, does not fall.
_INWARDS = 1e-9


@dataclass(frozen=True, slots=True)
class Face:
    """The features of a family some of which are held at coefficient 0."""

    family: Family
    kept: tuple[int, ...]

    def __call__(self, scores: Floats) -> Floats:
        """Return the features that are kept, shape (len(kept), n)."""
        return self.family.features(scores)[list(self.kept)]


def solved_within_bounds(
    family: Family, points: Labelled, *, aim: Aim, free: int, table: Table, rows: Rows | None
) -> tuple[Solution, tuple[float, ...]]:
    """
    Fit with every coefficient but the first few at least 0.

    The best such fit lies inside one face of what is allowed, and is the unbounded fit of the features kept
    there; so each face is fitted, the one that holds nothing at 0 first, and the best is proved by the
    gradient at the bounds, which must point inwards (Karush, Kuhn and Tucker).

    Args:
        family: What is fitted.

        points: The points of the table.

        aim: What is minimised.

        free: How many features, the first, have a coefficient that may be negative.

        table: The fit rows.

        rows: The rows behind a grid table.

    Returns:
        The fit on its face, and the coefficients of all features.

    Raises:
        NotConverged: If no face has a minimum that can be reached.
    """
    best = _best_face(family, points, aim=aim, free=free)
    if best is None:
        msg = f"no {family.method.value} fit within the bounds can be reached by Newton steps"
        raise NotConverged(msg, "the labels may be almost separated by the score: try --smooth-targets")
    kept, found = best
    found = found.over(table, rows)
    return found, _spread(found, kept, free=free, k=_count(family))


def _best_face(
    family: Family, points: Labelled, *, aim: Aim, free: int
) -> tuple[tuple[int, ...], Solution] | None:
    """Return the face with the least loss whose fit is allowed, or None where the bounds disprove it."""
    k = _count(family)
    allowed: list[tuple[tuple[int, ...], Solution]] = []
    for size in range(k - free, -1, -1):
        for bounded in combinations(range(free, k), size):
            kept = (*range(free), *bounded)
            found = _on_face(family, kept, points=points, aim=aim)
            if found is None or any(found.coefficients[i] < 0.0 for i in range(free, len(kept))):
                continue
            if len(kept) == k:
                return kept, found
            allowed.append((kept, found))
    if not allowed:
        return None
    kept, found = min(allowed, key=lambda one: one[1].optimum.slopes.loss)
    at = np.array(_spread(found, kept, free=free, k=k))
    return (kept, found) if _points_inwards(family, points, aim=aim, at=at) else None


def _on_face(family: Family, kept: tuple[int, ...], *, points: Labelled, aim: Aim) -> Solution | None:
    face = Family(family.method, Face(family, kept), family.offset)
    try:
        return solved(face, points, aim=aim)
    except NotConverged:
        return None


def _points_inwards(family: Family, points: Labelled, *, aim: Aim, at: Floats) -> bool:
    """Whether the loss rises as any coefficient leaves 0."""
    features, share = family.features(points.score), points.weight / np.sum(points.weight)
    offset = None if family.offset is None else family.offset(points.score)
    loss = squared_loss if aim.loss is FitLoss.BRIER else log_loss
    gradient = loss(Points(features, aim.targets(points.label), share, offset), at).gradient
    size = np.sqrt(np.sum(share * features * features, axis=1))
    return bool(np.all(gradient[at == 0.0] >= -_INWARDS * size[at == 0.0]))


def _spread(found: Solution, kept: tuple[int, ...], *, free: int, k: int) -> tuple[float, ...]:
    """Return the coefficients of all features, those not kept 0; rows may have moved one across its bound."""
    every = [0.0] * k
    for place, value in zip(kept, found.coefficients, strict=True):
        every[place] = value if place < free else max(value, 0.0)
    return tuple(every)


def _count(family: Family) -> int:
    return int(family.features(np.array([0.5])).shape[0])
