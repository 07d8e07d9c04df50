"""What must not be stored, and how it is found."""
