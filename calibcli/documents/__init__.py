"""What is kept as JSON: artifacts, summaries and states, one text with a digest, and the schemas of all."""
