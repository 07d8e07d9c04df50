"""What `chat` and `run` are carried out with."""

from whet.agent.talking import Talk, Wish

__all__ = ["Talk", "Wish"]
