"""The record of a fit that travels with its recalibrator."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Self, cast

import numpy as np

from calibcli.codec import (
    ABSENT,
    Among,
    Ascending,
    Between,
    Declared,
    Digest,
    Fraction,
    Node,
    OrInfinite,
    Since,
    Size,
)
from calibcli.recalibrators.interface import Recalibrator
from calibcli.recalibrators.selection import Selection
from calibcli.table.digest import digest
from calibcli.table.grid import Table
from calibcli.table.quantiles import LEVELS, score_quantiles

FitOptionsSaid = Annotated[Mapping[str, object], "What the method was asked for."]
ScoreQuantiles = Annotated[
    tuple[float, ...] | None,
    Between(0.0, 1.0),
    Size(len(LEVELS), len(LEVELS), reason="a score for each of these shares of the rows"),
    Ascending(strictly_from=None),
    Since(2),
    ABSENT,
    "The score up to which 0, 1, 5, 10, 25, 50, 75, 90, 95, 99 and 100 % of the fit rows lie, as the "
    "probability that was read (of several classes the largest of a row), so that scores on another scale "
    "can be told; older artifacts do not say it.",
]


class Doubted:
    """An artifact with a record `fit`, and `doubts`: what must be said of its document."""

    __slots__ = ()

    def doubted(self, name: str, doubts: tuple[str, ...]) -> Self:
        """Return the artifact with what must be said of its document; saved again, it says so itself."""
        if not doubts:
            return self
        this: Any = self
        kept = tuple(f"the document {one}" for one in doubts)
        fit = replace(this.fit, notes=(*this.fit.notes, *kept))
        return cast("Self", replace(this, fit=fit, doubts=tuple(f"{name} {one}" for one in doubts)))


@dataclass(frozen=True, slots=True)
class FitRecord(Declared):
    """How a recalibrator came about."""

    rows: Annotated[int, Between(1), "Fit rows."]
    positive: Annotated[int, "Fit rows with label 1."]
    table_digest: Annotated[Digest, "Fingerprint of the fit rows, by which a gate can tell a fit's own rows."]
    table: Annotated[str, Among(("exact", "grid"))]
    options: FitOptionsSaid
    loss_before: Annotated[
        OrInfinite,
        "Mean log loss (or squared error, where that is what the fit minimised) of the raw scores; infinite "
        "where a certain score was wrong.",
    ]
    loss_after: Annotated[OrInfinite, "The same of the recalibrated scores."]
    mean_variance: Annotated[
        float,
        Between(0.0, 0.25),
        "Weighted mean of g (1 - g) over the fit rows, g being the recalibrated score.",
    ]
    notes: Annotated[tuple[str, ...], "Sentences that the user of the artifact should read."] = ()
    base_rate: Annotated[
        Fraction | None,
        ABSENT,
        "Weighted share of label 1 in the fit rows; artifacts of calibcli 0.1 do not say it.",
    ] = None
    selection: Annotated[
        Selection | None, ABSENT, "How `--method auto` chose the method; absent where the user named it."
    ] = None
    score_quantiles: ScoreQuantiles = None

    @classmethod
    def of(
        cls,
        recalibrator: Recalibrator,
        table: Table,
        *,
        options: Mapping[str, object],
        losses: tuple[float, float],
        notes: tuple[str, ...] = (),
        selection: Selection | None = None,
    ) -> Self:
        """
        Record a fit.

        Args:
            recalibrator: What was fitted.

            table: The fit rows.

            options: What the method was asked for, plain values.

            losses: Before and after.

            notes: Sentences beyond those of the recalibrator, which come first.

            selection: How the method was chosen, or None where the user named it.
        """
        g = recalibrator.predict(table.score)
        weight = table.weight
        return cls(
            rows=table.total_rows,
            positive=table.total_positive_rows,
            table_digest=digest(table),
            table=table.kind,
            options=dict(options),
            loss_before=float(losses[0]),
            loss_after=float(losses[1]),
            mean_variance=float(np.sum(weight * g * (1.0 - g)) / np.sum(weight)),
            notes=(*recalibrator.notes, *notes),
            base_rate=float(np.sum(table.positive) / np.sum(weight)),
            selection=selection,
            score_quantiles=score_quantiles(table),
        )

    def check(self, node: Node) -> None:
        """Refuse more rows with label 1 than rows."""
        node.child("positive").whole(0, self.rows)


def digest_text(node: Node) -> str:
    """
    Return the fingerprint of a table that a node holds.

    Raises:
        DocumentProblem: If it is none.
    """
    kind, _, hexadecimal = node.text().partition(":")
    if kind != "sha256" or len(hexadecimal) != 64 or set(hexadecimal) - set("0123456789abcdef"):
        msg = "should be 'sha256:' and 64 hexadecimal digits"
        raise node.problem(msg)
    return node.text()
