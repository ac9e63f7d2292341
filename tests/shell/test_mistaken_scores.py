"""Scores that look like something else, the outputs of a map or percentages, are recognised."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import calibcli
from calibcli.data.columns import alike_notes
from calibcli.names import MeasureName
from command_line import CHURN, Run, in_csv
from score_rows import scored

SAID = "equal-width bins merge some of them: pass --binning atoms to measure each value by itself"


@pytest.fixture(scope="module")
def applied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with 46 rows, the artifact of 25 bins, and the rows as it repairs them."""
    from calibcli.shell.app import main

    folder = tmp_path_factory.mktemp("few")
    rng = np.random.default_rng(2)
    for name, size in (("fit", 2_000), ("few", 46), ("more", 400)):
        score = rng.uniform(0, 1, size)
        in_csv(folder / f"{name}.csv", {"score": score, "label": rng.random(size) < score})
    words = ["fit", str(folder / "fit.csv"), "--method", "histogram", "--bins", "20", "-q"]
    assert main([*words, "-o", str(folder / "cal.json")]) == 0
    for name in ("few", "more"):
        words = ["apply", str(folder / "cal.json"), str(folder / f"{name}.csv"), "-s", "score", "-q"]
        assert main([*words, "-o", str(folder / f"{name}_applied.csv")]) == 0
    return folder


def _ece(run: Run, *words: object) -> float:
    return float(
        run("measure", *words, "--metric", "ece", "--json", code=0).document["measures"]["ece"]["value"]
    )


@pytest.mark.parametrize("rows", ["few", "more"])
def test_the_number_of_the_artifact_can_be_had_from_what_it_wrote(run: Run, applied: Path, rows: str) -> None:
    """With the option that the note names; without it the number may be another, and the note says so."""
    named = _ece(run, applied / f"{rows}.csv", "--artifact", applied / "cal.json")
    written = [applied / f"{rows}_applied.csv", "-s", "calibrated"]
    plain = _ece(run, *written)
    assert _ece(run, *written, "--binning", "atoms") == pytest.approx(named, rel=1e-12)
    said = SAID in run("measure", *written, "--metric", "ece").out.replace("\n", " ")
    assert said is (rows == "few")
    assert (plain == pytest.approx(named, rel=1e-9)) is (rows == "more")


def test_every_command_and_format_says_so(run: Run, applied: Path) -> None:
    """Where bins were not named and matter; rows of CSV and JSON Lines say it on standard error."""
    requested = [applied / "few_applied.csv", "-y", "label"]
    one = [*requested, "-s", "calibrated"]
    measure = ["measure", "-m", "ece"]
    lines = [[*measure, *one, "--format", name] for name in ("table", "md", "json", "jsonl", "csv")]
    lines += [["verify", *one, "--max-ece", "0.4", "--format", name] for name in ("table", "json", "csv")]
    lines += [["plot", *one, "--kind", "binned", "-o", "out.svg"]]
    further = [*requested, "-s", "score", "-s", "calibrated", "-m", "ece"]
    lines += [["measure", *further, "--format", name] for name in ("table", "json", "jsonl", "csv")]
    for words in lines:
        ended = run(*words)
        assert ended.code in (0, 4), ended.err
        assert SAID in ended.shown.replace("\\-", "-"), words
    for words in (
        [*measure, *one, "--bins", "15"],
        [*measure, *one, "--binning", "equal-width"],
        ["measure", *one, "--metric", "brier"],
        [*measure, *requested, "-s", "score"],
        ["verify", *one, "--max-smece", "0.5"],
        [*measure, applied / "few.csv", "--artifact", applied / "cal.json"],
    ):
        ended = run(*words)
        assert SAID not in ended.shown, words


