"""Tools of MCP servers: whatever a server does, it is a result. The library is loaded only where a server is set."""

import asyncio
import concurrent.futures
import contextlib
import os
import re
import threading
from collections.abc import Coroutine, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec

from whet.agent.tools.output import Tape, plain
from whet.agent.tools.registry import PREFIX
from whet.agent.tools.situation import Given, Occasion, failed
from whet.errors import WhetError
from whet.runs.settings import McpServer
from whet.sessions.definitions import Definition
from whet.sessions.transcripts import Disposition
from whet.sessions.trust import Trust
from whet.text.quoting import visible

if TYPE_CHECKING:
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


class Connection:
    """One server. It is opened and closed within one task, as the library asks for."""

    def __init__(self, server: McpServer, environment: Mapping[str, str]) -> None:
        self.server = server
        self.client: Client | None = None
        self._environment = environment
        self._leave = asyncio.Event()
        self.ready: asyncio.Future[tuple[Tool, ...]] = asyncio.get_running_loop().create_future()
        self.task = asyncio.create_task(self._stay())

    async def _stay(self) -> None:
        from mcp import Client  # noqa: PLC0415 - an extra that takes a second to load

        with open(os.devnull, "w") as silence:
            async with Client(_transport(self.server, self._environment, silence)) as client:
                self.client = client
                tools, cursor = [], None
                while True:
                    page = await client.list_tools(cursor=cursor)
                    tools += page.tools
                    cursor = page.next_cursor
                    if cursor is None:
                        break
                self.ready.set_result(tuple(tools))
                await self._leave.wait()

    async def close(self) -> None:
        self._leave.set()
        _, waiting = await asyncio.wait([self.task], timeout=CLOSE_SECONDS)
        for task in waiting:
            task.cancel()
        await asyncio.wait([self.task], timeout=CLOSE_SECONDS)
        if self.task.done() and not self.task.cancelled():
            self.task.exception()  # was told when it happened, or does not matter any more


class Servers:
    """The servers of a session, on a loop of their own in a thread of their own."""

    def __init__(self, servers: tuple[McpServer, ...], environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._connections: dict[str, Connection] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._servers = {server.name: server for server in servers}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="whet-servers", daemon=True)
        self._thread.start()
        self.faults: list[str] = []
        self.offers = self._offers()

    def call(self, offer: OfferedTool, occasion: Occasion, arguments: str) -> Given:
        """Ask a server to carry a call out. A server that is gone is connected to once more."""
        try:
            given = msgspec.json.decode(arguments, type=dict[str, Any])
        except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError) as error:
            return failed(f"The arguments of {offer.definition.name} are not a JSON object: {error}.")
        seconds = self._servers[offer.server].timeout_seconds
        future = self._soon(self._call(offer, given))
        if not _wait(future, seconds + CONNECT_SECONDS, occasion.interrupt):
            future.cancel()
            if occasion.interrupt.is_set():
                return Given("Interrupted.", error=True, disposition=Disposition.INTERRUPTED, trust=Trust.AGENT)
            return failed(f"The server {offer.server} did not answer in time.")
        fault = future.exception()
        if fault is not None:
            return Given(f"The server {offer.server} failed: {_said(fault)}", error=True, trust=Trust.EXTERNAL)
        return _given(future.result(), limit=occasion.situation.terminal.output_characters)

    def close(self) -> None:
        if self._loop.is_running():
            self._soon(self._close()).exception(timeout=4 * CLOSE_SECONDS)
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(CLOSE_SECONDS)
            self._loop.close()

    def _offers(self) -> tuple[OfferedTool, ...]:
        """What the servers that could be reached offer, in an order that does not depend on them."""
        found: dict[str, OfferedTool] = {}
        connecting = [(name, self._soon(self._connected(name))) for name in self._servers]
        for name, future in connecting:
            fault: BaseException | None
            try:
                fault = future.exception(timeout=CONNECT_SECONDS + CLOSE_SECONDS)
            except concurrent.futures.TimeoutError as error:
                fault = error
            if fault is not None:
                self.faults.append(f"The MCP server {name} could not be used: {_said(fault)}")
                continue
            wanted = self._servers[name].tools
            for tool in future.result():
                if not wanted or tool.name in wanted:
                    offer = _offer(name, tool)
                    found.setdefault(offer.definition.name, offer)
        return tuple(found[name] for name in sorted(found))

    async def _connected(self, name: str) -> "tuple[Tool, ...]":
        connection = self._connections.get(name)
        if connection is None or connection.task.done():
            connection = self._connections[name] = Connection(self._servers[name], self._environment)
        either: list[asyncio.Future[Any]] = [connection.ready, connection.task]
        await asyncio.wait(either, timeout=CONNECT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if connection.ready.done():
            return connection.ready.result()
        if not connection.task.done():
            connection.task.cancel()
            raise TimeoutError(f"no connection after {CONNECT_SECONDS:g} seconds")
        raise connection.task.exception() or ConnectionError("the server ended")

    async def _call(self, offer: OfferedTool, arguments: dict[str, Any]) -> "CallToolResult":
        await self._connected(offer.server)
        connection = self._connections[offer.server]
        assert connection.client is not None
        call = asyncio.create_task(connection.client.call_tool(offer.name, arguments))
        seconds = self._servers[offer.server].timeout_seconds
        try:
            await asyncio.wait([call, connection.task], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if call.done():
                if call.exception() is not None:
                    self._drop(offer.server)
                return call.result()
            raise TimeoutError(f"no answer after {seconds:g} seconds")
        finally:
            call.cancel()

    def _drop(self, name: str) -> None:
        """Leave a connection that broke; the next call makes another."""
        closing = asyncio.create_task(self._connections.pop(name).close())
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)

    async def _close(self) -> None:
        for name in list(self._connections):
            self._drop(name)
        await asyncio.gather(*self._closing)

    def _soon(self, coroutine: Coroutine[Any, Any, _Result]) -> "concurrent.futures.Future[_Result]":
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)


