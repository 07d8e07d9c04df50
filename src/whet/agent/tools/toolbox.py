"""The tools by name and set, and the toolbox of a session: permission, arguments and limits are checked here."""

import datetime
import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, get_type_hints

import msgspec
from msgspec import Meta

from whet.agent.protocols import Answer
from whet.agent.tools import files, finding, remembering, terminal
from whet.agent.tools.aftermath import begin, news, settle, settled_call
from whet.agent.tools.sandbox import Wall, note
from whet.agent.tools.situation import CallContext, Situation, ToolOutput, ToolState, failed
from whet.errors import WhetError
from whet.own.runs.run import WorkReport, WorkStatus
from whet.sessions.tool_families import PREFIX, Definition, trust_of_shown
from whet.sessions.transcripts import Disposition, Message, Text, ToolCall, ToolResult
from whet.sessions.trust import Trust
from whet.store.opening import opened
from whet.store.search import search
from whet.values import Value

if TYPE_CHECKING:
    from whet.agent.tools.servers import Servers

MARKS = {"open": "[ ]", "doing": "[>]", "done": "[x]", "dropped": "[-]"}
# What a schema says to people and generators of code, and not to a model.
LEFT_OUT = ("title", "$defs", "additionalProperties")  # an unknown argument is answered with the known ones
SAYS_NOTHING: tuple[tuple[str, object], ...] = (("default", ""), ("default", []))  # of what may be left out anyway


def session_search(
    occasion: CallContext,
    *,
    query: Annotated[str, Meta(min_length=1, description='words that must all occur; "a phrase" in quotes')],
    limit: Annotated[int, Meta(ge=1, le=50)] = 8,
) -> ToolOutput:
    """Search earlier sessions."""
    with opened(occasion.situation.home) as database:
        hits = search(database, query, limit=limit)
    if not hits:
        return ToolOutput("[nothing found]", trust=Trust.AGENT)
    days = (datetime.datetime.fromtimestamp(hit.at, datetime.UTC).date() if hit.at else "undated" for hit in hits)
    lines = (
        f"{hit.session_id[:12]} {day} {hit.role} in “{hit.title[:60]}”: {hit.snippet}"
        for hit, day in zip(hits, days, strict=True)
    )
    # Whose words they were there is lost here; and they may be of another project, or another person's.
    return ToolOutput("\n".join(lines), trust=Trust.EXTERNAL)


class TodoStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One step of a plan."""

    text: Annotated[str, Meta(min_length=1, max_length=500)]
    status: Literal["open", "doing", "done", "dropped"] = "open"


def todo(
    occasion: CallContext,
    *,
    steps: Annotated[tuple[TodoStep, ...], Meta(min_length=1, max_length=50, description="the whole plan")],
) -> ToolOutput:
    """Keep the plan of the task: give all of its steps each time."""
    lines = [f"{MARKS[step.status]} {step.text}" for step in steps]
    left = sum(step.status in ("open", "doing") for step in steps)
    text = "\n".join([*lines, f"{left} of {len(lines)} steps left."])
    return ToolOutput(text, trust=min(Trust.AGENT, occasion.workplace.lineage.lowest))


def finish(
    occasion: CallContext,
    *,
    status: WorkStatus,
    report: Annotated[str, Meta(description="what was done and checked, or what stands in the way")] = "",
) -> ToolOutput:
    """End the work. `nothing_to_report` where there is nothing that a person needs to read."""
    trust = occasion.workplace.lineage.trust_of(report)
    return ToolOutput("The work is ended.", trust=trust, report=WorkReport(status, report))


class Schema(Value, frozen=True):
    """What a tool takes: its definition for the model, and the type that its arguments are read into."""

    definition: Definition
    arguments: type[msgspec.Struct]


class BadArguments(Exception):
    """Arguments that a tool does not take; the message tells the model why, in one line."""


def schema_of(function: Callable[..., object], *, name: str = "") -> Schema:
    """The schema of a function: its keyword-only parameters are the arguments, its docstring the description."""
    name = name or function.__name__
    hints = get_type_hints(function, include_extras=True)
    fields: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
            continue
        hint = hints[parameter.name]
        has_default = parameter.default is not inspect.Parameter.empty
        fields.append((parameter.name, hint, parameter.default) if has_default else (parameter.name, hint))
    arguments = msgspec.defstruct(name, fields, frozen=True, forbid_unknown_fields=True, kw_only=True)
    description = inspect.cleandoc(function.__doc__ or "").replace("\n", " ")
    _, components = msgspec.json.schema_components([arguments], ref_template="{name}")
    parameters = msgspec.json.encode(_inlined(components[name], components)).decode()
    return Schema(Definition(name, description, parameters), arguments)


def read_arguments(schema: Schema, text: str) -> dict[str, object]:
    """The arguments of a call, checked against the schema; raises Unfit. What is no JSON object is never guessed at."""
    try:
        found = msgspec.json.decode(text, type=schema.arguments)
    except msgspec.ValidationError as error:
        raise BadArguments(
            f"Wrong arguments for {schema.definition.name}: {error}. It takes {_taken(schema)}."
        ) from error
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise BadArguments(f"The arguments of {schema.definition.name} are not a JSON object: {error}.") from error
    return {field.name: getattr(found, field.name) for field in msgspec.structs.fields(schema.arguments)}


def _taken(schema: Schema) -> str:
    """The names of the arguments, with the words of those that take only some."""
    properties = msgspec.json.decode(schema.definition.parameters)["properties"]
    return ", ".join(
        f"{name} ({'|'.join(each['enum'])})" if "enum" in each else name for name, each in properties.items()
    )


def _inlined(schema: Any, components: dict[str, Any]) -> Any:
    """The schema without references and titles: some endpoints read neither."""
    if isinstance(schema, list):
        return [_inlined(each, components) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _inlined(components[schema["$ref"]], components)
    kept = {key: value for key, value in schema.items() if key not in LEFT_OUT and (key, value) not in SAYS_NOTHING}
    plain = {key: _inlined(value, components) for key, value in kept.items()}
    if isinstance(schema.get("properties"), dict):  # whose keys are names of arguments, whatever they are called
        plain["properties"] = {name: _inlined(each, components) for name, each in schema["properties"].items()}
    return {"type": "string", **plain} if "enum" in plain and "type" not in plain else plain


class Tool(NamedTuple):
    """A tool: what the model knows of it, what carries it out, and whether it changes nothing."""

    definition: Definition
    carry_out: Callable[[CallContext, str], ToolOutput]
    beside: bool = False

    @property
    def name(self) -> str:
        return self.definition.name


# In the order in which models see them, which never changes within a version.
FUNCTIONS: tuple[tuple[Callable[..., ToolOutput], bool], ...] = (
    (files.read_file, True),
    (files.write_file, False),
    (files.edit, False),
    (finding.search_files, True),
    (terminal.terminal, False),
    (terminal.process, False),
    (remembering.memory, False),
    (remembering.skills, False),
    (session_search, True),
    (todo, False),
    (remembering.warm_session, False),
    (finish, False),
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
    "templates": ("warm_session",),
    "plan": ("todo",),
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


def tool_of(function: Callable[..., ToolOutput], *, beside: bool = False) -> Tool:
    """A plain function as a tool; its arguments are checked before it is called."""
    schema = schema_of(function)

    def carry_out(occasion: CallContext, arguments: str) -> ToolOutput:
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


def toolbox(situation: Situation, *, sets: Sequence[str], messages: Iterable[Message]) -> "PlainToolbox":
    """The tools of a session. `messages` are those that it holds already: what it writes derives from them."""
    workplace = ToolState(situation, messages)
    wanted = tools_in(sets)
    if not situation.limits.servers or not any(name == SERVERS or name.startswith(PREFIX) for name in wanted):
        return PlainToolbox(workplace, built_in(), sets=sets)
    from whet.agent.tools.servers import Servers  # noqa: PLC0415 - slow to load, and seldom needed

    servers = Servers(situation.limits.servers, situation.environment)
    offered = tuple(Tool(offer.definition, partial(servers.call, offer)) for offer in servers.offers)
    return PlainToolbox(workplace, (*built_in(), *offered), sets=sets, servers=servers)


class PlainToolbox:
    """Tools behind one door. `definitions` is what a model is shown, always in the same order."""

    def __init__(
        self, workplace: ToolState, tools: Iterable[Tool], *, sets: Sequence[str], servers: "Servers | None" = None
    ) -> None:
        listed = tuple(tools)
        wanted = names_in(sets, (tool.name for tool in listed if tool.name.startswith(PREFIX)))
        self._workplace, self._servers = workplace, servers
        commands = wanted & frozenset(TERMINAL)  # which would have to run without the sandbox that the settings require
        lacks_wall = commands and workplace.situation.limits.sandbox.required and workplace.walls.wall is Wall.NONE
        self._withheld = commands if lacks_wall else frozenset()
        self._tools = {tool.name: tool for tool in listed if tool.name in wanted - self._withheld}
        self.definitions: tuple[Definition, ...] = tuple(tool.definition for tool in self._tools.values())
        workplace.lineage.lower(trust_of_shown(self.definitions))

    @property
    def names(self) -> frozenset[str]:
        """All that could be allowed."""
        return frozenset(self._tools)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the person should know before the tools are used."""
        sandbox = self._workplace.situation.limits.sandbox
        said = ""
        if self._withheld or "terminal" in self._tools:
            said = note(self._workplace.walls, network=sandbox.network, required=sandbox.required)
        return (*((said,) if said else ()), *(self._servers.faults if self._servers else ()))

    def attend(self, messages: Iterable[Message]) -> None:
        """Take note of what the session now holds: the user's turns, and what other hands added."""
        self._workplace.lineage.attend(messages)

    def lower(self, trust: Trust) -> None:
        """Take note of what the agent is told: what it writes derives from that too."""
        self._workplace.lineage.lower(trust)

    def answer(self, call: ToolCall, *, allowed: frozenset[str], interrupt: Event) -> Answer:
        """Carry one call out. Never raises for what the model or the tool did wrong: that is a result."""
        # These may change any file of the folder. Tools that write one file see to it themselves.
        may_write = call.name in TERMINAL or call.name.startswith(PREFIX)
        said = begin(self._workplace) if may_write else ()
        given = self._given(call, allowed, interrupt)
        given = settled_call(self._workplace, given, said) if may_write else given
        self._workplace.lineage.lower(given.trust)
        text = (Text(given.text),) if given.text else ()
        result = ToolResult(call.id, text, call.name, given.error, given.exit_code, given.disposition)
        return Answer(result, given.trust, given.report)

    def can_run_beside(self, call: ToolCall) -> bool:
        tool = self._tools.get(call.name)
        return tool is not None and tool.beside

    def news(self) -> tuple[str, ...]:
        """What the person should know at the end of a turn, or after the end of the session."""
        if self._workplace.lookout.needs_look:
            settle(self._workplace)
        return news(self._workplace)

    def close(self) -> None:
        self._workplace.close()
        if self._workplace.lookout.needs_look:
            settle(self._workplace)
        if self._servers is not None:
            self._servers.close()

    def _given(self, call: ToolCall, allowed: frozenset[str], interrupt: Event) -> ToolOutput:
        tool = self._tools.get(call.name)
        if call.name in self._withheld:  # shown to a session that began where a sandbox worked
            text = "Commands are refused: no sandbox works here, and the settings require one."
            return failed(text, Disposition.BLOCKED)
        if tool is None:
            return failed(f"There is no tool {call.name!r}. Tools: {', '.join(self._tools)}.")
        if call.name not in allowed:
            return failed(f"{call.name} is not allowed in this run. Go on without it.", Disposition.BLOCKED)
        if interrupt.is_set():
            return failed("Not begun: the run was stopped.", Disposition.CANCELLED)
        try:
            return tool.carry_out(CallContext(self._workplace, interrupt), call.arguments)
        except BadArguments as unfit:
            return failed(str(unfit))
        except WhetError as error:
            return ToolOutput(f"{error.message} {error.advice}".strip(), error=True)
        except Exception as error:  # noqa: BLE001 - tools are foreign code: their fault is a result, never our end
            return ToolOutput(f"The tool itself failed: {type(error).__name__}: {error}", error=True)
