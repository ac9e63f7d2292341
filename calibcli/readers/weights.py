"""Weights: finite, at least 0 and not too large to be squared; whole numbers where they count rows."""

import numpy as np

from calibcli.readers.decode import Booleans
from calibcli.readers.faults import HEAVIEST, LIGHTEST, Fault, FaultKind, Findings
from calibcli.readers.places import Places
from calibcli.table.score_table import Floats


def check_weights(weight: Floats, *, whole: bool, findings: Findings, places: Places) -> None:
    """
    Note what is wrong with weights.

    Args:
        weight: The weights, none missing, shape (n,).

        whole: Whether they must be whole numbers.

        findings: Where faults are counted.

        places: Where the weights stand in the file.
    """
    if not weight.size:
        return
    if not (weight.min() >= 0.0 and weight.max() <= np.finfo(np.float64).max):
        bad = (weight < 0.0) | np.isinf(weight)
        findings.note(FaultKind.BAD_WEIGHT, _fault(weight, bad, places))
    elif whole:
        fractional = weight != np.floor(weight)
        if fractional.any():
            findings.note(FaultKind.FRACTIONAL_WEIGHT, _fault(weight, fractional, places))
        with np.errstate(over="ignore"):
            findings.counted += float(weight.sum())
        findings.weightless += weight.size - int(np.count_nonzero(weight))
    else:
        extreme = (weight > HEAVIEST) | ((weight > 0.0) & (weight < LIGHTEST))
        if extreme.any():
            findings.note(FaultKind.HUGE_WEIGHT, _fault(weight, extreme, places))


def _fault(weight: Floats, where: Booleans, places: Places) -> Fault:
    first = int(np.argmax(where))
    return Fault(int(np.count_nonzero(where)), places.row(first), str(weight[first]).removesuffix(".0"))
