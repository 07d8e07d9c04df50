"""The tools that come with Whet, and the sets by which people choose among them."""

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from whet.agent.tools import files, finding, finishing, recalling, remembering, terminal, todo, warm_session
from whet.agent.tools.situation import Given, Occasion
from whet.errors import WhetError
from whet.runs.tool_schemas import read_arguments, schema_of
from whet.sessions.definitions import PREFIX, Definition


class Tool(NamedTuple):
    """A tool: what the model knows of it, what carries it out, and whether it changes nothing."""

    definition: Definition
    carry_out: Callable[[Occasion, str], Given]
    beside: bool = False

    @property
    def name(self) -> str:
        return self.definition.name


# In the order in which models see them, which never changes within a version.
FUNCTIONS: tuple[tuple[Callable[..., Given], bool], ...] = (
    (files.read_file, True),
    (files.write_file, False),
    (files.edit, False),
    (finding.search_files, True),
    (terminal.terminal, False),
    (terminal.process, False),
    (remembering.memory, False),
    (remembering.skills, False),
    (recalling.session_search, True),
    (todo.todo, False),
    (warm_session.warm_session, False),
    (finishing.finish, False),
)
SERVERS = "servers"  # stands for all tools that MCP servers offer
FILES = ("read_file", "write_file", "edit", "search_files")
TERMINAL = ("terminal", "process")
UNATTENDED = (*FILES, *TERMINAL, "memory", "skills", "session_search", "todo", "finish", SERVERS)
# Only where a person reads along: templates are built for sessions to come, and no work of a single order.
CHAT = (*(name for name in UNATTENDED if name != "finish"), "warm_session")
SETS: dict[str, tuple[str, ...]] = {
    "files": FILES,
    "reading": ("read_file", "search_files"),
    "terminal": TERMINAL,
    "memory": ("memory",),
    "skills": ("skills",),
    "search": ("session_search",),
    "plan": ("todo",),
    "templates": ("warm_session",),
    "finish": ("finish",),
    SERVERS: (SERVERS,),
    "chat": CHAT,
    "unattended": UNATTENDED,
    "review": ("memory", "skills"),
    "all": (*CHAT, "finish"),
}


def sets_within(tools: Iterable[str]) -> tuple[str, ...]:
    """The sets whose tools are all among these."""
    names = frozenset(tools) | {SERVERS}
    return tuple(name for name, held in SETS.items() if names.issuperset(held))


@functools.cache
def built_in() -> tuple[Tool, ...]:
    return tuple(tool_of(function, beside=beside) for function, beside in FUNCTIONS)


def tool_of(function: Callable[..., Given], *, beside: bool = False) -> Tool:
    """A plain function as a tool; its arguments are checked before it is called."""
    schema = schema_of(function)

    def carry_out(occasion: Occasion, arguments: str) -> Given:
        return function(occasion, **read_arguments(schema, arguments))

    return Tool(schema.definition, carry_out, beside)


def tools_in(sets: Iterable[str]) -> frozenset[str]:
    """What some sets hold: names of tools, and `servers` for all that MCP servers offer."""
    return frozenset(name for each in sets for name in SETS.get(each, (each,)))


def names_in(sets: Sequence[str], offered: Iterable[str] = ()) -> frozenset[str]:
    """The names of the tools in some sets; `offered` are those of servers. A tool's own name is a set of one."""
    servers = frozenset(offered)
    known = servers | {tool.name for tool in built_in()}
    for name in sets:
        # The tools of a server that could not be reached are missed, and no mistake.
        if name not in SETS and name not in known and not name.startswith(PREFIX):
            listed = ", ".join(SETS)
            raise WhetError(f"There is no set of tools {name}.", advice=f"Sets: {listed}; or the name of a tool.")
    wanted = tools_in(sets)
    return wanted & known | (servers if SERVERS in wanted else frozenset())
