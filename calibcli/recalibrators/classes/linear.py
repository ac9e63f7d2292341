"""softmax(W log p + b): vector scaling, the same towards one slope, and matrix or Dirichlet scaling."""

from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np

from calibcli.codec import HIDDEN, ROWS, Between, Declared, Node, same_length
from calibcli.errors import InputProblem, UsageProblem
from calibcli.recalibrators.classes.interface import ClassFitOptions
from calibcli.recalibrators.classes.linear_fit import fitted
from calibcli.recalibrators.classes.linear_models import LinearMethod, model_named
from calibcli.recalibrators.classes.log_rows import LogRows
from calibcli.recalibrators.classes.softmax import (
    LEAST_BESIDE_ZERO,
    Least,
    log_of,
    softmax,
    with_prediction_of,
)
from calibcli.table.class_rows_again import ClassRowSource
from calibcli.table.score_table import Floats
from calibcli.view_names import ClassMethod

MOST_OF_MATRIX = 1_000
_LIMITS = Between(-1e6, 1e6)


@dataclass(frozen=True, slots=True, eq=False)
class Linear(Declared):
    """
    softmax(W log p + b).

    References:
        Guo, Pleiss, Sun & Weinberger (2017), ICML, section 4.2; Kull, Perello-Nieto, Kaengsepp et al.
        (2019), NeurIPS, on Dirichlet calibration and its off-diagonal and intercept penalty (ODIR); what the
        slopes of a matrix differ by is penalised too here, a hundredth as much.
    """

    # Vector scaling: a slope and an intercept for each class. Structured: the same, pulled towards one slope
    # for all. Matrix: a full W, pulled towards that too, which is Dirichlet calibration.
    method: Annotated[LinearMethod, HIDDEN]
    weight: Annotated[Floats, _LIMITS, ROWS, "The diagonal of W, shape (K,), or all of it, shape (K, K)."]
    intercept: Annotated[Floats, _LIMITS, "b, shape (K,), summing to 0."]
    penalty: Annotated[
        float | None,
        Between(0.0),
        "How strongly the coefficients that may not be needed were pulled towards 0, as chosen by "
        "cross-validated log loss; null for vector scaling, which has no penalty.",
    ]
    # On how many folds of how many, right after the fit; None for a map that was restored.
    judged: Annotated[tuple[int, int] | None, HIDDEN] = None
    least: Least = LEAST_BESIDE_ZERO
    # How many probabilities were limited, in words, right after the fit.
    limited: Annotated[tuple[str, ...], HIDDEN] = ()

    @classmethod
    def fit(cls, method: LinearMethod, rows: ClassRowSource, *, options: ClassFitOptions) -> Self:
        """
        Fit by maximum likelihood, penalised where the method asks for it.

        Args:
            method: What is free.

            rows: The fit rows.

            options: The folds of the cross-validation that chooses the penalty.

        Raises:
            EmptyTable: If there are no rows.

            InputProblem: If there is one label only, or none of a class whose intercept is free.

            UsageProblem: If a matrix would have too many coefficients.

            NotConverged: If the loss has no minimum that can be reached.
        """
        count = len(rows.classes)
        if method is ClassMethod.MATRIX and count > MOST_OF_MATRIX:
            msg = f"a matrix for {count:,} classes has {count * (count + 1):,} coefficients"
            raise UsageProblem(
                msg, f"use --multiclass structured; matrix is for up to {MOST_OF_MATRIX:,} classes"
            )
        again = LogRows.of(rows, least=options.least)
        if method is ClassMethod.VECTOR and again.absent:
            msg = f"no row has label {again.absent[0]!r}, so that no intercept of that class is best"
            raise InputProblem(msg, "fit on rows of all classes, or use --multiclass structured")
        model = model_named(method, count)
        found = fitted(model, again, folds=options.folds)
        weight, intercept = model.parts(found.coefficients)
        judged = (found.judged, options.folds)
        return cls(
            method,
            weight.copy(),
            intercept - intercept.mean(),
            found.penalty,
            judged,
            again.least,
            again.limited,
        )

    def check(self, node: Node) -> None:
        """Refuse other coefficients than the method has for so many classes."""
        count = len(node.given["classes"])
        model = model_named(self.method, count)
        weight, penalty = node.child("weight"), node.child("penalty")
        for array in (node.child("intercept"), weight):
            same_length(array, count, reason="there are so many classes")
        if (self.weight.ndim == 2) is not model.full:
            weight.items()[0].refuse("an array" if model.full else "a finite number")
        if model.penalised:
            penalty.number(0.0)
        else:
            penalty.expect(None)

    @property
    def name(self) -> ClassMethod:
        """The method."""
        return self.method

    @property
    def keeps_prediction(self) -> bool:
        """Whether no row can change its most probable class."""
        diagonal = self.weight if self.weight.ndim == 1 else np.diag(self.weight)
        alike = bool(np.all(diagonal == diagonal[0])) and not self.intercept.any()
        off = self.weight.ndim == 2 and bool(np.any(self.weight != np.diag(diagonal)))
        return alike and not off and bool(diagonal[0] > 0.0)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the fit that its user should read."""
        if self.penalty is None:
            return self.limited
        chosen = f"the penalty {self.penalty:g} was chosen by cross-validated log loss"
        if self.judged is None or self.judged[0] == self.judged[1]:
            return (chosen, *self.limited)
        judged, folds = self.judged
        return (f"{chosen}, on {judged} of {folds} folds since all would take long", *self.limited)

    def predict(self, probability: Floats) -> Floats:
        """Return recalibrated rows, shape (n, K)."""
        log = log_of(probability, self.least)
        slope = log * self.weight if self.weight.ndim == 1 else log @ self.weight.T
        after = softmax(slope + self.intercept)
        return with_prediction_of(probability, after) if self.keeps_prediction else after
