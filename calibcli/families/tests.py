"""Tests of calibration: the one entry of each."""

from calibcli.families import Explained, Facts

# Sentences that several definitions share.
_EVERY_LABEL = "Tests the hypothesis that every label is Bernoulli with its score."
_MORE = """Where none of these is as large, and 1/1000 settles nothing (many groups, a low level), 9,999 are
    drawn."""
_ELSE_DRAWS = f"Else it is by 999 draws of labels from the scores, exact under the hypothesis. {_MORE}"
_REFUTED = "A single wrong label at a score of exactly 0 or 1 makes it 0."
_CELLS = """Scores that do not fit in memory are rounded to a grid. The path is then read at the ends of its
    cells, and what that can miss is stated."""
_NO_WEIGHTS = "Undefined with importance weights."


# fmt: off
class TestName(Explained):
    """Tests of the hypothesis that the scores are the label probabilities."""

    __test__ = False  # not a test class, whatever pytest thinks of the name

    KS = "ks", Facts(), f"""
        Kolmogorov-Smirnov test
        How far the running sum of label - score, from low to high scores, strays from 0.
        Reading: A small p-value says that the scores are not the probabilities. It sees errors of one sign
            that add up from the lowest score on.
        Estimand: {_EVERY_LABEL}
        Estimator: max|C| / s, C the cumulative sum of y - f sorted by score, from C₀ = 0, and s = √Σf(1 - f).
            C is read at the ends of blocks of equal scores only, so that the order of rows does not matter.
            Undefined where every score is 0 or 1.
        Interval: The p-value is that of the law of max|Brownian motion| on [0, 1], accurate in both tails,
            where two numbers are at least 400. These are Σf(1 - f) and the number of equal blocks of ties,
            (Σv)² / Σv². There v is the sum of f(1 - f) at one score. Else it is by 999 draws of labels from
            the scores, (1 + #{{T* ≥ T}}) / 1000, exact under the hypothesis. {_MORE} {_REFUTED}
        Assumes: Rows are independent. {_CELLS} {_NO_WEIGHTS}
        Reference: Tygert (2023); Arrieta-Ibarra et al. (2022), JMLR 23.
        """
    KUIPER = "kuiper", Facts(), f"""
        Kuiper's test
        The largest rise or fall of the same running sum: errors over any range of scores.
        Reading: A small p-value says that the scores are not the probabilities. The statistic is the largest
            error over any range of scores, wherever it lies.
        Estimand: {_EVERY_LABEL}
        Estimator: (max C - min C) / s with the path and the s of ks, C₀ = 0 included. It is the largest rise
            or fall over any range of scores, and the same for f, y and 1 - f, 1 - y.
        Interval: The p-value is that of the law of the range of Brownian motion on [0, 1], accurate in both
            tails, where ks takes its law. {_ELSE_DRAWS} {_REFUTED}
        Assumes: Rows are independent. {_CELLS} {_NO_WEIGHTS}
        Reference: Feller (1951), Ann. Math. Statist. 22, for the law; Tygert (2023).
        """
    SPIEGELHALTER = "spiegelhalter", Facts(), f"""
        Spiegelhalter's test
        Whether the Brier score is as large as the scores themselves predict: over- or underconfidence.
        Reading: A small p-value says that the scores are not the probabilities. A large one says little by
            itself: it does not see shifts where scores are symmetric about 1/2, so never read it alone.
        Estimand: Tests whether the Brier score is what the scores themselves announce, a consequence of
            calibration.
        Estimator: Z = Σ(y - f)(1 - 2f) / √Σ(1 - 2f)² f(1 - f). Undefined where every score is 0, 1/2 or 1.
        Interval: The p-value is two-sided normal, 2Q(|Z|), where (Σa²v)² / Σa⁴v is at least 400, a = 1 - 2f
            and v = f(1 - f). {_ELSE_DRAWS} {_REFUTED}
        Assumes: Rows are independent. {_NO_WEIGHTS}
        Reference: Spiegelhalter (1986), Statistics in Medicine 5.
        """
    T = "t", Facts(), f"""
        T-Cal test
        Whether observed rates differ from mean scores in the bins by more than chance, in any shape.
        Reading: A small p-value says that the scores are not the probabilities. It finds errors of any shape
            that the bins do not hide.
        Estimand: Tests whether rates and mean scores agree in the bins of l2.
        Estimator: T = (1/n) Σ_{{n_k≥2}} (S_k² - Q_k) / (n_k - 1), the debiased squared l2 error. Undefined
            where no bin has two rows, and where every score is 0 or 1.
        Interval: The p-value is by 999 draws of labels from the scores always: p = (1 + #{{T* ≥ T}}) / 1000.
            {_MORE} Labels are drawn at the scores themselves up to 20,000 rows or 1,024
            distinct scores, and where Σf(1 - f) is below 400. Else they are drawn on a few hundred sub-cells
            nested in the bins, none wider than a quarter in log odds. {_REFUTED}
        Assumes: Rows are independent and held out. {_NO_WEIGHTS}
        Reference: Lee, Huang, Hassani & Dobriban (2023), T-Cal, JMLR 24, for the statistic; consistency
            resampling: Bröcker & Smith (2007), Weather and Forecasting 22.
        """
    HOSMER_LEMESHOW = "hosmer_lemeshow", Facts(), f"""
        Hosmer-Lemeshow test
        Whether observed rates and mean scores differ by more than chance, bin by bin.
        Reading: A small p-value says that the scores are not the probabilities. With many rows it rejects
            errors too small to matter: read an error such as ece beside it.
        Estimand: Tests whether rates and mean scores agree in the bins of the report, those of ece. --binning
            equal-mass --bins 10 gives the deciles of risk.
        Estimator: H = Σ_k S_k² / V_k over the bins with V_k > 0. S_k is the sum of y - f in bin k, and V_k
            that of f(1 - f). Undefined where every score is 0 or 1.
        Interval: The p-value is that of chi-squared where the harmonic mean of the V_k is at least 400. It
            has as many degrees of freedom as such bins, nothing having been fitted to these rows.
            {_ELSE_DRAWS} {_REFUTED}
        Assumes: Rows are independent, and none of them trained the model. For the rows that a logistic model
            was fitted to, two degrees fewer would hold. On others two degrees fewer reject calibrated labels
            of 6, 10 and 15 bins in 15, 11 and 10 % of samples at 5 %. {_NO_WEIGHTS}
        Reference: Hosmer & Lemeshow (1980), Communications in Statistics A9, with V_k in place of n_k times
            mean f (1 - mean f).
        """
    U = "u", Facts(), f"""
        U test
        Whether the log odds of label 1 equal the logit of the score: sees shifts and overconfidence.
        Reading: A small p-value says that cox_intercept and cox_slope are not (0, 1): read them to see in
            which way. It does not see errors that no intercept and slope describe.
        Estimand: Tests whether Cox's intercept is 0 and his slope 1.
        Estimator: U = 2 (log likelihood of the best line in the logit - log likelihood of the scores).
            Undefined where every score is 0 or 1, and where there is one score only.
        Interval: The p-value is exp(-U/2), the tail of chi-squared with 2 degrees of freedom, where 2 / Σvh²
            is at least 400. There v = f(1 - f) and h = 1/Σv + (x - x̄)² / Σv(x - x̄)². The logit is x, and x̄
            its mean by v. {_ELSE_DRAWS} With more than 400 scores U of draws and rows alike is that over
            cells as for t. {_REFUTED}
        Assumes: Rows are independent and held out. Scores within 2⁻⁵³ of 0 or 1 are limited inside the logit
            and counted. {_NO_WEIGHTS}
        Reference: Cox (1958), Biometrika 45; Miller, Hui & Tierney (1991), Statistics in Medicine 10.
        """
    BINOMIAL = "binomial", Facts(), f"""
        binomial test
        Whether there are more events than the mean score allows, so that a grade has too low a probability.
        Reading: A small p-value says that the grade's probability is too low. Probabilities that are too high
            are not seen.
        Estimand: Tests, one-sided, that the rate of label 1 is at most the mean score; with `--by grade` that
            of each rating grade.
        Estimator: D, the number of rows with label 1. Undefined where every score is 0 or 1.
        Interval: The p-value is P(X ≥ D), X binomial with as many rows as there are and the mean score as
            rate. It is exact where all rows have one score, as in a grade. Scores that differ make it larger
            than it need be where D is above the expectation by 1 or more (Hoeffding).
        Assumes: Rows are independent: defaults that come together in a bad year reject good grades.
            {_NO_WEIGHTS}
        Reference: Basel Committee on Banking Supervision (2005), Working Paper 14; Hoeffding (1956), Ann.
            Math. Statist. 27, Theorem 4.
        """
    BINOMIAL_TWO_SIDED = "binomial_two_sided", Facts(), """
        two-sided binomial test
        The same question in both directions: also sees a grade whose probability is too high.
        Reading: A small p-value says that the grade's probability is too low or too high. The rate and the
            mean score show which.
        Estimand: Tests that the rate of label 1 is the mean score; with `--by grade` that of each grade.
        Estimator: D, the number of rows with label 1. Undefined where every score is 0 or 1.
        Interval: The p-value is twice the smaller of P(X ≥ D) and P(X ≤ D), 1 at most, X as in binomial. It
            is below 5 % where the 95 % Clopper-Pearson interval of the rate leaves the mean score out. With
            one score its level holds at any number of rows. Scores that differ make it larger than it need be
            where D is away from the expectation by 1 or more (Hoeffding).
        Assumes: As for binomial, but that it sees scores that are too high as well.
        Reference: Clopper & Pearson (1934), Biometrika 26; Hoeffding (1956), Ann. Math. Statist. 27, Theorem
            4.
        """
    JEFFREYS = "jeffreys", Facts(), """
        Jeffreys test
        The same question as binomial with Jeffreys' prior: the ECB's test of each rating grade.
        Reading: A small p-value says that the grade's probability is too low. It rejects right probabilities
            more often than the level says where few events are expected.
        Estimand: Tests, one-sided, that the rate of label 1 is at most the mean score. The ECB's reports on
            internal models have it so for grades and portfolios.
        Estimator: D, the number of rows with label 1. Undefined where every score is 0 or 1.
        Interval: The p-value is the probability that a rate with the law Beta(D + 1/2, n - D + 1/2) is at
            most the mean score. It lies between P(X > D) and P(X ≥ D) of binomial. Of 100 rows or more with a
            right probability of at most 1/2 it rejects, at 5 %, up to 6.7 % where 10 events or more are
            expected. It rejects up to 11.4 % from .2 expected events on, 16.2 % from .002 on, and below that
            always. Of fewer rows, or above 1/2, it is up to 23 % (one row, .002 expected events or more).
            Nor does Holm mend that: of 20
            right grades of 100 rows or more any is rejected in up to 7.3 % where 10 events are expected in
            each, 9.6 % where 2 are, and 36.3 % where .02 are. The binomial test keeps 5 %.
        Assumes: As for binomial.
        Reference: European Central Bank (2019), Instructions for reporting the validation results of internal
            models, section 2.5.3.1; Brown, Cai & DasGupta (2001), Statistical Science 16.
        """
    JEFFREYS_TWO_SIDED = "jeffreys_two_sided", Facts(), """
        two-sided Jeffreys test
        The same question as jeffreys in both directions: also sees a grade whose probability is too high.
        Reading: A small p-value says that the grade's probability is too low or too high. The rate and the
            mean score show which. It rejects right probabilities more often than the level says where few
            events are expected.
        Estimand: Tests that the rate of label 1 is the mean score; with `--by grade` that of each grade.
        Estimator: D, the number of rows with label 1. Undefined where every score is 0 or 1.
        Interval: The p-value is twice the smaller of the probabilities that a rate with the law
            Beta(D + 1/2, n - D + 1/2) is at most the mean score and at least that, and 1 at most. No events
            never say that the score is too low, and n events never that it is too high. It is below 5 % where
            the modified 95 % Jeffreys interval of the rate leaves the mean score out. At 5 % it rejects a
            right probability in up to 14.7 % of samples (one row), 12.4 % of those of 100 rows or more, and
            7.4 % where 10 events or more of either label are expected besides.
        Assumes: As for binomial, but that it sees scores that are too high as well.
        Reference: Brown, Cai & DasGupta (2001), Statistical Science 16, section 4.1.
        """
