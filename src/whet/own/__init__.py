"""Whet's own agent, as values: its settings and runs, what it is told, warm starts, jobs."""
