"""Rows in and out: files, frames and arrays to tables, and tables to files."""
