"""Defaults from `calibcli.toml`, `[tool.calibcli]` and the environment; completion and help of the shell."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibcli.shell.commands import COMMANDS
from calibcli.shell.configuration import environment_settings
from calibcli.shell.door import column_names, metric_names, options_of
from command_line import CHURN, Ran, Run


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project of its own, the working directory being a folder inside."""
    (tmp_path / ".git").mkdir()
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    return tmp_path


def limits(ended: Ran) -> dict[str, float]:
    """Return the limit of each rule of a JSON report."""
    return {key: rule["limit"] for key, rule in ended.document["rules"].items()}


def test_every_option_is_a_key_by_its_long_name() -> None:
    """What a file may hold is what the commands take, whatever the parameters are called inside."""
    options = {name: options_of(command) for name, command in COMMANDS.items()}
    verify = options["verify"]
    assert (verify["max-ece"].kind, verify["max-ece"].several) == (float, False)
    assert (verify["rule"].kind, verify["rule"].several) == (str, True)
    assert (verify["id"].name, verify["format"].name) == ("row_id", "fmt")
    assert verify["min-rows"].kind is int
    assert verify["json"].kind is bool
    assert "debug" not in verify
    assert options["schema"] == {}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("h==1  x>0.1", ["h==1", "x>0.1"]),
        ("'plan in basic, pro' h==1", ["plan in basic, pro", "h==1"]),
        ("city=='New York' g==\"a b\"", ["city=='New York'", 'g=="a b"']),
        ("name==O'Brien h==1", ["name==O'Brien", "h==1"]),
        ("name==O'Brien owner==D'Arcy", ["name==O'Brien", "owner==D'Arcy"]),
        ("name=='O''Brien jun.' h==1", ["name=='O''Brien jun.'", "h==1"]),
        ("name=='Brien h==1", ["name=='Brien", "h==1"]),
    ],
)
def test_values_of_a_variable_may_hold_blanks(text: str, values: list[str]) -> None:
    """As those of a flag and of a file may."""
    found = environment_settings("measure", COMMANDS["measure"], {"CALIBCLI_MEASURE_WHERE": text})
    assert [one.value for one in found.values()] == [values]


def test_the_nearest_file_above_gives_defaults(run: Run, home: Path, thousand: Path) -> None:
    """The table of a command and the keys above all tables count."""
    text = (
        'score = "score"\nlabel = "label"\n[verify]\nmax-ece = 0.2\nrule = ["bias.value<=0.5"]\njson = true\n'
    )
    (home / "calibcli.toml").write_text(text)
    ended = run("verify", thousand)
    assert limits(ended) == {"max-ece": 0.2, "bias.value<=0.5": 0.5}
    said = 'json = true, label = "label", max-ece = 0.2, rule = ["bias.value<=0.5"], score = "score"'
    assert ended.err.splitlines() == [f"note: ../../calibcli.toml sets {said}"]
    (home / "a" / "calibcli.toml").write_text("[verify]\nmax-ece = 0.3\njson = true\n")
    assert limits(run("verify", thousand)) == {"max-ece": 0.3}


