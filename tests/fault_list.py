"""The faults that are tried, in the order of the table in docs/hardening.md."""
# ruff: noqa: ARG001 - all faults have one shape

import errno
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from command_line import SAMPLE, Ran
from faults import FAULTS, How, Stage, fails, fault, in_the_middle, signals, while_read, while_silent

__all__ = ["FAULTS"]
APPLY = "apply cal.json rows.csv -o out.csv"
PIPED = "apply cal.json - -s score -o out.csv"


@fault("no room for the output (RLIMIT_FSIZE)", APPLY)
def no_room(stage: Stage, words: list[str]) -> Ran:
    return stage.run(words, How(file_size=20_000))


@fault("no room for a state that exists", "verify rows.csv --max-ece 0.5 --state gate.json")
def no_room_for_state(stage: Stage, words: list[str]) -> Ran:
    assert stage.run(words).code == 0
    _append(stage.folder / "rows.csv")
    return stage.run(words, How(file_size=1000))


@fault("no room for standard input that is kept in a temporary file", "measure - -s score -y label")
def no_room_to_spool(stage: Stage, words: list[str]) -> Ran:
    return stage.run(words, How(stdin=str(SAMPLE / "churn_evaluation.parquet"), file_size=10_000))


@fault("standard output is a full device", "measure rows.csv")
def full_device(stage: Stage, words: list[str]) -> Ran:
    return stage.run(words, How(stdout="/dev/full"))


@fault("the reader of standard output leaves", "measure rows.csv --json | true", slow=True)
def reader_leaves(stage: Stage, words: list[str]) -> Ran:
    return stage.shell("set -o pipefail; calibcli measure rows.csv --json | true; exit ${PIPESTATUS[0]}")


@fault("Ctrl-C in the middle", PIPED)
def interrupted(stage: Stage, words: list[str]) -> Ran:
    return in_the_middle(stage, words, lambda process: os.kill(process, signal.SIGINT))


@fault("SIGTERM in the middle", PIPED, slow=True)
def terminated(stage: Stage, words: list[str]) -> Ran:
    return in_the_middle(stage, words, lambda process: os.kill(process, signal.SIGTERM))


@fault("the terminal is closed in the middle (SIGHUP)", PIPED)
def hung_up(stage: Stage, words: list[str]) -> Ran:
    return in_the_middle(stage, words, lambda process: os.kill(process, signal.SIGHUP))


@fault("SIGKILL in the middle, over an output that exists", f"{PIPED} --force")
def killed(stage: Stage, words: list[str]) -> Ran:
    (stage.folder / "out.csv").write_text("old")
    return in_the_middle(stage, words, lambda process: os.kill(process, signal.SIGKILL))


@fault("Ctrl-C while standard input gives nothing", "measure - -s score -y label")
def interrupted_in_silence(stage: Stage, words: list[str]) -> Ran:
    ran = while_silent(stage, words, lambda process: os.kill(process, signal.SIGINT))
    assert ran.out == ""
    return ran


@fault("SIGTERM while standard input gives nothing", "measure - -s score -y label", slow=True)
def terminated_in_silence(stage: Stage, words: list[str]) -> Ran:
    return while_silent(stage, words, lambda process: os.kill(process, signal.SIGTERM))


@fault("the directory of the output is removed in the middle", PIPED.replace("out.csv", "out/out.csv"))
def folder_removed(stage: Stage, words: list[str]) -> Ran:
    (stage.folder / "out").mkdir()
    return in_the_middle(stage, words, lambda _: shutil.rmtree(stage.folder / "out"))


@fault("the input grows while it is read", "measure large.csv")
def grows(stage: Stage, words: list[str]) -> Ran:
    return while_read(stage, words, _append)


@fault("the input is cut short while it is read", "measure large.csv", slow=True)
def cut_short(stage: Stage, words: list[str]) -> Ran:
    return while_read(stage, words, lambda path: os.truncate(path, 12))


@fault("the input is replaced while it is read", "measure large.csv", slow=True)
def replaced(stage: Stage, words: list[str]) -> Ran:
    return while_read(stage, words, _replace)


