"""The verdicts of a gate for machines that watch it."""
