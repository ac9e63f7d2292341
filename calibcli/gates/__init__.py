"""Gates that are asked again as rows come in: what they have counted, on disk."""
