"""Changes to what an agent is told, why one is refused, and what is in force."""
