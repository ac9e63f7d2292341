"""Families: each name with its words and what is known of it before anything is computed."""
