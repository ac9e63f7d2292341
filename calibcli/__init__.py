"""Recalibrate exported predictions, measure how far they can be trusted, gate on it, look at it."""
