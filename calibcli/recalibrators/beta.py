"""Beta calibration: log odds that weigh the two ends of the score apart."""

import math
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Self

import numpy as np

from calibcli.codec import INLINE, Between, Declared, Node
from calibcli.errors import NotConverged
from calibcli.names import BetaForm, RecalibratorName
from calibcli.options.fitting import FitOptions
from calibcli.recalibrators.bounded import solved_within_bounds
from calibcli.recalibrators.design import NEAREST, Aim, Family, Labelled, line, logit, ray
from calibcli.recalibrators.interface import Continuum, require_both_labels
from calibcli.recalibrators.logistic import LARGEST, Coefficient, Record, each_chunk
from calibcli.recalibrators.separation import parted_at_zero, parted_upwards
from calibcli.table.grid import Table
from calibcli.table.rows import Rows
from calibcli.table.score_table import Floats

_LN2 = math.log(2.0)


@dataclass(frozen=True, slots=True)
class Beta(Declared, Continuum):
    """
    1 / (1 + exp(-(a ln f - b ln(1 - f) + c))) with a, b >= 0.

    References:
        Kull, Silva Filho & Flach (2017), AISTATS, section 4.
    """

    a: Annotated[float, Between(0.0, LARGEST), "Weight of the logarithm of the score; bends the low end."]
    b: Annotated[float, Between(0.0, LARGEST), "Weight of that of its complement; bends the high end."]
    c: Annotated[Coefficient, "Constant; the map passes 1/2 at the m with c = b ln(1 - m) - a ln m."]
    form: Annotated[
        BetaForm,
        "Which of a, b and m were free: `abm` all, `am` has a = b, `ab` has m = 1/2, `a` has both.",
    ]
    record: Annotated[Record, INLINE]

    @classmethod
    def fit(cls, table: Table, *, options: FitOptions | None = None, rows: Rows | None = None) -> Self:
        """
        Fit by maximum likelihood under a, b >= 0, or by least squares started from there.

        Where a threshold on the score (1/2, where m = 1/2) parts the labels, the targets are smoothed, as
        they always are on request.

        Args:
            table: The fit rows. On a grid table each cell counts as two points, the mean scores of its
                labels.

            options: The form, the loss, and whether to smooth the targets in any case.

            rows: The rows behind a grid table; the fit is then to these.

        Raises:
            EmptyTable: If there are no rows.

            InputProblem: If there is one label only.

            NotConverged: If there are too few distinct scores for the form, or the loss has no minimum that
                can be reached.
        """
        require_both_labels(table)
        options = options or FitOptions()
        form, points = options.form, Labelled.of(table)
        _require_scores(form, points)
        centred = form in (BetaForm.AB, BetaForm.A)
        separated = (parted_at_zero if centred else parted_upwards)(*points.logits)
        family = Family(RecalibratorName.BETA, partial(features_of, form=form))
        aim = Aim.of(table, options, separated=separated)
        found, coefficients = solved_within_bounds(
            family, points, aim=aim, free=0 if centred else 1, table=table, rows=rows
        )
        return cls(*_abc(form, coefficients), form, found.record(table))

    def check(self, node: Node) -> None:
        """Refuse coefficients that the form does not leave free."""
        if self.form in (BetaForm.AM, BetaForm.A):
            node.child("b").expect(self.a)
        if self.form in (BetaForm.AB, BetaForm.A):
            node.child("c").expect((self.a - self.b) * _LN2)

    def predict(self, scores: Floats) -> Floats:
        """Return the recalibrated probability of each score, the same bits however scores are grouped."""
        return each_chunk(scores, self._logits)

    @property
    def name(self) -> RecalibratorName:
        """The method."""
        return RecalibratorName.BETA

    @property
    def increasing(self) -> bool:
        """Always: a and b are not negative."""
        return True

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the fit that its user should read."""
        centred = self.form in (BetaForm.AB, BetaForm.A)
        parting = "The score 1/2" if centred else "A threshold on the score"
        if self.a == 0.0 and self.b == 0.0:
            flat = (
                "a and b stand at their bound 0: labels do not rise with the score, and the map is constant."
            )
            return self.record.notes(flat, parting=parting)
        if self.a == 0.0 or self.b == 0.0:
            which = "a" if self.a == 0.0 else "b"
            bound = f"{which} stands at its bound 0: below it the map would not be increasing."
            return self.record.notes(bound, parting=parting)
        return self.record.notes(parting=parting)

    def _logits(self, scores: Floats) -> Floats:
        if self.a == self.b:
            return self.c + self.a * logit(scores)
        low, high = _ends(scores)
        return self.c + self.a * low + self.b * high


def features_of(scores: Floats, *, form: BetaForm) -> Floats:
    """Return the features of a form, shape (k, n), the constant first where there is one."""
    if form is BetaForm.AM:
        return line(scores)
    if form is BetaForm.A:
        return ray(scores)
    low, high = _ends(scores)
    if form is BetaForm.AB:
        return np.stack((low + _LN2, high - _LN2))
    return np.stack((np.ones(scores.size), low, high))


def _ends(scores: Floats) -> tuple[Floats, Floats]:
    """Return ln f and -ln(1 - f), of scores limited as in the logit."""
    inside = np.clip(scores, NEAREST, 1.0 - NEAREST)
    return np.log(inside), -np.log1p(-inside)


def _abc(form: BetaForm, coefficients: tuple[float, ...]) -> tuple[float, float, float]:
    """Return a, b and c from the coefficients of the form's features."""
    if form is BetaForm.ABM:
        c, a, b = coefficients
        return a, b, c
    if form is BetaForm.AM:
        c, a = coefficients
        return a, a, c
    a, b = coefficients if form is BetaForm.AB else (coefficients[0], coefficients[0])
    return a, b, (a - b) * _LN2


def _require_scores(form: BetaForm, points: Labelled) -> None:
    """Refuse scores too few of which differ after the logit for the coefficients to be told apart."""
    z = np.unique(logit(points.score))
    least, other = {
        BetaForm.ABM: (3, ""),
        BetaForm.AM: (2, ""),
        BetaForm.AB: (2, " other than 1/2"),
        BetaForm.A: (1, " other than 1/2"),
    }[form]
    found = int(np.count_nonzero(z)) if other else z.size
    if found < least:
        msg = f"beta calibration of form {form.value} needs {least} distinct scores{other}, and there "
        msg += "is 1" if found == 1 else f"are {found}"
        hint = "use --beta-form am" if form is BetaForm.ABM and found == 2 else "is --score the right column?"
        raise NotConverged(msg, hint)
