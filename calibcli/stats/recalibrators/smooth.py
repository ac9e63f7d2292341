"""Kernel regression of the label on the score, at the bandwidth that smECE finds."""

import math
from typing import Annotated, ClassVar, Self

import numpy as np

from calibcli.codec import Between, Node, Size
from calibcli.names import Purpose, RecalibratorName
from calibcli.options.fitting import DEFAULT_FIT, FitOptions
from calibcli.stats.recalibrators import Recalibrator, checked_scores, require_both_labels
from calibcli.stats.table import Arrays, Floats, Integers
from calibcli.stats.table.again import Rows
from calibcli.stats.table.grid import Table
from calibcli.stats.table.kernel import cosine_series, fixpoint, residual_series
from calibcli.values import dataclass

# The generator gives its words four at a time; a row takes two of them.
_ROWS_IN_A_BLOCK = 2


def normal_noise(seed: int, places: Integers) -> Floats:
    """Return a standard normal number for each row, the same however rows are cut into batches.

    Rows at the same place of different files share theirs, as they do where files are treated one by one.

    References:
        Salmon, Moraes, Dror & Shaw (2011), SC11, for the counter-based generator Philox. Box & Muller (1958)
        for the transform.
    """
    if not places.size:
        return np.zeros(0)
    block = int(places[0]) // _ROWS_IN_A_BLOCK
    first = block * _ROWS_IN_A_BLOCK
    key = np.random.SeedSequence(seed, spawn_key=(int(Purpose.NOISE),)).generate_state(2, np.uint64)
    words = np.random.Philox(key=key, counter=block).random_raw(2 * (int(places[-1]) - first + 1))
    chosen = (places - first) * 2
    # The complement is above 0, as the logarithm needs.
    radius = np.sqrt(-2.0 * np.log(1.0 - _fraction(words[chosen])))
    return np.asarray(radius * np.cos(2.0 * np.pi * _fraction(words[chosen + 1])))


def _fraction(words: np.ndarray[tuple[int], np.dtype[np.uint64]]) -> Floats:
    """Return the upper 53 bits of each word as a number in [0, 1)."""
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


# Narrower kernels would take more places than an artifact should hold.
LEAST_BANDWIDTH = 2.0**-11

_FEWEST_INTERVALS = 1_024

_MOST_INTERVALS = 1 << 15

# Places per coefficient of the cosine series: at least 8 in a bandwidth.
_OVERSAMPLING = 3

_REACH = 2.8

# Where a smoothed mass times the bandwidth is below this, what is left of it may be rounding.
_NOTHING = 1e-11

# Decimals of the curve; the transform is good to about ten.
_DIGITS = 9


@dataclass(frozen=True, slots=True, eq=False)
class Smooth(Recalibrator, Arrays):
    """The mean label of the fit rows, each weighing what a reflected Gaussian around it gives to the score.

    Randomised, a score is first moved by a draw from that kernel, and the curve is read where it lands. The
    curve is the mean label of the rows that land there, so the output is perfectly calibrated in the
    population of the fit rows, but for what the curve misses of the population's. Its mean distance from the
    score is at most 1 + 2 sqrt(2/pi) = 2.6 times the bandwidth: that is smECE, unless smECE is below 1/2,048.

    References:
        Nadaraya (1964), Watson (1964). Blasiok & Nakkiran (2023), "Smooth ECE: Principled Reliability
        Diagrams via Kernel Smoothing", Theorem 20 for the randomised output.
    """

    name: ClassVar = RecalibratorName.SMOOTH
    bandwidth: Annotated[
        float,
        Between(LEAST_BANDWIDTH, 1.0),
        "Standard deviation of the kernel: smECE of the fit rows, or 1/2,048 where it is less.",
    ]
    values: Annotated[
        Floats,
        Between(0.0, 1.0),
        Size(_FEWEST_INTERVALS + 1, _MOST_INTERVALS + 1),
        "The curve at even steps from 0 to 1; linear in between.",
    ]
    randomised: Annotated[bool, "Whether scores are moved by a draw from the kernel."]
    seed: Annotated[int, "Of these draws."]

    @classmethod
    def fit(cls, table: Table, *, options: FitOptions = DEFAULT_FIT, rows: Rows | None = None) -> Self:  # noqa: ARG003
        """Smooth labels and rows by the same kernel, and divide.

        Where the kernel sees no rows the curve is drawn straight between the nearest places where it does,
        and level beyond the outermost of them.
        """
        require_both_labels(table)
        bandwidth = max(fixpoint(residual_series(table)), LEAST_BANDWIDTH)
        return cls(bandwidth, _curve(table, bandwidth), options.randomised, options.seed)

    def check(self, node: Node) -> None:
        """Refuse steps that are no power of two, which keeps a score's place among them exact."""
        if (intervals := self.values.size - 1) & (intervals - 1):
            msg = f"has {intervals + 1} elements, should have one more than a power of two from 1024 to 32768"
            raise node.child("values").problem(msg)

    def predict(self, scores: Floats) -> Floats:
        """Return the curve at each score, where no score is moved."""
        return self._at(checked_scores(scores))

    def predict_at(self, scores: Floats, places: Integers) -> Floats:
        """Return the curve where each score lands, which is where it is unless noise is added."""
        scores = checked_scores(scores)
        return self._at(self.moved(scores, places) if self.randomised else scores)

    @property
    def drawn(self) -> bool:
        return self.randomised

    def moved(self, scores: Floats, places: Integers) -> Floats:
        """Return each score plus its row's noise, reflected at 0 and 1."""
        beyond = np.abs(scores + self.bandwidth * normal_noise(self.seed, places)) % 2.0
        return np.asarray(np.minimum(beyond, 2.0 - beyond))

    def _at(self, scores: Floats) -> Floats:
        """Interpolate; steps are a power of two, so that a score's place among them is exact."""
        place = scores * (self.values.size - 1)
        left = np.minimum(place.astype(np.intp), self.values.size - 2)
        low, high = self.values[left], self.values[left + 1]
        return np.asarray(np.clip(low + (place - left) * (high - low), 0.0, 1.0))

    @property
    def increasing(self) -> bool:
        """Whether a higher score never gets a lower probability; never where scores are moved at random."""
        return not self.randomised and bool(np.all(self.values[1:] >= self.values[:-1]))

    @property
    def notes(self) -> tuple[str, ...]:
        found = []
        if self.randomised:
            found.append(
                "Outputs are randomised: equal scores get different probabilities, "
                f"by the place of their row in its file (seed {self.seed})."
            )
        elif not self.increasing:
            found.append("The map is not increasing: some higher scores get a lower probability.")
        if self.bandwidth == LEAST_BANDWIDTH:
            found.append("smECE of the fit rows is below 1/2,048; that was taken as the bandwidth.")
        return tuple(found)


def _curve(table: Table, bandwidth: float) -> Floats:
    """Return the ratio of the smoothed labels and the smoothed rows at even steps."""
    masses = np.stack((table.weight, table.positive)) / table.weight.sum()
    coefficients = int(_REACH / bandwidth) + 2
    oversampling = max(_OVERSAMPLING, math.ceil(_FEWEST_INTERVALS / coefficients))
    weight, positive = cosine_series(table.score, masses).smoothed(bandwidth, oversampling=oversampling)
    seen = np.flatnonzero(weight * bandwidth > _NOTHING)
    # What the transform adds in rounding is no rise and no fall.
    rate = np.round(np.clip(positive[seen] / weight[seen], 0.0, 1.0), _DIGITS)
    return np.asarray(np.interp(np.arange(weight.size), seen, rate))
