"""Curve to picture, and pictures on disk: the same figure gives the same bytes."""

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import matplotlib as mpl
from matplotlib.figure import Figure

from calibcli.families import loaded
from calibcli.names import AxisScale
from calibcli.show.figures.look import Look, look_of
from calibcli.show.figures.page import Words
from calibcli.stats.curves import Picture
from calibcli.values import replace


def figure_of(
    picture: Picture, words: Words, *, look: Look | None = None, scale: AxisScale = AxisScale.LINEAR
) -> Figure:
    facts = picture.kind.facts
    draw = loaded(f"show.figures.{facts.figure}")
    axis = scale if facts.logit else AxisScale.LINEAR
    with _built_in_settings():
        found: Figure = draw(picture, words, replace(look or look_of(), axis=axis))
    return found


_PIXELS_PER_INCH = 150
# What only matplotlib's global settings can say; they are in force under the lock alone.
_SETTINGS: dict[Any, Any] = {
    "savefig.bbox": None,
    "text.hinting": "default",
    "svg.hashsalt": "calibcli",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
    "pdf.compression": 6,
}
_NO_TRACES: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
_one_at_a_time = threading.Lock()


def use_built_in_settings() -> None:
    """Take back what files and programs have set; a backend is never asked for."""
    built_in: dict[Any, Any] = {
        key: value for key, value in dict.items(mpl.rcParamsDefault) if key != "backend"
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mpl.rcParams.update(built_in)


@contextmanager
def _built_in_settings() -> Iterator[None]:
    """Draw alike whatever settings and styles a program has; they are back in force afterwards."""
    with _one_at_a_time, mpl.rc_context():
        use_built_in_settings()
        yield


def save(figure: Figure, target: BinaryIO, picture_format: str) -> None:
    """Write a figure; the same figure gives the same bytes on one machine."""
    metadata: dict[str, str | None] = {"Title": str(figure.get_label()), **_NO_TRACES[picture_format]}
    with _built_in_settings():
        mpl.rcParams.update(_SETTINGS)
        figure.savefig(
            target,
            format=picture_format,
            dpi=_PIXELS_PER_INCH,
            facecolor=figure.get_facecolor(),
            edgecolor="none",
            transparent=False,
            metadata=metadata,
        )
