"""The same work on every item, results in item order."""
