"""What `whet` alone shows: where the time went, how things stand, and what to do next."""

from whet.cli.catalogue import ABOUT
from whet.cli.output import plain
from whet.cli.shown.lost_time import headlines
from whet.cli.shown.status import status_rows
from whet.setup.status import MachineStatus
from whet.trouble.overview import UPPER_BOUND

SHOWN = ("Sessions", "Learned", "Pending")
STEPS = 3
NAMED_AGENTS = 3


def front_lines(found: MachineStatus) -> list[str]:
    """The front door: the state, then the commands that are worth most now."""
    rows = dict(status_rows(found))
    steps = next_steps(found)
    width = max(len(command) for command, _ in steps)
    return [
        ABOUT,
        "",
        *_time_lines(found),
        *(f"[bold]{name:<10}[/]{plain(rows[name])}" for name in SHOWN),
        "",
        "Next:",
        *(f"  [bold]{plain(command):<{width}}[/]  {plain(why)}" for command, why in steps),
        "",
        "All commands: `whet --help`. More on the state: `whet status`.",
    ]


def _time_lines(found: MachineStatus) -> list[str]:
    seen = found.stored.overview
    return [*(f"[bold]{line}[/]" for line in headlines(seen)), f"[dim]{UPPER_BOUND}[/]", ""] if seen else []


def next_steps(found: MachineStatus) -> tuple[tuple[str, str], ...]:
    """Commands with what each is for, the most useful first."""
    stored = found.stored
    agents = [each.title for each in found.agents if each.has_sessions]
    if not stored.sessions and not stored.temporary:
        if not agents:
            return (
                ("whet import PATH", "Read sessions from a file or folder; none were found in the usual places."),
                ("whet chat", "Or talk to Whet's own agent."),
            )
        more = f" and {len(agents) - NAMED_AGENTS} more" if len(agents) > NAMED_AGENTS else ""
        return (
            ("whet import", f"Read the sessions of {', '.join(agents[:NAMED_AGENTS])}{more}. Nothing leaves here."),
            ("whet setup", "Or set up everything at once: import, hooks, background work."),
        )
    steps = (
        (stored.overview is None, "whet report", "Read where the time of your sessions went."),
        (stored.pending > 0, "whet lessons --waiting", "Approve or refuse what is proposed."),
        (not found.hooked, "whet setup", "Read new sessions and tell them the rules by itself."),
        (not stored.rules, "whet lessons", "See what your sessions teach."),
        (not stored.rules, "whet try --dry-run", "See which rules would be tried, at what cost."),
        (stored.rules and not found.targets, "whet sync add AGENT", "Write the rules where your agent reads them."),
        (True, "whet page", "Look at the same, at lessons and at proofs in the browser."),
        (True, "whet report", "Read where the time went, and what costs most."),
    )
    return tuple((command, why) for is_due, command, why in steps if is_due)[:STEPS]
