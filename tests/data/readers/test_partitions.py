"""Columns that stand in paths, and patterns that stand for files."""

import os
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcli.commands import gathering
from calibcli.commands.apply import output_pairs
from calibcli.commands.gathering import RAW, Gathered, gather
from calibcli.data.engines import ThreadEngine
from calibcli.data.files import fixed_part, found_in, is_pattern
from calibcli.data.fragments import list_fragments
from calibcli.data.readers import partitions_of
from calibcli.data.tally import GatherRequest
from calibcli.errors import CalibcliError, EmptyTable, InputProblem
from calibcli.names import OnMissing, WeightMeaning
from calibcli.options.rows import Columns, InputFormat, RowSelection
from calibcli.reports.input import SelectedRows


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, content: str = "score,label\n0.25,0\n0.75,1\n") -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def read(*inputs: str, gather_request: GatherRequest | None = None, **requested: object) -> Gathered:
    columns = Columns(**{"score": "score", "label": "label", **requested})  # type: ignore[arg-type]
    return gather(
        list(inputs), columns, engine=ThreadEngine(1), gather_request=gather_request or GatherRequest()
    )


def groups(*inputs: str, by: str) -> dict[tuple[str, ...], int]:
    """Return how many rows each group has."""
    slices = read(*inputs, gather_request=GatherRequest(sliced=(RAW,)), by=(by,)).extras.slices[RAW]
    return {part: table.total_rows for part, table in slices.tables().items()}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("d/country=US/part-0.parquet", (("country", "US"),)),
        ("d/a=1/b=x%2Fy%20z/c.csv", (("a", "1"), ("b", "x/y z"))),
        ("d/c=__HIVE_DEFAULT_PARTITION__/c.csv", (("c", None),)),
        ("d/c=/c.csv", (("c", ""),)),
        ("d/c=a=b/c.csv", (("c", "a=b"),)),
        ("d/=x/plain/k=v.csv", ()),
        ("s3://bucket/d/c=US/a.csv?region=eu", (("c", "US"),)),
        ("d/c=1/c=2/c=1/a.csv", (("c", "1"), ("c", "2"))),
        ("d/c=1/c=1/a.csv", (("c", "1"),)),
        ("-", ()),
    ],
)
def test_directories_are_columns(path: str, expected: tuple[tuple[str, str | None], ...]) -> None:
    """Names and values are decoded; the name of the file itself is none."""
    assert partitions_of(path) == expected


def test_partitions_part_the_rows() -> None:
    """By the value in the path, whatever the format of the files; a missing one is a group of its own."""
    write("d/country=US/a.csv")
    write("d/country=US/b.jsonl", '{"score": 0.5, "label": true}\n')
    write("d/country=a%20b/a.tsv", "score\tlabel\n0.5\t1\n")
    write("d/country=__HIVE_DEFAULT_PARTITION__/a.csv")
    assert groups("d", by="Country") == {("US",): 3, ("a b",): 1, ("(missing)",): 2}
    assert groups("d/country=US/a.csv", by="country") == {("US",): 2}


def test_a_partition_can_be_the_label_or_a_weight() -> None:
    """As text, and as a number; a row whose weight is missing is dropped on request."""
    for label in (0, 1):
        write(f"d/label={label}/w={label + 2}/a.csv", "score\n0.25\n0.75\n")
    weighted = read("d", weight="w", weights_are=WeightMeaning.FREQUENCY)
    assert (
        weighted.input.rows,
        weighted.tables[RAW].total_rows,
        weighted.tables[RAW].total_positive_rows,
    ) == (4, 10, 6)
    write("d/label=1/w=__HIVE_DEFAULT_PARTITION__/a.csv", "score\n0.5\n")
    dropped = read("d", weight="w", on_missing=OnMissing.DROP).input
    assert (dropped.rows, dropped.dropped) == (4, 1)
    write("d/label=1/w=heavy/a.csv", "score\n0.5\n")
    with pytest.raises(InputProblem, match="the path holds column 'w', and its value is not a number"):
        read("d", weight="w", on_missing=OnMissing.DROP)


def test_a_partition_is_never_guessed() -> None:
    """A directory `y=2026` is a year: the label is looked for in the file."""
    write("y=2026/a.csv")
    assert read("y=2026", score=None, label=None).resolved.label == "label"  # type: ignore[union-attr]
    with pytest.raises(InputProblem, match="there is no column 'country'"):
        groups("y=2026", by="country")