@fault("the input is rewritten while it is read, and its time put back", "measure large.csv")
def rewritten(stage: Stage, words: list[str]) -> Ran:
    return while_read(stage, words, lambda path: _rewrite(path, path.read_bytes().replace(b",1\n", b",0\n")))


def _folder(stage: Stage) -> Path:
    """Return a directory with the rows."""
    folder = stage.folder / "d"
    folder.mkdir()
    shutil.copy(stage.folder / "rows.csv", folder)
    return folder


@fault("a file appears in a directory that is read: it is said, and not read", "measure d --json")
def appears(stage: Stage, words: list[str]) -> Ran:
    _folder(stage)
    ran = stage.run(words, How(before=_one_more))
    assert "note: 1 file appeared meanwhile and not read: d/more.csv" in ran.err
    return ran


def _one_more() -> None:
    """Let a file appear once the first one has been looked at."""
    from calibcli.data import fragments

    looked_at = fragments.kind_of

    def kind_of(*words: Any, **named: Any) -> Any:
        shutil.copy("d/rows.csv", "d/more.csv")
        return looked_at(*words, **named)

    fragments.kind_of = kind_of


@fault("a link in a directory that leads nowhere, as git-annex and DVC leave them", "measure d")
def link_to_nowhere(stage: Stage, words: list[str]) -> Ran:
    _folder(stage)
    (stage.folder / "d" / "more.csv").symlink_to("../.git/annex/1f.csv")
    return stage.run(words)


@fault("a named pipe in a directory", "measure d")
def pipe_in_folder(stage: Stage, words: list[str]) -> Ran:
    _folder(stage)
    os.mkfifo(stage.folder / "d" / "more.csv")
    return stage.run(words)


@fault("links to directories that lead in circles", "measure d --json")
def circles(stage: Stage, words: list[str]) -> Ran:
    folder = _folder(stage)
    for name, target in (("self", "."), ("up", ".."), ("abs", str(folder))):
        (folder / name).symlink_to(target)
    ran = stage.run(words)
    assert "1 file read, 3 names skipped: 3 leading back to a directory above" in ran.err
    # Through the links there are more names for the same files.
    stage.left_then = "nothing"
    return ran


@fault("a file in a directory under two names (a hard link)", "measure d")
def two_names(stage: Stage, words: list[str]) -> Ran:
    _folder(stage)
    (stage.folder / "d" / "same.csv").hardlink_to(stage.folder / "d" / "rows.csv")
    return stage.run(words)


@fault("the input is removed while it is read", "fit large.csv -o out.json", slow=True)
def removed(stage: Stage, words: list[str]) -> Ran:
    return while_read(stage, words, lambda path: path.unlink())


@fault("the input grows while it is repaired", "apply cal.json large.csv -o out.csv")
def grows_while_applied(stage: Stage, words: list[str]) -> Ran:
    return while_read(stage, words, _append, begun=".out.csv.*.part")


def _append(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"0.5,1\n")


def _replace(path: Path) -> None:
    other = path.with_suffix(".new")
    other.write_bytes(path.read_bytes().replace(b",1\n", b",0\n"))
    other.replace(path)


@fault("an input without permission", "measure rows.csv")
def unreadable(stage: Stage, words: list[str]) -> Ran:
    (stage.folder / "rows.csv").chmod(0)
    return stage.run(words, How(rights=False))


@fault("an artifact without permission", APPLY)
def unreadable_artifact(stage: Stage, words: list[str]) -> Ran:
    (stage.folder / "cal.json").chmod(0)
    return stage.run(words, How(rights=False))


def _without_writing(stage: Stage, words: list[str]) -> Ran:
    stage.folder.chmod(0o555)
    try:
        return stage.run(words, How(rights=False))
    finally:
        stage.folder.chmod(0o755)


for line in ("fit rows.csv -o out.json", "measure rows.csv"):
    fault("a working directory that cannot be written", line)(_without_writing)


