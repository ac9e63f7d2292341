"""The words and tables of `docs/agreement.md`; `agreement.py` finds the numbers."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from calibcli.names import MeasureName, TestName

if TYPE_CHECKING:
    from agreement import PeerRow, Worst

    from oracles.golden_table import Comparison
    from oracles.peer_values import Columns

Golden = Sequence[tuple["Comparison", "Worst"]]

# Differences up to here are no other formula.
ROUNDING = 1e-12
# Which measures and tests a comparison with golden values speaks of, by how its name begins.
SPEAKS_OF = {
    "ECE, rms, max gap": ("ece", "l2_plug_in", "lp", "linf"),
    "ECE, equal width": ("ece",),
    "ECE, equal mass": ("ece_equal_mass",),
    "ECE, other rules": ("ece",),
    "max gap": ("linf",),
    "l2, plug-in": ("l2_plug_in",),
    "l2, debiased": ("l2",),
    "T": ("t",),
    "Brier": ("brier",),
    "log loss": ("log_loss",),
    "KS, Kuiper": ("ks", "kuiper"),
    "Spiegelhalter": ("spiegelhalter",),
    "smECE": ("smece",),
    "CORP": ("brier_mcb", "brier_dsc", "brier_unc", "log_loss_mcb", "log_loss_dsc", "log_loss_unc"),
    "Cox": ("cox_slope", "cox_intercept", "citl_logit", "u"),
}
SLOW = {
    "smece": "kernel summed row by row, root by scipy",
    "smece_logit": "the same along the logit",
    "smece_probit": "the same along the probit",
    "dce": "loops over rows and bins",
    "dce_lower": "scipy's linear programme over joint laws",
    "smce": "scipy's linear programme over weights",
    "mmce": "double sum over pairs",
    **dict.fromkeys(("ici", "e50", "e90", "emax"), "a spline by scipy"),
    **dict.fromkeys(("citl_logit", "cox_intercept", "cox_slope", "u"), "scipy's trust-region optimiser"),
    "l1_debiased": "mean of a folded normal by Simpson's rule",
    "ece_sweep": "one number of bins after the other",
    **dict.fromkeys(
        ("brier_mcb", "brier_dsc", "log_loss_mcb", "log_loss_dsc"), "max-min formula of isotonic levels"
    ),
    **dict.fromkeys(("ks", "kuiper"), "path from 0, tie by tie"),
}
NOT_HERE = """Records of ten classes, and packages run on rows of ten classes, stand in
[agreement_classes.md](agreement_classes.md). Not compared: `temperature` by probmetrics of two classes, whose
searches that page shows on ten; and, since calibcli has no such number, `cox_fix_intercept` (a slope beside
intercept 0) and `platt_sigmoid` on the raw score, where ours is on the logit. `cox_fix_slope` repeats a
number of `logistic_recalibration`."""
BOUNDS = {
    "ece.lower": "McDiarmid less the mean noise, or the end of bias",
    "ece.upper": "betting, or d* where scores are far from 0 and 1",
    **dict.fromkeys(("bias.lower", "bias.upper"), "counts, the normal law with its error, or betting"),
    **dict.fromkeys(("smece.upper", "smce.upper"), "betting"),
    **dict.fromkeys(("l2.lower", "l2.upper"), "score interval of T"),
    **{
        f"{loss}.{side}": "Gaffke's bound, by inversion"
        for loss in ("brier", "log_loss")
        for side in ("lower", "upper")
    },
}
ENDS = """95 % ends over the same rows, against `tests/oracles/slow_bounds.py`. Others have tests of their own
in `tests/oracles`: betting on the distance, Chernoff's bound of l2, profiles of Cox by scipy. How often
intervals cover is in [coverage.md](coverage.md).

"""
MEASURES = """Largest differences, relative where the other number is above 1. *Golden* and *by `--compat`*
should be rounding; *by default* comes from another convention, named in the tables below. *Slow formula*:
`tests/oracles/slow_values.py`, which imports nothing of calibcli.
"""
TOOLS = """*By default* is our number as `measure` prints it against theirs, where both have one. *Alike* is
the same on the rows `off edges` with their number of bins, where rules for edges, ends and ties do not
matter: what is left is another formula, or other bins. The reason is that of `--compat` for the largest
difference by default.
"""


def document(
    sets: Mapping[str, "Columns"],
    golden: Golden | None,
    peers: Sequence["PeerRow"],
    slow: Mapping[str, "Worst"],
    versions: Mapping[str, str],
) -> str:
    """Return the page.

    Args:
        sets: Scores and labels of every set of rows.

        golden: Comparisons with golden values, or None where there are none.

        peers: What tools give.

        slow: What slow formulas give, by measure.

        versions: Of the tools.
    """
    parts = [
        "# Agreement\n",
        opening(versions),
        set_table(sets),
        "## One row per measure\n",
        MEASURES,
        "\n".join(measure_lines(golden or (), peers, slow)),
        "\n## Ends of intervals\n",
        bound_part(slow),
        "\n## Golden values\n",
        golden_part(golden),
        "\n## Other tools, number by number\n",
        peer_part(peers),
    ]
    return "\n".join(parts).rstrip() + "\n"


def opening(versions: Mapping[str, str]) -> str:
    """Return what was compared and how."""
    tools = ", ".join(f"{tool} {version}" for tool, version in sorted(versions.items())) or "none"
    return f"""Made by `make agreement PEERS=PYTHON` (`benchmarks/agreement.py`), which compares every
