"""Report to text."""
