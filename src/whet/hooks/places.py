"""The folder of the hooks in the home: the compiled rules, a mark for each agent whose hooks ran, and the log."""

FOLDER = "hooks"
RULES = "rules.json"
SEEN = "agents"
LOG = "log.txt"
