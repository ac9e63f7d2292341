"""The last steps of an output: what fails there, what signals do there, and whose file it is afterwards."""

import errno
import os
import signal
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from calibcli.data.outputs import new_file, refuse_existing, write_file
from calibcli.errors import OutputProblem
from faults import How, Stage, fails, signals

SLOW = [pytest.mark.slow, pytest.mark.system]
ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user, or give files away")
OTHER, THIRD = 65534, 65533
# Every kind of output, each a file `out.*` or `gate.json`.
WRITERS = {
    "fit": "fit rows.csv -o out.json",
    "apply": "apply cal.json rows.csv -o out.csv",
    "measure": "measure rows.csv -o out.txt",
    "summary": "measure rows.csv --summary-out out.json",
    "verify": "verify rows.csv --max-ece 0.5 -o out.txt",
    "report": "verify rows.csv --max-ece 0.5 --report junit=out.xml",
    "state": "verify rows.csv --max-ece 0.5 --state out.json",
    "export": "export cal.json --to sql -s score --table t -o out.sql",
    "folder": "apply cal.json rows.csv --out-dir out",
}
# Those that differ most by every step, the others with the slow tests.
SOME = [kind if kind in ("apply", "state", "folder") else pytest.param(kind, marks=SLOW) for kind in WRITERS]
# They import what draws, which takes a second each time.
DRAWN = {"plot": "plot rows.csv -o out.svg --kind binned", "html": "report rows.csv -o out.html"}
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture
def stage() -> Iterator[Stage]:
    """A folder that other users may enter, for commands that hear SIGHUP although `nohup` began the tests."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    with tempfile.TemporaryDirectory(prefix="calibcli-last-") as name:
        Path(name).chmod(0o755)
        yield Stage(Path(name) / "stage")
    signal.signal(signal.SIGHUP, before)


def outputs(stage: Stage) -> list[str]:
    """Return what is new, but for the companion of a state."""
    return [name for name in stage.files() if name not in {"rows.csv", "cal.json", ".out.json.lock"}]


@pytest.mark.parametrize("kind", SOME)
def test_a_failing_last_step_is_one_line_and_leaves_nothing(stage: Stage, kind: str) -> None:
    """Exit 5, whether the file cannot be flushed, linked, or put in the place of another."""
    errors = (errno.EXDEV, errno.ENOSPC, errno.EACCES, errno.EPERM, errno.EIO, errno.EROFS, errno.EDQUOT)
    for place, step in enumerate(("os.fsync", "os.link", "os.replace")):
        number = errors[(place + len(kind)) % len(errors)]
        words = WRITERS[kind].split()
        if step == "os.link" and number in (errno.EACCES, errno.EPERM):
            number = errno.EIO
        if step == "os.replace":
            # Over a file that is there.
            assert stage.run(words).code == 0
            (stage.folder / "rows.csv").write_text("score,label\n" + "0.5,1\n0.25,0\n" * 600)
            words += [] if kind == "state" else ["--force"]
        before = stage.files()
        ran = stage.run(words, How(before=fails(step, number)))
        assert ran.code == 5, (kind, step, ran)
        said = [line for line in ran.err.splitlines() if line.startswith("error: ")]
        assert len(said) == 1, ran.err
        assert f"cannot be written: {os.strerror(number).lower()}" in said[0].lower()
        assert {**stage.files(), ".out.json.lock": b""} == {**before, ".out.json.lock": b""}
        assert kind != "folder" or step == "os.replace" or not (stage.folder / "out").exists()


def _raise(number: int, *_: object, **__: object) -> None:
    raise OSError(number, os.strerror(number))


def test_an_error_at_closing_is_one_of_the_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Network file systems say only then that there is no room."""
    monkeypatch.setattr(os, "fsync", os.close)
    with pytest.raises(OutputProblem, match="out cannot be written: bad file descriptor"):
        write_file(tmp_path / "out", b"new")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("taken", [False, True])
