"""Record batches to rows that a table can take: every check on values is made or called here."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

import numpy as np
import pyarrow as pa

from calibcli.errors import InputProblem
from calibcli.names import OnMissing, WeightMeaning
from calibcli.readers.columns import ChosenColumns
from calibcli.readers.decode import Booleans, Column, Decoded, floats, is_number, value_type
from calibcli.readers.faults import Fault, FaultKind, Findings, problem_of
from calibcli.readers.labels import Labels, can_be_labels, labels_of
from calibcli.readers.places import Places
from calibcli.readers.scores import probabilities
from calibcli.readers.weights import check_weights
from calibcli.table.score_table import Floats, Integers


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """
    The rows of a batch that count.

    Args:
        score: Probabilities, shape (n,).

        label: Shape (n,), True for label 1.

        counts: Frequency weights, or None.

        weight: Importance weights, or None.
    """

    score: Floats
    label: Booleans
    counts: Integers | None = None
    weight: Floats | None = None


class Intake:
    """
    Takes the batches of a fragment in order, and keeps count of what is wrong with them.

    Args:
        chosen: The columns.

        shown: The file's name in messages.

        first_row: How many rows of the file come before.
    """

    def __init__(self, chosen: ChosenColumns, *, shown: str, first_row: int = 0) -> None:
        self.findings = Findings()
        self._chosen = chosen
        self._shown = shown
        self._before = first_row

    def rows_of(self, batch: pa.RecordBatch) -> Rows | None:
        """
        Return the rows of a batch; None once something was wrong, since then only how much of it matters.

        Raises:
            InputProblem: If a column's type cannot hold what it should.
        """
        score = self._numbers(batch.column(self._chosen.score), self._chosen.score)
        labels = self._labels(batch)
        weight = self._weights(batch)
        gaps = (score.missing, labels.missing, None if weight is None else weight.missing)
        places = self._kept(gaps)
        self._check_labels(labels, places)
        probability = probabilities(
            places.select(score.values), self._chosen.asked, findings=self.findings, places=places
        )
        rows = self._weighted(probability, places.select(labels.positive), weight=weight, places=places)
        self._advance(batch.num_rows)
        if self.findings.refused:
            return None
        self.findings.positive_rows += int(np.count_nonzero(rows.label))
        return rows

    def scores_of(self, column: Column) -> Floats:
        """
        Return the probabilities of a score column, one for every row.

        Raises:
            InputProblem: If a score is missing or outside its range; at the first batch that has one.
        """
        score = self._numbers(column, self._chosen.score)
        places = self._kept((score.missing, None, None))
        probability = probabilities(
            places.select(score.values), self._chosen.asked, findings=self.findings, places=places
        )
        self._advance(len(column))
        problem = problem_of(self.findings, self._chosen, shown=self._shown, partly=True)
        if problem is not None:
            raise problem
        return probability

    def _advance(self, rows: int) -> None:
        self.findings.rows += rows
        self._before += rows

    def _numbers(self, column: Column, name: str) -> Decoded[np.float64]:
        kind = value_type(column.type)
        if not (is_number(kind) or pa.types.is_null(kind)):
            msg = f"{self._shown}, column {name!r}: it holds {kind}, not numbers"
            raise InputProblem(msg, "name another column, or export numbers")
        return floats(column)

    def _labels(self, batch: pa.RecordBatch) -> Labels:
        name = str(self._chosen.label)
        column = batch.column(name)
        kind = value_type(column.type)
        if not can_be_labels(kind):
            msg = f"{self._shown}, column {name!r}: it holds {kind}, not labels"
            raise InputProblem(msg, "labels are 0 and 1, true and false, or text with --positive")
        return labels_of(column, self._chosen.asked.positive)

    def _weights(self, batch: pa.RecordBatch) -> Decoded[np.float64] | None:
        name = self._chosen.weight
        return None if name is None else self._numbers(batch.column(name), name)

    def _kept(self, gaps: Iterable[Booleans | None]) -> Places:
        """Return the rows without gaps, and count the others as asked."""
        kinds = (FaultKind.MISSING_SCORE, FaultKind.MISSING_LABEL, FaultKind.MISSING_WEIGHT)
        found = [(kind, gap) for kind, gap in zip(kinds, gaps, strict=True) if gap is not None and gap.any()]
        if not found:
            return Places(self._before)
        if self._chosen.asked.on_missing is OnMissing.ERROR:
            for kind, gap in found:
                row = Places(self._before).row(int(np.argmax(gap)))
                self.findings.note(kind, Fault(int(np.count_nonzero(gap)), row))
        missing = reduce(np.logical_or, [gap for _, gap in found])
        if self._chosen.asked.on_missing is OnMissing.DROP:
            self.findings.dropped += int(np.count_nonzero(missing))
        return Places.without(missing, before=self._before)

    def _check_labels(self, labels: Labels, places: Places) -> None:
        """Note labels that are neither 0 nor 1; collect different labels where a message may list them."""
        strange = None if labels.strange is None else places.select(labels.strange)
        positive = places.select(labels.positive)
        if strange is not None and strange.any():
            position = int(np.argmax(strange))
            text = labels.text(places.row(position) - 1 - self._before)
            fault = Fault(int(np.count_nonzero(strange)), places.row(position), repr(text))
            self.findings.note(FaultKind.NOT_BINARY, fault)
            self.findings.note_labels(labels.distinct(places))
        elif len(self.findings.labels) < 2 or (
            self._chosen.asked.positive is not None and not positive.any()
        ):
            self.findings.note_labels(labels.distinct(places))

    def _weighted(
        self, score: Floats, label: Booleans, *, weight: Decoded[np.float64] | None, places: Places
    ) -> Rows:
        if weight is None:
            return Rows(score, label)
        values = places.select(weight.values)
        frequency = self._chosen.weights_are is WeightMeaning.FREQUENCY
        check_weights(values, whole=frequency, findings=self.findings, places=places)
        if frequency:
            return Rows(score, label, counts=None if self.findings.refused else values.astype(np.int64))
        return Rows(score, label, weight=values)