@fault("umask 077: the output has the mode 600", APPLY)
def private(stage: Stage, words: list[str]) -> Ran:
    ran = stage.run(words, How(umask=0o077))
    assert (stage.folder / "out.csv").stat().st_mode & 0o777 == 0o600
    return ran


@fault("the output is a link: its target is written", f"{APPLY} --force")
def link(stage: Stage, words: list[str]) -> Ran:
    (stage.folder / "target.csv").write_text("old")
    (stage.folder / "out.csv").symlink_to("target.csv")
    ran = stage.run(words)
    assert (stage.folder / "out.csv").is_symlink()
    return ran


@fault("the output is a link to itself", f"{APPLY} --force")
def loop(stage: Stage, words: list[str]) -> Ran:
    (stage.folder / "out.csv").symlink_to("out.csv")
    return stage.run(words)


@fault("the output is a hard link to the input", f"{APPLY} --force")
def hard_link(stage: Stage, words: list[str]) -> Ran:
    (stage.folder / "out.csv").hardlink_to(stage.folder / "rows.csv")
    return stage.run(words)


RENAMES = (
    errno.EXDEV,
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EIO,
    errno.EROFS,
    errno.EACCES,
    errno.EPERM,
)


def _each_error(stage: Stage, words: list[str], function: str, numbers: tuple[int, ...] = RENAMES) -> Ran:
    """Let a function of the system fail with every error in turn; the folder stays what it was."""
    before = stage.files()
    for number in numbers:
        ran = stage.run(words, How(before=fails(function, number)))
        assert ran.code == 5
        assert ran.err.startswith(f"error: out.csv cannot be written: {os.strerror(number).lower()}")
        assert stage.files() == before
    return ran


@fault("the output cannot get its name: 5 errors of the system in turn", APPLY)
def no_link(stage: Stage, words: list[str]) -> Ran:
    # The other two are what a file system says that has no links, and then it is renamed.
    return _each_error(stage, words, "os.link", RENAMES[:5])


@fault("the output cannot replace what is there: 7 errors in turn", f"{APPLY} --force")
def no_rename(stage: Stage, words: list[str]) -> Ran:
    (stage.folder / "out.csv").write_text("old")
    return _each_error(stage, words, "os.replace")


@fault("the output cannot be flushed to the disk: 7 errors in turn", APPLY)
def no_flush(stage: Stage, words: list[str]) -> Ran:
    return _each_error(stage, words, "os.fsync")


@fault("SIGTERM as soon as the output is in place: the command has done what it was to do", APPLY)
def late_signal(stage: Stage, words: list[str]) -> Ran:
    return stage.run(words, How(before=signals("os.link", signal.SIGTERM, after=True)))


@fault("Ctrl-C while it is said what was written", APPLY)
def signal_while_said(stage: Stage, words: list[str]) -> Ran:
    return stage.run(words, How(before=signals("stderr.write", signal.SIGINT, after=False)))


@fault("SIGTERM just before the output is in place, and SIGHUP while it is tidied up", APPLY)
def two_signals(stage: Stage, words: list[str]) -> Ran:
    return stage.run(words, How(before=_two_signals))


def _two_signals() -> None:
    signals("os.fsync", signal.SIGTERM, after=True)()
    signals("os.unlink", signal.SIGHUP, after=False)()


@fault("an output appears while this runs", PIPED)
def output_appears(stage: Stage, words: list[str]) -> Ran:
    ran = in_the_middle(stage, words, lambda _: (stage.folder / "out.csv").write_text("of another"))
    stage.before["out.csv"] = b"of another"
    return ran


@fault("the output is written to while this runs, and its time put back", f"{PIPED} --force")
def output_changes(stage: Stage, words: list[str]) -> Ran:
    (stage.folder / "out.csv").write_text("old")
    ran = in_the_middle(stage, words, lambda _: _rewrite(stage.folder / "out.csv", b"new"))
    stage.before["out.csv"] = b"new"
    return ran


