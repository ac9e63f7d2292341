"""calzone's metrics of the class of label 1 and of the predicted class."""

import math

import numpy as np

from calibcli.measures.compat.calzone_cox import cox_numbers
from calibcli.measures.compat.gaps import Cells, Gaps, gaps_in, right_closed
from calibcli.measures.compat.peer import Counterpart, Part, Peer, PeerNumber, defined, ratio
from calibcli.names import MeasureName, TestName
from calibcli.table.score_table import Floats, ScoreTable

PACKAGE = "calzone-tool"
VERSION = "0.1.0"
BINS = 10
_CLIP = 1e-7
_WIDTH = f"{BINS} equal-width bins (a, b]; rows with a score of 0 are left out"
_MASS = f"{BINS} bins between quantiles; rows with the smallest score are left out"


def calzone_numbers(table: ScoreTable) -> Peer:
    """Return what `CalibrationMetrics` gives for the columns 1 - score and score."""
    own, top = Cells(table.score, table.rows, table.positive_rows), _predicted(table)
    even, mass = np.linspace(0.0, 1.0, BINS + 1), _quantiles
    numbers = (
        *_spiegelhalter(table),
        *_errors("H", _in(even, own), _in(even, top), _WIDTH, MeasureName.ECE),
        *_hosmer_lemeshow("H", _in(even, own), _WIDTH),
        *_errors("C", _in(mass(own), own), _in(mass(top), top), _MASS, MeasureName.ECE_EQUAL_MASS),
        *_hosmer_lemeshow("C", _in(mass(own), own), _MASS),
        *cox_numbers(table),
    )
    return Peer(PACKAGE, VERSION, numbers, ("calzone's Loess ICI is not reproduced; see ici",))


def _predicted(table: ScoreTable) -> Cells:
    """Return the rows by the probability of the label that the score predicts; a half predicts 0."""
    other = 1.0 - table.score
    right = np.where(table.score > other, table.positive_rows, table.rows - table.positive_rows)
    return Cells(np.maximum(table.score, other), table.rows, right)


def _quantiles(cells: Cells) -> Floats:
    """Return the tenths of the scores, linear between neighbouring rows."""
    rows = np.repeat(cells.score, cells.rows)
    return np.asarray(np.quantile(rows, np.linspace(0.0, 1.0, BINS + 1)))


def _in(edges: Floats, cells: Cells) -> Gaps:
    return gaps_in(right_closed(edges, cells.score), cells)


def _errors(letter: str, own: Gaps, top: Gaps, bins: str, name: MeasureName) -> tuple[PeerNumber, ...]:
    """Return mean and largest distance over bins, of label 1 and of the predicted label."""
    predicted = "of the predicted label, which has no measure here"
    none = "none: no row is left in any bin"
    worst = Counterpart(MeasureName.LINF) if letter == "H" else None
    return (
        PeerNumber(f"ECE-{letter}", own.mean, Counterpart(name), bins if own.rows.size else none),
        PeerNumber(f"MCE-{letter}", own.largest, worst, bins),
        PeerNumber(f"ECE-{letter} topclass", top.mean, None, f"{predicted}; {bins}"),
        PeerNumber(f"MCE-{letter} topclass", top.largest, None, f"{predicted}; {bins}"),
    )


def _hosmer_lemeshow(letter: str, gaps: Gaps, bins: str) -> tuple[PeerNumber, ...]:
    """Return the statistic of Hosmer and Lemeshow, its p-value by two degrees of freedom fewer than bins."""
    from scipy.special import chdtr

    rate, score = (np.clip(one, _CLIP, 1.0 - _CLIP) for one in (gaps.rate, gaps.score))
    expected, rows = score * gaps.rows, gaps.rows
    statistic = float(((rate * rows - expected) ** 2 / (expected * (1.0 - expected / rows))).sum())
    freedom = rows.size - 2
    p = defined(1.0 - float(chdtr(freedom, statistic))) if freedom > 0 else None
    freedoms = "1 degree" if freedom == 1 else f"{freedom} degrees"
    degrees = (
        f"{freedoms} of freedom for {rows.size} bins, here one for each bin of ece, or draws for thin bins"
    )
    variance = (
        "n times mean score (1 - mean score) as variance, here the sum of f (1 - f) over the bins of ece"
    )
    test = TestName.HOSMER_LEMESHOW
    return (
        PeerNumber(f"HL-{letter} score", statistic, Counterpart(test), f"{variance}; {bins}"),
        PeerNumber(f"HL-{letter} p-value", p, Counterpart(test, Part.P_VALUE), f"{degrees}; {bins}"),
    )


def _spiegelhalter(table: ScoreTable) -> tuple[PeerNumber, ...]:
    tilt = 1.0 - 2.0 * table.score
    variance = float((table.rows * tilt**2 * table.score * (1.0 - table.score)).sum())
    residual = float(((table.positive_rows - table.rows * table.score) * tilt).sum())
    z = ratio(residual, math.sqrt(variance))
    p = None if z is None else 2.0 * (1.0 - 0.5 * math.erfc(-abs(z) / math.sqrt(2.0)))
    test, same = TestName.SPIEGELHALTER, "the same formula"
    tail = "2 (1 - cdf) of the normal law, 0 where z is beyond 8.3; here by draws for few rows or values"
    return (
        PeerNumber("SpiegelhalterZ score", z, Counterpart(test), same),
        PeerNumber("SpiegelhalterZ p-value", p, Counterpart(test, Part.P_VALUE), tail),
    )
