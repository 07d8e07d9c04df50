"""Aider: its record lies where the person works; it has no hooks."""
