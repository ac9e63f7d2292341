"""What is said of an artifact with a map for each group of rows."""

from calibcli.documents.artifact import Artifact
from calibcli.documents.group_artifact import GroupArtifact
from calibcli.readers.files import file_word
from calibcli.reports.inspect import InspectReport


def group_artifact_report(path: str, artifact: GroupArtifact) -> InspectReport:
    """
    Look at an artifact.

    Args:
        path: The file, for the next command.

        artifact: What it holds.
    """
    pooled = artifact.pooled
    facts = [
        ("method", f"{pooled.recalibrator.name.value}, by {artifact.by}"),
        ("fitted on", f"{pooled.fit.rows:,} rows, {pooled.fit.positive:,} with label 1"),
        ("groups", f"{len(artifact.members):,} with a map of their own, {len(artifact.shared):,} without"),
        ("scale of the score", pooled.scale.value),
        ("digest of the fit rows", pooled.fit.table_digest),
        ("written by", f"calibcli {artifact.calibcli}"),
    ]
    facts += [
        (
            f"{artifact.by}={key}",
            f"{one.recalibrator.name.value}, {_losses(one)}",
        )
        for key, one in sorted(artifact.members.items())
    ]
    facts += [
        (f"{artifact.by}={key}", f"{one.rows:,} rows, shares the map of all: {one.reason}")
        for key, one in sorted(artifact.shared.items())
    ]
    facts += [("note", note) for note in pooled.fit.notes]
    following = f"calibcli apply {file_word(path)} preds.csv -o repaired.csv"
    return InspectReport(path, "artifact by group", tuple(facts), (), following)


def _losses(one: Artifact) -> str:
    fit = one.fit
    return f"{fit.rows:,} rows, loss {fit.loss_before:.6g} before, {fit.loss_after:.6g} after"
