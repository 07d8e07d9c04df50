"""The care of a home and its store: backup, restore and check-up."""
