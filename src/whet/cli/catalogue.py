"""Every command with its one-line help, by task, so that `whet --help` needs to load none of them."""

from whet.doors import COMMANDS, Addition, additions

# Plain tuples of name, module and help: even a named tuple would cost a third of the start.
GROUPS = (
    (
        "Start here",
        (
            ("setup", "setup", "Set up Whet on this machine in one step, or undo it."),
            ("status", "status", "Show what runs, what was learned, what waits and what it costs."),
            ("import", "import_", "Import the sessions that agents recorded on this machine."),
            ("migrate", "migrate", "Take over the memory, skills, jobs and settings of Hermes."),
            ("page", "programs", "Open a local page with all of it; approve and undo there."),
            ("report", "report", "Show where the time went that bought nothing, and what to do."),
        ),
    ),
    (
        "See what happened",
        (
            ("sessions", "sessions", "List sessions."),
            ("show", "show", "Show one session: messages, tool calls and results."),
            ("search", "show", "Search messages by word or phrase."),
        ),
    ),
    (
        "Learn and prove",
        (
            ("learn", "learn", "Have a model read new sessions for lessons; code checks them."),
            ("lessons", "lessons", "List what your sessions teach; approve, edit or refuse it."),
            ("try", "try_", "Test a change on cases, with and without it; keep what helps."),
            ("cases", "cases", "List, write and run test cases for the agent."),
            ("live", "live", "Tell a rule to a share of sessions, and see whether it helps."),
            ("judge", "judge", "Decide whether one arm of an experiment is better."),
        ),
    ),
    ("Decide", (("ledger", "ledger", "List every change to what agents are told; undo it."),)),
    (
        "What agents are told",
        (
            ("rules", "rules", "List, add and remove the rules that agents get."),
            ("memory", "skills", "List and edit the notes that agents get."),
            ("skills", "skills", "List, create, archive and restore skills."),
            ("templates", "templates", "Manage examples of good work that new sessions start from."),
            ("audit", "audit", "Check CLAUDE.md and its like: what is wrong or doubled."),
            ("sync", "sync", "Write rules and skills to the files of your agents."),
        ),
    ),
    (
        "Whet's own agent",
        (
            ("chat", "run", "Talk to the agent."),
            ("run", "run", "Give the agent one task and print its answer."),
            ("models", "config", "List, download and remove local models."),
            ("config", "config", "Show and change the settings: model, provider, limits."),
        ),
    ),
    (
        "In the background",
        (
            ("jobs", "jobs", "Schedule recurring tasks, and see how each run went."),
            ("worker", "worker", "Run queued background work; list, cancel and retry it."),
        ),
    ),
    (
        "For other programs",
        (
            ("mcp", "programs", "Serve rules, lessons and sessions to other agents over MCP."),
            ("export", "programs", "Export sessions as OpenAI messages, ATIF or trajectories."),
        ),
    ),
    (
        "Keep and remove",
        (
            ("doctor", "upkeep", "Check the home, its database and this machine; name each fix."),
            ("backup", "upkeep", "Write the home and its database to one file, while in use."),
            ("restore", "upkeep", "Restore a backup: all of it, or nothing."),
            ("forget", "sessions", "Delete a session, or all sessions of an agent."),
        ),
    ),
)
CATALOGUE = tuple(entry for _, entries in GROUPS for entry in entries)

USAGE = "Usage: whet [OPTIONS] COMMAND [ARGS]..."
ABOUT = "Whet improves AI agents from their own sessions, and shows what helps."
START = "Start with `whet import`, then `whet report`; `whet COMMAND --help` explains."


def added() -> list[Addition]:
    """The commands of other packages; none of them takes the name of one of Whet's."""
    taken = {name for name, _, _ in CATALOGUE}
    return [each for each in additions(COMMANDS) if each.name not in taken]


def overview() -> str:
    """The text of `whet --help`."""
    width = max(len(name) for name, _, _ in CATALOGUE)
    options = ["  --version  Show the version and exit.", "  --help     Show this message and exit."]
    lines = [USAGE, "", f"  {ABOUT}", f"  {START}", "", "Options:", *options]
    for title, entries in GROUPS:
        lines += ["", f"{title}:", *(f"  {name:<{width}}  {summary}" for name, _, summary in entries)]
    others = added()
    lines += ["", "Of other packages:"] if others else []
    lines += [f"  {each.name:<{width}}  From {each.package}." for each in others]
    return "\n".join(lines)
