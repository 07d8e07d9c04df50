"""What went wrong in a session, and what recurs over many."""
