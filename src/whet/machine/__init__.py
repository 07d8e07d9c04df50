"""Whet on this machine: what is installed and runs, how it gets there and away again, backup and check-up."""
