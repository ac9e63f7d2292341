"""What is asked of `apply`, whatever the artifact is."""

from collections.abc import Sequence
from dataclasses import dataclass

from calibcli.documents.artifact import Artifact
from calibcli.documents.class_artifact import ClassArtifact
from calibcli.documents.group_artifact import GroupArtifact
from calibcli.options.maps import AS_IT_COMES, Shape
from calibcli.options.rows import AS_FOUND, Columns, InputFormat
from calibcli.progress import Progress, unseen
from calibcli.reports.apply import ApplyReport
from calibcli.reports.apply_classes import ClassApplyReport
from calibcli.tasks.apply import apply_file
from calibcli.tasks.destination import Destination
from calibcli.view_names import OnSum


@dataclass(frozen=True, slots=True)
class ClassAsk:
    """
    What is asked of rows of several classes.

    Args:
        columns: What is to be done with values; its `several` names the columns, or is None to find those
            whose names end in the classes of the fit.

        on_sum: What becomes of a row whose probabilities do not sum to one, where columns are to be found.

        name: What the names of new columns begin with.
    """

    columns: Columns
    on_sum: OnSum = OnSum.ERROR
    name: str = "calibrated"


@dataclass(frozen=True, slots=True)
class FolderAsk:
    """
    What is done with every file.

    Args:
        artifact: The path of the artifact, for messages.

        loaded: The artifact.

        ask: The columns and the name of the new one.

        prior: Base rate of the rows, or None for that of the fit rows.

        input_format: The format of every input, and how text is written.

        shape: The format of outputs, and which other columns go along.
    """

    artifact: str
    loaded: Artifact | ClassArtifact | GroupArtifact
    ask: ClassAsk
    prior: float | None = None
    input_format: InputFormat = AS_FOUND
    shape: Shape = AS_IT_COMES

    def apply(
        self, inputs: Sequence[str], path: str, *, force: bool, progress: Progress = unseen
    ) -> ApplyReport | ClassApplyReport:
        """Apply the artifact to one file, as `apply_file` and `apply_class_file` do."""
        output = Destination(path, self.shape, progress)
        if isinstance(self.loaded, ClassArtifact):
            from calibcli.tasks.apply_classes import apply_class_file

            return apply_class_file(
                self.loaded,
                inputs,
                artifact=self.artifact,
                output=output,
                ask=self.ask,
                input_format=self.input_format,
                force=force,
            )
        return apply_file(
            self.loaded,
            inputs,
            output=output,
            columns=self.ask.columns,
            name=self.ask.name,
            prior=self.prior,
            input_format=self.input_format,
            force=force,
        )
