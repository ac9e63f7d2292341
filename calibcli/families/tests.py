"""Tests of calibration: the one entry of each."""

from calibcli.families.explained import Explained, Facts


# fmt: off
class TestName(Explained):
    """Tests of the hypothesis that the scores are the label probabilities."""

    __test__ = False  # not a test class, whatever pytest thinks of the name

    KS = "ks", Facts(), """
        How far the running sum of label - score, from low to high scores, strays from 0.
        Estimand: Tests the hypothesis that every label is Bernoulli with its score.
        Estimator: max|C| / s, C the cumulative sum of y - f sorted by score, from C₀ = 0, read at the ends of
            blocks of equal scores only, so that the order of rows does not matter; s = √Σf(1 - f). Undefined
            where every score is 0 or 1.
        Interval: The p-value is that of the law of max|Brownian motion| on [0, 1], accurate in both tails,
            where Σf(1 - f) and the number of equal blocks of ties, (Σv)² / Σv² with v the sum of f(1 - f) at
            one score, are both at least 400; else it is by 999 draws of labels from the scores, (1 + #{T* ≥
            T}) / 1000, exact under the hypothesis. A row that was certain and wrong makes it 0.
        Assumes: Rows are independent. On a grid table the path is read at cell ends and what that can miss is
            stated. Undefined with importance weights.
        Reference: Tygert (2023); Arrieta-Ibarra et al. (2022), JMLR 23.
        """
    KUIPER = "kuiper", Facts(), """
        The largest rise or fall of the same running sum: errors over any range of scores.
        Estimand: Tests the hypothesis that every label is Bernoulli with its score.
        Estimator: (max C - min C) / s with the path and the s of ks, C₀ = 0 included: the largest rise or
            fall over any range of scores. It is the same for f, y and 1 - f, 1 - y.
        Interval: The p-value is that of the law of the range of Brownian motion on [0, 1], accurate in both
            tails, where ks takes its law; else it is by 999 draws of labels from the scores, exact under the
            hypothesis. A row that was certain and wrong makes it 0.
        Assumes: Rows are independent. On a grid table the path is read at cell ends and what that can miss is
            stated. Undefined with importance weights.
        Reference: Feller (1951), Ann. Math. Statist. 22, for the law; Tygert (2023).
        """
    SPIEGELHALTER = "spiegelhalter", Facts(), """
        Whether the Brier score is as large as the scores themselves predict: over- or underconfidence.
        Estimand: Tests whether the Brier score is what the scores themselves announce, a consequence of
            calibration.
        Estimator: Z = Σ(y - f)(1 - 2f) / √Σ(1 - 2f)² f(1 - f). Undefined where every score is 0, 1/2 or 1.
        Interval: The p-value is two-sided normal, 2Q(|Z|), where (Σa²v)² / Σa⁴v is at least 400, a = 1 - 2f
            and v = f(1 - f); else it is by 999 draws of labels from the scores, exact under the hypothesis. A
            row that was certain and wrong makes it 0.
        Assumes: Rows are independent. Blind to shifts where scores are symmetric about 1/2, so never to be
            read alone. Undefined with importance weights.
        Reference: Spiegelhalter (1986), Statistics in Medicine 5.
        """
    T = "t", Facts(), """
        Whether observed rates differ from mean scores in the bins by more than chance, in any shape.
        Estimand: Tests whether rates and mean scores agree in the bins of l2.
        Estimator: T = (1/n) Σ_{n_k≥2} (S_k² - Q_k) / (n_k - 1), the debiased squared l2 error. Undefined
            where no bin has two rows, and where every score is 0 or 1.
        Interval: The p-value is by 999 draws of labels from the scores always: p = (1 + #{T* ≥ T}) / 1000. Up
            to 20,000 rows or 1,024 distinct scores, and where Σf(1 - f) is below 400, labels are drawn at the
            scores themselves; else on a few hundred sub-cells nested in the bins, none wider than a quarter
            in log odds. A row that was certain and wrong makes it 0.
        Assumes: Rows are independent and held out. Undefined with importance weights.
        Reference: Lee, Huang, Hassani & Dobriban (2023), T-Cal, JMLR 24, for the statistic; consistency
            resampling: Bröcker & Smith (2007), Weather and Forecasting 22.
        """
    HOSMER_LEMESHOW = "hosmer_lemeshow", Facts(), """
        Whether observed rates and mean scores differ by more than chance, bin by bin.
        Estimand: Tests whether rates and mean scores agree in the bins of the report (those of ece; --binning
            equal-mass --bins 10 gives the deciles of risk).
        Estimator: H = Σ_k S_k² / V_k, S_k the sum of y - f in bin k and V_k that of f(1 - f), over the bins
            with V_k > 0. Undefined where every score is 0 or 1.
        Interval: The p-value is that of chi-squared with as many degrees of freedom as such bins, nothing
            having been fitted to these rows, where the harmonic mean of the V_k is at least 400; else it is
            by 999 draws of labels from the scores, exact under the hypothesis. A row that was certain and
            wrong makes it 0.
        Assumes: Rows are independent, and none of them trained the model: for the rows a logistic model was
            fitted to two degrees fewer would hold, and on others two degrees fewer reject calibrated labels
            11 to 15 % of the time at 5 %. Undefined with importance weights.
        Reference: Hosmer & Lemeshow (1980), Communications in Statistics A9, with V_k in place of n_k times
            mean f (1 - mean f).
        """
    U = "u", Facts(), """
        Whether the log odds of label 1 equal the logit of the score: sees shifts and overconfidence.
        Estimand: Tests whether Cox's intercept is 0 and his slope 1.
        Estimator: U = 2 (log likelihood of the best line in the logit - log likelihood of the scores).
            Undefined where every score is 0 or 1, and where there is one score only.
        Interval: The p-value is exp(-U/2), the tail of chi-squared with 2 degrees of freedom, where 2 / Σvh²
            is at least 400, v = f(1 - f) and h = 1/Σv + (x - x̄)² / Σv(x - x̄)² with x the logit and x̄ its
            mean by v; else it is by 999 draws of labels from the scores, exact under the hypothesis (with
            more than 400 scores U of draws and rows alike is that over cells as for t). A row that was
            certain and wrong makes it 0.
        Assumes: Rows are independent and held out. Blind to errors that no intercept and slope describe.
            Scores within 2⁻⁵³ of 0 or 1 are limited inside the logit and counted. Undefined with importance
            weights.
        Reference: Cox (1958), Biometrika 45; Miller, Hui & Tierney (1991), Statistics in Medicine 10.
        """
    BINOMIAL = "binomial", Facts(), """
        Whether there are more events than the mean score allows, so that a grade has too low a probability.
        Estimand: Tests, one-sided, that the rate of label 1 is at most the mean score; with `--by grade` that
            of each rating grade.
        Estimator: D, the number of rows with label 1. Undefined where every score is 0 or 1.
        Interval: The p-value is P(X ≥ D), X binomial with as many rows as there are and the mean score as
            rate. It is exact where all rows have one score, as in a grade; scores that differ make it larger
            than it need be where D is above the expectation by 1 or more (Hoeffding). A row that was certain
            and wrong makes it 0.
        Assumes: Rows are independent: defaults that come together in a bad year reject good grades. Scores
            that are too high are not seen. Undefined with importance weights.
        Reference: Basel Committee on Banking Supervision (2005), Working Paper 14; Hoeffding (1956), Ann.
            Math. Statist. 27, Theorem 4.
        """
    BINOMIAL_TWO_SIDED = "binomial_two_sided", Facts(), """
        The same question in both directions: also sees a grade whose probability is too high.
        Estimand: Tests that the rate of label 1 is the mean score; with `--by grade` that of each grade.
        Estimator: D, the number of rows with label 1. Undefined where every score is 0 or 1.
        Interval: The p-value is twice the smaller of P(X ≥ D) and P(X ≤ D), 1 at most, X as in `binomial`. It
            is below 5 % where the 95 % Clopper-Pearson interval of the rate leaves the mean score out. With
            one score its level holds at any number of rows; scores that differ make it larger than it need be
            where D is away from the expectation by 1 or more (Hoeffding).
        Assumes: As for binomial, but that it sees scores that are too high as well.
        Reference: Clopper & Pearson (1934), Biometrika 26; Hoeffding (1956), Ann. Math. Statist. 27,
            Theorem 4.
        """
    JEFFREYS = "jeffreys", Facts(), """
        The same question as binomial with Jeffreys' prior: the ECB's test of each rating grade.
        Estimand: Tests, one-sided, that the rate of label 1 is at most the mean score, as the ECB's reports
            on internal models have it for grades and portfolios.
        Estimator: D, the number of rows with label 1. Undefined where every score is 0 or 1.
        Interval: The p-value is the probability that a rate with the law Beta(D + 1/2, n - D + 1/2) is at
            most the mean score. It lies between P(X > D) and P(X ≥ D) of `binomial`, so that it rejects true
            rates more often than the level says where few events are expected: at 5 % up to 6.7 % of grades
            that expect 10 events or more, 11 % from .2 on, 16 % from .002 on and below that always.
        Assumes: As for binomial.
        Reference: European Central Bank (2019), Instructions for reporting the validation results of internal
            models, section 2.5.3.1; Brown, Cai & DasGupta (2001), Statistical Science 16.
        """
