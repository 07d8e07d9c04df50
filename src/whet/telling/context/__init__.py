"""What surrounds a session: files of the repository, the machine, and all that the prompt is made from."""
