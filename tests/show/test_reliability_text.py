"""Reliability diagrams in letters: letter for letter, and true to their axes for any curve and width.

After a change that is meant, `CALIBCLI_REFRESH_GOLDEN=1 pytest tests/show` writes `golden/` anew; read the
difference before committing it.
"""

import math
import os
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from calibcli.names import AxisScale, PlotKind
from calibcli.show.letters import Said, reliability_text
from calibcli.stats.curves.limits import beyond_sentences
from calibcli.stats.curves.reliability import NO_WEIGHTED_BAND, BinnedCurve, ReliabilityCurve, SmoothCurve

GOLDEN = Path(__file__).parent / "golden"
SAID = Said(
    "preds.csv: score",
    ("smECE 0.0560  [0.0460, 0.0610] at 95 % confidence", "1,000 rows, 476 with label 1"),
)
LIMITED = re.compile(r"[─┬+-]{20,}")


def smooth_of(start: float = 0.0, stop: float = 1.0, *, band: bool = True) -> SmoothCurve:
    """Return a curve that is too high in the middle, with a band that opens to the right."""
    at = np.linspace(start, stop, 129)
    span = stop - start
    share = (at - start) / span
    y = np.clip(at + 0.15 * span * np.sin(math.pi * share) ** 2, 0.0, 1.0)
    half = span * (0.02 + 0.1 * share)
    none = np.full(at.size, math.nan)
    return SmoothCurve(
        at=at,
        x=at,
        y=y,
        lower=np.clip(y - half, 0.0, 1.0) if band else none,
        upper=np.clip(y + half, 0.0, 1.0) if band else none,
        density=(2.0 - 2.0 * share + 0.05) / span,
        bandwidth=0.05,
        band="pointwise 95 %, Clopper-Pearson's for effective rows" if band else NO_WEIGHTED_BAND,
    )


def binned_of(score: list[float], rate: list[float], *, width: float = 0.0, band: bool = True) -> BinnedCurve:
    """Return bins around scores, each with more rows than the last."""
    at, observed = np.array(score), np.array(rate)
    none = np.full(at.size, math.nan)
    return BinnedCurve(
        lower=np.maximum(at - width, 0.0),
        upper=np.minimum(at + width, 1.0),
        rows=10 * np.arange(1, at.size + 1),
        score=at,
        rate=observed,
        rate_lower=np.maximum(observed - 0.1, 0.0) if band else none,
        rate_upper=np.minimum(observed + 0.1, 1.0) if band else none,
        band="pointwise 95 % Clopper-Pearson" if band else NO_WEIGHTED_BAND,
    )


TENTHS = [0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95]
BENT = [0.02, 0.08, 0.15, 0.25, 0.40, 0.60, 0.75, 0.88, 0.95, 0.99]


def curve_of(smooth: SmoothCurve | None, binned: BinnedCurve | None = None) -> ReliabilityCurve:
    """Return a curve to be drawn smooth where it can be."""
    kind = PlotKind.BINNED if smooth is None else PlotKind.SMOOTH
    return ReliabilityCurve(kind, binned or binned_of(TENTHS, BENT, width=0.05), smooth, 0.95)


GAPS = smooth_of()
_seen = (GAPS.at < 0.3) | (GAPS.at > 0.7) | (np.abs(GAPS.at - 0.5) < 0.003)
GAPS = replace(GAPS, x=np.where(_seen, GAPS.x, math.nan), y=np.where(_seen, GAPS.y, math.nan))
CURVES = {
    "smooth": curve_of(smooth_of()),
    "zoomed": curve_of(smooth_of(0.0, 0.01)),
    "gaps": curve_of(GAPS),
    "weighted": curve_of(smooth_of(band=False)),
    "binned": curve_of(None),
    "atoms": curve_of(None, binned_of([0.1, 0.3, 0.7], [0.2, 0.3, 0.6])),
    "weighted bins": curve_of(None, binned_of(TENTHS, BENT, width=0.05, band=False)),
    "one row": curve_of(None, binned_of([0.3], [1.0])),
    "rows at 0 only": curve_of(None, binned_of([0.0], [0.0])),
    "rows at 1 only": curve_of(None, binned_of([1.0], [1.0])),
    "one class": curve_of(None, binned_of(TENTHS, [0.0] * 10, width=0.05)),
    "rare": curve_of(None, binned_of([0.001, 0.004, 0.009], [0.002, 0.004, 0.02])),
}
curves = pytest.mark.parametrize("name", CURVES)


def drawn(
    name: str,
    width: int = 80,
    *,
    unicode: bool = True,
    color: bool = False,
    scale: AxisScale = AxisScale.LINEAR,
) -> str:
    """Draw one of the curves."""
    return reliability_text(CURVES[name], SAID, width=width, color=color, unicode=unicode, scale=scale)


