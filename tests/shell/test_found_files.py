"""Directories, patterns and lists: every file once, and every name that is not read is counted and said."""

import glob
import gzip
import os
import re
import shutil
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow.fs import LocalFileSystem, SubTreeFileSystem

from calibcli.commands.apply import output_pairs
from calibcli.data import files as globs
from calibcli.data import objects
from calibcli.data.files import Reason, found_in
from calibcli.data.fragments import list_fragments
from calibcli.data.outputs import new_file, refuse_existing
from calibcli.data.readers import unchanged
from calibcli.errors import InputProblem, OutputProblem, UsageProblem
from command_line import CHURN, Run

ROWS = "score,label\n" + "".join(f"{(i % 19 + 1) / 20},{i % 3 == 0:d}\n" for i in range(60))
SAME = re.compile("is named twice|is the same file as")
SAID = (
    "d: 2 files read, 5 names skipped: 2 starting with _ or . (d/.git, d/_SUCCESS); "
    "2 without the ending of a data file (d/README.md, d/sub/notes); "
    "1 leading back to a directory above or already read (d/sub/up)"
)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A working directory with a directory `d` of two files, and of five names that are none."""
    Path("d/sub").mkdir(parents=True)
    Path("d/.git").mkdir()
    Path("d/.git/c.csv").write_text(ROWS)
    Path("d/_SUCCESS").touch()
    Path("d/README.md").write_text("words")
    Path("d/sub/notes").write_text("words")
    Path("d/sub/up").symlink_to("..")
    Path("d/a.csv").write_text(ROWS)
    Path("d/sub/b.csv").write_text(ROWS)
    return tmp_path


def paths(*inputs: str) -> list[str]:
    """Return the files that inputs stand for."""
    return [one.path for one in found_in(inputs).files]


FORMATS = {
    "terminal": ("measure", "d", *CHURN),
    "JSON": ("measure", "d", *CHURN, "--json"),
    "Markdown": ("measure", "d", *CHURN, "--format", "md"),
    "pattern": ("measure", "d/**/*.csv", *CHURN, "--json"),
    "verify": ("verify", "d", *CHURN, "--max-ece", "0.9"),
    "state": ("verify", "d", *CHURN, "--max-ece", "0.9", "--state", "gate.json"),
    "fit": ("fit", "d", *CHURN, "-o", "cal.json"),
    "inspect": ("inspect", "d"),
}


@pytest.mark.parametrize("kind", FORMATS)
def test_every_report_says_what_was_passed_over(run: Run, place: Path, kind: str) -> None:
    """In one line: how many files, how many names, why, and which."""
    (place / "d" / "sub" / "b.csv").write_text(ROWS + "0.5,1\n")
    ended = run(*FORMATS[kind])
    assert ended.code in (0, 4), ended
    said = ended.shown
    if kind == "pattern":
        assert "d/**/*.csv: 2 files read, 2 names skipped: 1 starting with _ or . (d/.git);" in said
    else:
        plain = said.replace("\\", "")
        assert SAID in plain, plain


@pytest.mark.usefixtures("one_picture")
def test_reports_beside_say_it_too(run: Run, place: Path) -> None:
    """JUnit, GitHub's Markdown, the page of HTML, and JSON, in which it is a note of the input."""
    words = ("verify", "d", *CHURN, "--max-ece", "0.9", "-q")
    kinds = ("junit", "md", "json")
    assert run(*words, *(f"--report={kind}=r.{kind}" for kind in kinds)).code in (0, 4)
    for kind in kinds:
        assert SAID in (place / f"r.{kind}").read_text().replace("\\", "")
    assert run("report", "d", *CHURN, "-o", "r.html", "-q").code == 0
    assert SAID in (place / "r.html").read_text()
    assert SAID in run("measure", "d", *CHURN, "--json").document["input"]["notes"]


def test_summaries_carry_it(run: Run, place: Path) -> None:
    """Whoever merges them is told of every part what was passed over there."""
    assert run("measure", "d", *CHURN, "--summary-out", "one.json").code == 0
    (place / "e").mkdir()
    (place / "e" / "x.csv").write_text(ROWS + "0.25,1\n")
    assert run("measure", "e", *CHURN, "--summary-out", "two.json").code == 0
    assert run("merge", "one.json", "two.json", "-o", "whole.json").code == 0
    notes = run("measure", "whole.json", "--json").document["input"]["notes"]
    assert [one for one in notes if "read" in one][:2] == [SAID, "e: 1 file read"]


