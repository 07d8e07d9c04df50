"""From what failed to what is kept: improve, review and watch."""
