"""`calibcli report` on the command line."""

import importlib.util
import io
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from calibcli.commands.summaries import file_digests
from calibcli.show import html as writing
from class_files import write_zoo
from command_line import Run
from html_pages import Page

SMALL = ("score,label", "0.2,0", "0.8,1", "0.4,1", "0.6,0", "0.1,0")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Return a file of five rows."""
    path = tmp_path / "small.csv"
    path.write_text("\n".join(SMALL) + "\n")
    return path


@pytest.mark.usefixtures("one_picture")
def test_scores_that_are_all_0_or_1_have_a_report(run: Run, tmp_path: Path) -> None:
    """Along log-odds places of the curve are one number next to 1, and the report is written all the same."""
    path = tmp_path / "sure.csv"
    path.write_text("score,label\n1,0\n1,0\n0,0\n0,0\n")
    run("report", path, "-o", tmp_path / "out.html", "--quiet", code=0)


@pytest.mark.usefixtures("one_picture")
def test_defaults_from_a_file_stand_in_the_command(
    run: Run, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The printed command holds what a configuration file said, and nothing that changes no letter."""
    monkeypatch.chdir(tmp_path)
    Path("calibcli.toml").write_text('[report]\nmetric = ["brier"]\nconfidence = 0.9\n')
    ran = run(
        "report", small, "-o", "out.html", "-j", "1", "--title", "-x", "--quiet", "--max-ece", "0.9", code=0
    )
    assert ran.err == 'note: calibcli.toml sets confidence = 0.9, metric = ["brier"]\n'
    found = Page(Path("out.html").read_text())
    (command,) = found.said("pre")
    wanted = {"--metric brier", "--confidence 0.9", "--title=-x", "--max-ece 0.9"}
    assert all(one in command for one in wanted)
    assert not {"--jobs", "--quiet", "--output", "out.html"} & set(shlex.split(command))
    assert found.said("h1") == ["-x"]
    assert any("INCONCLUSIVE" in words for _, words in found.words)


@pytest.mark.usefixtures("one_picture")
def test_a_stream_is_enough(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that can be read only once are measured, judged and drawn."""
    lines = "\n".join((*SMALL, *SMALL[1:] * 30)) + "\n"
    monkeypatch.setattr(
        sys, "stdin", SimpleNamespace(buffer=io.BytesIO(lines.encode()), fileno=lambda: 10**6)
    )
    run(
        "report", "-", "-f", "csv", "--metric", "ece", "--rule", "ece<=0.9", "-o", tmp_path / "x.html", code=0
    )
    said = " ".join(words for _, words in Page((tmp_path / "x.html").read_text()).words)
    assert "standard input" in said
    assert "155 rows" in said
    assert "no digest" in said


@pytest.mark.usefixtures("one_picture")
def test_groups_are_reported_with_no_more_said(run: Run, tmp_path: Path) -> None:
    """Groups that are measured and groups that are judged have limits of their own where none is named."""
    grouped = tmp_path / "grouped.csv"
    rows = [f"{0.2 + 0.6 * (k % 2)},{k % 3 % 2},{'ab'[k % 2]}" for k in range(240)]
    grouped.write_text("\n".join(("score,label,model", *rows)))
    run("report", grouped, "--by", "model", "--max-ece", "0.5", "-o", tmp_path / "page.html", code=0)
    assert "model=a" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("one_picture")
def test_rules_of_classes_need_not_be_among_what_is_measured(run: Run, tmp_path: Path) -> None:
    """What they are about is added up all the same."""
    zoo, page = write_zoo(tmp_path / "zoo.csv"), tmp_path / "page.html"
    words = ("-m", "top_label_ece", "--rule", "class_log_loss<=2", "--rule", "class_brier<=1")
    assert "PASS" in run("report", zoo, "--probs", "p_*", "-y", "label", *words, "-o", page, code=0).err


@pytest.mark.usefixtures("one_picture")
def test_a_verdict_says_which_of_several_scores_it_is_of(run: Run, small: Path, tmp_path: Path) -> None:
    """At the top of the page, and on the terminal."""
    small.write_text(small.read_text().replace("score,", "site,other,score,").replace("\n0", "\na,0.9,0"))
    words = ("-s", "score", "-s", "other", "--max-ece", "0.9", "--on", "site", "--min-segment-rows", "1")
    ran = run("report", small, *words, "-o", tmp_path / "page.html")
    said = "the verdict and segments are of 'score' alone, the first of 2 scores"
    assert said in ran.err
    assert said in " ".join(words for _, words in Page((tmp_path / "page.html").read_text()).words)


def test_large_files_are_not_read_for_a_digest(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files have digests up to a size all together, and none beyond; a stream has none."""
    names = [str(small)]
    assert list(file_digests(names)) == names
    assert file_digests([*names, "-"]) == {}
    monkeypatch.setattr("calibcli.commands.summaries.MOST_BYTES", small.stat().st_size - 1)
    assert file_digests(names) == {}


def test_a_page_that_exists_is_refused_before_reading(run: Run, tmp_path: Path) -> None:
    """An existing page stays as it is, and no input is read for it."""
    bad = tmp_path / "bad.csv"
    bad.write_text("no table at all")
    page = tmp_path / "page.html"
    page.write_text("mine")
    ran = run("report", bad, "-o", page, code=5)
    assert "exists already" in ran.err
    assert page.read_text() == "mine"


def test_without_the_extra_the_command_says_what_to_install(
    run: Run, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the template engine there is one line and a hint, before anything is read."""
    monkeypatch.setattr(
        writing, "find_spec", lambda name: None if name == "jinja2" else importlib.util.find_spec(name)
    )
    ran = run("report", small, "-o", tmp_path / "x.html", code=2)
    assert ran.err.splitlines()[-1] == "hint: pip install '.[report]'"
    assert not (tmp_path / "x.html").exists()
