"""Tools of MCP servers: whatever a server does, it is a result. The library is loaded only where a server is set."""

import concurrent.futures
import contextlib
import math
import os
import re
import shlex
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec

from whet.agent.tools.processes import BoundedOutput, plain
from whet.agent.tools.situation import CallContext, ToolOutput, failed
from whet.net.wire import Interrupted
from whet.own.runs.settings import McpServer
from whet.sessions.tool_families import PREFIX, Definition
from whet.sessions.transcripts import Disposition
from whet.sessions.trust import Trust
from whet.shipped.extras import require
from whet.text.quoting import visible

if TYPE_CHECKING:
    import anyio
    from mcp import Client
    from mcp.types import CallToolResult, Tool

POLL_SECONDS = 0.05
CONNECT_SECONDS = 20.0
CLOSE_SECONDS = 5.0
DESCRIPTION_CHARACTERS = 1_000
NAME_CHARACTERS = 64  # what endpoints take
_ODD = re.compile(r"[^A-Za-z0-9_-]+")
_Result = TypeVar("_Result")


class OfferedTool(NamedTuple):
    """A tool of a server: as a model sees it, and as the server knows it."""

    definition: Definition
    server: str
    name: str


class OpenServer(NamedTuple):
    """A server that answers, what it offers, and what lets go of it."""

    client: "Client"
    tools: "tuple[Tool, ...]"
    leave: "anyio.Event"


class Connection(NamedTuple):
    """One server: what it is once it answers, and the task that holds it from opening to closing."""

    opened: "Future[OpenServer]"
    held: "Future[None]"

    @property
    def is_over(self) -> bool:
        is_open = self.opened.done() and self.opened.exception() is None
        return self.held.done() or (is_open and self.opened.result().leave.is_set())


class Servers:
    """The servers of a session, each held by a task of its own on a loop in another thread."""

    def __init__(self, servers: tuple[McpServer, ...], environment: Mapping[str, str]) -> None:
        require("mcp", "MCP servers")
        from anyio.from_thread import start_blocking_portal  # noqa: PLC0415 - comes with the extra

        self._environment = environment
        self._servers = {server.name: server for server in servers}
        self._connections: dict[str, Connection] = {}
        self.faults: list[str] = []
        with contextlib.ExitStack() as stack:
            self._portal = stack.enter_context(start_blocking_portal(name="whet-servers"))
            self.offers = self._offers()
            self._running = stack.pop_all()

    def call(self, offer: OfferedTool, occasion: CallContext, arguments: str) -> ToolOutput:
        """Ask a server to carry a call out. A server that is gone is connected to once more."""
        try:
            given = msgspec.json.decode(arguments, type=dict[str, Any])
        except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError) as error:
            return failed(f"The arguments of {offer.definition.name} are not a JSON object: {error}.")
        try:
            result = self._ask(offer, given, occasion.interrupt)
        except Interrupted:
            return failed("Interrupted.", Disposition.INTERRUPTED)
        except Exception as fault:  # noqa: BLE001 - servers are foreign code: their fault is a result
            return ToolOutput(f"The server {offer.server} failed: {_said(fault)}", error=True, trust=Trust.EXTERNAL)
        return _given(result, limit=occasion.situation.limits.terminal.output_characters)

    def close(self) -> None:
        connections = tuple(self._connections.values())
        self._connections.clear()
        for each in connections:
            if each.opened.done() and each.opened.exception() is None:
                self._portal.call(each.opened.result().leave.set)
        for late in concurrent.futures.wait([each.held for each in connections], timeout=CLOSE_SECONDS).not_done:
            late.cancel()
        self._running.close()

    def _offers(self) -> tuple[OfferedTool, ...]:
        """What the servers that could be reached offer, in an order that does not depend on them."""
        found: dict[str, OfferedTool] = {}
        for name, connection in [(name, self._connect(name)) for name in self._servers]:
            fault: BaseException | None
            try:
                fault = connection.opened.exception(timeout=CONNECT_SECONDS + CLOSE_SECONDS)
            except concurrent.futures.TimeoutError as error:
                fault = error
            if fault is not None:
                self.faults.append(f"The MCP server {name} could not be used: {_said(fault)}")
                continue
            wanted = self._servers[name].tools
            for tool in connection.opened.result().tools:
                if not wanted or tool.name in wanted:
                    offer = _offer(name, tool)
                    found.setdefault(offer.definition.name, offer)
        return tuple(found[name] for name in sorted(found))

    def _connect(self, name: str) -> Connection:
        """The connection to a server; another one where the last is over."""
        connection = self._connections.get(name)
        if connection is None or connection.is_over:
            opened: Future[OpenServer] = Future()
            held = self._portal.start_task_soon(_hold, self._servers[name], self._environment, opened)
            held.add_done_callback(partial(_tell, opened))
            connection = self._connections[name] = Connection(opened, held)
        return connection

    def _ask(self, offer: OfferedTool, arguments: dict[str, Any], interrupt: threading.Event) -> "CallToolResult":
        seconds = self._servers[offer.server].timeout_seconds
        opened = _awaited(self._connect(offer.server).opened, CONNECT_SECONDS + CLOSE_SECONDS, interrupt)
        asked: Future[CallToolResult] = self._portal.start_task_soon(_answer, opened, offer.name, arguments, seconds)
        try:
            return _awaited(asked, seconds + CLOSE_SECONDS, interrupt)
        finally:
            asked.cancel()


