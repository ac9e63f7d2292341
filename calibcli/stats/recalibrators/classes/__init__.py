"""Maps of several classes."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Annotated, Self

import numpy as np

from calibcli.codec import ABSENT, Between, Declared, OneOf
from calibcli.errors import EmptyTable, InputProblem
from calibcli.families import loaded
from calibcli.names import (
    DEFAULT_LEAST_CLASS_ROWS,
    ClassMethod,
    EndsOf,
    OutputSum,
    RecalibratorName,
    Scale,
    ViewName,
)
from calibcli.options.fitting import FitOptions
from calibcli.options.numerals import plural
from calibcli.stats.table import Floats, Integers
from calibcli.stats.table.again import ClassBlock, ClassRowSource
from calibcli.stats.table.grid import Table
from calibcli.values import dataclass, field


@dataclass(frozen=True, slots=True)
class ClassTables:
    """The fit rows, and what they are seen as scores of a yes or no.

    Args:
        confidence: The largest probability, and whether it was right.
        top: The same for the rows that predict each class; none for a class that no row predicts.
        rest: For each class its probability in all rows, and whether it was right.
        pairs: For each pair of classes, by their places, the share of the first in the rows of the two.
    """

    rows: ClassRowSource
    confidence: Table
    top: Mapping[str, Table]
    rest: Mapping[str, Table]
    pairs: Mapping[tuple[int, int], Table] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ClassFitOptions:
    """What is asked of a fit of several classes.

    Args:
        inner: The method for each view, where the method is made of such.
        least_rows: A class with fewer rows of either label shares a map with all such classes.
        output_sum: Whether one-vs-rest divides by the sum.
        folds: Folds of the cross-validation that chooses a penalty.
        least: What smaller probabilities are taken for inside logarithms; None where the rows tell.
    """

    inner: RecalibratorName = RecalibratorName.PLATT
    inner_options: FitOptions = field(default_factory=FitOptions)
    least_rows: int = DEFAULT_LEAST_CLASS_ROWS
    output_sum: OutputSum = OutputSum.ONE
    folds: int = 5
    seed: int = 0
    least: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ProbabilityEnds:
    """Lower and upper ends: of every class, (n, K), or of the most probable one of each new row, (n,)."""

    lower: Floats
    upper: Floats

    def in_order(self, order: Integers) -> "ProbabilityEnds":
        """Return ends whose column k goes to column `order[k]`; those of one class stay as they are."""
        if self.lower.ndim == 1:
            return self
        lower, upper = np.empty_like(self.lower), np.empty_like(self.upper)
        lower[:, order], upper[:, order] = self.lower, self.upper
        return ProbabilityEnds(lower, upper)


class ClassRecalibrator(Declared, ABC):
    """A fitted map from rows of probabilities to rows of probabilities.

    Nothing is ever half built: an instance comes from `fit` or `from_dict`, which knows the method and the
    classes, and what `to_dict` gives predicts the same bits once restored.
    """

    __slots__ = ()

    @classmethod
    @abstractmethod
    def fit(cls, method: ClassMethod, seen: ClassTables, *, options: ClassFitOptions) -> Self:
        """Fit to the rows, or to what a yes or no sees of them."""

    @property
    @abstractmethod
    def name(self) -> ClassMethod:
        """The method."""

    @property
    def keeps_prediction(self) -> bool:
        """Whether the most probable class of a row is always the same before and after (accuracy is kept)."""
        return False

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the fit that its user should read, such as which classes share a map."""
        return ()

    @abstractmethod
    def predict(self, probability: Floats) -> Floats:
        """Return recalibrated rows.

        Returns:
            Shape (n, K), in [0, 1]. For methods of the confidence alone the predicted class gets the new
            confidence and the others share the rest in proportion.
        """

    @property
    def ends_of(self) -> EndsOf | None:
        """Whether every class has ends, or the most probable one alone; None where none has."""
        return None

    def ends(self, probability: Floats, after: Floats) -> ProbabilityEnds | None:  # noqa: ARG002 - of maps with ends
        """Return the ends of recalibrated rows, or None where the map has none."""
        return None

    def outputs(self, view: ViewName, place: int | None) -> tuple[float, ...] | None:  # noqa: ARG002
        """Return every score that a view of recalibrated rows can have, ascending; None for a continuum.

        Args:
            place: The place of the class that is looked at; None for the largest probability.
        """
        return None


def class_recalibrator_class(method: ClassMethod) -> type[ClassRecalibrator]:
    found: type[ClassRecalibrator] = loaded(f"stats.recalibrators.classes.{method.facts.made}")
    return found


# Maps in a document: their method, and their parameters.
AnyClassMap = Annotated[
    ClassRecalibrator, OneOf("method", ClassMethod, class_recalibrator_class, "parameters")
]


# What smaller probabilities are taken for inside the logarithm: where one is 0, which has no logarithm and
# shows that something was lost; where none is, though less has fewer digits than other doubles, and some
# databases and runtimes take it for 0; and where they were made of logits.
LEAST_BESIDE_ZERO = 2.0**-53

_LEAST = 2.0**-1022

LEAST_OF_LOGITS = 2.0**-1074

Least = Annotated[
    float,
    Between(LEAST_OF_LOGITS, LEAST_BESIDE_ZERO),
    ABSENT,
    "What smaller probabilities are taken for inside the logarithm; 2^-53 where it is absent.",
]


