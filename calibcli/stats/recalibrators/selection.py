"""The choice among recalibrators by cross-validation: the simplest within one standard error of the best."""

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import numpy as np

from calibcli.codec import Between, Declared, Key, Node, OrInfinite, Size
from calibcli.errors import InputProblem
from calibcli.names import FitLoss, RecalibratorName
from calibcli.options.fitting import MOST_FOLDS
from calibcli.stats.table import Floats
from calibcli.stats.table.grid import Table
from calibcli.values import dataclass

# What the scores as they are stand under in the table of candidates; chosen, they are the identity.
RAW = "raw"
NOTHING_CHANGED = "the raw score is as good as any repair; nothing was changed"
RULE: Literal["one standard error"] = "one standard error"
# From simple to complex: fewer free parameters first, then smoother before rougher.
FROM_SIMPLE_TO_COMPLEX = tuple(
    name for name in sorted(RecalibratorName, key=lambda name: name.facts.complexity) if name.facts.complexity
)
# What is tried unless the user names candidates: not the methods whose few outputs serve another purpose.
DEFAULT_CANDIDATES = tuple(name for name in FROM_SIMPLE_TO_COMPLEX if name.facts.candidate)
# What is as simple as Platt's line is worth it sooner: half a standard error speaks against the raw scores.
CHEAP = FROM_SIMPLE_TO_COMPLEX[: 1 + FROM_SIMPLE_TO_COMPLEX.index(RecalibratorName.PLATT)]
_HALF = 0.5
# Rows of the rarer label for each coefficient of a map that has several, as is usual for logistic models.
_PER_COEFFICIENT = 10
# Of a difference of losses, relative to them where they are above 1, and of what weights come to.
_ROUNDING = 1e-9


def too_few_for(name: RecalibratorName, tables: Sequence[Table]) -> str | None:
    """Return why rows are too few for a map that nobody named, or None.

    A map of several coefficients fitted to a handful of rows of the rarer label may be sure of what hardly
    any row shows, and the few that are left out do not tell. One coefficient is always found. Rows of one
    label with importance weights are worth (sum w)^2 / sum w^2 rows.

    References:
        Peduzzi et al. (1996), J. Clin. Epidemiol. 49, for ten rows a coefficient.
    """
    coefficients = name.facts.coefficients
    least = _PER_COEFFICIENT * coefficients if coefficients > 1 else 0
    # Label by label before they are added up: large weights of one would leave nothing of the other's.
    columns = [
        (one.positive, one.positive_sq, one.weight - one.positive, one.weight_sq - one.positive_sq)
        for one in tables
    ]
    ones, ones_sq, zeros, zeros_sq = (sum(map(np.sum, column)) for column in zip(*columns, strict=True))
    sums = (ones, ones_sq), (zeros, zeros_sq)
    rarer = min(total**2 / squares if squares > 0.0 else 0.0 for total, squares in sums)
    if rarer >= least * (1.0 - _ROUNDING):
        return None
    by = ", by their weights" if any(one.weighted for one in tables) else ""
    return f"fewer than {least:,} rows of the rarer label{by}"


@dataclass(frozen=True, slots=True)
class Trial(Declared):
    """What cross-validation found of one method."""

    method: Annotated[str, 'The method, or "raw" for the scores as they are.']
    loss: Annotated[
        OrInfinite | None,
        "Mean loss of rows that the fit had not seen, or null where the method could not be fitted.",
    ]
    difference: Annotated[OrInfinite | None, "The loss less that of the best method."]
    standard_error: Annotated[
        float | None, Between(0.0), "Of the difference, paired over folds; null where a loss is infinite."
    ]
    chosen: Annotated[bool, "Whether this is the method that was chosen."]
    reason: Annotated[str | None, "Why there is no loss."] = None

    def check(self, node: Node) -> None:
        """Refuse a method that there is not, and numbers that do not go together."""
        if self.method != RAW:
            node.child("method").choice(RecalibratorName)
        if not self._agrees():
            msg = "should have a loss, a difference and, where these are finite, its error; or a reason alone"
            raise node.problem(msg)

    def _agrees(self) -> bool:
        """Whether members are there, and finite, that belong together."""
        if self.loss is None or self.difference is None:
            return self.loss is self.difference is self.standard_error is None is not self.reason
        finite = math.isfinite(self.loss)
        there = finite is math.isfinite(self.difference) is (self.standard_error is not None)
        return there and self.loss >= 0.0 and self.reason is None


