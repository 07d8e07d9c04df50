"""Did a call work, and what decided it."""
