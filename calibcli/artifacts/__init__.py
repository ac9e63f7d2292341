"""JSON documents on disk."""
