"""One temperature for all classes: softmax(log p / T)."""

from functools import partial
from typing import Annotated, ClassVar, Self

import numpy as np

from calibcli.codec import HIDDEN, Between
from calibcli.errors import InputProblem, NotConverged
from calibcli.names import ClassMethod
from calibcli.stats.recalibrators import classes
from calibcli.stats.recalibrators.classes.log_rows import LogBlock, LogRows
from calibcli.stats.table import Floats
from calibcli.values import dataclass

_MOST_STEPS = 100
_FLAT = 1e-12
_LARGEST = 1e9


@dataclass(frozen=True, slots=True)
class ClassTemperature(classes.ClassRecalibrator):
    """softmax(log p / temperature).

    References:
        Guo, Pleiss, Sun & Weinberger (2017), ICML, section 4.2.
    """

    name: ClassVar = ClassMethod.TEMPERATURE
    keeps_prediction: ClassVar = True  # a positive temperature keeps the order of a row's probabilities
    temperature: Annotated[
        float, Between(1.0 / _LARGEST, _LARGEST), "Above 1 lowers confidence, below 1 raises it."
    ]
    least: classes.Least = classes.LEAST_BESIDE_ZERO
    notes: Annotated[tuple[str, ...], HIDDEN] = ()  # how many probabilities were limited, right after the fit

    @classmethod
    def fit(cls, method: ClassMethod, seen: classes.ClassTables, *, options: classes.ClassFitOptions) -> Self:  # noqa: ARG003
        """Fit by maximum likelihood: Newton on 1 / T, in which the log loss is convex."""
        again = LogRows.of(seen.rows, least=options.least)
        slope = 1.0
        low, high = 0.0, np.inf
        if _derivatives(again, 0.0)[0] >= 0.0:
            msg = "labels do not follow the probabilities, so that no temperature above 0 is best"
            raise InputProblem(msg, "are the columns in the order of the classes? --classes names them")
        again.refuse_never_wrong("temperature")
        for _ in range(_MOST_STEPS):
            first, second = _derivatives(again, slope)
            if abs(first) < _FLAT * max(1.0, second):
                return cls(1.0 / slope, again.least, again.limited)
            low, high = (slope, high) if first < 0.0 else (low, slope)
            step = slope - first / second if second > 0.0 else np.inf
            inside = low < step < high
            slope = step if inside else (2.0 * low if np.isinf(high) else 0.5 * (low + high))
            if np.isfinite(high) and high - low <= 4e-16 * high:
                return cls(1.0 / slope, again.least, again.limited)
        msg = f"the temperature did not settle in {_MOST_STEPS} steps"
        raise NotConverged(msg)

    def predict(self, probability: Floats) -> Floats:
        return classes.with_prediction_of(
            probability, classes.softmax(classes.log_of(probability, self.least) / self.temperature)
        )


def _derivatives(rows: LogRows, slope: float) -> tuple[float, float]:
    """Return the first and second derivative of the mean log loss by 1 / T."""
    first, second = rows.summed(partial(_derivatives_of, slope))
    return float(first), float(second)


def _derivatives_of(slope: float, block: LogBlock) -> Floats:
    right = block.log[np.arange(block.label.size), block.label]
    top = block.log.max(axis=1)
    below = block.log - top[:, None]
    power = np.exp(slope * below)
    total = power.sum(axis=1)
    power *= below
    mean = power.sum(axis=1) / total
    spread = np.einsum("ij,ij->i", power, below) / total - mean * mean
    return np.array([block.weight @ (mean - (right - top)), block.weight @ spread])
