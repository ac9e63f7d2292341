"""Measures of segments of the rows, all of them together: the one entry of each."""

from calibcli.families.explained import Explained, Facts


# fmt: off
class SegmentMeasure(Explained):
    """What a gate says of all segments that the values of some columns make (`verify --on`)."""

    SEGMENT_BIAS = "segment_bias", Facts(gate="segments.segment_rule", any_time=True), """
        How far the mean score is from the observed rate in the segment where it is farthest.
        Estimand: max_s |mean score - mean P(label 1)| over the segments s that are judged, for these very
            scores and columns. Judged are all intersections of the values of the columns of --on with at
            least --min-segment-rows rows; smaller ones are counted, and nothing is said of them.
        Estimator: The largest |mean score - rate of label 1|. It is the largest of many, and so too large
            where segments are small: the bounds are what counts.
        Interval: Finite-sample. Upper: the largest upper bound of a segment, each at level δ: the bound of
            the segment that is farthest is wrong with probability δ, whatever the others do
            (intersection-union), so that more segments cost a pass nothing. Lower: the largest lower bound of
            a segment, each end at δ/(2m) for m segments (Bonferroni). The scores settle by which of two a
            segment is bounded: Clopper and Pearson's, or the normal law with a proven error.
        Assumes: Rows are independent; no row was used to train the model or the recalibrator; columns and
            least rows were chosen without looking at these labels.
        Reference: Berger (1982), Technometrics 24, for the intersection-union test; Clopper & Pearson (1934),
            Biometrika 26; Hoeffding (1956), Ann. Math. Statist. 27.
        """