def _rewrite(path: Path, content: bytes) -> None:
    """Give a file another content of the same length, and the time it had."""
    was = path.stat()
    path.write_bytes(content)
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))


@fault("a read-only output", f"{APPLY} --force")
def read_only_output(stage: Stage, words: list[str]) -> Ran:
    (stage.folder / "out.csv").write_text("old")
    (stage.folder / "out.csv").chmod(0o444)
    return stage.run(words)


@fault("a state of the mode 600 stays one", "verify rows.csv --max-ece 0.5 --state gate.json")
def private_state(stage: Stage, words: list[str]) -> Ran:
    assert stage.run(words).code == 0
    (stage.folder / "gate.json").chmod(0o600)
    _append(stage.folder / "rows.csv")
    ran = stage.run(words)
    assert (stage.folder / "gate.json").stat().st_mode & 0o777 == 0o600
    return ran


# Whoever is nobody.
OTHER = 65534


def _shared(stage: Stage, mode: int, file: str, rights: int) -> None:
    """Let everybody write in the folder, and give one of its files other rights."""
    stage.folder.chmod(mode)
    (stage.folder / file).touch()
    (stage.folder / file).chmod(rights)


@fault("an input of another user, in a folder that two share", APPLY, slow=True)
def input_of_another(stage: Stage, words: list[str]) -> Ran:
    _shared(stage, 0o777, "rows.csv", 0o600)
    return stage.run(words, How(user=OTHER))


@fault("an output of another user, in a folder that two share", f"{APPLY} --force", slow=True)
def output_of_another(stage: Stage, words: list[str]) -> Ran:
    _shared(stage, 0o777, "out.csv", 0o644)
    return stage.run(words, How(user=OTHER))


@fault(
    "the same, and everybody may write it: owner and mode stay if root asks", f"{APPLY} --force", slow=True
)
def output_kept_for_another(stage: Stage, words: list[str]) -> Ran:
    _shared(stage, 0o777, "out.csv", 0o666)
    os.chown(stage.folder / "out.csv", OTHER, OTHER)
    ran = stage.run(words)
    found = (stage.folder / "out.csv").stat()
    assert (found.st_uid, found.st_gid, found.st_mode & 0o777) == (OTHER, OTHER, 0o666)
    return ran


@fault("an output of another user, in a sticky folder such as /tmp", f"{APPLY} --force", slow=True)
def sticky(stage: Stage, words: list[str]) -> Ran:
    _shared(stage, 0o1777, "out.csv", 0o666)
    return stage.run(words, How(user=OTHER))


@fault("a state of another user", "verify rows.csv --max-ece 0.5 --state gate.json", slow=True)
def state_of_another(stage: Stage, words: list[str]) -> Ran:
    assert stage.run(words).code == 0
    _shared(stage, 0o777, "gate.json", 0o600)
    return stage.run(words, How(user=OTHER))


@fault(
    "a state that two users may write, and the lock is one's own",
    "verify rows.csv --max-ece 0.5 --state gate.json",
    slow=True,
)
def lock_of_another(stage: Stage, words: list[str]) -> Ran:
    assert stage.run(words).code == 0
    _shared(stage, 0o777, "gate.json", 0o666)
    _append(stage.folder / "rows.csv")
    return stage.run(words, How(user=OTHER))


@fault("a name of 255 bytes", "fit rows.csv -o NAME")
def long_name(stage: Stage, words: list[str]) -> Ran:
    return stage.run([*words[:-1], "n" * 255])


@fault("a name of 256 bytes", "fit rows.csv -o NAME")
def too_long_name(stage: Stage, words: list[str]) -> Ran:
    return stage.run([*words[:-1], "n" * 256])


@fault("a file name with a line break", "measure NAME -s nothing")
def line_break(stage: Stage, words: list[str]) -> Ran:
    shutil.copy(stage.folder / "rows.csv", stage.folder / "a\nerror: b.csv")
    return stage.run(["measure", "a\nerror: b.csv", *words[2:]])


