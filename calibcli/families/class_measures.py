"""Measures of several classes together: the one entry of each."""

from calibcli.families import Explained, Facts

inf = float("inf")


_UNSEEN = """Rows are independent; no row was used to train the model, the recalibrator or the bins. The
    partition never depends on labels."""


# fmt: off
class ClassMeasure(Explained):
    """Measures of several classes together, as `measure --metric` takes them beside those of one view."""

    ACCURACY = "accuracy", Facts(best=1.0), """
        accuracy
        How often the most probable class is the right one.
        Reading: 1 is perfect. Compare it with "by chance", the mean of the largest probability: below it the
            model is overconfident.
        Estimand: P(the most probable class is the right one).
        Estimator: The share of rows whose most probable class, the first of several, is the right one.
        Interval: Clopper-Pearson: finite-sample, for the population. None with importance weights. "By
            chance" is the range around the mean of the largest probability.
        Assumes: Rows are independent.
        Reference: Clopper & Pearson (1934), Biometrika 26.
        """
    CLASS_LOG_LOSS = "class_log_loss", Facts(most=inf, percent=50.0), """
        log loss of all classes
        Mean of -ln(probability of the right class): 0 is perfect foresight, and a right class with
        probability 0 makes it infinite. Compare it on the same rows only.
        Reading: Less is better, but what is good depends on the classes: equal probabilities for C classes
            give ln C.
        Estimand: The mean of -ln(probability of the right class).
        Estimator: The mean over rows, summed without rounding. Infinite if a right class had probability 0;
            how many rows did is `certain_and_wrong` in the JSON report. Nothing is clipped.
        Interval: For the population, approximate. It is Gaffke's bound, whose added row gives the least of
            these probabilities to its class. No upper end where there are probabilities of exactly 0; none
            where the value is infinite. "By chance" is the range around the mean entropy -Σ_c p_c ln p_c
            by the normal law, with the variance that the label of each row has; where few rows are open, what
            is outside of it lies mostly above. With importance weights the bound is one of w (loss - mean),
            as for log_loss, if no rows to come weigh far more than these.
        Assumes: Rows are independent; approximate below 1,000 rows.
        Reference: Good (1952), JRSS-B 14.
        """
    CLASS_BRIER = "class_brier", Facts(most=2.0), """
        Brier score of all classes
        Mean squared distance of probabilities and label, summed over classes: 0 is perfect foresight, 2 the
        worst. Compare it on the same rows only.
        Reading: Less is better, but what is good depends on the classes: equal probabilities for C classes
            give 1 - 1/C.
        Estimand: The mean of Σ_c (p_c - 1[class c is right])², from 0 to 2. It is twice the Brier score where
            there are two classes, since it sums over both.
        Estimator: The mean over rows, summed without rounding. The JSON report has Murphy's parts over the
            bins of each class, summed over classes. There the score is reliability - resolution + uncertainty
            + within_variance - within_covariance.
        Interval: For the population, approximate. It is Gaffke's bound, whose added row loses 2. "By chance"
            is the range around the mean of Σ_c p_c (1 - p_c) by the normal law, with the variance that the
            label of each row has; where few rows are open, what is outside of it lies mostly above. With
            importance weights the bound is one of w (loss - mean), as for brier, if no rows to come weigh far
            more than these.
        Assumes: Rows are independent; approximate below 1,000 rows.
        Reference: Brier (1950), Monthly Weather Review 78; Murphy (1973), J. Appl. Meteorol. 12; Stephenson,
            Coelho & Jolliffe (2008), Weather and Forecasting 23, for the within-bin terms.
        """
    CLASSWISE_ECE = "classwise_ece", Facts(), f"""
        classwise ECE
        The ece of one class against the rest, on average over classes.
        Reading: 0 is perfect, and chance alone gives more than 0. As most probabilities of many classes are
            close to 0, it shrinks as 1/C: compare it for the same number of classes only.
        Estimand: (1/C) Σ_c Σ_b (n_cb/n) |mean of P(class c is right) - p_c in bin b|. That is the mean over
            the C classes of the ece of one class against the rest.
        Estimator: (1/C) Σ_c (1/n) Σ_b |S_cb|, S_cb the sum of label - probability of class c over the rows in
            its bin b. Biased upward like ece. "By chance" takes the mean deviation of a binomial for each
            bin.
        Interval: Finite-sample, for these very scores with labels drawn anew. The upper end is the estimate
            plus (2/C) d*. One row has one right class, so it moves the sum of all gaps, with their signs
            fixed, by one of two values 2/C apart. The lower end is the larger of two. One is the estimate
            less the most that noise adds on average, and less (2/C) √(ln(4/δ)/(2n)). The other is (2/C) times
            the least by which classes are predicted too high on average, or too low. Each class is bounded by
            its bias at ¾ δ/C. The means of all classes add up to a number that no label moves, so half of
            their size lies on either side of it. With importance weights: Hoeffding at the effective number
            of rows (Σw)²/Σw².
        Assumes: {_UNSEEN}
        Reference: Nixon, Dusenberry, Zhang, Jerfel & Tran (2019), CVPR workshops, equation 3 (static
            calibration error); Kull et al. (2019), NeurIPS, for the name; Hoeffding (1956), Ann. Math.
            Statist. 27.
        """
    MARGINAL_L2 = "marginal_l2", Facts(), """
        marginal L2 calibration error
        The l2 of one class against the rest, as root mean square over classes, corrected for chance.
        Reading: 0 is perfect. Large gaps weigh more than in classwise_ece, and every class counts equally
            unless --class-weights says otherwise.
        Estimand: √((1/C) Σ_c Σ_b (n_cb/n) e_cb²), e_cb the mean of P(class c is right) - p_c in bin b.
        Estimator: √max(T, 0), T = (1/C) Σ_c T_c, T_c the debiased square of l2 for one class against the
            rest. Classes are averaged first and the root is taken last, so that noise cancels between
            classes. T itself, which may be below 0, is `t` in the JSON report. With --class-weights T = Σ_c
            w_c T_c / Σ_c w_c, and its variance likewise. Rows alone in their bin of a class do not count.
        Interval: Asymptotic, for these very scores with labels drawn anew. It is the score interval of l2
            with the mean variance of the T_c, as if the classes erred together. By Minkowski the standard
            deviation of a mean is at most the mean of the standard deviations. So it is conservative, and
            wide for many classes. None with importance weights. A rule of verify lets rows alone in their bin
            of a class be as wrong as their scores allow, in its upper bound.
        Assumes: Rows are independent; no row was used to train the model, the recalibrator or the bins.
            Approximate below 1,000 rows.
        Reference: Kumar, Liang & Ma (2019), NeurIPS, definition 2.3 and section 5; its package clips every
            class at 0 before it averages.
        """
    TOP_LABEL_ECE = "top_label_ece", Facts(), f"""
        top-label ECE
        The ece of the rows that predict a class, on average over rows.
        Reading: 0 is perfect, and chance alone gives more than 0. It finds errors that the ece of the largest
            probability hides, where one predicted class is overconfident and another underconfident.
        Estimand: Σ_c (n_c/n) ECE_c. ECE_c is that of the rows that predict class c: Σ_b (n_cb/n_c) |mean of
            P(class c is right) - its probability in bin b|.
        Estimator: (1/n) Σ_c Σ_b |S_cb|: an ece whose bins are the pairs of predicted class and bin. It is at
            least the ece of the largest probability over the same bins, and more biased, having more of them.
            "By chance" takes the mean deviation of a binomial for each bin.
        Interval: As for ece over these bins, finite-sample, for these very scores with labels drawn anew.
        Assumes: {_UNSEEN}
        Reference: Gupta & Ramdas (2022), ICLR, "Top-label calibration and multiclass-to-binary reductions".
        """
    TOP_LABEL_L2 = "top_label_l2", Facts(), """
        top-label L2 calibration error
        The l2 of the rows that predict a class, as root mean square over rows.
        Reading: 0 is perfect. Large gaps weigh more than in top_label_ece, and the part due to chance is
            taken off.
        Estimand: √(Σ_c Σ_b (n_cb/n) e_cb²), e_cb the gap in bin b of the rows that predict class c.
        Estimator: √max(T, 0), T = Σ_c (n_c/n) T_c, T_c the debiased square of l2 for the rows that predict
            class c. T is `t` in the JSON report. Rows alone in their bin do not count.
        Interval: That of l2 over the pairs of predicted class and bin: asymptotic, for these very scores with
            labels drawn anew. None with importance weights. It says nothing of rows alone in their bin, and
            is called rough where they may hide more: of 300 rows of 100 unequal classes, far too sure, half
            were alone, and its upper end was below the error of all rows in 98 % of tables. A rule of verify
            lets such rows be as wrong as their scores allow, in its upper bound.
        Assumes: Rows are independent; no row was used to train the model, the recalibrator or the bins.
            Approximate below 1,000 rows.
        Reference: Kumar, Liang & Ma (2019), NeurIPS, section 5; Gupta & Ramdas (2022), ICLR.
        """
    TOP_LABEL_ECE_UNWEIGHTED = "top_label_ece_unweighted", Facts(), f"""
        top-label ECE, unweighted
        The same as top_label_ece, but every class counts equally.
        Reading: 0 is perfect, and chance alone gives more than 0. A class that few rows predict makes it
            noisy and biased upward, so read it beside top_label_ece.
        Estimand: The mean of ECE_c, as in top_label_ece, over the m classes that some row predicts.
        Estimator: (1/m) Σ_c (1/n_c) Σ_b |S_cb|. MAPIE gives this as its top-label ECE.
        Interval: Finite-sample, for these very scores with labels drawn anew. The upper end adds √(½ ln(1/δ)
            Σ_c 1/n_c)/m (Hoeffding). The lower end is the larger of two. One subtracts the same at δ/4, and
            the most that noise adds on average (McDiarmid). The other is |bias| of all rows at ¾ δ times n/(m
            max n_c). With importance weights 1/n_c becomes Σw²/(Σw)² of the class.
        Assumes: {_UNSEEN}
        Reference: Gupta & Ramdas (2022), ICLR, for the error of one class; the mean over classes is that of
            the package MAPIE.
        """