def test_files_beside_a_folder_are_not_counted_as_its_own(run: Run, place: Path) -> None:
    """A folder, a pattern and a file: what the first two hold is told, as nobody named it."""
    assert (place / "d").is_dir()
    shutil.copy("d/a.csv", "alone.csv")
    assert "d/sub: 1 file read" in " ".join(run("measure", "d/sub", "alone.csv").out.split())


def test_outputs_of_a_folder_say_it(run: Run, place: Path, artifact: Path) -> None:
    """`apply` to a directory, also where nothing is left to do."""
    for more in ((), ("--skip-existing",)):
        ended = run("apply", artifact, "d", "-s", "score", "--out-dir", "out", *more, code=0)
        assert SAID in " ".join(ended.err.split())
    assert sorted(str(one.relative_to(place)) for one in (place / "out").rglob("*.csv")) == [
        "out/a.csv",
        "out/sub/b.csv",
    ]


def test_outputs_among_inputs_did_not_appear(run: Run, place: Path, artifact: Path) -> None:
    """They are the command's own; the next time they are among the inputs, and counted."""
    ended = run("apply", artifact, "d/sub", "-s", "score", "-o", "./d/sub/out.csv")
    assert "d/sub: 1 file read, 2 names skipped" in ended.err
    more = ("--out-dir", f"{place}/d/sub/more", "--name", "again")
    ended = run("apply", artifact, "d", "-s", "score", *more)
    assert "d: 3 files read, 5 names skipped" in ended.err
    assert "appeared" not in ended.err
    assert "d: 6 files read" in run("measure", "d").out


def test_a_copy_is_said_to_be_one(run: Run) -> None:
    """Under another name it is another file, whose rows count; one byte of difference makes no copy."""
    rows = ROWS + ROWS[len("score,label\n") :] * 2
    for name, text in {"a.csv": rows, "a (1).csv": rows, "b.csv": rows.replace("0.05", "0.06", 1)}.items():
        Path(name).write_text(text)
    said = "1 file holds the same bytes as another, so that rows are read twice: a (1).csv as a.csv"
    report = run("measure", "a.csv", "a (1).csv", "b.csv", *CHURN, "--json").document
    assert said in report["input"]["notes"]
    assert report["input"]["rows"] == 3 * 180
    assert found_in(["a.csv", "b.csv"]).notes() == ()
    # Copies of a file that is no copy of the first one of its size and end.
    for name in ("b (1).csv", "b (2).csv"):
        Path(name).write_bytes(Path("b.csv").read_bytes())
    every = ["a.csv", "b.csv", "b (1).csv", "a (1).csv", "b (2).csv"]
    pairs = "b (1).csv as b.csv, a (1).csv as a.csv, b (2).csv as b.csv"
    said = f"3 files hold the same bytes as another, so that rows are read twice: {pairs}"
    assert found_in(every).notes() == (said,)
    Path("short.csv").write_text("score,label\n")
    Path("short too.csv").write_text("score,label\n")
    assert found_in(["short.csv", "short too.csv"]).notes() == ()
    # What is compressed has other bytes, and the name of the file that it was made of.
    Path("b.csv.gz").write_bytes(gzip.compress(Path("b.csv").read_bytes()))
    said = "1 file seems to be another one compressed, so that rows are read twice: b.csv.gz beside b.csv"
    assert found_in(["a.csv", "b.csv", "b.csv.gz"]).notes() == (said,)
    assert found_in(["a.csv", "b.csv.gz"]).notes() == ()


def test_files_that_are_named_are_not_counted(place: Path) -> None:
    """Each of them stands in the report already."""
    assert found_in(["d/a.csv", "d/sub/b.csv"]).notes() == ()
    assert found_in(["d"]).notes() == (SAID,)
    assert place


@pytest.mark.parametrize(
    ("command", "named"),
    [
        *(("measure", named) for named in ("d", "d/*.csv", "d/**/*.csv", "d/gone.csv", "d:csv")),
        *((command, "d") for command in ("inspect", "fit", "plot -o p.svg", "verify --max-ece 0.5")),
    ],
)
def test_a_link_that_leads_nowhere_is_refused(run: Run, place: Path, named: str, command: str) -> None:
    """As git-annex and DVC leave them: with its name and what it points to, and not passed over."""
    (place / "d" / "gone.csv").symlink_to("../.git/annex/objects/1f")
    line, hint = run(*command.split(), named, code=3).err.splitlines()
    assert line == "error: d/gone.csv is a link to ../.git/annex/objects/1f, which is not there"
    assert "git annex get, dvc pull" in hint