@fault("a file name that is not UTF-8", "measure NAME")
def not_utf8(stage: Stage, words: list[str]) -> Ran:
    name = os.fsdecode(b"p\xff.csv")
    shutil.copy(stage.folder / "rows.csv", stage.folder / name)
    return stage.run(["measure", name])


@fault("a file name in a directory that is not UTF-8", "measure FOLDER")
def not_utf8_below(stage: Stage, words: list[str]) -> Ran:
    (_folder(stage) / "rows.csv").rename(stage.folder / "d" / os.fsdecode(b"p\xff.csv"))
    return stage.run(["measure", "d"])


@fault("an endless input without a line end", "measure /dev/zero")
def endless(stage: Stage, words: list[str]) -> Ran:
    return stage.run(words)


@fault("170 MiB of address space", "measure rows.csv")
def little_memory(stage: Stage, words: list[str]) -> Ran:
    # A process of its own: one that was forked holds most of that already.
    return stage.shell(f"ulimit -v {170 << 10}; calibcli {shlex.join(words)}")


@fault("eight open files at most", "measure rows.csv")
def few_files(stage: Stage, words: list[str]) -> Ran:
    return stage.run(words, How(files=8))


@fault("no home that can be written (HOME=/proc)", "plot rows.csv -o out.svg --kind binned", slow=True)
def no_home(stage: Stage, words: list[str]) -> Ran:
    before = set(Path(tempfile.gettempdir()).glob("matplotlib-*"))
    ran = stage.run(
        words, How(environment={"HOME": "/proc", "XDG_CACHE_HOME": None, "XDG_CONFIG_HOME": None})
    )
    assert set(Path(tempfile.gettempdir()).glob("matplotlib-*")) == before
    assert "atplotlib" not in ran.err
    return ran


@fault("no HOME, and TMPDIR does not exist", "measure - -s score -y label")
def no_tmpdir(stage: Stage, words: list[str]) -> Ran:
    how = How(
        stdin=str(SAMPLE / "churn_evaluation.parquet"), environment={"HOME": None, "TMPDIR": "/nonexistent"}
    )
    return stage.run(words, how)


@fault("another clock and time zone: the same bytes", "plot rows.csv -o out.svg --kind binned", slow=True)
def other_clock(stage: Stage, words: list[str]) -> Ran:
    assert stage.run(words).code == 0
    drawn = (stage.folder / "out.svg").read_bytes()
    (stage.folder / "out.svg").unlink()
    os.utime(stage.folder / "rows.csv", (0, 4_102_444_800))
    ran = stage.run(words, How(environment={"TZ": "Pacific/Kiritimati", "SOURCE_DATE_EPOCH": "4102444800"}))
    assert (stage.folder / "out.svg").read_bytes() == drawn
    return ran


