"""How work that waits on a network is stopped."""


class Interrupted(Exception):
    """The person, or the program, stopped the run while a provider or a tool was at work."""
