"""Tools of real MCP servers: their results are a stranger's, and their faults are results."""

import contextlib
import json
import shlex
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.tools.rooms import Room, ask_for
from patience import PATIENCE_SECONDS, set_when, until
from whet.agent.tools.situation import Terminal
from whet.agent.tools.toolbox import PlainToolbox
from whet.own.runs.settings import McpServer
from whet.sessions.transcripts import Disposition, ToolCall
from whet.sessions.trust import Trust

pytest.importorskip("mcp", reason="the MCP library is an extra")

SCRIPT = str(Path(__file__).with_name("mcp_server.py"))
COMMAND = shlex.join((sys.executable, SCRIPT, "stdio"))
LOCAL = McpServer("local", COMMAND, timeout_seconds=PATIENCE_SECONDS)


def named(tool: str) -> str:
    return f"mcp__local__{tool}"


SLOW = McpServer("slow", COMMAND, tools=("sleep",), timeout_seconds=0.5)
GIVEN = McpServer(
    "given",
    COMMAND,
    tools=("variable",),
    variables=("ITS_TOKEN",),
    timeout_seconds=PATIENCE_SECONDS,
)
BROKEN = (
    McpServer("gone", "/no/such/program"),
    McpServer("mute", shlex.join((sys.executable, "-c", "raise SystemExit(1)"))),
    McpServer("nowhere", "http://127.0.0.1:9/mcp"),
)


@pytest.fixture(scope="session")  # tests of other files may run in between, and each start takes seconds
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlainToolbox]:
    """Some servers, good and bad, started once: each takes seconds."""
    room = Room(tmp_path_factory.mktemp("servers"))
    room.environment["ITS_TOKEN"] = "for the server"
    yield room.box(servers=(*BROKEN, LOCAL, SLOW, GIVEN), terminal=Terminal(output_characters=2_000))
    room.leave()


@contextlib.contextmanager
def over_http() -> Iterator[str]:
    """The address of the same server, reached by HTTP."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, SCRIPT, "http", str(port)], stderr=subprocess.DEVNULL)
    try:
        until(lambda: _listens(port))
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


def _listens(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


def test_the_tools_of_a_server_are_shown_by_name_and_work(served: PlainToolbox) -> None:
    names = [each.name for each in served.definitions if each.name.startswith("mcp__local")]
    assert names == sorted(named(tool) for tool in ("add", "shout", "fail", "sleep", "die", "variable", "flood"))
    definition = next(each for each in served.definitions if each.name == named("add"))
    assert definition.description == "Add two numbers."
    assert '"one"' in definition.parameters
    answer = ask_for(served, named("add"), one=2, other=3)
    assert answer.result.text == "5"
    assert (answer.result.error, answer.trust) == (False, Trust.EXTERNAL)


def test_a_failing_tool_and_wrong_arguments_are_errors(served: PlainToolbox) -> None:
    assert ask_for(served, named("fail")).result.error is True
    assert ask_for(served, named("add"), one="x").result.error is True
    call = ToolCall("1", named("add"), "{")
    assert served.answer(call, allowed=served.names, interrupt=threading.Event()).result.error is True


def test_output_is_plain_and_bounded(served: PlainToolbox) -> None:
    assert ask_for(served, named("shout"), text="hey").result.text == "HEY"
    assert len(ask_for(served, named("flood")).result.text) < 2_100


def test_a_server_that_died_is_a_result_and_is_started_again(served: PlainToolbox) -> None:
    answer = ask_for(served, named("die"))
    assert answer.result.error is True
    assert "local" in answer.result.text
    assert ask_for(served, named("add"), one=1, other=1).result.text == "2"


def test_an_interrupt_ends_the_waiting(served: PlainToolbox, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    call = ToolCall("1", named("sleep"), json.dumps({"seconds": 600, "begun": str(begun)}))
    answer = served.answer(call, allowed=served.names, interrupt=set_when(begun.exists))
    assert answer.result.disposition is Disposition.INTERRUPTED


def test_a_slow_server_is_a_result(served: PlainToolbox) -> None:
    answer = ask_for(served, "mcp__slow__sleep", seconds=600)
    assert answer.result.error is True
    assert "no answer after 0.5 seconds" in answer.result.text


def test_a_server_sees_only_the_variables_that_it_is_given(served: PlainToolbox) -> None:
    assert ask_for(served, "mcp__given__variable", name="ITS_TOKEN").result.text == "for the server"
    assert ask_for(served, "mcp__given__variable", name="SERVICE_API_KEY").result.text == "not set"


def test_only_chosen_tools_are_taken(served: PlainToolbox) -> None:
    assert [name for name in served.names if name.startswith("mcp__slow")] == ["mcp__slow__sleep"]


def test_servers_that_cannot_be_used_are_told_and_missed(served: PlainToolbox) -> None:
    faults = [note for note in served.notes if note.startswith("The MCP server")]
    assert [fault.split()[3] for fault in faults] == ["gone", "mute", "nowhere"]


def test_a_server_is_reached_by_http(room: Room) -> None:
    with over_http() as url:
        box = room.box(servers=(McpServer("local", url),))
        assert ask_for(box, named("add"), one=20, other=22).result.text == "42"
        box.close()


def test_without_permission_no_server_is_asked(served: PlainToolbox) -> None:
    call = ToolCall("1", named("add"), '{"one": 1, "other": 1}')
    answer = served.answer(call, allowed=frozenset({"memory"}), interrupt=threading.Event())
    assert answer.result.disposition is Disposition.BLOCKED


def test_a_set_without_servers_starts_none(room: Room) -> None:
    box = room.box(sets=("review",), servers=(McpServer("gone", "/no/such/program"),))
    assert box.notes == ()


def test_a_resumed_session_names_the_tools_of_its_servers_whose_words_are_a_strangers(room: Room) -> None:
    """No tool of the server was called: its descriptions and schemas stand in every request."""
    said = {"status": "done", "report": "The plants were watered."}
    box = room.box(sets=("read_file", "finish", named("add"), "mcp__gone__tool"), servers=(LOCAL,))
    assert box.names == {"read_file", "finish", named("add")}
    assert ask_for(box, "finish", **said).trust is Trust.EXTERNAL
    assert ask_for(room.box(), "finish", **said).trust is Trust.AGENT
    assert ask_for(room.box(servers=(LOCAL,), sets=("finish",)), "finish", **said).trust is Trust.AGENT