def test_a_column_in_file_and_path_must_agree() -> None:
    """The path is read as the file's column is; else the first row that is not equal is named."""
    for folder, value, key in (("d/k=01", 1, "1"), ("t/k=True", True, "true")):
        Path(folder).mkdir(parents=True)
        rows = {"score": [0.5, 0.25], "label": [1, 0], "k": [value, value]}
        pq.write_table(pa.table(rows), f"{folder}/a.parquet")
        assert groups(folder[0], by="k") == {(key,): 2}
    write("c/k=1/a.csv", "score,label,k\n0.5,1,1\n0.25,0,1.0\n")
    with pytest.raises(InputProblem, match=r"column 'k': '1.0' at row 2, and '1' in the path"):
        groups("c", by="k")
    write("e/k=2/a.csv", "score,label,k\n0.5,1,2\n0.25,0,3\n")
    with pytest.raises(InputProblem) as caught:
        groups("e", by="k")
    assert caught.value.message == "e/k=2/a.csv, column 'k': '3' at row 2, and '2' in the path"
    assert read("e").input.rows == 2
    write("f/k=2/a.csv", "score,label,k\n0.5,1,2\n0.25,0,\n")
    with pytest.raises(InputProblem, match="column 'k': missing at row 2, and '2' in the path"):
        groups("f", by="k")


def test_a_path_that_says_two_things_of_a_column_is_refused() -> None:
    """Where that column is used, from the path or from the file; elsewhere it does not matter."""
    write("d/g=a/g=b/1.csv")
    write("e/g=a/g=b/1.csv", "score,label,g\n0.25,0,b\n")
    assert read("d").input.rows == 2
    for folder, said in (("d", "'a', and that it is 'b'"), ("e", "'b' at row 1, and 'a' in the path")):
        with pytest.raises(InputProblem, match=said):
            groups(folder, by="g")


def test_a_partition_that_one_file_lacks_is_an_error() -> None:
    """Naming the file, as for a column that stands in files."""
    write("d/country=US/a.csv")
    write("d/zz.csv")
    with pytest.raises(InputProblem, match=r"^d/zz.csv: there is no column 'country'"):
        groups("d", by="country")


HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"
VALUES = ("1", "01", "1.0", "2", "-", "old", "US", "us", "a b/%", "2026-11-30", "2026-12-01", "31.12.2026")
SIGNS = ("==", "!=", "<", "<=", ">", ">=")


@st.composite
def conditions(draw: st.DrawFn) -> str:
    """A condition on the column of the path, or on that of the file."""
    column, value = draw(st.sampled_from((("k", VALUES), ("K", VALUES), ("n", ("1", "2", "3")))))
    found = st.sampled_from(value)
    written = found | found.map("'{}'".format)
    if draw(st.booleans()):
        return f"{column}{draw(st.sampled_from(SIGNS))}{draw(written)}"
    return f"{column} in {draw(written)},{draw(written)}"


def outcome(rows: RowSelection) -> tuple[Any, SelectedRows | None]:
    """Return what is read of `d`, or what it was refused for, and how many rows and files were left out."""
    try:
        found = gather(
            ["d"], Columns("score", "label", rows=rows), engine=ThreadEngine(1), gather_request=FOLDED
        )
    except EmptyTable:
        return "none", None
    except InputProblem as problem:
        return problem.message, None
    tables = [
        (found.tables[key].score.tolist(), found.tables[key].rows.tolist()) for key in sorted(found.tables)
    ]
    alike = [note.partition(": ")[2] for note in found.input.notes if "in capitals alone" in note]
    return (tables, found.input.rows, alike), found.input.selected


FOLDED = GatherRequest(folds=3, seed=5)


