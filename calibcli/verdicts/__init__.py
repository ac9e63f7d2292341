"""Table and tolerance to a verdict with its evidence."""
