"""What a file that somebody put into a folder can do to who runs a command there, and what it cannot."""

import csv
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from calibcli.options.declaring import Option, Reach
from calibcli.shell.commands import COMMANDS
from calibcli.shell.door import options_of
from command_line import CHURN, Run
from published import check

STRANGER = 65534
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - a file system that no other stands in
OPTIONS = {(name, one.key): one for name, command in COMMANDS.items() for one in options_of(command).values()}
COMMAND_NAMES = set(COMMANDS)
REACHING = sorted(place for place, option in OPTIONS.items() if option.reach is not None)
# Looked at one by one: each chooses what is read, how it is judged, or how the answer looks.
HARMLESS = """
alarm allow-fit-rows any-time as attributes axis band bandwidth base baseline-score batch benefit
beta-form binning bins bounds by candidate categorical class class-weights classes cluster color compat
confidence date decimal delimiter depth dialect edges encoding error exact explain fail-if-worse float32
folds format group id inconclusive input-format jobs json keep kind label limit loss max-cutoff max-dce
max-ece max-l2 max-linf max-psi max-regression max-segment-bias max-smece max-values memory method metric
min-class-rows min-group-rows min-rows min-segment-rows multiclass name numeric on on-missing on-range on-sum
output-sum pairs planned-rows positive power prior probs quiet randomised reference regression-metric
rule sample scale score seed size skip-existing smooth-targets smoother sort split step table terminal
theme threshold title to top unseen verbose view weight weights-are where
""".split()  # noqa: SIM905 - a list of words is read at a glance
root_only = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give files to another user"
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the root of a repository, the working directory being a folder inside."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "inside").mkdir()
    monkeypatch.chdir(tmp_path / "inside")
    monkeypatch.delenv("SUDO_UID", raising=False)
    return tmp_path


def value_for(option: Option) -> str:
    """Return a value of the right type, as TOML; an address where a file is named."""
    kind = "true" if option.kind is bool else None
    if kind is None:
        kind = json.dumps("s3://bucket/x" if option.reach is Reach.READS else "dask")
    return f"[{kind}]" if option.several else kind


def test_every_option_is_classified() -> None:
    """What writes, replaces, connects, trusts or reads is marked where declared; new ones are looked at."""
    unmarked = {option.key for option in OPTIONS.values() if option.reach is None}
    assert sorted(unmarked) == HARMLESS
    reach = {key: OPTIONS[command, key].reach for command, key in REACHING}
    assert {
        "output": Reach.WRITES, "out-dir": Reach.WRITES, "summary-out": Reach.WRITES, "state": Reach.WRITES,
        "report": Reach.WRITES, "force": Reach.REPLACES, "engine": Reach.CONNECTS,
        "engine-address": Reach.CONNECTS, "artifact": Reach.READS, "baseline": Reach.READS,
        "like": Reach.READS, "compare": Reach.READS,
    }.items() <= reach.items()  # fmt: skip
    # By the same key, the same: a word does not write in one command and choose in another.
    assert not {option.key for option in OPTIONS.values() if option.reach is not None} & unmarked


@pytest.mark.parametrize(("command", "key"), REACHING)
def test_what_reaches_further_is_refused_from_a_file_that_was_found(
    run: Run, project: Path, command: str, key: str
) -> None:
    """Exit 2 with the key and the way out, before anything is read, in a table and above all tables."""
    value = value_for(OPTIONS[command, key])
    needed = {"merge": ["-o", "x"], "report": ["-o", "x"], "export": ["--to", "sql"]}.get(command, [])
    above = [] if key in COMMAND_NAMES else [f"{key} = {value}\n"]
    for text in (f"[{command}]\n{key} = {value}\n", *above):
        (project / "calibcli.toml").write_text(text)
        ended = run(command, "nothing.csv", "nothing.csv", *needed, code=2)
        assert f"{key}: --{key} " in ended.err, ended.err
        assert "which only a configuration file that you name may do" in ended.err
        assert "--config ../calibcli.toml" in ended.err
    assert f"--{key} " in run("config", command, code=2).err


def test_a_planted_file_overwrites_nothing_and_a_named_one_may(
    run: Run, project: Path, thousand: Path
) -> None:
    """Where to write is said by the line, a variable, or a file that was named."""
    precious = project / "precious.txt"
    precious.write_text("mine")
    planted = project / "calibcli.toml"
    planted.write_text(f"[measure]\noutput = {json.dumps(str(precious))}\nforce = true\n")
    ended = run("measure", thousand)
    assert (ended.code, precious.read_text()) == (2, "mine")
    ended = run("measure", thousand, "--config", planted, code=0)
    assert f"\n{thousand}  score" in precious.read_text()
    assert f"note: {planted} sets force = true" in ended.err


