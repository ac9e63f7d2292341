"""Rows kept one by one with a fingerprint of their identity, so that none is counted twice."""

from dataclasses import dataclass, field

import numpy as np

from calibcli.errors import UsageProblem
from calibcli.gate_names import MOST_IDENTITIES
from calibcli.readers.decode import Booleans
from calibcli.readers.fingerprints import Fingerprints
from calibcli.readers.intake import Rows
from calibcli.table.score_table import Floats, Integers


@dataclass(slots=True)
class IdentifiedRows:
    """
    Rows with their identities, in order.

    Args:
        parts: Fingerprint, score, label and how often it counts, of the rows of each batch read.

        size: Number of rows.
    """

    parts: list[tuple[Fingerprints, Floats, Booleans, Integers]] = field(default_factory=list)
    size: int = 0

    def add(self, rows: Rows, score: Floats) -> None:
        """
        Add rows that have an identity.

        Raises:
            UsageProblem: If there are more rows than can be kept.
        """
        if rows.identity is not None:
            counts = np.ones(score.size, np.int64) if rows.counts is None else rows.counts
            self.parts.append((rows.identity, score, rows.label, counts))
            self._grow(score.size)

    def merge(self, later: "IdentifiedRows") -> None:
        """Add the rows of a later part."""
        self.parts.extend(later.parts)
        self._grow(later.size)

    def columns(self) -> tuple[Fingerprints, Floats, Booleans, Integers]:
        """Return fingerprints, scores, labels and counts, each of shape (n,)."""
        nothing = (np.zeros(0, np.uint64), np.zeros(0), np.zeros(0, np.bool_), np.zeros(0, np.int64))
        ids, score, label, counts = zip(*self.parts, nothing, strict=True)
        return np.concatenate(ids), np.concatenate(score), np.concatenate(label), np.concatenate(counts)

    def _grow(self, rows: int) -> None:
        self.size += rows
        if self.size > MOST_IDENTITIES:
            msg = f"--id keeps at most {MOST_IDENTITIES:,} identities, and there are more rows"
            raise UsageProblem(msg, "leave out --id: whole batches are known again by their digests")
