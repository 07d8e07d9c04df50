"""Whet's own agent: a run becomes a transcript."""
