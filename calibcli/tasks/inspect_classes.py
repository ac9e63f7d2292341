"""Say what is in an artifact of several classes."""

import json

from calibcli.documents.class_artifact import ClassArtifact
from calibcli.readers.files import file_word
from calibcli.recalibrators.classes.ends import kind_of_ends
from calibcli.reports.inspect import InspectReport
from calibcli.view_names import EndsOf

_MOST_LISTED = 20
_LONGEST = 400


def class_artifact_report(path: str, artifact: ClassArtifact) -> InspectReport:
    """
    Return what an artifact of several classes holds.

    Args:
        path: Its file.

        artifact: What was read from there.
    """
    fit, recalibrator = artifact.fit, artifact.recalibrator
    parameters = json.dumps(recalibrator.to_dict(), sort_keys=True)
    facts = [
        ("method", recalibrator.name.value),
        ("classes", _classes(artifact.classes)),
        ("fitted on", f"{fit.rows:,} rows of {len(artifact.classes):,} classes"),
        ("rows of a class", f"{min(fit.class_rows):,} to {max(fit.class_rows):,}"),
        ("options", ", ".join(f"{key}={value}" for key, value in fit.options.items()) or "none"),
        ("loss on fit rows", f"log loss {fit.loss_before:.6g} before, {fit.loss_after:.6g} after"),
        ("accuracy there", f"{fit.accuracy_before:.4g} before, {fit.accuracy_after:.4g} after"),
        ("prediction", _prediction(artifact)),
        ("ends", _ends(artifact)),
        ("scale of the columns", artifact.scale.value),
        ("digest of the fit rows", fit.table_digest),
        ("written by", f"calibcli {artifact.calibcli}"),
        ("parameters", parameters if len(parameters) <= _LONGEST else f"{parameters[:_LONGEST]} ..."),
        *(("note", note) for note in fit.notes),
    ]
    return InspectReport(
        path,
        "artifact",
        tuple(facts),
        (),
        f"calibcli apply {file_word(path)} preds.csv --probs 'p_*' -o repaired.csv",
    )


def _classes(classes: tuple[str, ...]) -> str:
    listed = ", ".join(classes[:_MOST_LISTED])
    more = len(classes) - _MOST_LISTED
    return listed if more <= 0 else f"{listed} and {more:,} more"


def _prediction(artifact: ClassArtifact) -> str:
    if artifact.recalibrator.keeps_prediction:
        return "no row can change its predicted class"
    return f"rows may change their predicted class, as {artifact.fit.changed:,} of the fit rows did"


def _ends(artifact: ClassArtifact) -> str:
    match kind_of_ends(artifact.recalibrator):
        case EndsOf.CLASSES:
            return "of every class"
        case EndsOf.PREDICTED:
            return "of the predicted class"
        case None:
            return "none"
