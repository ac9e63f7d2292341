"""A map of several classes as a formula for each class, where that is an expression of sensible length."""

from calibcli.errors import UsageProblem
from calibcli.exports.formula import (
    Formula,
    Number,
    Operator,
    Pair,
    Pieces,
    Score,
    exp,
    log,
    minus,
    over,
    plus,
    times,
    total,
)
from calibcli.exports.maps import formulas_of
from calibcli.exports.scales import probability
from calibcli.names import Scale
from calibcli.recalibrators.classes.interface import ClassRecalibrator
from calibcli.recalibrators.classes.linear import Linear
from calibcli.recalibrators.classes.members import Members
from calibcli.recalibrators.classes.one_vs_rest import OneVsRest
from calibcli.recalibrators.classes.temperature import ClassTemperature
from calibcli.view_names import OutputSum


def class_probabilities(count: int, scale: Scale) -> list[Formula]:
    """Return what the scores of a row say as probabilities of the classes."""
    scores: list[Formula] = [Score(place) for place in range(count)]
    if scale is Scale.LOGIT:
        return _softmax(scores)
    return [probability(one, scale) for one in scores]


def class_formulas(recalibrator: ClassRecalibrator, before: list[Formula]) -> list[Formula]:
    """
    Return the recalibrated probability of each class.

    Args:
        recalibrator: The fitted map.

        before: The probabilities of a row.

    Raises:
        UsageProblem: If there is no expression for it.
    """
    match recalibrator:
        case ClassTemperature(temperature=temperature, least=least):
            return _softmax([over(one, Number(temperature)) for one in _logs(before, least)])
        case Linear():
            return _softmax(_linear(recalibrator, _logs(before, recalibrator.least)))
        case OneVsRest(members=members, output_sum=output_sum):
            return _one_vs_rest(members, before, divided=output_sum is OutputSum.ONE)
        case _:
            what = f"a {recalibrator.name.value} map of several classes"
            msg = f"{what} has no expression in SQL that is short enough"
            raise UsageProblem(msg, "use --to python, sklearn or onnx; or fit --multiclass one-vs-rest")


def _softmax(logits: list[Formula]) -> list[Formula]:
    """Return 1 / sum_j exp(t_j - t_k) for each k: no largest is needed, since exponents are limited."""
    return [over(Number(1.0), total([exp(minus(other, one)) for other in logits])) for one in logits]


def _logs(before: list[Formula], least: float) -> list[Formula]:
    return [log(Pair(Operator.GREATEST, one, Number(least))) for one in before]


def _linear(recalibrator: Linear, logs: list[Formula]) -> list[Formula]:
    weight, found = recalibrator.weight, []
    for place, intercept in enumerate(recalibrator.intercept.tolist()):
        if weight.ndim == 1:
            slope = times(Number(float(weight[place])), logs[place])
        else:
            row = weight[place].tolist()
            slope = total([times(Number(w), one) for w, one in zip(row, logs, strict=True)])
        found.append(plus(slope, Number(intercept)))
    return found


def _one_vs_rest(members: Members, before: list[Formula], *, divided: bool) -> list[Formula]:
    after = [formulas_of(members.of(place), one)[0] for place, one in enumerate(before)]
    if not divided:
        return after
    whole, nothing = total(after), total(before)
    # Where every map says 0 the row stays as it was.
    return [
        Pieces(whole, (5e-324,), (over(one, nothing), over(new, whole)))
        for one, new in zip(before, after, strict=True)
    ]
