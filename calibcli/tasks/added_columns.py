"""What `apply` adds to every row: the probability, and its two ends where the recalibrator has them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from calibcli.documents.artifact import Artifact
from calibcli.documents.group_artifact import GroupArtifact
from calibcli.errors import UsageProblem
from calibcli.readers.groups import Groups
from calibcli.recalibrators.interface import Recalibrator, WithEnds, randomised
from calibcli.recalibrators.prior_shift import check_prior, shifted
from calibcli.table.score_table import Floats


@dataclass(frozen=True, slots=True)
class AddedColumns:
    """
    The new columns.

    Args:
        names: Their names, that of the probability first.

        values: From scores and the number of rows of the file before them to each column.

        of_groups: From scores and the group of each to each column, where there is a map for each group.
    """

    names: tuple[str, ...]
    values: Callable[[Floats, int], tuple[Floats, ...]]
    of_groups: Callable[[Floats, Groups], tuple[Floats, ...]] | None = None


def added_columns(loaded: Artifact, *, name: str, prior: float | None = None) -> AddedColumns:
    """
    Return the columns that an artifact adds.

    Args:
        loaded: The artifact.

        name: Name of the probability; its ends are `NAME_lower` and `NAME_upper`.

        prior: Base rate of the population that the rows are from, or None for that of the fit rows.

    Raises:
        UsageProblem: If the base rate is impossible, or that of the fit rows is not known.
    """
    recalibrator = loaded.recalibrator
    names = (name, f"{name}_lower", f"{name}_upper") if isinstance(recalibrator, WithEnds) else (name,)
    if prior is None:
        return AddedColumns(names, lambda scores, before: _columns(recalibrator, scores, before=before))
    check_prior(prior)
    fitted = fitted_rate(loaded)

    def values(scores: Floats, before: int) -> tuple[Floats, ...]:
        columns = _columns(recalibrator, scores, before=before)
        return tuple(shifted(column, fitted=fitted, prior=prior) for column in columns)

    return AddedColumns(names, values)


def group_columns(loaded: GroupArtifact, *, name: str) -> AddedColumns:
    """
    Return the columns that a map for each group adds.

    Args:
        loaded: The artifact.

        name: Name of the probability; its ends are `NAME_lower` and `NAME_upper`.
    """
    whole = added_columns(loaded.pooled, name=name)
    members = {key: added_columns(one, name=name) for key, one in loaded.members.items()}

    def values(scores: Floats, groups: Groups) -> tuple[Floats, ...]:
        columns = tuple(np.array(column) for column in whole.values(scores, 0))
        for code, text in enumerate(groups.text):
            own = members.get(text)
            which = np.flatnonzero(groups.code == code) if own is not None else ()
            if own is not None and len(which):
                for column, mine in zip(columns, own.values(scores[which], 0), strict=True):
                    column[which] = mine
        return columns

    return AddedColumns(whole.names, whole.values, values)


def fitted_rate(loaded: Artifact) -> float:
    """
    Return the share of label 1 in the fit rows.

    Raises:
        UsageProblem: If the artifact does not say it, as those of calibcli 0.1 do not.
    """
    rate = loaded.fit.base_rate
    if rate is None or not 0.0 < rate < 1.0:
        msg = "the artifact does not say the base rate of its fit rows, which --prior replaces"
        raise UsageProblem(msg, "fit it again with this calibcli")
    return rate


def _columns(recalibrator: Recalibrator, scores: Floats, *, before: int) -> tuple[Floats, ...]:
    noisy = randomised(recalibrator)
    if noisy is not None:
        return (noisy.predict_at(scores, before + np.arange(scores.size)),)
    point = recalibrator.predict(scores)
    return (point, *recalibrator.ends(scores)) if isinstance(recalibrator, WithEnds) else (point,)
