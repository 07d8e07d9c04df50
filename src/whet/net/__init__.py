"""Sockets and HTTP: the only way out of this machine."""