def least_of(scale: Scale) -> float | None:
    """Return what smaller probabilities are taken for, None where the rows tell: `LeastSeen`."""
    return LEAST_OF_LOGITS if scale in (Scale.LOGIT, Scale.LOGPROB) else None


class LeastSeen:
    """What small probabilities are taken for inside the logarithm, and how many of the fit rows' were.

    Probabilities are taken as they are while none is 0. Where one is, what it stands for is not known, and
    all below 2^-53 are taken for that. Those made of logits are 0 where classes are ruled out, or far apart:
    they are taken for the least there is. Rows of classes that were ruled out would outweigh all others: they
    are told by this, that of rows of classes below 2^-53 more than three in four are of classes of 0.

    Args:
        given: What smaller ones are taken for while few rows are of a class of 0, or None.
    """

    def __init__(self, given: float | None) -> None:
        self._given, self._zeros, self._zero_rows, self._small, self._small_rows = given, 0, 0, 0, 0
        self._missed = self._unlikely = 0

    def add(self, block: ClassBlock) -> None:
        some = block.probability
        if float(some.min(initial=1.0)) >= LEAST_BESIDE_ZERO:
            return
        times = block.weighing.times(some.shape[0])
        least = self._given or _LEAST
        small, zeros = (np.count_nonzero(some < limit, axis=1) for limit in (LEAST_BESIDE_ZERO, least))
        self._small += int(small @ times)
        self._small_rows += int(times[small > 0].sum())
        self._zeros += int(zeros @ times)
        self._zero_rows += int(times[zeros > 0].sum())
        own = some[np.arange(block.label.size), block.label]
        self._missed += int(times[own < least].sum())
        self._unlikely += int(times[own < LEAST_BESIDE_ZERO].sum())

    @property
    def _limited(self) -> bool:
        return self._zeros > 0 if self._given is None else 4 * self._missed > 3 * self._unlikely

    @property
    def least(self) -> float:
        return LEAST_BESIDE_ZERO if self._limited else self._given or _LEAST

    @property
    def notes(self) -> tuple[str, ...]:
        """How many were taken for it, in words."""
        if not self._zeros:
            return ()
        zeros = "1 probability is" if self._zeros == 1 else f"{self._zeros:,} probabilities are"
        if not self._limited:
            rows, them = plural(self._zero_rows, "fit row"), "it" if self._zeros == 1 else "them"
            return (f"{zeros} 0 by rounding, in {rows}; the fit took {them} for {self.least:.2g}",)
        rows = plural(self._small_rows, "fit row")
        limited = f"the fit took all {self._small:,} below 2^-53, in {rows}, for 2^-53"
        if self._given is None:
            return (f"{zeros} 0, which has no logarithm: {limited}; logits (--scale logit) keep them",)
        return (f"{zeros} 0, and {plural(self._missed, 'row', 'is')} of such a class: {limited}",)


def log_of(probability: Floats, least: float) -> Floats:
    """Return logarithms, of `least` where a probability is smaller."""
    return np.asarray(np.log(np.maximum(probability, least)))


def softmax(logits: Floats) -> Floats:
    """Return rows of probabilities, shape (n, K)."""
    power = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(power / power.sum(axis=1, keepdims=True))


def with_prediction_of(probability: Floats, after: Floats) -> Floats:
    """Return rows of a map that keeps the order of classes, with ties by rounding broken as before."""
    predicted = probability.argmax(axis=1)
    lost = np.flatnonzero(after.argmax(axis=1) != predicted)
    after[lost, predicted[lost]] = np.nextafter(after[lost].max(axis=1), 2.0)
    return after


def losses_and_softmax(logits: Floats, label: Integers) -> tuple[Floats, Floats]:
    """Return the log loss of each row, shape (n,), and over the logits the probabilities, shape (n, K)."""
    logits -= logits.max(axis=1, keepdims=True)
    right = logits[np.arange(label.size), label]
    np.exp(logits, out=logits)
    total = logits.sum(axis=1)
    logits /= total[:, None]
    return np.log(total) - right, logits


def require_several(classes: tuple[str, ...], weights: Floats, rows: int) -> tuple[str, ...]:
    """Refuse rows that no map of several classes can be fitted to; return the classes that no row has."""
    labels = np.flatnonzero(weights > 0.0)
    if not labels.size:
        msg = "a fit needs rows"
        raise EmptyTable(msg)
    if labels.size < 2:
        msg = f"a fit needs several classes: all {rows:,} rows have label {classes[int(labels[0])]!r}"
        raise InputProblem(msg, "fit on rows of all classes; is --label the right column?")
    return tuple(name for name, weight in zip(classes, weights, strict=True) if weight <= 0.0)


def summing_to_one(found: Floats, before: Floats) -> Floats:
    """Return rows divided by their sums; a row of zeros stays as it was before."""
    total = found.sum(axis=1)
    nothing = total <= 0.0
    found[nothing] = before[nothing]
    return np.asarray(found / np.where(nothing, before.sum(axis=1), total)[:, None])


def class_weights(count: int, block: ClassBlock) -> Floats:
    """Return the sum of the weights of the rows of each of so many classes."""
    return np.asarray(np.bincount(block.label, weights=block.weights, minlength=count), np.float64)
