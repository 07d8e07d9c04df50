"""The folder of the hooks in the home: compiled rules and reminders, marks of agents and of reminders, and the log."""

FOLDER = "hooks"
RULES = "rules.json"
REMINDERS = "reminders.json"  # only where there are any: hosts look for it before they call
REMINDED = "reminded"
SEEN = "agents"
LOG = "log.txt"
