"""Student's t: quantiles for intervals that estimate their own spread from few units."""

import numpy as np

from calibcli.bounds.special import incomplete_beta, normal_quantile
from calibcli.table.crossing import crossing

# From here on five terms of the expansion are exact to ten digits.
_MANY = 1_000.0


def student_quantile(probability: float, freedom: float) -> float:
    """
    Return the quantile of Student's t.

    Args:
        probability: In (0.5, 1).

        freedom: Degrees of freedom, at least 1.

    References:
        Abramowitz & Stegun 26.5.27 for the tail, 26.7.5 for many degrees of freedom.
    """
    z = normal_quantile(probability)
    if freedom >= _MANY:
        return _expanded(z, freedom)
    tail = 2.0 * (1.0 - probability)

    def beyond(t: float) -> float:
        share = np.array([freedom / (freedom + t * t)])
        return tail - float(incomplete_beta(np.array([0.5 * freedom]), np.array([0.5]), share)[0][0])

    high = 2.0 * z
    while beyond(high) < 0.0:
        high *= 2.0
    return sum(crossing(beyond, z, high, within=1e-12 * high)) / 2.0


def _expanded(z: float, freedom: float) -> float:
    """Return the quantile as a normal one with corrections in powers of 1 / freedom."""
    terms = (
        z,
        (z**3 + z) / 4.0,
        (5.0 * z**5 + 16.0 * z**3 + 3.0 * z) / 96.0,
        (3.0 * z**7 + 19.0 * z**5 + 17.0 * z**3 - 15.0 * z) / 384.0,
        (79.0 * z**9 + 776.0 * z**7 + 1482.0 * z**5 - 1920.0 * z**3 - 945.0 * z) / 92160.0,
    )
    return sum(term / freedom**power for power, term in enumerate(terms))