@pytest.mark.parametrize(
    ("digits", "times", "said"),
    [
        (6, 2, "occurs twice, or a multiple of that: were rows read twice"),
        (6, 3, "were rows read 3 times"),
        (6, 1, ""),
        (1, 2, ""),
    ],
)
def test_rows_that_were_read_more_than_once_are_said(run: Run, digits: int, times: int, said: str) -> None:
    """Two files with the same rows halve every variance; of scores of few values counts tell nothing."""
    rng = np.random.default_rng(3)
    score = rng.random(200).round(digits)
    lines = "".join(f"{one!r},{int(rng.random() < one)},{i}\n" for i, one in enumerate(score.tolist()))
    names = [Path(f"{k}.csv") for k in range(times)]
    for name in names:
        name.write_text("score,label,lesion\n" + lines)
    for words in (("measure", *names), ("verify", *names, "--max-ece", "0.5")):
        shown = " ".join(run(*words).out.split())
        assert said in shown if said else "were rows read" not in shown
        assert ("intervals are too narrow" in shown) == bool(said)
    clustered = " ".join(run("measure", *names, "--cluster", "lesion").out.split())
    assert said in clustered
    assert "too narrow" not in clustered


def _customers(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Calibrated scores of customers, some of which are alike by rounding, and their labels."""
    rng = np.random.default_rng(8)
    score = rng.beta(1.0, 2.0, rows).round(4)
    return score, rng.random(rows) < score


@pytest.mark.parametrize(
    ("times", "said"),
    [
        # How often rows of label 0 occur, and those of label 1; none: once to five times.
        ((None, None), "both labels, and"),
        ((1, None), "both labels, and"),
        ((1, 5), "every row of label 1 occurs 5 times, or a multiple of that, and others do not"),
        ((2, 1), "every row of label 0 occurs twice, or a multiple of that, and others do not"),
        ((1, 1), None),
    ],
)
def test_rows_that_a_join_or_a_training_set_repeats_are_said(
    run: Run, times: tuple[int | None, int | None], said: str | None
) -> None:
    """Intervals are too narrow or rates those of no population, and nothing was said; by fit as well, whose
    artifact stays that of the rows. Where a column says what belongs together it is known.
    """
    score, label = _customers(400)
    drawn = np.random.default_rng(1).integers(1, 6, 400)
    count = np.where(label, *(drawn if one is None else one for one in reversed(times)))
    person = np.repeat(np.arange(400), count)
    rows = {"score": score[person], "label": label[person], "person": person}
    path = in_csv("rows.csv", rows)
    for words in (["measure", "-m", "ece"], ["verify", "--max-ece", "0.9"], ["fit", "-m", "platt"]):
        ended = run(*words, path, "-o", "out", "--force")
        shown = " ".join((ended.out + ended.err + Path("out").read_text()).split())
        assert (said or "were rows repeated") in shown if said else "were rows repeated" not in shown
    assert "repeated" not in Path("out").read_text()
    if said is not None and "both labels" in said:
        assert "repeated" not in run("measure", path, "-m", "bias", "--cluster", "person", code=0).out
        counted = in_csv("counted.csv", {"score": score, "label": label, "n": count})
        weighed = ("-w", "n", "--weights-are", "frequency")
        assert "repeated" not in run("measure", counted, "-m", "bias", *weighed, code=0).out


def test_pairs_in_both_orders_are_asked_about(run: Run, tmp_path: Path) -> None:
    """Such rows double all counts, and are no copies: their scores add up to 1."""
    score, label = _customers(400)
    both = {
        "score": np.append(score, 1.0 - score),
        "label": np.append(label, ~label),
        "pair": [*range(400)] * 2,
    }
    path = in_csv(tmp_path / "both.csv", both)
    logit = in_csv(tmp_path / "logit.csv", both | {"score": np.log(both["score"] / (1.0 - both["score"]))})
    said = "is each pair there in both orders, or are both classes of each row?"
    for words in ([path, "-m", "ece"], [logit, "-m", "ece", "--scale", "logit"]):
        assert said in " ".join(run("measure", *words, code=0).out.split())
    assert said not in " ".join(run("measure", path, "-m", "bias", "--cluster", "pair", code=0).out.split())
    both["label"][0] = not both["label"][0]
    in_csv(path, both)
    assert said not in " ".join(run("measure", path, "-m", "ece", code=0).out.split())
    near = np.arange(100) * 1e-8
    sure = np.append(near, 1.0 - near / 2.0)
    in_csv(path, {"score": sure, "label": sure > 0.5})
    assert said not in " ".join(run("measure", path, "-m", "ece", code=0).out.split())


def test_compare_says_so_of_both_sides(run: Run) -> None:
    """Once for each number of values."""
    rng = np.random.default_rng(0)
    rows = [
        f"{rng.integers(0, 30) / 40},{rng.integers(0, 25) / 40},{rng.integers(0, 2)}\n" for _ in range(90)
    ]
    path = Path("rows.csv")
    path.write_text("a,b,label\n" + "".join(rows))
    ended = run("compare", path, "-s", "a", "-s", "b", "-y", "label", "--metric", "ece")
    assert " ".join(ended.out.split()).count(SAID) == 2


def test_python_says_so(applied: Path) -> None:
    """Among the notes of the result."""
    found = calibcli.measure(str(applied / "few_applied.csv"), score="calibrated", label="label")
    assert any("merge some of them" in note for note in found.report.notes)


@pytest.mark.parametrize(
    ("asked", "rows"),
    # Tenths that are higher in single precision: .1, .2, .3, .4, .6 and .8, of which five bins end at four.
    [({"bins": 10}, 420), ({"bins": 5}, 280), ({}, None), ({"binning": "equal-mass"}, None)],
)
def test_rounding_to_single_precision_that_changes_bins_is_said(
    asked: dict[str, object], rows: int | None
) -> None:
    """How many rows it moves; of the same numbers in doubles, or value by value, nothing is said."""
    score, label = np.repeat(np.arange(1, 10) / 10, 70), np.arange(630) % 3 == 0
    for kind in (np.float32, np.float64):
        notes = calibcli.measure(score.astype(kind), label, metric="ece", **asked).report.notes
        moved = [note for note in notes if "in single precision" in note]
        assert len(moved) == (rows is not None and kind is np.float32)
        assert all(note.startswith(f"{rows} rows have scores such as 0.") for note in moved)


def test_a_fit_to_calibrated_scores_says_that_new_rows_may_lose(run: Run) -> None:
    """There is nothing to gain, so that what falls on the fit rows rises on others."""
    score, label = scored(20_300, beta=(1.0, 2.0))
    path = in_csv("rows.csv", {"s": score[:300], "y": label[:300]})
    ended = run("fit", path, "-s", "s", "-y", "y", "-m", "platt", "-o", "map.json", "--force")
    assert "The log loss falls " in ended.err
    assert "Expect new rows to gain less, or to lose: " in ended.err
    after = calibcli.load("map.json").predict(score[300:])
    before, after = (np.where(label[300:], one, 1.0 - one) for one in (score[300:], after))
    assert np.log(after).mean() < np.log(before).mean()


@pytest.mark.parametrize(
    ("weight", "said"),
    [
        (
            lambda label, _: np.where(label, 5.0, 1.0),
            "label 1 weighs 5 and every other 1: leave out --weight",
        ),
        (lambda _, score: np.where(score > 0.2, 5.0, 1.0), None),
        (lambda label, _: np.full(label.size, 0.3), None),
        (lambda label, score: np.where(label, 5.0, 1.0 + score), None),
    ],
)
def test_weights_of_classes_are_asked_about(
    weight: Callable[[np.ndarray, np.ndarray], np.ndarray], said: str | None
) -> None:
    """Weights must not depend on labels: that is always said, and seen where labels alone settle them."""
    rng = np.random.default_rng(4)
    score = rng.random(400) / 3.0
    label = rng.random(400) < score
    found = calibcli.measure(score, label, weight=weight(label, score), metric=["ece", "brier"]).report
    assert [said in note for note in found.notes if "weighs" in note] == [True] * (said is not None)
    stated = {
        one.name: any("not depend on their labels" in a for a in one.assumptions) for one in found.measures
    }
    assert stated == {MeasureName.ECE: True, MeasureName.BRIER: False}


def test_a_decimal_comma_changes_no_number(run: Run, tmp_path: Path) -> None:
    """Of scores in per cent with or without the sign, of columns of segments and of conditions."""
    rng = np.random.default_rng(3)
    score, age = rng.integers(1, 999, 600) / 10.0, rng.integers(180, 900, 600) / 10.0
    label = (rng.random(600) < np.where(age > 60.0, 0.2, 1.0) * score / 100.0).astype(int)
    rows = list(zip(score.tolist(), age.tolist(), label.tolist(), strict=True))
    reports = set()
    for sign in ("", "%", " %"):
        for mark in (".", ","):
            lines = ["pd;age;y", *(f"{s}{sign};{a};{y}".replace(".", mark) for s, a, y in rows)]
            path = Path("book.csv")
            path.write_text("\n".join(lines), encoding="utf-8")
            words = (path, "--delimiter", ";", "--decimal", mark, "--scale", "percent", "-s", "pd", "-y", "y")
            found = run("measure", *words, "-m", "oe", "--where", "age>60.5")
            segments = run("segments", *words, "--on", "age")
            assert (found.code, segments.code) == (0, 0), found.err + segments.err
            reports.add((found.out, segments.out))
            nulls = run("apply", _map(run, tmp_path), *words[:7], "-s", "pd", "--on-missing", "null")
            assert "got no probability" not in nulls.err
    assert len(reports) == 1
    assert run("measure", path, "--delimiter", ";", "--scale", "percent", "-s", "pd", "-y", "y").code == 3


def _map(run: Run, folder: Path) -> Path:
    """Fit a map to two rows of per cent."""
    rows, path = folder / "fit.csv", folder / "map.json"
    rows.write_text("pd,y\n20,0\n20,1\n80,1\n80,0\n", encoding="utf-8")
    assert run("fit", rows, "-m", "intercept", "--scale", "percent", "-o", path, "--force").code == 0
    return path


def test_a_text_beside_numbers_with_a_comma_leaves_them_numbers(run: Run, tmp_path: Path) -> None:
    """One row without a number takes no probability from the others."""
    rows = Path("rows.csv")
    rows.write_text("pd;y\n20,5;0\nn.v.;1\n80;1\n", encoding="utf-8")
    words = ("--delimiter", ";", "--decimal", ",", "-s", "pd", "--on-missing", "null")
    found = run("apply", _map(run, tmp_path), rows, *words)
    assert [line.endswith(";") for line in found.out.splitlines()[1:]] == [False, True, False]


def test_a_pattern_leaves_no_numbers_with_a_comma_out(run: Run) -> None:
    """To leave them out would be to rank the others alone."""
    path = Path("days.csv")
    lines = [f"0,{place % 9 + 1};0,5;1;text;{place % 2}" for place in range(200)]
    path.write_text("\n".join(["fc_a;fc_b;fc_c;fc_note;rain", *lines]), encoding="utf-8")
    words = ("compare", path, "-s", "fc_*", "-y", "rain", "-m", "brier", "--delimiter", ";")
    assert "--decimal , reads commas" in run(*words, code=3).err
    found = run(*words, "--decimal", ",")
    assert "3 scores for rain" in found.out
    assert "'fc_note' fits the pattern and is left out: it holds text" in found.out
    packed = Path("days.csv.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    again = run("compare", packed, *words[2:], "--decimal", ",", code=0)
    assert again.out.replace("days.csv.gz", "days.csv") == found.out


def test_a_pattern_finds_scores_that_stand_in_later_rows_alone(run: Run) -> None:
    """Those of JSON were not compared, and nothing said so; those of a further file are left out and said."""
    lines = [f'{{"fc_a":0.{place % 9 + 1},"rain":{place % 2}' for place in range(16_000)]
    more = [f'{one},"fc_b":0.5,"fc_note":"x"}}' for one in lines[15_000:]]
    path = Path("days.jsonl")
    path.write_text("\n".join([*(f"{one}}}" for one in lines[:15_000]), *more]))
    words = ("-s", "fc_*", "-y", "rain", "--on-missing", "drop", "-m", "brier")
    found = run("measure", path, *words, code=0).out
    assert "values are missing in 'fc_b' (15,000)" in found
    assert "'fc_note' fits the pattern and is left out: it holds text" in found
    # What is beyond a limit is not read, and of no matter.
    path.write_text(path.read_text() + "\n{")
    assert run("measure", path, *words, "--limit", "1000", code=0).out.startswith("The Brier score")
    first, further = Path("first.jsonl"), Path("further.jsonl")
    first.write_text("\n".join(f"{one}}}" for one in lines[:20]))
    further.write_text("\n".join(more[:20]))
    found = run("measure", first, further, *words, code=0).out
    assert f"{further}: column 'fc_b' fits --score 'fc_*', and is left out: the first file does" in found


def test_a_missing_number_makes_no_text_of_a_column(run: Run) -> None:
    """A score with `NA` in a row fits the pattern as before; it was left out, as a column of text."""
    path = Path("models.csv")
    rows = [f"{'NA' if place == 7 else 0.3},0.{place % 9 + 1},{place % 2}" for place in range(80)]
    path.write_text("\n".join(["risk_new,risk_old,death", *rows]))
    assert ["risk_new", "number"] in [one.split() for one in run("inspect", path).out.splitlines()]
    ended = run("compare", path, "-s", "risk_*", "-y", "death", "--on-missing", "drop")
    assert (ended.code, "2 scores" in ended.out or "second: column risk_old" in ended.out) == (0, True)


@pytest.mark.parametrize("as_fractions", [0.0, 0.2, 0.9])
@pytest.mark.parametrize("reverse", [False, True])
def test_probabilities_among_percentages_with_decimals_are_said(
    run: Run, as_fractions: float, *, reverse: bool
) -> None:
    """O/E was 27 where one ward wrote 0.312 and another 31.2; labels in reverse are no such thing."""
    rng = np.random.default_rng(1)
    risk = np.round(1.0 / (1.0 + np.exp(rng.normal(2.0, 2.0, 4_000))), 4)
    death = (rng.random(risk.size) < risk) != reverse
    score = np.where(rng.random(risk.size) < as_fractions, risk, 100.0 * risk)
    path = in_csv("cohort.csv", {"risk": score, "death": death.astype(int)})
    found = run("measure", path, "-s", "risk", "-y", "death", "--scale", "percent", "-m", "bias").out
    assert ("among percentages" in found) == (as_fractions > 0.0 and not reverse)


@pytest.mark.parametrize("logits", [False, True])
def test_log_probabilities_read_as_log_odds_are_said(run: Run, *, logits: bool) -> None:
    """Of what is at most 0, log-probabilities crowd next to it; inspect offers that scale first."""
    rng = np.random.default_rng(2)
    share = rng.beta(4, 1, 400)
    values = rng.normal(-4.0, 1.0, 400) if logits else np.log(share)
    columns = {"score": values.clip(max=-1e-6), "label": (rng.random(400) < share).astype(int)}
    path = in_csv("answers.csv", columns)
    found = run("measure", path, "--scale", "logit", "-m", "bias").out
    assert ("--scale logprob reads log-probabilities" in found) is not logits
    assert run("inspect", path, code=0).out.endswith("--scale logit\n" if logits else "--scale logprob\n")


def test_log_odds_of_errors_are_no_log_probabilities(run: Run) -> None:
    """None is above 0 and many are next to it, where two classes are often a toss-up; events are as many."""
    rng = np.random.default_rng(2)
    logit = -np.abs(rng.normal(0.0, 0.4, 200))
    right = rng.random(200) < 1.0 / (1.0 + np.exp(-logit))
    path = in_csv("errors.csv", {"score": logit, "label": right.astype(int)})
    assert "logprob" not in run("measure", path, "--scale", "logit", "-m", "bias").out


def test_points_read_as_log_odds_are_said_by_fit(run: Run) -> None:
    """A map of one level was fitted to scores that are all 1, and nothing said why."""
    path = Path("cards.csv")
    rows = (f"{300 + place},{place % 2},{place % 4 < 2}\n" for place in range(200))
    path.write_text(f"fico,default,group\n{''.join(rows)}")
    fitted = ("fit", path, "-s", "fico", "-y", "default", "--scale", "logit", "-o", "cal.json")
    said = run(*fitted, "--method", "isotonic", code=0).err
    assert "200 rows with log-odds above 36.7 have a score of exactly 1" in said
    assert (
        said.splitlines()[-1] in run(*fitted, "--method", "isotonic", "--force", "--by", "group", code=0).err
    )
    assert "is --score the right column, and --scale its scale?" in run(*fitted, "--force", code=3).err


@pytest.mark.parametrize(
    "words",
    [
        "measure {} -s new -y label --by country",
        "verify {} -s new -y label --by country --max-ece 0.9",
        "verify {} -s new -y label --on country --max-segment-bias 0.9 --state {}.state",
        "compare {} -s old -s new -y label --by country",
        "segments {} -s new -y label --on country",
        "drift {} -s new --by country",
        "fit {} -s new -y label --by country -o {}.map",
        "fit {} -s new -y label -m segments --on country -o {}.map",
    ],
)
def test_groups_that_differ_in_capitals_alone_are_said(run: Run, words: str) -> None:
    path = Path("customers.csv")
    rows = [
        f"{place},0.{place % 9 + 1},0.{place % 7 + 1},{'DE' if place % 3 else 'de'},{place % 2}"
        for place in range(900)
    ]
    path.write_text("\n".join(["id,old,new,country,label", *rows]))
    said = run(*words.replace("{}", str(path)).split())
    alike = "column 'country': 'DE', 'de' are groups of their own; are some meant to be the same?"
    assert alike in said.out + said.err


@pytest.mark.parametrize(
    ("values", "alike"),
    [
        (("1", "1.0"), True),
        (("2024-1", "2024-01"), True),
        (("01", "1"), True),
        (("1.1", "1.10"), False),
        (("1,5", "1,05"), False),
        (("2023.3", "2023.3.1"), False),
        (("a01", "a1"), False),
        (("10", "100"), False),
        (("0", "00.5"), False),
        (("2024-01-05", "06/01/2024"), True),
        (("2024-01", "02/2024"), True),
        (("2024-01-05", "2024-02-06"), False),
        (("1990-1999", "2000-2009"), False),
        (("1.2.3", "1.12.4"), False),
        (("2024-01-05 00:00:00Z", "2024-01-05 00:00:00"), True),
        (("2024-01-05T00:00:00.000+00:00", "2024-01-05"), True),
        (("2024-01-05 09:30:00Z", "2024-01-05T09:30:00"), True),
        (("2024-01-05 00:00:00Z", "2024-01-05 09:00:00Z"), False),
        (("2024-01-05 09:00:00+09:00", "2024-01-05 09:00:00Z"), False),
    ],
)
def test_groups_that_differ_in_how_a_number_is_written_are_said(
    values: tuple[str, str], *, alike: bool
) -> None:
    """A month was two groups where one file wrote its zero or the year last; versions are what they are."""
    said = alike_notes("month", [*values, "other"])
    listed = ", ".join(map(repr, values))
    assert said == ((f"column 'month': {listed} {ALIKE}",) if alike else ())


ALIKE = "are groups of their own; are some meant to be the same?"


@pytest.mark.parametrize(
    ("labels", "words", "refused"),
    [
        (("yes", "no"), "--positive yes", "the probability of 'no', which counts as 0 by --positive yes"),
        (("yes", "no"), "", None),
        (("1", "0"), "--positive 1", None),
    ],
)
def test_a_map_of_another_label_is_refused(
    run: Run, labels: tuple[str, str], words: str, refused: str | None
) -> None:
    """It gives the probability of the label that its fit named, where the file has that one."""
    score, label = _customers(400)
    fitted = in_csv("fit.csv", {"score": score, "label": np.where(label, "yes", "no")})
    rows = in_csv("rows.csv", {"score": score, "label": np.where(label, *labels)})
    cal = Path("cal.json")
    run("fit", fitted, *CHURN, "--positive", "no", "-o", cal, code=0)
    said = run("measure", rows, *CHURN, "--artifact", cal, "-m", "ece", *words.split())
    assert said.code == (0 if refused is None else 3)
    assert refused is None or refused in said.err


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        ("-s score -y label", "-s score -y label", None),
        ("-s score -y label", "-s score -y label --positive 1", None),
        ("-s score -y label", "-s score -y word --positive yes", None),
        ("-s score -y label --positive 0", "-s score -y label", "the label '0' counts as 1, and here '1'"),
        ("-s score -y word --positive no", "-s score -y word --positive yes", "'no' counts as 1, and here"),
        ("--probs p_* -y word", "--probs p_* -y word --view one-vs-rest --class no", "of class 'no'"),
        ("--probs p_* -y word", "--probs p_* -y word", None),
    ],
)
def test_a_baseline_of_another_label_or_class_is_said(
    run: Run, before: str, now: str, said: str | None
) -> None:
    """A gate passed since the baseline was of the label that is 0 now."""
    score, label = _customers(400)
    words = np.where(label, "yes", "no")
    columns = {"score": score, "label": label, "word": words, "p_no": 1.0 - score, "p_yes": score}
    rows, base = in_csv("rows.csv", columns), Path("base.json")
    run("measure", rows, *before.split(), "-m", "ece", "--json", "-o", base, code=0)
    ask = ["--baseline", base, "--max-regression", "0.5", "--json"]
    notes = [one for one in run("verify", rows, *now.split(), *ask).document["notes"] if "baseline" in one]
    assert [one for one in notes if "same rows" not in one] == [one for one in notes if said and said in one]
    assert said is None or any(said in one for one in notes)


@pytest.mark.parametrize(
    ("change", "scale", "said"),
    [
        (lambda score, label: (score, label), "percent", "no score is above 1 there, and all"),
        (lambda score, label: (score, label), "logit", "every score lies in [0, 1] there, and all"),
        (
            lambda score, label: (score, 1 - label),
            "prob",
            "the higher the score, the rarer label 1 there: is",
        ),
        (lambda score, label: (score**2, label), "prob", None),
        (lambda score, label: (100.0 * score**2, label), "percent", None),
    ],
)
def test_a_file_unlike_the_others_is_said(
    run: Run,
    change: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]],
    scale: str,
    said: str | None,
) -> None:
    """On another scale, or with its labels reversed; what is so in all files is said of all rows.

    Files of few rows say nothing, nor that others are unlike them.
    """
    ways = {"prob": lambda p: p, "percent": lambda p: 100.0 * p, "logit": lambda p: np.log(p / (1.0 - p))}
    rng, paths = np.random.default_rng(6), {}
    for name in ("a", "b", "odd"):
        score = rng.beta(1.0, 2.0, 300)
        label = (rng.random(300) < score).astype(int)
        found = change(score, label) if name == "odd" else (ways[scale](score), label)
        paths[name] = in_csv(f"{name}.csv", dict(zip(("score", "label"), found, strict=True)))
    asked = (*CHURN, "--scale", scale, "--json", "-m", "bias")

    def unlike(*files: str) -> list[str]:
        ran = run("measure", *map(paths.get, files), *asked, code=0)
        return [one for one in ran.document["input"]["notes"] if " there" in one]

    assert [f"{paths['odd']}: {said}" in one for one in unlike("a", "odd", "b")] == [True] * (
        said is not None
    )
    paths["few"] = in_csv("few.csv", {"score": [0.9, 0.2] * 20, "label": [1, 0] * 20})
    assert unlike("a", "b") == unlike("odd") == unlike("odd", "few") == []


@pytest.mark.parametrize(
    ("scores", "said"),
    [(("a", "b"), ""), (("a", "b", "flat"), "columns 'a', 'b': "), (("a", "flat"), "column 'a': ")],
)
def test_several_scores_of_one_file_are_told_of_once(run: Run, scores: tuple[str, ...], said: str) -> None:
    rng, paths = np.random.default_rng(6), []
    for place in range(2):
        score, flat = rng.beta(1.0, 2.0, 300), rng.beta(1.0, 2.0, 300)
        label = (rng.random(300) < score).astype(int)
        rows = {"a": score, "b": score**2, "flat": flat, "label": 1 - label if place else label}
        paths.append(in_csv(f"{place}.csv", rows))
    asked = [word for name in scores for word in ("-s", name)]
    notes = run("measure", *paths, *asked, "-y", "label", "-m", "bias", "--json").document["input"]["notes"]
    there = (
        f"{paths[1]}: {said}the higher the score, the rarer label 1 there: is the outcome coded in reverse?"
    )
    assert [one for one in notes if " there" in one] == [there]


def test_a_file_whose_classes_stand_in_another_order_is_said(run: Run) -> None:
    """Lists have no names; where all files are so, all rows are told of together."""
    rng, paths = np.random.default_rng(9), []
    for place in range(3):
        share = rng.dirichlet([0.6, 0.6, 0.6], 300)
        label = (rng.random((300, 1)) > share.cumsum(axis=1)).sum(axis=1).clip(0, 2)
        lists = (share[:, ::-1] if place == 2 else share).tolist()
        paths.append(Path(f"{place}.jsonl"))
        rows = ({"probs": one, "label": int(right)} for one, right in zip(lists, label, strict=True))
        paths[-1].write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    said = "the probability of a class is lower there where it is the label: do all files"
    for files, odd in ((paths, True), (paths[:2], False), (paths[2:], False)):
        asked = ("measure", *files, "--probs", "probs", "-y", "label", "-m", "accuracy", "--json")
        notes = json.loads(run(*asked, code=0).out)["input"]["notes"]
        assert any(one.startswith(f"{paths[2]}: {said}") for one in notes) is odd
