"""Curve to picture."""
