"""Every command with its one-line help, so that `whet --help` needs to load none of them."""

# Plain tuples of name, module and help: even a named tuple would cost a third of the start.
CATALOGUE = (
    ("chat", "chat", "Talk to the agent."),
    ("run", "run", "Give the agent one task and print its answer."),
    ("config", "config", "Show and change the settings: model, provider, limits."),
    ("models", "models", "List, fetch and remove models that run on this machine."),
    ("import", "import_", "Bring in the sessions that agents left on this machine."),
    ("sessions", "sessions", "List sessions."),
    ("show", "show", "Read one session: what was said, called and answered."),
    ("search", "search", "Find messages by their words."),
    ("stats", "stats", "Count sessions, messages, tools, tokens and errors."),
    ("signals", "signals", "Say what went wrong in which session, and where."),
    ("outcomes", "outcomes", "List how every call of a session ended, and why."),
    ("lessons", "lessons", "List what goes wrong again and again."),
    ("report", "report", "A page: what fails most, where, at what cost, what to do."),
    ("prompt", "prompt", "Print what an agent is told, and what each part costs."),
    ("memory", "memory", "List and change the notes that agents are told."),
    ("skills", "skills", "List, make, hand over and put away skills."),
    ("templates", "templates", "Examples of work that went well, for a new session to begin with."),
    ("target", "target", "Choose where other agents read what was learned."),
    ("sync", "sync", "Write what was learned to where other agents read it."),
    ("rules", "rules", "List, add and remove the rules that agents are given."),
    ("ledger", "ledger", "List every change of what agents are told, and take changes back."),
    ("pending", "pending", "Approve or refuse the changes that wait for you."),
    ("review", "review", "Look back on a session for notes and skills worth keeping."),
    ("curate", "curate", "Propose to merge skills that overlap and to retire stale notes."),
    ("jobs", "jobs", "Orders that recur: add, run, pause them; what came of each."),
    ("work", "work", "List the work of the background; cancel and retry it."),
    ("worker", "worker", "Carry out the work that waits."),
    ("cases", "cases", "List, write and run tasks with their own check."),
    ("try", "try_", "Try a change on cases before it is kept."),
    ("improve", "improve", "Learn from what failed, try it, and keep what is proved."),
    ("canary", "canary", "Tell a rule to a share of the sessions, and see how they go."),
    ("watch", "watch", "Compare sessions with and without each canary; promote or revert."),
    ("judge", "judge", "Say whether one arm of an experiment is really better."),
    ("export", "export", "Write sessions as OpenAI messages or ATIF."),
    ("forget", "forget", "Remove a session, or all of a source."),
)

USAGE = "Usage: whet [OPTIONS] COMMAND [ARGS]..."
ABOUT = "Whet makes an AI agent better from its own sessions, and proves it before it keeps anything."
START = "Start with `whet import`, then `whet sessions`. `whet COMMAND --help` explains a command."


def overview() -> str:
    """The text of `whet --help`."""
    width = max(len(name) for name, _, _ in CATALOGUE)
    lines = [f"  {name:<{width}}  {summary}" for name, _, summary in CATALOGUE]
    options = ["  --version  Show the version and exit.", "  --help     Show this message and exit."]
    return "\n".join([USAGE, "", f"  {ABOUT}", f"  {START}", "", "Options:", *options, "", "Commands:", *lines])
