"""The plain sentences of a page that judges nothing."""

from typing import Any

import numpy as np
import pytest

from calibcli.commands.measure import measure_table
from calibcli.options.measuring import MeasureOptions
from calibcli.options.metrics import metrics_of
from calibcli.reports.input import InputSummary
from calibcli.show.html.sections import summary_of
from calibcli.stats.table.score_table import ScoreTable

SOURCE = InputSummary(("x.csv",), "score", "label", None, 4_000, 0, 0)


def sentences(power: float, *metrics: str) -> list[str]:
    """Return what is said of 4,000 rows whose rate is a power of the score."""
    generator = np.random.default_rng(5)
    score = generator.random(4_000)
    table = ScoreTable.from_rows(score, generator.random(4_000) < score**power)
    asked: Any = metrics_of(metrics or ("ece", "bias", "ks"))
    report = measure_table(table, SOURCE, options=MeasureOptions(asked))
    return [line.text for line in summary_of(report).lines]


@pytest.mark.parametrize(
    ("power", "said"), [(3.0, "the scores are too high:"), (0.3, "too low:"), (1.0, "are not shown to be")]
)
def test_the_bias_is_said_as_far_as_it_is_shown(power: float, said: str) -> None:
    """Only an interval that leaves 0 out says that scores are too high or too low."""
    assert said in sentences(power)[1]


def test_an_error_stands_beside_what_chance_makes() -> None:
    """The first sentence has the error, its interval, and what a calibrated score would show."""
    first = sentences(1.0)[0]
    assert first.startswith("Calibration error over bins (ece): 0.0")
    assert "at 95 % confidence). A perfectly calibrated score would show 0.0" in first
    assert first.endswith("on these rows.")


def test_nothing_is_said_of_what_was_not_measured() -> None:
    """With another measure alone there is only the sentence that nothing was judged."""
    (only,) = sentences(1.0, "brier")
    assert only.startswith("No limit was given, so nothing is judged here")