@pytest.mark.parametrize("unicode", [True, False])
@pytest.mark.parametrize(("name", "width"), [("smooth", 80), ("smooth", 200), ("gaps", 60), ("binned", 80)])
def test_text_is_the_golden_one(name: str, width: int, *, unicode: bool) -> None:
    """Every letter, at two widths, in Unicode and in ASCII."""
    path = GOLDEN / f"diagram_{name}_{width}{'' if unicode else '.ascii'}.txt"
    text = drawn(name, width, unicode=unicode)
    if os.environ.get("CALIBCLI_REFRESH_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@curves
@pytest.mark.parametrize("width", [40, 80, 120, 200])
@pytest.mark.parametrize("scale", AxisScale)
def test_no_line_is_wider_than_the_terminal(name: str, width: int, scale: AxisScale) -> None:
    """In cells, in Unicode and ASCII; ASCII is ASCII, and nothing ends in a space."""
    for unicode in (True, False):
        text = drawn(name, width, unicode=unicode, scale=scale)
        lines = text.splitlines()
        assert max(map(cell_len, lines)) <= width
        assert not any(line.endswith(" ") for line in lines)
        assert text.endswith("\n")
        assert not text.endswith("\n\n")
        assert unicode or text.isascii()


@curves
def test_diagram_is_as_good_as_square_and_keeps_its_lines(name: str) -> None:
    """Two cells beside each other are as long as one is high; the axis ends where the diagram does."""
    lines = drawn(name, unicode=False).splitlines()
    upright = [line for line in lines if re.match(r"^ *[\d.]* [|+](?![-+]{3})", line)]
    floor = next(line for line in lines if LIMITED.search(line))
    columns = len(floor) - floor.index("+") - 1
    assert 0.7 < 2 * len(upright) / columns < 1.0
    assert {line.index("|" if "|" in line[:12] else "+") for line in upright} == {floor.index("+")}


def test_wide_and_hostile_names_break_no_line() -> None:
    """Letters two cells wide, colour codes and line breaks in a title stay text in lines that fit."""
    said = Said("予測" * 60 + "\x1b[31m\n\u202e", ("confidence é",))
    for unicode in (True, False):
        text = reliability_text(CURVES["binned"], said, width=80, unicode=unicode)
        assert max(map(cell_len, text.splitlines())) <= 80
        assert "\x1b" not in text
        assert "\u202e" not in text


def test_colour_adds_codes_and_nothing_else() -> None:
    """Without them the text is the same."""
    plain, coloured = drawn("smooth"), drawn("smooth", color=True)
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain


@given(
    score=st.floats(0.0, 1.0),
    rate=st.floats(0.0, 1.0),
    width=st.sampled_from([80, 200]),
)
def test_a_point_stands_where_its_numbers_say(score: float, rate: float, width: int) -> None:
    """Between corners that keep the whole square in view, to within a cell of the axes."""
    at = [0.0, *sorted({0.0005, min(max(score, 0.001), 0.999)}), 1.0]
    place = at.index(min(max(score, 0.001), 0.999))
    rates = [0.0] * len(at)
    rates[place], rates[-1] = rate, 1.0
    curve = curve_of(
        None, replace(binned_of(at, rates), rate_lower=np.array(rates), rate_upper=np.array(rates))
    )
    lines = reliability_text(curve, Said("x"), width=width, unicode=False).splitlines()
    bottom = next(i for i, line in enumerate(lines) if LIMITED.search(line))
    top = next(i for i, line in enumerate(lines) if line.startswith("   1 "))
    left = lines[bottom].index("+") + 1
    columns, rows = len(lines[bottom]) - left, bottom - top
    found = [
        ((j - left + 0.5) / columns, (bottom - i - 0.5) / rows)
        for i in range(top, bottom)
        for j in range(left, len(lines[i]))
        if lines[i][j] == "o"
    ]
    assert any(abs(x - at[place]) <= 0.51 / columns and abs(y - rate) <= 0.51 / rows + 1e-9 for x, y in found)


def test_calibrated_points_stand_on_the_diagonal() -> None:
    """Each takes the place of a letter of the diagonal, and none of it is left above or below."""
    text = reliability_text(curve_of(None, binned_of(TENTHS, TENTHS, band=False)), Said("x"), width=80)
    for row in (line for line in text.splitlines() if "●" in line and "observed" not in line):
        column = row.index("●")
        assert "·" in row[column - 3 : column + 4]


def test_what_is_shown_is_said() -> None:
    """The key names what there is and nothing else; a zoom and a missing band are told."""
    assert "⠒⠒ observed rate   ░ 95 % band   · perfectly calibrated" in drawn("smooth")
    assert "⠒⠒ ● observed rate   ░ │ 95 % band" in drawn("gaps")
    assert "● observed rate   │ 95 % interval" in drawn("binned")
    assert "Zoomed: both axes run from 0 to " in drawn("zoomed")
    for name in ("weighted", "weighted bins"):
        assert "No interval: importance weights" in drawn(name)
        assert "95 % band" not in drawn(name)
        assert "95 % interval" not in drawn(name)
    assert "Both axes by log-odds" in drawn("rare", scale=AxisScale.LOGIT)
    wide = curve_of(replace(smooth_of(), beyond=0.98))
    assert "\n98 % of the rows lie beyond the ends of the curve" in reliability_text(wide, SAID, width=100)
    # What is true of one of several curves is not said of all.
    several = [smooth_of(), replace(smooth_of(), beyond=0.98)]
    assert beyond_sentences(several)[0].startswith("Up to 98 % of the rows")


def test_rows_are_drawn_under_their_scores() -> None:
    """Every bin has a mark below it, the fullest the darkest."""
    line = next(one for one in drawn("atoms", unicode=False).splitlines() if one.startswith("rows"))
    assert line.split() == ["rows", "-", "*", "@"]
