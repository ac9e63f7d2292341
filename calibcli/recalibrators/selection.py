"""The choice among recalibrators by cross-validation: the simplest within one standard error of the best."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from calibcli.documents import Node
from calibcli.errors import InputProblem
from calibcli.names import FitLoss, RecalibratorName
from calibcli.recalibrators.options import MOST_FOLDS
from calibcli.table.score_table import Floats

# What the scores as they are stand under in the table of candidates; chosen, they are the identity.
RAW = "raw"
NOTHING_CHANGED = "the raw score is as good as any repair; nothing was changed"
RULE = "one standard error"
# From simple to complex: fewer free parameters first, then smoother before rougher.
FROM_SIMPLE_TO_COMPLEX = (
    RecalibratorName.INTERCEPT,
    RecalibratorName.TEMPERATURE,
    RecalibratorName.PLATT,
    RecalibratorName.BETA,
    RecalibratorName.QUADRATIC,
    RecalibratorName.SPLINE,
    RecalibratorName.SCALING_BINNING,
    RecalibratorName.HISTOGRAM,
    RecalibratorName.SMOOTH,
    RecalibratorName.CENTRED_ISOTONIC,
    RecalibratorName.ISOTONIC,
    RecalibratorName.VENN_ABERS,
)
# What is tried unless the user names candidates: not the methods whose few outputs serve another purpose.
DEFAULT_CANDIDATES = tuple(
    name
    for name in FROM_SIMPLE_TO_COMPLEX
    if name not in (RecalibratorName.SCALING_BINNING, RecalibratorName.HISTOGRAM)
)
# What costs one or two parameters is worth them sooner: half a standard error speaks against the raw scores.
_CHEAP, _HALF = FROM_SIMPLE_TO_COMPLEX[:3], 0.5
_KEYS = ("loss", "folds", "grouped_by", "seed", "rule", "results")
# Of a difference of losses, relative to them where they are above 1.
_ROUNDING = 1e-9
_RESULT_KEYS = ("method", "loss", "difference", "standard_error", "chosen", "reason")


@dataclass(frozen=True, slots=True)
class Trial:
    """
    What cross-validation found of one method.

    Args:
        method: The method, or "raw" for the scores as they are.

        loss: Mean loss of rows that the fit had not seen; may be inf; None where the method cannot be
            fitted.

        difference: The loss less that of the best method.

        standard_error: Of the difference, over folds; None where a loss is infinite.

        chosen: Whether this is the method that was chosen.

        reason: Why there is no loss, or None.
    """

    method: str
    loss: float | None
    difference: float | None
    standard_error: float | None
    chosen: bool
    reason: str | None = None

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {
            "method": self.method,
            "loss": _plain(self.loss),
            "difference": _plain(self.difference),
            "standard_error": self.standard_error,
            "chosen": self.chosen,
            "reason": self.reason,
        }

    @classmethod
    def from_dict(cls, node: Node) -> Self:
        """Restore what `to_dict` returned."""
        node.only(*_RESULT_KEYS)
        method = node.child("method")
        if method.value != RAW:
            method.choice(RecalibratorName)
        loss, difference = node.optional("loss"), node.optional("difference")
        error, reason = node.optional("standard_error"), node.optional("reason")
        trial = cls(
            method=method.text(),
            loss=None if loss is None else loss.number_or_infinity(),
            difference=None if difference is None else difference.number_or_infinity(),
            standard_error=None if error is None else error.number(0.0),
            chosen=node.child("chosen").truth(),
            reason=None if reason is None else reason.text(),
        )
        if not trial._agrees():
            msg = "should have a loss, a difference and, where these are finite, its error; or a reason alone"
            raise node.problem(msg)
        return trial

    def _agrees(self) -> bool:
        """Whether members are there, and finite, that belong together."""
        if self.loss is None or self.difference is None:
            return self.loss is self.difference is self.standard_error is None is not self.reason
        finite = math.isfinite(self.loss)
        there = finite is math.isfinite(self.difference) is (self.standard_error is not None)
        return there and self.loss >= 0.0 and self.reason is None


@dataclass(frozen=True, slots=True)
class Selection:
    """
    How a method was chosen.

    Args:
        loss: What was compared.

        folds: Folds that held rows.

        grouped_by: The column whose equal values stayed in one fold, or None where rows were drawn.

        seed: Seed of the folds.

        trials: The scores as they are, then every method from simple to complex.
    """

    loss: FitLoss
    folds: int
    grouped_by: str | None
    seed: int
    trials: tuple[Trial, ...]

    @property
    def chosen(self) -> RecalibratorName:
        """The method that was chosen; the identity where that is the scores as they are."""
        name = next(trial.method for trial in self.trials if trial.chosen)
        return RecalibratorName.IDENTITY if name == RAW else RecalibratorName(name)

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {
            "loss": self.loss.value,
            "folds": self.folds,
            "grouped_by": self.grouped_by,
            "seed": self.seed,
            "rule": RULE,
            "results": [trial.to_dict() for trial in self.trials],
        }

    @classmethod
    def from_dict(cls, node: Node) -> Self:
        """
        Restore what `to_dict` returned.

        Raises:
            DocumentProblem: If no choice can have written this, with the place.
        """
        node.only(*_KEYS)
        node.child("rule").expect(RULE)
        grouped_by = node.optional("grouped_by")
        results = node.child("results")
        trials = tuple(Trial.from_dict(item) for item in results.items())
        _require_rule(trials, results)
        return cls(
            loss=node.child("loss").choice(FitLoss),
            folds=node.child("folds").whole(2, MOST_FOLDS),
            grouped_by=None if grouped_by is None else grouped_by.text(),
            seed=node.child("seed").whole(),
            trials=trials,
        )


@dataclass(frozen=True, slots=True, eq=False)
class FoldLosses:
    """
    Mean losses of the folds of a cross-validation.

    Args:
        weight: Weight of the rows of each fold, shape (n_folds,).

        raw: Loss of the scores as they are, shape (n_folds,).

        of: For each method its losses, shape (n_folds,), or the reason why it has none.
    """

    weight: Floats
    raw: Floats
    of: Mapping[RecalibratorName, Floats | str]

    @property
    def fitted(self) -> dict[RecalibratorName, Floats]:
        """The losses of the methods that have some, from simple to complex."""
        found = {name: self.of[name] for name in FROM_SIMPLE_TO_COMPLEX if name in self.of}
        return {name: losses for name, losses in found.items() if not isinstance(losses, str)}

    def mean(self, losses: Floats) -> float:
        """Return the mean over rows."""
        return float(losses @ self.weight / self.weight.sum())

    def beats_raw(self, losses: Floats) -> bool:
        """Whether losses are smaller than those of the raw scores by more than half a standard error."""
        more, error = self.difference(self.raw, losses)
        return bool(np.isfinite(losses).all()) and more > _HALF * (error or 0.0)

    def difference(self, losses: Floats, best: Floats) -> tuple[float, float | None]:
        """
        Return how much larger a loss is than another over rows, and its standard error over folds.

        The error is that of the K differences, weighted by rows, over the root of K: what makes a fold hard
        for both methods alike cancels.
        """
        if not (np.isfinite(losses).all() and np.isfinite(best).all()):
            return math.inf, None
        share = self.weight / self.weight.sum()
        apart = losses - best
        difference = float(share @ apart)
        variance = float(share @ (apart - difference) ** 2)
        # K / (K - 1) makes the variance unbiased for folds of one size; over the root of K the K cancels.
        return difference, math.sqrt(variance / (share.size - 1))


def choose(found: FoldLosses, *, unchanged: bool = True) -> tuple[Trial, ...]:
    """
    Choose a method by the rule of one standard error.

    The best method has the smallest mean loss. Chosen is the simplest whose loss exceeds the best one's by at
    most one standard error of the difference, and the simplest of all is to change nothing, unless a method
    of one or two parameters beats that by more than half a standard error. The difference is paired, fold by
    fold: the standard error of a loss by itself is mostly the noise of labels, which all methods share, so
    that a rule by it would choose the simplest method almost always.

    Args:
        found: The losses.

        unchanged: Whether the scores as they are may be chosen; else they stand beside the methods.

    Raises:
        InputProblem: If no method can be fitted, or none that may be chosen has a finite loss.

    References:
        Breiman, Friedman, Olshen & Stone (1984), Classification and Regression Trees, 3.4.3 (unpaired).
    """
    fitted = found.fitted
    unchanged = unchanged and not any(found.beats_raw(fitted[name]) for name in _CHEAP if name in fitted)
    eligible: dict[str, Floats] = {RAW: found.raw} if unchanged else {}
    eligible |= {name.value: losses for name, losses in fitted.items()}
    means = {name: found.mean(losses) for name, losses in eligible.items()}
    _require_finite(means, fitted=bool(fitted), of=found.of)
    best = eligible[min(means, key=lambda name: means[name])]
    apart = {name: found.difference(losses, best) for name, losses in eligible.items()}
    chosen = next(name for name, (more, error) in apart.items() if error is not None and more <= error)
    raw = found.difference(found.raw, best)
    trials = [Trial(RAW, found.mean(found.raw), *raw, chosen=chosen == RAW)]
    for name in FROM_SIMPLE_TO_COMPLEX:
        if name in fitted:
            trials.append(Trial(name.value, means[name], *apart[name], chosen=name == chosen))
        elif name in found.of:
            trials.append(Trial(name.value, None, None, None, chosen=False, reason=str(found.of[name])))
    return tuple(trials)


def _require_rule(trials: Sequence[Trial], results: Node) -> None:
    """Refuse trials among which `choose` would not have chosen so, raw scores eligible or, as once, not."""
    names = [trial.method for trial in trials]
    if names != [RAW, *(name for name in FROM_SIMPLE_TO_COMPLEX if name in names)] or trials[0].loss is None:
        msg = "should hold the loss of the raw scores, then methods from simple to complex, each once"
        raise results.problem(msg)
    eligible = trials if trials[0].chosen else trials[1:]
    best = min((trial.loss for trial in eligible if trial.loss is not None), default=math.inf)
    within = []
    for trial, node in zip(trials, results.items(), strict=True):
        if trial.loss is None or trial.difference is None or trial.standard_error is None:
            continue
        if abs(trial.loss - best - trial.difference) > _ROUNDING * max(1.0, trial.loss):
            msg = f"is not the loss less {best!r}, that of the best method"
            raise node.child("difference").problem(msg)
        if trial in eligible and trial.difference <= trial.standard_error:
            within.append(trial.method)
    if not within or [trial.method for trial in trials if trial.chosen] != within[:1]:
        msg = "should have chosen one method, the simplest within one standard error of the best"
        raise results.problem(msg)


def _require_finite(
    means: Mapping[str, float], *, fitted: bool, of: Mapping[RecalibratorName, object]
) -> None:
    if of and not fitted:
        name, reason = next(iter(of.items()))
        msg = f"no candidate can be fitted; {name.value}: {reason}"
        raise InputProblem(msg, "more rows, fewer folds (--folds) or another --candidate may help")
    if not any(math.isfinite(mean) for mean in means.values()):
        msg = "no candidate has a finite loss: each gives 0 or 1 to rows where that is wrong"
        raise InputProblem(msg, "compare by --loss brier, or add --candidate platt")


def _plain(value: float | None) -> float | str | None:
    """Return a number as JSON can hold it, which has no infinity."""
    return "inf" if value == math.inf else value
