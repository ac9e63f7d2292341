"""Artifacts of every kind."""

from collections.abc import Callable

import numpy as np
import pytest

from calibcli.documents.artifact import Artifact, FitRecord
from calibcli.names import Binning, FitLoss, RecalibratorName, Scale, Split
from calibcli.options.fitting import FitOptions
from calibcli.stats.recalibrators import fit_recalibrator
from calibcli.stats.table import ScoreTable, Weighing

KINDS: dict[str, tuple[RecalibratorName, FitOptions]] = {
    "platt": (RecalibratorName.PLATT, FitOptions(loss=FitLoss.BRIER)),
    "isotonic": (RecalibratorName.ISOTONIC, FitOptions()),
    "isotonic-step": (RecalibratorName.ISOTONIC, FitOptions(step=True)),
    "histogram": (RecalibratorName.HISTOGRAM, FitOptions(bins=4)),
    "histogram-width": (RecalibratorName.HISTOGRAM, FitOptions(bins=3, binning=Binning.EQUAL_WIDTH)),
    "scaling-binning": (RecalibratorName.SCALING_BINNING, FitOptions(bins=4, split=Split.THREE_WAY)),
}


def fitted(kind: str, *, weighted: bool = False) -> Artifact:
    """An artifact fitted to 120 rows, some of them certain."""
    rng = np.random.default_rng(7)
    score = rng.beta(0.5, 0.5, 120).round(2)
    weight = rng.exponential(size=120) if weighted else None
    table = ScoreTable.from_rows(score, rng.random(120) < score**1.5, Weighing(weight=weight))
    name, options = KINDS[kind]
    recalibrator = fit_recalibrator(name, table, options=options)
    record = FitRecord.of(
        recalibrator, table, options=options.used_by(name), losses=(float("inf"), 0.5), notes=("A note: é.",)
    )
    return Artifact(recalibrator, record, scale=Scale.PROB, positive="yes")


@pytest.fixture(params=list(KINDS))
def kind(request: pytest.FixtureRequest) -> str:
    """Return each kind of artifact in turn."""
    return str(request.param)


@pytest.fixture
def artifact(kind: str) -> Artifact:
    """Return an artifact of each kind in turn."""
    return fitted(kind)


@pytest.fixture
def fit_kind() -> Callable[..., Artifact]:
    """Return the function that fits an artifact of a kind."""
    return fitted
