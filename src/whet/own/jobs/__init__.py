"""Orders that recur: what they are, when they are due, how they ended."""
