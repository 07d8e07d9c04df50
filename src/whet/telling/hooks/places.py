"""The folder of the hooks in the home: compiled rules and reminders, marks of agents and of reminders, and the log."""

import os

FOLDER = "hooks"
RULES = "rules.json"
REMINDERS = "reminders.json"  # only where there are any: hosts look for it before they call
REMINDED = "reminded"
SEEN = "agents"
LOG = "log.txt"


def has_hooks(home: os.PathLike[str]) -> bool:
    """Whether any hook ever ran in this home's folder, or was installed for it."""
    return os.path.isdir(os.path.join(home, FOLDER))
