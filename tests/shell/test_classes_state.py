"""`verify --state`, `merge` and `inspect` of several classes: one e-process for a view or a class of it."""

import shlex
from pathlib import Path

import numpy as np
import pytest

from calibcli.shell.app import main
from class_files import ZOO, write_zoo
from command_line import Run, in_csv
from published import state_of

PROBS = ("--probs", "p_*", "-y", "label", "--max-ece", "0.2")
VIEWS = [
    (),
    ("--view", "one-vs-rest", "--class", "cat"),
    ("--view", "top-label", "--class", "cat"),
]


@pytest.fixture
def batches() -> list[Path]:
    """Return four files of three classes."""
    return [write_zoo(f"{day}.csv", seed=day, first=1000 * day) for day in range(4)]


@pytest.fixture(scope="module")
def maps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return maps of three classes, of few outputs and of many, that keep predictions and change them."""
    folder = tmp_path_factory.mktemp("maps")
    fit, found = str(write_zoo(folder / "fit.csv", 1500, seed=99)), {"rows": folder / "fit.csv"}
    for name, words in {
        "vector": ("--multiclass", "vector"),
        "matrix": ("--multiclass", "matrix"),
        "certain": ("--multiclass", "top-label", "--method", "histogram"),
        "binned": ("--multiclass", "one-vs-rest", "--method", "histogram", "--output-sum", "free"),
    }.items():
        found[name] = folder / f"{name}.json"
        assert main(["fit", fit, "--probs", "p_*", "-y", "label", *words, "-q", "-o", str(found[name])]) == 0
    return found


@pytest.mark.untraced
@pytest.mark.parametrize(
    ("view", "artifact"),
    [
        (VIEWS[0], None),
        (VIEWS[1], "binned"),
        (VIEWS[2], "vector"),
        (VIEWS[2], "certain"),
    ],
)
def test_any_cut_into_calls_and_shards_counts_the_same(
    run: Run,
    batches: list[Path],
    maps: dict[str, Path],
    view: tuple[str, ...],
    artifact: str | None,
) -> None:
    """Four calls and one give the same bytes, and two shards that are merged the same sums and verdict."""
    words = (*PROBS, *view, *(() if artifact is None else ("--artifact", maps[artifact])))
    for batch in batches:
        code = run("verify", batch, *words, "--state", "one.json").code
        assert code in (0, 4)
    assert run("verify", *batches, *words, "--state", "all.json").code == code
    assert Path("one.json").read_bytes() == Path("all.json").read_bytes()
    for name, some in (("a", batches[1::2]), ("b", batches[::2])):
        run("verify", *some, *words, "--state", f"{name}.json")
    shards = [Path("a.json"), Path("b.json")]
    assert run("merge", *shards, "-o", "whole.json", "-q").code == 0
    assert run("merge", *shards[::-1], "-o", "turned.json", "-q").code == 0
    assert Path("whole.json").read_bytes() == Path("turned.json").read_bytes()
    one, whole = state_of(Path("one.json")), state_of(Path("whole.json"))
    assert one["epochs"] == whole["epochs"]
    assert one["input"] == whole["input"]
    assert "of 3 classes" in run("verify", *words, "--state", "whole.json", code=code).out


def test_a_class_against_the_rest_is_a_score_of_two_classes(run: Run, batches: list[Path]) -> None:
    """Its state counts what the state of that column with that label as positive counts."""
    view = ("--view", "one-vs-rest", "--class", "cat")
    several, single = Path("several.json"), Path("single.json")
    codes = [
        run("verify", *batches, *PROBS, *view, "--state", several).code,
        run("verify", *batches, "-s", "p_cat", "--positive", "cat", *PROBS[2:], "--state", single).code,
    ]
    assert codes[0] == codes[1]
    one, two = state_of(several), state_of(single)
    assert all(one[key] == two[key] for key in ("epochs", "batches", "partition", "stakes", "passed_at"))
    assert one["input"] == {
        "score": "p_*",
        "scale": "prob",
        "positive": None,
        "label": "label",
        "weight": None,
        "classes": {"view": "one-vs-rest", "class": "cat", "names": list(ZOO)},
    }
    assert "classes" not in two["input"]


def test_rows_with_identities_count_once_in_every_view(run: Run, batches: list[Path]) -> None:
    """A row that predicts the class is known again by its identity, in whatever batch it comes."""
    for place, view in enumerate(VIEWS):
        state = Path(f"{place}.json")
        words = (*PROBS, *view, "--state", state, "--id", "id")
        assert run("verify", batches[0], *words).code in (0, 4)
        before = state.read_bytes()
        assert "counted before, by their identity" in run("verify", batches[0], *words, "--batch", "x").out
        assert state.read_bytes() == before


def test_batch_is_told_by_rows_that_a_map_moves_into_the_view(run: Run) -> None:
    """No raw row predicts the class, so that the raw view of every batch is alike: empty."""

    def write(name: str, seed: int) -> Path:
        generator = np.random.default_rng(seed)
        ant, cat = 0.45 + 0.05 * generator.random(400), 0.3 + 0.1 * generator.random(400)
        label = np.where(
            generator.random(400) < 0.8, "cat", np.where(generator.random(400) < 0.5, "bee", "ant")
        )
        columns = {"p_ant": ant, "p_bee": 1.0 - ant - cat, "p_cat": cat, "label": label}
        return in_csv(Path(name), columns)

    cal, state = Path("cal.json"), Path("gate.json")
    fit = ("fit", write("fit.csv", 1), *PROBS[:4], "--multiclass", "structured", "-o", cal)
    assert run(*fit).code == 0
    words = (*PROBS, "--view", "top-label", "--class", "cat", "--artifact", cal, "--state", state)
    batches = [write("a.csv", 2), write("b.csv", 3)]
    for batch in batches:
        assert run("verify", batch, *words).code in (0, 4)
    for batch in batches:
        assert f"of batch {batch.name!r}" in run("verify", batch, *words, code=3).err
    assert [one["rows"] for one in state_of(state)["batches"]] == [400, 400]


def test_inspect_says_how_to_ask_again(run: Run, batches: list[Path]) -> None:
    """The view and the classes are shown, and the command it gives counts another batch."""
    for place, view in enumerate(VIEWS):
        state = Path(f"{place}.json")
        run("verify", batches[0], *PROBS, *view, "--state", state)
        page = run("inspect", state).out
        assert "classes" in page
        assert "3: 'ant', 'bee', 'cat'" in page
        (line,) = [one for one in page.splitlines() if one.startswith("next")]
        command = (
            line.removeprefix("next").strip().replace("NEW.csv", str(batches[1])).replace("LABEL", "label")
        )
        assert run(*shlex.split(command)[1:]).code in (0, 4)
        assert len(state_of(state)["batches"]) == 2


def test_other_questions_are_refused_and_leave_the_state_alone(
    run: Run, batches: list[Path], maps: dict[str, Path]
) -> None:
    """Other classes, the same in another order, and rows of a fit."""
    state = Path("gate.json")
    view = ("--view", "one-vs-rest", "--class", "cat")
    assert run("verify", batches[0], *PROBS, *view, "--state", state).code in (0, 4)
    before = state.read_bytes()
    renamed = Path("renamed.csv")
    renamed.write_text(batches[1].read_text().replace("p_cat", "p_cow").replace(",cat\n", ",cow\n"))
    turned = Path("turned.csv")
    lines = [line.split(",") for line in batches[1].read_text().splitlines()]
    turned.write_text("".join(f"{i},{b},{a},{c},{y}\n" for i, a, b, c, y in lines))
    for path in (turned, renamed):
        ran = run("verify", path, *PROBS, *view, "--state", state)
        assert (ran.code in (2, 3), state.read_bytes() == before) == (True, True)
    both = run("verify", batches[1], turned, *PROBS, "--state", "new.json")
    assert (both.code, "its classes are 'bee', 'ant', 'cat'" in both.err) == (3, True)
    fit = run("verify", maps["rows"], *PROBS, "--state", "x.json", "--artifact", maps["vector"])
    assert (fit.code, "was fitted on" in fit.err) == (3, True)
    other = run(
        "verify", batches[0], *PROBS[:-2], "--max-ece", "0.2", "--view", "one-vs-rest", "--class", "cow",
        "--artifact", maps["vector"], "--state", "x.json",
    )  # fmt: skip
    assert (other.code, "there is no class 'cow'" in other.err) == (2, True)


def test_alarm_watches_a_class(run: Run) -> None:
    """Probabilities that become too sure raise it."""
    words = (*PROBS[:4], "--view", "top-label", "--class", "bee", "--alarm", "--max-ece", "0.1")
    state = Path("watch.json")
    good = write_zoo("good.csv", 3000, seed=1, heat=1.0)
    bad = write_zoo("bad.csv", 3000, seed=2, heat=6.0)
    assert run("verify", good, *words, "--state", state).code == 0
    assert run("verify", bad, *words, "--state", state).code == 1
