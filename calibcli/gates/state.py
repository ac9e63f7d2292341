"""
The state of a gate that is asked again as rows come in.

It holds whole numbers only: rows by output of the artifact or by cell, so that adding is exact, in any order
and over any shards. What may not be chosen after the first look - the limit, the partition, the bets - is
frozen in its terms.
"""

import math
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Self

import numpy as np
import numpy.typing as npt

from calibcli.bounds.betting import Stakes
from calibcli.gate_names import IdKind
from calibcli.gates.alarm import Epoch, Start, log_evidence, starts_of, thinned
from calibcli.gates.bets import Bets
from calibcli.gates.cells import Partition, Sums, sums_of
from calibcli.gates.seen_classes import SeenClasses
from calibcli.names import DEFAULT_LEAST_ROWS, MeasureName, Scale
from calibcli.table.grid import Table
from calibcli.verdicts.outcome import too_few_counted

Fingerprints = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Terms:
    """
    What is settled when a state is begun, and the same in every call and every shard.

    Args:
        measure: ECE or the distance to calibration.

        limit: The tolerance; None for an alarm on any error at all.

        confidence: 1 - delta.

        partition: What rows are counted by.

        stakes: The bets.

        alarm: Whether the question is "is it still calibrated?".

        artifact: Fingerprint of the recalibrator that is applied first, or None.

        score: Name of the score column.

        label: Name of the label column; None before a file is read, and in states of version 1 until then.

        weight: Name of the column that counts rows, or None; not known where the label is not.

        scale: What the score column holds.

        positive: The label that counts as 1, or None where labels are 0 and 1.

        identified: Whether every row has an identity that the state keeps.

        classes: How several classes are seen, or None where there is one score.
    """

    measure: MeasureName
    limit: float | None
    confidence: float
    partition: Partition
    stakes: Stakes
    alarm: bool = False
    artifact: str | None = None
    score: str = "score"
    label: str | None = None
    weight: str | None = None
    scale: Scale = Scale.PROB
    positive: str | None = None
    identified: bool = False
    classes: SeenClasses | None = None

    @property
    def threshold(self) -> float:
        """log(1 / delta)."""
        return -math.log(1.0 - self.confidence)


