"""Tools: what the agent can do, and the one place where a call is allowed or denied."""
