"""The record of a fit that travels with its recalibrator."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self, cast

import numpy as np

from calibcli.documents import Node, ascending, same_length
from calibcli.recalibrators.interface import Recalibrator
from calibcli.recalibrators.selection import Selection
from calibcli.reports.plain import number
from calibcli.table.digest import digest
from calibcli.table.grid import Table
from calibcli.table.quantiles import LEVELS, score_quantiles

SCORES = "score_quantiles"
_KEYS = (
    "rows",
    "positive",
    "table_digest",
    "table",
    "options",
    "loss_before",
    "loss_after",
    "mean_variance",
    "notes",
)
# Older artifacts have no base rate, or do not say where scores lay; only a method chosen by
# cross-validation has a selection.
_OPTIONAL = ("base_rate", "selection", SCORES)


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
class FitRecord:
    """
    How a recalibrator came about.

    Args:
        rows: Fit rows.

        positive: Fit rows with label 1.

        table_digest: Fingerprint of the fit table, so that a gate can tell when it is asked to judge a fit
            by its own rows.

        table: "exact" or "grid".

        options: What the method was asked for.

        loss_before: Mean log loss (or squared error, where that is what the fit minimised) of the raw
            scores; infinite where a certain score was wrong.

        loss_after: The same of the recalibrated scores.

        mean_variance: Weighted mean of g (1 - g) over the fit rows, g being the recalibrated score.

        notes: Sentences that the user of the artifact should read.

        base_rate: Weighted share of label 1 in the fit rows; None in artifacts that do not say.

        selection: How the method was chosen, or None where the user named it.

        score_quantiles: The score up to which 0, 1, 5, 10, 25, 50, 75, 90, 95, 99 and 100 % of the fit rows
            lie, as the probability that was read, so that scores on another scale can be told; None in
            artifacts that do not say.
    """

    rows: int
    positive: int
    table_digest: str
    table: str
    options: Mapping[str, object]
    loss_before: float
    loss_after: float
    mean_variance: float
    notes: tuple[str, ...] = ()
    base_rate: float | None = None
    selection: Selection | None = None
    score_quantiles: tuple[float, ...] | None = None

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

    @classmethod
    def from_dict(cls, node: Node) -> Self:
        """Restore what `to_dict` returned."""
        members = node.members()
        node.only(*_KEYS, *(key for key in _OPTIONAL if key in members))
        base_rate, selection, scores = (members.get(key) for key in _OPTIONAL)
        rows = node.child("rows").whole(1)
        kind = node.child("table")
        if kind.text() not in {"exact", "grid"}:
            msg = f"is {kind.text()!r}, should be 'exact' or 'grid'"
            raise kind.problem(msg)
        return cls(
            rows=rows,
            positive=node.child("positive").whole(0, rows),
            table_digest=digest_text(node.child("table_digest")),
            table=kind.text(),
            options={key: scalar(member) for key, member in node.child("options").members().items()},
            loss_before=node.child("loss_before").number_or_infinity(),
            loss_after=node.child("loss_after").number_or_infinity(),
            mean_variance=node.child("mean_variance").number(0.0, 0.25),
            notes=node.child("notes").texts(),
            base_rate=None if base_rate is None else base_rate.number(0.0, 1.0),
            selection=None if selection is None else Selection.from_dict(selection),
            score_quantiles=None if scores is None else quantiles_from(scores),
        )

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        known: dict[str, object] = {} if self.base_rate is None else {"base_rate": self.base_rate}
        if self.selection is not None:
            known["selection"] = self.selection.to_dict()
        if self.score_quantiles is not None:
            known[SCORES] = list(self.score_quantiles)
        return known | {
            "rows": self.rows,
            "positive": self.positive,
            "table_digest": self.table_digest,
            "table": self.table,
            "options": dict(self.options),
            "loss_before": number(self.loss_before),
            "loss_after": number(self.loss_after),
            "mean_variance": self.mean_variance,
            "notes": list(self.notes),
        }


def refuse_later(fit: Node, *, version: int) -> None:
    """
    Refuse a record of an earlier version that holds what only later ones have.

    Raises:
        DocumentProblem: With the place.
    """
    if version == 1 and SCORES in fit.members():
        msg = "is there, and calibcli.artifact/1 had none"
        raise fit.child(SCORES).problem(msg)


def quantiles_from(node: Node) -> tuple[float, ...]:
    """
    Return the quantiles of scores that a node holds.

    Raises:
        DocumentProblem: If they are too many or too few, fall, or are no probabilities.
    """
    found = tuple(node.numbers(0.0, 1.0))
    same_length(node, len(LEVELS), reason="a score for each of these shares of the rows")
    ascending(node.items(), strictly_from=len(LEVELS))
    return found


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


def scalar(node: Node) -> object:
    """Return an option: true, false, null, a number or a string."""
    match node.value:
        case None | bool():
            return node.value
        case int():
            return node.whole(-(2**63))
        case float():
            return node.number()
        case _:
            return node.text()
