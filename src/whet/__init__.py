"""Whet makes an AI agent better from its own sessions, and proves it before it keeps anything."""

__version__ = "0.1.0"
