"""Table to fitted map on [0, 1]."""