def test_a_flag_beats_the_environment_beats_a_file(
    run: Run, home: Path, thousand: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a file beats what is built in."""
    (home / "calibcli.toml").write_text("[verify]\nmax-ece = 0.2\njson = true\nconfidence = 0.9\n")
    assert limits(run("verify", thousand)) == {"max-ece": 0.2}
    monkeypatch.setenv("CALIBCLI_VERIFY_MAX_ECE", "0.3")
    monkeypatch.setenv("CALIBCLI_VERIFY_RULE", "bias.value<=0.5 bias.value>=-0.5")
    assert limits(run("verify", thousand)) == {
        "max-ece": 0.3,
        "bias.value<=0.5": 0.5,
        "bias.value>=-0.5": -0.5,
    }
    ended = run("verify", thousand, "--max-ece", "0.4", "--rule", "ece.value<=0.6")
    assert limits(ended) == {"max-ece": 0.4, "ece.value<=0.6": 0.6}
    assert ended.document["rules"]["max-ece"]["confidence"] == 0.9
    monkeypatch.setenv("CALIBCLI_VERIFY_JSON", "no")
    assert "binned ECE <= 0.4" in run("verify", thousand, "--max-ece", "0.4").out


def test_a_table_is_of_its_command_alone(run: Run, home: Path, thousand: Path) -> None:
    """`verify` has an option called as the command `report`, whose table it took for it."""
    (home / "calibcli.toml").write_text("".join(f"[{name}]\n" for name in COMMANDS))
    assert {run("config", name).code for name in COMMANDS} == {0}
    assert run("verify", thousand, "--max-ece", "0.5").code == 0


def test_a_name_that_no_file_can_have_is_said_where_it_is_opened(
    run: Run, home: Path, thousand: Path
) -> None:
    """A file of settings can hold one, which no line can."""
    (home / "named.toml").write_text('[measure]\nsummary-out = "a\\u0000"\n[verify]\nstate = "a\\u0000"\n')
    for words in (["measure", thousand], ["verify", thousand, "--max-ece", "0.5", "-o", "gate.txt"]):
        assert "a\\x00 cannot be written:" in run(*words, "--config", home / "named.toml", code=5).err


def test_pyproject_counts_if_it_has_our_table(run: Run, home: Path, thousand: Path) -> None:
    """One without it is passed over, and the search goes on above."""
    (home / "pyproject.toml").write_text("[tool.calibcli.verify]\nmax-ece = 0.2\njson = true\n")
    (home / "a" / "pyproject.toml").write_text('[project]\nname = "calibcli-user"\n')
    assert limits(run("verify", thousand)) == {"max-ece": 0.2}


def test_search_stops_at_the_root_of_the_repository(run: Run, home: Path, thousand: Path) -> None:
    """A file above a .git directory belongs to somebody else."""
    (home / "calibcli.toml").write_text("[verify]\nmax-ece = 0.2\n")
    (home / "a" / ".git").mkdir()
    assert "no rule to verify" in run("verify", thousand).err


def test_isolated_reads_no_file_and_config_names_one(run: Run, home: Path, thousand: Path) -> None:
    """Both may stand before the command or after it."""
    (home / "calibcli.toml").write_text("this is not TOML")
    other = home / "gate.toml"
    other.write_text("[verify]\nmax-ece = 0.25\njson = true\n")
    assert limits(run("verify", thousand, "--config", other)) == {"max-ece": 0.25}
    assert limits(run(f"--config={other}", "verify", thousand)) == {"max-ece": 0.25}
    assert run("--isolated", "-q", "verify", thousand, "--max-ece", "0.3").code == 0
    assert run("verify", thousand, "--max-ece", "0.3", "--isolated").code == 0


def test_every_command_says_what_was_set_and_by_whom(
    run: Run, home: Path, thousand: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A limit from a folder above must not be a surprise, whatever -q says; what a flag replaces is not."""
    (home / "calibcli.toml").write_text("[verify]\nmax-ece = 0.2\nmin-rows = 50\n[measure]\nbins = 5\n")
    said = "note: ../../calibcli.toml sets max-ece = 0.2, min-rows = 50"
    assert said in run("verify", thousand).err
    assert run("verify", thousand, "-q").err.splitlines() == [said]
    assert said.replace(", min-rows = 50", "") in run("verify", thousand, "--min-rows", "60").err.splitlines()
    assert "note: ../../calibcli.toml sets bins = 5" in run("measure", thousand, "-q").err.splitlines()
    monkeypatch.setenv("CALIBCLI_FIT_METHOD", "beta")
    assert 'note: CALIBCLI_FIT_METHOD sets method = "beta"' in run("fit", thousand, "-q").err.splitlines()


def test_format_on_the_line_beats_json_in_a_file(run: Run, home: Path, thousand: Path) -> None:
    """They are two words for one thing."""
    (home / "calibcli.toml").write_text("[verify]\nmax-ece = 0.2\njson = true\n")
    assert run("verify", thousand, "--format", "md").out.startswith("**PASS")


@pytest.mark.usefixtures("unrendered")
def test_a_limit_of_the_machine_stops_no_command(run: Run, home: Path, thousand: Path) -> None:
    """Workers and memory for every command, also for those that have one file to write or no rows to read."""
    (home / "calibcli.toml").write_text('jobs = 2\nmemory = "64MiB"\n')
    assert run("fit", thousand, *CHURN, "-o", "cal.json").code == 0
    assert run("apply", "cal.json", thousand, "-o", "out.csv").code == 0
    assert run("measure", thousand, *CHURN, "--json", "-o", "report.json").code == 0
    assert run("plot", "report.json", "-o", "report.png").code == 0


def test_help_needs_no_file(run: Run, home: Path) -> None:
    """Who made a mistake in it can still read about it."""
    (home / "calibcli.toml").write_text("this is not TOML")
    assert "--max-ece" in run("verify", "--help", code=0).out


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("verify = 3", "verify: it is a command", "[verify]"),
        ('scor = "x"', "scor: there is no such option", "did you mean score"),
        (
            "[verify]\nmax_ece = 0.1",
            "verify.max_ece: there is no such option of verify",
            "did you mean max-ece",
        ),
        (
            "[measure]\nmax-ece = 0.1",
            "measure.max-ece: there is no such option of measure",
            "; `calibcli config measure` lists all",
        ),
        ("debug = true", "debug: there is no such option", "; `calibcli config COMMAND` lists all"),
        ("[verfy]\nmax-ece = 0.1", "verfy: there is no such command", "did you mean verify?"),
        ('[verify]\nmax-ece = "0.1"', "verify.max-ece: is '0.1', should be a number", "--max-ece"),
        ("[verify]\nmax-ece = true", "verify.max-ece: is true, should be a number", "--max-ece"),
        ("[verify]\nmax-ece = [0.1]", "verify.max-ece: is a list, should be a number", "--max-ece"),
        ("[verify.max-ece]\na = 1", "verify.max-ece: is a table, should be a number", "--max-ece"),
        ("[verify]\nmin-rows = 1.5", "verify.min-rows: is 1.5, should be a whole number", "--min-rows"),
        ("[verify]\njson = 1", "verify.json: is 1, should be true or false", "--json"),
        ("[verify]\nrule = [true]", "verify.rule: is true, should be a text or a number", "rule = [...]"),
        (
            '[verify]\ninconclusive = "pas"',
            "verify.inconclusive: is 'pas', should be one of",
            "did you mean pass?",
        ),
        ("confidence = true", "confidence: is true, should be a number", "--confidence"),
        ("a = = 1", "is not TOML: Invalid value (at line 1, column 5)", "--isolated"),
        ("[verify]\nmax-ece = 7", "--max-ece 7 is out of range", "did you mean 0.07?"),
        (f"[verify]\nmax-ece = 0x{'f' * 5000}", "--max-ece inf is out of range", "between 0 and 1"),
    ],
)
def test_mistakes_in_a_file_are_usage_errors(
    run: Run, home: Path, thousand: Path, text: str, message: str, hint: str
) -> None:
    """Exit 2 with the file, the key, and what was probably meant."""
    (home / "a" / "b" / "calibcli.toml").write_text(text)
    ended = run("verify", thousand, code=2)
    first, second = [line for line in ended.err.splitlines() if not line.startswith("note:")][:2]
    assert message in first
    assert hint in second
    assert "calibcli.toml" in first or message.startswith("--max-ece")


