"""Exported SQL on a real Postgres: the same numbers as `apply`, and NULL where that refuses."""

import csv
import io
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import calibcli
from calibcli.commands.export import export
from calibcli.export.dialects import name
from calibcli.names import ExportTarget, OnUnseen, Scale, SqlDialect
from calibcli.options.fitting import ExportAsk
from exported_maps import (
    CLASS_SCORES,
    KINDS_AND_SCALES,
    MANY,
    asked_groups,
    asked_rows,
    asked_scores,
    class_map,
    group_map,
    many_map,
    many_rows,
    one_map,
    segment_map,
    segment_rows,
    wanted,
    wanted_rows,
)

NEAR = 1e-12
FOLDERS = [str(path) for path in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]
WHERE = os.pathsep.join([os.environ.get("PATH", ""), *FOLDERS])
INITDB, CONTROL, PSQL = (shutil.which(word, path=WHERE) for word in ("initdb", "pg_ctl", "psql"))


def _user() -> str | None:
    """Postgres does not run as root: who it runs as then."""
    if os.getuid() != 0:
        return None
    known = {one.pw_name for one in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(None in (INITDB, CONTROL, PSQL), reason="there is no Postgres server"),
]


@dataclass(frozen=True)
class Server:
    """A server on a socket in a folder of its own."""

    folder: str

    def run(self, script: str) -> str:
        """Run a script, and return what it prints; any error fails."""
        command = [
            str(PSQL),
            "-X",
            "-q",
            "-v",
            "ON_ERROR_STOP=1",
            "-h",
            self.folder,
            "-U",
            "calib",
            "postgres",
        ]
        ended = subprocess.run(command, input=script, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stderr[-2_000:]
        return ended.stdout

    def answered(self, query: str, columns: dict[str, np.ndarray]) -> list[dict[str, str]]:
        """What a query makes of rows, in their order."""
        names = ", ".join(name(one, SqlDialect.POSTGRES) for one in columns)
        kinds = ", ".join(
            f"{name(one, SqlDialect.POSTGRES)} {'text' if column.dtype == object else 'double precision'}"
            for one, column in columns.items()
        )
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        listed = "\n".join(",".join([str(place), *map(_cell, row)]) for place, row in enumerate(rows))
        copied = f"DROP TABLE IF EXISTS predictions;\nCREATE TABLE predictions (place int, {kinds});\n"
        copied += f"COPY predictions (place, {names}) FROM STDIN WITH (FORMAT csv);\n{listed}\n\\.\n"
        wrapped = f"COPY (SELECT * FROM ({query}) AS t ORDER BY place) TO STDOUT WITH (FORMAT csv, HEADER);\n"
        return list(csv.DictReader(io.StringIO(self.run(copied + wrapped))))


def _cell(value: float | str | None) -> str:
    if value is None:
        return ""
    quoted = str(value).replace('"', '""')
    return f'"{quoted}"' if isinstance(value, str) else repr(value)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server for all tests, stopped and removed at the end."""
    user = _user()
    folder = tempfile.mkdtemp(prefix="calibcli_pg_", dir="/tmp")
    if user is not None:
        shutil.chown(folder, user)
    become = [] if user is None else ["runuser", "-u", user, "--"]
    store, log = f"{folder}/store", f"{folder}/log"

    def control(*words: str) -> None:
        subprocess.run([*become, *words], check=True, capture_output=True, cwd=folder)

    control(str(INITDB), "-D", store, "-U", "calib", "-A", "trust", "-E", "UTF8", "--no-sync")
    socket = f"-k {folder} -c listen_addresses= -c fsync=off"
    control(str(CONTROL), "-D", store, "-l", log, "-w", "-o", socket, "start")
    yield Server(folder)
    control(str(CONTROL), "-D", store, "-m", "immediate", "stop")
    shutil.rmtree(folder)


def sql(artifact: object, **requested: object) -> str:
    """The query of an artifact."""
    ask = ExportAsk(ExportTarget.SQL, dialect=SqlDialect.POSTGRES, **requested)  # type: ignore[arg-type]
    return export(artifact, ask).decode()  # type: ignore[arg-type]


@pytest.mark.parametrize(("kind", "scale"), KINDS_AND_SCALES)
def test_postgres_gives_what_apply_gives(kind: str, scale: Scale, server: Server) -> None:
    """The probability and its ends agree to 1e-12, on fit scores, beside them, at both ends and anywhere."""
    artifact = one_map(kind, scale)
    scores = asked_scores(artifact)
    found = server.answered(sql(artifact), {"score": scores})
    names = ("calibrated", "calibrated_lower", "calibrated_upper")
    for key, column in zip(names, wanted(artifact, scores), strict=False):
        np.testing.assert_allclose([float(row[key]) for row in found], column, rtol=0.0, atol=NEAR)


@pytest.mark.parametrize("kind", ["platt", "histogram", "isotonic", "venn-abers", "smooth"])
def test_what_apply_refuses_is_null_in_postgres(kind: str, server: Server) -> None:
    """NULL, NaN and scores out of range get NULL, no row is lost, and nothing overflows."""
    values = ["NULL", "'nan'", "'infinity'", "'-infinity'", "'-1e-300'", "'1.0000000000000002'", "'0.5'"]
    rows = ", ".join(f"({value}::double precision)" for value in values)
    table = "DROP TABLE IF EXISTS predictions; CREATE TABLE predictions AS "
    table += f"SELECT * FROM (VALUES {rows}) t(score);"
    query = sql(one_map(kind))
    printed = server.run(f"{table}\nCOPY (SELECT calibrated FROM ({query}) t) TO STDOUT WITH (FORMAT csv);\n")
    answers = printed.split("\n")[:-1]
    assert len(answers) == len(values)
    assert sum(bool(one) for one in answers) == 1


@pytest.mark.parametrize(
    "word", ['x"; DROP TABLE predictions; --', "a`b", "it's", "*/ 1 /*", "back\\slash", ":x"]
)
def test_names_are_names_in_postgres(word: str, server: Server) -> None:
    """A column that is called like SQL is read, another is made, and nothing is dropped."""
    found = server.answered(sql(one_map("platt"), score=word, name=f"new {word}"), {word: np.array([0.5])})
    assert set(found[0]) == {"place", word, f"new {word}"}
    assert server.run("SELECT count(*) FROM predictions;").split()[2] == "1"


@pytest.mark.parametrize(
    ("kind", "scale"),
    [("temperature", Scale.PROB), ("vector", Scale.LOGIT), ("one-vs-rest histogram", Scale.PROB)],
)
def test_classes_in_postgres_are_those_of_apply(kind: str, scale: Scale, server: Server) -> None:
    """Every class's probability agrees, and the most probable class is one."""
    classes = ("it's", "back\\slash", '"')
    artifact = class_map(kind, scale, classes)
    rows = asked_rows(scale)
    query = sql(artifact, probs=CLASS_SCORES)
    found = server.answered(query, dict(zip(CLASS_SCORES, rows.T, strict=True)))
    columns = [[float(row[f"calibrated_{one}"]) for one in classes] for row in found]
    np.testing.assert_allclose(columns, wanted_rows(artifact, rows), rtol=0.0, atol=NEAR)
    assert {row["calibrated_class"] for row in found} <= set(classes)


@pytest.mark.parametrize(
    ("kind", "scale", "count"), [*MANY, ("matrix", Scale.PROB, 100), ("one-vs-one platt", Scale.PROB, 60)]
)
def test_many_classes_in_postgres_are_those_of_apply(
    kind: str, scale: Scale, count: int, server: Server
) -> None:
    """In arrays; a row of zeros, which `apply` refuses, is NULL and no error."""
    artifact, rows = many_map(kind, scale, count), many_rows(count, scale)
    names = tuple(f"p_{one}" for one in artifact.classes)
    requested = rows if scale is Scale.LOGIT else np.vstack((rows, np.zeros(count)))
    found = server.answered(sql(artifact), dict(zip(names, requested.T, strict=True)))
    columns = [[float(row[f"calibrated_{one}"] or "nan") for one in artifact.classes] for row in found]
    np.testing.assert_allclose(columns[: len(rows)], wanted_rows(artifact, rows), rtol=0.0, atol=NEAR)
    assert np.isnan(columns[len(rows) :]).all()
    assert {row["calibrated_class"] for row in found[: len(rows)]} <= set(artifact.classes)


@pytest.mark.parametrize(
    ("kind", "scale"), [("platt", Scale.PROB), ("venn-abers", Scale.PROB), ("isotonic", Scale.LOGIT)]
)
def test_groups_in_postgres_are_those_of_apply(kind: str, scale: Scale, server: Server) -> None:
    """Every row goes through the map of its group, NULL and strangers as `apply` has them."""
    artifact = group_map(kind, scale)
    for unseen in OnUnseen:
        scores, groups, expected = asked_groups(artifact, pooled=unseen is OnUnseen.POOLED)
        found = server.answered(sql(artifact, unseen=unseen), {"score": scores, "country": groups})
        names = ("calibrated", "calibrated_lower", "calibrated_upper")
        for key, column in zip(names, expected, strict=False):
            got = [float(row[key] or "nan") for row in found]
            np.testing.assert_allclose(got, column, rtol=0.0, atol=NEAR)


def test_postgres_adds_up_segments(server: Server) -> None:
    """A map by segments is a sum of CASE terms there, too."""
    frame = segment_rows()
    held = calibcli.Recalibrator(segment_map(), "map")
    with pytest.warns(UserWarning, match="had not seen"):
        expected = calibcli.apply(held, frame, score="score")["calibrated"]
    columns = {name: frame[name].to_numpy() for name in ("score", "code", "size")}
    texts = {"word": frame["word"], "truth": frame["truth"].map({True: "true", False: "false"})}
    columns |= {key: one.astype(object).where(one.notna(), None).to_numpy() for key, one in texts.items()}
    found = server.answered(sql(segment_map()), columns)
    np.testing.assert_allclose([float(row["calibrated"]) for row in found], expected, rtol=0.0, atol=NEAR)
