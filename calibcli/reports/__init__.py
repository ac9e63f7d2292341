"""What a task hands back: plain values."""
