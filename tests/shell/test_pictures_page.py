"""The page of pictures has every kind, its commands run, and its pictures are those of today."""

import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from PIL import Image

from calibcli.names import PlotKind
from calibcli.shell.app import main
from command_line import ROOT

pytestmark = pytest.mark.untraced

DOCS = ROOT / "docs"
PAGE = (DOCS / "pictures.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"!\[[^\]]{20,}\]\(pictures/([\w-]+)\.png\)", PAGE)


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    """The script that makes the pictures."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DOCS))
        import make_pictures
    return make_pictures


@pytest.fixture(scope="module")
def made(maker: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which every command of the page has run, in this process."""
    folder = tmp_path_factory.mktemp("pictures")
    (folder / "sample_data").symlink_to(ROOT / "sample_data")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        maker.play(PAGE, main, folder=folder)
    return folder


def test_every_kind_has_a_section_a_command_and_a_picture() -> None:
    """In the order of the vocabulary, and each is in the table at the top."""
    parts = re.split(r"^## (.+)$", PAGE, flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    kinds = [kind.value for kind in PlotKind]
    assert [name for name in sections if name in kinds] == kinds
    assert re.findall(r"^\| \[[\w-]+\]\(#([\w-]+)\) \|", PAGE, flags=re.MULTILINE) == kinds
    assert SHOWN[: len(kinds)] == kinds
    for kind in kinds:
        assert f"](pictures/{kind}.png)" in sections[kind]
        assert f"-o {kind}.png" in sections[kind]


@pytest.mark.parametrize("name", SHOWN)
def test_picture_is_what_its_command_draws(made: Path, name: str) -> None:
    """The picture kept differs from today's by no more than what 256 colours and other fonts' edges take."""
    with Image.open(made / f"{name}.png") as fresh, Image.open(DOCS / "pictures" / f"{name}.png") as kept:
        assert fresh.size == kept.size
        today, then = (np.asarray(image.convert("L"), np.float64) for image in (fresh, kept))
    assert np.abs(today - then).mean() < 2.0
    assert today.std() > 10.0


def test_loops_are_unrolled_and_failures_are_errors(maker: ModuleType, tmp_path: Path) -> None:
    """A loop gives a command for each value; a command that ends badly stops the page."""
    assert list(maker.commands_of("for x in a b; do calibcli verify '$x y'; done")) == [
        ["calibcli", "verify", "a y"],
        ["calibcli", "verify", "b y"],
    ]
    page = "```bash\ncalibcli plot a.csv\n```\n"
    assert maker.play(page, lambda _: 0, folder=tmp_path) == ["calibcli plot a.csv"]
    with pytest.raises(RuntimeError, match=r"did not end well: calibcli plot a\.csv"):
        maker.play(page, lambda _: 4, folder=tmp_path)


def test_pictures_are_light() -> None:
    """All pictures of the documentation together do not weigh on the repository."""
    sizes = [path.stat().st_size for path in (DOCS / "pictures").iterdir()]
    assert max(sizes) < 120_000
    assert sum(sizes) < 1_200_000
