"""The snippets of docs/ci: parsed as their systems parse them, and their commands run as they run them."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from junitparser import JUnitXml
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from calibcli.shell.app import main
from command_line import ROOT, SAMPLE, Ran
from github_runner import commands_of, outputs_in

FOLDER = ROOT / "docs" / "ci"
ACTION = FOLDER / "action" / "action.yml"
HOOKS = ROOT / ".pre-commit-hooks.yaml"
ROWS = (SAMPLE / "breast_cancer_evaluation.csv").read_text().splitlines()
# What becomes of the claim of the snippets, by what is asked to keep it.
PREDICTIONS = {
    0: ROWS,
    1: [ROWS[0], *(f"{row[:-1]}{1 - int(row[-1])}" for row in ROWS[1:])],
    4: ROWS[:60],
    3: ["nothing", *ROWS[1:]],
}
Bash = Callable[..., Ran]


def fit(to: Path, *more: str, method: str = "platt") -> None:
    """Fit a map to the sample."""
    words = ["fit", str(SAMPLE / "breast_cancer_calibration.csv"), "-m", method, "-o", str(to), "-q"]
    assert main([*words, *more]) == 0


@pytest.fixture
def bash(tmp_path: Path) -> Bash:
    """Run a script in a folder, with calibcli on the path and rows of one kind as predictions."""

    def call(script: str, *, code: int = 0, by: str = "bash -e", bare: bool = False, **variables: str) -> Ran:
        (tmp_path / "predictions.csv").write_text("\n".join([*PREDICTIONS[code], ""]))
        tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        cleared = {name: value for name, value in os.environ.items() if not name.startswith("GITHUB_")}
        cleared = {} if bare else cleared
        ended = subprocess.run(
            [*by.split(), "-c", script],
            cwd=tmp_path,
            env={**cleared, "PATH": tools, **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        return Ran(ended.returncode, ended.stdout, ended.stderr)

    return call


@pytest.fixture
def step(bash: Bash, tmp_path: Path) -> Callable[..., Ran]:
    """Run a step of the action as the runner does, given inputs of the action."""
    action = yaml.safe_load(ACTION.read_text())
    outside = {name: str(tmp_path / name) for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    outside |= {"GITHUB_ACTIONS": "true", "GITHUB_ACTION_PATH": str(ACTION.parent)}

    def call(
        number: int, *, code: int = 0, around: dict[str, str] | None = None, bare: bool = False, **inputs: str
    ) -> Ran:
        one = action["runs"]["steps"][number]
        given = {name: inputs.get(name, about.get("default", "")) for name, about in action["inputs"].items()}
        variables = {
            name: re.sub(r"\$\{\{ inputs\.(\S+) \}\}", lambda found: given[found.group(1)], text)
            for name, text in one["env"].items()
        }
        runner = "bash --noprofile --norc -eo pipefail"
        return bash(one["run"], code=code, by=runner, bare=bare, **{**outside, **variables, **(around or {})})

    return call


def test_the_action_is_put_together(capsys: pytest.CaptureFixture[str]) -> None:
    """Inputs are declared, used, and never text of a script; outputs are those of its step."""
    action = yaml.safe_load(ACTION.read_text())
    steps = action["runs"]["steps"]
    assert action["runs"]["using"] == "composite"
    assert all(one["shell"] == "bash" and "${{" not in one["run"] for one in steps)
    used = re.findall(r"inputs\.([\w-]+)", ACTION.read_text())
    assert sorted(used) == sorted(action["inputs"])
    assert all(about.keys() >= {"description"} for about in action["inputs"].values())
    for about in action["outputs"].values():
        found = re.fullmatch(r"\$\{\{ steps\.gate\.outputs\.(verdict|exit_code|message) \}\}", about["value"])
        assert found is not None
    workflow = yaml.safe_load((FOLDER / "github-workflow.yml").read_text())
    given = workflow["jobs"]["gate"]["steps"][1]["with"]
    assert given.keys() <= action["inputs"].keys()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("code", "verdict"), [(0, "pass"), (1, "fail"), (4, "inconclusive"), (3, "error")])
def test_the_action_ends_as_the_gate_does(
    step: Callable[..., Ran], tmp_path: Path, code: int, verdict: str
) -> None:
    """With the workflow's own inputs: exit code, outputs, summary, annotation and JUnit file."""
    workflow = yaml.safe_load((FOLDER / "github-workflow.yml").read_text())
    ended = step(1, code=code, **workflow["jobs"]["gate"]["steps"][1]["with"])
    assert ended.code == code, ended
    found = outputs_in((tmp_path / "GITHUB_OUTPUT").read_text())
    assert (found["verdict"], found["exit_code"]) == (verdict, str(code))
    assert (tmp_path / "GITHUB_STEP_SUMMARY").read_text().startswith("\n**")
    levels = {one.name for one in commands_of(ended.out + ended.err)}
    # The rows that fail rank the wrong way round, of which a note warns.
    assert levels == {"notice" if code == 0 else "error", *(["warning"] if code == 1 else [])}
    suites = JUnitXml.fromfile(str(tmp_path / "calibration.xml"))
    assert (suites.failures + suites.errors > 0) == (code != 0)
    assert (verdict.upper() in ended.out) == (code != 3)


