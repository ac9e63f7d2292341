"""An edited document is refused by every command that reads one, and read with a note where that is meant."""

import contextlib
import json
import os
import re
from collections.abc import Callable
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calibcli
from calibcli.codec import Node, version_of
from calibcli.documents.artifact import any_map_of, read_any_map
from calibcli.documents.sealed import document_of
from calibcli.documents.state import from_dict
from calibcli.documents.summary import TableDocument
from calibcli.errors import DocumentProblem, InputProblem, UsageProblem
from calibcli.options.rows import DocumentInMemory
from command_line import CHURN, Run
from mutations import edits

ROWS = "a.csv -s score -y label"
# Documents of the folder, by what writes them.
MADE = f"""
fit fit.csv -s score -y label -m histogram -o artifact.json
fit fit.csv -s score -y label -m platt --by g -o groups.json
fit fit.csv --probs p_* -y label -o classes.json
measure {ROWS} --metric ece --json -o report.json --summary-out summary.json
measure b.csv -s score -y label --summary-out more.json -o unused.txt
compare {ROWS} --artifact artifact.json --json -o compare.json
plan --max-ece 0.1 --artifact artifact.json --json -o plan.json
measure {ROWS} --compat sklearn --json -o compat.json
verify {ROWS} --max-ece 0.1 --state gate.json -o u.txt
verify b.csv -s score -y label --max-ece 0.1 --state shard.json -o v.txt
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with rows and every kind of document."""
    from calibcli.shell.app import main

    path = tmp_path_factory.mktemp("documents")
    generator = np.random.default_rng(1)
    for name in ("fit", "a", "b"):
        score = generator.random(600)
        label = generator.random(600) < score
        rows = "".join(
            f"{s:.4f},{y:d},{s:.4f},{1 - s:.4f},{k % 2}\n"
            for k, (s, y) in enumerate(zip(score, label, strict=True))
        )
        (path / f"{name}.csv").write_text(f"score,label,p_1,p_0,g\n{rows}")
    with contextlib.chdir(path):
        for line in MADE.strip().splitlines():
            assert main([*line.split(), "-q"]) in (0, 4), line
    return path


# What the digest alone notices: nothing else in the document contradicts it.
EDITS: dict[str, Callable[[Any], object]] = {
    "artifact": lambda one: one["fit"].update(loss_after=one["fit"]["loss_after"] * 1.001),
    "groups": lambda one: one["pooled"]["parameters"].update(
        slope=one["pooled"]["parameters"]["slope"] * 1.001
    ),
    "classes": lambda one: one["parameters"].update(temperature=one["parameters"]["temperature"] * 1.001),
    "report": lambda one: one["measures"]["ece"].update(upper=one["measures"]["ece"]["upper"] * 0.999),
    "summary": lambda one: one["input"].update(score="other", notes=["all is well"]),
    "compare": lambda one: one["measures"]["ece"].update(verdict="better"),
    "plan": lambda one: one.update(rows=7),
    "compat": lambda one: one["peer"].update(version="0"),
    "gate": lambda one: one["batches"][0].update(digest="sha256:0", key="sha256:0"),
}
# What each kind of document is read by.
READ_BY = f"""
artifact: apply DOC a.csv -o OUT.csv
groups: apply DOC a.csv -o OUT.csv
classes: apply DOC a.csv -o OUT.csv
artifact: apply DOC a.csv --out-dir OUT
artifact: measure {ROWS} --artifact DOC --metric ece --json
groups: measure {ROWS} --artifact DOC --metric ece --json
classes: measure a.csv --probs p_* -y label --artifact DOC --metric ece --json
artifact: verify {ROWS} --artifact DOC --max-ece 0.3 --json
artifact: verify {ROWS} --artifact DOC --max-ece 0.3 --state OUT.json
classes: verify a.csv --probs p_* -y label --artifact DOC --max-ece 0.3
report: verify {ROWS} --baseline DOC --max-regression 0.5
artifact: compare {ROWS} --artifact DOC
classes: compare a.csv --probs p_* -y label --artifact DOC
artifact: plan --max-ece 0.1 --artifact DOC
artifact: export DOC --to sql -o OUT.sql
groups: export DOC --to python -o OUT.py
artifact: plot DOC --kind map -o OUT.svg
artifact: plot {ROWS} --artifact DOC -o OUT.svg
report: plot DOC -o OUT.svg
gate: plot DOC --kind monitor -o OUT.svg
gate: merge DOC shard.json -o OUT.json
gate: verify b.csv -s score -y label --max-ece 0.1 --state DOC --json
gate: verify --max-ece 0.1 --state DOC
summary: measure DOC --metric ece --json
summary: verify DOC --max-ece 0.3
summary: fit DOC -o OUT.json
summary: plot DOC -o OUT.svg
summary: merge DOC more.json -o OUT.json
"""
READERS = [
    *(
        (kind, words.split())
        for kind, _, words in (one.partition(":") for one in READ_BY.strip().splitlines())
    ),
    *((kind, ["inspect", "DOC"]) for kind in EDITS),
]