def _transport(server: McpServer, environment: Mapping[str, str], silence: Any) -> Any:
    """How a server is reached: a program that is started, or an address."""
    from mcp.client.stdio import StdioServerParameters, stdio_client  # noqa: PLC0415 - as above

    if server.url:
        return server.url
    variables = {name: environment[name] for name in server.variables if name in environment}
    parameters = StdioServerParameters(command=server.command, args=list(server.arguments), env=variables)
    return stdio_client(parameters, errlog=silence)


def expect_library() -> None:
    """Raise WhetError where MCP servers are set but the library is not installed."""
    try:
        import mcp  # noqa: F401, PLC0415 - an extra that takes a second to load
    except ImportError as error:
        raise WhetError("MCP servers need another library.", advice="Install it: pip install 'whet[mcp]'.") from error


def _offer(server: str, tool: "Tool") -> OfferedTool:
    name = f"{PREFIX}{_ODD.sub('_', server)}__{_ODD.sub('_', tool.name)}"[:NAME_CHARACTERS]
    description = " ".join(visible(tool.description or "").split())[:DESCRIPTION_CHARACTERS]
    parameters = msgspec.json.encode(tool.input_schema, order="sorted").decode()
    return OfferedTool(Definition(name, description, parameters), server, tool.name)


def _given(result: "CallToolResult", *, limit: int) -> Given:
    """What a server answered: a stranger's words, and no more of them than of any output."""
    texts = [_text(block) for block in result.content]
    if not any(texts) and result.structured_content is not None:
        texts = [msgspec.json.encode(result.structured_content).decode()]
    tape = Tape(limit)
    tape.add(plain("\n".join(texts)).encode("utf-8", "replace"))
    return Given(tape.take().text, error=bool(result.is_error), trust=Trust.EXTERNAL)


def _text(block: Any) -> str:
    if block.type == "text":
        return str(block.text)
    if block.type == "resource":
        return str(getattr(block.resource, "text", "[binary resource]"))  # one of two types of the library
    return f"[{block.type}]"


def _wait(future: "concurrent.futures.Future[Any]", seconds: float, interrupt: threading.Event) -> bool:
    """Whether it is done before the time is over or the run is stopped."""
    rounds = max(1, int(seconds / POLL_SECONDS))
    for _ in range(rounds):
        with contextlib.suppress(concurrent.futures.TimeoutError, concurrent.futures.CancelledError):
            future.exception(timeout=POLL_SECONDS)
            return True
        if future.done() or interrupt.is_set():
            return future.done()
    return False


def _said(fault: BaseException) -> str:
    """What went wrong, in one line; the library wraps faults in groups."""
    while isinstance(fault, BaseExceptionGroup) and fault.exceptions:
        fault = fault.exceptions[0]
    return " ".join(plain(f"{type(fault).__name__}: {fault}").split())[:300]
