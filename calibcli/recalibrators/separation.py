"""Whether labels are parted so well that the likelihood of a logistic curve has no maximum."""

import numpy as np
import numpy.typing as npt

from calibcli.table.score_table import Floats

# What the solver keeps its constraints to, and ten times what a parting has to reach beyond that.
_FEASIBLE = 1e-9
_PARTED = 1e-6


def parted_upwards(ones: Floats, zeros: Floats) -> bool:
    """Whether a threshold has every label 1 at or above it and every label 0 at or below."""
    return bool(zeros.max() <= ones.min())


def parted_at_zero(ones: Floats, zeros: Floats) -> bool:
    """Whether the threshold 0 does."""
    return bool(zeros.max() <= 0.0 <= ones.min())


def parted(ones: Floats, zeros: Floats) -> bool:
    """Whether a threshold parts the labels in either direction."""
    return parted_upwards(ones, zeros) or parted_upwards(zeros, ones)


def parted_by(design: Floats, label: npt.NDArray[np.bool_]) -> bool:
    """
    Whether some combination of features is nowhere negative at label 1, nowhere positive at label 0, and not
    0 everywhere.

    Then, and only then, the likelihood has no maximum, given that the features are independent.

    Args:
        design: The features at each point, shape (k, n).

        label: Shape (n,).

    References:
        Albert & Anderson (1984), Biometrika 71(1). Konis (2007), thesis, Oxford, section 4, for the linear
        program.
    """
    from scipy.optimize import linprog

    length = np.sqrt(np.sum(design * design, axis=0))
    signed = np.where(label, -1.0, 1.0) * design / np.where(length > 0.0, length, 1.0)
    rows = np.unique(signed, axis=1).T
    found = linprog(
        np.sum(rows, axis=0),
        A_ub=rows,
        b_ub=np.zeros(rows.shape[0]),
        bounds=(-1.0, 1.0),
        options={"primal_feasibility_tolerance": _FEASIBLE},
    )
    return found.x is not None and bool(np.min(rows @ found.x) < -_PARTED)
