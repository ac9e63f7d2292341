"""A drawing of letters: a grid of cells, in Unicode with two by four dots in each."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from calibcli.render.blocks import Tone

Floats = npt.NDArray[np.float64]

_BRAILLE = 0x2800
# The bit of each dot, by row from the top and by column.
_BITS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])


@dataclass(frozen=True, slots=True)
class Letters:
    """
    What things are drawn with.

    Args:
        curve: A piece of a curve, for the key; cells of a curve are dots where there are any.

        rate: The observed rate at a point.

        interval: Its interval.

        band: Uncertainty around a curve.

        diagonal: Perfect calibration.

        side: The left axis.

        tick: The left axis beside a number.

        corner: Where both axes meet.

        floor: The lower axis.

        mark: The lower axis over a number.

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
    """
    Cells that are drawn upon; what comes later lies above.

    Args:
        width: Cells beside each other.

        height: Cells above each other.

        letters: What to draw with.
    """

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
        """
        Draw straight pieces between points.

        Args:
            x: Shares of the width, shape (n,), at least one.

            y: Shares of the height.
        """
        wide, high = self.letters.dots
        across, up = x * (wide * self.width - 1), y * (high * self.height - 1)
        steps = np.maximum(np.abs(np.diff(across)), np.abs(np.diff(up)))
        length = np.append(0.0, np.cumsum(steps))
        at = np.append(np.arange(0.0, length[-1], 0.5), length[-1])
        column = np.rint(np.interp(at, length, across)).astype(np.int64)
        row = np.rint(np.interp(at, length, up)).astype(np.int64)
        inside = (column >= 0) & (column < wide * self.width) & (row >= 0) & (row < high * self.height)
        self._dot(column[inside], high * self.height - 1 - row[inside])

    def _dot(self, column: npt.NDArray[np.int64], row: npt.NDArray[np.int64]) -> None:
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
