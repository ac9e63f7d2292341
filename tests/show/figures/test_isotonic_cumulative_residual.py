"""Isotonic fits, cumulative differences and residuals: readable for any table, at every size."""

from itertools import product

import numpy as np
import pytest
from matplotlib.figure import Figure

from calibcli.names import AxisScale, FigureSize, PlotKind, Theme
from calibcli.show.figures import figure_of
from calibcli.show.figures.look import look_of
from calibcli.show.figures.page import Words
from calibcli.stats.curves import Picture
from calibcli.stats.curves.cumulative import cumulative_curve
from calibcli.stats.curves.isotonic import isotonic_curve
from calibcli.stats.curves.reliability import ReliabilityCurve, residual_curve, smooth_curve
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.bins import looks_discrete
from picture_checks import SHAPES, clashes, in_bins, rows_of

WORDS = Words(
    "a/long/path/to/the/predictions/of/a/model.parquet: score", ("what it shows 0.0123",), ("Small.",)
)
KINDS = (PlotKind.ISOTONIC, PlotKind.CUMULATIVE, PlotKind.RESIDUAL)
LOOKS = list(product(FigureSize, Theme))


def picture_of(kind: PlotKind, table: ScoreTable) -> Picture:
    """Return what is drawn, with a fixed seed."""
    rng = np.random.default_rng(0)
    if kind is PlotKind.ISOTONIC:
        return isotonic_curve(table, generator=rng, draws=50)
    if kind is PlotKind.CUMULATIVE:
        return cumulative_curve(table)
    smooth = smooth_curve(table, bandwidth=0.03)
    return residual_curve(ReliabilityCurve(kind, in_bins(table), smooth, 0.95), by_bins=looks_discrete(table))


def drawn(kind: PlotKind, shape: str, look: tuple[FigureSize, Theme] = LOOKS[0]) -> Figure:
    """Draw a shape of table."""
    return figure_of(picture_of(kind, SHAPES[shape]), WORDS, look=look_of(*look))


@pytest.mark.untraced
@pytest.mark.parametrize(
    ("shape", "kind", "look"),
    [
        (shape, kind, LOOKS[(row + 2 * column) % len(LOOKS)])
        for (row, shape), (column, kind) in product(enumerate(SHAPES), enumerate(KINDS))
        if (row + column) % 3 == 1
    ],
)
def test_no_text_overlaps(shape: str, kind: PlotKind, look: tuple[FigureSize, Theme]) -> None:
    """Nor leaves the page, at any size on either ground; and nothing warns (warnings are errors here)."""
    assert clashes(drawn(kind, shape, look)) == []


@pytest.mark.parametrize("kind", [PlotKind.ISOTONIC, PlotKind.RESIDUAL])
def test_scores_by_log_odds(kind: PlotKind) -> None:
    """Whatever lies at 0 or 1 stands at the ends, and the reader is told that areas mislead."""
    for shape in ("rows at 0 only", "saturated"):
        figure = figure_of(
            picture_of(kind, SHAPES[shape]), WORDS, look=look_of(FigureSize.COLUMN), scale=AxisScale.LOGIT
        )
        assert clashes(figure) == []
        assert any("log-odds" in text.get_text() for text in figure.texts)


def test_curves_are_drawn_where_they_are() -> None:
    """The line of a path and of a fit has the values that were computed, and the axes hold them."""
    path = cumulative_curve(SHAPES["fifty rows"])
    axes = figure_of(path, WORDS).axes[0]
    line = max(axes.lines, key=lambda one: len(one.get_xdata()))
    assert np.array_equal(line.get_ydata(), path.value)
    low, high = axes.get_ylim()
    assert low < min(path.range[0], -2.0 * path.deviation)
    assert high > max(path.range[1], 2.0 * path.deviation)
    fit = isotonic_curve(SHAPES["fifty rows"], generator=np.random.default_rng(0), draws=50)
    lines = figure_of(fit, WORDS).axes[0].lines
    assert any(np.array_equal(one.get_xydata(), np.stack((fit.x, fit.rate), axis=1)) for one in lines)


def test_scores_stand_where_their_share_of_the_rows_is() -> None:
    """Along the top of cumulative differences: half of the rows lie below the score written over 0.5."""
    rng = np.random.default_rng(0)
    table = rows_of(rng.beta(0.5, 4.0, 5_000), 0.1)
    axes = figure_of(cumulative_curve(table), WORDS).axes[0]
    written = [(one.xy[0], one.get_text()) for one in axes.texts if one.get_text() != "score"]
    assert len(written) > 5
    for share, text in written:
        assert share == pytest.approx(float(table.weight[table.score <= float(text)].sum()) / 5_000, abs=2e-3)


def test_scores_that_many_rows_share_are_written_short_and_in_their_middle() -> None:
    """Ninths have no eight decimals, and no text stands between two of them."""
    shared = np.repeat(np.arange(10) / 9.0, 100)
    axes = figure_of(cumulative_curve(rows_of(shared, shared)), WORDS).axes[0]
    written = [(one.xy[0], one.get_text()) for one in axes.texts if one.get_text() != "score"]
    assert len(written) > 4
    for share, text in written:
        assert len(text) <= 5
        assert float(text) == pytest.approx(round(share * 10 - 0.5) / 9.0, abs=2.5e-3)


def test_what_weights_do_not_allow_is_said() -> None:
    """No band, no tests, and the reason in the small print."""
    for kind in (PlotKind.ISOTONIC, PlotKind.RESIDUAL):
        texts = [text.get_text() for text in drawn(kind, "weighted").texts]
        assert any("importance weights" in text for text in texts)
    assert not any(
        "KS and Kuiper" in text.get_text() for text in drawn(PlotKind.CUMULATIVE, "weighted").texts
    )
