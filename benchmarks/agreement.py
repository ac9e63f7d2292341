"""Compare every measure with golden values, with other tools and with slow formulas; write
`docs/agreement.md`.

    python benchmarks/agreement.py --peers PYTHON

`--peers` names a Python that has scikit-learn, torchmetrics, netcal, mapie, calzone-tool, relplot and
uncertainty-calibration; what it lacks is left out, and the page says so. So is the folder of golden values
where it is absent. Exits with 1 where something differs that should not.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from agreement_page import document  # noqa: E402 - beside this file, and its own imports are below

from calibcli.commands.compat import compat_files  # noqa: E402 - as above
from calibcli.commands.measure import measure_files  # noqa: E402 - as above
from calibcli.names import Binning, CompatTool  # noqa: E402 - as above
from calibcli.options.measuring import MeasureOptions, metrics_of  # noqa: E402 - as above
from calibcli.options.rows import Columns as ColumnNames  # noqa: E402 - as above
from calibcli.options.rows import RowRequest  # noqa: E402 - as above
from calibcli.reports.compat import CompatNumber  # noqa: E402 - as above
from oracles import golden_more, golden_table  # noqa: E402 - found by the path above
from oracles.awkward_rows import awkward_sets, off_edges  # noqa: E402 - as above
from oracles.peer_values import TOOLS, Columns, samples  # noqa: E402 - as above
from oracles.slow_bounds import slow_bounds  # noqa: E402 - as above
from oracles.slow_values import slow_values  # noqa: E402 - as above

PAGE = ROOT / "docs" / "agreement.md"
NAMES = ColumnNames(score="score", label="label")
OFF_EDGES = "off edges"
# How many bins each tool takes by default.
BINS = {
    CompatTool.TORCHMETRICS: 15,
    CompatTool.NETCAL: 10,
    CompatTool.MAPIE: 49,
    CompatTool.CALZONE: 10,
    CompatTool.RELPLOT: 10,
    CompatTool.UNCERTAINTY_CALIBRATION: 15,
}
# Dense kernels and linear programmes of the slow formulas take their time.
MOST_SLOW_ROWS = 700
# Beyond these a number by --compat, or by slow formulas, is not the same.
SAME = 1e-9
SAME_BY_SLOW = 2e-5
# Where a curve's largest distance is at its end, and where both laws are inverted by numbers.
SAME_BY_SLOW_OF = {
    "emax": 1e-3,
    **{f"{loss}.{side}": 2e-3 for loss in ("brier", "log_loss") for side in ("lower", "upper")},
}


@dataclass(frozen=True)
class Worst:
    """The largest difference found.

    Args:
        size: The difference, over the size of the other number where that is above 1.

        where: The set of rows.

        count: How many numbers were compared.
    """

    size: float = 0.0
    where: str = ""
    count: int = 0

    def beside(self, ours: float | None, theirs: float | None, where: str) -> "Worst":
        """Return the larger of this and one more difference."""
        size = difference(ours, theirs)
        larger = size > self.size or not self.where
        return Worst(size if larger else self.size, where if larger else self.where, self.count + 1)


@dataclass(frozen=True)
class PeerRow:
    """A number of a tool over all sets.

    Args:
        tool: The tool.

        name: What the tool calls the number.

        ours: What answers the same question here, with the part of it; empty where nothing does.

        compat: Theirs against `measure --compat`.

        default: Theirs against ours, by default.

        alike: The same with their number of bins where no score lies on an edge, at an end or is tied.

        why: The reason given for the largest difference.
    """

    tool: str
    name: str
    ours: str
    compat: Worst
    default: Worst
    alike: Worst
    why: str


def difference(ours: float | None, theirs: float | None) -> float:
    """Return |ours - theirs| over theirs from 1 up; 0 where neither is there, inf where one of them is."""
    if ours is None or theirs is None:
        return 0.0 if ours is theirs else math.inf
    if ours == theirs or (math.isnan(ours) and math.isnan(theirs)):
        return 0.0
    size = abs(ours - theirs) / max(1.0, abs(theirs))
    return math.inf if math.isnan(size) else size


def all_sets() -> dict[str, Columns]:
    """Return rows of the sample data, at most 2,000 a file, and made-up ones."""
    return {
        **{name.removesuffix("_evaluation"): columns for name, columns in samples()},
        **awkward_sets(),
        OFF_EDGES: off_edges(),
    }


def files_of(sets: Mapping[str, Columns], folder: Path) -> dict[str, str]:
    """Write each set as Parquet."""
    found = {}
    for index, (name, (score, label)) in enumerate(sets.items()):
        path = folder / f"{index}.parquet"
        pq.write_table(pa.table({"score": score, "label": label}), path)
        found[name] = str(path)
    return found


def peers_values(sets: Mapping[str, Columns], folder: Path, python: str | None) -> dict[str, object]:
    """Return what the tools give, and their versions; nothing of those that are not installed."""
    if python is None:
        return {"versions": {}, "values": {}}
    rows = folder / "rows.npz"
    np.savez(rows, **{name: np.stack(columns) for name, columns in sets.items()})
    script = ROOT / "tests" / "oracles" / "peer_values.py"
    run = subprocess.run([python, str(script), str(rows)], stdout=subprocess.PIPE, check=True)
    return dict(json.loads(run.stdout))


def compat_numbers(tool: CompatTool, file: str, *, bins: int | None = None) -> tuple[CompatNumber, ...]:
    """Return what `measure --compat` prints."""
    options = MeasureOptions(bins=bins, binning=Binning.EQUAL_WIDTH if bins else None, complete=False)
    return compat_files(RowRequest([file], NAMES), tool=tool, options=options).numbers


def peer_rows(values: Mapping[str, dict], files: Mapping[str, str]) -> Iterator[PeerRow]:
    """Compare every number of every tool over every set."""
    for tool in CompatTool:
        theirs = values.get(tool.value)
        if theirs is None:
            continue
        found: dict[str, PeerRow] = {}
        for where, file in files.items():
            for one in compat_numbers(tool, file):
                found[one.name] = with_set(found.get(one.name), one, theirs[where][one.name], tool, where)
        for one in compat_numbers(tool, files[OFF_EDGES], bins=BINS.get(tool)):
            row = found[one.name]
            other = number(theirs[OFF_EDGES][one.name])
            alike = row.alike if one.ours is None else row.alike.beside(one.ours.value, other, OFF_EDGES)
            found[one.name] = PeerRow(**{**row.__dict__, "alike": alike})
        yield from found.values()


def number(value: object) -> float | None:
    """Return a number of the peers' document, where infinity is a word."""
    return None if value is None else float(str(value))


