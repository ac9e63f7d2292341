"""Judge a claim about the calibration error of exported predictions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from calibcli.errors import EmptyTable, InputProblem, UsageProblem
from calibcli.names import DEFAULT_CONFIDENCE, DEFAULT_LEAST_ROWS, Binning, Inconclusive
from calibcli.readers.columns import Columns
from calibcli.reports.verify import VerifyReport
from calibcli.table.bins import ATOMS, Bins
from calibcli.tasks.judged import Judged, read_judged
from calibcli.tasks.partition import check_confidence, chosen_bins, may_cut_cells, parted, summary_of
from calibcli.tasks.reading import Reading
from calibcli.verdicts.claim import Claim
from calibcli.verdicts.ece_below import ece_below


@dataclass(frozen=True, slots=True)
class VerifyOptions:
    """
    What is asked of `verify`.

    Args:
        max_ece: The largest calibration error that passes; the rule that every gate needs.

        confidence: 1 - delta; each wrong verdict has probability at most delta.

        bins: Number of equal-width bins, or None for 15, or for each value of a few-valued score.

        binning: Equal width or atoms; None to let the score decide.

        least_rows: Below so many rows nothing is concluded.

        policy: What an inconclusive gate counts as.

        allow_fit_rows: Whether the rows may be those that the artifact was fitted on.
    """

    max_ece: float | None = None
    confidence: float = DEFAULT_CONFIDENCE
    bins: int | None = None
    binning: Binning | None = None
    least_rows: int = DEFAULT_LEAST_ROWS
    policy: Inconclusive = Inconclusive.ERROR
    allow_fit_rows: bool = False

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        if self.binning is Binning.EQUAL_MASS:
            msg = "equal-mass bins are cut by the rows they would judge"
            raise UsageProblem(msg, "a gate takes --binning equal-width or atoms, fixed in advance")
        if self.max_ece is None:
            msg = "no rule to verify"
            hint = (
                "try --max-ece 0.02, --max-ece 0.02 --artifact cal.json, or --max-ece 0.05 --confidence 0.99"
            )
            raise UsageProblem(msg, hint)
        if not 0.0 < self.max_ece < 1.0:
            msg = f"a limit of {self.max_ece:g}"
            raise UsageProblem(msg, "--max-ece takes a number between 0 and 1, such as 0.02")


def verify_files(
    inputs: Sequence[str],
    columns: Columns,
    *,
    options: VerifyOptions,
    artifact: str | None = None,
    reading: Reading | None = None,
) -> VerifyReport:
    """
    Judge the rules by the rows of the inputs.

    Args:
        inputs: Files, "-" for standard input.

        columns: Which column is which; the score is the raw one where an artifact is given.

        options: The rules.

        artifact: Path of a recalibrator to apply first, or None.

        reading: How to read.

    Raises:
        InputProblem: If the rows are those the artifact was fitted on, unless that was allowed.
    """
    twice = may_cut_cells(options.bins, options.binning)
    judged = read_judged(inputs, columns, artifact=artifact, reading=reading or Reading(), twice=twice)
    if judged.fitted_rows and not options.allow_fit_rows:
        msg = f"these are the {judged.table.total_rows:,} rows that {artifact} was fitted on"
        raise InputProblem(msg, "judge it by rows it has not seen, or pass --allow-fit-rows to insist")
    if judged.table.total_rows == 0:
        msg = "no rows left to judge by"
        raise EmptyTable(msg)
    bins = _partition(judged, options)
    measure = "ece" if bins is ATOMS else "binned_ece"
    claim = Claim(measure, options.max_ece or 0.0, options.confidence)
    variance = None if judged.artifact is None else judged.artifact.fit.mean_variance
    table = parted(judged.table, bins, again=judged.again)
    verdict = ece_below(table, claim, bins=bins, variance=variance, least_rows=options.least_rows)
    if judged.fitted_rows:
        verdict = replace(verdict, void="judged by the rows of the fit itself (--allow-fit-rows)")
    return VerifyReport(
        input=judged.gathered.input,
        table=summary_of(judged.table, discrete=bins is ATOMS),
        artifact=artifact,
        verdicts={"max-ece": verdict},
        policy=options.policy,
        notes=judged.notes,
    )


def _partition(judged: Judged, options: VerifyOptions) -> Bins:
    """Return the outputs of a discrete recalibrator, else a partition that no label had a say in."""
    discrete = judged.artifact is not None and judged.artifact.recalibrator.bins is not None
    return chosen_bins(judged.table, bins=options.bins, binning=options.binning, discrete=discrete)
