"""Inside other agents: what their sessions are told when they start, and what is kept when they end.

A host waits for its hooks, so `entry` and what it needs load the standard library alone and open no database.
"""
