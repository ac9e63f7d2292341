"""Everything a fit can be asked for; each method reads its own part."""

from dataclasses import dataclass
from typing import get_args

from calibcli.errors import UsageProblem
from calibcli.families import Logistic
from calibcli.names import DEFAULT_FIT_BINS, DEFAULT_SEED, BetaForm, Binning, FitLoss, RecalibratorName, Split

MOST_FIT_BINS = 100_000
MOST_FOLDS = 100
# What scaling-binning may bin: maps that form a continuum.
BASES = (
    RecalibratorName.PLATT,
    RecalibratorName.INTERCEPT,
    RecalibratorName.TEMPERATURE,
    RecalibratorName.BETA,
    RecalibratorName.QUADRATIC,
    RecalibratorName.SPLINE,
    RecalibratorName.ISOTONIC,
    RecalibratorName.CENTRED_ISOTONIC,
    RecalibratorName.SMOOTH,
)


@dataclass(frozen=True, slots=True)
class FitOptions:
    """
    Options of every method.

    Args:
        bins: Most bins of histogram and scaling-binning.

        binning: How histogram cuts them: equal mass or equal width. Scaling-binning is equal mass.

        loss: What the logistic methods (intercept, temperature, platt, beta, quadratic, spline) minimise.

        smooth_targets: Whether they always aim at Platt's smoothed targets.

        form: Which parameters of beta calibration are free.

        step: Whether isotonic is a step function.

        split: Which rows the three steps of scaling-binning see.

        base: The map that scaling-binning bins.

        folds: Folds of cross Venn-Abers, or None for the inductive one.

        randomised: Whether smooth adds the kernel's noise to a score before it is looked up.

        seed: Seed of everything that is drawn.

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
    form: BetaForm = BetaForm.ABM
    folds: int | None = None
    randomised: bool = False
    seed: int = DEFAULT_SEED

    def __post_init__(self) -> None:
        if not 1 <= self.bins <= MOST_FIT_BINS:
            msg = f"{self.bins:,} bins asked for"
            raise UsageProblem(msg, f"--bins takes a number from 1 to {MOST_FIT_BINS:,}")
        if self.binning is Binning.ATOMS:
            msg = "a fit cannot bin each distinct score by itself"
            raise UsageProblem(msg, "use --binning equal-mass or equal-width")
        if self.base not in BASES:
            msg = f"scaling-binning cannot be based on {self.base.value}"
            raise UsageProblem(msg, f"--base is one of {', '.join(BASES)}")
        if self.folds is not None and not 2 <= self.folds <= MOST_FOLDS:
            msg = f"{self.folds:,} folds asked for"
            raise UsageProblem(msg, f"--folds takes a number from 2 to {MOST_FOLDS}")

    def used_by(self, method: RecalibratorName) -> dict[str, object]:
        """Return the options that the method reads, in plain values."""
        own: dict[str, object] = {}
        if method in get_args(Logistic):
            own |= {"loss": self.loss.value, "smooth_targets": self.smooth_targets}
        elif self.loss is not FitLoss.LOG:
            # The losses in the record are of this kind, also where the fit minimised none.
            own |= {"loss": self.loss.value}
        if method is RecalibratorName.BETA:
            own |= {"form": self.form.value}
        if method is RecalibratorName.ISOTONIC:
            own |= {"step": self.step}
        if method is RecalibratorName.HISTOGRAM:
            own |= {"bins": self.bins, "binning": self.binning.value}
        if method is RecalibratorName.SCALING_BINNING:
            own |= self.used_by(self.base)
            own |= {"bins": self.bins, "split": self.split.value, "base": self.base.value, "seed": self.seed}
        if method is RecalibratorName.VENN_ABERS:
            own |= {"folds": self.folds, "seed": self.seed}
        if method is RecalibratorName.SMOOTH:
            own |= {"randomised": self.randomised, "seed": self.seed}
        return own
