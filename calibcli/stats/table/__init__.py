"""Rows grouped by distinct score: the one thing everything else reads."""
