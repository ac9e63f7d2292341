"""The multicalibration error is that of MCGrad where scores have no ties; recipe: `peer_segments.py`."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import calibcli
from calibcli.stats.measures.segments import Segments, segments_of
from calibcli.stats.table.levels import Mixed, RunningValues
from oracles.golden_table import FOLDER
from oracles.peer_segments import COLUMNS, DEPTH, LEAST, MOST, made_up, recorded, with_gaps
from stats.segment_rows import entries_of

PEER = json.loads(Path(__file__).with_name("peer_segments.json").read_text())


def found_in(rows: dict[str, np.ndarray], columns: tuple[str, ...]) -> Segments:
    """Return the segments that MCGrad looks at: of too many values the last one stands for all others."""
    levels, sizes = [], []
    for name in columns:
        texts, code = np.unique(rows[name], return_inverse=True)
        values = Mixed(np.full(code.size, math.nan), code, tuple(texts.tolist()))
        running = RunningValues(name)
        running.add_rows(values)
        found = running.levels(most=MOST - (texts.size > MOST))
        levels.append(found.places(values))
        sizes.append(len(found.words))
    entries = entries_of(np.stack(levels), rows["score"], rows["label"], tuple(sizes))
    return segments_of(entries, depth=DEPTH)


def test_mce_is_that_of_mcgrad() -> None:
    """Every segment's statistic agrees to six digits, and the largest, with its scale, to nine."""
    found = found_in(made_up(), COLUMNS)
    agrees(found, PEER["made up"], score=made_up()["score"])
    assert np.sort(found.sigma[found.rows >= LEAST]) == pytest.approx(PEER["made up"]["sigmas"], rel=1e-6)


def test_gaps_and_numbers_are_cut_as_by_mcgrad() -> None:
    """A gap is a value, and numbers are cut at the same quartiles: every statistic agrees."""
    peer, rows = PEER["with gaps"], pd.DataFrame(with_gaps())
    found = calibcli.segments(
        rows, score="score", label="label", on=["shape", "size", "weight"], depth=DEPTH, min_rows=LEAST
    ).report
    sigmas = sorted(one.sigma for one in found.segments if one.rows >= LEAST)
    assert sigmas == pytest.approx(peer["sigmas"], rel=1e-6)
    assert (found.mce.value, found.mce_sigma.value) == pytest.approx(
        (peer["mce"], peer["mce_sigma"]), rel=1e-9
    )


def test_mce_of_real_rows_is_that_of_mcgrad() -> None:
    """On real rows too, few of whose scores are equal; they are not part of the project."""
    path = FOLDER / "recid_logit.csv"
    if not path.exists():
        pytest.skip(f"{path} is not there: it is not part of the project")
    rows = recorded(str(path))
    agrees(found_in(rows, ("race", "sex", "charge_degree")), PEER["recid_logit"], score=rows["score"])


def agrees(found: Segments, peer: dict, *, score: np.ndarray) -> None:
    sigma = found.sigma[found.rows >= LEAST].max()
    assert sigma == pytest.approx(peer["mce_sigma"], rel=1e-9)
    spread = math.sqrt(float((score * (1 - score)).sum()))
    assert sigma * spread / score.size == pytest.approx(peer["mce"], rel=1e-9)
