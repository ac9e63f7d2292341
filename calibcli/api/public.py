"""From a public name to what it stands for: nothing is imported before it is asked for."""


def public(name: str) -> object:  # noqa: PLR0911 - one return for each name
    """
    Return what a public name of the package stands for.

    Args:
        name: A member of `calibcli.__all__`.

    Raises:
        AttributeError: If it is none that is resolved late.
    """
    match name:
        case "measure":
            from calibcli.api.commands.measure import measure

            return measure
        case "fit":
            from calibcli.api.commands.fit import fit

            return fit
        case "apply":
            from calibcli.api.commands.apply import apply

            return apply
        case "verify":
            from calibcli.api.commands.verify import verify

            return verify
        case "plot":
            from calibcli.api.commands.plot import plot

            return plot
        case "compare":
            from calibcli.api.commands.compare import compare

            return compare
        case "load":
            from calibcli.api.commands.load import load

            return load
        case _:
            return _result(name)


def _result(name: str) -> object:
    match name:
        case "Measured":
            from calibcli.api.measured import Measured

            return Measured
        case "Recalibrator":
            from calibcli.api.recalibrator import Recalibrator

            return Recalibrator
        case "Verified":
            from calibcli.api.verified import Verified

            return Verified
        case "Compared":
            from calibcli.api.compared import Compared

            return Compared
        case "SavedReport":
            from calibcli.api.saved import SavedReport

            return SavedReport
        case _:
            msg = f"module 'calibcli' has no attribute {name!r}"
            raise AttributeError(msg)
