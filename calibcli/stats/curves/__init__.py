"""Table to points that a figure can draw."""