def test_a_file_is_told_the_values_that_the_command_takes(run: Run, home: Path, thousand: Path) -> None:
    """As the command line is: of --on-missing two, and not those of other commands."""
    (home / "a" / "b" / "calibcli.toml").write_text('[verify]\non-missing = "x"')
    ended = run("verify", thousand, code=2)
    assert ended.err.splitlines()[0].endswith("is 'x', should be one of error, drop")
    assert ended.err.splitlines()[1] == run("verify", thousand, "--on-missing", "x").err.splitlines()[1]


def test_files_that_are_named_must_be_there(run: Run, home: Path, thousand: Path) -> None:
    """And a pyproject.toml that is named must have our table."""
    assert "nope.toml: cannot be read" in run("verify", thousand, "--config", "nope.toml").err
    shared = home / "pyproject.toml"
    for text, said in (
        ("[project]", "has no table [tool.calibcli]"),
        ("[tool.calibcl]", "has no table"),
        ('x = "calibcli"', "has no table"),
        ("tool.calibcli = 1", "tool.calibcli is not a table"),
    ):
        shared.write_text(text)
        assert said in run("verify", thousand, "--config", shared, code=2).err
    (home / "latin.toml").write_bytes(b"# \xe9")
    assert "is not TOML" in run("verify", thousand, "--config", home / "latin.toml").err


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("CALIBCLI_VERIFY_MAX_EC", "0.1", "did you mean CALIBCLI_VERIFY_MAX_ECE"),
        ("CALIBCLI_VERIFY_MAX_ECE", "little", "CALIBCLI_VERIFY_MAX_ECE: is 'little', should be a number"),
        ("CALIBCLI_VERIFY_MIN_ROWS", "1.5", "CALIBCLI_VERIFY_MIN_ROWS: is '1.5', should be a whole number"),
        ("CALIBCLI_VERIFY_JSON", "perhaps", "should be true or false"),
    ],
)
def test_mistakes_in_the_environment_are_usage_errors(
    run: Run, thousand: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, message: str
) -> None:
    """Exit 2 with the variable."""
    monkeypatch.setenv(variable, value)
    assert message in run("verify", thousand, "--max-ece", "0.1", code=2).err