def test_the_action_takes_every_input_as_it_is(step: Callable[..., Ran], tmp_path: Path) -> None:
    """Blanks, quotes, commands of the shell and of the runner in names, and files that look like options."""
    column = '::error::$(touch owned) "x" `touch owned`'
    quoted = '"' + column.replace('"', '""') + '"'
    for name in ("::warning::x.csv", "-a b.csv", "c;touch owned.csv"):
        (tmp_path / name).write_text("\n".join([f"id,{quoted},y", *ROWS[1:], ""]))
    ended = step(
        1,
        files="\n::warning::x.csv\n-a b.csv\nc;touch owned.csv\n",
        rules="ece <= 0.15\n\nbrier<=0.2\n",
        score=column,
        label="y",
        options="--confidence=0.9\n--inconclusive\nfail",
        junit="out $(touch owned).xml",
    )
    assert ended.code == 0, ended
    assert not any(path.name == "owned" for path in tmp_path.iterdir())
    # Three copies of a file are warned of.
    assert [one.name for one in commands_of(ended.out + ended.err)] == ["notice", "warning"]
    suites = JUnitXml.fromfile(str(tmp_path / "out $(touch owned).xml"))
    assert suites.tests == 2


@pytest.mark.parametrize(
    ("inputs", "around", "code"),
    [
        ({"options": "--help"}, {}, 2),
        ({"junit": "nowhere/out.xml"}, {}, 5),
        ({}, {"PATH": "/usr/bin:/bin"}, 127),
    ],
)
def test_the_action_does_not_pass_without_a_verdict(
    step: Callable[..., Ran], tmp_path: Path, inputs: dict[str, str], around: dict[str, str], code: int
) -> None:
    """Whatever kept the gate from one: the outputs say error, and the code is that of the cause."""
    ended = step(1, around=around, **{"files": "predictions.csv", "rules": "ece<=0.15", **inputs})
    assert ended.code == code, ended
    found = outputs_in((tmp_path / "GITHUB_OUTPUT").read_text())
    assert (found["verdict"], found["exit_code"]) == ("error", str(code))


def test_the_action_needs_nothing_around_it(step: Callable[..., Ran], tmp_path: Path) -> None:
    """No home, no place for temporary files, no locale and no terminal: the verdict is the same."""
    inputs = {"files": "predictions.csv", "rules": "ece<=0.15"}
    bare = {"TMPDIR": str(tmp_path / "nowhere")}
    ended = step(1, around=bare, bare=True, **inputs)
    assert ended.code == 0, ended
    assert outputs_in((tmp_path / "GITHUB_OUTPUT").read_text())["verdict"] == "pass"


def test_names_are_no_commands(step: Callable[..., Ran], tmp_path: Path) -> None:
    """In every input at once: nothing is run, and the error names what was asked for."""
    name = "$(touch owned) `touch owned` a\"b'c ${{ github.token }} ::add-mask::x é.csv"
    ended = step(
        1, files=name, rules=name, score=name, label=name, artifact=name, state=name, junit=name, options=name
    )
    assert ended.code in (2, 3), ended
    assert not (tmp_path / "owned").exists()
    assert {one.name for one in commands_of(ended.out + ended.err)} <= {"error"}
    assert outputs_in((tmp_path / "GITHUB_OUTPUT").read_text())["verdict"] == "error"


