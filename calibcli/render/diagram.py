"""One line of the text reliability diagram."""

import math
from dataclasses import dataclass

from calibcli.render.blocks import Bar

LEAST_WIDTH = 13
WIDTH = 41


@dataclass(frozen=True, slots=True)
class Marks:
    """
    The letters a bar is drawn with.

    Args:
        rate: The observed rate.

        interval: Its interval.

        score: The mean score.

        both: Rate and mean score in one place.
    """

    rate: str
    interval: str
    score: str
    both: str

    @property
    def legend(self) -> str:
        """What the letters mean."""
        return (
            f"{self.rate} observed rate  {self.interval} its interval  {self.score} mean score  "
            f"{self.both} rate and score in one place"
        )


UNICODE = Marks("●", "─", "│", "◉")
ASCII = Marks("o", "-", "|", "@")


def drawn(bar: Bar, *, width: int, marks: Marks) -> str:
    """Return the bar of a bin, `width` letters from 0 to 1, without trailing spaces."""
    letters = [" "] * width
    if not (math.isnan(bar.lower) or math.isnan(bar.upper)):
        for place in range(_place(bar.lower, width), _place(bar.upper, width) + 1):
            letters[place] = marks.interval
    score, rate = _place(bar.score, width), _place(bar.rate, width)
    letters[score] = marks.score
    letters[rate] = marks.both if rate == score else marks.rate
    return "".join(letters).rstrip()


def axis(width: int) -> str:
    """Return the heading of the bars: 0, a half and 1 over their places."""
    left = (width - 1) // 2 - 1
    return "0" + "0.5".center(3).rjust(left + 2) + "1".rjust(width - left - 3)


def _place(value: float, width: int) -> int:
    return round(min(max(value, 0.0), 1.0) * (width - 1))