def test_without_hard_links_nothing_unseen_is_replaced_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, taken: bool
) -> None:
    """FAT has none."""
    target = tmp_path / "out"

    def linked(_: object, place: str) -> None:
        if taken:
            Path(place).write_bytes(b"of another")
        raise OSError(errno.EPERM, "no hard links here")

    monkeypatch.setattr(os, "link", linked)
    if taken:
        with pytest.raises(OutputProblem, match="out appeared while this ran, and was not replaced") as told:
            write_file(target, b"new")
        assert told.value.hint == "look at what is there now, and run this again, with --force to replace it"
    else:
        write_file(target, b"new")
    assert [one.read_bytes() for one in tmp_path.iterdir()] == [b"of another" if taken else b"new"]


def test_without_hard_links_a_failing_rename_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even the empty file that took the name."""
    monkeypatch.setattr(os, "link", partial(_raise, errno.EOPNOTSUPP))
    monkeypatch.setattr(os, "replace", partial(_raise, errno.EIO))
    with pytest.raises(OutputProblem, match="input/output error"):
        write_file(tmp_path / "out", b"new")
    assert list(tmp_path.iterdir()) == []


def _appears(target: Path) -> None:
    target.write_bytes(b"of another")


def _is_written_to(target: Path) -> None:
    times = target.stat()
    target.write_bytes(b"OLD")
    os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))


def _is_replaced(target: Path) -> None:
    other = target.with_name("other")
    other.write_bytes(b"of another")
    other.replace(target)


def _leads_elsewhere(target: Path) -> None:
    (target.parent / "elsewhere").write_bytes(b"of another")
    target.unlink()
    target.symlink_to("elsewhere")


@pytest.mark.parametrize(
    ("meanwhile", "force", "said"),
    [
        (_appears, False, "appeared"),
        (_appears, True, "appeared"),
        (_is_written_to, True, "changed"),
        (_is_replaced, True, "changed"),
        (_leads_elsewhere, True, "changed"),
    ],
)
def test_what_was_not_seen_is_not_replaced(
    tmp_path: Path, meanwhile: Callable[[Path], None], said: str, *, force: bool
) -> None:
    """Neither without --force nor with it: --force is said of what is there when the command begins."""
    target = tmp_path / "out"
    if said == "changed":
        target.write_bytes(b"old")
    refuse_existing(target, force=force)

    def write() -> None:
        with new_file(target) as out:
            out.write(b"new")
            meanwhile(target)

    with pytest.raises(OutputProblem, match=f"{said} while this ran, and was not replaced"):
        write()
    assert target.read_bytes() in (b"of another", b"OLD")
    assert not list(tmp_path.glob(".*"))


def test_what_vanished_meanwhile_is_written(tmp_path: Path) -> None:
    """There is nothing to lose."""
    (tmp_path / "out").write_bytes(b"old")
    refuse_existing(tmp_path / "out", force=True)
    (tmp_path / "out").unlink()
    write_file(tmp_path / "out", b"new")
    assert (tmp_path / "out").read_bytes() == b"new"


def _files(stage: Stage, *names: str) -> None:
    """Write a directory of files with the rows."""
    (stage.folder / "d").mkdir()
    for name in names:
        (stage.folder / "d" / name).write_bytes((stage.folder / "rows.csv").read_bytes())


def test_an_output_of_a_folder_that_appears_is_not_replaced(stage: Stage) -> None:
    """Two runs into one folder: the later one of a file is refused, and says how to go on."""
    _files(stage, "a.csv", "b.csv")
    ran = stage.run(["apply", "cal.json", "d", "--out-dir", "out", "-q"], How(before=_another_writes))
    assert ran.code == 5
    assert "error: out/b.csv exists already" in ran.err
    assert "1 other file is written: --skip-existing goes on from there" in ran.err
    assert (stage.folder / "out" / "b.csv").read_bytes() == b"of another"


def _another_writes() -> None:
    """Let another write `b.csv` as soon as there is an `a.csv`."""
    linked = os.link

    def link(beside: str, place: str) -> None:
        linked(beside, place)
        Path(place).with_name("b.csv").write_bytes(b"of another")

    os.link = link  # type: ignore[assignment]


@pytest.mark.parametrize("kind", [*SOME, *(pytest.param(kind, marks=SLOW) for kind in DRAWN)])
def test_a_signal_once_the_output_is_in_place_comes_too_late(stage: Stage, kind: str) -> None:
    """Exit 0 with all of it, wherever the signal falls: at the rename, in what is said of it, at the end."""
    points = [
        ("os.link", True),
        ("os.link", False),
        ("os.replace", True),
        # `plot` writes its notes before the picture.
        *([] if kind == "plot" else [("stderr.write", False)]),
        ("stdout.flush", True),
        ("stdout.flush", False),
        ("os._exit", False),
    ]
    words = {**WRITERS, **DRAWN}[kind].split()
    assert stage.run(words).code == 0
    whole = {name: stage.files()[name] for name in outputs(stage)}
    for place, (point, after) in enumerate(points):
        for name in (*whole, "out"):
            if point != "os.replace":
                with suppress(OSError):
                    (stage.folder / name).unlink()
        more = ["--force"] if point == "os.replace" and kind != "state" else []
        number = SIGNALS[(place + len(kind)) % 3]
        ran = stage.run([*words, *more], How(before=signals(point, number, after=after)))
        assert ran.code == 0, (kind, point, after, ran)
        assert {name: stage.files()[name] for name in outputs(stage)} == whole
        assert "Traceback" not in ran.err


# Not a report beside the one that is printed, which is written once that one is out.
@pytest.mark.parametrize(
    "kind",
    ["apply", "folder", *(pytest.param(one, marks=SLOW) for one in ("fit", "summary", "state", *DRAWN))],
)
def test_a_signal_before_the_output_is_in_place_leaves_nothing(stage: Stage, kind: str) -> None:
    """130, 143 or 129, and the folder is what it was; another signal while it tidies up changes nothing."""
    words = {**WRITERS, **DRAWN}[kind].split()
    for place, after in enumerate((False, True)):
        number = SIGNALS[(place + len(kind)) % 3]
        ran = stage.run(words, How(before=partial(_twice, number, after=after)))
        assert ran.code == 128 + number, (kind, after, ran)
        assert outputs(stage) == []
        assert not (stage.folder / "out").exists()
        assert "Traceback" not in ran.err


def _twice(number: int, *, after: bool) -> None:
    """Send a signal at the flushing to the disk, and another when what is unfinished is removed."""
    signals("os.fsync", number, after=after)()
    signals("os.unlink", signal.SIGHUP, after=False)()


def _in_a_class() -> None:
    """Send a signal while a class is made, where Python up to 3.11 makes another error of what it raises."""
    synced = os.fsync

    class Sends:
        def __set_name__(self, owner: type, name: str) -> None:
            os.kill(os.getpid(), signal.SIGTERM)

    def fsync(number: int) -> None:
        type("Made", (), {"sends": Sends()})
        synced(number)

    os.fsync = fsync  # type: ignore[assignment]


def _in_a_destructor() -> None:
    """Send a signal while an object goes, where Python goes on after what it raises."""
    synced = os.fsync

    class Sends:
        def __del__(self) -> None:
            os.kill(os.getpid(), signal.SIGTERM)

    def fsync(number: int) -> None:
        Sends()
        synced(number)

    os.fsync = fsync  # type: ignore[assignment]


@pytest.mark.parametrize("place", [_in_a_class, _in_a_destructor])
def test_a_signal_that_is_lost_on_the_way_is_heard(stage: Stage, place: Callable[[], None]) -> None:
    """143, nothing new, and no word of a bug."""
    ran = stage.run(WRITERS["apply"].split(), How(before=place))
    assert (ran.code, ran.err) == (143, "")
    assert stage.left() == "nothing"


def test_a_failed_gate_stays_failed_when_a_signal_comes_late(stage: Stage) -> None:
    """The exit code is that of the verdict, and not 0."""
    words = ["verify", "rows.csv", "--max-ece", "0.0001", "-o", "out.txt"]
    code = stage.run(words).code
    assert code in (1, 4)
    (stage.folder / "out.txt").unlink()
    ran = stage.run(words, How(before=signals("os.link", signal.SIGTERM, after=True)))
    assert ran.code == code


def test_a_signal_between_two_files_of_a_folder_is_heard(stage: Stage) -> None:
    """Files before it are whole, and the exit code says that not all of them are there."""
    _files(stage, "a.csv", "b.csv")
    ran = stage.run(
        ["apply", "cal.json", "d", "--out-dir", "out", "-q"],
        How(before=signals("os.link", signal.SIGTERM, after=True)),
    )
    assert ran.code == 143
    assert [one.name for one in (stage.folder / "out").glob("*.csv")] == ["a.csv"]


def test_a_signal_after_the_last_file_of_a_folder_comes_too_late(stage: Stage) -> None:
    """Also where threads write the files."""
    _files(stage, "a.csv", "b.csv", "c.csv")
    words = ["apply", "cal.json", "d", "--out-dir", "out", "-q", "--jobs", "3"]
    ran = stage.run(words, How(before=_after_the_third))
    assert ran.code == 0, ran
    assert len(list((stage.folder / "out").glob("*.csv"))) == 3


def _after_the_third() -> None:
    linked = os.link

    def link(beside: str, place: str) -> None:
        linked(beside, place)
        if len(list(Path(place).parent.glob("?.csv"))) == 3:
            os.kill(os.getpid(), signal.SIGTERM)

    os.link = link  # type: ignore[assignment]


def test_signals_mean_afterwards_what_they_meant_before(stage: Stage) -> None:
    """Of a program that runs the command line within itself."""
    from calibcli.shell.app import main

    before = [signal.getsignal(number) for number in SIGNALS]
    assert main(["inspect", str(stage.folder / "rows.csv"), "-q"]) in (0, 2)
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_what_is_replaced_keeps_its_mode(stage: Stage) -> None:
    """Also a state, which is replaced at every call; and no umask widens or narrows it."""
    for place, (kind, mode) in enumerate((("fit", 0o600), ("apply", 0o664), ("state", 0o664))):
        words = WRITERS[kind].split()
        assert stage.run(words).code == 0
        (target,) = (stage.folder / name for name in outputs(stage))
        target.chmod(mode)
        (stage.folder / "rows.csv").write_text("score,label\n" + "0.5,1\n0.25,0\n" * (100 + place))
        before = target.read_bytes()
        ran = stage.run([*words, *([] if kind == "state" else ["--force"])], How(umask=0o027))
        assert ran.code == 0, ran
        assert target.read_bytes() != before
        assert stat.S_IMODE(target.stat().st_mode) == mode
        target.unlink()


def test_a_part_is_no_more_open_than_what_it_replaces(tmp_path: Path) -> None:
    """While it is written, too."""
    target = tmp_path / "out"
    target.write_bytes(b"old")
    target.chmod(0o600)
    with new_file(target) as out:
        out.write(b"secret")
        (part,) = tmp_path.glob(".*.part")
        assert stat.S_IMODE(part.stat().st_mode) == 0o600


@ROOT
def test_root_keeps_owner_and_group(stage: Stage) -> None:
    """A cron job of root does not take files away from their owner."""
    target = stage.folder / "out.csv"
    target.write_text("old")
    os.chown(target, OTHER, THIRD)
    target.chmod(0o640)
    assert stage.run([*WRITERS["apply"].split(), "--force"]).code == 0
    found = target.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (OTHER, THIRD, 0o640)


@ROOT
def test_rights_of_a_group_that_cannot_be_kept_are_not_handed_to_another(stage: Stage) -> None:
    """The file becomes the user's, and a group that it was not meant for gets what everybody gets."""
    target = stage.folder / "out.csv"
    target.write_text("old")
    os.chown(stage.folder, OTHER, OTHER)
    os.chown(target, OTHER, THIRD)
    target.chmod(0o664)
    ran = stage.run([*WRITERS["apply"].split(), "--force"], How(user=OTHER))
    assert ran.code == 0, ran
    found = target.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (OTHER, OTHER, 0o644)