measure and test of calibcli with golden values on real predictions, with the tools themselves run on the
same rows, and with slow formulas written a second time. It ends with exit code 1 where a difference is more
than rounding and no rule explains it.

Tools that were run: {tools}.
Our numbers are those of `measure --metric all` and `measure --compat TOOL`, read from Parquet. Rules of
other tools are those that `measure --compat` states; ours are in [methods.md](methods.md).

Rows that were compared:
"""


def set_table(sets: Mapping[str, "Columns"]) -> str:
    """Return a line for each set."""
    lines = [
        "| rows | n | distinct | label 1 | at 0 | at 1 | on an edge of 10 or 15 bins |",
        "|---|---|---|---|---|---|---|",
    ]
    edges = np.concatenate((np.arange(1, 10) / 10, np.arange(1, 15) / 15))
    for name, (score, label) in sets.items():
        counts = (score.size, np.unique(score).size, int(label.sum()), int((score == 0).sum()))
        more = (int((score == 1).sum()), int(np.isin(score, edges).sum()))
        lines.append(f"| {name} | " + " | ".join(f"{count:,}" for count in (*counts, *more)) + " |")
    return "\n".join(lines) + "\n"


def size(worst: "Worst | None") -> str:
    """Return a difference in words."""
    if worst is None or worst.count == 0:
        return ""
    if math.isinf(worst.size):
        return "infinite"
    return "0" if worst.size == 0.0 else f"{worst.size:.1e}"


def measure_lines(golden: Golden, peers: Sequence["PeerRow"], slow: Mapping[str, "Worst"]) -> Iterator[str]:
    """Yield a line for each measure and test."""
    yield "| measure | golden | tools that give it | by `--compat` | by default | why | slow formula | how |"
    yield "|---|---|---|---|---|---|---|---|"
    for name in (*MeasureName, *TestName):
        held = [worst for one, worst in golden if one.tolerance is not None and name in spoken_of(one.name)]
        own = [row for row in peers if row.ours.split(".")[0] == name]
        tools = ", ".join(dict.fromkeys(row.tool for row in own))
        compat = largest([row.compat for row in own])
        other = max(own, key=lambda row: row.default.size, default=None)
        default, why = ("", "") if other is None else (size(other.default), reason(other))
        how = SLOW.get(name.value, "loops over rows")
        cells = (size(largest(held)), tools, size(compat), default, why, size(slow.get(name.value)), how)
        yield f"| {name.value} | " + " | ".join(cells) + " |"


def bound_part(slow: Mapping[str, "Worst"]) -> str:
    """Return the table of ends of intervals."""
    lines = ["| end | how `measure` finds it | sets of rows | largest difference |", "|---|---|---|---|"]
    for name, worst in slow.items():
        if "." in name:
            lines.append(f"| {name} | {BOUNDS[name]} | {worst.count} | {size(worst)} |")
    return ENDS + "\n".join(lines) + "\n"


def spoken_of(comparison: str) -> tuple[str, ...]:
    """Return the measures that a comparison speaks of: those of the longest beginning."""
    begins = [begin for begin in SPEAKS_OF if comparison.startswith(begin)]
    return SPEAKS_OF[max(begins, key=len)] if begins else ()


def reason(row: "PeerRow") -> str:
    """Return which number differs most, and why, where that is more than rounding."""
    return (
        f"{row.tool} {row.name}: {row.why}".replace("|", "\\|")
        if row.default.size > ROUNDING
        else "the same formula"
    )


def largest(found: "Sequence[Worst]") -> "Worst | None":
    """Return the largest difference."""
    return max(found, key=lambda worst: worst.size, default=None)


def golden_part(golden: Golden | None) -> str:
    """Return the table of golden values, or why there is none."""
    if golden is None:
        return "Not compared: the folder of real predictions beside the repository is absent.\n"
    lines = [
        "| number | implementation | numbers | largest difference | on | allowed, or why they differ |",
        "|---|---|---|---|---|---|",
    ]
    for one, worst in golden:
        allowed = one.why if one.tolerance is None else f"{one.tolerance:.0e}"
        name = one.implementation.removesuffix(" formula")
        lines.append(f"| {one.name} | {name} | {worst.count:,} | {size(worst)} | {worst.where} | {allowed} |")
    return "\n".join(lines) + f"\n\n{NOT_HERE}\n"


def peer_part(peers: Sequence["PeerRow"]) -> str:
    """Return the table of what tools give."""
    if not peers:
        return "Not compared: no Python with the tools was given.\n"
    lines = [
        TOOLS,
        "| tool | their number | ours | by `--compat` | by default | on | alike | why |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in peers:
        default = (size(row.default), row.default.where if row.default.size else "")
        cells = (row.tool, row.name, row.ours, size(row.compat), *default, size(row.alike), row.why)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"
