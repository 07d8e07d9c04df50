"""Durable work: queues, schedules and workers."""
