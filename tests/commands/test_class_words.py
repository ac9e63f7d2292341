"""Pictures of several classes seen as one score: the title says how, the small print what label 1 is."""

from pathlib import Path

import pytest

from calibcli.commands.measure import measure_files
from calibcli.commands.pictures.diagram import Diagram, PlotRequest, rows_line
from calibcli.commands.plot import diagram_of
from calibcli.documents.sealed import sealed_text
from calibcli.names import OnSum, PlotKind, ViewName
from calibcli.options.measuring import MeasureOptions, metrics_of
from calibcli.options.rows import Columns, RowRequest, SeveralClasses

DIGITS = str(Path(__file__).parent.parent.parent / "sample_data" / "digits_forest_evaluation.csv")
SEEN = [
    (ViewName.CONFIDENCE, None, ", the largest probability", "Label 1: the predicted class is correct."),
    (ViewName.ONE_VS_REST, "8", ", 8 against the rest", "Label 1: the row is of class 8."),
    (ViewName.TOP_LABEL, "8", ", rows that predict 8", "Label 1: 8 is the right class of the row."),
]


def columns_of(view: ViewName, one_class: str | None) -> Columns:
    """All ten classes, seen in a way."""
    return Columns(label="label", several=SeveralClasses("p_*", None, OnSum.ERROR, view, one_class))


def check(diagram: Diagram, added: str, meaning: str) -> None:
    """Title and small print say it."""
    assert diagram.title == f"{Path(DIGITS).name}: p_*{added}"
    assert meaning in diagram.drawn.foot


@pytest.mark.parametrize(
    ("view", "one_class", "added", "meaning", "kind"),
    [
        *((*seen, PlotKind.BINNED) for seen in SEEN),
        (*SEEN[0], PlotKind.CUMULATIVE),
    ],
)
def test_title_and_small_print_say_how_classes_are_seen(
    view: ViewName, one_class: str | None, added: str, meaning: str, kind: PlotKind
) -> None:
    """Pictures from a measurement and from a table alike."""
    check(diagram_of(PlotRequest([DIGITS], columns_of(view, one_class), kind=kind)), added, meaning)


@pytest.mark.parametrize(("view", "one_class", "added", "meaning"), SEEN)
def test_a_report_says_the_same_as_its_files(
    view: ViewName, one_class: str | None, added: str, meaning: str
) -> None:
    """It holds the view and the class."""
    options = MeasureOptions(metrics_of(["ece"]))
    report = measure_files(RowRequest([DIGITS], columns_of(view, one_class)), options=options)
    path = Path("report.json")
    path.write_text(sealed_text(report.to_dict()))
    check(diagram_of(PlotRequest([str(path)], kind=PlotKind.BINNED)), added, meaning)


def test_one_row_is_no_rows() -> None:
    """The line under every picture."""
    assert rows_line(1, 0) == "1 row, 0 with label 1"
    assert rows_line(1_000, 3) == "1,000 rows, 3 with label 1"
