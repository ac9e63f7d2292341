"""Draw docs/pictures/notebook.png: a verdict and measures as a notebook shows them, on white and on black.

Needs Chromium; run from the root of the repository: .venv/bin/python docs/make_notebook.py
"""

import subprocess
import tempfile
from pathlib import Path

import pandas as pd
from PIL import Image

import calibcli

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "pictures" / "notebook.png"
PAGE = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; font-family: sans-serif; display: flex; }}
section {{ padding: 14px 18px; width: 50%; box-sizing: border-box; }}
</style><section style="background:#fff;color:#111">{0}</section>
<section style="background:#1b1b1b;color:#ddd">{0}</section>"""


def main() -> None:
    """Write the picture."""
    rows = {"score": "score", "label": "label"}
    fitted = calibcli.fit(str(ROOT / "sample_data" / "churn_calibration.parquet"), **rows, method="histogram")
    frame = pd.read_parquet(ROOT / "sample_data" / "churn_evaluation.parquet")
    verdict = calibcli.verify(frame, **rows, artifact=fitted, max_ece=0.03)
    report = calibcli.measure(frame, **rows, artifact=fitted, metric=["ece", "smece", "bias", "brier"])
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        page.write_text(PAGE.format(verdict._repr_html_() + report._repr_html_()), encoding="utf-8")
        subprocess.run(  # noqa: S603 - our own page
            [  # noqa: S607 - wherever it is installed
                "chromium",
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                "--window-size=1560,890",
                f"--screenshot={PICTURE}",
                page.as_uri(),
            ],
            check=True,
            capture_output=True,
        )
    # Text on two grounds takes few colours.
    with Image.open(PICTURE) as picture:
        picture.convert("RGB").quantize(48, dither=Image.Dither.NONE).save(PICTURE, optimize=True)


if __name__ == "__main__":
    main()
