"""What was learned, written to the places where other agents read it."""
