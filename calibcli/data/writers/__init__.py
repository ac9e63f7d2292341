"""Rows to files, other columns kept."""
