"""Write docs/cli.md, the command line reference, from --help; `--check` only compares.

Exit code 1 says that the page is out of date, 2 that it was made with another typer,
whose help may look different.
"""

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

TARGET = Path(__file__).with_name("cli.md")
MADE_WITH = f"Made from `--help` by `make docs`, with typer {version('typer')}."
COMMANDS = ("fit", "apply", "measure", "verify", "plan", "merge", "compare", "segments", "drift", "plot")
COMMANDS += ("report", "export", "inspect", "schema", "config")


def help_text(*words: str) -> str:
    """Return what --help prints, at a fixed width."""
    environment = {**os.environ, "COLUMNS": "100", "TERMINAL_WIDTH": "100", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "calibcli", *words, "--help"]
    result = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)  # noqa: S603
    return "\n".join(line.rstrip() for line in result.stdout.strip().splitlines())


def reference() -> str:
    """Return the whole page."""
    parts = [f"# Command line reference\n\n{MADE_WITH}\n"]
    parts.append(f"## calibcli\n\n```\n{help_text()}\n```\n")
    parts += [f"## calibcli {name}\n\n```\n{help_text(name)}\n```\n" for name in COMMANDS]
    return "\n".join(parts)


def main() -> int:
    """Write the page, or say whether it is up to date."""
    text = reference()
    if "--check" in sys.argv[1:]:
        page = TARGET.read_text(encoding="utf-8")
        return 0 if page == text else 1 if MADE_WITH in page else 2
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
