"""Scores of models, what becomes of them in honest use, and what they are on another scale by mistake."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from calibcli.commands.scale_checks import Seen, scale_notes
from calibcli.data.fields import on_scale
from calibcli.documents.artifact import Artifact, FitRecord
from calibcli.errors import InputProblem
from calibcli.names import RecalibratorName, Scale
from calibcli.options.fitting import FitOptions
from calibcli.stats.recalibrators import fit_recalibrator
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.grid import quantiles_of

Array = npt.NDArray[np.float64]
Generator = np.random.Generator
ROWS = 20_000
RATES = (0.5, 0.3, 0.1, 0.02, 2e-3, 1e-4)


def share(log_odds: Array) -> Array:
    """Log-odds as probabilities, as files are read."""
    return on_scale(log_odds, Scale.LOGIT)


def log_odds(shares: Array) -> Array:
    """Probabilities as log-odds."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.clip(np.log(shares) - np.log1p(-shares), -40.0, 40.0))


def _two_normals(rng: Generator, label: npt.NDArray[np.bool_]) -> Array:
    rate, apart = max(float(label.mean()), 1e-4), rng.uniform(0.3, 3.0)
    noise = rng.normal(size=label.size) * apart * rng.uniform(0.5, 1.5)
    return np.asarray(np.log(rate / (1 - rate)) + 0.4 * apart**2 * np.where(label, 1, -1) + noise)


def _few(rng: Generator, label: npt.NDArray[np.bool_]) -> Array:
    scores = _two_normals(rng, label)
    edges = np.quantile(scores, np.linspace(0, 1, rng.integers(3, 16)))
    return np.asarray(edges[np.searchsorted(edges[1:-1], scores)])


MODELS: dict[str, Callable[[Generator, npt.NDArray[np.bool_]], Array]] = {
    "two normals": _two_normals,
    "few values": _few,
    "hundredths": lambda rng, label: log_odds(np.round(share(_two_normals(rng, label)), 2)),
    "beta": lambda rng, label: log_odds(rng.beta(rng.uniform(0.3, 3), rng.uniform(0.3, 6), label.size)),
    "overconfident": lambda rng, label: np.asarray(
        np.where(label, 1, -1) * rng.uniform(2, 12) + rng.normal(size=label.size) * rng.uniform(1, 4)
    ),
    "hardly any signal": lambda rng, label: np.asarray(
        rng.uniform(-4, 2) + rng.normal(size=label.size) * rng.uniform(0.1, 0.5) + 0.2 * label
    ),
    "heavy tails": lambda rng, label: np.asarray(
        rng.uniform(-5, 1) + rng.standard_t(2, label.size) * rng.uniform(0.3, 2) + 2.0 * label
    ),
    "never below one half": lambda rng, label: rng.gamma(
        rng.uniform(0.5, 4), rng.uniform(0.3, 2), label.size
    ),
    "logits in [0, 1]": lambda rng, label: rng.beta(rng.uniform(0.5, 4), rng.uniform(0.5, 4), label.size),
}


def _some(rng: Generator, scores: Array, rows: int) -> Array:
    return np.asarray(rng.choice(scores, rows)) if scores.size else np.zeros(rows)


def _other_rate(rng: Generator, scores: Array, label: npt.NDArray[np.bool_], rows: int) -> Array:
    """Another base rate, from 1 in 10,000 to 9 in 10."""
    positive = rng.random(rows) < rng.choice([1e-4, 1e-3, 0.01, 0.1, 0.5, 0.9])
    sides = [_some(rng, scores[label == side], rows) for side in (True, False)]
    return np.where(positive, *sides)


def _subgroup(rng: Generator, scores: Array, rows: int) -> Array:
    centre, width = rng.choice(scores), max(float(scores.std()) * rng.uniform(0.2, 1.0), 1e-6)
    weight = np.exp(-0.5 * ((scores - centre) / width) ** 2)
    return rng.choice(scores, rows, p=weight / weight.sum())


