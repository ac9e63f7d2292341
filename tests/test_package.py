"""What is handed out: the wheel and the source archive, whole and the same bytes whoever makes them."""

import email
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from calibcli.version import __version__
from command_line import ROOT

LEFT_OUT = (".git", ".venv*", "build", "dist", "demo_output", "__pycache__", ".*_cache", ".hypothesis")
BUILD = "import sys, hatchling.build as b; b.build_wheel(sys.argv[1]); b.build_sdist(sys.argv[1])"


def built(source: Path, target: Path, **environment: str) -> dict[str, bytes]:
    """Build the wheel and the source archive, as `python -m build` does within its own environment."""
    pytest.importorskip("hatchling")
    target.mkdir()
    subprocess.run(
        [sys.executable, "-c", BUILD, str(target)],
        cwd=source,
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
    )
    return {file.name: file.read_bytes() for file in target.iterdir()}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository without what work leaves in it."""
    there = tmp_path_factory.mktemp("source") / "copy"
    shutil.copytree(ROOT, there, ignore=shutil.ignore_patterns(*LEFT_OUT))
    return there


@pytest.fixture(scope="module")
def parcels(copy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source archive."""
    there = tmp_path_factory.mktemp("parcels") / "first"
    built(copy, there)
    return there


def names_in_wheel(parcels: Path) -> set[str]:
    """Return the files of the wheel."""
    with zipfile.ZipFile(next(parcels.glob("*.whl"))) as wheel:
        return set(wheel.namelist())


def test_wheel_holds_the_package_and_nothing_else(copy: Path, parcels: Path) -> None:
    """Every file of the package goes along, templates too; no test, no data, no page."""
    package = {str(file.relative_to(copy)) for file in (copy / "calibcli").rglob("*") if file.is_file()}
    about = f"calibcli-{__version__}.dist-info"
    beside = {f"{about}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt")}
    assert names_in_wheel(parcels) == package | beside | {f"{about}/licenses/LICENSE"}
    assert {"calibcli/py.typed", "calibcli/__main__.py"} <= package


def test_metadata_says_what_the_project_says(parcels: Path) -> None:
    """Name, version, floor of Python, requirements, extras and the command are those of pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    with zipfile.ZipFile(next(parcels.glob("*.whl"))) as wheel:
        about = f"calibcli-{__version__}.dist-info"
        said = email.message_from_bytes(wheel.read(f"{about}/METADATA"))
        entries = wheel.read(f"{about}/entry_points.txt").decode()
    assert (said["Name"], said["Version"]) == (project["name"], __version__)
    assert said["Requires-Python"] == project["requires-python"]
    assert said["License-Expression"] == project["license"]
    assert said["Description-Content-Type"] == "text/markdown"
    assert "make demo" in str(said.get_payload())
    plain = [need for need in said.get_all("Requires-Dist", []) if "extra ==" not in need]
    assert sorted(plain) == sorted(project["dependencies"])
    assert set(said.get_all("Provides-Extra", [])) == set(project["optional-dependencies"])
    assert "calibcli = calibcli.shell.app:run" in entries


def test_source_archive_can_be_built_and_tested(parcels: Path) -> None:
    """It holds the package, the tests, the data, the pages and the files that `make` needs."""
    with tarfile.open(next(parcels.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {"pyproject.toml", "Makefile", "README.md", "CHANGELOG.md", "LICENSE", "SECURITY.md"}
    wanted |= {"calibcli/shell/app.py", "tests/test_package.py", "sample_data/make.py", "docs/methods.md"}
    assert wanted <= names
    assert not [name for name in names if name.endswith((".pyc", ".coverage"))]


def test_builds_are_reproducible(copy: Path, parcels: Path, tmp_path: Path) -> None:
    """Another day, another umask, another time zone and other times of files: the same bytes."""
    first = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in parcels.iterdir()}
    again = tmp_path / "again"
    shutil.copytree(copy, again, copy_function=shutil.copy)
    before = os.umask(0o077)
    try:
        second = built(again, tmp_path / "second", TZ="Asia/Tokyo", LC_ALL="C", PYTHONHASHSEED="7")
    finally:
        os.umask(before)
    assert {name: hashlib.sha256(content).hexdigest() for name, content in second.items()} == first


@pytest.mark.system
def test_wheel_runs_where_nothing_else_is(parcels: Path, tmp_path: Path) -> None:
    """In an environment of its own, as pipx makes one, the command starts and measures."""
    home = tmp_path / "home"
    subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
    wheel = str(next(parcels.glob("*.whl")))
    installed = subprocess.run(
        [str(home / "bin" / "pip"), "install", "--quiet", wheel], capture_output=True, text=True, check=False
    )
    if installed.returncode:
        pytest.skip(f"pip cannot install: {installed.stderr.strip().splitlines()[-1]}")
    sample = str(ROOT / "sample_data" / "churn_evaluation.parquet")
    command = [str(home / "bin" / "calibcli"), "measure", sample, "-s", "score", "-y", "label", "--json"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert '"ece"' in ran.stdout
