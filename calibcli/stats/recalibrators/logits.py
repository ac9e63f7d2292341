"""Maps whose log odds are a polynomial of the score's: from none and the prior shift to quadratic."""

from typing import Annotated, ClassVar, Self

import numpy as np

from calibcli.codec import INLINE, Ascending, Between, Node, Size
from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import RecalibratorName
from calibcli.options.fitting import DEFAULT_FIT, FitOptions
from calibcli.options.numerals import in_full
from calibcli.stats.recalibrators import Recalibrator, checked_scores, newton, require_both_labels
from calibcli.stats.recalibrators.logistic import (
    LARGEST,
    Coefficient,
    LogitMap,
    Record,
    solved,
    solved_or_smoothed,
)
from calibcli.stats.table import Floats
from calibcli.stats.table.again import Rows
from calibcli.stats.table.grid import Table
from calibcli.values import dataclass


@dataclass(frozen=True, slots=True)
class Identity(Recalibrator):
    """The score itself; of logits and log-probabilities the probability that they stand for."""

    name: ClassVar = RecalibratorName.IDENTITY

    @classmethod
    def fit(cls, table: Table, *, options: FitOptions = DEFAULT_FIT, rows: Rows | None = None) -> Self:  # noqa: ARG003
        """Return the map that changes nothing."""
        require_both_labels(table)
        return cls()

    def predict(self, scores: Floats) -> Floats:
        """Return the scores, once they are checked."""
        return checked_scores(scores)


@dataclass(frozen=True, slots=True)
class Intercept(LogitMap):
    """1 / (1 + exp(-(intercept + logit(score)))).

    Right where labels became rarer or more frequent and nothing else changed.

    References:
        Saerens, Latinne & Decaestecker (2002), Neural Computation 14(1), equation 2.4, for the model.
    """

    name: ClassVar = RecalibratorName.INTERCEPT
    intercept: Annotated[Coefficient, "What is added to every log odds."]
    record: Annotated[Record, INLINE]

    @classmethod
    def fit(cls, table: Table, *, options: FitOptions = DEFAULT_FIT, rows: Rows | None = None) -> Self:
        """Fit by maximum likelihood, or by least squares started from there."""
        require_both_labels(table)
        family = newton.Family(cls.name, newton.constant, offset=newton.logit)
        aim = newton.Aim.of(table, options, separated=False)
        found = solved(family, newton.Labelled.of(table), aim=aim).over(table, rows)
        return cls(found.coefficients[0], found.record(table))

    def check(self, node: Node) -> None:
        """Refuse labels without a finite fit: a constant always has one."""
        node.child("separated").expect(value=False)

    def log_odds(self, scores: Floats) -> Floats:
        return self.intercept + newton.logit(scores)


def check_prior(prior: float) -> None:
    """Refuse a base rate that leaves nothing to predict."""
    if not 0.0 < prior < 1.0:
        msg = f"a base rate of {in_full(prior)}"
        raise UsageProblem(msg, "--prior takes a number between 0 and 1, such as 0.05")


def shifted(probability: Floats, *, fitted: float, prior: float) -> Floats:
    """Multiply the odds, shape (n,), by those of the new base rate over those of the old one; 0 and 1 stay.

    Assumes label shift: scores of positives, and those of negatives, are distributed as they were, and only
    the share of positives differs. Then this is Bayes' rule.

    References:
        Saerens, Latinne & Decaestecker (2002), Neural Computation 14(1), equation 2.4, for two classes.
    """
    ones, zeros = odds_shares(fitted=fitted, prior=prior)
    positive, negative = probability * ones, (1.0 - probability) * zeros
    found: Floats = positive / (positive + negative)
    return found


def odds_shares(*, fitted: float, prior: float) -> tuple[float, float]:
    """Return what the shares of positives and negatives are multiplied by, the larger of the two being 1."""
    ones, zeros = prior * (1.0 - fitted), (1.0 - prior) * fitted
    # Over the larger: 1 and 1 where nothing shifts, and never infinite. The smaller may not vanish, or 0 and
    # 1 would not stay.
    largest, least = max(ones, zeros), float(np.finfo(np.float64).tiny)
    return max(ones / largest, least), max(zeros / largest, least)


@dataclass(frozen=True, slots=True)
class Temperature(LogitMap):
    """1 / (1 + exp(-logit(score) / temperature)).

    References:
        Guo, Pleiss, Sun & Weinberger (2017), ICML, section 4.2.
    """

    name: ClassVar = RecalibratorName.TEMPERATURE
    parting: ClassVar = "The score 1/2"
    temperature: Annotated[
        float, Between(1.0 / LARGEST, LARGEST), "Above 1 lowers confidence, below 1 raises it; 1/2 stays."
    ]
    record: Annotated[Record, INLINE]

    @classmethod
    def fit(cls, table: Table, *, options: FitOptions = DEFAULT_FIT, rows: Rows | None = None) -> Self:
        """Fit by maximum likelihood, or by least squares started from there.

        Where the threshold 1/2 parts the labels, the targets are smoothed, as they always are on request.
        """
        require_both_labels(table)
        points = newton.Labelled.of(table)
        z = newton.logit(points.score)
        if np.all((z == 0.0) | (np.abs(z) >= newton.LARGEST_LOGIT)):
            where = "1/2, or 0 or 1 to within 2^-53"
            msg = f"no temperature is defined: each of the {table.total_rows:,} rows has score {where}"
            raise InputProblem(
                msg, "use --method platt or isotonic; is --score the right column, and --scale its scale?"
            )
        aim = newton.Aim.of(table, options, separated=newton.parted_at_zero(*points.logits))
        # The log loss must fall at slope 0, as it does where the best slope is positive.
        pull = points.weight / np.sum(points.weight) * (aim.targets(points.label) - 0.5) * z
        if not float(np.sum(pull)) > _ROUNDING * float(np.sum(np.abs(pull))):
            raise _no_rise()
        found = solved(newton.Family(cls.name, newton.ray), points, aim=aim).over(table, rows)
        slope = found.coefficients[0]
        if not slope > 0.0:
            raise _no_rise()
        return cls(1.0 / slope, found.record(table))

    def log_odds(self, scores: Floats) -> Floats:
        return newton.logit(scores) / self.temperature


