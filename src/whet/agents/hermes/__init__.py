"""Hermes: its records, and what of its home can be taken over."""
