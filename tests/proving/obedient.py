"""A model on loopback that does what its context tells it, for real agent programs: four wire formats, one mind.

What it does next is its mind's: one runs a command that depends on whether a rule stands in its context, or follows a
plan; the other makes the tests of a part pass, if it is told how tests are run.
"""

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Protocol

WAITING = "WaitForMcpServers"  # Claude Code's, while servers are still connecting


class PlannedCall(NamedTuple):
    """A tool, by its name without that of its server, and its arguments, made from what the model was asked with."""

    tool: str
    arguments: Callable[[str], dict[str, Any]]


class Thinks(Protocol):
    """What a model makes of its context."""

    @property
    def plan(self) -> tuple[PlannedCall, ...]:
        """The calls that it makes whatever it is told; none for one that thinks."""

    def next(self, told: str, results: list[str]) -> str:
        """The next command, by what it was told and what its commands gave so far; nothing: it is done."""


class Mind(NamedTuple):
    """Where `rule` stands in the context it runs `told`, else `untold`. One that has a plan follows that instead."""

    rule: str = ""
    told: str = ""
    untold: str = ""
    plan: tuple[PlannedCall, ...] = ()

    def next(self, told: str, results: list[str]) -> str:
        if results:
            return ""
        return self.told if self.rule in told else self.untold


class Steady(NamedTuple):
    """Runs these commands one after the other, whatever it is told."""

    commands: tuple[str, ...]
    plan: tuple[PlannedCall, ...] = ()

    def next(self, told: str, results: list[str]) -> str:  # noqa: ARG002 - that is what makes it steady
        return self.commands[len(results)] if len(results) < len(self.commands) else ""


class Mender(NamedTuple):
    """Mends the part that it is asked for, with what the tests say of it.

    A person or a file of instructions has to tell it how tests are run: else it gives up when its own way fails, unless
    it heeds what an error advises.
    """

    way: str
    habit: str = "python3 -m unittest test_{part}"
    heeds: bool = False
    plan: tuple[PlannedCall, ...] = ()

    def next(self, told: str, results: list[str]) -> str:
        found = re.search(r"the tests of (part\d+)", told)
        if found is None:
            return ""
        knows = self.way in told or (self.heeds and any("Use:" in each for each in results))
        part = found[1]
        tests = f"{self.way} {part}" if knows else self.habit.format(part=part)
        last = results[-1] if results else "Use:"
        wanted = re.search(r"must say (\w+)", last)
        if wanted is not None:
            return f"echo {wanted[1]} >{part}.txt"
        if "Use:" in last:
            return tests if knows or not results else ""
        return "" if "passed" in last else tests


class Obedient(ThreadingHTTPServer):
    """Answers Anthropic messages, OpenAI responses and chat completions and Gemini, and keeps what it was asked."""

    daemon_threads = True

    def __init__(self, mind: Thinks) -> None:
        super().__init__(("127.0.0.1", 0), _Desk)
        self.mind = mind
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.refuse_with = 0
        self.says: Callable[[dict[str, Any]], str] = lambda _: "Done."  # what it answers where it calls nothing

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """An agent that ends hangs up: no fault of anybody's."""

    def planned(self, offered: list[str], called: list[str], text: str) -> tuple[str, dict[str, Any]] | None:
        """The next call of its plan; a tool that is not there yet is waited for where the host lets it."""
        for each in self.mind.plan:
            if not any(_plain(name) == each.tool for name in called):
                name = next((name for name in offered if _plain(name) == each.tool), "")
                if not name and WAITING in offered and WAITING not in called:
                    return WAITING, {}
                return (name, each.arguments(text)) if name else None
        return None


@contextmanager
def obedient(mind: Thinks) -> Iterator[Obedient]:
    server = Obedient(mind)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


class _Desk(BaseHTTPRequestHandler):
    server: Obedient
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self._json({})

    def do_GET(self) -> None:
        self._json({"data": [{"id": "obedient", "object": "model"}], "models": []})

    def do_POST(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(size) or b"{}")
        path = self.path.partition("?")[0]
        self.server.asked.append((path, body))
        if self.server.refuse_with:
            self._json({"error": {"type": "error", "message": "refused"}}, self.server.refuse_with)
        elif path.endswith("/count_tokens"):
            self._json({"input_tokens": 100})
        elif path.endswith("/messages"):
            self._stream(_anthropic(self.server, body))
        elif path.endswith("/responses"):
            self._stream(_responses(self.server, body))
        elif path.endswith("GenerateContent"):
            self._stream(_gemini(self.server, body))
        elif path.endswith("/chat/completions"):
            self._stream(_chat(self.server, body))
        else:
            self._json({})

    def _json(self, value: Any, status: int = 200) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, events: Iterator[tuple[str, Any]]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for name, value in events:
            head = f"event: {name}\n" if name else ""
            data = value if isinstance(value, str) else json.dumps(value)
            self.wfile.write(f"{head}data: {data}\n\n".encode())
        self.wfile.flush()
        self.close_connection = True


def _plain(name: str) -> str:
    """The name that a server gives its tool: hosts put the server's before it."""
    return name.rpartition("__")[2].removeprefix("whet_")


def _names(body: dict[str, Any]) -> list[str]:
    tools = body.get("tools") or []
    return [tool.get("name") or (tool.get("function") or {}).get("name") or "" for tool in tools]


