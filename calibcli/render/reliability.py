"""A reliability diagram in letters, as wide as a terminal."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import numpy.typing as npt

from calibcli.curves.bands import band_sentence, has_band, unbroken
from calibcli.curves.limits import LOG_ODDS_TICKS, Limits, binned_limits, smooth_limits
from calibcli.curves.reliability import BinnedCurve, ReliabilityCurve, SmoothCurve
from calibcli.picture_names import AxisScale, PlotKind
from calibcli.render.blocks import Line, Paragraph, Tone
from calibcli.render.canvas import ASCII, UNICODE, Canvas, Letters
from calibcli.render.terminal import TerminalRenderer, styled
from calibcli.render.ticks import number_text, numbers_line, round_numbers

Floats = npt.NDArray[np.float64]

_LEAST_WIDTH, _MOST_WIDTH = 20, 96
# A cell is about twice as high as it is wide: this makes the diagram as good as square.
_ASPECT, _LEAST_HEIGHT = 0.4, 10
_COLUMNS_A_NUMBER, _MOST_RATES = 11, 8
# Share of the width.
_SINGLE = 0.012


@dataclass(frozen=True, slots=True)
class Said:
    """
    The text around a diagram.

    Args:
        title: Files and column.

        caption: What the diagram shows with its interval first.

        foot: Small print.
    """

    title: str
    caption: Sequence[str] = ()
    foot: Sequence[str] = ()


def reliability_text(
    curve: ReliabilityCurve,
    said: Said,
    *,
    width: int,
    color: bool = False,
    unicode: bool = True,
    scale: AxisScale = AxisScale.LINEAR,
) -> str:
    """
    Draw a reliability diagram in letters.

    Args:
        curve: The curve; its kind says whether it is drawn smooth or in bins.

        said: Title and caption.

        width: Columns of the terminal; fewer than about thirty are not kept to.

        color: Whether to colour by ANSI codes.

        unicode: Whether letters outside ASCII may be written.

        scale: How both axes are laid out.

    Returns:
        Lines without trailing spaces, ending in one newline.
    """
    letters = UNICODE if unicode else ASCII
    smooth = curve.smooth if curve.kind is PlotKind.SMOOTH else None
    limits = binned_limits(curve.binned, scale) if smooth is None else smooth_limits(smooth, scale)
    drawing = _Drawing(curve.binned if smooth is None else smooth, limits, letters, width)
    text = TerminalRenderer(width=width, color=color, verbose=False, unicode=unicode)
    head = [Line(said.title, Tone.TITLE), *map(Line, said.caption)]
    foot = [drawing.key(curve.confidence), *drawing.notes, *said.foot]
    small = tuple(Line(line, Tone.FAINT) for line in foot if line)
    lines = [_shown(cells, color=color) for cells in drawing.lines()]
    parts = (Paragraph(tuple(head)), Paragraph(small))
    return f"{text.text(parts[:1])}\n{''.join(lines)}\n{text.text(parts[1:])}"


@dataclass(frozen=True, slots=True)
class _Drawing:
    """
    A curve on axes of letters.

    Args:
        curve: What is drawn.

        limits: Ends of the axes.

        letters: What to draw with.

        width: Columns there are.
    """

    curve: BinnedCurve | SmoothCurve
    limits: Limits
    letters: Letters
    width: int

    @property
    def notes(self) -> list[str]:
        """What the drawing shows, for the small print."""
        what = "band" if isinstance(self.curve, SmoothCurve) else "interval"
        told = band_sentence(self.curve.band, _ends(self.curve), called=f"The {what}")
        return [told, self.limits.sentence]

    def key(self, confidence: float) -> str:
        """Return what the letters mean."""
        letters, share = self.letters, f"{100.0 * confidence:g} %"
        if isinstance(self.curve, SmoothCurve):
            x = self.limits.shares(self.curve.x)
            single = any(_is_single(x[run]) for run in unbroken(self.curve.x))
            rate, interval = (f" {one}" if single else "" for one in (letters.rate, letters.interval))
            entries = [f"{letters.curve}{rate} observed rate"]
            uncertain = f"{letters.band}{interval} {share} band"
        else:
            entries = [f"{letters.rate} observed rate"]
            uncertain = f"{letters.interval} {share} interval"
        entries += [uncertain] if has_band(_ends(self.curve)) else []
        return "   ".join([*entries, f"{letters.diagonal} perfectly calibrated"])

    def lines(self) -> Iterator[list[tuple[str, Tone]]]:
        """Yield the lines of the diagram, from its name of the upright axis down to that of the lower one."""
        limits, letters = self.limits, self.letters
        strip = "density" if isinstance(self.curve, SmoothCurve) else "rows"
        wanted = self._ticks(limits.y, most=_MOST_RATES)
        gutter = max(len(strip), *(len(number_text(value)) for value in wanted))
        columns = min(max(self.width - gutter - 3, _LEAST_WIDTH), _MOST_WIDTH)
        canvas = Canvas(columns, max(round(_ASPECT * columns), _LEAST_HEIGHT), letters)
        self._draw(canvas)
        beside = {canvas.row(self._height(value)): number_text(value) for value in wanted}
        yield [(f"{'':{gutter}} observed rate of label 1", Tone.FAINT)]
        for row, cells in enumerate(canvas.cells):
            axis = letters.tick if row in beside else letters.side
            yield [(f"{beside.get(row, ''):>{gutter}} {axis}", Tone.FAINT), *cells]
        yield from self._below(canvas, gutter)
        yield [(f"{strip:>{gutter}}  ", Tone.FAINT), *((one, Tone.PLAIN) for one in self._strip(columns))]
        name = "score (predicted probability)"
        yield [(f"{'':{gutter}}  {name.center(columns)}", Tone.FAINT)]

    def _below(self, canvas: Canvas, gutter: int) -> Iterator[list[tuple[str, Tone]]]:
        """Yield the lower axis with its numbers."""
        letters = self.letters
        values = self._ticks(self.limits.x, most=max(2, canvas.width // _COLUMNS_A_NUMBER))
        places = [canvas.column(float(self.limits.shares(np.array(value)))) for value in values]
        floor = "".join(letters.mark if i in places else letters.floor for i in range(canvas.width))
        yield [(f"{'':{gutter}} {letters.corner}{floor}", Tone.FAINT)]
        texts = [number_text(value) for value in values]
        yield [(f"{'':{gutter}}  {numbers_line(places, texts, width=canvas.width)}", Tone.FAINT)]

    def _ticks(self, ends: tuple[float, float], *, most: int) -> list[float]:
        if self.limits.scale is AxisScale.LOGIT:
            return [tick for tick in LOG_ODDS_TICKS if ends[0] <= tick <= ends[1]]
        return round_numbers(*ends, most=most)

    def _height(self, rate: float) -> float:
        return float(self._heights(np.array(rate)))

    def _heights(self, rates: Floats) -> Floats:
        """Return how far up rates stand; by log-odds both axes are the same."""
        if self.limits.scale is AxisScale.LOGIT:
            return self.limits.shares(rates)
        low, high = self.limits.y
        return np.asarray((rates - low) / (high - low))

    def _draw(self, canvas: Canvas) -> None:
        """Draw the band, the diagonal over it, and the curve over both."""
        curve = self.curve
        if isinstance(curve, SmoothCurve):
            self._draw_band(canvas, curve)
        self._draw_diagonal(canvas)
        if isinstance(curve, SmoothCurve):
            self._draw_curve(canvas, curve)
        else:
            ends = self._heights(curve.rate_lower), self._heights(curve.rate_upper)
            self._draw_points(canvas, (curve.score, curve.rate), ends)

    def _draw_diagonal(self, canvas: Canvas) -> None:
        across = (np.arange(canvas.width) + 0.5) / canvas.width
        low, high = self.limits.x
        scores = low + across * (high - low)
        up = across if self.limits.scale is AxisScale.LOGIT else self._heights(scores)
        for x, y in zip(across.tolist(), up.tolist(), strict=True):
            canvas.put((x, y), self.letters.diagonal, tone=Tone.FAINT)

    def _draw_band(self, canvas: Canvas, curve: SmoothCurve) -> None:
        """Fill the cells whose middle lies in the band at the middle of their column."""
        x, lower, upper = self.limits.shares(curve.x), self._heights(curve.lower), self._heights(curve.upper)
        columns = (np.arange(canvas.width) + 0.5) / canvas.width
        rows = 1.0 - (np.arange(canvas.height) + 0.5) / canvas.height
        for run in unbroken(curve.x):
            inner = np.flatnonzero((columns >= x[run[0]]) & (columns <= x[run[-1]]))
            if np.isnan(lower[run]).any():
                continue
            low, high = (np.interp(columns[inner], x[run], ends[run]) for ends in (lower, upper))
            inside = (rows[:, None] >= low) & (rows[:, None] <= high)
            for row, place in np.argwhere(inside).tolist():
                canvas.cells[row][inner[place]] = (self.letters.band, Tone.FAINT)

    def _draw_curve(self, canvas: Canvas, curve: SmoothCurve) -> None:
        """Draw each unbroken stretch, a single score as a point."""
        x, y = self.limits.shares(curve.x), self._heights(self.limits.held(curve.y))
        points = []
        for run in unbroken(curve.x):
            if _is_single(x[run]):
                points.append(int(run[np.argmax(curve.density[run])]))
            else:
                canvas.line(x[run], y[run])
        ends = self._heights(curve.lower[points]), self._heights(curve.upper[points])
        self._draw_points(canvas, (curve.x[points], curve.y[points]), ends)

    def _draw_points(self, canvas: Canvas, at: tuple[Floats, Floats], ends: tuple[Floats, Floats]) -> None:
        """Draw points over all their intervals."""
        x, y = self.limits.shares(at[0]), self._heights(self.limits.held(at[1]))
        for place, low, high in zip(x.tolist(), *(one.tolist() for one in ends), strict=True):
            canvas.upright(place, (low, high), self.letters.interval)
        for place, height in zip(x.tolist(), y.tolist(), strict=True):
            canvas.put((place, height), self.letters.rate)

    def _strip(self, columns: int) -> str:
        """Return how many rows there are along the scores, in as many steps as there are letters."""
        curve, limits = self.curve, self.limits
        middle = (np.arange(columns) + 0.5) / columns
        found = np.zeros(columns)
        if isinstance(curve, SmoothCurve):
            found = np.interp(middle, limits.shares(curve.at), curve.density, left=0.0, right=0.0)
        else:
            left, right = limits.shares(curve.lower), limits.shares(curve.upper)
            for low, high, score, rows in zip(
                left, right, limits.shares(curve.score), curve.rows, strict=True
            ):
                within = (middle >= low) & (middle <= high)
                if not within.any() and 0.0 <= score <= 1.0:
                    within[min(int(score * columns), columns - 1)] = True
                found[within] = np.maximum(found[within], rows)
        steps = len(self.letters.levels) - 1
        level = np.ceil(steps * found / max(float(found.max()), 1e-300) - 1e-9).astype(np.int64)
        return "".join(self.letters.levels[one] for one in level.tolist())


def _is_single(x: Floats) -> bool:
    """Whether a stretch is so short that it is a single score."""
    return bool(x[-1] - x[0] <= _SINGLE)


def _ends(curve: BinnedCurve | SmoothCurve) -> Floats:
    return curve.lower if isinstance(curve, SmoothCurve) else curve.rate_lower


def _shown(cells: list[tuple[str, Tone]], *, color: bool) -> str:
    """Return a line without trailing spaces, runs of one tone together."""
    while cells and not cells[-1][0].strip():
        cells = cells[:-1]
    if cells:
        cells = [*cells[:-1], (cells[-1][0].rstrip(), cells[-1][1])]
    runs = groupby(cells, key=lambda cell: cell[1])
    return "".join(styled("".join(one for one, _ in run), tone, color=color) for tone, run in runs) + "\n"
