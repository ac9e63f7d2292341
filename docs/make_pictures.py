"""Make the pictures of docs/pictures.md anew, in docs/pictures/, and that of README.md.

    python docs/make_pictures.py

The page's own commands are run in a folder that has nothing but the sample data, and the pictures they leave
are kept with 256 colours, which is a quarter of the bytes.
"""

import contextlib
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = HERE / "pictures.md"
PICTURES = HERE / "pictures"
_BLOCK = re.compile(r"```(bash|python)\n(.*?)```", re.DOTALL)
_LOOP = re.compile(r"for (\w+) in (.+?); do (.+); done")
_OF_README = ["plot", "sample_data/churn_evaluation.parquet", "-s", "score", "-y", "label"]
# A gate that fails or cannot tell says so by its code.
_FINE = (0, 1, 4)


def commands_of(line: str) -> Iterator[list[str]]:
    """Yield the words of a command, or of each round of a `for` loop on one line."""
    loop = _LOOP.fullmatch(line)
    if loop is None:
        yield shlex.split(line)
        return
    name, values, body = loop.groups()
    for value in values.split():
        yield shlex.split(body.replace(f"${name}", value))


def play(text: str, run: Callable[[list[str]], int], *, folder: Path) -> list[str]:
    """Run the blocks of a page in order.

    Args:
        text: The page.

        run: Runs the arguments of calibcli in the folder and returns the exit code.

        folder: Where the Python blocks run; has the sample data.

    Returns:
        The commands.

    Raises:
        RuntimeError: If one does not end well.
    """
    done = []
    for language, body in _BLOCK.findall(text):
        if language == "python":
            with contextlib.chdir(folder):
                exec(body, {})  # noqa: S102 - the page is ours
            continue
        for line in filter(None, body.splitlines()):
            for program, *words in commands_of(line):
                fine = _FINE if words[0] == "verify" else (0,)
                if program != "calibcli" or run(words) not in fine:
                    msg = f"{PAGE.name}: did not end well: {line}"
                    raise RuntimeError(msg)
            done.append(line)
    return done


def reduced(picture: Path, target: Path) -> None:
    """Write a PNG with the 256 colours it needs."""
    from PIL import Image

    with Image.open(picture) as image:
        few = image.convert("RGB").quantize(
            256, method=Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE
        )
        few.save(target, optimize=True)


def main() -> None:
    """Run the page and keep its pictures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "sample_data").symlink_to(HERE.parent / "sample_data")

        def run(words: list[str]) -> int:
            command = [sys.executable, "-m", "calibcli", *words]
            ended = subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=False)  # noqa: S603 - the page is ours
            return ended.returncode

        play(PAGE.read_text(encoding="utf-8"), run, folder=folder)
        PICTURES.mkdir(exist_ok=True)
        for picture in sorted(folder.glob("*.png")):
            reduced(picture, PICTURES / picture.name)
        # The picture of README's own command.
        run([*_OF_README, "-o", "reliability.png", "--force"])
        reduced(folder / "reliability.png", HERE / "reliability.png")


if __name__ == "__main__":
    main()