def line(words: list[str], folder: Path, document: Path, out: Path) -> list[str]:
    """Return the words of a command with its paths."""
    places = {
        "DOC": str(document),
        "more.json": str(folder / "more.json"),
        "shard.json": str(folder / "shard.json"),
    }
    found = [
        places.get(word, str(folder / word) if word.endswith(".csv") and word[0] != "O" else word)
        for word in words
    ]
    return [str(out / word) if word.startswith("OUT") else word for word in found]


@pytest.mark.usefixtures("unrendered")
@pytest.mark.parametrize(
    ("kind", "words"), READERS, ids=lambda one: one if isinstance(one, str) else " ".join(one[:1])
)
def test_every_reader_refuses_an_edited_document_and_says_so_where_it_is_meant(
    run: Run, folder: Path, tmp_path: Path, kind: str, words: list[str]
) -> None:
    """Exit 3 with the file and the way out; with --allow-edited the report or stderr says it."""
    path = Path(f"{kind}.json")
    document = json.loads((folder / path.name).read_text())
    EDITS[kind](document)
    path.write_text(json.dumps(document))
    before = sorted(tmp_path.iterdir())
    ended = run(*line(words, folder, path, tmp_path))
    assert (ended.code, path.name in ended.err) == (3, True), ended.err
    assert "edited after it was written" in ended.err
    assert "--allow-edited" in ended.err
    assert [one for one in sorted(tmp_path.iterdir()) if not one.name.endswith(".lock")] == before
    if kind == "summary" and words[0] == "merge":
        document["input"].update(score="score")
        path.write_text(json.dumps(document))
    meant = run(*line(words, folder, path, tmp_path), "--allow-edited")
    assert meant.code in (0, 1, 4), meant.err
    said = meant.shown
    assert "edited after it was written" in said, said


READ: dict[str, Callable[[Node], object]] = {
    "artifact": any_map_of,
    "groups": any_map_of,
    "classes": any_map_of,
    "summary": TableDocument.from_dict,
    "gate": from_dict,
    "report": lambda node: version_of(node, "calibcli.report/2"),
    "compare": lambda node: version_of(node, "calibcli.compare/2"),
    "compat": lambda node: version_of(node, "calibcli.compat/2"),
    "plan": lambda node: version_of(node, "calibcli.plan/2"),
}