@pytest.mark.parametrize("user", [None, pytest.param(OTHER, marks=ROOT)])
@pytest.mark.parametrize(
    "kind", ["apply", "state", *(pytest.param(one, marks=SLOW) for one in ("fit", "summary", "report"))]
)
def test_a_read_only_output_is_not_replaced(stage: Stage, kind: str, user: int | None) -> None:
    """Not with --force, not by its owner, and not by root, who may write anywhere."""
    words = WRITERS[kind].split()
    assert stage.run(words).code == 0
    (target,) = (stage.folder / name for name in outputs(stage))
    for path in (stage.folder, target, *stage.folder.glob(".*.lock")):
        os.chown(path, OTHER if user else os.geteuid(), -1)
    target.chmod(0o444)
    before = target.read_bytes()
    ran = stage.run([*words, *([] if kind == "state" else ["--force"])], How(user=user))
    assert ran.code == 5, ran
    assert f"error: {target.name} is read-only, and stays as it is" in ran.err
    assert target.read_bytes() == before


@ROOT
@pytest.mark.parametrize(
    ("theirs", "code", "said"),
    [
        ("rows.csv", 3, "rows.csv cannot be read: permission denied"),
        ("cal.json", 3, "cal.json: cannot be read (Permission denied)"),
        ("out.csv", 5, "out.csv cannot be written: no permission"),
    ],
)
def test_files_of_another_user_in_a_shared_folder(stage: Stage, theirs: str, code: int, said: str) -> None:
    """One line that names the file, and nothing is changed."""
    stage.folder.chmod(0o777)
    (stage.folder / theirs).touch()
    (stage.folder / theirs).chmod(0o644 if theirs == "out.csv" else 0o600)
    ran = stage.run([*WRITERS["apply"].split(), "--force"], How(user=OTHER))
    assert (ran.code, ran.err.splitlines()[0]) == (code, f"error: {said}")
    assert stage.left() == "nothing"


