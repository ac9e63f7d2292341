"""Print the oldest versions that pyproject.toml allows for what calibcli needs, as constraints for pip."""

import sys
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]
extras = project["optional-dependencies"]
needs = [*project["dependencies"], *extras["dask"], *extras["report"], *extras["onnx"], *extras["sql"]]
sys.stdout.write("".join(need.replace(">=", "==") + "\n" for need in needs))