@pytest.mark.parametrize(
    ("variable", "hint"),
    [
        ("CALIBCLI_VERFY_RULE", "did you mean CALIBCLI_VERIFY_RULE? else unset it"),
        ("CALIBCLI_MESURE_BINS", "did you mean CALIBCLI_MEASURE_BINS? else unset it"),
        ("CALIBCLI_BINS", "_BINS? else unset it"),
        ("CALIBCLI_MAX_ECE", "_MAX_ECE? else unset it"),
        ("CALIBCLI_VERIFY", "did you mean CALIBCLI_VERIFY_"),
        ("CALIBCLI_STATE_KEYS", "did you mean CALIBCLI_STATE_KEY? else unset it"),
        ("CALIBCLI_ZZZZZZ", "hint: unset it; `calibcli config` lists commands and options"),
        ("CALIBCLI_", "hint: unset it"),
    ],
)
@pytest.mark.parametrize("command", ["verify", "config"])
def test_a_variable_that_names_no_command_is_refused(
    run: Run, thousand: Path, monkeypatch: pytest.MonkeyPatch, command: str, variable: str, hint: str
) -> None:
    """A misspelt command would otherwise take a limit away without a word."""
    words = [thousand, "--max-ece", "0.2"] if command == "verify" else []
    monkeypatch.setenv(variable, "5")
    ended = run(command, *words, code=2)
    assert f"error: {variable}: names no command" in ended.err
    assert hint in ended.err
    assert run("--isolated", command, *words).code == 2
    assert run(command, "--help").code == 0