# Of sums whose terms cancel.
_ROUNDING = 1e-14
# Scores so near to 1 are written as their distance from it.
_NEXT_TO_1 = 1e-3


def _no_rise() -> InputProblem:
    msg = "labels do not rise with the score, so that no temperature above 0 is best"
    return InputProblem(msg, "use --method platt, which can turn the order of scores round")


@dataclass(frozen=True, slots=True)
class Platt(LogitMap):
    """1 / (1 + exp(-(intercept + slope logit(score)))).

    References:
        Platt (1999), Probabilistic outputs for support vector machines, section 2.
    """

    name: ClassVar = RecalibratorName.PLATT
    intercept: Annotated[Coefficient, "Log odds where the score is 1/2."]
    slope: Annotated[
        Coefficient, "1 leaves confidence as it is, below 1 lowers it; negative turns the order round."
    ]
    record: Annotated[Record, INLINE]

    @classmethod
    def fit(cls, table: Table, *, options: FitOptions = DEFAULT_FIT, rows: Rows | None = None) -> Self:
        """Fit by maximum likelihood, or by least squares started from there.

        Where a threshold on the score parts the labels, the targets are smoothed, as they always are on
        request.
        """
        require_both_labels(table)
        found = solved_or_smoothed(
            newton.Family(cls.name, newton.line), table, rows, options=options, least=2
        )
        intercept, slope = found.coefficients
        return cls(intercept, slope, found.record(table))

    def log_odds(self, scores: Floats) -> Floats:
        return self.intercept + self.slope * newton.logit(scores)

    @property
    def increasing(self) -> bool:
        return self.slope >= 0.0

    @property
    def notes(self) -> tuple[str, ...]:
        turned = "The slope is negative: a higher score gets a lower probability."
        return self.record.notes(*(() if self.increasing else (turned,)))


@dataclass(frozen=True, slots=True)
class Quadratic(LogitMap):
    """1 / (1 + exp(-(intercept + slope z + bend z^2))) with z = logit(score)."""

    name: ClassVar = RecalibratorName.QUADRATIC
    parting: ClassVar = "A parabola in the logit of the score"
    intercept: Annotated[Coefficient, "Log odds where the score is 1/2."]
    slope: Annotated[Coefficient, "How they rise there."]
    bend: Annotated[Coefficient, "Coefficient of the square; 0 is Platt scaling."]
    fit_range: Annotated[
        tuple[float, float],
        Between(-newton.LARGEST_LOGIT, newton.LARGEST_LOGIT),
        Size(2, 2, reason="smallest and largest logit of the fit rows"),
        Ascending(),
        "Smallest and largest z of the fit rows; of rounded scores those of their points, the mean scores "
        "of the labels in each cell.",
    ]
    record: Annotated[Record, INLINE]

    @classmethod
    def fit(cls, table: Table, *, options: FitOptions = DEFAULT_FIT, rows: Rows | None = None) -> Self:
        """Fit by maximum likelihood, or by least squares started from there.

        Where a parabola parts the labels, the targets are smoothed, as they always are on request.
        """
        require_both_labels(table)
        found = solved_or_smoothed(newton.Family(cls.name, parabola), table, rows, options=options, least=3)
        intercept, slope, bend = found.coefficients
        score = newton.Labelled.of(table).score
        lowest, highest = newton.logit(np.array([score.min(), score.max()])).tolist()
        return cls(intercept, slope, bend, (lowest, highest), found.record(table))

    def log_odds(self, scores: Floats) -> Floats:
        z = newton.logit(scores)
        return self.intercept + (self.slope + self.bend * z) * z

    @property
    def increasing(self) -> bool:
        """Whether a higher score never gets a lower probability, anywhere in [0, 1]."""
        return self.slope >= 2.0 * abs(self.bend) * newton.LARGEST_LOGIT

    @property
    def notes(self) -> tuple[str, ...]:
        own = () if self.increasing else (self._turning(),)
        return self.record.notes(*own, parting=self.parting)

    def falling(self, table: Table) -> int:
        """Return how many rows have a score at which the map falls."""
        falls = self.slope + 2.0 * self.bend * newton.logit(table.score) < 0.0
        return int(table.rows[falls].sum())

    def _turning(self) -> str:
        lowest, highest = (self.slope + 2.0 * self.bend * z for z in self.fit_range)
        if lowest >= 0.0 and highest >= 0.0:
            return "The map turns round outside the fit scores; among them it is increasing."
        if lowest <= 0.0 and highest <= 0.0:
            return "The map is decreasing among the fit scores: a higher score gets a lower probability."
        turn = -self.slope / (2.0 * self.bend)
        above, score = newton.logistic(np.array([-turn, turn])).tolist()
        where = f"1 - {above:.3g}" if above < _NEXT_TO_1 else f"{score:.3g}"
        return f"The map turns round at score {where}, inside the fit scores."


def parabola(scores: Floats) -> Floats:
    """Return the features 1, z and z^2, shape (3, n)."""
    z = newton.logit(scores)
    return np.stack((np.ones(z.size), z, z * z))