@given(
    st.lists(st.sampled_from((*VALUES, HIVE_NULL)), min_size=1, max_size=6, unique=True),
    st.lists(conditions(), min_size=1, max_size=3),
    st.sampled_from((None, 3)),
)
def test_a_file_that_its_path_rules_out_is_not_opened_and_nothing_else_changes(
    values: list[str], where: list[str], sample: int | None
) -> None:
    """What is read, drawn and refused is that of all files, whose rows are counted where they are opened."""
    rows = RowSelection.of(where, None, sample, 4)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for place, value in enumerate(values):
            lines = (f"{(3 * place + row) / 64},{row % 2},{row + 1}" for row in range(3))
            write(f"d/k={quote(value, safe='')}/a.csv", "\n".join(("score,label,n", *lines, "")))
        found, selected = outcome(rows)
        patch.setattr(gathering, "found_for", lambda inputs, *_, **__: found_in(inputs))
        whole, of_all = outcome(rows)
    assert found == whole
    if selected is not None and of_all is not None:
        assert of_all.unopened == 0
        assert selected.unselected + 3 * selected.unopened == of_all.unselected


def chosen(*inputs: str, where: tuple[str, ...], **requested: object) -> tuple[int, int, int]:
    """Return how many rows are used and left out, and how many files are not opened."""
    found = read(*inputs, rows=RowSelection.of(where), **requested).input
    assert found.selected is not None
    return found.rows, found.selected.unselected, found.selected.unopened


def test_files_that_their_paths_rule_out_may_be_damaged() -> None:
    """Those that are asked for may not, and none may where the path does not decide."""
    write("d/day=2026-11-29/a.parquet", "PAR1 cut short")
    write("d/day=2026-11-29/empty.csv", "")
    write("d/day=2026-11-30/a.csv")
    write(f"d/day={HIVE_NULL}/a.parquet", "PAR1 cut short")
    assert chosen("d", where=("day>=2026-11-30",)) == (2, 0, 3)
    assert chosen("d/**/*.*", where=("day>=2026-11-30",)) == (2, 0, 3)
    assert read("d", rows=RowSelection.of(["day>=2026-11-30"])).input.files == ("d/day=2026-11-30/a.csv",)
    for where in ("day<=2026-11-29", "score>=0"):
        with pytest.raises(InputProblem, match="d/day=2026-11-29"):
            chosen("d", where=(where,))


def test_values_in_other_capitals_need_not_be_those_of_files_that_are_not_opened() -> None:
    """Whose paths may be ruled out by another condition."""
    write("d/day=1/country=us/a.csv")
    write("d/day=2/country=DE/a.csv")
    (note,) = (
        one
        for one in read("d", rows=RowSelection.of(["day==1", "country!=US"])).input.notes
        if "capitals" in one
    )
    assert note.startswith("d/day=1/country=us/a.csv or files not opened: 'us' differs from a value of")


def test_where_all_files_are_ruled_out_the_first_says_what_is_lacking() -> None:
    """As where no row is selected: a column that is not there, or that nothing is left."""
    for day in (1, 2, 3):
        write(f"d/day={day}/a.csv")
    with pytest.raises(InputProblem, match=r"^d/day=1/a.csv: there is no column 'hour'"):
        chosen("d", where=("day==4", "hour==1"))
    with pytest.raises(EmptyTable) as caught:
        chosen("d", where=("day==4",))
    said = "none of 2 rows satisfies 'day==4'; 2 files not opened, ruled out by their paths"
    assert caught.value.message == f"d/day=1/a.csv: {said}"


def test_what_rows_say_of_a_column_is_asked_of_rows() -> None:
    """A column that files hold too is of their type, a weight is a number, and a path may say two things."""
    Path("d/k=01").mkdir(parents=True)
    Path("d/k=02").mkdir()
    for value in (1, 2):
        rows = {"score": [0.5, 0.25], "label": [1, 0], "k": [value, value]}
        pq.write_table(pa.table(rows), f"d/k=0{value}/a.parquet")
        write(f"w/w=0{value}/a.csv")
    assert chosen("d", where=("k==1",)) == (2, 2, 0)
    assert chosen("w", where=("w==1",), weight="w") == (2, 2, 0)
    assert chosen("w", where=("w=='01'",)) == (2, 0, 1)
    write("two/g=a/g=b/1.csv")
    write("two/g=c/1.csv")
    with pytest.raises(InputProblem, match="the path says that column 'g' is 'a', and that it is 'b'"):
        chosen("two", where=("g==c",))