def test_a_link_to_a_directory_that_is_not_there_is_refused(place: Path) -> None:
    """What it held is not known, whatever its name."""
    (place / "d" / "part2").symlink_to("/nowhere/part2")
    with pytest.raises(InputProblem, match="d/part2 is a link to /nowhere/part2, which is not there"):
        found_in(["d"])


def test_a_pattern_that_says_how_names_begin_takes_them(place: Path) -> None:
    """As a shell does; where nothing else matches, it is said that names that begin so are passed over."""
    for name in ("_a.csv", "_b.csv", ".c.csv"):
        (place / name).write_text(ROWS)
    assert paths("_*.csv") == ["_a.csv", "_b.csv"]
    assert paths(".*.csv") == [".c.csv"]
    with pytest.raises(InputProblem, match="all that match start with _ or"):
        found_in(["*.csv"])


def test_hidden_names_are_looked_at_no_further(place: Path) -> None:
    """Editors leave links that lead nowhere, such as `.#a.csv`."""
    (place / "d" / ".#a.csv").symlink_to("user@host.1234")
    assert (("d/.#a.csv", Reason.HIDDEN)) in found_in(["d"]).passed


def test_links_to_directories_are_followed_once(place: Path) -> None:
    """By the name of the directory itself before that of a link, and a link back up ends there."""
    (place / "far" / "deep").mkdir(parents=True)
    (place / "far" / "c.csv").write_text(ROWS)
    (place / "far" / "deep" / "e.csv").write_text(ROWS)
    (place / "d" / "far").symlink_to("../far")
    (place / "d" / "again").symlink_to("sub")
    (place / "d" / "z").symlink_to("../far/deep")
    (place / "d" / "self").symlink_to(".")
    (place / "d" / "out").symlink_to("..")
    expected = ["d/a.csv", "d/far/c.csv", "d/far/deep/e.csv", "d/sub/b.csv"]
    assert paths("d") == paths("d/**/*.csv") == paths("d/**/") == expected
    again = [name for name, why in found_in(["d"]).passed if why is Reason.AGAIN]
    assert sorted(again) == ["d/again", "d/out", "d/self", "d/sub/up", "d/z"]
    assert paths("d/*/") == ["d/far/c.csv", "d/far/deep/e.csv", "d/sub/b.csv"]


def test_directories_below_several_do_not_match_by_each_other(place: Path) -> None:
    """What is not below a directory is not how its names go on, even where a pattern may end in nothing."""
    for name in ("e/p/top.csv", "e/p/sub/x.csv", "e/q/top.csv", "e/q/sub/deep/y.csv"):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(ROWS)
    assert paths("e/*/**/*/") == ["e/p/sub/x.csv", "e/q/sub/deep/y.csv"]


@pytest.mark.parametrize("kind", ["a named pipe", "a socket", "a device"])
@pytest.mark.parametrize("named", ["d", "d/*.csv", "d/**/*.csv"])
def test_what_is_no_file_is_refused(place: Path, named: str, kind: str) -> None:
    """Neither waited for nor passed over; one whose name promises nothing is passed over like any other."""
    path = place / "d" / "p.csv"
    if kind == "a named pipe":
        os.mkfifo(path)
    elif kind == "a device":
        path.symlink_to("/dev/null")
    else:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("d/p.csv")
    with pytest.raises(InputProblem, match=f"d/p.csv .*{kind}"):
        found_in([named])
    path.rename(place / "d" / "p.lock")
    assert paths(named)[0] == "d/a.csv"


def test_one_file_under_two_names_is_refused(place: Path) -> None:
    """Links, hard links, detours, and a file beside its directory."""
    (place / "link.csv").symlink_to("d/a.csv")
    (place / "hard.csv").hardlink_to(place / "d" / "a.csv")
    (place / "l").symlink_to("d")
    for other in (
        "./d/a.csv",
        "link.csv",
        "hard.csv",
        "d/sub/../a.csv",
        "l/a.csv",
        "d",
        "d/*.csv",
        "l",
        "d/**/",
    ):
        with pytest.raises(UsageProblem, match=SAME):
            found_in(["d/a.csv", other])
    (place / "d" / "hard.csv").hardlink_to(place / "d" / "a.csv")
    with pytest.raises(UsageProblem, match=r"d/hard.csv is the same file as d/a.csv"):
        found_in(["d"])


