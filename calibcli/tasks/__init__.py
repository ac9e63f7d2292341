"""The stories of the tool, usable from a notebook."""
