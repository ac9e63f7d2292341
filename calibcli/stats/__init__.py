"""Numbers from a table; numpy only: sees no file, no option and no word of a report."""
