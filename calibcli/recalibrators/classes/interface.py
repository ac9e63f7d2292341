"""What every recalibrator of several classes can do, and what its fit sees."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, Self

from calibcli.codec import Node
from calibcli.names import RecalibratorName
from calibcli.options.fitting import FitOptions
from calibcli.table.grid import Table
from calibcli.table.score_table import Floats
from calibcli.view_names import DEFAULT_LEAST_CLASS_ROWS, ClassMethod, OutputSum


@dataclass(frozen=True, slots=True)
class ClassTables:
    """
    The fit rows, seen as scores of a yes or no.

    Args:
        classes: What the classes are called, in order.

        confidence: The largest probability, and whether it was right.

        top: The same for the rows that predict each class; none for a class that no row predicts.

        rest: For each class its probability in all rows, and whether it was right.
    """

    classes: tuple[str, ...]
    confidence: Table
    top: Mapping[str, Table]
    rest: Mapping[str, Table]


@dataclass(frozen=True, slots=True)
class ClassFitOptions:
    """
    What is asked of a fit of several classes.

    Args:
        inner: The method for each view, where the method is made of such.

        inner_options: What is asked of that.

        least_rows: A class with fewer rows of either label shares a map with all such classes.

        output_sum: Whether one-vs-rest divides by the sum.

        folds: Folds of the cross-validation that chooses a penalty.

        seed: Seed of the folds.

        least: What smaller probabilities are taken for inside logarithms; None where the rows tell.
    """

    inner: RecalibratorName = RecalibratorName.PLATT
    inner_options: FitOptions = field(default_factory=FitOptions)
    least_rows: int = DEFAULT_LEAST_CLASS_ROWS
    output_sum: OutputSum = OutputSum.ONE
    folds: int = 5
    seed: int = 0
    least: float | None = None


class ClassRecalibrator(Protocol):
    """
    A fitted map from rows of probabilities to rows of probabilities.

    Nothing is ever half built: an instance comes from `fit_class_recalibrator` or
    `class_recalibrator_from_dict`, and what `to_dict` gives predicts the same bits once restored.
    """

    @property
    def name(self) -> ClassMethod:
        """The method."""
        ...

    @property
    def keeps_prediction(self) -> bool:
        """Whether the most probable class of a row is always the same before and after (accuracy is kept)."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the fit that its user should read, such as which classes share a map."""
        ...

    def predict(self, probability: Floats) -> Floats:
        """
        Return recalibrated rows.

        Args:
            probability: Shape (n, K), in [0, 1].

        Returns:
            Shape (n, K), in [0, 1]. For methods of the confidence alone the predicted class gets the new
            confidence and the others share the rest in proportion.
        """
        ...

    @classmethod
    def from_dict(cls, node: Node) -> Self:
        """
        Restore what `to_dict` returned, knowing the method and the classes.

        Raises:
            DocumentProblem: If no fit can have written this, with the place.
        """
        ...

    def to_dict(self) -> dict[str, object]:
        """Return the state in plain values: the `parameters` of an artifact."""
        ...
