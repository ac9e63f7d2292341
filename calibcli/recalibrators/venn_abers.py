"""Venn-Abers: two isotonic fits that differ in the label of the row asked about."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Self

import numpy as np

from calibcli.codec import HIDDEN, Declared, Size
from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import Purpose, RecalibratorName
from calibcli.options.fitting import MOST_FOLDS, FitOptions
from calibcli.recalibrators.bracket import Bracket
from calibcli.recalibrators.interface import FittedBin, Guarantee, checked_scores, require_both_labels
from calibcli.table.grid import Table
from calibcli.table.moved import with_scores
from calibcli.table.resample import split_table
from calibcli.table.rows import Rows
from calibcli.table.score_table import Floats, ScoreTable, frozen
from calibcli.table.streams import stream


@dataclass(frozen=True, slots=True, eq=False)
class VennAbers(Declared):
    """
    p1 / (1 - p0 + p1), p0 and p1 being the isotonic level at a score once a row of label 0 or 1 joins it.

    One of p0 and p1 is a calibrated probability: the one of the label that comes. Which one is not known,
    and [p0, p1] is no confidence interval for the probability given the score.

    Of several folds each gives its own pair. Their points p1 / (1 - p0 + p1) are averaged in log odds, as
    GM(p1) / (GM(1 - p0) + GM(p1)) with geometric means does. The ends are the lowest p0 and the highest p1
    of all folds: the geometric means themselves would not do, since 1 - GM(1 - p0) exceeds GM(p1) where
    folds disagree by more than their widths.

    References:
        Vovk & Petej (2014), UAI, for the inductive predictor and its calibration. Vovk, Petej & Fedorova
        (2015), NIPS, for the algorithm, the merging (log loss) and the cross predictor. There each fold
        calibrates a scorer trained on the others; here the scores are given, so folds share one scorer.
    """

    folds: Annotated[
        tuple[Bracket, ...], Size(1, MOST_FOLDS), "The pair of each fold; one for the inductive predictor."
    ]
    _regions: Annotated["_Regions", HIDDEN] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_regions", _Regions.of(self.folds))

    def __reduce__(self) -> tuple[type[Self], tuple[tuple[Bracket, ...]]]:
        return type(self), (self.folds,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VennAbers) and self.folds == other.folds

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def fit(cls, table: Table, *, options: FitOptions | None = None, rows: Rows | None = None) -> Self:  # noqa: ARG003
        """
        Find p0 and p1 for every score there can be, exactly.

        Args:
            table: The fit rows. A cell of a grid table counts as one score, its mean.

            options: The folds, None for one; and the seed that shares rows out among them.

            rows: Not looked at.

        Raises:
            EmptyTable: If there are no rows.

            InputProblem: If there is one label only, or fewer rows than folds.

            UsageProblem: If rows carry importance weights, or folds are asked of a grid table.
        """
        asked = options or FitOptions()
        require_both_labels(table)
        if table.weighted:
            msg = "venn-abers cannot use importance weights: the row asked about has none"
            raise UsageProblem(msg, "use --method isotonic, or --weights-are frequency for repeated rows")
        return cls(tuple(Bracket.of(part) for part in _parts(table, asked)))

    def predict(self, scores: Floats) -> Floats:
        """Return the merged probability of each score."""
        scores = checked_scores(scores)
        found: Floats = self._regions.point[self._regions.region_of(scores)]
        return found

    def ends(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return p0 and p1 of each score; of several folds the lowest p0 and the highest p1."""
        region = self._regions.region_of(checked_scores(scores))
        return self._regions.lower[region], self._regions.upper[region]

    @property
    def regions(self) -> tuple[Floats, tuple[Floats, Floats, Floats]]:
        """
        The scores at which something changes, shape (n,), and p0, the point and p1 below the first of them,
        on it, between it and the second, on that, and so on, shapes (2 n + 1,).
        """
        found = self._regions
        return found.cuts[:-1], (found.lower, found.point, found.upper)

    @property
    def name(self) -> RecalibratorName:
        """The method."""
        return RecalibratorName.VENN_ABERS

    @property
    def increasing(self) -> bool:
        """Always: p0 and p1 are isotonic, and the point rises with both."""
        return True

    @property
    def bins(self) -> tuple[FittedBin, ...] | None:
        """None: a step function of finitely many values, too many to list, whose steps depend on labels."""
        return None

    @property
    def guarantee(self) -> Guarantee | None:
        """None: the theorem is about p0 or p1, whichever the label picks, and not about the merged point."""
        return None

    @property
    def notes(self) -> tuple[str, ...]:
        """None."""
        return ()


def _parts(table: Table, options: FitOptions) -> list[ScoreTable]:
    """Return the rows of each fold."""
    if options.folds is None:
        return [table if isinstance(table, ScoreTable) else with_scores(table, table.score)]
    if table.total_rows < options.folds:
        msg = f"{table.total_rows:,} rows cannot be shared out among {options.folds:,} folds"
        raise InputProblem(msg, "ask for fewer --folds")
    return split_table(table, options.folds, generator=stream(options.seed, Purpose.CROSS))


@dataclass(frozen=True, slots=True, eq=False)
class _Regions:
    """
    Every output there is: below the first cut, on it, between it and the second, on that, and so on.

    Args:
        cuts: Scores at which something changes, strictly ascending, shape (n_cuts,); then infinity.

        lower: p0 in each region, shape (2 n_cuts + 1,).

        point: The merged probability.

        upper: p1.
    """

    cuts: Floats
    lower: Floats
    point: Floats
    upper: Floats

    @classmethod
    def of(cls, folds: Sequence[Bracket]) -> Self:
        """Cut [0, 1] wherever a fold changes."""
        cuts = np.unique(np.concatenate([part for fold in folds for part in (fold.first, fold.last)]))
        lowest, highest = np.ones(2 * cuts.size + 1), np.zeros(2 * cuts.size + 1)
        log_odds = np.zeros(2 * cuts.size + 1)
        for fold in folds:
            low, high = (np.repeat(level, 2) for level in fold.at_each(cuts))
            # Levels with label 0 hold from a cut on, those with label 1 up to it.
            low, high = np.concatenate(([0.0], low)), np.concatenate((high, [1.0]))
            lowest, highest = np.minimum(lowest, low), np.maximum(highest, high)
            log_odds += (np.log(high) - np.log1p(-low)) / len(folds)
        # The same for one pair, but for the last digits.
        point = highest / (1.0 - lowest + highest)
        if len(folds) > 1:
            point = 1.0 / (1.0 + np.exp(-log_odds))
        columns = (np.append(cuts, np.inf), lowest, np.clip(point, lowest, highest), highest)
        return cls(*(frozen(column, np.float64) for column in columns))

    def region_of(self, scores: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.intp]]:
        """Return the region of each score."""
        before = np.searchsorted(self.cuts, scores, side="left")
        return np.asarray(2 * before + (self.cuts[before] == scores), dtype=np.intp)