@pytest.mark.parametrize(
    "variable",
    [
        "CALIBCLI",
        "CALIBCLI_FIT_NOTHING",
        "CALIBCLI_STATE_KEY",
        "_CALIBCLI_X",
        "CALIBCLI_VERSION",
        "CALIBCLI_SERVICE_HOST",
        "CALIBCLI_PORT_80_TCP_ADDR",
    ],
)
def test_variables_of_other_commands_and_purposes_stop_nothing(
    run: Run, thousand: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    """A key of states, options of another command, similar names, and those of images and services."""
    monkeypatch.setenv(variable, "a key of more than sixteen letters")
    assert run("verify", thousand, "--max-ece", "0.2").code == 0


def test_an_empty_variable_and_those_of_other_commands_do_not_count(
    run: Run, thousand: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As is the custom."""
    monkeypatch.setenv("CALIBCLI_VERIFY_MAX_ECE", "")
    monkeypatch.setenv("CALIBCLI_BINS", "")
    monkeypatch.setenv("CALIBCLI_MEASURE_BINS", "many")
    assert run("verify", thousand, "--max-ece", "0.2").code == 0


def test_a_number_is_a_column_a_number_of_bins_or_a_threshold(run: Run, home: Path, thousand: Path) -> None:
    """One key serves commands that read it as text and as a number."""
    for text in ("0.25", "[0.25, 0.5]"):
        (home / "calibcli.toml").write_text(f"threshold = {text}\n")
        assert "0.25" in json.dumps(run("measure", thousand, "-m", "bias", "--json").document["net_benefit"])
    (home / "calibcli.toml").write_text('bins = 20\nformat = "json"\n[verify]\nmax-ece = 0.2\n')
    assert "20 equal-width bins" in run("verify", thousand).out
    assert "20 equal-width bins" in run("measure", thousand).out


def test_config_says_what_counts_and_where_it_comes_from(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment beats the file, which beats what is built in; every option is there."""
    (home / "calibcli.toml").write_text('bins = 20\nlabel = "y"\n[verify]\nmax-ece = 0.2\nmin-rows = 50\n')
    monkeypatch.setenv("CALIBCLI_VERIFY_MAX_ECE", "0.3")
    found = run("config", "--json").document
    assert (found["schema"], found["file"]) == ("calibcli.config/1", "../../calibcli.toml")
    assert set(found["commands"]) == set(COMMANDS) - {"schema"}
    verify = found["commands"]["verify"]
    assert verify["max-ece"] == {"value": 0.3, "source": "CALIBCLI_VERIFY_MAX_ECE"}
    assert verify["min-rows"] == {"value": 50, "source": "../../calibcli.toml"}
    assert verify["bins"] == {"value": "20", "source": "../../calibcli.toml"}
    assert verify["rule"] == {"value": None, "source": "default"}
    assert found["commands"]["fit"]["bins"] == {"value": 20, "source": "../../calibcli.toml"}
    assert set(verify) == set(options_of(COMMANDS["verify"]))
    lines = run("config", "verify").out.splitlines()
    assert lines[:3] == ["file: ../../calibcli.toml", "", "verify"]
    assert [line.split() for line in lines if "max-ece" in line] == [
        ["max-ece", "0.3", "CALIBCLI_VERIFY_MAX_ECE"]
    ]


def test_config_names_the_file_asked_for_and_refuses_what_counts_nowhere(run: Run, home: Path) -> None:
    """As any command would, with the place."""
    (home / "other.toml").write_text('label = "\\u001b[31m"\n')
    assert run("config", "--json", "--isolated").document["file"] is None
    text = run("config", "measure", "--config", home / "other.toml").out
    assert '"\\u001b[31m"' in text
    assert "\x1b" not in text
    (home / "other.toml").write_text("labell = 1\n")
    assert "did you mean label" in run("config", "--config", home / "other.toml").err
    assert "did you mean measure" in run("config", "mesure", code=2).err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('view = "one-vs-rest"\nclass = "a"\n', ["measure"]),
        ("[verify]\nmin-group-rows = 5\nplanned-rows = 100\n", ["verify", "--max-ece", "0.2"]),
        ('weights-are = "importance"\n', ["measure"]),
        ("folds = 5\nstep = true\n", ["fit"]),
        ("bins = 5\n", ["measure", "--edges", "0,0.5,1"]),
        ("bins = 5\n", ["verify", "--max-smece", "0.5"]),
        ('[measure]\nmetric = ["ece"]\n', ["measure", "--compat", "netcal"]),
        ('[measure]\ncompat = "netcal"\n', ["measure", "--metric", "ece"]),
    ],
)
def test_a_default_yields_where_it_has_no_effect(
    run: Run, home: Path, thousand: Path, text: str, words: list[str]
) -> None:
    """What is refused where it is typed is passed over where it comes from a file."""
    line = [words[0], thousand, *CHURN, *words[1:]]
    (home / "calibcli.toml").write_text(text)
    ended = run(*line, code=0)
    assert ended.out == run(*line, "--isolated").out
    assert ", which has no effect here" in run(*line, "-q").err


