"""A reliability diagram in letters, as wide as a terminal."""

import math
from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np

from calibcli.names import AxisScale, PlotKind
from calibcli.options.numerals import percent
from calibcli.show.blocks import Line, Paragraph, Screen, Tone
from calibcli.show.terminal import TerminalRenderer, styled
from calibcli.show.words import number_text
from calibcli.stats.curves.limits import (
    Limits,
    band_sentence,
    beyond_sentences,
    binned_extent,
    has_band,
    limits_for,
    numbers_by_log_odds,
    smooth_extent,
    unbroken,
)
from calibcli.stats.curves.reliability import BinnedCurve, ReliabilityCurve, SmoothCurve
from calibcli.stats.numerics import Floats, Integers
from calibcli.values import dataclass, field

_BRAILLE = 0x2800

# The bit of each dot, by row from the top and by column.
_BITS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])


@dataclass(frozen=True, slots=True)
class Letters:
    """What things are drawn with.

    Args:
        curve: A piece of a curve, for the key; cells of a curve are dots where there are any.
        levels: How much there is in a column, the first for nothing at all.
        dots: Dots of a cell beside and above each other.
    """

    curve: str
    rate: str
    interval: str
    band: str
    diagonal: str
    side: str
    tick: str
    corner: str
    floor: str
    mark: str
    levels: str
    dots: tuple[int, int]


UNICODE = Letters("⠒⠒", "●", "│", "░", "·", "│", "┤", "└", "─", "┬", " ▁▂▃▄▅▆▇█", (2, 4))

ASCII = Letters("**", "o", "|", ".", "/", "|", "+", "+", "-", "+", " .:-=+*#@", (1, 1))


