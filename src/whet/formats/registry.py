"""The formats of record that belong to no agent on a machine: benchmarks', and those by which sessions are exchanged.

Each is a value of the same shape as one that another package adds through the door `whet.formats`. They are named here
and not by entry points of Whet's own, for a checkout works with whatever metadata was installed last.
"""

from whet.formats import atif, inspect_logs, mini_swe_agent, openai_messages, openhands, sharegpt, swe_agent
from whet.formats.source import Format

# Benchmarks' are particular; what a conversation may look like anywhere is asked last.
FORMATS: tuple[Format, ...] = (
    inspect_logs.FORMAT,
    swe_agent.FORMAT,
    mini_swe_agent.FORMAT,
    openhands.FORMAT,
    atif.FORMAT,
    sharegpt.TRAJECTORY_FORMAT,
    sharegpt.FORMAT,
    openai_messages.FORMAT,
)
