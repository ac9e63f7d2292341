"""Scores to probabilities: the scale, and what lies outside [0, 1]."""

from typing import assert_never

import numpy as np

from calibcli.names import OnRange, Scale
from calibcli.options.rows import Columns
from calibcli.readers.faults import Fault, FaultKind, Findings
from calibcli.readers.places import Places
from calibcli.table.score_table import Floats


def probabilities(
    values: Floats, asked: Columns, *, findings: Findings, places: Places, column: int = 0
) -> Floats:
    """
    Return scores as probabilities; those outside [0, 1] are clipped on request and else noted as faults.

    Args:
        values: The scores, none missing, shape (n,).

        asked: The scale, and what to do with scores out of range.

        findings: Where faults and clipped scores are counted.

        places: Where the scores stand in the file.

        column: Place of the column among the score columns.
    """
    scores = on_scale(values, asked.read_as)
    if not scores.size or (scores.min() >= 0.0 and scores.max() <= 1.0):
        return scores
    outside = np.flatnonzero((scores < 0.0) | (scores > 1.0))
    if asked.on_range is OnRange.CLIP:
        findings.clipped += outside.size
        return np.clip(scores, 0.0, 1.0)
    beyond = values[outside]
    fault = Fault(
        count=outside.size,
        row=places.row(int(outside[0])),
        value=repr(float(beyond[0])),
        lowest=float(beyond.min()),
        highest=float(beyond.max()),
    )
    findings.note(FaultKind.OUTSIDE, fault, column=column)
    return scores


def on_scale(values: Floats, scale: Scale) -> Floats:
    """Return what scores on a scale say as probabilities; those on no scale's range stay outside [0, 1]."""
    match scale:
        case Scale.PROB:
            return values
        case Scale.LOGIT:
            # Only negative numbers are exponentiated, so that nothing overflows.
            small = np.exp(-np.abs(values))
            return np.asarray(np.where(values >= 0, 1.0, small) / (1.0 + small))
        case Scale.LOGPROB:
            with np.errstate(over="ignore"):
                return np.asarray(np.exp(values))
        case _:
            assert_never(scale)
