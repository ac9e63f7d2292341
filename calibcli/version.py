"""The version, on the bottom storey so that every room may name it."""

__version__ = "0.1.0"
