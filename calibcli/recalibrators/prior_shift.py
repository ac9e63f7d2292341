"""Probabilities for a population with another base rate, without a label from it."""

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
    positive = probability * (prior / fitted)
    negative = (1.0 - probability) * ((1.0 - prior) / (1.0 - fitted))
    found: Floats = positive / (positive + negative)
    return found
