"""Pages that several tests read: each is made once."""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from calibcli.commands.fit import fit_files
from calibcli.commands.page import WrittenReport, html_report
from calibcli.commands.report import FullReport, ReportRequest, full_report
from calibcli.names import FitMethod
from calibcli.options.fitting import FitOptions, MapOptions
from calibcli.options.gating import VerifyOptions
from calibcli.options.pictures import PageOptions
from calibcli.options.rows import Columns, RowRequest, SeveralClasses
from calibcli.options.rules import rule_of
from html_pages import HOSTILE, HOSTILE_GROUPS

ROWS = 400


@pytest.fixture(scope="module", autouse=True)
def _few_draws(few_draws: None) -> None:
    """All tests of the functions: the commands that they are held against draw as few."""


def rows(seed: int = 3, *, by: bool = True) -> dict[str, Any]:
    """Return columns of hostile names."""
    generator = np.random.default_rng(seed)
    score = generator.beta(1.0, 2.0, ROWS)
    columns: dict[str, Any] = {
        HOSTILE["score"]: score,
        HOSTILE["other"]: np.sqrt(score),
        HOSTILE["label"]: (generator.random(ROWS) < score**1.5).astype(int),
    }
    if by:
        columns[HOSTILE["by"]] = generator.choice(HOSTILE_GROUPS, ROWS).tolist()
    return columns


@pytest.fixture(scope="session")
def hostile_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with hostile names."""
    path = tmp_path_factory.mktemp("hostile") / HOSTILE["file"]
    pyarrow.csv.write_csv(pa.table(rows()), path)
    return path


@pytest.fixture(scope="module")
def hostile_page(hostile_file: Path) -> WrittenReport:
    """Return a page about two scores and three groups, all of hostile names."""
    columns = Columns(HOSTILE["score"], HOSTILE["label"], others=(HOSTILE["other"],), by=(HOSTILE["by"],))
    gate = VerifyOptions((rule_of("ece<=0.2"), rule_of("ks.p>=0.001")))
    request = ReportRequest([str(hostile_file)], columns, gate=gate)
    return html_report(request, PageOptions(title=HOSTILE["title"]), command="calibcli report ...")


@pytest.fixture(scope="session")
def artifact_request(tmp_path_factory: pytest.TempPathFactory) -> ReportRequest:
    """Return a request about an artifact."""
    folder = tmp_path_factory.mktemp("artifact")
    columns = Columns(HOSTILE["score"], HOSTILE["label"])
    for name, seed in (("fit", 4), ("eval", 5)):
        pyarrow.csv.write_csv(pa.table(rows(seed, by=False)), folder / f"{name}.csv")
    artifact = folder / "cal.json"
    fitted = fit_files(
        RowRequest([str(folder / "fit.csv")], columns), MapOptions(FitMethod.PLATT), FitOptions()
    )
    artifact.write_text(fitted[1])
    gate = VerifyOptions((rule_of("ece<=0.2"),))
    return ReportRequest([str(folder / "eval.csv")], columns, artifact=str(artifact), gate=gate)


@pytest.fixture(scope="module")
def artifact_page(artifact_request: ReportRequest) -> WrittenReport:
    """Return a page about a score before and after recalibration."""
    return html_report(artifact_request, PageOptions(), command=command_of(artifact_request))


def command_of(request: ReportRequest) -> str:
    """Return the command line that asks for what the request asks for."""
    columns = ["--score", request.columns.score or "", "--label", request.columns.label or ""]
    rest = ["--artifact", request.artifact or "", "--rule", "ece<=0.2", "-o", "report.html"]
    return shlex.join(["calibcli", "report", *columns, *rest, *request.inputs])


@pytest.fixture(scope="module")
def classes_found(tmp_path_factory: pytest.TempPathFactory) -> FullReport:
    """Return what a page about three classes is made of, without rules."""
    generator = np.random.default_rng(8)
    probs = generator.dirichlet((1.0, 1.0, 1.0), ROWS)
    label = (generator.random(ROWS)[:, None] > probs.cumsum(axis=1)).sum(axis=1)
    names = ("<i>a</i>", "b&b", "'c\"")
    columns: dict[str, Any] = {f"p_{name}": probs[:, k] for k, name in enumerate(names)}
    columns["label"] = [names[k] for k in label]
    path = tmp_path_factory.mktemp("classes") / "classes.csv"
    pyarrow.csv.write_csv(pa.table(columns), path)
    request = ReportRequest([str(path)], Columns(None, "label", several=SeveralClasses("p_*")))
    return full_report(request)


@pytest.fixture(scope="module")
def classes_page(classes_found: FullReport) -> WrittenReport:
    """Return that page, with the picture that no other page has."""
    with pytest.MonkeyPatch.context() as patch:
        some = replace(classes_found, pictures=classes_found.pictures[-1:])
        patch.setattr("calibcli.commands.page.full_report", lambda _: some)
        return html_report(ReportRequest([]), PageOptions(), command="calibcli report ...")


@pytest.fixture(scope="module", params=["hostile_page", "artifact_page", "classes_page"])
def page(request: pytest.FixtureRequest) -> WrittenReport:
    """Return each of the pages."""
    return request.getfixturevalue(request.param)  # type: ignore[no-any-return]
