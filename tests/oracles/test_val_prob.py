"""The numbers of a validation paper are those of R: rms::val.prob, glm with an offset, a spline, pROC."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import calibcli
from command_line import SAMPLE

# Written by val_prob.R, by rms 6.5-0, pROC 1.18.0 and R 4.2.2.
IN_R: dict[str, dict[str, float]] = json.loads(Path(__file__).with_name("val_prob.json").read_text("utf-8"))
# R interpolates between scores where a knot lies between two of them; of tied scores the curves are the same.
WITHIN = dict.fromkeys(("ici", "e50", "e90", "emax"), 5e-4)


@pytest.mark.parametrize("rows", IN_R)
def test_numbers_are_those_of_r(rows: str) -> None:
    """Values and statistics; the interval of the AUROC holds that of DeLong, or nearly so."""
    file, score, label = rows.split()
    with (SAMPLE / file).open(encoding="utf-8") as lines:
        table = list(csv.DictReader(lines))
    columns = (np.array([float(row[name]) for row in table]) for name in (score, label))
    names = [name for name in IN_R[rows] if not name.startswith("delong")]
    found = calibcli.measure(*columns, metric=names)
    for name in names:
        ours = found.tests[name].statistic if name in found.tests else found.measures[name].value
        assert ours == pytest.approx(
            IN_R[rows][name], abs=1e-8 if "answers" in rows else WITHIN.get(name, 1e-8)
        ), name
    ours = found.measures["auroc"].interval
    assert ours is not None
    assert ours.lower < IN_R[rows]["delong_lower"] + 1e-3
    assert ours.upper > IN_R[rows]["delong_upper"] - 3e-3
