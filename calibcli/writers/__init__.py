"""Record batches to files, other columns kept."""
