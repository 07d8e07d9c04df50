"""Conversations on a terminal: what streams in is shown, what is typed is sent."""