@dataclass(frozen=True, slots=True)
class Selection(Declared):
    """How a method was chosen."""

    loss: Annotated[FitLoss, "What was compared."]
    folds: Annotated[int, Between(2, MOST_FOLDS), "Folds that held rows."]
    grouped_by: Annotated[
        str | None, "The column whose equal values stayed in one fold; null where rows were drawn."
    ]
    seed: Annotated[int, "Seed of the folds."]
    trials: Annotated[
        tuple[Trial, ...],
        Key("results"),
        Size(1, 1 + len(FROM_SIMPLE_TO_COMPLEX)),
        "The scores as they are (raw; chosen, the method is identity), then every method from simple on.",
    ]

    @property
    def chosen(self) -> RecalibratorName:
        """The method that was chosen; the identity where that is the scores as they are."""
        name = next(trial.method for trial in self.trials if trial.chosen)
        return RecalibratorName.IDENTITY if name == RAW else RecalibratorName(name)

    @property
    def rule(self) -> Annotated[Literal["one standard error"], "By which the method was chosen."]:
        return RULE

    def check(self, node: Node) -> None:
        """Refuse a choice that the rule does not make."""
        _require_rule(self.trials, node.child("results"))


@dataclass(frozen=True, slots=True, eq=False)
class FoldLosses:
    """Mean losses of the folds of a cross-validation.

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
        """Return how much larger a loss is, and its standard error, which an infinite one lacks."""
        if not (np.isfinite(losses).all() and np.isfinite(best).all()):
            return math.inf, None
        return over_folds(losses - best, self.weight)


def over_folds(apart: Floats, rows: Floats) -> tuple[float, float]:
    """Return the mean over rows of a difference known fold by fold, and its standard error.

    The error is that of the K differences, weighted by rows, over the root of K: what makes a fold hard for
    both methods alike cancels.
    """
    share = rows / rows.sum()
    mean = float(share @ apart)
    # K / (K - 1) makes the variance unbiased for folds of one size; over the root of K the K cancels.
    return mean, math.sqrt(float(share @ (apart - mean) ** 2) / (share.size - 1))


def choose(found: FoldLosses, *, unchanged: bool = True) -> tuple[Trial, ...]:
    """Choose a method by the rule of one standard error, as docs/methods.md tells it and why.

    The best method has the smallest mean loss. Chosen is the simplest whose loss exceeds the best one's by at
    most one standard error of the difference, paired fold by fold, and the simplest of all is to change
    nothing, unless a method of one or two parameters beats that by more than half a standard error.

    References:
        Breiman, Friedman, Olshen & Stone (1984), Classification and Regression Trees, 3.4.3 (unpaired).
    """
    fitted = found.fitted
    beaten = any(found.beats_raw(fitted[name]) for name in CHEAP if name in fitted)
    most, unchanged = found.mean(found.raw) if unchanged and beaten else math.inf, unchanged and not beaten
    eligible: dict[str, Floats] = {RAW: found.raw} if unchanged else {}
    eligible |= {name.value: losses for name, losses in fitted.items()}
    means = {name: found.mean(losses) for name, losses in eligible.items()}
    _require_finite(means, fitted=bool(fitted), of=found.of)
    best = eligible[min(means, key=lambda name: means[name])]
    apart = {name: found.difference(losses, best) for name, losses in eligible.items()}
    chosen = next(
        name
        for name, (more, error) in apart.items()
        if error is not None and more <= error and means[name] < most
    )
    raw = found.difference(found.raw, best)
    trials = [Trial(RAW, found.mean(found.raw), *raw, chosen=chosen == RAW)]
    for name in FROM_SIMPLE_TO_COMPLEX:
        if name in fitted:
            trials.append(Trial(name.value, means[name], *apart[name], chosen=name == chosen))
        elif name in found.of:
            trials.append(Trial(name.value, None, None, None, chosen=False, reason=str(found.of[name])))
    return tuple(trials)


def _require_rule(trials: Sequence[Trial], results: Node) -> None:
    """Refuse trials among which `choose`, of today or as it once was, would not have chosen so."""
    names = [trial.method for trial in trials]
    if names != [RAW, *(name for name in FROM_SIMPLE_TO_COMPLEX if name in names)] or trials[0].loss is None:
        msg = "should hold the loss of the raw scores, then methods from simple to complex, each once"
        raise results.problem(msg)
    eligible = trials if trials[0].chosen else trials[1:]
    best = min((trial.loss for trial in eligible if trial.loss is not None), default=math.inf)
    within, beating = [], []
    for trial, node in zip(trials, results.items(), strict=True):
        if trial.loss is None or trial.difference is None or trial.standard_error is None:
            continue
        if abs(trial.loss - best - trial.difference) > _ROUNDING * max(1.0, trial.loss):
            msg = f"is not the loss less {best!r}, that of the best method"
            raise node.child("difference").problem(msg)
        if trial in eligible and trial.difference <= trial.standard_error:
            within.append(trial.method)
            beating += [trial.method] if trial.loss < (trials[0].loss or 0.0) else []
    if not within or [trial.method for trial in trials if trial.chosen] not in (within[:1], beating[:1]):
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
        msg = "no candidate has a finite loss: each gives 0 or 1 to rows where that may be wrong"
        raise InputProblem(msg, "compare by --loss brier, or add --candidate platt")