def test_the_action_keeps_a_state(step: Callable[..., Ran], tmp_path: Path) -> None:
    """For a gate that is asked again."""
    ended = step(1, files="predictions.csv", rules="ece<=0.15", state="gate 1.json", options="--batch=monday")
    assert ended.code == 0, ended
    assert (tmp_path / "gate 1.json").exists()


def test_a_night_counts_once_and_is_kept_whatever_the_verdict(
    step: Callable[..., Ran], tmp_path: Path
) -> None:
    """With the workflow's own inputs: the state is restored before the gate and saved after it, always."""
    text = (FOLDER / "github-nightly.yml").read_text()
    workflow = yaml.safe_load(text)
    assert workflow[True]["schedule"][0]["cron"].split() == ["17", "3", "*", "*", "*"]
    steps = workflow["jobs"]["watch"]["steps"]
    uses = [one.get("uses", "").partition("@")[0] for one in steps]
    gate = next(one for one in steps if one.get("id") == "gate")
    restored, saved = uses.index("actions/cache/restore"), uses.index("actions/cache/save")
    assert restored < steps.index(gate) < saved
    digest = "${{ hashFiles('model/cal.json') }}"
    assert digest in gate["with"]["state"]
    assert digest in steps[restored]["with"]["restore-keys"]
    assert steps[saved]["if"].startswith("always()")
    assert steps[restored]["with"]["path"] == steps[saved]["with"]["path"] == gate["with"]["state"]
    assert steps[saved]["with"]["key"].startswith(steps[restored]["with"]["restore-keys"])
    assert gate["with"].keys() <= yaml.safe_load(ACTION.read_text())["inputs"].keys()
    # The map is cached under the run that fitted it, and fetched where the cache has none.
    kept, fetched = (
        uses.index("actions/cache"),
        next(one for one in steps if "gh run download" in one.get("run", "")),
    )
    assert steps[kept]["with"]["path"] == "model"
    assert "${{ steps.fitted.outputs.run }}" in steps[kept]["with"]["key"]
    assert fetched["if"] == f"steps.{steps[kept]['id']}.outputs.cache-hit != 'true'"
    assert fetched["run"].endswith("${{ steps.fitted.outputs.run }} -n calibration -D model")
    assert kept < steps.index(fetched) < restored
    artifact = tmp_path / gate["with"]["artifact"]
    artifact.parent.mkdir()
    fit(artifact)
    (tmp_path / "later.csv").write_text("\n".join([ROWS[0], *ROWS[100:150], ""]))
    nights = [
        ("7", "predictions.csv", "59 of them new"),
        ("7", "predictions.csv", "counted before"),
        ("8", "later.csv", "50 of them new"),
    ]
    for night, file, counted in nights:
        inputs = {
            key: one.replace("${{ github.run_id }}", night).replace(digest, "0a1b")
            for key, one in gate["with"].items()
        }
        ended = step(1, code=4, **inputs | {"files": file})
        assert ended.code == 0, ended
        assert counted in ended.out, ended.out


