"""Everything a fit can be asked for; each method reads its own part."""

from dataclasses import dataclass
from typing import assert_never

from calibcli.errors import UsageProblem
from calibcli.names import DEFAULT_FIT_BINS, DEFAULT_SEED, Binning, FitLoss, RecalibratorName, Split

MOST_FIT_BINS = 100_000


@dataclass(frozen=True, slots=True)
class FitOptions:
    """
    Options of every method.

    Args:
        bins: Most bins of histogram and scaling-binning.

        binning: How histogram cuts them: equal mass or equal width. Scaling-binning is equal mass.

        loss: What platt, and the base of scaling-binning, minimise.

        smooth_targets: Whether they always aim at Platt's smoothed targets.

        step: Whether isotonic is a step function.

        split: Which rows the three steps of scaling-binning see.

        base: The map that scaling-binning bins.

        seed: Seed of the three-way split.

    Raises:
        UsageProblem: If one of them is impossible.
    """

    bins: int = DEFAULT_FIT_BINS
    binning: Binning = Binning.EQUAL_MASS
    loss: FitLoss = FitLoss.LOG
    smooth_targets: bool = False
    step: bool = False
    split: Split = Split.NONE
    base: RecalibratorName = RecalibratorName.PLATT
    seed: int = DEFAULT_SEED

    def __post_init__(self) -> None:
        if not 1 <= self.bins <= MOST_FIT_BINS:
            msg = f"{self.bins:,} bins asked for"
            raise UsageProblem(msg, f"--bins takes a number from 1 to {MOST_FIT_BINS:,}")
        if self.binning is Binning.ATOMS:
            msg = "a fit cannot bin each distinct score by itself"
            raise UsageProblem(msg, "use --binning equal-mass or equal-width")
        if self.base is not RecalibratorName.PLATT:
            msg = f"scaling-binning cannot be based on {self.base.value}"
            raise UsageProblem(msg, "use --base platt")

    def used_by(self, method: RecalibratorName) -> dict[str, object]:
        """Return the options that the method reads, in plain values."""
        smooth: dict[str, object] = {"loss": self.loss.value, "smooth_targets": self.smooth_targets}
        match method:
            case RecalibratorName.PLATT:
                return smooth
            case RecalibratorName.ISOTONIC:
                return {"step": self.step}
            case RecalibratorName.HISTOGRAM:
                return {"bins": self.bins, "binning": self.binning.value}
            case RecalibratorName.SCALING_BINNING:
                own = {"bins": self.bins, "split": self.split.value, "base": self.base.value}
                return {**smooth, **own, "seed": self.seed}
            case _:
                assert_never(method)
