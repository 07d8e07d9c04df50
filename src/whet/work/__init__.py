"""Durable work: queues, schedules and workers; the clock, the runs of jobs, and where their reports go."""
