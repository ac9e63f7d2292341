"""Words that plainly are what an option takes: taken by themselves as the framework would take them."""

import re
from typing import Any

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcli.names import ClassMeasure, MeasureName, TestName
from calibcli.shell import app
from calibcli.shell.app import tree_of
from calibcli.shell.line import plain
from command_line import CHURN, SAMPLE, Run

COMMANDS = ("measure", "fit", "verify", "plot", "apply")


def options() -> list[Any]:
    """Return the options of some commands, of every kind that there is."""
    tree = typer.main.get_command(tree_of(COMMANDS))
    found = [one for name in COMMANDS for one in vars(tree)["commands"][name].params]
    return [one for one in found if hasattr(one, "type_descriptor")]


OPTIONS = options()
WORDS = st.one_of(
    st.sampled_from(
        ["", "0", "-1", "1.", ".5", "1e3", "1e999", " 2", "1_000", "0x1", "nan", "inf", "True", "١"]
    ),
    st.integers(-10, 10**20).map(str),
    st.floats(allow_nan=True).map(repr),
    st.text(max_size=5),
)


@pytest.mark.skipif(not OPTIONS, reason="a framework that asks nobody else")
@given(place=st.integers(0, max(len(OPTIONS) - 1, 0)), word=WORDS, data=st.data())
@settings(max_examples=100)
def test_what_is_taken_plainly_is_what_the_framework_takes(place: int, word: str, data: Any) -> None:
    """Either the same value of the same type, or nothing, so that the framework is asked."""
    option = OPTIONS[place]
    about = option.type_descriptor
    kind = about.annotation.__args__[0] if option.multiple or option.nargs == -1 else about.annotation
    if about.choices is not None:
        word = data.draw(st.sampled_from([*(str(one.value) for one in about.choices), word]))
    found = plain(word, kind, about.parameter_info)
    if found is None:
        return
    value = [word] if kind is not about.annotation else word
    requested = option.get_runtime_param().coerce(value, param=option, ctx=None)
    taken = requested[0] if kind is not about.annotation else requested
    assert (type(found), found) == (type(taken), taken)


def test_a_tree_takes_line_after_line(run: Run) -> None:
    """What asks the framework is put in place once, not around itself with each line."""
    tree = typer.main.get_command(app.tree_of(("measure",)))
    requested = []
    for _ in range(2):
        assert run("measure", "none.csv", "--bins", "x").code == 2
        requested.append(
            [vars(one).get("get_runtime_param") for one in vars(tree)["commands"]["measure"].params]
        )
    assert requested[0] == requested[1]
    assert any(requested[0]) or not OPTIONS


def test_as_many_workers_as_no_input_has_parts(run: Run) -> None:
    """However many there may be, there are no more than files."""
    rows = sorted(SAMPLE.glob("churn_*.parquet"))
    assert run("measure", *rows, *CHURN, "-j", "9" * 20, "-m", "bias").code == 0


def test_verdicts_call_measures_as_the_field_does(run: Run) -> None:
    """No sentence of a gate has a key of ours where the name of a measure belongs."""
    rows = SAMPLE / "breast_cancer_evaluation.csv"
    rules = ("oe<=2", "auroc.lower>=0.9", "brier<=0.5", "brier.value<=0.5")
    line = [word for rule in rules for word in ("--rule", rule)]
    said = "".join(
        run(*words).out
        for words in (
            ["verify", rows, "--max-ece", "0.5", *line],
            ["verify", rows, "--max-smece", "0.001", "-v"],
            ["verify", rows, "--max-dce", "0.001"],
            ["plan", "--like", rows, "--max-ece", "0.1"],
        )
    )
    keys = {*MeasureName, *ClassMeasure, *TestName, "ece"} - {"bias"}
    found = re.findall(
        r"\b(?:[Tt]he|pass) (?:binned )?([a-z0-9_]+) (?:in the pop|for these|of these|<=)", said
    )
    assert not keys & set(found)
    for name in ("binned ECE", "O/E ratio", "AUROC", "Brier score"):
        assert f"The {name} " in said, name