def test_what_is_said_of_text_may_be_of_files_that_are_not_opened() -> None:
    """It was refused of a folder whose files of the days asked for have another format."""
    write("d/day=1/a.csv")
    Path("d/day=2").mkdir()
    pq.write_table(pa.table({"score": [0.5], "label": [1]}), "d/day=2/a.parquet")
    rows = RowSelection.of(["day==2"])
    found = gather(
        ["d"],
        Columns("score", "label", rows=rows),
        engine=ThreadEngine(1),
        gather_request=GatherRequest(),
        input_format=InputFormat(delimiter=","),
    )
    assert found.input.files == ("d/day=2/a.parquet",)


def test_a_value_of_a_path_that_is_no_text_is_refused_as_such() -> None:
    """Its bytes stood in a column of text, which no reader of it could decode."""
    for value in (b"\xff", b"1"):
        write(f"d/k={os.fsdecode(value)}/a.csv")
    for where in ("k==1", "k>'0'"):
        with pytest.raises(UnicodeEncodeError):
            chosen("d", where=(where,))


def test_patterns_are_expanded_here() -> None:
    """Sorted, without names that start with an underscore or a dot, whatever the ending."""
    for name in ("d/b.csv", "d/a.csv", "d/_c.csv", "d/.d.csv", "d/sub/e.csv", "d/x.txt"):
        write(name)
    assert [one.path for one in list_fragments(["d/*.csv"])] == ["d/a.csv", "d/b.csv"]
    assert [one.path for one in list_fragments(["d/**/*.csv"])] == ["d/a.csv", "d/b.csv", "d/sub/e.csv"]
    assert [one.path for one in list_fragments(["d/?.[ct]*"])] == ["d/a.csv", "d/b.csv", "d/x.txt"]
    assert [one.path for one in list_fragments(["d/**"])] == ["d/a.csv", "d/b.csv", "d/sub/e.csv", "d/x.txt"]
    assert [one.path for one in list_fragments(["d/s*"])] == ["d/sub/e.csv"]
    write("d/[1].csv")
    assert [one.path for one in list_fragments(["d/[1].csv"])] == ["d/[1].csv"]
    with pytest.raises(CalibcliError, match=r"d/\*.parquet: there is no such file, and none matches"):
        list_fragments(["d/*.parquet"])


def test_a_pattern_takes_a_format() -> None:
    """`pattern:fmt` forces it for every file, as for a directory."""
    write("part-0", "score\tlabel\n0.5\t1\n")
    write("part-1", "score\tlabel\n0.25\t0\n")
    assert read("part-*:tsv").input.rows == 2


def test_outputs_of_a_pattern_stand_as_their_inputs() -> None:
    """Below the directory that all of them lie below."""
    for name in ("d/a/x.csv", "d/b/x.csv", "y.csv"):
        write(name)
    expected = [("d/a/x.csv", "out/a/x.csv"), ("d/b/x.csv", "out/b/x.csv")]
    assert output_pairs(["d/**/*.csv"], "out") == expected
    assert output_pairs(["d/**/*.csv:csv"], "out") == [(f"{one}:csv", output) for one, output in expected]
    assert output_pairs(["**/x.csv"], "out")[0] == ("d/a/x.csv", "out/d/a/x.csv")


def test_what_is_fixed_of_a_pattern_is_a_directory() -> None:
    """Up to the last slash before the first sign of a pattern."""
    assert [fixed_part(one) for one in ("a/b*.csv", "*.csv", "a/**/c", "s3://b/d/*.csv?x=1", "a/b.csv")] == [
        "a",
        "",
        "a",
        "s3://b/d",
        "a/b.csv",
    ]
    assert not is_pattern("s3://b/a.csv?region=eu")


def test_a_type_may_change_between_files() -> None:
    """As long as each is one that the column may have."""
    Path("d").mkdir()
    for name, labels in (("1", [0, 1]), ("2", ["0", "1"]), ("3", [False, True]), ("4", [0.0, 1.0])):
        pq.write_table(pa.table({"score": [0.25, 0.75], "label": labels}), f"d/{name}.parquet")
    found = read("d")
    assert (found.input.rows, found.tables[RAW].total_positive_rows) == (8, 4)
    pq.write_table(pa.table({"score": ["a"], "label": [1]}), "d/5.parquet")
    with pytest.raises(InputProblem, match=r"^d/5.parquet, column 'score': it holds string, not numbers"):
        read("d")
