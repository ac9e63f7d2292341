"""Intervals that know nothing of calibration."""
