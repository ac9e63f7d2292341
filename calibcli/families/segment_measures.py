"""Measures of segments of the rows, all of them together: the one entry of each."""

from calibcli.families.explained import Explained, Facts


# fmt: off
class SegmentMeasure(Explained):
    """What a gate says of all segments that the values of some columns make (`verify --on`)."""

    SEGMENT_BIAS = "segment_bias", Facts(gate="segments.segment_rule", any_time=True), """
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