@fault("LC_ALL=C without Python's UTF-8 mode: ASCII alone", "measure rows.csv -v", slow=True)
def plain_locale(stage: Stage, words: list[str]) -> Ran:
    ran = stage.shell("calibcli measure rows.csv -v", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert ran.out.isascii()
    return ran


@fault(
    "a Turkish locale and another encoding of streams: the same JSON", "measure rows.csv --json", slow=True
)
def turkish(stage: Stage, words: list[str]) -> Ran:
    ran = stage.shell("calibcli measure rows.csv --json", LC_ALL="tr_TR.UTF-8", PYTHONIOENCODING="iso8859-9")
    assert ran.out == stage.run(words).out
    return ran


YEARS = ("1970-01-01 00:00:10", "1999-12-31 23:59:59", "2038-01-20 00:00:00", "2100-03-01 00:00:00")
FAKETIME = ("faketime",)
TURKISH = ("tr_TR.UTF-8", "tr_TR.ISO-8859-9")
OLD_ENCODING = {"LC_ALL": "tr_TR.ISO-8859-9", "PYTHONUTF8": "0"}


def _in_all_years(stage: Stage, words: list[str], *, out: str) -> Ran:
    """Run a command now and with clocks that stand still elsewhere, and compare its outputs."""
    found = set()
    for clock in ("", *(f"faketime -f '{year}' " for year in YEARS)):
        (stage.folder / out).unlink(missing_ok=True)
        ran = stage.shell(f"{clock}calibcli {shlex.join(words)}")
        assert ran.code == 0, ran.err
        found.add(((stage.folder / out).read_bytes(), ran.err))
    assert len(found) == 1
    return ran


for line, out in (
    ("apply cal.json rows.csv -o out.csv.gz", "out.csv.gz"),
    ("report rows.csv -o out.html", "out.html"),
    ("verify rows.csv --max-ece 0.5 --state gate.json", "gate.json"),
):
    what = "the clock stands still in 1970, 1999, 2038 or 2100: the same bytes"
    fault(what, line, slow=True, needs=FAKETIME)(partial(_in_all_years, out=out))


@fault("the clock goes back by three years in the middle", PIPED, slow=True, needs=FAKETIME)
def clock_goes_back(stage: Stage, words: list[str]) -> Ran:
    clock = stage.folder.with_name(f"{stage.folder.name}.clock")
    clock.write_text("+0d")
    line = f"(echo score; yes 0.25 | head -400000; echo -1000d > '{clock}'; yes 0.5 | head -400000)"
    settings = {"FAKETIME": None, "FAKETIME_NO_CACHE": "1", "FAKETIME_TIMESTAMP_FILE": str(clock)}
    preload = (
        f"export $(faketime -f +0d env | grep ^LD_PRELOAD=); unset FAKETIME; calibcli {shlex.join(words)}"
    )
    ran = stage.shell(f"{line} | ({preload})", **settings)
    assert len((stage.folder / "out.csv").read_bytes().splitlines()) == 800_001
    return ran


@fault(
    "Turkish locales, of UTF-8 and of ISO-8859-9: names with İ and ı, and the same JSON",
    "measure ısı.csv -s İSKOR -y etiket --by ılıman --json",
    slow=True,
    needs=TURKISH,
)
def turkish_names(stage: Stage, words: list[str]) -> Ran:
    rows = "".join(
        f"{(i % 97 + 0.5) / 97!r},{i % 3 == 0:d},{('ığdır', 'İzmir')[i % 2]}\n" for i in range(400)
    )
    content = ("İSKOR,etiket,ılıman\n" + rows).encode()
    found = set()
    for encoding, settings in (
        ("utf-8", {"LC_ALL": "C.UTF-8"}),
        ("utf-8", {"LC_ALL": "tr_TR.UTF-8"}),
        ("utf-8", {"LC_ALL": "tr_TR.UTF-8", "PYTHONUTF8": "0"}),
        ("iso8859-9", OLD_ENCODING),
    ):
        for other in {*stage.folder.glob("*.csv")} - {stage.folder / "rows.csv"}:
            other.unlink()
        (stage.folder / os.fsdecode(words[1].encode(encoding))).write_bytes(content)
        ran = stage.shell(f"calibcli {' '.join(words)}", encoding=encoding, **settings)
        assert ran.code == 0, ran.err
        found.add(ran.out)
    assert len(found) == 1
    return ran


@fault(
    "Turkish locales: words of capitals keep their meaning",
    "verify rows.csv --rule ECE.UPPER<=0.5 --memory 64MIB",
    slow=True,
    needs=TURKISH,
)
def turkish_capitals(stage: Stage, words: list[str]) -> Ran:
    line = f"calibcli {shlex.join(words)} --json"
    found = {stage.shell(line, LC_ALL=name, PYTHONUTF8="0").out for name in ("C.UTF-8", *TURKISH)}
    assert len(found) == 1
    return stage.shell(line, LC_ALL="tr_TR.UTF-8")


@fault("a German locale: points, no commas, in the same bytes", APPLY, slow=True, needs=("de_DE.UTF-8",))
def german(stage: Stage, words: list[str]) -> Ran:
    found = set()
    for name in ("C.UTF-8", "de_DE.UTF-8"):
        (stage.folder / "out.csv").unlink(missing_ok=True)
        ran = stage.shell(f"calibcli {shlex.join(words)}", LC_ALL=name, PYTHONUTF8="0")
        found.add((stage.folder / "out.csv").read_bytes())
    assert len(found) == 1
    return ran


@fault("LC_ALL=C without Python's UTF-8 mode: a name that is not ASCII", "measure rows.csv -s ı", slow=True)
def word_beyond_ascii(stage: Stage, words: list[str]) -> Ran:
    ran = stage.shell(f"calibcli {' '.join(words)}", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert "PYTHONUTF8=1" in ran.err
    return ran


@fault("standard input, output and error are closed", "measure rows.csv <&- >&- 2>&-")
def closed_streams(stage: Stage, words: list[str]) -> Ran:
    return stage.shell("calibcli measure rows.csv <&- >&- 2>&-")


@fault("a full disk (tmpfs of 64 KiB)", "apply cal.json rows.csv -o small/out.csv", slow=True)
def full_disk(stage: Stage, words: list[str]) -> Ran:
    with _mounted(stage, "size=64k"):
        return stage.run(words)


@fault(
    "a full disk, and a state that exists", "verify rows.csv --max-ece 0.5 --state small/gate.json", slow=True
)
def full_disk_of_state(stage: Stage, words: list[str]) -> Ran:
    with _mounted(stage, "size=256k"):
        assert stage.run(words).code == 0
        with suppress(OSError), (stage.folder / "small" / "fill").open("wb", buffering=0) as fill:
            while fill.write(bytes(4096)):
                pass
        (stage.folder / "rows.csv").write_text("score,label\n" + "0.5,1\n0.25,0\n" * 500)
        return stage.run(words)


@fault("a read-only file system", "fit rows.csv -o small/out.json", slow=True)
def read_only(stage: Stage, words: list[str]) -> Ran:
    with _mounted(stage, "ro"):
        return stage.run(words)


@fault("the output is on another file system", "apply cal.json rows.csv -o small/out.csv", slow=True)
def other_file_system(stage: Stage, words: list[str]) -> Ran:
    with _mounted(stage, "size=4m"):
        ran = stage.run(words)
        assert len((stage.folder / "small" / "out.csv").read_bytes().splitlines()) == 2001
        return ran


@fault(
    "SIGKILL at 40 instants, over an output that exists: the old one or the new one",
    f"{APPLY} --force",
    slow=True,
)
def killed_often(stage: Stage, words: list[str]) -> Ran:
    import time

    assert stage.run(words).code == 0
    out = stage.folder / "out.csv"
    new = out.read_bytes()
    # From the last instant to the first: by the last a fast machine has ended, and at once none has.
    for instant in reversed(range(40)):
        out.write_bytes(b"old")
        process = stage.start(words)
        time.sleep(instant * 0.003)
        process.kill()
        ran = stage.ended(process)
        assert out.read_bytes() in (b"old", new)
    assert {path.name for path in stage.folder.iterdir() if path.suffix != ".part"} == {
        "cal.json",
        "out.csv",
        "rows.csv",
    }
    stage.left_then = "at times .out.csv.*.part"
    return ran


@contextmanager
def _mounted(stage: Stage, options: str) -> Iterator[None]:
    """Mount a file system in memory; only root can."""
    folder = stage.folder / "small"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True)
    try:
        yield
        stage.left_then = stage.left()
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def _large(stage: Stage, words: list[str]) -> Ran:
    """Run a command on ten million rows in 2 GiB of address space."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    generator = np.random.default_rng(0)
    score = generator.random(10_000_000)
    pq.write_table(
        pa.table({"score": score, "label": generator.random(10_000_000) < score}),
        stage.folder / "ten.parquet",
    )
    return stage.shell(f"ulimit -v {2 << 20}; calibcli {shlex.join(words)}")


for line in (
    "measure ten.parquet",
    "fit ten.parquet -m isotonic -o out.json",
    "apply cal.json ten.parquet -s score -o out.parquet",
    "plot ten.parquet -o out.png",
):
    fault("2 GiB of address space", line, slow=True)(_large)