@dataclass(slots=True)
class Canvas:
    """Cells that are drawn upon; what comes later lies above."""

    width: int
    height: int
    letters: Letters
    cells: list[list[tuple[str, Tone]]] = field(init=False)

    def __post_init__(self) -> None:
        self.cells = [[(" ", Tone.PLAIN)] * self.width for _ in range(self.height)]

    def column(self, share: float) -> int:
        """Return the cell at a share of the width, the left end 0 and the right end 1."""
        return _place(share, self.width)

    def row(self, share: float) -> int:
        """Return the cell at a share of the height, counted from the top; the lower end is 0."""
        return self.height - 1 - _place(share, self.height)

    def put(self, share: tuple[float, float], letter: str, *, tone: Tone = Tone.PLAIN) -> None:
        """Put a letter at a place; what lies outside is not drawn."""
        if all(0.0 <= one <= 1.0 for one in share):
            self.cells[self.row(share[1])][self.column(share[0])] = (letter, tone)

    def upright(self, x: float, ends: tuple[float, float], letter: str) -> None:
        """Draw an upright line, as much of it as there is room for."""
        low, high = max(ends[0], 0.0), min(ends[1], 1.0)
        if not (0.0 <= x <= 1.0 and low <= high):
            return
        for row in range(self.row(high), self.row(low) + 1):
            self.cells[row][self.column(x)] = (letter, Tone.PLAIN)

    def line(self, x: Floats, y: Floats) -> None:
        """Draw straight pieces between points."""
        wide, high = self.letters.dots
        across, up = x * (wide * self.width - 1), y * (high * self.height - 1)
        steps = np.maximum(np.abs(np.diff(across)), np.abs(np.diff(up)))
        length = np.append(0.0, np.cumsum(steps))
        at = np.append(np.arange(0.0, length[-1], 0.5), length[-1])
        column = np.rint(np.interp(at, length, across)).astype(np.int64)
        row = np.rint(np.interp(at, length, up)).astype(np.int64)
        inside = (column >= 0) & (column < wide * self.width) & (row >= 0) & (row < high * self.height)
        self._dot(column[inside], high * self.height - 1 - row[inside])

    def _dot(self, column: Integers, row: Integers) -> None:
        """Set dots, counted from the upper left."""
        wide, high = self.letters.dots
        if (wide, high) == (1, 1):
            for i, j in zip(row.tolist(), column.tolist(), strict=True):
                self.cells[i][j] = (self.letters.curve[0], Tone.PLAIN)
            return
        bits = np.zeros((self.height, self.width), np.int64)
        np.bitwise_or.at(bits, (row // high, column // wide), _BITS[row % high, column % wide])
        for i, j in np.argwhere(bits).tolist():
            letter = self.cells[i][j][0]
            before = ord(letter) - _BRAILLE if _BRAILLE <= ord(letter) < _BRAILLE + 256 else 0
            self.cells[i][j] = (chr(_BRAILLE + (before | int(bits[i, j]))), Tone.PLAIN)


def _place(share: float, size: int) -> int:
    return min(max(int(share * size), 0), size - 1)


_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


def round_numbers(low: float, high: float, *, most: int) -> list[float]:
    least = (high - low) / most
    power = 10.0 ** math.floor(math.log10(least))
    for size in (power * step for step in (*_STEPS, 20.0)):
        first = math.ceil(low / size - 1e-9)
        last = math.floor(high / size + 1e-9)
        if size >= least * (1.0 - 1e-9) and last - first < most:
            return [number * size for number in range(first, last + 1)]
    return [low, high]


def numbers_line(places: Sequence[int], texts: Sequence[str], *, width: int) -> str:
    """Return numbers centred under their places, without those that have no room."""
    line = ""
    for place, text in zip(places, texts, strict=True):
        start = min(max(place - len(text) // 2, 0), width - len(text))
        if start >= len(line) + (2 if line else 0):
            line = line.ljust(start) + text
    return line


_LEAST_WIDTH, _MOST_WIDTH = 20, 96

# A cell is about twice as high as it is wide: this makes the diagram as good as square.
_ASPECT, _LEAST_HEIGHT = 0.4, 10

_COLUMNS_A_NUMBER, _MOST_RATES = 11, 8

# Share of the width.
_SINGLE = 0.012


@dataclass(frozen=True, slots=True)
class Said:
    """The text around a diagram; its caption begins with what is shown, with the interval. What label 1 is
    called is empty where it is called so.
    """

    title: str
    caption: Sequence[str] = ()
    foot: Sequence[str] = ()
    event: str = ""


def reliability_text(
    curve: ReliabilityCurve,
    said: Said,
    *,
    width: int,
    color: bool = False,
    unicode: bool = True,
    scale: AxisScale = AxisScale.LINEAR,
) -> str:
    letters = UNICODE if unicode else ASCII
    smooth = curve.along(scale).smooth if curve.kind is PlotKind.SMOOTH else None
    limits = limits_for([binned_extent(curve.binned) if smooth is None else smooth_extent(smooth)], scale)
    drawing = _Drawing(curve.binned if smooth is None else smooth, limits, letters, width, said.event)
    text = TerminalRenderer(Screen(width, color, unicode))
    head = [Line(said.title, Tone.TITLE), *map(Line, said.caption)]
    foot = [drawing.key(curve.confidence), *drawing.notes, *said.foot]
    small = tuple(Line(line, Tone.FAINT) for line in foot if line)
    lines = [_shown(cells, color=color) for cells in drawing.lines()]
    parts = (Paragraph(tuple(head)), Paragraph(small))
    return f"{text.text(parts[:1])}\n{''.join(lines)}\n{text.text(parts[1:])}"


@dataclass(frozen=True, slots=True)
class _Drawing:
    """A curve on axes of letters."""

    curve: BinnedCurve | SmoothCurve
    limits: Limits
    letters: Letters
    width: int
    event: str

    @property
    def notes(self) -> list[str]:
        called, beyond = "The interval", list[str]()
        if isinstance(self.curve, SmoothCurve):
            called, beyond = "The band", beyond_sentences([self.curve])
        told = band_sentence(self.curve.band, _ends(self.curve), called=called)
        return [told, *beyond, self.limits.sentence]

    def key(self, confidence: float) -> str:
        letters, share = self.letters, percent(confidence)
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
        yield [(f"{'':{gutter}} observed rate of {self.event or 'label 1'}", Tone.FAINT)]
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
            return numbers_by_log_odds(ends)
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
            least, most = limits.shares(np.array([curve.least, curve.most]))
            found[(middle < least - 1.0 / columns) | (middle > most + 1.0 / columns)] = 0.0
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
