"""Maps fitted to a table that repair its probabilities, one file a method."""

from collections.abc import Sequence
from typing import Annotated, ClassVar, Protocol, Self, runtime_checkable

import numpy as np

from calibcli.codec import Between, Declared, Fraction, Node
from calibcli.errors import EmptyTable, InputProblem
from calibcli.names import RecalibratorName, Target
from calibcli.options.fitting import FitOptions
from calibcli.stats.table import Arrays, Floats, Integers
from calibcli.stats.table.again import Rows
from calibcli.stats.table.grid import Table
from calibcli.values import dataclass

# Places at which a map is asked whether it is constant.
_PROBES = 1_025


@dataclass(frozen=True, slots=True)
class FittedBin(Declared):
    """One output of a discrete recalibrator and the fit rows behind it."""

    lower: Annotated[
        Fraction,
        "Left edge, not included except in the first bin; of the score, or of the output of a base.",
    ]
    upper: Annotated[Fraction, "Right edge, included."]
    value: Annotated[Fraction, "The output."]
    rows: Annotated[int, "Fit rows in the bin."]
    positive: Annotated[int, "Fit rows in the bin with label 1."]


@dataclass(frozen=True, slots=True)
class Bound(Declared):
    """A bound on the calibration error, and what it says."""

    value: Annotated[float, Between(0.0)]
    target: Target
    statement: str

    @classmethod
    def of(cls, value: float, target: Target, *, statement: str) -> Self:
        """Return a bound; no calibration error is above 1, whatever a bound for few rows comes to."""
        return cls(min(value, 1.0), target, statement)


@dataclass(frozen=True, slots=True)
class Guarantee(Declared):
    """What theory promises of histogram binning before any new row is seen."""

    bins: Annotated[int, Between(1)]
    rows: Annotated[int, Between(1)]
    delta: Fraction
    expectation: Bound
    expectation_sharper: Bound
    tail: Bound
    fixed_design: Bound

    @property
    def bounds(self) -> tuple[Bound, ...]:
        """Its bounds."""
        return self.expectation, self.expectation_sharper, self.tail, self.fixed_design


class Recalibrator(Protocol):
    """
    A fitted map on [0, 1].

    Nothing is ever half built: an instance comes from `fit` or `from_dict`. `from_dict` of `to_dict`
    predicts the same bits, and a fit depends on the table alone.
    """

    @classmethod
    def fit(cls, table: Table, *, options: FitOptions, rows: Rows | None = None) -> Self:
        """
        Fit to a table.

        Args:
            table: The fit rows.
            options: What is asked; each method reads its own part.
            rows: The rows behind a grid table, for methods that look at them once more.
        """
        ...

    @classmethod
    def from_dict(cls, parameters: Node) -> Self:
        """Restore what `to_dict` returned."""
        ...

    @property
    def name(self) -> RecalibratorName:
        """The method."""
        ...

    @property
    def increasing(self) -> bool:
        """Whether a higher score never gets a lower probability, but for the last digit: logarithms round."""
        ...

    @property
    def bins(self) -> tuple[FittedBin, ...] | None:
        """Every output there is, or None where there are too many to list: a continuum, or nearly one."""
        ...

    @property
    def guarantee(self) -> Guarantee | None:
        """What theory promises of this fit before any new row is seen, or None."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the fit that its user should read."""
        ...

    def falling(self, table: Table) -> int:
        """Return how many rows lie where the map is known to fall."""
        ...

    def predict(self, scores: Floats) -> Floats:
        """Return the recalibrated probability of each score, in [0, 1]."""
        ...

    def to_dict(self) -> dict[str, object]:
        """Return the state in plain values: the `parameters` of an artifact."""
        ...


@runtime_checkable
class WithEnds(Protocol):
    """A recalibrator that brackets every probability, as Venn-Abers does."""

    def ends(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return the lower and the upper end of each score's probability, shapes (n,)."""
        ...


@runtime_checkable
class Randomised(Protocol):
    """A recalibrator whose output depends on the place of a row in its file as well."""

    @property
    def randomised(self) -> bool:
        """Whether it does."""
        ...

    def predict_at(self, scores: Floats, places: Integers) -> Floats:
        """Return the probability of rows of a file."""
        ...


def randomised(recalibrator: Recalibrator) -> Randomised | None:
    """Return the recalibrator where its output depends on the place of a row, None where it does not."""
    return recalibrator if isinstance(recalibrator, Randomised) and recalibrator.randomised else None


def values_of(bins: Sequence[FittedBin] | None) -> tuple[float, ...] | None:
    """Return the distinct outputs of a discrete map, ascending; None for any other."""
    return None if bins is None else tuple(sorted({one.value + 0.0 for one in bins}))


def distinct_outputs(recalibrator: Recalibrator) -> int | None:
    """Return how many values a map gives, or None where they are too many to tell."""
    values = values_of(recalibrator.bins)
    if values is not None:
        return len(values)
    probed = recalibrator.predict(np.linspace(0.0, 1.0, _PROBES))
    return 1 if probed.min() == probed.max() else None


class FittedMap:
    """
    What a fitted map is unless it says otherwise: increasing, with outputs that form a continuum, of which
    no theorem speaks, and nothing to note.
    """

    __slots__ = ()
    name: ClassVar[RecalibratorName]

    @property
    def increasing(self) -> bool:
        """Whether a higher score never gets a lower probability."""
        return True

    @property
    def bins(self) -> tuple[FittedBin, ...] | None:
        """None: outputs form a continuum, or nearly one."""
        return None

    @property
    def guarantee(self) -> Guarantee | None:
        """None: nothing is promised without a model."""
        return None

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the fit that its user should read."""
        return ()

    def falling(self, table: Table) -> int:  # noqa: ARG002 - of maps that turn round
        """Return how many rows lie where the map is known to fall."""
        return 0


class ArrayParameters(Declared, Arrays):
    """Parameters with arrays among them: equal where their documents are."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]


def checked_scores(scores: Floats) -> Floats:
    """Return the scores as contiguous doubles."""
    scores = np.ascontiguousarray(scores, dtype=np.float64)
    inside = (scores >= 0.0) & (scores <= 1.0)
    if not bool(inside.all()):
        wrong = np.flatnonzero(~inside)
        first = float(scores.ravel()[wrong[0]])
        msg = f"{wrong.size:,} of {scores.size:,} scores lie outside [0, 1]; the first is {first!r}"
        raise InputProblem(msg, "if these are logits, pass --scale logit")
    return scores


def require_both_labels(table: Table) -> None:
    """Refuse a table that no map can be fitted to."""
    rows = table.total_rows
    weight, positive = float(table.weight.sum()), float(table.positive.sum())
    if rows == 0 or weight <= 0.0:
        msg = "a fit needs rows" if rows == 0 else f"a fit needs weight: all {rows:,} rows have weight 0"
        raise EmptyTable(msg)
    negative = float(np.maximum(table.weight - table.positive, 0.0).sum())
    if positive <= 0.0 or negative <= 0.0:
        label = 0 if positive <= 0.0 else 1
        who = "the only row has" if rows == 1 else f"all {rows:,} rows have"
        who = f"{who} weight 0 or" if table.weighted else who
        msg = f"a fit needs both labels: {who} label {label}"
        raise InputProblem(msg, "fit on rows of both labels; is --label the right column?")
