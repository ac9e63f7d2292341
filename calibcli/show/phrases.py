"""What reports say of references, p-values and targets."""

from calibcli.names import Target

NULL_REFERENCE = (
    '"if calibrated": nine in ten calibrated scores would lie in this range on these rows; '
    "below it is no better than above."
)
SMALL_P = "A small p-value speaks against calibration; a large one is no proof of it."


def whose(target: Target) -> str:
    """Return for whom a bound speaks."""
    match target:
        case Target.POPULATION:
            return "in the population these rows come from"
        case Target.MIXED:
            return "in the population these rows come from (upper bound) and for these very scores (lower)"
        case Target.FIXED_DESIGN:
            return "for these very scores"
