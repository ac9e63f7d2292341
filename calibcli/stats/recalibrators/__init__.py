"""Maps fitted to a table that repair its probabilities, one file a method."""
