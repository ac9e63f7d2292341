"""Isotonic regression: the best non-decreasing fit, found by pooling adjacent violators."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from calibcli.documents import Node, ascending, same_length
from calibcli.names import RecalibratorName
from calibcli.recalibrators.bin_map import BinMap
from calibcli.recalibrators.interface import FittedBin, checked_scores, require_both_labels
from calibcli.table.bins import cut_between, segment_sums
from calibcli.table.grid import Table
from calibcli.table.moved import with_scores
from calibcli.table.score_table import Floats, ScoreTable, frozen


@dataclass(frozen=True, slots=True, eq=False)
class Polyline:
    """
    A continuous function: linear between knots, constant outside them.

    Args:
        knots: Strictly ascending scores, shape (n_knots,).

        values: What the function is there, non-decreasing in [0, 1].
    """

    knots: Floats
    values: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "knots", frozen(self.knots, np.float64))
        object.__setattr__(self, "values", frozen(self.values, np.float64))

    def __reduce__(self) -> tuple[type[Self], tuple[Floats, Floats]]:
        return type(self), (self.knots, self.values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polyline) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def from_dict(cls, node: Node) -> Self:
        """Restore from the members `knots` and `values` of an object."""
        knots, values = node.child("knots"), node.child("values")
        scores, levels = knots.numbers(0.0, 1.0), values.numbers(0.0, 1.0)
        if not scores:
            msg = "is empty, should hold at least one score"
            raise knots.problem(msg)
        same_length(values, len(scores), reason=f"as many as {knots.path}")
        ascending(knots.items())
        ascending(values.items(), strictly_from=len(levels))
        return cls(np.array(scores), np.array(levels))

    def to_dict(self) -> dict[str, object]:
        """Return plain values."""
        return {"knots": self.knots.tolist(), "values": self.values.tolist()}

    def predict(self, scores: Floats) -> Floats:
        """
        Return the function at each score: exact at knots, monotone, never NaN.

        `numpy.interp` is none of this where neighbouring knots are a denormal number apart.
        """
        last = self.knots.size - 1
        left = np.clip(np.searchsorted(self.knots, scores, side="right") - 1, 0, last)
        right = np.minimum(left + 1, last)
        width = np.where(right > left, self.knots[right] - self.knots[left], 1.0)
        share = np.clip((scores - self.knots[left]) / width, 0.0, 1.0)
        low, high = self.values[left], self.values[right]
        found: Floats = np.minimum(low + share * (high - low), high)
        return found


@dataclass(frozen=True, slots=True)
class Isotonic:
    """
    The non-decreasing map with the least squared error on the fit rows (and the least log loss).

    Args:
        curve: Linear between the ends of blocks, or a step function.

    References:
        Zadrozny & Elkan (2002), KDD. De Leeuw, Hornik & Mair (2009), J. Stat. Softw. 32(5), for the
        algorithm in scipy.
    """

    curve: Polyline | BinMap

    @classmethod
    def fit(cls, table: Table, *, step: bool = False) -> Self:
        """
        Pool adjacent violators, ties first.

        Args:
            table: The fit rows. A cell of a grid table counts as one score, its mean.

            step: Whether to change level at the midpoint between neighbouring blocks, on the left closed
                as bins are, rather than to interpolate between the ends of blocks.

        Raises:
            EmptyTable: If there are no rows.

            InputProblem: If there is one label only.
        """
        require_both_labels(table)
        moved = with_scores(table, table.score)
        weighs = moved.weight > 0.0
        starts, levels = _blocks(moved.weight[weighs], moved.positive[weighs])
        score = moved.score[weighs]
        first, last = score[starts[:-1]], score[starts[1:] - 1]
        if step:
            return cls(_steps(moved, first=first, last=last, levels=levels))
        ends = np.column_stack((first, last)).reshape(-1)
        kept = np.concatenate(([True], ends[1:] > ends[:-1]))
        return cls(Polyline(ends[kept], np.repeat(levels, 2)[kept]))

    @classmethod
    def from_dict(cls, parameters: Node) -> Self:
        """
        Restore what `to_dict` returned.

        Raises:
            DocumentProblem: If that cannot be, with the place.
        """
        if not parameters.child("step").truth():
            parameters.only("step", "knots", "values")
            return cls(Polyline.from_dict(parameters))
        parameters.only("step", "edges", "values", "rows", "positive")
        curve = BinMap.from_dict(parameters)
        ascending(parameters.child("values").items(), strictly_from=curve.values.size)
        return cls(curve)

    def to_dict(self) -> dict[str, object]:
        """Return the state in plain values."""
        return {"step": isinstance(self.curve, BinMap), **self.curve.to_dict()}

    def predict(self, scores: Floats) -> Floats:
        """Return the recalibrated probability of each score."""
        return self.curve.predict(checked_scores(scores))

    @property
    def name(self) -> RecalibratorName:
        """The method."""
        return RecalibratorName.ISOTONIC

    @property
    def increasing(self) -> bool:
        """Always: that is the method."""
        return True

    @property
    def bins(self) -> tuple[FittedBin, ...] | None:
        """The steps, or None where the map is interpolated."""
        return self.curve.bins if isinstance(self.curve, BinMap) else None

    @property
    def guarantee(self) -> dict[str, object] | None:
        """None: blocks depend on the labels, which voids the bounds of fixed bins."""
        return None

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the fit that its user should read."""
        if self.curve.values.min() == self.curve.values.max():
            return ("One level fits best: labels do not rise with the score, and every output is the same.",)
        return ()


def _blocks(weight: Floats, positive: Floats) -> tuple[np.ndarray[tuple[int], np.dtype[np.intp]], Floats]:
    """Return where the blocks of equal level start, shape (n_blocks + 1,), and their levels."""
    from scipy.optimize import isotonic_regression

    pooled = isotonic_regression(positive / weight, weights=weight)
    starts = np.asarray(pooled.blocks, dtype=np.intp)
    # Levels anew from the sums, so that equal fractions are equal numbers.
    levels = segment_sums(positive, starts) / segment_sums(weight, starts)
    levels = np.minimum(np.maximum.accumulate(levels), 1.0)
    new = np.concatenate(([True], levels[1:] > levels[:-1]))
    return np.append(starts[:-1][new], starts[-1]), levels[new]


def _steps(table: ScoreTable, *, first: Floats, last: Floats, levels: Floats) -> BinMap:
    """Cut half way between the last score of a block and the first of the next."""
    cuts = cut_between(last[:-1], first[1:])
    starts = np.concatenate(([0], np.searchsorted(table.score, cuts, side="right"), [table.distinct]))
    return BinMap(
        np.concatenate(([0.0], cuts, [1.0])),
        levels,
        segment_sums(table.rows, starts),
        segment_sums(table.positive_rows, starts),
    )
