"""Maps of several classes."""
