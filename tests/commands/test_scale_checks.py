"""Scores that pass by are remembered evenly, however they come."""

from dataclasses import replace

import numpy as np
import pytest

from calibcli.commands.scale_checks import ScaleCheck
from calibcli.data.columns import ResolvedColumns
from calibcli.data.fields import on_scale
from calibcli.data.intake import Intake
from calibcli.documents.artifact import Artifact, FitRecord
from calibcli.errors import InputProblem
from calibcli.names import RecalibratorName, Scale
from calibcli.options.fitting import FitOptions
from calibcli.options.rows import Columns
from calibcli.stats.recalibrators import fit_recalibrator
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.grid import quantiles_of

INTAKE = Intake(ResolvedColumns(Columns(), "score", None), shown="rows.csv")


def _artifact(logits: np.ndarray) -> Artifact:
    table = ScoreTable(np.array([0.2, 0.8]), np.array([5, 5]), np.array([1, 4]))
    recalibrator = fit_recalibrator(RecalibratorName.PLATT, table, options=FitOptions())
    record = FitRecord.of(recalibrator, table, options={}, losses=(0.0, 0.0))
    record = replace(record, score_quantiles=quantiles_of(on_scale(logits, Scale.LOGIT)))
    return Artifact(recalibrator, record, Scale.LOGIT, None)


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("size", [1, 7, 512, 5_000])
def test_the_decision_depends_on_neither_blocks_nor_order(size: int, *, ordered: bool) -> None:
    """Probabilities are refused, and one logit among 5,000 that cannot be one is enough to take them."""
    logits = np.random.default_rng(0).normal(0, 2, 5_000)
    shares = on_scale(logits, Scale.LOGIT)
    shares = np.sort(shares) if ordered else shares
    for one, refused in ((0.5, True), (1.5, False)):
        rows = shares.copy()
        rows[-2] = one
        check = ScaleCheck(_artifact(logits))
        read = on_scale(rows, Scale.LOGIT)
        for first in range(0, read.size, size):
            check.add(read[first : first + size])
        if not refused:
            assert check.notes(INTAKE) == ()
            continue
        with pytest.raises(
            InputProblem, match=r"rows.csv, column 'score': 5,000 values from .* do not look like"
        ):
            check.notes(INTAKE)


def test_nothing_is_said_of_no_rows() -> None:
    """Neither before there are some, nor of blocks without any."""
    check = ScaleCheck(_artifact(np.linspace(-3, 3, 100)))
    check.add(np.empty(0))
    assert check.notes(INTAKE) == ()
