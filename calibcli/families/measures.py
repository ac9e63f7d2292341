"""Measures of one score, and of segments of the rows: the one entry of each."""

from calibcli.families import Explained, Facts, Home

inf = float("inf")
# Parts of a score, of which most have no interval.
_PART = Facts(Home.DECOMPOSITIONS)
_OPEN_PART = _PART._replace(interval=False)

# Sentences that several definitions share.
_THESE = "Finite-sample, for these very scores with labels drawn anew."
_UNTRAINED = "Rows are independent; no row was used to train the model or the recalibrator."
_UNSEEN = "Rows are independent; no row was used to train the model, the recalibrator or the bins."
_LINE = """Where the truth is on no line the likelihood is too narrow, so the deviance at the ends is t² φ
    with φ ≥ 1."""
_PHI = """φ is the variance of the coefficient by the influence u of each row's label, over that by the
    likelihood. For φ each influence is taken as if the line had been fitted without that row (HC3)."""
_STUDENT = """t is the quantile of Student's law with ν - 1 degrees of freedom, at least 1. ν = (Σ u²)² /
    Σ u⁴, of the influences on the line as fitted, counts the rows that carry the noise (`carried_by`)."""
_CARRIED = f"{_STUDENT} Below 50 of them the interval is called rough; a verdict needs 10."
_ENDS = """The ends are quantiles of the mean with random weights of the rows (docs/methods.md, "Gaffke's
    bound")."""
_WEIGHTED = "With importance weights the bound is that of w (loss - mean), if no rows to come weigh far more."
_RATIO = """Let r be any rate within its exact bounds, which take a tenth of the error. One added row bounds
    the mean of loss - t times that of always predicting r (docs/methods.md, "Gaffke's bound"). The ends are
    the t at which that mean can no longer be 0. With importance weights losses count as those of brier and
    log_loss do, and the exact bounds are those of (Σw)²/Σw² rows."""
_RATIO_ASSUMES = """Rows are independent. The reference is the rate of these rows, not that of the training
    rows. "By chance" is the range of the ratio, by its expansion to second order."""
_DRAWS = """Rows are independent draws from the population. "By chance" is its range over labels drawn from
    the scores."""
_MURPHY_SUM = """Brier score = reliability - resolution + uncertainty + within variance - within covariance,
    exactly."""
_MURPHY_ASSUMES = """Rows are independent and held out; the bins do not depend on the labels. "By chance" is
    its range over labels drawn from the scores."""
_MURPHY_PAPERS = """Murphy (1973), J. Appl. Meteorol. 12; Stephenson, Coelho & Jolliffe (2008), Weather and
    Forecasting 23, for the within-bin terms."""
_CORRECTED = "May be negative. The corrected three have the same sum as the plain three."
_BRIER_SUM = "Brier score = MCB - DSC + UNC exactly."
_LOG_SUM = "Log loss = MCB - DSC + UNC exactly."
_CORP_NONE = """None: the isotonic fit follows the noise, so even calibrated scores have a miscalibration
    above 0. Compare the value with "by chance"."""
_CORP_ASSUMES = """Rows are independent and held out; rates do not fall where scores rise. "By chance" is the
    range over 100 draws of labels from the scores, above 20,000 rows on 16,384 cells of as many scores each.
    Scores that do not fit in memory are rounded to a grid, each cell one score."""
_CORP_PAPER = "Dimitriadis, Gneiting & Jordan (2021), PNAS 118(8)."


