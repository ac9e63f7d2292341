"""The map of an artifact as something that other software runs."""

import hashlib
import re
from typing import TYPE_CHECKING, assert_never

from calibcli.commands.predicting import fitted_rate, refuse_strange_to_map
from calibcli.documents.artifact import (
    AnyArtifact,
    Artifact,
    ClassArtifact,
    GroupArtifact,
    OneMap,
    OneScore,
    SegmentArtifact,
    artifact_text,
)
from calibcli.errors import UsageProblem
from calibcli.export.maps import GroupMaps, Origin, Shift
from calibcli.export.python import (
    Style,
    module_of_classes,
    module_of_groups,
    module_of_one,
    module_of_segments,
)
from calibcli.names import NEW_COLUMN, ExportTarget, OnUnseen, SqlDialect, SqlForm
from calibcli.options.fitting import ExportAsk
from calibcli.options.numerals import phrases_said, usual_name
from calibcli.stats.recalibrators.logits import check_prior
from calibcli.values import replace

if TYPE_CHECKING:
    from calibcli.export.sql import SqlAsk

TABLE = "predictions"
# How times and dates with a time begin, or what durations are.
_TIME = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2} )?[0-9]{2}:|-?[0-9.]+(e-[0-9]+)?s$")


def export(artifact: AnyArtifact, ask: ExportAsk) -> bytes:
    ask.refuse_idle()
    if ask.form in (None, SqlForm.SELECT):
        return _exported(artifact, ask)
    from calibcli.export.sql import MODEL, as_model, as_view

    if ask.form is SqlForm.VIEW:
        view, table = _given(ask.view, NEW_COLUMN), _given(ask.table, TABLE)
        if view.casefold() == table.casefold():
            msg = f"the view {view} would replace the table {table} that it reads"
            raise UsageProblem(msg, "--view gives it another name")
        query = _exported(artifact, ask).decode()
        return as_view(query, view, ask.dialect or SqlDialect.DUCKDB).encode()
    query = _exported(artifact, replace(ask, table=MODEL)).decode()
    return as_model(query, _given(ask.table, TABLE)).encode()


def _exported(artifact: AnyArtifact, ask: ExportAsk) -> bytes:
    refuse_strange_to_map(artifact, prior=ask.prior, by=ask.by, unseen=ask.unseen, probs=ask.probs)
    if isinstance(artifact, ClassArtifact):
        return _classes(artifact, ask)
    if isinstance(artifact, GroupArtifact):
        return _groups(artifact, ask)
    if isinstance(artifact, SegmentArtifact):
        return _segments(artifact, ask)
    return _one(artifact, ask)


def _groups(artifact: GroupArtifact, ask: ExportAsk) -> bytes:
    pooled, members = artifact.pooled, artifact.members
    origin = replace(_origin(pooled), digest=digest_of(artifact), calibcli=artifact.calibcli, by=artifact.by)
    maps = (pooled.recalibrator, *(one.recalibrator for one in members.values()))
    places = {key: place + 1 for place, key in enumerate(members)} | dict.fromkeys(artifact.shared, 0)
    pools = ask.unseen is OnUnseen.POOLED
    groups = GroupMaps(_given(ask.by, artifact.by), maps, places, pools)
    apart = f"fit each group apart, with --where '{artifact.by}==GROUP' in place of --by"
    hint = f"use --to sql or --to python, or {apart}"
    _refuse_scores_alone(ask.target, f"the map is one for each group of {artifact.by!r}", hint)
    if ask.target is ExportTarget.PYTHON:
        return module_of_groups(groups, origin=origin).encode()
    from calibcli.export.sql import query_of_groups

    return query_of_groups(groups, _sql(ask, (_score(artifact, ask),)), origin=origin).encode()


def _segments(artifact: SegmentArtifact, ask: ExportAsk) -> bytes:
    origin, found = replace(_origin(artifact), on=artifact.names), artifact.recalibrator
    if ask.target in _STYLES:
        return module_of_segments(found, origin=origin, style=_STYLES[ask.target]).encode()
    others = "use --to sql, --to python or --to sklearn"
    _refuse_scores_alone(ask.target, f"the map looks at {', '.join(artifact.names)} too", others)
    from calibcli.export.sql import query_of_segments

    return query_of_segments(found, _sql(ask, (_score(artifact, ask),)), origin=origin).encode()


def _refuse_scores_alone(target: ExportTarget, why: str, hint: str) -> None:
    """Refuse targets that are given nothing beside the score, where a map looks at more."""
    if target in (ExportTarget.ONNX, ExportTarget.SKLEARN):
        what = "an ONNX model" if target is ExportTarget.ONNX else "a scikit-learn estimator"
        msg = f"{what} is given scores alone, and {why}"
        raise UsageProblem(msg, hint)


def _origin(artifact: OneMap | ClassArtifact) -> Origin:
    of_classes = artifact if isinstance(artifact, ClassArtifact) else None
    return Origin(
        digest=digest_of(artifact),
        calibcli=artifact.calibcli,
        method=artifact.recalibrator.name.value,
        scale=artifact.scale,
        rows=artifact.fit.rows,
        classes=() if of_classes is None else of_classes.classes,
        positive=None if isinstance(artifact, ClassArtifact) else artifact.positive,
    )


