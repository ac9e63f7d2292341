"""calibcli fit."""

from calibcli.names import STDOUT
from calibcli.options.fitting import FitOptions, MapOptions
from calibcli.options.output import Inputs, Output
from calibcli.options.rows import FITTED_BY, FITTED_ON, Columns, Reading
from calibcli.options.segmenting import FitCutting
from calibcli.shell.door import command


@command(
    "score label output method by on probs where positive force | depth max_values categorical numeric "
    "classes multiclass min_class_rows output_sum "
    "on_sum candidate group min_group_rows bins binning split base beta_form folds randomised loss "
    "smooth_targets step seed *rows *values *format *reading allow_edited force quiet verbose color debug",
    by=FITTED_BY,
    on=FITTED_ON,
)
def fit(
    inputs: Inputs,
    columns: Columns,
    which: MapOptions,
    options: FitOptions,
    cutting: FitCutting,
    reading: Reading,
    out: Output,
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
      calibcli fit cal.csv -s score -y label --method segments --on country,device,age -o cal.json
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
      segments          looks at the columns of --on, too: an offset and a slope
                        for their values, offsets for intersections; cautious
                        where rows are few

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
    from calibcli.commands.fit import fit_map
    from calibcli.data.formats import refuse_promise
    from calibcli.shell.output import request_of, say_summary, write

    rows = request_of(inputs, columns, reading, out)
    refuse_promise(out.output, "json", what="an artifact is JSON", hint="name it cal.json")
    output = None if out.output == STDOUT else out.output
    report, artifact = fit_map(rows, which, options, cutting=cutting, output=output)
    write(artifact, out.output)
    say_summary(report, out)