def test_the_action_installs_the_calibcli_beside_it(step: Callable[..., Ran], tmp_path: Path) -> None:
    """With pipx where there is one; or whatever it is told to."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "pipx").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    (tools / "pipx").chmod(0o755)
    os.environ["PATH"] = f"{tools}{os.pathsep}{os.environ['PATH']}"
    try:
        words = step(0).out.splitlines()
        assert words[0] == "install"
        assert Path(words[1]).resolve() == ROOT
        assert step(0, install="a b.whl").out.splitlines() == ["install", "a b.whl"]
    finally:
        os.environ["PATH"] = os.environ["PATH"].removeprefix(f"{tools}{os.pathsep}")


@pytest.mark.parametrize("code", [1, 4])
def test_gitlab_runs_the_gate(bash: Bash, tmp_path: Path, code: int) -> None:
    """Its script ends with the code of the gate, of which 4 is allowed, and leaves what it collects."""
    job = yaml.safe_load((FOLDER / "gitlab-ci.yml").read_text())["calibration"]
    assert job["allow_failure"] == {"exit_codes": 4}
    ended = bash("\n".join(job["script"]), code=code)
    assert ended.code == code, ended
    reports = job["artifacts"]["reports"]
    assert JUnitXml.fromfile(str(tmp_path / reports["junit"])).tests == 1
    assert list(text_string_to_metric_families((tmp_path / reports["metrics"]).read_text()))
    assert job["artifacts"]["when"] == "always"


def test_gitlab_counts_each_night_in_the_state_of_its_map(bash: Bash, tmp_path: Path) -> None:
    """The nightly job fetches the map, keeps states whatever the verdict, and begins one for a new map."""
    jobs = yaml.safe_load((FOLDER / "gitlab-ci.yml").read_text())
    night, push = jobs["calibration-nightly"], jobs["calibration"]
    schedule = '$CI_PIPELINE_SOURCE == "schedule"'
    assert night["rules"] == [{"if": schedule}]
    assert push["rules"][0] == {"if": schedule, "when": "never"}
    assert {one["extends"] for one in (night, push)} <= jobs.keys()
    assert {"key": "calibration-state", "paths": ["states"], "when": "always"} in night["cache"]
    assert night["resource_group"]
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "curl").write_text('#!/bin/sh\necho "$@" > asked; cp fitted.json model/cal.json\n')
    (tmp_path / "export_labels.sh").write_text("#!/bin/sh\ncat labels.csv\n")
    for script in (tools / "curl", tmp_path / "export_labels.sh"):
        script.chmod(0o755)
    script = "\n".join(night["script"])
    nights = [
        ("7", 0, 60, "59 of them new"),
        ("8", 100, 150, "50 of them new"),
    ]
    variables = {
        "CI_JOB_TOKEN": "secret", "CI_API_V4_URL": "https://x/api/v4", "CI_PROJECT_ID": "9",
        "CI_DEFAULT_BRANCH": "main",
    }  # fmt: skip
    fit(tmp_path / "fitted.json")
    for number, first, last, counted in nights:
        (tmp_path / "labels.csv").write_text("\n".join([ROWS[0], *ROWS[max(first, 1) : last], ""]))
        ended = bash(f"export PATH={tools}:$PATH; {script} --force", CI_PIPELINE_ID=number, **variables)
        assert ended.code == 0, ended
        assert counted in ended.out, ended.out
    requested = (tmp_path / "asked").read_text()
    assert "JOB-TOKEN: secret" in requested
    assert requested.strip().endswith("https://x/api/v4/projects/9/jobs/artifacts/main/raw/cal.json?job=fit")
    assert len(list((tmp_path / "states").glob("gate-*.json"))) == 1
    fit(tmp_path / "fitted.json", "--force", method="isotonic")
    assert bash(f"export PATH={tools}:$PATH; {script} --force", CI_PIPELINE_ID="9", **variables).code == 0
    assert len(list((tmp_path / "states").glob("gate-*.json"))) == 2
    assert JUnitXml.fromfile(str(tmp_path / night["artifacts"]["reports"]["junit"])).tests == 1


def test_jenkins_runs_the_gate(bash: Bash, tmp_path: Path) -> None:
    """The step of its script returns the code, and the file that it collects is there and red."""
    text = (FOLDER / "Jenkinsfile").read_text()
    assert text.count("{") == text.count("}")
    script, file = re.search(r"'''(.*?)'''", text, re.DOTALL), re.search(r"junit '(.*)'", text)
    assert script is not None
    assert file is not None
    assert bash(script.group(1), code=3, by="sh -xe").code == 3
    suites = JUnitXml.fromfile(str(tmp_path / file.group(1)))
    assert suites.failures + suites.errors == 1


def operators_of(text: str, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Return what a DAG file asks of its operators, with stand-ins for Airflow's classes."""
    made: list[dict[str, Any]] = []

    class Dag:
        def __init__(self, **_: object) -> None:
            pass

        def __enter__(self) -> None:
            pass

        def __exit__(self, *_: object) -> None:
            pass

    class Operator:
        def __init__(self, **words: object) -> None:
            made.append(words)

        def __rshift__(self, other: object) -> object:
            return other

    for name in ("airflow", "airflow.sdk", "airflow.providers", "airflow.providers.standard"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    sys.modules["airflow.sdk"].DAG = Dag  # type: ignore[attr-defined]
    for name in ("airflow.providers.standard.operators", "airflow.providers.standard.operators.bash"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    sys.modules["airflow.providers.standard.operators.bash"].BashOperator = Operator  # type: ignore[attr-defined]
    exec(compile(ast.parse(text), "airflow_dag.py", "exec"), {})  # noqa: S102 - our own file
    return made


def test_airflow_runs_the_gate(bash: Bash, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the release, which is skipped where the gate is inconclusive; a day counts once."""
    labels, gate, release = operators_of((FOLDER / "airflow_dag.py").read_text(), monkeypatch)
    assert labels["bash_command"].endswith("> labelled-{{ ds }}.csv")
    assert {one["cwd"] for one in (labels, gate, release)} == {"/data/model"}
    fit(tmp_path / "cal.json")
    assert (gate["skip_on_exit_code"], gate["retries"], release["task_id"]) == (4, 0, "release")
    command = gate["bash_command"].replace("{{ ds }}", "2026-01-31")
    assert "gate-$(sha256sum cal.json" in command
    for _ in range(2):
        ended = bash(f"cp predictions.csv labelled-2026-01-31.csv; {command}", code=4)
        assert ended.code == 4, ended
    assert "59 rows counted before and not again" in ended.out
    assert "calibcli_state_rows 59" in (tmp_path / "calibration.txt").read_text()


def test_make_asks_the_gate_once(bash: Bash, tmp_path: Path) -> None:
    """A pass is remembered until the predictions change; a fail is never taken for one."""
    rule = FOLDER / "gate.mk"
    fit(tmp_path / "cal.json")
    stamp = tmp_path / "gate.passed"
    failed = bash(f"make -f {rule}", code=1)
    assert (failed.code, stamp.exists()) == (2, False)
    assert "Error 1" in failed.err
    asked_twice = bash(f"make -f {rule} && make -f {rule}", code=0).out.splitlines()
    assert sum(line.startswith("PASS") for line in asked_twice) == 1
    assert stamp.exists()
    stamp.unlink()
    assert bash(f"make -i -f {rule}", code=1).code == 0
    assert not stamp.exists()


def test_the_hook_judges_what_is_committed(bash: Bash) -> None:
    """Its entry with the arguments of a configuration and then the files, as pre-commit calls it."""
    (hook,) = yaml.safe_load(HOOKS.read_text())
    assert hook.keys() >= {"id", "name", "entry", "language", "files"}
    assert (hook["language"], hook["require_serial"]) == ("python", True)
    assert re.search(hook["files"], "data/predictions.csv")
    assert not re.search(hook["files"], "data/predictions.py")
    page = (ROOT / "docs" / "ci.md").read_text()
    (block,) = [one for one in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL) if "repos:" in one]
    (requested,) = yaml.safe_load(block)["repos"][0]["hooks"]
    assert requested["id"] == hook["id"]
    words = " ".join(f"'{word}'" for word in requested["args"])
    assert bash(f"{hook['entry']} {words} predictions.csv", code=1).code == 1


def test_the_page_shows_metrics_that_are_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """To the digits that it shows."""
    page = (ROOT / "docs" / "ci.md").read_text()
    shown = re.search(r"```\n(calibcli_gate.*?)```", page, re.DOTALL)
    command = re.search(r"^\$ calibcli (verify .*) --report github", page, re.MULTILINE)
    assert shown is not None
    assert command is not None
    words = command.group(1).replace("sample_data", str(SAMPLE)).split()
    assert main([*words, "-o", str(tmp_path / "out"), "--report", "openmetrics=-"]) == 1
    written = samples_in(capsys.readouterr().out)
    for key, value in samples_in(f"{shown.group(1)}# EOF\n").items():
        assert written[key] == pytest.approx(value, rel=5e-4), key


def samples_in(text: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Return name, labels and value of every sample."""
    return {
        (one.name, frozenset(one.labels.items())): float(one.value)
        for family in text_string_to_metric_families(text)
        for one in family.samples
    }


def test_every_option_of_the_snippets_exists(capsys: pytest.CaptureFixture[str]) -> None:
    """As `calibcli --help` and `calibcli verify --help` list them, in the page and in the files beside it."""
    assert (main(["--help"]), main(["verify", "--help"])) == (0, 0)
    known = set(re.findall(r"(?<!\S)--?[a-z][a-z-]*", capsys.readouterr().out))
    files = [*FOLDER.rglob("*.*"), FOLDER / "Jenkinsfile", HOOKS, ROOT / "docs" / "ci.md"]
    foreign = {"--noprofile", "--norc"}
    for path in files:
        if path.is_file():
            used = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", path.read_text()))
            assert used - foreign <= known, path
