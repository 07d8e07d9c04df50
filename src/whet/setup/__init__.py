"""Whet on this machine: what is installed, what runs, and how it gets there and away again."""
