"""Cases, arms and attempts: whether a change helps."""
