"""A fitted map of several classes on rows whose classes may stand in another order."""

from dataclasses import dataclass

import numpy as np

from calibcli.documents.class_artifact import ClassArtifact
from calibcli.errors import InputProblem
from calibcli.readers.names_of_columns import listing
from calibcli.recalibrators.classes.ends import Ends, ends_of
from calibcli.table.score_table import Floats, Integers


@dataclass(frozen=True, slots=True)
class ClassMap:
    """
    The map of an artifact.

    Args:
        artifact: The artifact.

        path: Its file, for messages.
    """

    artifact: ClassArtifact
    path: str

    def __call__(self, probability: Floats, classes: tuple[str, ...]) -> Floats:
        """
        Return recalibrated rows.

        Args:
            probability: Shape (n, K).

            classes: What the columns stand for.

        Raises:
            InputProblem: If they are other classes than those of the fit.
        """
        order = self.order_of(classes)
        if order is None:
            return self.artifact.recalibrator.predict(probability)
        result = np.empty_like(probability)
        result[:, order] = self.artifact.recalibrator.predict(probability[:, order])
        return result

    def ends(self, probability: Floats, after: Floats, classes: tuple[str, ...]) -> Ends | None:
        """
        Return the ends of recalibrated probabilities, or None where the method has none.

        Args:
            probability: Shape (n, K).

            after: The same rows recalibrated.

            classes: What the columns stand for.
        """
        order = self.order_of(classes)
        if order is None:
            return ends_of(self.artifact.recalibrator, probability, after)
        found = ends_of(self.artifact.recalibrator, probability[:, order], after[:, order])
        return None if found is None else found.in_order(order)

    def order_of(self, classes: tuple[str, ...]) -> Integers | None:
        """
        Return for each class of the fit its place among some classes; None where the order is the same.

        Raises:
            InputProblem: If they are others.
        """
        own = self.artifact.classes
        if classes == own:
            return None
        missing = [name for name in own if name not in classes]
        strange = [name for name in classes if name not in own]
        if missing or strange:
            parts = [f"lack {listing(missing)}"] if missing else []
            parts += [f"have {listing(strange)}, which it does not know"] if strange else []
            msg = f"{self.path} was fitted to {len(own):,} classes: the rows {' and '.join(parts)}"
            raise InputProblem(msg, "--classes a,b,c names the classes in the order of their columns")
        return np.array([classes.index(name) for name in own], np.int64)
