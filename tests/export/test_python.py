"""Exported Python gives what `apply` gives, with the standard library alone."""

import ast
import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from calibcli.commands.export import export
from calibcli.documents.artifact import Artifact
from calibcli.export.maps import plain
from calibcli.export.python import Style, module_of_classes
from calibcli.names import ExportTarget, Scale
from calibcli.options.fitting import ExportAsk
from exported_maps import class_map, group_map, one_map, segment_map, wanted

NEAR = 1e-12
HOSTILE = ("'''\nimport os; os.abort()", '"""', "\\", "\x1b[31m{x}${y}*/ \u202e", "a\n# b")
# No site packages, no environment: what runs has the standard library alone.
ALONE = """
import json, sys
given = {}
exec(compile(open(sys.argv[1]).read(), "exported", "exec"), given)
rows = json.load(sys.stdin)
found = {"calibrated": given["calibrate_all"](rows), "modules": sorted(sys.modules)}
if "ends" in given:
    found["ends"] = [given["ends"](row) for row in rows]
print(json.dumps(found))
"""


def module(artifact: object, **requested: object) -> dict[str, object]:
    """The names of an exported module."""
    text = export(artifact, ExportAsk(ExportTarget.PYTHON, **requested)).decode("ascii")  # type: ignore[arg-type]
    found: dict[str, object] = {}
    exec(compile(text, "exported", "exec"), found)  # noqa: S102 - that is what is tested
    return found


@pytest.mark.parametrize("kind", ["venn-abers", "spline"])
def test_module_needs_nothing_but_the_standard_library(kind: str, tmp_path: Path) -> None:
    """An interpreter without packages, environment and site runs the module, and imports next to nothing."""
    path = tmp_path / "calibrated.py"
    path.write_bytes(export(one_map(kind), ExportAsk(ExportTarget.PYTHON)))
    ended = subprocess.run(
        [sys.executable, "-I", "-S", "-c", ALONE, str(path)],
        input=json.dumps([0.0, 0.25, 1.0]),
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(ended.stdout)
    expected = wanted(one_map(kind), np.array([0.0, 0.25, 1.0]))
    np.testing.assert_allclose(found["calibrated"], expected[0], rtol=0.0, atol=NEAR)
    assert not {"numpy", "calibcli"} & set(found["modules"])


@pytest.mark.parametrize("target", [ExportTarget.PYTHON, ExportTarget.SKLEARN])
def test_python_of_some_years_ago_reads_it(target: ExportTarget) -> None:
    """Python 3.9 does; what it lacks beside newer grammar is `zip(strict=True)`."""
    of_groups = [group_map("venn-abers")] if target is ExportTarget.PYTHON else []
    for artifact in (one_map("venn-abers"), class_map("one-vs-one platt"), segment_map(), *of_groups):
        text = export(artifact, ExportAsk(target)).decode()
        for one in ast.walk(ast.parse(text, feature_version=(3, 9))):
            assert not isinstance(one, ast.keyword) or one.arg != "strict"


def test_module_refuses_what_apply_refuses() -> None:
    """A score that is missing, no number or out of range is a ValueError or a TypeError that says so."""
    calibrate = module(one_map("platt"))["calibrate"]
    refused = [
        (None, "missing"),
        (pd.NA, "missing"),
        (float("nan"), "NaN"),
        (1.5, "outside"),
        (-1e-9, "outside"),
    ]
    for score, said in [*refused, (Decimal("NaN"), "NaN"), (Decimal("1.1"), "outside")]:
        with pytest.raises(ValueError, match=said):
            calibrate(score)  # type: ignore[operator]
    with pytest.raises(TypeError):
        calibrate("0.5")  # type: ignore[operator]
    assert calibrate(np.float32(0.5)) == calibrate(0.5)  # type: ignore[operator]
    assert calibrate(True) == calibrate(1)  # type: ignore[operator]
    assert calibrate(Decimal("0.3")) == calibrate(0.3)  # type: ignore[operator]
    rows = module(class_map("vector"))["calibrate"]
    assert rows([Decimal("0.5"), 0, Decimal("0.5")]) == rows([0.5, 0.0, 0.5])  # type: ignore[operator]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ([0.5, 0.5], "2 numbers"),
        ([0.5, None, 0.5], "missing"),
        ([0.5, pd.NA, 0.5], "missing"),
        ([0.5, float("nan"), 0.5], "missing"),
        ([1.2, -0.1, -0.1], "outside"),
        ([0.5, 0.2, 0.2], "sum to"),
    ],
)
def test_rows_of_classes_that_apply_refuses_are_refused(row: list[float], said: str) -> None:
    """A row of another length, with gaps, out of range or of another sum is a ValueError that says so."""
    with pytest.raises(ValueError, match=said):
        module(class_map("vector"))["calibrate"](row)  # type: ignore[operator]


@pytest.mark.parametrize("style", Style)
def test_names_are_texts_and_nothing_else(style: Style) -> None:
    """Classes, labels and versions that are called like Python come out as they are, and nothing runs."""
    artifact = class_map("one-vs-rest platt", classes=HOSTILE[:3])
    found = module(artifact)
    assert found["CLASSES"] == HOSTILE[:3]
    one = one_map("platt")
    for text in HOSTILE:
        given = Artifact(one.recalibrator, one.fit, positive=text, calibcli=text)
        assert module(given)["POSITIVE"] == text
    origin = class_map("vector", classes=HOSTILE[:3])
    assert origin.classes == HOSTILE[:3]
    from calibcli.export.maps import Origin

    told = Origin("sha256:0", HOSTILE[3], "vector", Scale.PROB, 9, classes=HOSTILE[:3], positive=HOSTILE[4])
    text = module_of_classes(artifact.recalibrator, origin=told, style=style)
    assert text.isascii()
    assert "\x1b" not in text


@pytest.mark.parametrize("text", HOSTILE)
def test_facts_are_plain_text_on_one_line(text: str) -> None:
    """What stands in comments is printable ASCII without what ends a comment or begins a substitution."""
    found = plain(text)
    assert found.isascii()
    assert found.isprintable()
    assert not set(found) & set("$*/{}%&;#`<>'\n")
    assert json.loads(found) == text
