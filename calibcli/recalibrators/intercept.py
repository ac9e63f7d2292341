"""The prior shift: every log odds moves by one amount."""

from dataclasses import dataclass
from typing import Annotated, Self

from calibcli.codec import INLINE, Declared, Node
from calibcli.names import RecalibratorName
from calibcli.options.fitting import FitOptions
from calibcli.recalibrators.design import Aim, Family, Labelled, constant, logit
from calibcli.recalibrators.interface import Continuum, require_both_labels
from calibcli.recalibrators.logistic import Coefficient, Record, each_chunk, solved
from calibcli.table.grid import Table
from calibcli.table.rows import Rows
from calibcli.table.score_table import Floats


@dataclass(frozen=True, slots=True)
class Intercept(Declared, Continuum):
    """
    1 / (1 + exp(-(intercept + logit(score)))).

    Right where labels became rarer or more frequent and nothing else changed.

    References:
        Saerens, Latinne & Decaestecker (2002), Neural Computation 14(1), equation 2.4, for the model.
    """

    intercept: Annotated[Coefficient, "What is added to every log odds."]
    record: Annotated[Record, INLINE]

    @classmethod
    def fit(cls, table: Table, *, options: FitOptions | None = None, rows: Rows | None = None) -> Self:
        """
        Fit by maximum likelihood, or by least squares started from there.

        Args:
            table: The fit rows. On a grid table each cell counts as two points, the mean scores of its
                labels.

            options: The loss, and whether to smooth the targets.

            rows: The rows behind a grid table; the fit is then to these.

        Raises:
            EmptyTable: If there are no rows.

            InputProblem: If there is one label only.

            NotConverged: If the loss has no minimum that can be reached.
        """
        require_both_labels(table)
        family = Family(RecalibratorName.INTERCEPT, constant, offset=logit)
        aim = Aim.of(table, options or FitOptions(), separated=False)
        found = solved(family, Labelled.of(table), aim=aim).over(table, rows)
        return cls(found.coefficients[0], found.record(table))

    def check(self, node: Node) -> None:
        """Refuse labels without a finite fit: a constant always has one."""
        node.child("separated").expect(value=False)

    def predict(self, scores: Floats) -> Floats:
        """Return the recalibrated probability of each score, the same bits however scores are grouped."""
        return each_chunk(scores, lambda part: self.intercept + logit(part))

    @property
    def name(self) -> RecalibratorName:
        """The method."""
        return RecalibratorName.INTERCEPT

    @property
    def increasing(self) -> bool:
        """Always: log odds keep their distances."""
        return True

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the fit that its user should read."""
        return self.record.notes()
