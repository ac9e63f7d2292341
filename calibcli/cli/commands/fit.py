"""calibcli fit."""

from typing import TYPE_CHECKING

from calibcli.cli import class_options as k
from calibcli.cli import document_options as d
from calibcli.cli import engine_options as e
from calibcli.cli import input_options as i
from calibcli.cli import options as o
from calibcli.cli import selection_options as s
from calibcli.names import (
    DEFAULT_FIT_BINS,
    DEFAULT_LEAST_ROWS,
    DEFAULT_MEMORY,
    DEFAULT_SEED,
    BetaForm,
    Binning,
    ColorWhen,
    EngineName,
    FitLoss,
    FitMethod,
    OnMissing,
    OnRange,
    RecalibratorName,
    ReportFormat,
    Split,
)
from calibcli.outputs import STDERR, STDOUT
from calibcli.view_names import DEFAULT_LEAST_CLASS_ROWS, ClassMethod, OnSum, OutputSum, ViewName

if TYPE_CHECKING:
    from calibcli.reports.fit import FitReport
    from calibcli.reports.fit_classes import ClassFitReport


def fit(
    inputs: o.Inputs,
    score: o.Score = None,
    label: o.Label = None,
    output: o.Out = STDOUT,
    method: o.Method = FitMethod.PLATT,
    probs: k.Probs = None,
    classes: k.Classes = None,
    multiclass: k.Multiclass = None,
    min_class_rows: k.LeastClassRows = DEFAULT_LEAST_CLASS_ROWS,
    output_sum: k.HowOutputSums = OutputSum.ONE,
    on_sum: k.HowSummed = OnSum.ERROR,
    candidate: o.Candidates = None,
    group: o.Group = None,
    by: s.FittedBy = None,
    min_group_rows: s.LeastFitRows = DEFAULT_LEAST_ROWS,
    bins: o.FitBins = DEFAULT_FIT_BINS,
    binning: o.FitBinning = Binning.EQUAL_MASS,
    split: o.HowSplit = Split.NONE,
    base: o.Base = RecalibratorName.PLATT,
    beta_form: o.HowBeta = BetaForm.ABM,
    folds: o.Folds = None,
    randomised: o.Randomise = False,
    loss: o.Loss = FitLoss.LOG,
    smooth_targets: o.SmoothTargets = False,
    step: o.Step = False,
    seed: o.Seed = DEFAULT_SEED,
    where: s.Where = None,
    limit: s.Limit = None,
    sample: s.Sample = None,
    weight: o.Weight = None,
    weights_are: o.WeightsAre = None,
    positive: o.Positive = None,
    scale: o.ScoreScale = None,
    on_missing: o.Missing = OnMissing.ERROR,
    on_range: o.Range = OnRange.ERROR,
    input_format: o.InputFormat = None,
    delimiter: i.Delimiter = None,
    encoding: i.Encoding = None,
    decimal: i.Decimal = None,
    exact: o.Exact = False,
    memory: o.Memory = DEFAULT_MEMORY,
    jobs: o.Jobs = None,
    engine: e.EngineChoice = EngineName.LOCAL,
    engine_address: e.EngineAddress = None,
    allow_edited: d.AllowEdited = False,  # noqa: ARG001 - heard where it is declared
    force: o.Force = False,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
    color: o.Color = ColorWhen.AUTO,
    debug: o.Debug = False,  # noqa: ARG001 - read by the gate in app.py
) -> None:
    """
    Fit a recalibrator to labelled predictions.

    The artifact is JSON; without -o it goes to standard output and the summary to standard error.

    \b
    EXAMPLES
      calibcli fit cal.csv -s score -y label -o cal.json
      calibcli fit cal.parquet -s score -y label --method isotonic -o cal.json
      calibcli fit cal.csv -s score -y label --method auto --group patient -o cal.json
      calibcli fit cal.parquet -s score -y label --method scaling-binning --bins 10 -o cal.json
      calibcli fit cal.csv -s score -y label --by country -o cal.json
      calibcli fit cal.parquet --probs 'p_*' -y label --multiclass vector -o cal.json

    \b
    METHODS
      identity          changes nothing: the score is calibrated
      intercept         shifts the log odds; other base rate, few rows
      temperature       divides the logit by T; too sure or not sure enough
      platt             a logistic curve on the logit; few rows, smooth
      beta              three parameters, bends the two ends apart
      quadratic         a parabola on the logit
      spline            a smooth curve on the logit; some thousand rows
      histogram         one probability a bin, with a finite-sample guarantee
      scaling-binning   a smooth map, then bins: its error can be verified
      isotonic          any increasing map; many rows
      centred-isotonic  isotonic without flat parts but at 0 and 1
      venn-abers        isotonic with two ends that bracket each probability
      smooth            the kernel regression that smECE measures
      auto              one of these, chosen by cross-validation; identity where
                        no repair is better

    \b
    METHODS OF SEVERAL CLASSES
      temperature       divides all log-probabilities by T; keeps the predicted class
      vector            a slope and an intercept for each class
      structured        the same, pulled towards one slope; few rows of many classes
      matrix            all pairs of classes, off-diagonal part penalised (Dirichlet calibration)
      confidence        --method on the largest probability
      top-label         --method on it for each predicted class
      one-vs-rest       --method on each class's probability, divided by the sum
      one-vs-one        --method on each pair of classes
    """
    from calibcli.cli.output import renderer_for, say, write
    from calibcli.cli.progress_bar import progress_bar
    from calibcli.options.rows import Columns, Reading
    from calibcli.recalibrators.options import FitOptions
    from calibcli.suffixes import refuse_promise
    from calibcli.tasks import fit_asked as asked
    from calibcli.tasks.destination import check_output
    from calibcli.tasks.fit import fit_files

    check_output(output, force=force, inputs=inputs)
    refuse_promise(output, "json", what="an artifact is JSON", hint="name it cal.json")
    several = k.several_classes(probs, classes, on_sum=on_sum, view=ViewName.CONFIDENCE, one_class=None)
    columns = Columns(
        score,
        label,
        weight,
        weights_are,
        positive,
        scale,
        on_missing,
        on_range,
        group=group,
        by=tuple(by or ()),
        several=several,
        rows=s.rows_of(where, limit, sample, seed=seed),
    )
    options = FitOptions(
        bins, binning, loss, smooth_targets, step, split, base, beta_form, folds, randomised, seed
    )
    target = None if output == STDOUT else output
    reading = Reading(
        i.input_format_of(input_format, delimiter, encoding, decimal=decimal),
        jobs,
        exact,
        memory,
        engine,
        engine_address,
        progress_bar(quiet=quiet),
    )
    report: FitReport | ClassFitReport
    asked.refuse_idle_groups(by=bool(by), least_rows=min_group_rows, several=several is not None)
    if several is None and by:
        from calibcli.tasks.fit_groups import fit_group_files

        asked.refuse_class_options(multiclass, min_class_rows, output_sum)
        report, artifact = fit_group_files(
            inputs,
            columns,
            method=method,
            candidates=tuple(candidate or ()),
            options=options,
            least_rows=min_group_rows,
            output=target,
            reading=reading,
        )
    elif several is None:
        asked.refuse_class_options(multiclass, min_class_rows, output_sum)
        report, artifact = fit_files(
            inputs,
            columns,
            method=method,
            candidates=tuple(candidate or ()),
            options=options,
            output=target,
            reading=reading,
        )
    else:
        from calibcli.recalibrators.classes.interface import ClassFitOptions
        from calibcli.tasks.fit_classes import fit_class_files, inner_method, refuse_idle_class_options

        asked.refuse_candidates(candidate or ())
        chosen = multiclass or ClassMethod.TEMPERATURE
        refuse_idle_class_options(chosen, least_rows=min_class_rows, output_sum=output_sum)
        inner = inner_method(chosen, method)
        report, artifact = fit_class_files(
            inputs,
            columns,
            method=chosen,
            options=ClassFitOptions(inner, options, min_class_rows, output_sum, folds or 5, seed),
            output=target,
            reading=reading,
        )
    write(artifact, output)
    summary = renderer_for(ReportFormat.TABLE, STDERR, color=color, verbose=verbose)
    say(summary.render(report), quiet=quiet)
