"""Whet as an MCP server: what other agents may ask of it, and propose to it."""
