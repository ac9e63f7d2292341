"""Recalibrate exported predictions, measure how far they can be trusted, gate on it, look at it."""

from calibcli.version import __version__

__all__ = ["__version__"]
