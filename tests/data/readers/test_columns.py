"""Which column is which."""

import pytest

from calibcli.data.columns import LABEL_NAMES, SCORE_NAMES, resolve, same_again
from calibcli.errors import InputProblem
from calibcli.names import WeightMeaning
from calibcli.options.rows import Columns


@pytest.mark.parametrize(
    ("header", "score", "label"),
    [
        (("pd", "default"), "pd", "default"),
        (("Risk", "Death"), "Risk", "Death"),
        (("p", "rain"), "p", "rain"),
        (("score", "pd", "risk", "label", "default"), "score", "label"),
    ],
)
def test_names_of_trades_count_where_no_usual_one_is(header: tuple[str, ...], score: str, label: str) -> None:
    """A file that was read before they were known is read as before."""
    resolved = resolve(Columns(), header, path="a.csv")
    assert (resolved.score, resolved.label) == (score, label)


def test_a_document_in_the_place_of_rows_is_named() -> None:
    """The keys of a map are no columns that one could choose from."""
    with pytest.raises(InputProblem) as problem:
        resolve(Columns(), ["calibcli", "digest", "method", "schema"], path="cal.json")
    assert "maps go to --artifact" in str(problem.value.hint)


@pytest.mark.parametrize("name", SCORE_NAMES)
def test_the_one_usual_score_name_is_taken(name: str) -> None:
    """A usual name is found whatever its case, and the guess is said."""
    resolved = resolve(Columns(), ["id", name.upper(), "label"], path="p.csv")
    assert (resolved.score, resolved.label) == (name.upper(), "label")
    assert resolved.notes == (
        f"column {name.upper()!r} was taken as the score; --score names another",
        "column 'label' was taken as the label; --label names another",
    )


@pytest.mark.parametrize("name", LABEL_NAMES)
def test_the_one_usual_label_name_is_taken(name: str) -> None:
    """As for scores; a name that was given is no guess."""
    resolved = resolve(Columns(score="a"), ["a", name], path="p.csv")
    assert resolved.label == name
    assert len(resolved.notes) == 1


def test_names_match_without_case_and_blanks_when_unique() -> None:
    """An exact match comes first."""
    resolved = resolve(Columns("SCORE", "label"), ["score", " Label", "Score2"], path="p.csv")
    assert (resolved.score, resolved.label) == ("score", " Label")
    assert resolve(Columns("A", "y"), ["a", "A", "y"], path="p.csv").score == "A"


def test_weights_are_importance_unless_said() -> None:
    """Without a weight column they are nothing."""
    header = ["score", "label", "w"]
    assert resolve(Columns(weight="w"), header, path="").weights_are is WeightMeaning.IMPORTANCE
    assert resolve(Columns(), header, path="").weights_are is None
    counted = Columns(weight="w", weights_are=WeightMeaning.FREQUENCY)
    assert resolve(counted, header, path="").weights_are is WeightMeaning.FREQUENCY


def test_apply_needs_no_label() -> None:
    """A header without a label is enough."""
    resolved = resolve(Columns(), ["p"], path="p.csv", labelled=False)
    assert (resolved.score, resolved.label, resolved.weight) == ("p", None, None)


def test_a_further_file_must_have_the_same_columns() -> None:
    """The first file decides; nothing is guessed twice."""
    first = resolve(Columns(), ["p", "y"], path="a.csv")
    assert same_again(first, ["Y", "id", "P"], path="b.csv").score == "P"
    assert same_again(first, ["p", "y"], path="b.csv").notes == ()
    with pytest.raises(InputProblem, match=r"b.csv: there is no column 'p'"):
        same_again(first, ["prob", "y"], path="b.csv")


def test_long_headers_are_cut_in_messages() -> None:
    """A thousand columns do not fill the terminal."""
    with pytest.raises(InputProblem, match=r"and 980 more$"):
        resolve(Columns("x"), [f"c{i}" for i in range(1000)], path="p.csv")
