"""Table to estimate, one file per measure."""
