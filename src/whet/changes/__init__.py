"""What was learned, put in force: the one place that changes what an agent is told."""
