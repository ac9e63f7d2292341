"""Probabilities for a population with another base rate, without a label from it."""

import numpy as np

from calibcli.errors import UsageProblem
from calibcli.table.score_table import Floats


def check_prior(prior: float) -> None:
    """
    Refuse a base rate that leaves nothing to predict.

    Raises:
        UsageProblem: If it does not lie strictly between 0 and 1.
    """
    if not 0.0 < prior < 1.0:
        msg = f"a base rate of {prior:g}"
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
