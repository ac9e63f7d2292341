"""Coordinates in which features are orthonormal, so that tolerances mean the same for every fit."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from calibcli.errors import NotConverged
from calibcli.table.score_table import Floats

# A feature whose own part is smaller than this share of it is a combination of those before.
_LEAST_PART = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """
    An orthonormal basis of the features under the weights.

    Args:
        design: The basis at each point, shape (k, n).

        triangle: Upper triangular; column j holds feature j in this basis, shape (k, k).
    """

    design: Floats
    triangle: Floats

    @classmethod
    def of(cls, features: Floats, weight: Floats) -> Self:
        """
        Orthonormalise the features in their order (modified Gram-Schmidt).

        Args:
            features: Shape (k, n).

            weight: Positive, summing to 1, shape (n,).

        Raises:
            NotConverged: If a feature is, within rounding, a combination of those before it.
        """
        k = features.shape[0]
        design, triangle = np.empty_like(features), np.zeros((k, k))
        for j in range(k):
            rest = features[j].copy()
            whole = float(np.sqrt(np.sum(weight * rest * rest)))
            for i in range(j):
                triangle[i, j] = np.sum(weight * rest * design[i])
                rest -= triangle[i, j] * design[i]
            own = float(np.sqrt(np.sum(weight * rest * rest)))
            # The first two are told apart by whoever chose them, however near the scores are to each other.
            if not own > (0.0 if j < 2 else _LEAST_PART * whole):
                msg = f"the scores do not tell the {k} coefficients apart, or the weights differ by too many"
                msg = f"{msg} orders of magnitude"
                raise NotConverged(msg, "fit a simpler method, such as platt")
            triangle[j, j] = own
            design[j] = rest / own
        return cls(design, triangle)

    def coefficients(self, at: Floats) -> Floats:
        """Return the coefficients of the features, from those of the basis; shapes (k,)."""
        return np.asarray(np.linalg.solve(self.triangle, at), dtype=np.float64)

    def gradient(self, by_feature: Floats) -> Floats:
        """Return a gradient in the basis, from one in the coefficients of the features; shapes (k,)."""
        return np.asarray(np.linalg.solve(self.triangle.T, by_feature), dtype=np.float64)
