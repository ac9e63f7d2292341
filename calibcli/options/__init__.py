"""What a user may ask for: every option once, for the command line and for Python."""