def test_files_without_numbers_are_told_apart_by_their_paths(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some file systems of networks give every file the number 0."""
    found = os.stat

    def unnumbered(path: str, **more: bool) -> os.stat_result:
        status = found(path, **more)
        return os.stat_result([0 if n == 1 else field for n, field in enumerate(status)])

    monkeypatch.setattr(globs.os, "stat", unnumbered)
    assert paths("d") == ["d/a.csv", "d/sub/b.csv"]
    (place / "link.csv").symlink_to("d/a.csv")
    with pytest.raises(UsageProblem, match=SAME):
        found_in(["d/a.csv", "link.csv"])


@st.composite
def trees(draw: st.DrawFn) -> list[tuple[str, str, str]]:
    """Return what to make: directories, files, and links to any of them, inside and beside `d`."""
    folders = ["d", "far"]
    made: list[tuple[str, str, str]] = []
    for number in range(draw(st.integers(1, 9))):
        parent = draw(st.sampled_from(folders))
        name = draw(st.sampled_from(["a", "b", "_c", ".e"])) + str(number)
        kind = draw(st.sampled_from(["folder", "file", "file", "other", "link", "link"]))
        if kind == "folder":
            folders.append(f"{parent}/{name}")
        made.append((kind, f"{parent}/{name}", draw(st.sampled_from([*folders, "."]))))
    return made


def reached(folder: Path, seen: set[Path]) -> Iterator[Path]:
    """Yield the real data files below a directory: another way to walk, by paths alone."""
    seen.add(folder.resolve())
    for one in sorted(folder.iterdir()):
        if one.name[0] in "_.":
            continue
        if one.is_dir():
            if one.resolve() not in seen and one.resolve() not in Path("d").resolve().parents:
                yield from reached(one, seen)
        elif one.suffix == ".csv":
            yield one.resolve()


@pytest.mark.untraced
@given(tree=trees())
def test_any_tree_is_read_as_by_another_walk(
    tree: list[tuple[str, str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The same real files, each once, also by a pattern; and no name is left without a word."""
    before = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("tree"))
    try:
        Path("far").mkdir()
        Path("d").mkdir()
        Path("d/first.csv").write_text(ROWS)
        for kind, name, target in tree:
            match kind:
                case "folder":
                    Path(name).mkdir()
                case "link":
                    Path(name).symlink_to(Path(target).resolve())
                case _:
                    Path(name + (".csv" if kind == "file" else ".txt")).write_text(ROWS)
        found = found_in(["d"])
        real = [Path(one.path).resolve() for one in found.files]
        assert len(set(real)) == len(real)
        assert set(real) == set(reached(Path("d"), set()))
        assert paths("d/**/*.csv") == [one.path for one in found.files]
        passed = {name for name, _ in found.passed}
        for one in Path("d").rglob("*"):
            hidden = any(part[0] in "_." for part in one.relative_to("d").parts[:-1])
            known = str(one) in passed or str(one) in paths("d") or one.is_dir()
            assert hidden or known, one
    finally:
        os.chdir(before)


PARTS = st.sampled_from(
    ["*", "**", "?", "a*", "[ab]1", "[!a]*", "[b-a]*", "[!b-a]*", "a1", "b?", "*.csv", "?1.csv", "d"]
)