async def _hold(server: McpServer, environment: Mapping[str, str], opened: "Future[OpenServer]") -> None:
    """Open a server and close it when it is left: within one task, as the library asks for."""
    import anyio  # noqa: PLC0415 - comes with the extra
    from mcp import Client  # noqa: PLC0415 - an extra that takes a second to load

    with open(os.devnull, "w") as silence, anyio.CancelScope() as opening:
        opening.deadline = anyio.current_time() + CONNECT_SECONDS
        async with Client(_transport(server, environment, silence)) as client:
            tools, cursor = [], None
            while True:
                page = await client.list_tools(cursor=cursor)
                tools += page.tools
                cursor = page.next_cursor
                if cursor is None:
                    break
            opening.deadline = math.inf
            leave = anyio.Event()
            opened.set_result(OpenServer(client, tuple(tools), leave))
            await leave.wait()
    if opening.cancelled_caught:
        raise TimeoutError(f"no connection after {CONNECT_SECONDS:g} seconds")


def _tell(opened: "Future[OpenServer]", held: "Future[None]") -> None:
    """Tell whoever waits for a server that it will not be there."""
    if not opened.done():
        fault = None if held.cancelled() else held.exception()
        opened.set_exception(fault or ConnectionError("the server ended"))


async def _answer(opened: OpenServer, name: str, arguments: dict[str, Any], seconds: float) -> "CallToolResult":
    import anyio  # noqa: PLC0415 - comes with the extra

    with anyio.move_on_after(seconds):
        try:
            return await opened.client.call_tool(name, arguments)
        except Exception:
            opened.leave.set()  # the connection broke; the next call makes another
            raise
    raise TimeoutError(f"no answer after {seconds:g} seconds")


def _transport(server: McpServer, environment: Mapping[str, str], silence: Any) -> Any:
    """How a server is reached: a program that is started, or an address."""
    from mcp.client.stdio import StdioServerParameters, stdio_client  # noqa: PLC0415 - as above

    if server.command.startswith(("http://", "https://")):
        return server.command
    variables = {name: environment[name] for name in server.variables if name in environment}
    program, *arguments = shlex.split(server.command)
    parameters = StdioServerParameters(command=program, args=arguments, env=variables)
    return stdio_client(parameters, errlog=silence)


def _offer(server: str, tool: "Tool") -> OfferedTool:
    name = f"{PREFIX}{_ODD.sub('_', server)}__{_ODD.sub('_', tool.name)}"[:NAME_CHARACTERS]
    description = " ".join(visible(tool.description or "").split())[:DESCRIPTION_CHARACTERS]
    parameters = msgspec.json.encode(tool.input_schema, order="sorted").decode()
    return OfferedTool(Definition(name, description, parameters), server, tool.name)


def _given(result: "CallToolResult", *, limit: int) -> ToolOutput:
    """What a server answered: a stranger's words, and no more of them than of any output."""
    texts = [_text(block) for block in result.content]
    if not any(texts) and result.structured_content is not None:
        texts = [msgspec.json.encode(result.structured_content).decode()]
    tape = BoundedOutput(limit)
    tape.add(plain("\n".join(texts)).encode("utf-8", "replace"))
    return ToolOutput(tape.take().text, error=bool(result.is_error), trust=Trust.EXTERNAL)


def _text(block: Any) -> str:
    if block.type == "text":
        return str(block.text)
    if block.type == "resource":
        return str(getattr(block.resource, "text", "[binary resource]"))  # one of two types of the library
    return f"[{block.type}]"


def _awaited(future: "Future[_Result]", seconds: float, interrupt: threading.Event) -> _Result:
    """What comes of it, unless the time is over or the run is stopped before."""
    for _ in range(max(1, int(seconds / POLL_SECONDS))):
        if interrupt.is_set():
            raise Interrupted
        concurrent.futures.wait([future], timeout=POLL_SECONDS)
        if future.done():
            return future.result()
    raise TimeoutError("no answer in time")


def _said(fault: BaseException) -> str:
    """What went wrong, in one line; the library wraps faults in groups."""
    while isinstance(fault, BaseExceptionGroup) and fault.exceptions:
        fault = fault.exceptions[0]
    return " ".join(plain(f"{type(fault).__name__}: {fault}").split())[:300]