def _review(rng: Generator, scores: Array, rows: int) -> Array:
    """Only scores between two round probabilities, as are sent to somebody who looks again."""
    ends = rng.choice([0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95], 2, replace=False)
    low, high = np.sort(log_odds(np.asarray(ends)))
    return _some(rng, scores[(low <= scores) & (scores <= high)], rows)


def _moved(rng: Generator, scores: Array, rows: int) -> Array:
    centred = _some(rng, scores, rows) - np.median(scores)
    return np.asarray(centred / rng.uniform(1.0, 4.0) + np.median(scores) + rng.normal() * 1.5)


HONEST: dict[str, Callable[[Generator, Array, npt.NDArray[np.bool_], int], Array]] = {
    "as they were": lambda rng, scores, _, rows: _some(rng, scores, rows),
    "another base rate": _other_rate,
    "positives only": lambda rng, scores, label, rows: _some(rng, scores[label], rows),
    "negatives only": lambda rng, scores, label, rows: _some(rng, scores[~label], rows),
    "a subgroup": lambda rng, scores, _, rows: _subgroup(rng, scores, rows),
    "the lowest": lambda rng, scores, _, rows: _some(
        rng, scores[scores <= np.quantile(scores, rng.uniform(0.02, 0.3))], rows
    ),
    "the highest": lambda rng, scores, _, rows: _some(
        rng, scores[scores >= np.quantile(scores, rng.uniform(0.7, 0.98))], rows
    ),
    "under review": lambda rng, scores, _, rows: _review(rng, scores, rows),
    "sharper": lambda rng, scores, _, rows: _some(rng, scores, rows) * rng.uniform(1, 6),
    "flatter": lambda rng, scores, _, rows: _some(rng, scores, rows) / rng.uniform(1, 6),
    "flatter and moved": lambda rng, scores, _, rows: _moved(rng, scores, rows),
    "moved": lambda rng, scores, _, rows: _some(rng, scores, rows) + rng.uniform(-5, 5),
    "saturated": lambda rng, scores, _, rows: np.clip(
        _some(rng, scores, rows), *(rng.uniform(1, 6) * np.array([-1, 1]))
    ),
    "rounded": lambda rng, scores, _, rows: log_odds(
        np.round(share(_some(rng, scores, rows)), rng.integers(1, 4))
    ),
    "few values": lambda rng, scores, _, rows: rng.choice(rng.choice(scores, rng.integers(2, 8)), rows),
    "one value": lambda rng, scores, _, rows: np.full(rows, rng.choice(scores)),
    "nearly one value": lambda rng, scores, _, rows: np.asarray(
        rng.choice(scores) + rng.normal(size=rows) * rng.uniform(1e-3, 0.3)
    ),
}


def model(rng: Generator, kind: str) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Scores of a model as log-odds, and labels."""
    label = rng.random(ROWS) < rng.choice(RATES)
    return MODELS[kind](rng, label), label


def fitted_to(scores: Array, scale: Scale) -> Artifact:
    """An artifact whose fit rows had these scores."""
    read = share(scores)
    few = np.unique(read)[:2]
    table = ScoreTable(few, np.full(few.size, 2), np.full(few.size, 1))
    recalibrator = fit_recalibrator(RecalibratorName.INTERCEPT, table, options=FitOptions())
    record = FitRecord.of(recalibrator, table, options={}, losses=(0.0, 0.0))
    artifact = Artifact(recalibrator, record, scale, None)
    from dataclasses import replace

    return replace(artifact, fit=replace(artifact.fit, score_quantiles=quantiles_of(read)))


def refused(artifact: Artifact, read: Array) -> bool:
    """Whether scores, as the probabilities that were read, are refused."""
    seen = Seen(read.size, quantiles_of(read), int(np.unique(read).size))
    try:
        scale_notes(seen, artifact, column="score")
    except InputProblem:
        return True
    return False
