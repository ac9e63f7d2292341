"""One story a command, usable from a notebook."""