# The words are read, not run: they keep the lines of their paragraphs.
# fmt: off
class MeasureName(Explained):
    """Measures of miscalibration, proper scores and their parts, as `measure --metric` takes them."""

    ECE = "ece", Facts(Home.BINNED, gate="ece.ece_below", any_time=True, compared=True), f"""
        ECE
        How far the observed rate is from the mean score, bin by bin, on average over rows.
        Reading: 0 is perfect; 0.03 means that scores miss the observed rates by 3 percentage points on
            average. Chance alone gives a calibrated score more than 0, so compare the value with "by chance".
        Estimand: Σ_k (n_k/n) |mean of P(y=1|f) - f in bin k|. Bins have equal width unless others are
            requested; where there are few distinct scores, each is a bin by itself.
        Estimator: (1/n) Σ_k |S_k|, S_k the sum of label - score in bin k. It is biased upward, since noise in
            a bin never cancels. "By chance" is the range in which nine of ten values lie when labels are
            drawn from the scores.
        Interval: {_THESE} The upper end is the estimate plus d*, which is at most √(ln(1/δ)/(2n)). Where
            scores near 0 or 1 make a bound by betting sharper, it is used instead; the scores alone settle
            which. The lower end is the larger of two. One is that of |bias|, which no ECE is below, at ¾ δ.
            The other is the estimate less the most that noise adds on average, and less √(ln(4/δ)/(2n))
            (McDiarmid). With importance weights: Hoeffding at the effective number of rows (Σw)²/Σw².
            `--bounds` lists more, each one-sided at δ, half the error of the interval; do not pick the best
            of them afterwards. For these scores: hoeffding, d_star, betting, clopper_pearson (every bin at
            once, Šidák) and mcdiarmid. Three are for the population, over bins fixed before the rows were
            seen. theorem_12_4 is ± √(2 ln(1/δ)/n), and √(K/n) less on the lower side; over distinct scores K
            counts those seen. empirical_bernstein is that of Maurer & Pontil, range 2. betting_any_time holds
            however often one looks.
        Assumes: {_UNSEEN} The partition never depends on labels. The ECE of finer bins may be larger, and no
            number of rows bounds that of a continuous score itself.
        Reference: Naeini, Cooper & Hauskrecht (2015), AAAI; Hoeffding (1956), Ann. Math. Statist. 27;
            Waudby-Smith & Ramdas (2024), JRSS-B 86; Maurer & Pontil (2009), COLT.
        """
    ECE_EQUAL_MASS = "ece_equal_mass", Facts(Home.BINNED, compared=True), f"""
        ECE of equal-mass bins
        ECE over bins with about the same number of rows each.
        Reading: Read it as ece. Prefer it where most scores are crowded into a small range, which equal
            widths would put into one or two bins.
        Estimand: The same as ece, over bins that hold about equally many rows each.
        Estimator: (1/n) Σ_k |S_k| over bins cut midway between neighbouring distinct scores at the ranks
            k⌊n/B⌋ + min(k, n mod B). Ties stay together, and duplicate cuts are dropped.
        Interval: As for ece, finite-sample, for these very scores with labels drawn anew. The partition may
            depend on the scores, which are given. `--bounds` lists the same other bounds but those for the
            population, which need bins that these rows have not cut.
        Assumes: {_UNTRAINED}
        Reference: Naeini, Cooper & Hauskrecht (2015), AAAI; Nguyen & O'Connor (2015), EMNLP, for equal-mass
            bins.
        """
    ACE = "ace", Facts(Home.BINNED), f"""
        adaptive calibration error
        The same as ece_equal_mass, but every bin has the same weight.
        Reading: 0 is perfect, and chance alone gives more than 0. It differs from ece_equal_mass only where
            ties or an uneven number of rows leave bins of unequal size.
        Estimand: (1/K) Σ_k |mean of P(y=1|f) - f in bin k|, each of K equal-mass bins with the same weight.
        Estimator: (1/K) Σ_k |S_k|/n_k, the adaptive calibration error for one score; biased upward like ece.
        Interval: {_THESE} The upper end adds √(½ ln(1/δ) Σ 1/n_k)/K (Hoeffding). The lower end is the larger
            of two. One subtracts the same at δ/4, and (1/K) Σ 1/(2√n_k), the most that noise adds on average
            (McDiarmid). The other is that of |bias| at ¾ δ times n/(K max n_k), which no such mean is below.
            With importance weights 1/n_k becomes Σw²/(Σw)² of the bin.
        Assumes: {_UNTRAINED}
        Reference: Nixon, Dusenberry, Zhang, Jerfel & Tran (2019), CVPR workshops, equation 4 with one class.
        """
    ECE_SWEEP = "ece_sweep", Facts(Home.BINNED, interval=False), f"""
        ECE of monotone sweeps
        ECE over equal-mass bins, with as many bins as possible before observed rates fall.
        Reading: 0 is perfect, but no interval exists. For a decision take ece or smece.
        Estimand: None of its own. It is a way of choosing the bins of ece_equal_mass so that its bias is
            small if rates rise with the score.
        Estimator: (1/n) Σ_k |S_k| over b equal-mass bins. b is the last of 1, 2, 3, … before some bin's
            observed rate lies below that of the bin before. Where rates never fall between distinct scores,
            each is a bin by itself. Otherwise at most 4,096 bins are tried, which is said where it ends the
            sweep.
        Interval: None: the bins are chosen by the labels, which voids every bound.
        Assumes: {_UNTRAINED} Rates rise with the score.
        Reference: Roelofs, Cain, Shlens & Mozer (2022), AISTATS, algorithm 1, with ties kept together.
        """
    L1_DEBIASED = "l1_debiased", Facts(Home.BINNED, interval=False), f"""
        debiased L1 calibration error
        ECE corrected for its upward bias, the part that chance alone produces.
        Reading: 0 is perfect. It estimates the same error as ece with less bias, but has no interval.
        Estimand: The same as ece.
        Estimator: 2 ECE - Σ_k (n_k/n) E|e_k + s_k Z|, in closed form: the plug-in less its own bias at the
            plug-in gaps. e_k is the gap of the bin, s_k² the variance of label - score in it over n_k, and Z
            standard normal. Below 0 it is given as 0; what it was is `unclipped` in the JSON report. Rows
            alone in their bin are not corrected for.
        Interval: None is known to hold for it; that of ece is for the same estimand.
        Assumes: {_UNSEEN} Bins hold enough rows for their rates to be nearly normal.
        Reference: Kumar, Liang & Ma (2019), NeurIPS, and its package. The package draws the expectation and
            takes the variance of the label in place of that of label - score; both agree where a bin holds
            one score.
        """
    L2 = "l2", Facts(Home.L2, gate="l2.l2_below", compared=True), f"""
        L2 calibration error
        Root mean square distance of observed rate and mean score, corrected for the part due to chance.
        Reading: 0 is perfect, and calibrated scores often show exactly 0. Large gaps weigh more than in ece,
            so the true value is at least that of ece over the same bins.
        Estimand: Root of Σ_k (n_k/n) e_k², e_k the bin's mean of P(y=1|f) - f.
        Estimator: √max(T, 0) with the U-statistic T = (1/n) Σ_{{n_k≥2}} (S_k² - Q_k)/(n_k - 1), Q_k the sum
            of squared label - score. T is unbiased for these scores; it may be negative, and is in the JSON
            report.
        Interval: The score interval {{θ ≥ 0 : |T - θ| ≤ z √(A + D + Cθ)}}, above 95 % with a lower end by a
            gamma law (docs/methods.md, "Why the bounds hold"). It is asymptotic, for these very scores, and
            approximate below 1,000 rows. Where all rows have one score it is that of Clopper and Pearson, of
            the distance of a rate from it, at any number of rows. It is called rough where bins whose labels
            are all alike may hide an error above its upper end: there it missed in up to half of tables. Of
            few rows that are nearly sure it may miss more often above 95 %: of 100 rows of .99 and 1,000 of
            .9999, calibrated, its lower end in .34 % at 99.9 %. With importance weights: that of l2_plug_in,
            finite-sample. `--bounds` lists more for these scores, each one-sided at δ, half the error of the
            interval. hoeffding is the plug-in plus √(ln(1/δ)/(2n)), finite-sample. chernoff is finite-sample,
            on counts, up to 100 bins: the upper one where each bin holds one score, the lower one for any
            bins. `sun` is the set of Sun et al. at the confidence of the interval, asymptotic: "0 or a to b",
            0 left out where T is too large for calibrated labels. It fails for rare events, rare and costly
            errors, and few bins: at 95 % it held in 9 % of 2,000 simulations at a base rate of 1e-4, in 72 %
            of fraud scores five times too high, and in 91 % of two values, 1,000 rows each
            (docs/coverage.md); `l2` itself held in 93.7 % at least there.
        Assumes: {_UNSEEN} Rows alone in their bin do not count.
        Reference: Kumar, Liang & Ma (2019), NeurIPS, section 5, extended to bins whose scores differ; Sun,
            Chaudhari, Barnett & Dobriban (2024), arXiv 2408.08998, algorithm 1.
        """
    L2_PLUG_IN = "l2_plug_in", Facts(Home.L2), f"""
        plug-in L2 calibration error
        Root mean square distance of observed rate and mean score, chance included.
        Reading: 0 is perfect, but a calibrated score shows more than 0 too: compare it with "by chance", or
            read l2.
        Estimand: Root of Σ_k (n_k/n) e_k², e_k the bin's mean of P(y=1|f) - f.
        Estimator: Root of (1/n) Σ_k S_k²/n_k, biased upward by the noise of every bin. l2 is the same less
            that noise.
        Interval: {_THESE} The upper end adds √(ln(1/δ)/(2n)) (Hoeffding in the direction of the true gaps).
            The lower end is the Chernoff bound on counts, which for a single score is that of Clopper and
            Pearson. Above 100 bins it is that of ece, which the l2 error is never below. With importance
            weights 1/n is the largest Σw²/(Σw W) of a bin, W the weight of all rows, and the lower end that
            of ece.
        Assumes: {_UNSEEN}
        Reference: Kumar, Liang & Ma (2019), NeurIPS, section 5; Hoeffding (1956), Ann. Math. Statist.
            27, Theorem 3.
        """
    LP = "lp", Facts(Home.BINNED), f"""
        Lp calibration error
        The p-th mean of the distance of observed rate and mean score, for the p of --power.
        Reading: 0 is perfect, and chance alone gives more than 0. The larger p is, the more the worst bins
            decide: p = 1 is ece, and large p come close to linf.
        Estimand: (Σ_k (n_k/n) |e_k|^p)^(1/p), e_k the bin's mean of P(y=1|f) - f, for the p of `--power`, at
            least 1.
        Estimator: The same with e_k = S_k/n_k, biased upward, the more the larger p.
        Interval: {_THESE} The upper end adds √(ln(1/δ)/(2n)) (Hoeffding in the direction in which the norm is
            attained). For p above 2 this is divided by the root of the smallest share of a bin to the power
            (p - 2)/p. The lower end is that of ece, which no l_p error is below. With importance weights 1/n
            is that of l2_plug_in.
        Assumes: {_UNSEEN}
        Reference: Kumar, Liang & Ma (2019), NeurIPS, definition 2.1 and after it.
        """
    LINF = "linf", Facts(Home.BINNED, gate="l2.linf_below"), f"""
        maximum calibration error
        How far the observed rate is from the mean score in the worst bin.
        Reading: 0 is perfect, and chance alone gives more than 0. One bin of few rows can make it large: see
            which bin it is, and read the interval.
        Estimand: max_k |mean of P(y=1|f) - f in bin k| over bins that hold rows: the maximum calibration
            error, MCE. The mce of `calibcli segments` is another: it is for multicalibration.
        Estimator: max_k |S_k|/n_k. The JSON report says which bin it is and how many rows it holds.
        Interval: {_THESE} It is made of Clopper-Pearson bounds of every bin's rate, which hold for labels of
            unlike probability too (Hoeffding 1956). The upper end is the farthest that any bin's rate can lie
            from its mean score. Each of its bounds is at the full level, since the worst bin is a fixed one.
            The lower end pays for all bins (Šidák). Over distinct scores the same bounds speak of the
            population's rates at the scores seen. With importance weights: Hoeffding at each bin's effective
            number of rows.
        Assumes: {_UNSEEN}
        Reference: Naeini, Cooper & Hauskrecht (2015), AAAI; Berger (1982), Technometrics 24; Clopper &
            Pearson (1934), Biometrika 26; Greenberg & Mohri (2014), Stat. Probab. Lett. 86.
        """
    OVERCONFIDENCE = "overconfidence", Facts(Home.BINNED), f"""
        overconfidence
        The part of ece from scores that claim too much for the likelier label.
        Reading: 0 is perfect. Where it is much larger than underconfidence, scores are too extreme: events
            are rarer than high scores say, and more frequent than low scores say.
        Estimand: The part of ece from bins that claim too much. A bin's mean score announces label 1 above
            1/2 and label 0 below it; here less of that label happens than announced.
        Estimator: (1/n) Σ |S_k| over those bins; overconfidence and underconfidence add up to ece. A bin
            whose rate lies on the other side of 1/2 is overconfident. One with a mean score of exactly 1/2
            announces nothing and never is.
        Interval: {_THESE} The upper end adds √(ln(1/δ)/(2n)). The lower end subtracts the same and half of
            what noise adds to ece on average. It subtracts all of that where a bin's mean score is exactly
            1/2. With importance weights 1/n becomes Σw²/(Σw)².
        Assumes: {_UNSEEN}
        Reference: Guo, Pleiss, Sun & Weinberger (2017), ICML, for confidence against accuracy; the split is
            ece's own.
        """
    UNDERCONFIDENCE = "underconfidence", Facts(Home.BINNED), f"""
        underconfidence
        The part of ece from scores that claim too little for the likelier label.
        Reading: 0 is perfect. Where it is much larger than overconfidence, scores are not extreme enough: too
            close to 1/2.
        Estimand: The part of ece from bins that claim too little: of the label that a bin's mean score
            announces, more happens than announced.
        Estimator: (1/n) Σ |S_k| over those bins; overconfidence and underconfidence add up to ece. A bin with
            a mean score of exactly 1/2 announces nothing, so any gap there counts here.
        Interval: As for overconfidence, finite-sample, for these very scores with labels drawn anew.
        Assumes: {_UNSEEN}
        Reference: Guo, Pleiss, Sun & Weinberger (2017), ICML, for confidence against accuracy; the split is
            ece's own.
        """
    SMECE = "smece", Facts(Home.SMOOTH_ECE, gate="smece.smece_below"), """
        smECE
        Calibration error without bins: rates are smoothed over neighbouring scores.
        Reading: 0 is perfect, and chance alone gives more than 0. Like ece it is in units of probability, but
            it does not change with a choice of bins.
        Estimand: The bandwidth σ at which ∫|R_σ(t)| dt = σ. R_σ is the mean residual y - f smoothed over
            scores by a Gaussian kernel reflected at 0 and 1. With --bandwidth S it is ∫|R_S(t)| dt.
        Estimator: The same of the rows at hand, in the cosine basis, where the reflected Gaussian is
            multiplication by exp(-σ²π²k²/2). Its value and bandwidth are the same number. Bandwidths below
            1.7e-4 are not resolved. Where the solution lies below, the norm at 1.7e-4 is shown, which is at
            most the solution, and that is said. "By chance" is the range of bandwidths at which the norm of
            labels drawn from the scores equals the bandwidth; with --bandwidth that of the norm, by 400
            draws, or by a formula where scores stretch over more than 200 bandwidths.
        Interval: Finite-sample; the upper end for the population, the lower end for these very scores. Upper
            end: ∫|R_σ| is the largest E[r (K_σ s)(f)] over |s| ≤ 1. The best s at a fixed σ is a fixed
            function, so bets on r times it need no union. The norm does not increase with σ. So the least σ
            at which the bets refute that smECE is σ bounds that of the population. Lower end: the larger of
            two. One is that of |bias|, which no smECE is below, at three quarters of the error (all of it
            where there is one score). The other is max_j min(σ_j, norm at σ_j - b_j - √(ln(4m/δ)/(2n))) over
            m = 16 bandwidths fixed in advance (0.005 to 0.5), with b_j = ∫√(Σ_i K(f_i, t)²) dt/(2n). With
            --bandwidth the upper end is the least norm that the same bets refute at that bandwidth, and m =
            1. With importance weights both ends are for these very scores: the fixpoint of the norm plus
            Hoeffding's margin at (Σw)²/Σw² rows, and |bias|.
        Assumes: Rows are independent, for the upper end identically distributed too. They were not used to
            train or recalibrate. The interval is very safe. Its lower end is weak below a few thousand rows
            where errors of opposite sign cancel.
        Reference: Błasiok & Nakkiran (2023), "Smooth ECE: Principled Reliability Diagrams via Kernel
            Smoothing"; Waudby-Smith & Ramdas (2024), JRSS-B 86.
        """
    SMECE_LOGIT = "smece_logit", Facts(Home.SMOOTH_ECE), """
        smECE of logits
        smece along the logit of the score, which looks closer at scores near 0 and 1.
        Reading: Read it as smece. Prefer it for rare events, where 0.001 and 0.01 are very different
            predictions.
        Estimand: As smece, with R_σ smoothed over t = ln(f/(1 - f))/4 in place of the score; residuals stay y
            - f. The factor 1/4 makes units of t those of the score at f = 1/2, so that the number compares
            with smece.
        Estimator: The fixpoint for the rows at hand. The scale is the interval from t(0.0001) to t(0.9999),
            4.6 long, at whose ends the kernel is reflected. Scores beyond are counted at the nearer end, and
            how many there were is said. Bandwidths below 7.9e-4 are not resolved. relplot's logit option has
            the same unit, limits scores at 0.001 and does not reflect.
        Interval: As for smece, finite-sample, upper end for the population and lower end for these very
            scores. On an interval with reflection the norm does not increase with the bandwidth, so the same
            proofs hold.
        Assumes: As for smece. "By chance" is by 400 draws of labels from the scores, or by a formula where
            Σf(1 - f) is 1,000 or more; none with importance weights.
        Reference: Błasiok & Nakkiran (2023), section on general metrics.
        """
    SMECE_PROBIT = "smece_probit", Facts(Home.SMOOTH_ECE), """
        smECE of probits
        smece along the normal quantile of the score, between smece and smece_logit.
        Reading: Read it as smece. It looks closer at scores near 0 and 1 than smece does, and less closely
            than smece_logit.
        Estimand: As smece, with R_σ smoothed over t = Φ⁻¹(f)/√(2π); residuals stay y - f. The factor makes
            units of t those of the score at f = 1/2.
        Estimator: The fixpoint for the rows at hand. The scale is the interval from t(0.0001) to t(0.9999),
            3.0 long, at whose ends the kernel is reflected. Scores beyond are counted at the nearer end, and
            how many there were is said. Bandwidths below 5.1e-4 are not resolved.
        Interval: As for smece, finite-sample, upper end for the population and lower end for these very
            scores.
        Assumes: As for smece. "By chance" is by 400 draws of labels from the scores, or by a formula where
            Σf(1 - f) is 1,000 or more; none with importance weights.
        Reference: Błasiok & Nakkiran (2023), section on general metrics.
        """
    DCE = "dce", Facts(Home.DISTANCE, gate="ece.dce_below", any_time=True, compared=True), """
        distance to calibration
        How far scores must move, on average, to become calibrated (an upper estimate).
        Reading: 0 is perfect, but a calibrated score has a value well above 0: compare it with "by chance". A
            value below that range is no better than calibrated.
        Estimand: The upper distance to calibration: the least E|g - f| over calibrated functions g = h(f) of
            the score.
        Estimator: An upper estimate of it, (1/n) Σ_k |Y_k - n_k m_k| + (1/n) Σ_i |f_i - m_k(i)|. That is what
            it takes to move scores to midpoints m_k and midpoints to observed rates. The least is taken over
            three partitions. The first has K equal-width bins, K being the smallest divisor of 720,720 that
            is at least 1.3 n^(1/3). With importance weights n is (Σw)²/Σw² there. The second has the next
            multiple of K from 256 on that divides 720,720. The third, up to 1,024 scores, is each score by
            itself. The scores 0 and 1 are bins of their own. The estimate stays above the distance by about
            1/(4K), less for few scores and rare events, and by the noise of the rates. "By chance" is its
            range over 400 draws of labels from the scores. Wrong labels at confident scores can take a value
            below that range, since rates then come nearer to the midpoints.
        Interval: Finite-sample, for the population, and for every form of the distance (lower, upper, any
            function of the features). Upper end: betting on s_k (y - m_k) + |f - m_k| with the worst sign in
            each bin. Stakes are fixed by the number of rows. Three quarters of the stake are over the K bins.
            An eighth is over the finer ones, which cost more noise and little where labels vary little, and
            an eighth over each score by itself. Each is an upper bound of the distance, so a mixture of the
            bets is one too. Lower end: the larger of |E r| and |E[r (2f - 1)]|/3, by betting at ¾ and ¼ of
            the error. With importance weights: Hoeffding at (Σw)²/Σw² rows, for these very scores, the least
            over the same bins at the same shares of the error.
        Assumes: Rows are independent and identically distributed, and were not used to train, recalibrate or
            choose anything. The lower end does not see errors that cancel both on average and in their tilt.
        Reference: Błasiok, Gopalan, Hu & Nakkiran (2023), STOC, "A unifying theory of distance from
            calibration"; Waudby-Smith & Ramdas (2024), JRSS-B 86.
        """
    DCE_LOWER = "dce_lower", Facts(Home.DISTANCE), """
        lower distance to calibration
        The least that scores must move, on average, to become calibrated if moves may depend on the label.
        Reading: 0 is perfect, and chance alone gives more than 0. It is at most dce.
        Estimand: The lower distance to calibration: the least E|u - f| over scores u with P(y = 1 | u) = u.
            There u may be random and depend on the label. It is at most dce, at least smCE/2, and at most 2
            smCE and the ECE of distinct scores.
        Estimator: That of the rows at hand, by a linear programme. By duality it is the largest mean of
            w_y(f) over two functions w₀, w₁ of slope at most 1. These obey u w₁(u) + (1 - u) w₀(u) ≤ 0. Up to
            1,008 distinct scores are used as they are, with 401 even places added, which adds at most h²/2 =
            3.1e-6. More are gathered in 1,008 cells. By how much that can move the value is said: at most
            0.0005, the mean distance moved.
        Interval: That of dce, which holds for the lower distance as well: finite-sample, for the population.
        Assumes: As for dce.
        Reference: Błasiok, Gopalan, Hu & Nakkiran (2023), STOC, "A unifying theory of distance from
            calibration".
        """
    SMCE = "smce", Facts(Home.DISTANCE), """
        smooth calibration error
        The largest average of label - score, weighted by any smooth function of the score.
        Reading: 0 is perfect, and calibrated scores show more than 0 too, here without a range "by chance".
        Estimand: Smooth calibration error: the largest E[r w(f)] over functions w into [-1, 1] of slope at
            most 1, r = y - f.
        Estimator: That of the rows at hand, (1/n) max Σ_i r_i w(f_i), exactly, by dynamic programming over
            concave piecewise linear functions. More than 32,760 distinct scores are gathered in that many
            cells. This moves the value by at most the mean of |r| times the distance moved; that is said and
            added to the upper end.
        Interval: Finite-sample, for the population. Upper end: the best w of the population is a fixed
            function, so bets on r times it need no union. Lower end: the larger of |E r| and |E[r (2f -
            1)]|/2, by betting at ¾ and ¼ of the error. No interval with importance weights.
        Assumes: Rows are independent and identically distributed, and were not used to train or recalibrate.
        Reference: Kakade & Foster (2008), Journal of Computer and System Sciences 74; Błasiok, Gopalan, Hu &
            Nakkiran (2023), STOC.
        """
    CUTOFF = "cutoff", Facts(Home.CUTOFF), """
        cutoff calibration error
        The largest gap of observed and predicted events between two cutoffs, as a share of all rows.
        Reading: 0 is perfect, and chance alone gives more than 0. Whoever acts on scores above a threshold,
            or between two, expects as many events as the scores add up to. This is the most by which that
            number is wrong, as a share of all rows.
        Estimand: The largest |E[(y - f) [a < f <= b]]| over all a < b: cutoff calibration error. It is at
            most E|P(y=1|f) - f|, and 0 for calibrated scores alone.
        Estimator: The range, 0 included, of the running sum of label - score over ascending distinct scores,
            by n. It is the statistic of kuiper times √(Σ f(1 - f))/n, and biased upward, since noise has a
            range too. Scores that do not fit in memory are read at the ends of the cells to which they are
            rounded. What that can hide is said and added to the upper end.
        Interval: For the population and for these scores, approximate. Lower end: the value less the quantile
            of the range of a Brownian motion. Upper end: the value plus a normal quantile, since the worst
            range of scores in truth is one that no label selected. Both use the variance of label - score, at
            most Gaffke's bound of the mean Brier score at a fifth of the error. In 33 simulated worlds of 30
            to 3,000 rows either end was wrong in at most 2.5 % at 95 %. With importance weights: Hoeffding
            for these very scores and weights, at any number of rows. Above it is that of one range, below
            twice that of half the error, as it holds for the largest of partial sums.
        Assumes: Rows are independent, and were not used to train or recalibrate.
        Reference: Rossellini, Soloff, Barber, Ren & Willett (2025), arXiv 2502.19851; Feller (1951), Ann.
            Math. Statist. 22, for the range; Hoeffding (1963), J. Amer. Statist. Assoc. 58, for partial sums.
        """
    MMCE = "mmce", Facts(Home.SMOOTH, interval=False), """
        maximum mean calibration error
        How similar the errors (label - score) of neighbouring scores are.
        Reading: 0 is perfect, and chance alone gives more than 0: compare the value with "by chance". It is
            not a gap in probability, so its size means little by itself.
        Estimand: Maximum mean calibration error: √E[r r' k(f, f')] for two independent rows, k(f, f') =
            exp(-|f - f'|/0.4). It is 0 for calibrated scores and for no others.
        Estimator: √((1/n²) Σ_ij r_i r_j k(f_i, f_j)), pairs of a row with itself included (the V-statistic,
            as published), by running sums in one pass. The unbiased square over pairs of different rows is in
            JSON (`squared_unbiased`) and may be negative. "By chance" is the range of the root of a gamma
            variable with the exact mean, Σ f(1 - f)/n², and variance of the square.
        Interval: None: none that holds in finite samples is known to us.
        Assumes: Rows are independent. The kernel's width decides what is seen: errors that change sign within
            a few tenths of score nearly cancel.
        Reference: Kumar, Sarawagi & Jain (2018), ICML, "Trainable calibration measures for neural networks
            from kernel mean embeddings".
        """
    ICI = "ici", Facts(Home.SMOOTH), """
        ICI
        How far a smooth curve of the observed rate is from the score, on average over rows.
        Reading: 0 is perfect; 0.02 means that scores are off by 2 percentage points on average. Chance alone
            gives more than 0.
        Estimand: Integrated calibration index: E|h(f) - f|, h a smooth curve of the label's rate against the
            score, the one that the estimator tends to.
        Estimator: The mean over rows of |h(f_i) - f_i|. h is the logistic curve whose log odds are a
            restricted (natural) cubic spline of those of the score, by maximum likelihood. Its knots are at
            the quantiles .05, .275, .5, .725 and .95 of the scores, fewer where these coincide. The authors
            take loess; numbers differ where the two curves do. Where a curve separates the labels, at least
            in part, h is the best one for targets 1e-8 from 0 and 1, or as far as it takes, and that is said.
            A lower end of at most twice that distance is 0. Scores that do not fit in memory are rounded to a
            grid; where more than a fifth of all pairs of rows share a cell, both ends are the width of a cell
            farther out.
        Interval: For the population, approximate. Noise bends the curve, so that estimates, and with them a
            plain bootstrap interval, are mostly too large. Lower end: the ICI of a curve between the diagonal
            and h, in log odds, the nearest to the diagonal of which so large an estimate has the probability
            δ (0 if that is the diagonal itself); or the percentile δ of estimates around h where that is
            lower. Upper end: the percentile 1 - δ of estimates around h, or as far above the estimate as the
            percentile δ lies below it (basic bootstrap), whichever is higher. Labels around h are drawn from
            a curve fitted to Platt's smoothed targets. All by 400 draws of rows and labels, or 1/δ where that
            is more, each with a curve fitted anew over at most 202 of the scores; the random numbers are
            those of the seed and of these rows. In 20 simulated worlds of 300 rows it was wrong in at most
            7 % at 95 %, mostly too high; in harder ones in at most 7.2 %, but for e50 and e90 in 14 of 90
            tables of fraud scores whose median gap is next to 0 (docs/coverage.md). At 99 % an end was wrong
            in .6 % of 1,000 tables of calibrated ties, and in .8 % of 2,000 of overconfident ones. None with
            importance weights, fewer than 30 rows, fewer than 5 of one label, one score alone, or a
            confidence above 99.9 %.
        Assumes: Rows are independent and held out; the rate bends no faster than 5 knots can follow. Scores
            within 2⁻⁵³ of 0 or 1 are limited inside the logit. "By chance" is what curves fitted to labels
            that follow the scores show; it is left out with importance weights, and for e50 and e90 where a
            curve separates the labels. With --smoother kernel or loess h is the curve that plot --kind
            clinical draws with it, straight between 200 places; that has neither an interval nor a value by
            chance here.
        Reference: Austin & Steyerberg (2019), Statistics in Medicine 38; Harrell (2015), Regression Modeling
            Strategies, section 2.4.5; Carpenter (1999), JRSS-B 61.
        """
    E50 = "e50", Facts(Home.SMOOTH), """
        E50
        Median distance of the smooth curve of ici from the score.
        Reading: 0 is perfect. For half of the rows the score is at most this far from the observed rate.
        Estimand: The median over rows of |h(f) - f|, h as for ici.
        Estimator: The least value that at least half of the weight does not exceed.
        Interval: As for ici, approximate.
        Assumes: As for ici. Where half of the rows are nearly right and the others far off, the median jumps
            from one to the other, and its interval does not hold: with scores near 1 twice too high and those
            near 0 right it missed in 27 to 88 of 100 samples. ici has no such jump.
        Reference: Austin & Steyerberg (2019), Statistics in Medicine 38.
        """
    E90 = "e90", Facts(Home.SMOOTH), """
        E90
        90th percentile of the distance of the smooth curve of ici from the score.
        Reading: 0 is perfect. For nine rows in ten the score is at most this far from the observed rate.
        Estimand: The 90th percentile over rows of |h(f) - f|, h as for ici.
        Estimator: The least value that at least 90 % of the weight does not exceed.
        Interval: As for ici, approximate.
        Assumes: As for ici. Where a tenth of the rows are far off it jumps as e50 does where half are.
        Reference: Austin & Steyerberg (2019), Statistics in Medicine 38.
        """
    EMAX = "emax", Facts(Home.SMOOTH), """
        Emax
        Largest distance of the smooth curve of ici from the score.
        Reading: 0 is perfect. As a rule it is reached at the lowest or highest score, where rows are few:
            read its interval.
        Estimand: The largest |h(f) - f| over these rows' scores, h the population's curve as for ici. How
            far out other scores may lie the rows do not tell.
        Estimator: The same of the curve at hand.
        Interval: For these scores, approximate; otherwise as for ici. Other rows of the population may have
            scores farther out and with larger gaps. Where the largest gap is that of a few rows it holds less
            often: of 100 rows of two scores, the bad one in about 5 of them, it missed in 9 % at 95 %.
        Assumes: As for ici.
        Reference: Harrell (2015), Regression Modeling Strategies; Austin & Steyerberg (2019), Statistics in
            Medicine 38.
        """
    BIAS = "bias", Facts(Home.BIAS, least=-1.0), f"""
        bias
        Observed rate minus mean score over all rows: above 0, scores are too low overall.
        Reading: 0 is perfect; 0.02 means that events are 2 percentage points more frequent than predicted.
            Errors of opposite sign cancel, so 0 alone does not show calibration.
        Estimand: The mean over rows of P(y = 1 | f) - f: how much more often label 1 comes than the scores
            announce, on average.
        Estimator: Mean label minus mean score (calibration in the large).
        Interval: {_THESE} It lies within [-mean score, 1 - mean score]. Of three methods the scores choose
            the one that promises the shortest interval. Clopper-Pearson on the number of labels 1, less the
            mean score, is for few rows, or scores that lie together. The normal law with a proven error, at a
            variance bounded by the squared residuals, is for many rows and scores that discriminate well.
            Betting is for few rows with scores near 0 and 1; each of the other two then has a tenth of the
            error, in case the scores are wrong. With importance weights: Hoeffding at the effective number of
            rows (Σw)²/Σw², or, where the scores promise a bound that is a tenth shorter, the better of that
            and one by squared residuals, which is shorter for rare events, each with half of the error.
        Assumes: Rows are independent, and none of them trained the model or the recalibrator. It holds
            approximately for the population too, unless it says "of these scores only": where fewer than ten
            rows have the rarer label, or an end is as far as these scores allow, the mean score of other rows
            may matter more than the noise of labels. A verdict rests on it only where Gaffke's bound says the
            same of the population.
        Reference: Clopper & Pearson (1934), Biometrika 26; Hoeffding (1956), Ann. Math. Statist. 27;
            Waudby-Smith & Ramdas (2024), JRSS-B 86; Fan, Grama & Liu (2015), Electron. J. Probab. 20.
        """
    OBSERVED_RATE = "observed_rate", Facts(Home.BIAS, best=None), """
        observed rate
        Share of rows with label 1: the base rate, or the accuracy where labels say whether an answer was
        right.
        Reading: It is neither good nor bad by itself. Compare it with mean_score: the two agree where scores
            are right overall.
        Estimand: P(y = 1).
        Estimator: The share of rows with label 1.
        Interval: Clopper-Pearson: finite-sample, for the population. None with importance weights.
        Assumes: Rows are independent draws from the population. "By chance" is the mean score, and the range
            over labels drawn from the scores.
        Reference: Clopper & Pearson (1934), Biometrika 26.
        """
    MEAN_SCORE = "mean_score", Facts(Home.BIAS, best=None), """
        mean score
        Mean of the scores: the event rate that they predict, or the mean confidence of answers.
        Reading: It is neither good nor bad by itself. Compare it with observed_rate; bias is the difference
            of the two.
        Estimand: E of the score.
        Estimator: The mean score.
        Interval: Gaffke's bound (docs/methods.md), with a row of score 1 or 0 added: approximate, for the
            population. None with importance weights.
        Assumes: Rows are independent draws from the population. Labels play no part.
        Reference: Gaffke (2005), Mathematical Methods of Statistics 14.
        """
    OE = "oe", Facts(Home.BIAS, most=inf, percent=50.0, best=1.0), """
        O/E ratio
        Observed over expected events, O/E: above 1 scores are too low overall, below 1 too high.
        Reading: 1 is perfect; 1.2 means 20 % more events than the scores predict. Errors of opposite sign
            cancel, so 1 alone does not show calibration.
        Estimand: Over the rows' scores, the mean of P(y = 1 | f) divided by the mean of f.
        Estimator: The number of labels 1 divided by the sum of scores; 1 + bias / mean score. Undefined where
            every score is 0.
        Interval: That of bias, divided by the mean score: finite-sample, for these very scores with labels
            drawn anew.
        Assumes: As for bias. A verdict rests on it only where Gaffke's bound of the mean of label - limit *
            score says the same of the population.
        Reference: Steyerberg (2019), Clinical Prediction Models, chapter 15; Debray et al. (2017), BMJ 356.
        """
    CITL_LOGIT = "citl_logit", Facts(Home.COX, least=-inf, most=inf), f"""
        calibration intercept (CITL)
        Calibration in the large on log odds: 0 is right, above 0 scores are too low, below 0 too high.
        Reading: It is the constant to add to the log odds of every score. 0.1 means that the odds of an event
            are about 10 % higher than predicted.
        Estimand: The number a for which logit⁻¹(a + logit f) has the smallest expected log loss at these
            scores. It says by how much log odds are too low overall. 0 for a calibrated score.
        Estimator: Maximum likelihood with the slope fixed at 1, by Newton's method to a gradient of 1e-10.
            Scores are limited to [2⁻⁵³, 1 - 2⁻⁵³] inside the logit, and the rows so limited are counted. With
            one label only it is infinite.
        Interval: For these very scores, asymptotic; simulated to hold for the population as well. It is a
            profile likelihood: all a with 2 (best log likelihood - log likelihood of a) ≤ t² φ. A slope fixed
            at 1 where it is not 1 makes the likelihood too narrow, and φ ≥ 1 corrects that. {_PHI}
            {_STUDENT} Below 50 of them the ends are instead the shifts at which scores have the mean rates
            that are the ends of bias: the best a is the one that gives scores the mean rate of the labels, so
            this is finite-sample. A verdict needs 10. Where φ is above 5/4 slopes are far off, and the
            likelihood may be flat here and steep there: then ends are no nearer than these shifts. With one
            label only, one end is infinite, and the other is such a shift. None with importance weights.
        Assumes: Rows are independent and held out; the log odds of label 1 are the logit of the score plus a
            constant. Where they are not, a is the best such constant.
        Reference: Cox (1958), Biometrika 45; Royall & Tsou (2003), JRSS-B 65, for φ.
        """
    COX_INTERCEPT = "cox_intercept", Facts(Home.COX, least=-inf, most=inf), f"""
        intercept of Cox's line
        Calibration intercept, fitted with the slope: log odds of label 1 at a score of 1/2; 0 is right.
        Reading: Read it with cox_slope only: (0, 1) is right. It is not the error on average, which is
            citl_logit.
        Estimand: The a of the pair (a, b) for which logit⁻¹(a + b logit f) has the smallest expected log loss
            at these scores. 0 for a calibrated score.
        Estimator: Maximum likelihood, fitted together with cox_slope, as Platt scaling of the logit is.
            Undefined where there is one label or one score only, or where a threshold on the score separates
            the labels.
        Interval: For these very scores, asymptotic. It was simulated to hold for the population as well, but
            for scores that no row here has. It is a profile likelihood, the slope at its best for each a, by
            Venzon and Moolgavkar's equations. {_LINE} {_PHI} {_CARRIED} None with importance weights.
        Assumes: Rows are independent and held out. The truth need not be on a line: a is that of the best
            one.
        Reference: Cox (1958), Biometrika 45; Venzon & Moolgavkar (1988), Applied Statistics 37; Royall & Tsou
            (2003), JRSS-B 65; Long & Ervin (2000), American Statistician 54.
        """
    COX_SLOPE = "cox_slope", Facts(Home.COX, least=-inf, most=inf, percent=50.0, best=1.0), """
        calibration slope
        Calibration slope: 1 is right, below 1 scores are too extreme, above 1 not extreme enough.
        Reading: Below 1 scores are overconfident, as after overfitting; above 1 they are underconfident.
            Below 0 they point the wrong way. Read it with citl_logit, since a slope of 1 does not exclude a
            shift.
        Estimand: The b of the pair (a, b) of cox_intercept. 1 for a calibrated score.
        Estimator: Maximum likelihood, fitted together with cox_intercept. Infinite where a threshold on the
            score separates the labels; undefined where there is one label or one score only.
        Interval: As for cox_intercept, with the intercept at its best for each b: for these very scores,
            asymptotic, rough where fewer than 50 rows carry its noise. Its ends hold the coefficient that
            label 1 in some of the lowest scores would give, up to the first that has it, and label 0 in the
            highest: of m rows so many as may be missed, m(1 - δ^(1/m)), for the worst m. Where the slope is
            infinite, the finite end is where the deviance from the bound of the likelihood reaches t² with
            one degree of freedom. None with importance weights.
        Assumes: Rows are independent and held out. The truth need not be on a line: b is that of the best
            one.
        Reference: Cox (1958), Biometrika 45; Venzon & Moolgavkar (1988), Applied Statistics 37; Royall & Tsou
            (2003), JRSS-B 65; Long & Ervin (2000), American Statistician 54.
        """
    BRIER = "brier", Facts(Home.SCORES, compared=True), f"""
        Brier score
        Mean squared distance of score and label: 0 is perfect foresight. It also rewards discrimination, so
        compare it on the same rows only.
        Reading: Less is better, but what is good depends on the base rate. Always predicting the rate r gives
            r(1 - r). brier_skill puts the two in one number.
        Estimand: E(y - f)².
        Estimator: The mean of (y - f)². If calibrated it would be about the mean of f(1 - f); the range
            around that is printed too.
        Interval: For the population, approximate. One row is added that has the largest loss there can be, 1;
            for the lower end, one that has none. {_ENDS} {_WEIGHTED}
        Assumes: Rows are independent.
        Reference: Brier (1950), Monthly Weather Review 78.
        """
    BRIER_SKILL = "brier_skill", Facts(Home.SKILL, least=-inf, best=1.0), f"""
        Brier skill score
        Brier skill score: the share of the base rate forecast's Brier score that is saved; 1 is perfect.
        Reading: 1 is perfect foresight, 0 what always predicting the base rate does, below 0 worse than that.
        Estimand: 1 - E(y - f)² / (r(1 - r)), r the rate of label 1. It is the share of the constant
            forecast's squared error that the score saves.
        Estimator: The same with means over these rows, and r the rate among these rows. Undefined with one
            label only.
        Interval: For the population, approximate. {_RATIO}
        Assumes: {_RATIO_ASSUMES}
        Reference: Murphy (1988), Monthly Weather Review 116.
        """
    BRIER_RELIABILITY = "brier_reliability", _OPEN_PART, f"""
        reliability of the Brier score
        Miscalibration in the Brier score: mean square gap of a bin.
        Reading: 0 is perfect. Noise in every bin adds to it, so compare it with "by chance".
        Estimand: Σ_k p_k (mean f - mean P(y = 1 | f))² over the bins of the report: the squared l2
            calibration error.
        Estimator: Σ_k (n_k/n)(f̄_k - ȳ_k)², the plug-in l2 squared, biased upward by noise in every bin.
            {_MURPHY_SUM}
        Interval: None: noise in every bin adds to it. brier_reliability_corrected and l2 have one.
        Assumes: {_MURPHY_ASSUMES}
        Reference: {_MURPHY_PAPERS}
        """
    BRIER_RESOLUTION = "brier_resolution", _OPEN_PART._replace(best=inf), f"""
        resolution of the Brier score
        How much the differences between bins lower the Brier score; more is better.
        Reading: 0 means that every bin has the same rate of events; the most there can be is
            brier_uncertainty. Noise in every bin adds to it.
        Estimand: Σ_k p_k (rate of bin k - overall rate)²: how far the rates of bins differ.
        Estimator: Σ_k (n_k/n)(ȳ_k - ȳ)², biased upward by noise in every bin. {_MURPHY_SUM}
        Interval: None: noise in every bin adds to it, and near 0 it follows no simple law.
        Assumes: {_MURPHY_ASSUMES}
        Reference: {_MURPHY_PAPERS}
        """
    BRIER_UNCERTAINTY = "brier_uncertainty", _PART._replace(best=None), f"""
        uncertainty of the Brier score
        Brier score of always predicting the overall rate.
        Reading: It is neither good nor bad: it describes the events, not the scores. It is 1/4 where half of
            the rows are events, and near 0 where events are rare.
        Estimand: r(1 - r), r the rate of label 1: the Brier score of the constant forecast r.
        Estimator: ȳ(1 - ȳ). {_MURPHY_SUM}
        Interval: Clopper-Pearson for r, turned into that of r(1 - r): finite-sample, for the population. None
            with importance weights.
        Assumes: {_DRAWS}
        Reference: {_MURPHY_PAPERS}
        """
    BRIER_WITHIN_VARIANCE = "brier_within_variance", _OPEN_PART._replace(best=None), f"""
        within-bin variance of the Brier score
        Mean square distance of a score from its bin's mean: what bins hide.
        Reading: It is neither good nor bad. The larger it is, the more bins hide; narrower bins make it
            smaller.
        Estimand: The mean square distance of a score from its bin's mean score.
        Estimator: mean (f - f̄_k)²; 0 where every bin holds one score. {_MURPHY_SUM}
        Interval: None: it describes the bins, and closes the sum. It does not depend on the labels.
        Assumes: {_MURPHY_ASSUMES}
        Reference: {_MURPHY_PAPERS}
        """
    BRIER_WITHIN_COVARIANCE = "brier_within_covariance", _OPEN_PART._replace(least=-1.0, best=None), f"""
        within-bin covariance of the Brier score
        How much the score discriminates within bins; more is better.
        Reading: If calibrated it is twice the within variance. Near 0, scores that differ inside a bin do not
            go with different rates, on the whole.
        Estimand: Twice the mean product of a label's and a score's distance from their bin's means.
        Estimator: 2 mean (y - ȳ_k)(f - f̄_k); 0 where every bin holds one score. {_MURPHY_SUM}
        Interval: None: it describes the bins, and closes the sum.
        Assumes: {_MURPHY_ASSUMES}
        Reference: {_MURPHY_PAPERS}
        """
    BRIER_RELIABILITY_CORRECTED = "brier_reliability_corrected", _PART._replace(least=-1.0), f"""
        reliability of the Brier score, corrected
        brier_reliability corrected for the part due to chance; may be below 0.
        Reading: 0 is perfect, and values below 0 are chance: read them as 0.
        Estimand: As brier_reliability.
        Estimator: Reliability less c = (1/n) Σ_k n_k/(n_k - 1) ȳ_k(1 - ȳ_k), over bins with two rows or more;
            a row alone keeps its noise. Where a bin holds one score it is without bias, and the T of l2.
            Elsewhere c counts the spread of the scores inside bins as noise, as the authors' form does.
            {_CORRECTED} Undefined where no bin has two rows.
        Interval: That of l2, squared, stretched to take in the estimate: asymptotic, for these very scores,
            and approximate below 1,000 rows. None with importance weights, or where a row
            is alone in its bin.
        Assumes: {_MURPHY_ASSUMES}
        Reference: Ferro & Fricker (2012), QJRMS 138.
        """
    BRIER_RESOLUTION_CORRECTED = "brier_resolution_corrected", _OPEN_PART._replace(least=-1.0, best=inf), f"""
        resolution of the Brier score, corrected
        brier_resolution corrected for the part due to chance; may be below 0.
        Reading: More is better, and values below 0 are chance: read them as 0.
        Estimand: As brier_resolution.
        Estimator: Resolution less c = (1/n) Σ_k n_k/(n_k - 1) ȳ_k(1 - ȳ_k), plus ȳ(1 - ȳ)/(n - 1).
            {_CORRECTED} Undefined where no bin has two rows.
        Interval: None: near 0 it follows no simple law.
        Assumes: {_MURPHY_ASSUMES}
        Reference: Ferro & Fricker (2012), QJRMS 138.
        """
    BRIER_UNCERTAINTY_CORRECTED = "brier_uncertainty_corrected", _PART._replace(best=None), f"""
        uncertainty of the Brier score, corrected
        brier_uncertainty without its bias.
        Reading: It is neither good nor bad: it describes the events, not the scores.
        Estimand: r(1 - r), r the rate of label 1.
        Estimator: n/(n - 1) ȳ(1 - ȳ), without bias. The corrected three have the same sum as the plain three.
            Undefined for one row.
        Interval: Clopper-Pearson for r, turned into that of r(1 - r) and stretched to take in the estimate:
            finite-sample, for the population. None with importance weights.
        Assumes: {_DRAWS}
        Reference: Ferro & Fricker (2012), QJRMS 138.
        """
    BRIER_MCB = "brier_mcb", _OPEN_PART, f"""
        miscalibration (MCB) of the Brier score
        How much the best increasing recalibration would lower the Brier score: miscalibration (MCB).
        Reading: 0 is perfect, but calibrated scores show more than 0 too: compare the value with "by chance".
        Estimand: What recalibration by the best nondecreasing map would save of the Brier score.
        Estimator: S - S_pav, S the Brier score and S_pav that of the isotonic fit to these very rows; never
            negative, biased upward. {_BRIER_SUM}
        Interval: {_CORP_NONE}
        Assumes: {_CORP_ASSUMES}
        Reference: {_CORP_PAPER}
        """
    BRIER_DSC = "brier_dsc", _OPEN_PART._replace(best=inf), f"""
        discrimination (DSC) of the Brier score
        How far the recalibrated scores lower brier_unc: discrimination (DSC); more is better.
        Reading: 0 means that no increasing map of the score does better than the constant rate; brier_unc is
            the most there can be.
        Estimand: What the score recalibrated by the best nondecreasing map saves of the Brier score of the
            constant rate.
        Estimator: S_0 - S_pav, never negative, biased upward. S_0 = ȳ(1 - ȳ), and S_pav is the Brier score of
            the isotonic fit to these very rows. {_BRIER_SUM}
        Interval: {_CORP_NONE}
        Assumes: {_CORP_ASSUMES}
        Reference: {_CORP_PAPER}
        """
    BRIER_UNC = "brier_unc", _PART._replace(best=None), f"""
        uncertainty (UNC) of the Brier score
        The same as brier_uncertainty: Brier score of always predicting the overall rate.
        Reading: It is neither good nor bad: it describes the events, not the scores.
        Estimand: The Brier score of the constant forecast of the rate of label 1.
        Estimator: S_0 = ȳ(1 - ȳ). {_BRIER_SUM}
        Interval: Clopper-Pearson for the rate, turned into that of S_0: finite-sample, for the population.
            None with importance weights.
        Assumes: {_DRAWS}
        Reference: {_CORP_PAPER}
        """
    LOG_LOSS = "log_loss", Facts(Home.SCORES, most=inf, percent=50.0, compared=True), f"""
        log loss
        Mean of -ln(probability given to what happened): 0 is perfect foresight, and one score of 0 or 1 that
        is wrong makes it infinite. Compare it on the same rows only.
        Reading: Less is better, but what is good depends on the base rate. Always predicting the rate r gives
            -r ln r - (1 - r) ln(1 - r). log_loss_skill puts the two in one number.
        Estimand: E of -ln(probability given to what happened).
        Estimator: The mean of -ln f over rows with label 1 and of -ln(1 - f) over rows with label 0. Nothing
            is clipped: a score of exactly 0 or 1 that was wrong makes it infinite, and the number of such
            rows is said. If calibrated it would be the mean entropy of the scores.
        Interval: For the population, approximate. One row is added that has the largest loss there can be:
            that of the most extreme of these scores if it is wrong. For the lower end one is added that has
            none. {_ENDS} {_WEIGHTED} No upper end where there are scores of exactly 0 or 1. None where it is
            infinite.
        Assumes: Rows are independent.
        Reference: Good (1952), JRSS-B 14.
        """
    LOG_LOSS_SKILL = "log_loss_skill", Facts(Home.SKILL, least=-inf, best=1.0), f"""
        skill of the log loss
        Log loss skill: the share of the base rate forecast's log loss that is saved; 1 is perfect.
        Reading: 1 is perfect foresight, 0 what always predicting the base rate does, below 0 worse than that.
        Estimand: 1 - E(log loss) / H(r): the share of the deviance that the score explains. r is the rate of
            label 1, and H(r) = -r ln r - (1 - r) ln(1 - r).
        Estimator: The same with means over these rows. Undefined with one label only; -inf where a score of
            exactly 0 or 1 was wrong.
        Interval: For the population, approximate. {_RATIO} No lower end where there are scores of exactly 0
            or 1. None where it is infinite.
        Assumes: {_RATIO_ASSUMES}
        Reference: McFadden (1974), in Frontiers in Econometrics.
        """
    LOG_LOSS_MCB = "log_loss_mcb", _PART._replace(interval=False, most=inf), f"""
        miscalibration (MCB) of the log loss
        How much the best increasing recalibration would lower the log loss: miscalibration (MCB).
        Reading: 0 is perfect, but calibrated scores show more than 0 too: compare the value with "by chance".
        Estimand: What recalibration by the best nondecreasing map would save of the log loss.
        Estimator: S - S_pav, S the log loss and S_pav that of the isotonic fit to these very rows; never
            negative, biased upward. Infinite where a score of exactly 0 or 1 was wrong. {_LOG_SUM}
        Interval: {_CORP_NONE}
        Assumes: {_CORP_ASSUMES}
        Reference: {_CORP_PAPER}
        """
    LOG_LOSS_DSC = "log_loss_dsc", _PART._replace(interval=False, most=inf, best=inf), f"""
        discrimination (DSC) of the log loss
        How far the recalibrated scores lower log_loss_unc: discrimination (DSC); more is better.
        Reading: 0 means that no increasing map of the score does better than the constant rate; log_loss_unc
            is the most there can be.
        Estimand: What the score recalibrated by the best nondecreasing map saves of the log loss of the
            constant rate.
        Estimator: S_0 - S_pav, never negative, biased upward. S_0 = H(ȳ) = -ȳ ln ȳ - (1 - ȳ) ln(1 - ȳ), and
            S_pav is the log loss of the isotonic fit to these very rows. {_LOG_SUM}
        Interval: {_CORP_NONE}
        Assumes: {_CORP_ASSUMES}
        Reference: {_CORP_PAPER}
        """
    LOG_LOSS_UNC = "log_loss_unc", _PART._replace(most=inf, best=None), f"""
        uncertainty (UNC) of the log loss
        Log loss of always predicting the overall rate.
        Reading: It is neither good nor bad: it describes the events, not the scores. The most is ln 2 =
            0.693, where half of the rows are events.
        Estimand: The log loss of the constant forecast of the rate of label 1.
        Estimator: S_0 = H(ȳ) = -ȳ ln ȳ - (1 - ȳ) ln(1 - ȳ). {_LOG_SUM}
        Interval: Clopper-Pearson for the rate, turned into that of S_0: finite-sample, for the population.
            None with importance weights.
        Assumes: Rows are independent draws from the population. "By chance" is the range over 100 draws of
            labels from the scores.
        Reference: {_CORP_PAPER}
        """
    SPHERICAL = "spherical", Facts(Home.SCORES), f"""
        spherical loss
        1 less the mean spherical score: 0 is perfect foresight. Compare it on the same rows only.
        Reading: Less is better, and 1 is the worst. Like brier it rewards discrimination as well as
            calibration.
        Estimand: E of 1 - p/√(f² + (1 - f)²), p the probability given to what happened.
        Estimator: The mean of that: the spherical score subtracted from 1, so that less is better. If
            calibrated it would be the mean of 1 - √(f² + (1 - f)²).
        Interval: For the population, approximate. One row is added that has the largest loss there can be, 1;
            for the lower end, one that has none. {_ENDS} {_WEIGHTED}
        Assumes: Rows are independent.
        Reference: Gneiting & Raftery (2007), JASA 102, example 2 with α = 2, subtracted from 1.
        """
    AUROC = "auroc", Facts(Home.DISCRIMINATION, best=1.0), """
        AUROC
        Probability that an event has a higher score than a non-event (the C-statistic): 0.5 is chance, 1 is
        perfect. It says nothing about calibration.
        Reading: More is better; below 0.5 high scores go with non-events. It does not change when scores are
            recalibrated by an increasing map.
        Estimand: P(f_1 > f_0) + P(f_1 = f_0)/2: the area under the ROC curve. Here f_1 is the score of a row
            with label 1, and f_0 that of one with label 0.
        Estimator: The same share among all pairs of rows at hand, ties counting half. Scores that do not fit
            in memory are rounded to a grid; those that share a cell count as tied, and where more than a
            fifth of all pairs do, or what they hide may be more than half a standard error, there is no
            interval. Undefined with one label only.
        Interval: For the population, approximate. The area is the mean share of label 0 below each row of
            label 1, and also the mean share of label 1 above each row of label 0. Both means have Gaffke's
            bound, with room for a misplaced row that was not seen. The distances from the area to the two
            bounds are combined as the root of the sum of their squares, as DeLong's variance is a sum of two.
            That leaves out areas near 1 where one row of either label is misplaced and no other. So where
            (1 - area) √(n₁ n₀), n₁ and n₀ the rows of either label, is below 20, the upper end is Gaffke's
            bound of the mean of what each row adds to the area, if that is farther away; likewise the lower
            end near 0. Over all tables of two values, 10 to 50 rows of the rarer label and 12 to 1,000 of the
            other, an end is wrong no more often than it says, at 90 to 99.8 %. None with importance weights.
            Two scores of the same rows are compared row by row, by what each row adds to either area.
        Assumes: Rows are independent and held out. "By chance" is the area on average over labels drawn from
            the scores, to first order. It is not given where fewer than 20 rows of either label are expected.
        Reference: DeLong, DeLong & Clarke-Pearson (1988), Biometrics 44; Zou & Donner (2008), Statistics in
            Medicine 27, 1693; van Klaveren, Gönen, Steyerberg & Vergouwe (2016), Statistics in Medicine 35.
        """
    AURC = "aurc", Facts(Home.DISCRIMINATION), """
        area under the risk-coverage curve
        Area under the risk-coverage curve: the share of label 0 among the rows with the highest scores, on
        average over how many are kept. Less is better. It says nothing about calibration.
        Reading: A score that does not discriminate shows the overall share of label 0. Even perfect
            discrimination shows more than 0 unless every row has label 1.
        Estimand: The integral over c from 0 to 1 of P(y = 0 | the score is among the highest c). Equal scores
            are kept in any order. That is E of -ln(u) over rows with label 0, u the share of rows above.
        Estimator: (1/n) Σ_k (label 0 among the k highest scores)/k. Rows of equal scores come in every order
            equally often: the mean over all orders, in closed form. With importance weights rows count for
            shares of as many rows as all are worth, (Σw)²/Σw², and sums of 1/k are continued between whole
            numbers.
        Interval: For the population, approximate. Each row adds to the area by its label and changes the
            coverage of all below it. The mean of that influence has Gaffke's bound (docs/methods.md). The row
            that it adds, which has not been seen, is above all others: of label 0 for the upper end, of label
            1 for the lower one. None with importance weights. It is two or three times as wide as a bootstrap
            interval, and has to be: where a share e of the surest rows are all wrong they add e (1 - ln e) to
            the area. For a share of 0.39 % that is 0.025, and one in forty samples of 950 rows shows none of
            them. Bootstrap intervals at 95 % missed in 47 % of 300 samples of 100 rows with a risk of 1 %,
            these in 0.7 %. With the area comes a cutoff: of 20 scores, one at every twentieth of the ranks,
            it is the one that keeps most rows with 90 % of label 1 among them. The share kept has an interval
            by Clopper and Pearson's bounds at a twentieth of the error, valid at any number of rows.
        Assumes: Rows are independent and held out. Label 1 is what may be kept, such as a right answer. "By
            chance" is the area on average over labels drawn from the scores, and its range.
        Reference: Geifman, Uziel & El-Yaniv (2019), ICLR; Zhou, Van Landeghem, Popordanoska & Blaschko
            (2025), ICML, arXiv:2410.15361, for the weights -ln u.
        """
    GINI = "gini", Facts(Home.DISCRIMINATION, least=-1.0, best=1.0), """
        Gini coefficient
        Gini's coefficient, 2 auroc - 1 (accuracy ratio, Somers' D): 0 is chance, 1 is perfect discrimination.
        Reading: More is better; below 0 high scores go with non-events. It says nothing about calibration.
        Estimand: 2 AUROC - 1.
        Estimator: 2 auroc - 1 of the rows at hand.
        Interval: That of auroc, times 2 less 1: approximate, for the population. None with importance
            weights. Two scores are compared as by auroc.
        Assumes: As for auroc.
        Reference: Basel Committee on Banking Supervision (2005), Working Paper 14, for the accuracy ratio.
        """


