"""Maps fitted to a table that repair its probabilities, one file a method or a few that share one form.

Here is the one step from the name of a method to its class.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Annotated, ClassVar, Self

import numpy as np

from calibcli.codec import Between, Declared, Fraction, OneOf
from calibcli.errors import EmptyTable, InputProblem, NotConverged
from calibcli.families import loaded
from calibcli.names import RecalibratorName, Target
from calibcli.options.fitting import DEFAULT_FIT, FitOptions
from calibcli.stats.table import Floats, Integers
from calibcli.stats.table.again import Rows, reread
from calibcli.stats.table.grid import GridTable, Table
from calibcli.values import dataclass

# Places at which a map is asked whether it is constant.
_PROBES = 1_025

# So many rows may be read again at once.
_MOST_HELD = 1_000_000


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
        return self.expectation, self.expectation_sharper, self.tail, self.fixed_design


class Recalibrator(Declared, ABC):
    """A fitted map on [0, 1], by default an increasing one with a continuum of outputs, and nothing to note.

    Nothing is ever half built: an instance comes from `fit` or `from_dict`. `from_dict` of `to_dict`, which
    gives the `parameters` of an artifact, predicts the same bits, and a fit depends on the table alone.
    """

    __slots__ = ()
    name: ClassVar[RecalibratorName]
    # Whether it brackets every probability, as Venn-Abers does.
    brackets: ClassVar = False

    @classmethod
    @abstractmethod
    def fit(cls, table: Table, *, options: FitOptions = DEFAULT_FIT, rows: Rows | None = None) -> Self:
        """Fit to a table.

        Args:
            table: The fit rows.
            options: What is asked; each method reads its own part.
            rows: The rows behind a grid table, for methods that look at them once more.
        """

    @abstractmethod
    def predict(self, scores: Floats) -> Floats:
        """Return the recalibrated probability of each score, in [0, 1]."""

    def predict_at(self, scores: Floats, places: Integers) -> Floats:  # noqa: ARG002 - of maps that draw
        """Return the probability of rows of a file by their places, which matter where outputs are drawn."""
        return self.predict(scores)

    def ends(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return the lower and the upper end of each score's probability: itself without a bracket."""
        return (self.predict(scores),) * 2

    @property
    def drawn(self) -> bool:
        """Whether the output depends on the place of a row in its file as well."""
        return False

    @property
    def increasing(self) -> bool:
        """Whether a higher score never gets a lower probability, but for the last digit: logarithms round."""
        return True

    @property
    def bins(self) -> tuple[FittedBin, ...] | None:
        """Every output there is, or None where there are too many to list: a continuum, or nearly one."""
        return None

    @property
    def corners(self) -> Floats:
        """Scores at which it is known to step or bend, as a grid of scores may miss what lies between."""
        return np.empty(0)

    @property
    def guarantee(self) -> Guarantee | None:
        """What theory promises of this fit before any new row is seen, or None."""
        return None

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the fit that its user should read."""
        return ()

    def falling(self, table: Table) -> int:  # noqa: ARG002 - of maps that turn round
        """Return how many rows lie where the map is known to fall."""
        return 0


def fit_recalibrator(
    name: RecalibratorName, table: Table, *, options: FitOptions = DEFAULT_FIT, rows: Rows | None = None
) -> Recalibrator:
    """Fit the named recalibrator; to all rows at once where cells of a grid tell too few scores apart."""
    made = recalibrator_class(name)
    try:
        return made.fit(table, options=options, rows=rows)
    except NotConverged:
        seen_again = name.facts.logistic and table.total_rows <= _MOST_HELD
        if rows is None or not isinstance(table, GridTable) or not seen_again:
            raise
    return made.fit(reread(table, np.arange(table.distinct), rows=rows), options=options)


def recalibrator_class(name: RecalibratorName) -> type[Recalibrator]:
    found: type[Recalibrator] = loaded(f"stats.recalibrators.{name.facts.made}")
    return found


# A map in a document: its method, and its parameters.
AnyMap = Annotated[Recalibrator, OneOf("method", RecalibratorName, recalibrator_class, "parameters")]


def values_of(bins: Sequence[FittedBin] | None) -> tuple[float, ...] | None:
    """Return the distinct outputs of a discrete map, ascending; None for any other."""
    return None if bins is None else tuple(sorted({one.value + 0.0 for one in bins}))


def distinct_outputs(*recalibrators: Recalibrator) -> int | None:
    """Return how many values maps give together, or None where they are too many to tell."""
    values: set[float] = set()
    for one in recalibrators:
        given = values_of(one.bins)
        if given is None:
            probed = one.predict(np.linspace(0.0, 1.0, _PROBES))
            if probed.min() != probed.max():
                return None
            given = (float(probed[0]),)
        values.update(given)
    return len(values)


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
