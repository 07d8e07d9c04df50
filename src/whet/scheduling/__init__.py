"""The clock, the runs of jobs, and where their reports go."""
