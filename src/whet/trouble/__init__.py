"""Where the agent's time goes: stretches of a session that bought nothing, people's interventions, and their sums."""