@pytest.mark.untraced
@given(
    names=st.lists(
        st.lists(st.sampled_from(["a1", "b1", "a2", "_c1", ".e1"]), min_size=1, max_size=3),
        min_size=1,
        max_size=6,
    ),
    parts=st.lists(PARTS, min_size=1, max_size=4),
)
def test_patterns_match_as_those_of_python(
    names: list[list[str]], parts: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Where there are no links: the same files as `glob`, but for names that are hidden."""
    before = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("tree"))
    try:
        for folders in names:
            Path("d", *folders[:-1]).mkdir(parents=True, exist_ok=True)
            Path("d", *folders[:-1], f"{folders[-1]}.csv").write_text(ROWS)
        pattern = "/".join(["d", *parts, *(["*.csv"] if parts[-1] == "**" else [])])
        if not globs.is_pattern(pattern):
            return
        expected = {
            str(Path(one))
            for one in glob.glob(pattern, recursive=True)  # noqa: PTH207 - the other one
            if not any(part[0] in "_." for part in Path(one).parts)
        }
        try:
            found = globs.matching(pattern)
        except InputProblem:
            assert not expected
            return
        assert found.files == sorted(one for one in expected if Path(one).is_file())
        assert {one for one in expected if Path(one).is_dir()} == set(found.folders)
    finally:
        os.chdir(before)


def test_a_file_that_appears_while_others_are_read_is_said(place: Path) -> None:
    """It is not among the rows; a moment earlier it would not have been there either."""
    found = found_in(["d"])
    (place / "d" / "new.csv").write_text(ROWS)
    assert found.notes() == (SAID, "1 file appeared meanwhile and not read: d/new.csv")
    (place / "d" / "gone.csv").symlink_to("nowhere")
    assert (
        found.notes()[1] == "since the files were listed: d/gone.csv is a link to nowhere, which is not there"
    )


def _put_back(path: Path) -> None:
    """Write other rows of the same length, and put the time back."""
    was = path.stat()
    path.write_text(ROWS.replace(",1\n", ",0\n"))
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))


def test_standard_input_from_a_file_is_held_to_the_same(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`< d/a.csv` is that file; a pipe has nothing to compare."""
    with (place / "d" / "a.csv").open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        fragments = list_fragments(["-"])
        _put_back(place / "d" / "a.csv")
        with (
            pytest.raises(InputProblem, match="standard input changed while it was read"),
            unchanged(fragments),
        ):
            pass


@pytest.fixture
def store(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store whose objects are the files of a directory, as far as `calibcli.data.objects` can tell."""
    inside = SubTreeFileSystem(str(place), LocalFileSystem())
    monkeypatch.setattr(
        objects, "_resolved", lambda address: (inside, address.partition("://")[2].partition("?")[0])
    )
    (place / "d" / "sub" / "up").unlink()
    return place


def test_objects_are_counted_as_files_are(store: Path) -> None:
    """Below an address, and by a pattern; under one address and another with options they are the same."""
    expected = ["s3://d/a.csv", "s3://d/sub/b.csv"]
    assert paths("s3://d") == paths("s3://d/**/*.csv") == expected
    (note,) = found_in(["s3://d"]).notes()
    assert note == SAID.partition("; 1 leading")[0].replace("5 names", "4 names").replace(
        "d/", "s3://d/"
    ).replace("d: 2", "s3://d: 2", 1)
    for other in ("S3://d/a.csv", "s3://d/a.csv?region=eu-west-1", "s3://d/"):
        with pytest.raises(UsageProblem, match=SAME):
            found_in(["s3://d/a.csv", other])
    pairs = output_pairs(["s3://d?region=eu"], "s3://out?region=us")
    assert [output for _, output in pairs] == ["s3://out/a.csv?region=us", "s3://out/sub/b.csv?region=us"]
    assert store


def test_an_object_that_changes_is_refused(store: Path) -> None:
    """Told by what the store says of it when it is opened."""
    fragments = list_fragments(["s3://d"])
    with unchanged(fragments):
        pass
    (store / "d" / "sub" / "b.csv").write_text(ROWS + "0.5,1\n")
    with pytest.raises(InputProblem, match=r"b.csv changed while it was read"), unchanged(fragments):
        pass


@pytest.mark.parametrize("there", [False, True])
def test_an_object_that_appears_is_not_replaced(store: Path, *, there: bool) -> None:
    """Stores are asked once more just before the upload."""
    target = store / "out.csv"
    if there:
        target.write_text("old")
    refuse_existing("s3://out.csv", force=there)

    def write() -> None:
        with new_file("s3://out.csv") as out:
            out.write(b"new")
            target.write_text("of another")

    with pytest.raises(OutputProblem, match=r"s3://out.csv (appeared|was changed) while this ran"):
        write()
    assert target.read_text() == "of another"


def test_a_column_that_later_files_lack_is_said_to_be_in_the_first(run: Run, tmp_path: Path) -> None:
    """Which those are that have it is told by a pattern; of a column that no file has nothing is said."""
    rows = [line.split(",") for line in ROWS.split()]
    for day, kept in ((1, 3), (2, 2)):
        lines = "\n".join(",".join([*row, "x" if place else "site"][:kept]) for place, row in enumerate(rows))
        Path(f"day-{day}.csv").write_text(f"{lines}\n")
    ran = run("measure", tmp_path, "--by", "site", code=3)
    assert "day-2.csv: there is no column 'site'" in ran.err
    sentence = "hint: the first file has it: a pattern in quotes, such as 'preds/2024-*', names those that do"
    assert sentence in ran.err
    run("measure", "day-1*", "--by", "site", "--min-group-rows", 1, code=0)
    assert "the first file" not in run("measure", tmp_path, "--by", "nothing", code=3).err
