"""`measure --compat TOOL`: another tool's numbers beside ours."""

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from calibcli.documents.schemas import schema_text
from calibcli.names import CompatTool, DocumentKind
from calibcli.stats.measures.compat import OrderedRows, peer_numbers
from calibcli.stats.table.score_table import ScoreTable
from command_line import Ran


@pytest.fixture
def tied(csv_of: Callable[..., Path]) -> Path:
    """Return a CSV file of 60 rows in no order, with ties, edges, and scores of 0 and 1."""
    generator = np.random.default_rng(3)
    score, label = rows_of(generator)
    return csv_of("score,label", *(f"{f!r},{y:d}" for f, y in zip(score.tolist(), label, strict=True)))


def rows_of(generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw scores that are tenths, and labels."""
    score = generator.integers(0, 11, 60) / 10.0
    return score, generator.random(60) < 0.3 + 0.4 * score


@pytest.mark.parametrize("tool", list(CompatTool))
def test_json_fits_its_schema(tool: CompatTool, tied: Path, run: Callable[..., Ran]) -> None:
    """Every tool gives a document in the shape of `calibcli schema compat`, with its numbers and ours."""
    ran = run("measure", tied, "--compat", tool.value, "--json")
    assert ran.code == 0, ran.err
    document = json.loads(ran.out)
    jsonschema.validate(document, json.loads(schema_text(DocumentKind.COMPAT)))
    assert document["peer"]["name"] == tool.value
    assert any(one["ours"] is not None for one in document["numbers"].values())


@pytest.mark.parametrize("tool", list(CompatTool))
def test_page_shows_every_number_and_reason(tool: CompatTool, tied: Path, run: Callable[..., Ran]) -> None:
    """The table has a line for each number, with why it differs."""
    ran = run("measure", tied, "--compat", tool.value)
    assert ran.code == 0, ran.err
    score, label = rows_of(np.random.default_rng(3))
    peer = peer_numbers(tool, ScoreTable.from_rows(score, label), rows=OrderedRows(score, label))
    assert f"{peer.package} {peer.version}" in ran.out
    for one in peer.numbers:
        assert any(line.startswith(one.name) and one.why in line for line in ran.out.splitlines()), one.name


def test_ours_are_what_measure_prints(tied: Path, run: Callable[..., Ran]) -> None:
    """The number beside theirs is that of `measure` under the same options."""
    compat = json.loads(run("measure", tied, "--compat", "mapie", "--bins", "7", "--json").out)
    plain = json.loads(run("measure", tied, "--bins", "7", "--json").out)
    numbers = compat["numbers"]
    assert numbers["expected_calibration_error"]["ours"]["value"] == plain["measures"]["ece"]["value"]
    assert numbers["kuiper_p_value"]["ours"]["value"] == plain["tests"]["kuiper"]["p_value"]
    assert numbers["spiegelhalter_statistic"]["same"] is True


def test_mapie_sees_rows_in_the_order_of_the_input(
    tied: Path, run: Callable[..., Ran], shell: Callable[..., Ran]
) -> None:
    """From a file and through a pipe; sorted rows give another number."""
    score, label = rows_of(np.random.default_rng(3))
    table = ScoreTable.from_rows(score, label)
    expected = peer_numbers(CompatTool.MAPIE, table, rows=OrderedRows(score, label)).numbers[1].value
    by_score = peer_numbers(CompatTool.MAPIE, table).numbers[1].value
    assert expected != by_score
    for ran in (
        run("measure", tied, "--compat", "mapie", "--json"),
        shell("measure", "-", "--compat", "mapie", "--json", stdin=tied.read_bytes()),
    ):
        found = json.loads(ran.out)["numbers"]["kolmogorov_smirnov_statistic"]["value"]
        assert found == pytest.approx(expected, rel=1e-12)


def test_artifact_is_applied_first(artifact: Path, run: Callable[..., Ran]) -> None:
    """Theirs are of the recalibrated score, in the order of the input."""
    file = Path(__file__).resolve().parents[2] / "sample_data" / "churn_evaluation.parquet"
    ran = run(
        "measure", file, "-s", "score", "-y", "label", "--artifact", artifact, "--compat", "mapie", "--json"
    )
    assert ran.code == 0, ran.err
    document = json.loads(ran.out)
    assert document["artifact"] == str(artifact)
    assert document["table"]["distinct"] <= 10
    assert document["numbers"]["spiegelhalter_statistic"]["same"] is True
    assert document["numbers"]["kuiper_statistic"]["value"] < 10.0


def test_frequencies_repeat_rows(csv_of: Callable[..., Path], run: Callable[..., Ran]) -> None:
    """A row of weight 2 is two rows, also where their order counts."""
    weighted = csv_of("score,label,n", "0.2,0,2", "0.7,1,1", "0.7,0,2", "0.4,1,1", name="w.csv")
    repeated = csv_of("score,label", "0.2,0", "0.2,0", "0.7,1", "0.7,0", "0.7,0", "0.4,1", name="r.csv")
    words = ["--compat", "mapie", "--json"]
    first = json.loads(run("measure", weighted, "-w", "n", "--weights-are", "frequency", *words).out)
    assert first["numbers"] == json.loads(run("measure", repeated, *words).out)["numbers"]


def test_importance_weights_are_for_scikit_learn_only(
    csv_of: Callable[..., Path], run: Callable[..., Ran]
) -> None:
    """The others have no weights, and are not said to."""
    file = csv_of("score,label,w", "0.2,0,0.5", "0.7,1,1.5", "0.7,0,1")
    refused = run("measure", file, "-w", "w", "--compat", "netcal")
    assert refused.code == 2
    assert "netcal takes no importance weights" in refused.err
    assert run("measure", file, "-w", "w", "--compat", "sklearn").code == 0


def test_grid_tables_are_refused(thousand: Path, run: Callable[..., Ran]) -> None:
    """Other conventions part at edges, where a grid rounds; --exact is the way out."""
    refused = run("measure", thousand, "--memory", "100K", "--compat", "netcal")
    assert refused.code == 2
    assert "pass --exact" in refused.err
    assert run("measure", thousand, "--memory", "100K", "--exact", "--compat", "netcal").code == 0


def test_metric_and_compat_exclude_each_other(tied: Path, run: Callable[..., Ran]) -> None:
    """What is measured follows from the tool."""
    refused = run("measure", tied, "--compat", "netcal", "--metric", "ece")
    assert refused.code == 2
    assert "--metric" in refused.err


def test_inspect_knows_the_document(tied: Path, run: Callable[..., Ran], tmp_path: Path) -> None:
    """What was written can be looked into."""
    path = tmp_path / "compat.json"
    assert run("measure", tied, "--compat", "relplot", "--json", "-o", path).code == 0
    ran = run("inspect", path)
    assert ran.code == 0, ran.err
    assert "relplot 1.0.3" in ran.out
    assert "smECE" in ran.out
