"""What docs/export.md shows is what happens: the table of methods, and the map written down.

Run with CALIBCLI_UPDATE_DOCS=1 to write them anew.
"""

import os

import numpy as np
import pytest

from calibcli.commands.export import export
from calibcli.documents.artifact import Artifact, ClassArtifact, FitRecord
from calibcli.errors import UsageProblem
from calibcli.names import ClassMethod, ExportTarget, FitLoss, RecalibratorName
from calibcli.options.fitting import ExportAsk, FitOptions
from calibcli.stats.recalibrators import fit_recalibrator
from calibcli.stats.recalibrators.logistic import Record
from calibcli.stats.recalibrators.logits import Platt
from calibcli.stats.table import ScoreTable
from command_line import ROOT
from exported_maps import CLASS_MAPS, class_map, one_map

PAGE = ROOT / "docs" / "export.md"
END = "<!-- end -->\n"
# A map whose digits no machine changes.
PLATT = Platt(
    -0.41, 0.31, Record(FitLoss.LOG, smoothed=False, separated=False, limited_rows=0, steps=5, gradient=0.0)
)
SHOWN = Artifact(
    PLATT,
    FitRecord(
        rows=5_000,
        positive=1_000,
        table_digest=f"sha256:{'0' * 64}",
        table="exact",
        options={},
        loss_before=0.5,
        loss_after=0.4,
        mean_variance=0.1,
    ),
)


def check_part(word: str, text: str) -> None:
    """Compare a part of the page, or write it anew."""
    page, begin = PAGE.read_text(encoding="utf-8"), f"<!-- {word} by tests/export/test_page.py -->\n"
    head, rest = page.split(begin)
    old, tail = rest.split(END, 1)
    if os.environ.get("CALIBCLI_UPDATE_DOCS"):
        PAGE.write_text(f"{head}{begin}{text}{END}{tail}", encoding="utf-8")
        old = text
    assert old == text


def test_query_shown_is_the_query() -> None:
    """The page shows the SQL of a map."""
    query = export(SHOWN, ExportAsk(ExportTarget.SQL)).decode()
    check_part("sql", f"```sql\n{query}```\n")


def test_function_shown_is_the_function() -> None:
    """The page shows the last functions of the module of a map."""
    module = export(SHOWN, ExportAsk(ExportTarget.PYTHON)).decode()
    checks = module.index("def _checked")
    check_part("python", f"```python\n{module[checks:]}```\n")


def artifacts() -> dict[str, Artifact | ClassArtifact]:
    """One map of every method."""
    record = one_map("platt").fit
    scores = np.linspace(0.0, 1.0, 400)
    table = ScoreTable.from_rows(scores, np.random.default_rng(0).random(400) < scores)
    found: dict[str, Artifact | ClassArtifact] = {
        f"`{name.value}`": Artifact(fit_recalibrator(name, table), record) for name in RecalibratorName
    }
    noisy = fit_recalibrator(RecalibratorName.SMOOTH, table, options=FitOptions(randomised=True))
    found["`smooth --randomised`"] = Artifact(noisy, record)
    for method in ClassMethod:
        kind = next(kind for kind, (name, _) in CLASS_MAPS.items() if name is method)
        found[f"`--multiclass {method.value}`"] = class_map(kind)
    return found


def cell(artifact: Artifact | ClassArtifact, target: ExportTarget) -> str:
    """Whether a map can be written as a target."""
    try:
        content = export(artifact, ExportAsk(target))
    except UsageProblem:
        return "no"
    assert content
    bracketed = isinstance(artifact, Artifact) and artifact.recalibrator.brackets
    return "yes, with ends" if bracketed else "yes"


def test_table_of_methods_and_targets_is_what_happens() -> None:
    """Each cell is found by exporting."""
    rows = ["| method | " + " | ".join(target.value for target in ExportTarget) + " |", "|---" * 5 + "|"]
    for name, artifact in artifacts().items():
        rows.append(f"| {name} | " + " | ".join(cell(artifact, target) for target in ExportTarget) + " |")
    check_part("table", "\n".join(rows) + "\n")


@pytest.mark.parametrize("target", ExportTarget)
def test_every_method_of_one_score_is_exported(target: ExportTarget) -> None:
    """Nothing that `fit --method` can make is refused, but randomised outputs."""
    for name, artifact in artifacts().items():
        if "multiclass" not in name and "randomised" not in name:
            assert cell(artifact, target).startswith("yes"), name