@pytest.mark.untraced
@pytest.mark.parametrize(
    "step", [pytest.param(97, id="some"), pytest.param(1, id="all", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("kind", EDITS)
def test_no_edit_of_any_field_of_any_document_is_read(folder: Path, kind: str, step: int) -> None:
    """Numbers by 0.1 %, 1, sign or type; texts, members and elements; the digest; the version."""
    document = json.loads((folder / f"{kind}.json").read_text())
    document_of(document).built(READ[kind])
    number = int(document["schema"][-1])
    lowered = document | {"schema": document["schema"].replace(f"/{number}", f"/{number - 1}")}
    assert number == 2
    bare = {key: value for key, value in document.items() if key != "digest"}
    for one in chain(
        [lowered, bare], (one for _, _, one in islice(edits(document, longest=5), 0, None, step))
    ):
        with pytest.raises(DocumentProblem):
            document_of(one).built(READ[kind])


@pytest.mark.parametrize("kind", ["artifact", "groups", "classes", "summary", "gate"])
def test_a_document_made_to_look_older_holds_what_older_ones_had_not(folder: Path, kind: str) -> None:
    """Lowering the version and taking the digest away is not enough."""
    text = (folder / f"{kind}.json").read_text()
    document = json.loads(re.sub(r'"(calibcli\.[a-z]+)/2"', r'"\1/1"', text))
    del document["digest"]
    with pytest.raises(DocumentProblem):
        document_of(document).built(READ[kind])


def test_documents_of_version_1_are_read_with_a_note(run: Run, folder: Path) -> None:
    """In the report, in every format, or on stderr."""
    frozen = Path(__file__).parents[1] / "documents" / "frozen" / "platt.json"
    rows = [str(folder / "a.csv"), *CHURN]
    report = json.loads((folder / "report.json").read_text())
    del report["digest"]
    old = Path("old.json")
    old.write_text(json.dumps(report | {"schema": "calibcli.report/1"}))
    for words in (
        ["apply", frozen, folder / "a.csv", "-o", "out.csv"],
        ["measure", *rows, "--artifact", frozen, "--json"],
        ["measure", *rows, "--artifact", frozen, "--format", "md"],
        ["verify", *rows, "--artifact", frozen, "--max-ece", "0.3", "--report", "junit=j.xml"],
        ["verify", *rows, "--baseline", old, "--max-regression", "0.5"],
        ["compare", *rows, "--artifact", frozen],
        ["export", frozen, "--to", "sql", "-o", "out.sql"],
        ["inspect", frozen],
        ["inspect", old],
        ["plot", frozen, "--kind", "map", "-o", "out.svg"],
    ):
        ended = run(*words)
        assert ended.code in (0, 1, 4), ended.err
        assert "which has no digest: whether it was edited cannot be told" in ended.shown, words
    assert "which has no digest" in Path("j.xml").read_text()


def test_python_reads_edited_documents_where_it_is_told_to(folder: Path) -> None:
    """With a warning; a map that is saved again says so itself, and a report in memory keeps its digest."""
    document = json.loads((folder / "artifact.json").read_text())
    EDITS["artifact"](document)
    path = Path("edited.json")
    path.write_text(json.dumps(document))
    with pytest.raises(DocumentProblem, match="edited") as problem:
        calibcli.load(path)
    assert "allow_edited=True" in str(problem.value.hint)
    with pytest.raises(DocumentProblem, match="edited"):
        calibcli.measure(str(folder / "a.csv"), score="score", label="label", artifact=path)
    with pytest.warns(UserWarning, match="edited after it was written"):
        found = calibcli.load(path, allow_edited=True)
    report = calibcli.measure(
        str(folder / "a.csv"), score="score", label="label", artifact=path, allow_edited=True
    )
    assert any("edited" in note for note in report.notes)
    found.save(Path("again.json"))
    again = calibcli.load(Path("again.json"))
    assert "the document was edited after it was written" in " ".join(again.artifact.fit.notes)
    saved = calibcli.load(folder / "report.json")
    saved.document["measures"]["ece"]["value"] = 0.0
    with pytest.raises(DocumentProblem, match="edited"):
        calibcli.plot(saved)
    assert isinstance(saved.to_dict(), dict)
    with pytest.raises(DocumentProblem, match="edited"):
        read_any_map(DocumentInMemory("held.json", document))


def test_a_signed_state_is_read_with_its_key_alone(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By every command; the key may be changed, taken over, and is never printed."""
    old, new, gate = Path("old.key"), Path("new.key"), Path("gate.json")
    old.write_text("the old key, which is long\n")
    new.write_text("the new key, which is longer\nthe old key, which is long\n")
    ask = ["--max-ece", "0.1", "--state", gate]
    rows = [folder / "a.csv", *CHURN]
    assert run("verify", *rows, *ask, "--state-key-file", old).code == 4
    assert '"hmac-sha256:' in gate.read_text()
    for words in (
        ["verify", *ask],
        ["inspect", gate],
        ["merge", gate, "-o", "m.json"],
        ["plot", gate, "--kind", "monitor", "-o", "m.svg"],
    ):
        ended = run(*words)
        assert (ended.code, "is signed with a key, and none was given" in ended.err) == (3, True), ended.err
        assert "CALIBCLI_STATE_KEY" in ended.err
        assert run(*words, "--state-key-file", old).code in (0, 4)
        Path("m.json").unlink(missing_ok=True)
    assert "Judged over 15 equal-width bins." in Path("m.svg").read_text()
    # Another key, and the new one above the old one.
    monkeypatch.setenv("CALIBCLI_STATE_KEY", "some other key of more than sixteen")
    assert "signed with another key" in run("verify", *ask, code=3).err
    assert run("verify", folder / "b.csv", *CHURN, *ask, "--state-key-file", new).code in (0, 4)
    monkeypatch.setenv("CALIBCLI_STATE_KEY", new.read_text().splitlines()[0])
    ended = run("verify", *ask, "--json")
    assert ended.code in (0, 4), ended.err
    assert "the new key" not in ended.out + ended.err
    # One that is not signed is refused where there is a key, and taken over where that is meant.
    plain = Path("plain.json")
    plain.write_text((folder / "gate.json").read_text())
    assert "is not signed with a key" in run("inspect", plain, code=3).err
    taken = run("verify", folder / "b.csv", *CHURN, "--max-ece", "0.1", "--state", plain, "--allow-edited")
    assert taken.code in (0, 4), taken.err
    assert "is not signed with a key" in run("inspect", plain).out
    # So it is without new rows, and a key that is lost is left behind in the same way.
    monkeypatch.delenv("CALIBCLI_STATE_KEY")
    assert run("verify", "--max-ece", "0.1", "--state", plain).code == 3
    assert run("verify", "--max-ece", "0.1", "--state", plain, "--allow-edited").code in (0, 4)
    said = run("verify", "--max-ece", "0.1", "--state", plain, "--json")
    assert said.code in (0, 4)
    assert any("is signed with a key, and none was given" in note for note in said.document["notes"])
    for key, said in (("short", "less than 16 characters"), ("", "holds no key")):
        monkeypatch.setenv("CALIBCLI_STATE_KEY", key)
        ended = run("inspect", gate)
        assert (ended.code, said in ended.err) == (2, True), ended.err
        assert key == "" or key not in ended.err.split()
    with pytest.raises(UsageProblem, match="holds no key"):
        calibcli.verify(state=gate, max_ece=0.1)
    monkeypatch.delenv("CALIBCLI_STATE_KEY")
    assert calibcli.verify(state=gate, max_ece=0.1, state_key_file=new).status in ("pass", "inconclusive")
    with pytest.raises(InputProblem, match="cannot be read"):
        calibcli.verify(state=gate, max_ece=0.1, state_key_file=Path("none.key"))
    ended = run("verify", *rows, "--max-ece", "0.1", "--state-key-file", old)
    assert (ended.code, "--state-key-file without --state" in ended.err) == (2, True)


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="no names of open files")
def test_the_key_of_a_state_may_come_through_a_pipe(run: Run, folder: Path) -> None:
    """Which gives it only once, though the state is read and written; from the shell and from Python."""
    gate = Path("gate.json")

    def piped() -> tuple[int, str]:
        outlet, inlet = os.pipe()
        os.write(inlet, b"a key that comes through a pipe\n")
        os.close(inlet)
        return outlet, f"/dev/fd/{outlet}"

    for name in ("a.csv", "b.csv"):
        outlet, path = piped()
        words = [folder / name, *CHURN, "--max-ece", "0.1", "--state", gate, "--state-key-file", path]
        ended = run("verify", *words)
        assert ended.code in (0, 4), ended.err
        os.close(outlet)
        assert '"hmac-sha256:' in gate.read_text()
    outlet, path = piped()
    assert run("merge", gate, "-o", "m.json", "--state-key-file", path).code == 0
    os.close(outlet)
    outlet, path = piped()
    report = calibcli.verify(
        str(folder / "b.csv"), score="score", label="label", state=gate, max_ece=0.1, state_key_file=path
    )
    os.close(outlet)
    assert report.status in ("pass", "inconclusive")
    assert run("inspect", gate).code == 3