def with_set(row: PeerRow | None, one: CompatNumber, theirs: object, tool: CompatTool, where: str) -> PeerRow:
    """Return a row with one more set."""
    other = number(theirs)
    ours = "" if one.ours is None else f"{one.ours.name.value}.{one.ours.part.value}".removesuffix(".value")
    row = row or PeerRow(tool.value, one.name, ours, Worst(), Worst(), Worst(), reason(one))
    compat = row.compat.beside(one.value, other, where)
    default, why = row.default, row.why
    # Where either has no number there is nothing to be told apart.
    if one.ours is not None and one.ours.value is not None and other is not None:
        default = row.default.beside(one.ours.value, other, where)
        why = reason(one) if default.where == where else row.why
    return PeerRow(tool.value, one.name, ours, compat, default, row.alike, why)


def reason(one: CompatNumber) -> str:
    """Return why the two differ, with the bins that ours is over."""
    partition = None if one.ours is None else one.ours.partition
    return one.why if partition is None else f"{one.why}; ours over {partition}"


def slow_rows(sets: Mapping[str, Columns], files: Mapping[str, str], folder: Path) -> dict[str, Worst]:
    """Compare every measure and statistic with the slow formulas."""
    found: dict[str, Worst] = {}
    for where, (score, label) in sets.items():
        step = math.ceil(score.size / MOST_SLOW_ROWS)
        columns = (score[::step], label[::step])
        file = files[where] if step == 1 else files_of({where: columns}, folder)[where]
        ours = measured(file)
        for name, value in (slow_values(*columns) | slow_bounds(*columns)).items():
            mine = ours.get(name)
            if mine is not None or not math.isnan(value):
                found[name] = found.get(name, Worst()).beside(mine, value, where)
    return found


def measured(file: str) -> dict[str, float]:
    """Return what `measure --metric all` gives over 15 equal-width bins, ends of intervals as `name.side`."""
    options = MeasureOptions(
        metrics=metrics_of(["all"]), bins=15, binning=Binning.EQUAL_WIDTH, complete=False
    )
    report = measure_files(RowRequest([file], NAMES), options=options)
    found = {one.name.value: one.value for one in report.measures if not math.isnan(one.value)}
    for one in report.measures:
        if one.interval is not None:
            found |= {f"{one.name.value}.{side}": getattr(one.interval, side) for side in ("lower", "upper")}
    return found | {one.name.value: one.statistic for one in report.tests if one.statistic is not None}


def golden_rows() -> list[tuple[golden_table.Comparison, Worst]] | None:
    """Compare with golden values; None where the folder is absent."""
    if not (golden_table.FOLDER / "golden.json").exists():
        return None
    found = []
    for one in (*golden_table.COMPARISONS, *golden_more.OF_MEASURES, *golden_more.OF_FITS):
        worst = Worst()
        for where, ours, theirs in golden_table.compared(one):
            worst = worst.beside(ours, theirs, where)
        found.append((one, worst))
    return found


def problems(
    golden: Sequence[tuple[golden_table.Comparison, Worst]],
    peers: Sequence[PeerRow],
    slow: Mapping[str, Worst],
) -> list[str]:
    """Return what differs and should not."""
    found = [
        f"golden {one.name} ({one.implementation}): {worst.size:.1e} on {worst.where}"
        for one, worst in golden
        if one.tolerance is not None and worst.size > one.tolerance
    ]
    found += [
        f"--compat {row.tool} {row.name}: {row.compat.size:.1e} on {row.compat.where}"
        for row in peers
        if row.compat.size > SAME
    ]
    return found + [
        f"{name}: {worst.size:.1e} from slow formulas on {worst.where}"
        for name, worst in slow.items()
        if worst.size > SAME_BY_SLOW_OF.get(name, SAME_BY_SLOW)
    ]


def main() -> int:
    """Compare, write the page, and say what is wrong."""
    warnings.simplefilter("error")
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peers", metavar="PYTHON")
    parser.add_argument("--out", type=Path, default=PAGE)
    asked = parser.parse_args()
    sets = all_sets()
    with tempfile.TemporaryDirectory() as place:
        files = files_of(sets, Path(place))
        theirs = peers_values(sets, Path(place), asked.peers)
        peers = list(peer_rows(theirs["values"], files))
        slow = slow_rows(sets, files, Path(place))
    golden = golden_rows()
    asked.out.write_text(document(sets, golden, peers, slow, theirs["versions"]), encoding="utf-8")
    wrong = problems(golden or [], peers, slow)
    missing = [tool for tool in TOOLS if tool not in theirs["versions"]]
    print("\n".join([f"wrote {asked.out}", *(f"not compared: {tool}" for tool in missing), *wrong]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
