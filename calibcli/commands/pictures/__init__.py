"""What each kind of diagram shows, computed from files or taken from documents."""