@dataclass(frozen=True, slots=True)
class Look:
    """
    What the gate said after a batch.

    Args:
        rows: Rows counted by then.

        value: The estimate over them.

        log_pass: Log of the e-value against "at least the limit"; None in an alarm.

        log_fail: Log of the e-value against "at most the limit".

        lower: Lower bound of the error by then, for pictures; None in an alarm, or where it was not kept.

        upper: Upper bound, likewise.

        positive: Rows with label 1 counted by then; None in looks of version 1.

        least: Below so many rows nothing was to be concluded; None in looks of version 1.
    """

    rows: int
    value: float
    log_pass: float | None
    log_fail: float
    lower: float | None = None
    upper: float | None = None
    positive: int | None = None
    least: int | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """
    Rows that came together.

    Args:
        key: Its name, or the digest of its rows.

        digest: The digest of its rows.

        rows: How many of them were counted.

        look: What the gate said then; None in a merged state, whose batches have no order.

        content: The digest of its scores and labels alone, where its rows have identities and it was kept.
    """

    key: str
    digest: str
    rows: int
    look: Look | None = None
    content: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class GateState:
    """
    What a gate has counted and found.

    Args:
        terms: What is settled.

        epochs: The rows: one sum in a gate, sums by starting point in an alarm.

        batches: What was counted, in order.

        passed_at: Rows counted when the evidence for a pass was enough, or None.

        failed_at: Rows counted when the evidence for a fail, or an alarm, was enough, or None.

        passed_on: The rows that the evidence for a pass was enough over; None where there was none, and in an
            alarm, whose sums by starting point would be too many.

        failed_on: The same of a fail.

        ids: Fingerprints of the rows counted, ascending; empty where rows have no identity.

        since: The version of the document that it was begun as.

        notes: What must be said of the documents that it was read from, wherever it is used.

        id_kinds: What the identities of the rows were written as.
    """

    terms: Terms
    epochs: tuple[Epoch, ...] = ()
    batches: tuple[Batch, ...] = ()
    passed_at: int | None = None
    failed_at: int | None = None
    passed_on: Sums | None = None
    failed_on: Sums | None = None
    ids: Fingerprints = field(default_factory=lambda: np.zeros(0, np.uint64))
    since: int = 2
    notes: tuple[str, ...] = ()
    id_kinds: frozenset[IdKind] = frozenset()

    def doubted(self, doubts: tuple[str, ...]) -> Self:
        """Return the state with what must be said of its document, for good."""
        new = (f"the state {one}" for one in doubts)
        return replace(self, notes=tuple(dict.fromkeys((*self.notes, *new))))

    @property
    def sums(self) -> Sums:
        """All rows added up."""
        *_, whole = accumulate(
            (epoch.sums for epoch in self.epochs), initial=Sums.none(self.terms.partition.size)
        )
        return whole

    @property
    def bets(self) -> Bets:
        """Bets on all rows."""
        return Bets(self.sums, self.terms.partition, measure=self.terms.measure)

    @property
    def rows(self) -> int:
        """Number of rows counted."""
        return sum(batch.rows for batch in self.batches)

    @property
    def looks(self) -> int:
        """How often the gate was asked after new rows."""
        return sum(batch.look is not None for batch in self.batches)

    @property
    def starts(self) -> list[Start]:
        """What each starting point of an alarm has made, the latest first."""
        terms = self.terms
        return starts_of(self.epochs, terms.partition, terms.stakes, measure=terms.measure, limit=terms.limit)

    def knows(self, key: str) -> Batch | None:
        """Return the batch of a name, or None."""
        return next((batch for batch in self.batches if batch.key == key), None)

    def counted(
        self,
        rows: Table | Sums,
        *,
        key: str,
        digest: str = "",
        content: str | None = None,
        ids: Fingerprints | None = None,
        least_rows: int = DEFAULT_LEAST_ROWS,
    ) -> Self:
        """
        Return the state after a batch that it does not know, and a look at it.

        Args:
            rows: The batch, scored as the terms say.

            key: Its name.

            digest: The digest of its rows.

            content: That of its scores and labels alone, where its rows have identities.

            ids: Fingerprints of its rows, all different and all new.

            least_rows: Below so many rows, or ten of the rarer label, nothing is concluded.

        Raises:
            UsageProblem: If the rows carry importance weights.
        """
        sums = rows if isinstance(rows, Sums) else sums_of(rows, self.terms.partition)
        number = len(self.batches) + 1
        epochs = self.epochs
        if self.terms.alarm or not epochs:
            epochs = thinned((*epochs, Epoch(number, sums)))
        else:
            epochs = (Epoch(epochs[0].first, epochs[0].sums + sums),)
        known = self.ids if ids is None else np.sort(np.concatenate((self.ids, ids)))
        grown = replace(
            self,
            epochs=epochs,
            ids=known,
            batches=(*self.batches, Batch(key, digest, sums.total_rows, content=content)),
        )
        look = replace(grown.look(), positive=grown.sums.total_positive, least=least_rows)
        grown = replace(grown, batches=(*self.batches, replace(grown.batches[-1], look=look)))
        return grown.latched(look, least_rows=least_rows)

    def look(self) -> Look:
        """Return what the rows say now; there are some."""
        bets, terms = self.bets, self.terms
        if terms.alarm:
            return Look(self.rows, bets.value, None, log_evidence(self.starts))
        limit = terms.limit or 0.0
        return Look(
            self.rows, bets.value, bets.log_pass(limit, terms.stakes), bets.log_fail(limit, terms.stakes)
        )

    def bounded(self) -> Self:
        """Return the state with the bounds of its last look; an alarm has none."""
        *before, last = self.batches
        if self.terms.alarm or last.look is None:
            return self
        bets, stakes, delta = self.bets, self.terms.stakes, 1.0 - self.terms.confidence
        lower, upper = bets.lower_bound(stakes, delta=delta), bets.upper_bound(stakes, delta=delta)
        look = replace(last.look, lower=lower, upper=upper)
        return replace(self, batches=(*before, replace(last, look=look)))

    def latched(self, look: Look, *, least_rows: int = DEFAULT_LEAST_ROWS) -> Self:
        """
        Return the state with what a look shows for good.

        Evidence that has ever reached 1 / delta stays: Ville's inequality is about the largest value there
        ever is. Too few rows for a verdict show nothing, but an alarm is as rarely false with few.
        """
        if not self.terms.alarm and self.too_few(least_rows) is not None:
            return self
        level, passed, failed = self.terms.threshold, self.passed_at, self.failed_at
        found, sums = self, None if self.terms.alarm else self.sums
        if passed is None and look.log_pass is not None and look.log_pass >= level:
            found = replace(found, passed_at=look.rows, passed_on=sums)
        if failed is None and look.log_fail >= level:
            found = replace(found, failed_at=look.rows, failed_on=sums)
        return found

    def too_few(self, least_rows: int) -> str | None:
        """Return why so few rows are not judged, or None."""
        sums = self.sums
        return too_few_counted(sums.total_rows, sums.total_positive, least=least_rows)
