"""A fitted map as a value: it predicts, saves itself, and stands wherever the path of an artifact may."""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

from calibcli.api.alike import values_like
from calibcli.api.predicting import (
    ends_of_scores,
    predicted_by_groups,
    predicted_rows,
    predicted_scores,
)
from calibcli.api.shown import Shown
from calibcli.api.spoken import in_python, warn_of
from calibcli.documents.artifact import Artifact
from calibcli.documents.class_artifact import ClassArtifact
from calibcli.documents.group_artifact import GroupArtifact, group_artifact_text, read_any_map
from calibcli.documents.sealed import sealed
from calibcli.documents.store import HeldArtifact, HeldDocument, artifact_text
from calibcli.errors import UsageProblem
from calibcli.names import OnRange
from calibcli.selection_names import OnUnseen
from calibcli.view_names import OnSum

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    from calibcli.api.columns import Values
    from calibcli.render.blocks import Page
    from calibcli.reports.fit import FitReport
    from calibcli.reports.fit_classes import ClassFitReport

    Array: TypeAlias = npt.NDArray[np.float64]
    FittedReport: TypeAlias = FitReport | ClassFitReport

Make = TypeVar("Make")


@dataclass(frozen=True, slots=True, repr=False)
class Recalibrator(Shown):
    """
    A fitted map, as `fit` and `load` return it.

    Args:
        artifact: The map with the record of its fit, as the file holds it.

        name: What reports call it: its path where it has one.

        report: What `fit` found; None for one that was loaded.
    """

    artifact: Artifact | ClassArtifact | GroupArtifact
    name: str
    report: "FittedReport | None" = None

    @property
    def method(self) -> str:
        """The method that was fitted."""
        one = self.artifact.pooled if isinstance(self.artifact, GroupArtifact) else self.artifact
        return one.recalibrator.name.value

    @property
    def classes(self) -> tuple[str, ...] | None:
        """The classes in the order of the fit; None for one score."""
        return self.artifact.classes if isinstance(self.artifact, ClassArtifact) else None

    @property
    def by(self) -> str | None:
        """What the groups with maps of their own are called; None where all rows share one map."""
        return self.artifact.by if isinstance(self.artifact, GroupArtifact) else None

    @overload
    def predict(
        self,
        scores: "npt.NDArray[np.generic] | Sequence[float] | Sequence[Sequence[float]]",
        *,
        prior: float | None = None,
        classes: "str | Sequence[str] | None" = None,
        by: "Values | None" = None,
        unseen: str = OnUnseen.ERROR,
        on_range: str = OnRange.ERROR,
        on_sum: str = OnSum.ERROR,
        scale: str | None = None,
    ) -> "Array": ...

    @overload
    def predict(
        self,
        scores: Make,
        *,
        prior: float | None = None,
        classes: "str | Sequence[str] | None" = None,
        by: "Values | None" = None,
        unseen: str = OnUnseen.ERROR,
        on_range: str = OnRange.ERROR,
        on_sum: str = OnSum.ERROR,
        scale: str | None = None,
    ) -> Make: ...

    @in_python()
    def predict(
        self,
        scores: Any,
        *,
        prior: float | None = None,
        classes: "str | Sequence[str] | None" = None,
        by: "Values | None" = None,
        unseen: str = OnUnseen.ERROR,
        on_range: str = OnRange.ERROR,
        on_sum: str = OnSum.ERROR,
        scale: str | None = None,
    ) -> Any:
        """
        Return recalibrated probabilities, one for each score: the same bits as `calibcli apply`.

        Args:
            scores: Scores on the scale of the fit, shape (n,); for several classes probabilities of shape (n,
                K), or a frame whose columns end in the names of the classes.

            prior: Base rate of the population that the scores are from, where it is not that of the fit rows;
                assumes that scores given the label are distributed as in the fit rows (label shift; Saerens,
                Latinne and Decaestecker 2002). For one score.

            classes: What the columns of an array stand for, where their order is not that of the fit.

            by: The group of each score, shape (n,), where the map was fitted by groups.

            unseen: Groups that the fit has not seen: "error", or "pooled" for the map of all rows.

            on_range: Scores outside [0, 1]: "error" or "clip".

            on_sum: Rows of several classes that do not sum to 1: "error" or "normalise".

            scale: What the scores are: "prob", "logit" or "logprob"; else what the map was fitted to, and
                scores whose spread says that they are on another scale are refused.

        Returns:
            Shape (n,) or (n, K), in [0, 1], of the make of what was given: an array for an array or a list, a
            Series with the same index and name for a Series, a frame of the same columns for a frame.

        Raises:
            InputProblem: If a score is missing or out of range, with how many and the first.

            UsageProblem: If the map is one of several classes and one score was given, or the other way
            about.
        """
        held = self.artifact
        self._refuse_idle(prior=prior, classes=classes, by=by, unseen=unseen, on_sum=on_sum)
        if isinstance(held, Artifact):
            return predicted_scores(held, scores, prior=prior, on_range=on_range, scale=scale)
        if isinstance(held, GroupArtifact):
            found = predicted_by_groups(held, scores, by=by, unseen=unseen, on_range=on_range, scale=scale)
            return values_like(scores, found[0])
        return predicted_rows(
            held,
            scores,
            name=self.name,
            classes=classes,
            on_range=on_range,
            on_sum=on_sum,
            scale=scale,
        )

    def _refuse_idle(
        self, *, prior: float | None, classes: object, by: object, unseen: str, on_sum: str
    ) -> None:
        """Refuse what the map has no use for."""
        held = self.artifact
        if not isinstance(held, ClassArtifact) and (classes is not None or on_sum != OnSum.ERROR):
            msg = "--classes and --on-sum speak of several classes, and the map was fitted to one score"
            raise UsageProblem(msg, "leave them out")
        if prior is not None and not isinstance(held, Artifact):
            what = "to several classes" if isinstance(held, ClassArtifact) else "by groups"
            msg = f"--prior is the base rate of one label in all rows, and the map was fitted {what}"
            raise UsageProblem(msg, "leave it out, or fit again on rows of the population meant")
        if by is not None and not isinstance(held, GroupArtifact):
            msg = "--by names groups, and the map was fitted to all rows together"
            raise UsageProblem(msg, "leave it out, or fit with --by")
        if unseen != OnUnseen.ERROR and not isinstance(held, GroupArtifact):
            msg = "--unseen speaks of groups, and the map was fitted to all rows together"
            raise UsageProblem(msg, "leave it out, or fit with --by")

    @in_python()
    def ends(
        self,
        scores: "Values",
        *,
        prior: float | None = None,
        by: "Values | None" = None,
        unseen: str = OnUnseen.ERROR,
        on_range: str = OnRange.ERROR,
        scale: str | None = None,
    ) -> "tuple[Array, Array]":
        """
        Return the two ends that bracket each probability; Venn-Abers has them (Vovk and Petej 2014).

        One of the two is perfectly calibrated if rows are exchangeable with those of the fit; which of them
        is not known.

        Args:
            scores: Scores on the scale of the fit, shape (n,).

            prior: As for `predict`, as are `by`, `unseen` and `on_range`.

            by: The group of each score.

            unseen: Groups that the fit has not seen.

            on_range: Scores outside [0, 1].

            scale: As for `predict`.

        Returns:
            Lower and upper ends, shape (n,) each.

        Raises:
            UsageProblem: If the method has no ends.
        """
        held, found = self.artifact, None
        self._refuse_idle(prior=prior, classes=None, by=by, unseen=unseen, on_sum=OnSum.ERROR)
        if isinstance(held, Artifact):
            found = ends_of_scores(held, scores, prior=prior, on_range=on_range, scale=scale)
        elif isinstance(held, GroupArtifact):
            _, *both = predicted_by_groups(held, scores, by=by, unseen=unseen, on_range=on_range, scale=scale)
            found = (both[0], both[1]) if both else None
        if found is None:
            msg = f"{self.method} gives one probability, without ends"
            raise UsageProblem(msg, "fit with --method venn-abers")
        return found

    @in_python()
    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """
        Write the artifact: the JSON that `calibcli fit -o` writes, byte for byte.

        Args:
            path: Where to; the file appears whole or not at all.

            force: Whether an existing file may be replaced.

        Raises:
            OutputProblem: If the file exists or cannot be written.
        """
        from calibcli.outputs import refuse_existing, write_file

        refuse_existing(os.fspath(path), force=force)
        write_file(os.fspath(path), self.to_json().encode())

    def to_dict(self) -> dict[str, object]:
        """Return the artifact as plain values, as `calibcli schema artifact` describes it."""
        return sealed(self.artifact.to_dict())

    def to_json(self) -> str:
        """Return the text of the artifact."""
        if isinstance(self.artifact, GroupArtifact):
            return group_artifact_text(self.artifact)
        return artifact_text(self.artifact)

    def page(self, *, verbose: bool = False) -> "Page":
        """Return what is said of the map."""
        from dataclasses import replace

        from calibcli.render.pages import page_of
        from calibcli.tasks.inspect import artifact_report

        return page_of(replace(artifact_report(held_artifact(self)), suggestion=None), verbose=verbose)


ArtifactLike: TypeAlias = Recalibrator | str | os.PathLike[str]


def held_artifact(recalibrator: Recalibrator) -> HeldArtifact | HeldDocument:
    """Return the name of a recalibrator that stands where the path of an artifact may."""
    if isinstance(recalibrator.artifact, GroupArtifact):
        return HeldDocument(recalibrator.name, document=recalibrator.to_dict())
    return HeldArtifact(recalibrator.name, artifact=recalibrator.artifact)


def artifact_name(artifact: ArtifactLike | None) -> str | None:
    """Return a recalibrator, or the path of one, as tasks take it."""
    if artifact is None:
        return None
    return held_artifact(artifact) if isinstance(artifact, Recalibrator) else os.fspath(artifact)


def recalibrator_of(artifact: ArtifactLike) -> Recalibrator:
    """Return a recalibrator as it is, and one that a path leads to."""
    if isinstance(artifact, Recalibrator):
        return artifact
    path = os.fspath(artifact)
    found = read_any_map(path)
    warn_of(found.doubts)
    return Recalibrator(found, path)
