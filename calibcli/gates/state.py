"""
The state of a gate that is asked again as rows come in.

It holds whole numbers only: rows by output of the artifact or by cell, so that adding is exact, in any order
and over any shards. What may not be chosen after the first look - the limit, the partition, the bets - is
frozen in its terms.
"""

import base64
import math
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Annotated, ClassVar, Self

import numpy as np
import numpy.typing as npt

from calibcli.bounds.betting import Stakes
from calibcli.codec import (
    ABSENT,
    DIFFERENT,
    HIDDEN,
    INLINE,
    LOOSE,
    Among,
    Between,
    Declared,
    Fraction,
    In,
    Key,
    OrInfinite,
    Since,
    Size,
    With,
)
from calibcli.gate_names import IdKind
from calibcli.gates.alarm import MOST_EPOCHS, Epoch, Start, log_evidence, starts_of, thinned
from calibcli.gates.bets import Bets
from calibcli.gates.cells import SPARSE, Partition, Sums, sums_of
from calibcli.gates.seen_classes import SeenClasses
from calibcli.names import DEFAULT_LEAST_ROWS, MeasureName, Scale
from calibcli.table.grid import Table
from calibcli.verdicts.outcome import too_few_counted

Fingerprints = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Terms(Declared):
    """What is settled when a state is begun, and the same in every call and every shard."""

    measure: Annotated[MeasureName, Among((MeasureName.ECE, MeasureName.DCE)), In("rule"), "What is bounded."]
    limit: Annotated[
        float | None,
        Between(0.0, 1.0),
        In("rule"),
        "The tolerance: measure <= limit; null for an alarm on any error at all.",
    ]
    confidence: Annotated[
        float,
        Between(0.5, 0.999999),
        "1 - delta; a wrong verdict ever has probability at most delta on each side.",
    ]
    partition: Annotated[
        Partition,
        "What rows are counted by: the outputs of a discrete artifact, or equal cells of equal-width bins.",
    ]
    stakes: Annotated[Stakes, "The bets: settled when the state was begun."]
    alarm: Annotated[bool, "Whether the question is: is the score still calibrated?"] = False
    artifact: Annotated[str | None, "Fingerprint of the map of the recalibrator applied first."] = None
    score: Annotated[str, In("input"), "Name of the score column, or what --probs named."] = "score"
    label: Annotated[
        str | None,
        In("input"),
        Since(2),
        "Name of the label column; null where it is not known: before rows came, or in a state of version 1.",
    ] = None
    weight: Annotated[str | None, In("input"), Since(2), "Name of the column that counts rows, or null."] = (
        None
    )
    scale: Annotated[Scale, In("input"), "What the score column holds."] = Scale.PROB
    positive: Annotated[str | None, In("input"), "The label that counts as 1, where labels are not 0/1."] = (
        None
    )
    identified: Annotated[bool, HIDDEN] = False
    classes: Annotated[
        SeenClasses | None,
        In("input"),
        ABSENT,
        "How several classes are seen; absent where there is one score.",
    ] = None

    @property
    def threshold(self) -> float:
        """log(1 / delta)."""
        return -math.log(1.0 - self.confidence)


@dataclass(frozen=True, slots=True)
class Look(Declared):
    """What the gate said after a batch."""

    rows: Annotated[int, Between(1), "Rows counted by then."]
    value: Annotated[Fraction, "The estimate over them."]
    log_pass: Annotated[
        float | None,
        "Natural logarithm of the e-value against: at least the limit; null in an alarm.",
    ]
    log_fail: Annotated[
        OrInfinite,
        "Natural logarithm of the e-value against: at most the limit; in an alarm, against: calibrated "
        "throughout.",
    ]
    lower: Annotated[
        float | None,
        Between(0.0, 1.0),
        ABSENT,
        With("upper"),
        "Lower bound of the error then, at the confidence and at any time; absent in an alarm and in older "
        "states. For pictures: no verdict uses it.",
    ] = None
    upper: Annotated[float | None, Between(0.0, 1.0), ABSENT, With("lower"), "Upper bound, likewise."] = None
    positive: Annotated[
        int | None, ABSENT, Since(2), "Rows with label 1 counted by then; not in looks of version 1."
    ] = None
    least: Annotated[
        int | None,
        ABSENT,
        Since(2),
        With("positive"),
        "Below so many rows nothing was to be concluded; not in looks of version 1.",
    ] = None


@dataclass(frozen=True, slots=True)
class Batch(Declared):
    """Rows that came together."""

    key: Annotated[str, "The name given, or the digest."]
    digest: Annotated[str, "Of the rows, raw scores and labels; with their identities where they have some."]
    rows: Annotated[int, Between(1), "How many of them were counted."]
    look: Annotated[Look | None, "What the gate said then; null in a merged state, which has no order."] = (
        None
    )
    content: Annotated[
        str | None,
        ABSENT,
        "Of raw scores and labels alone, where rows have identities; not in states that were begun before it "
        "was kept.",
    ] = None


@dataclass(frozen=True, slots=True, eq=False)
class GateState(Declared):
    """What a gate has counted and found."""

    SCHEMA: ClassVar = "calibcli.gate/2"
    ORIGIN: ClassVar = {
        "what": "the state of a gate",
        "hint": "a gate's state is what `calibcli verify --state` writes",
    }

    terms: Annotated[Terms, INLINE]
    epochs: Annotated[
        tuple[Epoch, ...],
        Size(0, MOST_EPOCHS),
        "The rows: one sum in a gate, one for each starting point in an alarm.",
    ] = ()
    batches: Annotated[tuple[Batch, ...], "What was counted, in order; in a merged state by name."] = ()
    passed_at: Annotated[
        int | None, Between(1), "Rows counted when the evidence for a pass was first enough."
    ] = None
    failed_at: Annotated[
        int | None, Between(1), "Rows counted when the evidence for a fail, or an alarm, was first enough."
    ] = None
    passed_on: Annotated[
        Sums | None,
        SPARSE,
        Since(2),
        "The rows that the pass was shown on, of which it is derived anew; null in an alarm.",
    ] = None
    failed_on: Annotated[Sums | None, SPARSE, Since(2), "The same of a fail."] = None
    # Fingerprints of the rows counted, ascending; empty where rows have no identity.
    ids: Annotated[Fingerprints, HIDDEN] = field(default_factory=lambda: np.zeros(0, np.uint64))
    since: Annotated[int, Between(1, 2), Since(2), "The schema version that the state was begun in."] = 2
    notes: Annotated[
        tuple[str, ...],
        Since(2),
        "What must be said of the state wherever it is used, such as that it was edited.",
    ] = ()
    id_kinds: Annotated[
        frozenset[IdKind],
        ABSENT,
        Since(2),
        Size(1),
        DIFFERENT,
        "What the identities were written as, so that a number is not counted again as other text; only "
        "where rows have identities.",
    ] = frozenset()

    @property
    def ids_text(
        self,
    ) -> Annotated[
        str | None,
        Key("ids"),
        LOOSE,
        "Fingerprints of the rows counted: ascending unsigned integers of eight bytes, little-endian, in "
        "base64; null where rows have no identity.",
    ]:
        """The fingerprints as text."""
        if not self.terms.identified:
            return None
        return base64.b64encode(self.ids.astype("<u8").tobytes()).decode("ascii")

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
