"""Warm starts: real exchanges that worked, mined, chosen and shown."""
