"""Figures as SVG inside a page."""

import re
from xml.etree import ElementTree as ET

import pytest

from calibcli.names import AxisScale, Binning, PlotKind
from calibcli.show.figures import figure_of
from calibcli.show.figures.inline import Inline, Place, inline
from calibcli.show.figures.look import look_of
from calibcli.show.figures.page import Words
from calibcli.stats.curves.reliability import ReliabilityCurve, binned_curve
from calibcli.stats.table.bins import bins_of
from score_rows import scored_table

WORDS = Words("a <title>", ("a caption",), ("Small & print.",))


def drawn(name: str, *, scale: AxisScale = AxisScale.LINEAR, places: tuple[Place, ...] = ()) -> Inline:
    """Draw a thousand rows."""
    table = scored_table(1_000, seed=1)
    curve = binned_curve(table, bins=bins_of(Binning.EQUAL_WIDTH, 5, table=table))
    picture = ReliabilityCurve(PlotKind.BINNED, curve, None, 0.95)
    figure = figure_of(picture, WORDS, look=look_of(), scale=scale)
    return inline(figure, name=name, places=places)


def test_two_figures_share_no_id_and_need_no_style() -> None:
    """Ids are those that are referred to, each with the name of its figure; there is no style to allow."""
    one, two = drawn("one"), drawn("two")
    for found, name in ((one, "one"), (two, "two")):
        root = ET.fromstring(f"<svg>{found.drawing}</svg>")  # noqa: S314 - written here
        ids = {element.attrib["id"] for element in root.iter() if "id" in element.attrib}
        referred = set(re.findall(r"url\(#([^)]+)\)", found.drawing))
        referred |= {element.attrib["href"][1:] for element in root.iter() if "href" in element.attrib}
        assert ids == referred
        assert all(each.startswith(f"{name}-") for each in ids)
        assert not {"style", "title", "metadata"} & {element.tag for element in root.iter()}
        assert "style=" not in found.drawing
    assert one.drawing.replace("one-", "two-") == two.drawing


def test_small_print_is_handed_over_and_not_drawn() -> None:
    """The lines below the axes come as text, and the box ends where they began."""
    found = drawn("one")
    assert "Small & print." in found.small_print
    left, top, width, height = found.box
    assert (left, width) == (0.0, 432.0)
    assert 0.0 <= top < 72.0
    assert height < 560.0


@pytest.mark.parametrize("scale", list(AxisScale))
def test_places_are_those_of_the_axes(scale: AxisScale) -> None:
    """A value is where the axes put it: on the diagonal up and to the right, outside of them nowhere."""
    places = (Place(0, 0.25, 0.25), Place(0, 0.5, 0.5), Place(0, 0.75, 0.75), Place(0, 0.5, 1.5))
    found = drawn("one", scale=scale, places=places)
    low, middle, high, outside = found.at
    assert outside is None
    assert low is not None
    assert middle is not None
    assert high is not None
    assert low[0] < middle[0] < high[0]
    assert low[1] > middle[1] > high[1]
    # Both scales are symmetric about a half.
    assert middle[0] - low[0] == pytest.approx(high[0] - middle[0], abs=0.2)