# fmt: off
class SegmentMeasure(Explained):
    """What a gate says of all segments that the values of some columns make (`verify --on`)."""

    SEGMENT_BIAS = "segment_bias", Facts(gate="segments.segment_rule", any_time=True), """
        bias of the worst segment
        How far the mean score is from the observed rate in the segment where it is farthest.
        Reading: 0 is perfect. The estimate is the largest of many, and so too large where segments are small:
            read its bounds.
        Estimand: max_s |mean score - mean P(label 1)| over the segments s that are tested, for these very
            scores and columns. Tested are all intersections of the values of the columns of --on with at
            least --min-segment-rows rows. Smaller ones are counted, and nothing is said of them.
        Estimator: The largest |mean score - rate of label 1|.
        Interval: Finite-sample. Upper: the largest upper bound of a segment, each at level δ. The bound of
            the segment that is farthest is wrong with probability δ, whatever the others do
            (intersection-union), so more segments cost a pass nothing. Lower: the largest lower bound of a
            segment, each end at δ/(2m) for m segments (Bonferroni). The scores settle by which of two a
            segment is bounded: Clopper and Pearson's, or the normal law with a proven error.
        Assumes: Rows are independent; no row was used to train the model or the recalibrator. Columns and
            least rows were selected without looking at these labels.
        Reference: Berger (1982), Technometrics 24, for the intersection-union test; Clopper & Pearson (1934),
            Biometrika 26; Hoeffding (1956), Ann. Math. Statist. 27.
        """
    MCE = "mce", Facts(gate="segments.mce_rule", most=inf, percent=1.0), """
        multicalibration error
        Multicalibration error: the largest range of cumulative residuals over the score of any segment, by
        the noise of a segment of its size, in units of a probability.
        Reading: 0 is perfect, and chance alone gives more than 0. It sees errors of opposite signs within a
            segment too, where bias sees none. The largest calibration error of bins, which some call MCE, is
            linf: without --on `mce` still stands for that.
        Estimand: max_s R_s √V / (n √V_s) for these very scores and columns. R_s is the range over t of
            Σ (P(label 1) - f) over rows of segment s with f <= t, 0 included, V_s the sum of f (1 - f) in it,
            V that of all n rows. Tested are the segments of at least --min-segment-rows rows with V_s of at
            least 5.
        Estimator: The same of the labels themselves, rows of equal scores being one step.
        Interval: Finite-sample. Upper: no label settles which scores are worst in truth, so the estimate of a
            segment is below its truth by no more than the noise of that one sum, at level δ each
            (intersection-union). Lower: for m segments the larger of two (Bonferroni). The range is no less
            than rows times |bias|, bounded as for segment_bias at ¾ δ/m. The estimate is above it by no more
            than the range of the noise, at ¼ δ/m. That exceeds r with a probability of at most 2 (1 + 1/a²)
            times Bennett's bound at r - a √v, v a bound of its variance, a = 0.45 (Ottaviani, Doob). A rule
            on the p-value, `mce_p>=0.01` or `mce.p>=0.01`, is one on the joint test: of tables whose scores
            are calibrated in every segment at most 1 in 100 fail, however many segments there are. That is
            exact where labels are drawn, and by a law of many rows in large tables.
        Assumes: Rows are independent; no row was used to train the model or the recalibrator. Columns and
            least rows were selected without looking at these labels.
        Reference: Guy et al. (2025), arXiv 2506.11251; Bennett (1962), JASA 57; Westfall & Young (1993),
            Resampling-Based Multiple Testing, for the p-value.
        """
    MCE_SIGMA = "mce_sigma", Facts(gate="segments.mce_rule", most=inf), """
        multicalibration error in sigmas
        The multicalibration error in standard deviations: the largest range of cumulative residuals of a
        segment, by what labels drawn from the scores would scatter.
        Reading: 0 is perfect. A calibrated segment by itself shows 1.6 on average, and the largest of many
            more. The same error has more sigmas with more rows, so a limit is one for these rows only.
        Estimand: max_s R_s / √V_s, with R_s and V_s as for mce.
        Estimator: The same of the labels themselves, as for mce.
        Interval: Finite-sample: the bounds of mce, times n / √V. A rule on the p-value is that of mce.
        Assumes: Rows are independent; no row was used to train the model or the recalibrator. Columns and
            least rows were selected without looking at these labels.
        Reference: As for mce.
        """
