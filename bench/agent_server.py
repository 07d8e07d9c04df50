"""A loopback endpoint for bench/agent.py: it answers the first request with one tool call and the next with words."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

MODEL = "test-model"
ANSWER = "These are the files."


class Request(NamedTuple):
    """A chat request: when its last byte arrived, how many bytes it had, and what it said."""

    at: float
    size: int
    body: dict[str, Any]

    @property
    def has_results(self) -> bool:
        return any(message.get("role") == "tool" for message in self.body.get("messages", []))


class Server:
    """An OpenAI-compatible endpoint on a free port, which keeps the requests of one program after the other."""

    def __init__(self, command: str) -> None:
        self.command = command
        self.requests: list[Request] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def take(self) -> list[Request]:
        """The chat requests since the last time."""
        taken, self.requests = self.requests, []
        return taken

    def close(self) -> None:
        self._server.shutdown()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._send(json.dumps({"object": "list", "data": [{"id": MODEL, "object": "model"}]}).encode())

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                at = time.time()
                if not self.path.endswith("/chat/completions"):
                    self._send(b"{}", status=404)
                    return
                request = Request(at, len(body), json.loads(body))
                outer.requests.append(request)
                delta = outer.delta(request)
                if request.body.get("stream"):
                    self._send(streamed(delta), content_type="text/event-stream")
                else:
                    self._send(whole(delta))

            def _send(self, body: bytes, *, status: int = 200, content_type: str = "application/json") -> None:
                self.send_response(status)
                self.send_header("Content-Type", content_type)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler

    def delta(self, request: Request) -> dict[str, Any]:
        """What the model says: a call, once, to programs that offer a terminal; else words."""
        names = [tool.get("function", {}).get("name") for tool in request.body.get("tools") or []]
        if request.has_results or "terminal" not in names:
            return {"role": "assistant", "content": ANSWER}
        function = {"name": "terminal", "arguments": json.dumps({"command": self.command})}
        call = {"index": 0, "id": "call_1", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}


def streamed(delta: dict[str, Any]) -> bytes:
    finish = "tool_calls" if delta.get("tool_calls") else "stop"
    usage = {"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1010}
    chunks: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
        {"choices": [], "usage": usage},
    ]
    common = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
    lines = [f"data: {json.dumps({**common, **chunk})}\n\n" for chunk in chunks]
    return "".join([*lines, "data: [DONE]\n\n"]).encode()


def whole(delta: dict[str, Any]) -> bytes:
    finish = "tool_calls" if delta.get("tool_calls") else "stop"
    usage = {"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1010}
    choice = {"index": 0, "message": delta, "finish_reason": finish}
    common = {"id": "x", "object": "chat.completion", "created": 1, "model": MODEL}
    return json.dumps({**common, "choices": [choice], "usage": usage}).encode()
