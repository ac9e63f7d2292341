"""Files to fragments to record batches to tables."""
