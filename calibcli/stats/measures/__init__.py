"""Table to estimate: what is measured, with its interval, its method and its assumptions."""