def _anthropic(server: Obedient, body: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    messages = body.get("messages") or []
    parts = [part for each in messages if isinstance(each["content"], list) for part in each["content"]]
    results = [part for part in parts if part.get("type") == "tool_result"]
    usage = {"input_tokens": 900, "output_tokens": 20, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 0}
    start = {
        "id": f"msg_{len(server.asked)}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "m"),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    yield "message_start", {"type": "message_start", "message": start}
    call = _next_call(server, body, ["Bash"], results, called=_used(messages))
    if call is not None:
        block: dict[str, Any] = {"type": "tool_use", "id": f"toolu_{len(server.asked)}", "name": call[0], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
        reason = "tool_use"
    else:
        block, delta, reason = (
            {"type": "text", "text": ""},
            {"type": "text_delta", "text": server.says(body)},
            "end_turn",
        )
    yield "content_block_start", {"type": "content_block_start", "index": 0, "content_block": block}
    yield "content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}
    yield "content_block_stop", {"type": "content_block_stop", "index": 0}
    yield (
        "message_delta",
        {
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": None},
            "usage": {"output_tokens": 20},
        },
    )
    yield "message_stop", {"type": "message_stop"}


def _used(messages: list[dict[str, Any]]) -> list[str]:
    parts = (part for each in messages if isinstance(each["content"], list) for part in each["content"])
    return [part["name"] for part in parts if isinstance(part, dict) and part.get("type") == "tool_use"]


def _next_call(
    server: Obedient, body: dict[str, Any], shells: list[str], results: list[dict[str, Any]], *, called: list[str]
) -> tuple[str, dict[str, Any]] | None:
    """What it calls next: by its plan, else a command in the shell; None where it is done."""
    offered = _names(body)
    if server.mind.plan:
        return server.planned(offered, called, json.dumps(body))
    shell = next((name for name in shells if name in offered), "")
    command = _next_command(server, body, results) if shell else ""
    return (shell, SHELLS[shell](command)) if command else None


def _next_command(server: Obedient, body: dict[str, Any], results: list[dict[str, Any]]) -> str:
    """The next command. What tools gave is no part of what the model was told."""
    told = json.dumps(body)
    for result in results:
        told = told.replace(json.dumps(result), "")
    return server.mind.next(told, [json.dumps(result) for result in results])


SHELLS: dict[str, Callable[[str], dict[str, Any]]] = {
    "Bash": lambda command: {"command": command, "description": "Do it"},
    "exec_command": lambda command: {"cmd": command},
    "shell_command": lambda command: {"command": command},
    "shell": lambda command: {"command": ["bash", "-lc", command]},
    "bash": lambda command: {"command": command, "description": "Do it"},
    "run_shell_command": lambda command: {"command": command},
    "terminal": lambda command: {"command": command},
}


def _responses(server: Obedient, body: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    items = [item for item in body.get("input") or [] if isinstance(item, dict)]
    results = [item for item in items if item.get("type", "").endswith("_output")]
    shell = next((name for name in SHELLS if name in _names(body)), "")
    command = _next_command(server, body, results) if shell else ""
    yield "response.created", {"type": "response.created", "response": {"id": "resp_1"}}
    if command:
        item: dict[str, Any] = {
            "type": "function_call",
            "id": f"fc_{len(results)}",
            "call_id": f"call_{len(results)}",
            "name": shell,
            "arguments": json.dumps(SHELLS[shell](command)),
        }
    else:
        item = {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "content": [{"type": "output_text", "text": server.says(body)}],
        }
    yield "response.output_item.done", {"type": "response.output_item.done", "output_index": 0, "item": item}
    usage = {
        "input_tokens": 1000,
        "output_tokens": 20,
        "total_tokens": 1020,
        "input_tokens_details": {"cached_tokens": 100},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    yield "response.completed", {"type": "response.completed", "response": {"id": "resp_1", "usage": usage}}


def _gemini(server: Obedient, body: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    parts = [part for each in body.get("contents") or [] for part in each.get("parts") or []]
    offered = [each["name"] for tool in body.get("tools") or [] for each in tool.get("functionDeclarations") or []]
    results = [each for each in parts if "functionResponse" in each]
    command = _next_command(server, body, results) if "run_shell_command" in offered else ""
    part: dict[str, Any] = {"text": server.says(body)}
    if command:
        part = {"functionCall": {"name": "run_shell_command", "args": {"command": command}}}
    usage = {"promptTokenCount": 1000, "candidatesTokenCount": 20, "totalTokenCount": 1020}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    yield "", {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-2.5-pro"}


def _chat(server: Obedient, body: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    messages = body.get("messages") or []
    results = [message for message in messages if message.get("role") == "tool"]
    called = [call["function"]["name"] for each in messages for call in each.get("tool_calls") or []]
    next_call = _next_call(server, body, list(SHELLS), results, called=called)
    head = {"id": "chat_1", "object": "chat.completion.chunk", "created": 1, "model": body.get("model", "m")}
    if next_call is not None:
        function = {"name": next_call[0], "arguments": json.dumps(next_call[1])}
        call = {"index": 0, "id": f"call_{len(server.asked)}", "type": "function", "function": function}
        delta, reason = {"role": "assistant", "tool_calls": [call]}, "tool_calls"
    else:
        delta, reason = {"role": "assistant", "content": server.says(body)}, "stop"
    yield "", {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield "", {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    usage = {"prompt_tokens": 1000, "completion_tokens": 20, "total_tokens": 1020}
    yield "", {**head, "choices": [], "usage": usage}
    yield "", "[DONE]"