def test_an_artifact_of_this_machine_may_be_set_and_an_address_may_not(
    run: Run, project: Path, thousand: Path
) -> None:
    """A gate in version control names its map; what asks a server is said by the line."""
    assert run("fit", thousand, "-o", "cal.json").code == 0
    (project / "calibcli.toml").write_text('artifact = "cal.json"\n')
    assert 'sets artifact = "cal.json"' in run("measure", thousand, "--format", "md", code=0).out
    (project / "calibcli.toml").write_text('artifact = "s3://bucket/cal.json"\n')
    assert "--artifact connects to other machines" in run("measure", thousand).err


def test_the_way_up_ends_at_the_home_folder(
    run: Run, tmp_path: Path, thousand: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stands above it belongs to nobody, or to all."""
    inside = tmp_path / "home" / "work" / "deep"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "calibcli.toml").write_text("[verify]\nmax-ece = 0.9\n")
    assert "no rule to verify" in run("verify", thousand).err
    (tmp_path / "home" / "calibcli.toml").write_text("[verify]\nmax-ece = 0.2\n")
    assert "../../calibcli.toml sets max-ece = 0.2" in run("verify", thousand).err
    monkeypatch.setenv("HOME", "/")
    assert "no rule to verify" in run("verify", thousand).err


def test_outside_of_both_the_working_directory_alone_counts(
    run: Run, tmp_path: Path, thousand: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a folder of temporary files, above which anybody may write."""
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    monkeypatch.setenv("HOME", str(tmp_path / "elsewhere"))
    (tmp_path / "a" / "calibcli.toml").write_text("[verify]\nmax-ece = 0.9\n")
    assert "no rule to verify" in run("verify", thousand).err
    (inside / "calibcli.toml").write_text("[verify]\nmax-ece = 0.2\n")
    assert "calibcli.toml sets max-ece = 0.2" in run("verify", thousand).err


@pytest.mark.skipif(not SHARED_MEMORY.is_dir(), reason="no second file system to stand on")
def test_the_way_up_does_not_leave_the_file_system(
    run: Run, thousand: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mounted folder is not part of what it is mounted in, as git has it."""
    inside = SHARED_MEMORY / f"calibcli-{os.getpid()}"
    inside.mkdir()
    try:
        monkeypatch.chdir(inside)
        monkeypatch.setenv("HOME", "/dev")
        (inside / "calibcli.toml").write_text("[verify]\nmax-ece = 0.2\n")
        assert "sets max-ece = 0.2" in run("verify", thousand).err
        (inside / "below").mkdir()
        monkeypatch.chdir(inside / "below")
        assert "no rule to verify" in run("verify", thousand).err
    finally:
        shutil.rmtree(inside)


@root_only
@pytest.mark.parametrize("name", ["calibcli.toml", "pyproject.toml"])
def test_the_file_of_another_user_ends_the_run_with_its_name(
    run: Run, project: Path, thousand: Path, name: str
) -> None:
    """It is neither obeyed nor passed over, since it may hold the limits; two options go on."""
    planted = project / name
    table = "[verify]" if name == "calibcli.toml" else "[tool.calibcli.verify]"
    planted.write_text(f'{table}\ninconclusive = "pass"\nmax-ece = 0.2\n')
    os.chown(planted, STRANGER, STRANGER)
    for words in (["verify", thousand, "--max-ece", "0.1"], ["inspect", thousand], ["config"]):
        ended = run(*words, code=2)
        assert f"../{name} belongs to user {STRANGER}" in ended.err
        assert f"--config ../{name}" in ended.err
    assert run("verify", thousand, "--config", planted).code == 0
    assert "no rule to verify" in run("--isolated", "verify", thousand).err


@root_only
def test_a_shared_file_that_says_nothing_to_us_may_belong_to_anybody(
    run: Run, project: Path, thousand: Path
) -> None:
    """Nothing in it is believed, so nothing is refused."""
    (project / "pyproject.toml").write_text('[project]\ndependencies = ["calibcli"]\n')
    os.chown(project / "pyproject.toml", STRANGER, STRANGER)
    assert run("measure", thousand, "-q").code == 0


@root_only
def test_the_folder_and_the_link_must_be_ours_as_well(run: Run, project: Path, thousand: Path) -> None:
    """Who owns the folder can put another file of ours there; who owns the link says which one it is."""
    planted = project / "calibcli.toml"
    planted.write_text("[verify]\nmax-ece = 0.2\n")
    os.chown(planted, STRANGER, STRANGER)
    assert f"error: ../calibcli.toml belongs to user {STRANGER}" in run("verify", thousand).err
    os.chown(planted, 0, 0)
    os.chown(project, STRANGER, STRANGER)
    sentence = f"the folder {project} of ../calibcli.toml belongs to user {STRANGER}"
    assert sentence in run("verify", thousand).err
    os.chown(project, 0, 0)
    planted.rename(project / "limits.toml")
    planted.symlink_to(project / "limits.toml")
    assert run("verify", thousand).code == 0
    os.lchown(planted, STRANGER, STRANGER)
    assert f"the link ../calibcli.toml belongs to user {STRANGER}" in run("verify", thousand).err
    os.lchown(planted, 0, 0)
    os.chown(project / "limits.toml", STRANGER, STRANGER)
    assert f"error: ../calibcli.toml belongs to user {STRANGER}" in run("verify", thousand).err


@root_only
def test_root_by_sudo_takes_the_files_of_who_asked(
    run: Run, project: Path, thousand: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And of nobody else."""
    (project / "calibcli.toml").write_text("[verify]\nmax-ece = 0.2\n")
    os.chown(project / "calibcli.toml", STRANGER, STRANGER)
    monkeypatch.setenv("SUDO_UID", str(STRANGER))
    assert run("verify", thousand).code == 0
    monkeypatch.setenv("SUDO_UID", "1000")
    assert run("verify", thousand).code == 2


@root_only
def test_another_user_takes_what_root_has_put_there_and_no_third_one(thousand: Path) -> None:
    """Images of containers hold files of root for a user who is not; two real users try it."""
    code = """
import os, sys, tomllib
from calibcli.shell.app import main
assert main(["measure", sys.argv[1], "-q", "--isolated"]) == 0  # everything is imported by now
os.setresuid(65534, 65534, 65534)
os._exit(main(["measure", sys.argv[1], "-q", "--format", "csv"]))
"""
    # Folders of pytest are closed to other users.
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        project.chmod(0o755)
        shutil.copy(thousand, project / "rows.csv")
        planted = project / "calibcli.toml"
        planted.write_text("[measure]\nbins = 7\n")
        command = [sys.executable, "-c", code, "rows.csv"]
        ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert (ended.returncode, "calibcli.toml sets bins = 7" in ended.stderr) == (0, True), ended.stderr
        os.chown(planted, 1234, 1234)
        ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert (ended.returncode, "belongs to user 1234" in ended.stderr) == (2, True), ended.stderr


@pytest.mark.parametrize("kind", ["pipe", "folder", "broken link", "large"])
def test_a_file_that_cannot_be_read_is_not_passed_over(
    run: Run, project: Path, thousand: Path, kind: str
) -> None:
    """It may hold the limits of a gate, and nothing waits for it."""
    planted = project / "calibcli.toml"
    if kind == "pipe":
        os.mkfifo(planted)
    elif kind == "folder":
        planted.mkdir()
    elif kind == "broken link":
        planted.symlink_to("nothing.toml")
    else:
        planted.write_text("# " + "x" * (1 << 20))
    assert "calibcli.toml: cannot be read" in run("verify", thousand, "--max-ece", "0.2", code=2).err


def test_every_report_states_what_was_set_and_by_whom(
    run: Run, project: Path, thousand: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Value and source, in every format, whatever -q says; what a flag replaces is not among them."""
    (project / "calibcli.toml").write_text(
        '[verify]\ninconclusive = "pass"\nmin-rows = 20\nconfidence = 0.9\n'
    )
    monkeypatch.setenv("CALIBCLI_VERIFY_MAX_ECE", "0.2")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    kinds = ["junit=j.xml", "github", "md=m.md", "json=r.json", "openmetrics=o.prom"]
    requested = [word for kind in kinds for word in ("--report", kind)]
    ended = run("verify", thousand, "--min-rows", "30", "-q", *requested, code=0)
    lines = [
        '../calibcli.toml sets confidence = 0.9, inconclusive = "pass"',
        "CALIBCLI_VERIFY_MAX_ECE sets max-ece = 0.2",
    ]
    for text in (ended.out, Path("m.md").read_text(), Path("summary.md").read_text()):
        assert [line for line in lines if line not in text.replace("\\_", "_")] == []
        assert "min-rows" not in text
    assert "::notice title=calibcli%3A settings::" + "%0A".join(lines) in ended.err
    settings = json.loads(Path("r.json").read_text())["settings"]
    assert settings == [
        {"option": "confidence", "value": 0.9, "source": "../calibcli.toml"},
        {"option": "inconclusive", "value": "pass", "source": "../calibcli.toml"},
        {"option": "max-ece", "value": 0.2, "source": "CALIBCLI_VERIFY_MAX_ECE"},
    ]
    suite = ET.fromstring(Path("j.xml").read_text())  # noqa: S314 - our own output
    properties = {one.get("name"): one.get("value") for one in suite.iter("property")}
    assert properties["setting inconclusive"] == '"pass" (../calibcli.toml)'
    assert properties["setting max-ece"] == "0.2 (CALIBCLI_VERIFY_MAX_ECE)"
    families = {one.name: one for one in text_string_to_metric_families(Path("o.prom").read_text())}
    assert [sample.labels["option"] for sample in families["calibcli_setting"].samples] == [
        "confidence", "inconclusive", "max-ece"
    ]  # fmt: skip
    rows = list(csv.DictReader(io.StringIO(run("verify", thousand, "-q", "--format", "csv").out)))
    assert [(row["name"], row["method"]) for row in rows if row["kind"] == "setting"][-2:] == [
        ("max-ece = 0.2", "CALIBCLI_VERIFY_MAX_ECE"),
        ("min-rows = 20", "../calibcli.toml"),
    ]
    found = [json.loads(line) for line in run("verify", thousand, "--format", "jsonl").out.splitlines()]
    assert sum(row["kind"] == "setting" for row in found) == 4


def test_reports_of_no_verdict_state_it_too(run: Run, project: Path) -> None:
    """What was set may be why there is none."""
    (project / "calibcli.toml").write_text("[verify]\nmax-ece = 0.2\n")
    kinds = ["junit=j.xml", "github", "openmetrics=o.prom"]
    ended = run("verify", "nothing.csv", *[word for kind in kinds for word in ("--report", kind)], code=3)
    assert "title=calibcli%3A settings::../calibcli.toml sets max-ece = 0.2" in ended.err
    assert 'name="setting max-ece"' in Path("j.xml").read_text()
    assert 'calibcli_setting{option="max-ece"' in Path("o.prom").read_text()


@pytest.mark.parametrize("kind", ["compare", "plan", "compat"])
def test_other_reports_state_it_and_fit_their_schema(
    run: Run, project: Path, thousand: Path, kind: str
) -> None:
    """A key of its own in JSON, only where something was set."""
    lines = {
        "compare": ["compare", "two.csv", "-s", "old", "-s", "new", "-y", "label"],
        "plan": ["plan", "--max-ece", "0.9", "--like", thousand],
        "compat": ["measure", thousand, "--compat", "calzone"],
    }
    rows = "".join(f"{k % 7 / 7},{k % 5 / 5},{k % 3 % 2}\n" for k in range(200))
    Path("two.csv").write_text(f"old,new,label\n{rows}")
    plain = run(*lines[kind], "--json").document
    (project / "calibcli.toml").write_text("confidence = 0.9\n")
    found = run(*lines[kind], "--json").document
    assert "settings" not in plain
    assert found["settings"] == [{"option": "confidence", "value": 0.9, "source": "../calibcli.toml"}]
    check(found, kind)


@pytest.mark.usefixtures("one_picture")
def test_a_page_states_what_was_set(run: Run, project: Path, thousand: Path) -> None:
    """Escaped as everything else on it."""
    (project / "calibcli.toml").write_text('[report]\nconfidence = 0.9\ntitle = "<b>x</b>"\n')
    assert run("report", thousand, "-o", "page.html", "-q").code == 0
    page = Path("page.html").read_text()
    assert "../calibcli.toml sets confidence = 0.9, title = &#34;&lt;b&gt;x&lt;/b&gt;&#34;" in page


def test_a_saved_report_with_settings_is_read_again(run: Run, project: Path, thousand: Path) -> None:
    """It is drawn, looked into and compared with as any other."""
    (project / "calibcli.toml").write_text("bins = 5\n")
    assert run("measure", thousand, "--json", "-o", "report.json").code == 0
    assert "settings" in json.loads(Path("report.json").read_text())
    assert run("plot", "report.json", "-o", "p.svg").code == 0
    assert run("inspect", "report.json").code == 0
    assert run("verify", thousand, "--baseline", "report.json", "--max-regression", "0.5").code == 0


@pytest.mark.usefixtures("project")
def test_a_library_in_the_working_directory_is_not_run(thousand: Path) -> None:
    """Python alone would take it before its own, under `python -m`."""
    for name in ("typer", "numpy", "pyarrow", "rich", "tomllib", "matplotlib"):
        Path(f"{name}.py").write_text('raise SystemExit("run")\n')
    command = [sys.executable, "-m", "calibcli", "measure", str(thousand), "-q"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, ""), ended.stderr


@pytest.mark.usefixtures("project")
def test_settings_of_matplotlib_in_the_working_directory_change_no_picture(run: Run, thousand: Path) -> None:
    """They could have LaTeX run with any preamble."""
    words = ["plot", thousand, *CHURN, "--kind", "murphy", "-q", "-o"]
    assert run(*words, "plain.svg").code == 0
    settings = (
        "text.usetex: True\ntext.latex.preamble: \\input{/etc/passwd}\nfont.size: 30\nbackend: nosuch\n"
    )
    Path("matplotlibrc").write_text(settings)
    command = [sys.executable, "-m", "calibcli", *map(str, words), "planted.svg"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert Path("plain.svg").read_bytes() == Path("planted.svg").read_bytes()