def _one(artifact: Artifact, ask: ExportAsk) -> bytes:
    shift = None
    if ask.prior is not None:
        check_prior(ask.prior)
        shift = Shift(fitted_rate(artifact), ask.prior)
    origin = replace(_origin(artifact), prior=ask.prior)
    match ask.target:
        case ExportTarget.SQL:
            from calibcli.export.sql import query_of_one

            requested = _sql(ask, (_score(artifact, ask),))
            return query_of_one(artifact.recalibrator, requested, origin=origin, shift=shift).encode()
        case ExportTarget.ONNX:
            from calibcli.export.onnx import model_of_one

            names = (_given(ask.score, "score"), _given(ask.name, NEW_COLUMN))
            return model_of_one(
                artifact.recalibrator, origin=origin, names=names, shift=shift, single=ask.single
            )
        case ExportTarget.PYTHON | ExportTarget.SKLEARN:
            style = _STYLES[ask.target]
            return module_of_one(artifact.recalibrator, origin=origin, shift=shift, style=style).encode()
        case _:
            assert_never(ask.target)


def _classes(artifact: ClassArtifact, ask: ExportAsk) -> bytes:
    origin = _origin(artifact)
    match ask.target:
        case ExportTarget.SQL:
            from calibcli.export.sql_classes import query_of_classes

            columns = _columns(artifact, ask)
            requested = _sql(ask, columns, places=None if len(columns) > 1 else len(artifact.classes))
            return query_of_classes(artifact.recalibrator, requested, origin=origin).encode()
        case ExportTarget.ONNX:
            from calibcli.export.onnx import model_of_classes

            names = (_given(ask.score, "scores"), _given(ask.name, NEW_COLUMN))
            return model_of_classes(artifact.recalibrator, origin=origin, names=names, single=ask.single)
        case ExportTarget.PYTHON | ExportTarget.SKLEARN:
            style = _STYLES[ask.target]
            return module_of_classes(artifact.recalibrator, origin=origin, style=style).encode()
        case _:
            assert_never(ask.target)


def digest_of(artifact: AnyArtifact) -> str:
    """Return the hash of an artifact's text, which is that of the file as `fit` wrote it."""
    return f"sha256:{hashlib.sha256(artifact_text(artifact).encode()).hexdigest()}"


def _sql(ask: ExportAsk, scores: tuple[str, ...], *, places: int | None = None) -> "SqlAsk":
    """Return what is asked of a query; `places` are those of one column of lists, if that is read."""
    from calibcli.export.sql import SqlAsk

    dialect = ask.dialect or SqlDialect.DUCKDB
    table = _given(ask.table, TABLE)
    return SqlAsk(dialect, scores, table, _given(ask.name, NEW_COLUMN), places)


def _score(artifact: OneScore, ask: ExportAsk) -> str:
    known = artifact.of_all_rows.columns
    return _given(ask.score, "score" if known is None else known[0])


def _columns(artifact: ClassArtifact, ask: ExportAsk) -> tuple[str, ...]:
    if ask.score is not None:
        msg = f"--score names one column, and the map was fitted to {len(artifact.classes):,} classes"
        raise UsageProblem(msg, "name the columns of the classes with --probs a,b,c")
    if ask.probs is None:
        return artifact.columns or tuple(f"p_{one}" for one in artifact.classes)
    if len(ask.probs) == 1 and ask.probs[0].count("*") == 1:
        # As `apply` and the others take it: the columns that end in the names of the classes.
        return tuple(ask.probs[0].replace("*", one) for one in artifact.classes)
    if len(ask.probs) not in (1, len(artifact.classes)):
        msg = f"--probs names {len(ask.probs):,} columns, and there are {len(artifact.classes):,} classes"
        order = ", ".join(artifact.classes[:20])
        raise UsageProblem(msg, f"name one for each, in the order {order}, or one column of lists")
    return ask.probs


def query_notes(artifact: AnyArtifact, ask: ExportAsk) -> tuple[str, ...]:
    """Return what an export relies on: columns nobody has named, texts of groups, numbers for words."""
    if isinstance(artifact, ClassArtifact):
        if ask.probs is not None or ask.target is not ExportTarget.SQL:
            return ()
        from calibcli.export.sql_classes import read_from

        columns = _columns(artifact, ask)
        return (read_from(columns, places=None if len(columns) > 1 else len(artifact.classes)),)
    words = artifact.of_all_rows.score_map
    notes: tuple[str, ...] = ()
    if words is not None:
        said = f"the map was fitted to scores in words, {phrases_said(words)}, and its export reads numbers"
        notes = (f"{said} alone: put these in place of the words first",)
    if ask.target is not ExportTarget.SQL:
        return notes
    notes += _texts_compared(artifact)
    if ask.score is not None or artifact.of_all_rows.columns is None:
        return notes
    said = f"column {_score(artifact, ask)!r} is read as the score, as in the fit; --score names another"
    return (said, *notes)


def _texts_compared(artifact: OneScore) -> tuple[str, ...]:
    """Say that engines write times, durations and decimals in their own ways, where groups may be such.

    Segments compare numbers as numbers, and times and durations as text.
    """
    columns: dict[str, list[str]] = {}
    what, kinds, lost = "values", "times or durations", "rows of known values count as others"
    if isinstance(artifact, GroupArtifact):
        known = sorted(artifact.known)
        columns[artifact.by] = [one for one in known if usual_name(one) is not None or _TIME.match(one)]
        what, kinds = "groups", f"decimals, floats, {kinds}"
        lost = "rows of known groups count as unseen"
    elif isinstance(artifact, SegmentArtifact):
        for one in artifact.recalibrator.columns:
            columns[one.name] = [text for text in one.texts if _TIME.match(text)]
    return tuple(
        f"{what} are compared as text, such as {' and '.join(map(repr, some[:2]))}: where column {column!r}"
        f" holds {kinds}, cast it to these texts first, or {lost}"
        for column, some in columns.items()
        if some
    )


_STYLES = {ExportTarget.PYTHON: Style.NUMBERS, ExportTarget.SKLEARN: Style.ARRAYS}


def _given(word: str | None, default: str) -> str:
    return default if word is None else word