def test_a_method_of_one_score_beside_several_classes_is_said(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is refused if it is typed is passed over with a note: another method is fitted."""
    rows = "p_a,p_b,p_c,label\n" + "0.5,0.25,0.25,a\n0.25,0.5,0.25,b\n0.25,0.25,0.5,c\n0.5,0.25,0.25,b\n" * 5
    Path("rows.csv").write_text(rows)
    line = ["fit", "rows.csv", "--probs", "p_*", "-y", "label", "-o", "map.json", "--force"]
    (home / "calibcli.toml").write_text('[fit]\nmethod = "platt"\n')
    assert "sets method, which has no effect here" in run(*line, code=0).err
    (home / "calibcli.toml").unlink()
    monkeypatch.setenv("CALIBCLI_FIT_METHOD", "platt")
    assert "CALIBCLI_FIT_METHOD sets method, which has no effect here" in run(*line).err
    assert run(*line, "--method", "platt").code == 2


def test_a_default_that_yields_is_said_by_gates_and_writes_no_error_report(
    run: Run, home: Path, thousand: Path
) -> None:
    """A limit is never passed over, and what was typed is refused as ever."""
    (home / "calibcli.toml").write_text("[verify]\nmin-group-rows = 5\nmax-ece = 0.2\n")
    ended = run("verify", thousand, "--report", "junit=gate.xml", code=0)
    assert "note: ../../calibcli.toml sets min-group-rows, which has no effect here" in ended.err
    assert ended.err.count("sets max-ece") == 1
    assert "<failure" not in Path("gate.xml").read_text()
    assert "<error" not in Path("gate.xml").read_text()
    typed = run("verify", thousand, "--min-group-rows", "7", "--report", "junit=typed.xml")
    assert (typed.code, "--min-group-rows without groups" in typed.err) == (2, True)
    assert "<error" in Path("typed.xml").read_text()


@pytest.fixture(params=["_TYPER_COMPLETE_ARGS", "COMP_WORDS"])
def line(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A folder to stand in, and where the shell puts its line."""
    monkeypatch.delenv("_TYPER_COMPLETE_ARGS", raising=False)
    monkeypatch.delenv("COMP_WORDS", raising=False)
    monkeypatch.variable = request.param
    return monkeypatch


def typed(line: pytest.MonkeyPatch, words: str) -> None:
    """Put words where the shell does."""
    line.setenv(line.variable, words)


def test_columns_come_in_the_order_of_the_file(line: pytest.MonkeyPatch) -> None:
    """What has been typed of the name limits them."""
    Path("p.csv").write_text('\ufeffscore,"a label",second\n0.5,1,2\n', encoding="utf-8")
    typed(line, "calibcli measure p.csv -s ")
    assert column_names("") == ["score", "a label", "second"]
    assert column_names("s") == ["score", "second"]
    assert column_names("z") == []


def test_parquet_and_several_files(line: pytest.MonkeyPatch) -> None:
    """Names of all files on the line are told, each once; an open quote is no obstacle."""
    pq.write_table(pa.table({"score": [0.5], "q": [1]}), "p.parquet")
    Path("t.tsv").write_text("score\tlabel\n0.5\t1\n", encoding="utf-8")
    typed(line, "calibcli measure p.parquet t.tsv --by 'q")
    assert column_names("") == ["score", "q", "label"]


def test_partitions_and_separators_are_known_and_the_index_is_left_out(line: pytest.MonkeyPatch) -> None:
    """Columns of a path count as columns, text is read as the line says, and pandas' index is no column."""
    Path("d/country=DE").mkdir(parents=True)
    pq.write_table(pa.table({"score": [0.5], "__index_level_0__": [1]}), "d/country=DE/p.parquet")
    typed(line, "calibcli measure d --by ")
    assert column_names("") == ["score", "country"]
    Path("s.csv").write_text("punkte;größe\n0.5;1\n", encoding="latin-1")
    for word in ("--delimiter ';' --encoding latin-1", "--delimiter=';' --encoding=latin-1"):
        typed(line, f"calibcli measure d s.csv {word} -s ")
        assert column_names("") == ["score", "country", "punkte", "größe"]
    Path("s.csv").write_text("\ufeffa,1\tb\n", encoding="utf-8")
    typed(line, "calibcli measure s.csv --delimiter TAB --encoding utf-8 -s ")
    assert column_names("") == ["a,1", "b"]


def test_measures_are_told() -> None:
    """What `--metric` takes is completed: measures, tests and groups."""
    assert metric_names("spieg") == ["spiegelhalter"]
    assert {"ece", "ece_equal_mass"} <= set(metric_names("ece"))
    assert "corp" in metric_names("")


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"\x00\x01,\xfe"])
@pytest.mark.parametrize("name", ["x.csv", "x.parquet", "x.json"])
def test_what_cannot_be_read_has_no_columns(line: pytest.MonkeyPatch, name: str, content: bytes) -> None:
    """A line that is being typed is no place for an error."""
    Path(name).write_bytes(content)
    typed(line, f"calibcli measure {name} absent.csv -s ")
    assert column_names("") == []


def test_bash_asks_without_a_heavy_import(tmp_path: Path) -> None:
    """The whole way from the shell's variables to the names; CSV takes no numpy and no pyarrow."""
    Path("p.csv").write_text("score,label\n0.5,1\n", encoding="utf-8")
    words = "calibcli measure p.csv -y l"
    code = (
        "import sys\nfrom calibcli.shell.app import main\ncode = main([])\n"
        "assert not {'numpy', 'pyarrow', 'pandas'} & set(sys.modules), 'heavy'\nsys.exit(code)"
    )
    requested = {"COMP_WORDS": words, "COMP_CWORD": str(len(shlex.split(words)) - 1)}
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, **requested, "_CALIBCLI_COMPLETE": "complete_bash"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout.split() == ["label"], ran.stderr
