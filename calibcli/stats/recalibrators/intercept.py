"""The prior shift: every log odds moves by one amount, learnt from labels or from a known base rate."""

from typing import Annotated, ClassVar, Self

import numpy as np

from calibcli.codec import INLINE, Node
from calibcli.errors import UsageProblem
from calibcli.names import RecalibratorName
from calibcli.options.fitting import DEFAULT_FIT, FitOptions
from calibcli.options.numerals import in_full
from calibcli.stats.recalibrators import Recalibrator, require_both_labels
from calibcli.stats.recalibrators.logistic import Coefficient, Record, each_chunk, solved
from calibcli.stats.recalibrators.newton import Aim, Family, Labelled, constant, logit
from calibcli.stats.table import Floats
from calibcli.stats.table.again import Rows
from calibcli.stats.table.grid import Table
from calibcli.values import dataclass


@dataclass(frozen=True, slots=True)
class Intercept(Recalibrator):
    """
    1 / (1 + exp(-(intercept + logit(score)))).

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
        family = Family(RecalibratorName.INTERCEPT, constant, offset=logit)
        aim = Aim.of(table, options, separated=False)
        found = solved(family, Labelled.of(table), aim=aim).over(table, rows)
        return cls(found.coefficients[0], found.record(table))

    def check(self, node: Node) -> None:
        """Refuse labels without a finite fit: a constant always has one."""
        node.child("separated").expect(value=False)

    def predict(self, scores: Floats) -> Floats:
        """Return the recalibrated probability of each score, the same bits however scores are grouped."""
        return each_chunk(scores, lambda part: self.intercept + logit(part))

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the fit that its user should read."""
        return self.record.notes()


def check_prior(prior: float) -> None:
    """Refuse a base rate that leaves nothing to predict."""
    if not 0.0 < prior < 1.0:
        msg = f"a base rate of {in_full(prior)}"
        raise UsageProblem(msg, "--prior takes a number between 0 and 1, such as 0.05")


def shifted(probability: Floats, *, fitted: float, prior: float) -> Floats:
    """
    Multiply the odds by those of the new base rate over those of the old one.

    Assumes label shift: scores of positives, and those of negatives, are distributed as they were, and only
    the share of positives differs. Then this is Bayes' rule. 0 and 1 stay.

    Args:
        probability: For the population of the fit rows, shape (n,), in [0, 1].
        fitted: Base rate there, in (0, 1).
        prior: Base rate of the population that is asked about, in (0, 1).

    References:
        Saerens, Latinne & Decaestecker (2002), Neural Computation 14(1), equation 2.4, for two classes.
    """
    ones, zeros = odds_shares(fitted=fitted, prior=prior)
    positive, negative = probability * ones, (1.0 - probability) * zeros
    found: Floats = positive / (positive + negative)
    return found


def odds_shares(*, fitted: float, prior: float) -> tuple[float, float]:
    """
    Return what the shares of positives and negatives are multiplied by, the larger of the two being 1.

    Args:
        fitted: Base rate of the population of the fit rows, in (0, 1).
        prior: Base rate of the population that is asked about, in (0, 1).
    """
    ones, zeros = prior * (1.0 - fitted), (1.0 - prior) * fitted
    # Over the larger: 1 and 1 where nothing shifts, and never infinite. The smaller may not vanish, or 0 and
    # 1 would not stay.
    largest, least = max(ones, zeros), float(np.finfo(np.float64).tiny)
    return max(ones / largest, least), max(zeros / largest, least)