@ROOT
def test_a_sticky_folder_keeps_files_for_their_owner(stage: Stage) -> None:
    """As /tmp does, even a file that everybody may write; it is said before anything is read."""
    stage.folder.chmod(0o1777)
    target = stage.folder / "out.csv"
    target.touch()
    target.chmod(0o666)
    ran = stage.run([*WRITERS["apply"].split(), "--force"], How(user=OTHER))
    assert ran.code == 5
    assert "error: out.csv cannot be written: in" in ran.err
    assert "only its owner may replace it" in ran.err
    os.chown(target, OTHER, OTHER)
    assert stage.run([*WRITERS["apply"].split(), "--force"], How(user=OTHER)).code == 0


@ROOT
@pytest.mark.parametrize("sticky", [False, True])
def test_two_users_share_a_state(stage: Stage, *, sticky: bool) -> None:
    """The lock of the first serves the second, who grows the state where its rights let them."""
    words = WRITERS["state"].split()
    stage.folder.chmod(0o1777 if sticky else 0o777)
    assert stage.run(words, How(user=THIRD)).code == 0
    state = stage.folder / "out.json"
    assert stat.S_IMODE((stage.folder / ".out.json.lock").stat().st_mode) == 0o644
    (stage.folder / "rows.csv").write_text("score,label\n" + "0.5,1\n0.25,0\n" * 600)
    (stage.folder / "rows.csv").chmod(0o644)
    state.chmod(0o600)
    ran = stage.run(words, How(user=OTHER))
    assert ran.code in (3, 5)
    assert "ermission denied" in ran.err or "no permission" in ran.err
    state.chmod(0o666)
    before = state.read_bytes()
    ran = stage.run(words, How(user=OTHER))
    assert ran.code == (5 if sticky else 0), ran
    assert (state.read_bytes() == before) is sticky
    assert stat.S_IMODE(state.stat().st_mode) == 0o666


def test_an_access_list_is_kept(tmp_path: Path) -> None:
    """The rights of everybody on it do not become those of the group."""
    target = tmp_path / "out"
    target.write_bytes(b"old")
    # user::rw- user:65534:rw- group::--- mask::rw- other::---
    entries = (
        (1, 6, 0xFFFFFFFF),
        (2, 6, OTHER),
        (4, 0, 0xFFFFFFFF),
        (16, 6, 0xFFFFFFFF),
        (32, 0, 0xFFFFFFFF),
    )
    content = (2).to_bytes(4, "little") + b"".join(
        tag.to_bytes(2, "little") + rights.to_bytes(2, "little") + who.to_bytes(4, "little")
        for tag, rights, who in entries
    )
    try:
        os.setxattr(target, "system.posix_acl_access", content)
    except (AttributeError, OSError):
        pytest.skip("this file system has no access lists")
    refuse_existing(target, force=True)
    write_file(target, b"new")
    assert target.read_bytes() == b"new"
    assert os.getxattr(target, "system.posix_acl_access") == content
