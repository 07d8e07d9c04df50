"""A loopback endpoint that is played by hand: each request becomes a file, and a second file answers it.

Who answers writes `FOLDER/NAME/N.answer.json` for `FOLDER/NAME/N.request.json`, as
`{"text": "…", "calls": [{"name": "memory", "arguments": {"action": "list"}}]}`. Each name has an address of its own, so
that many conversations can wait at once. Tokens are estimated, four bytes each.
"""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from whet.text.words import BYTES_PER_TOKEN

MODEL = "by-hand"
LOOK_SECONDS = 0.2


class HandPlayed:
    """An OpenAI-compatible endpoint on a free port that waits for the files of whoever plays it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def base_url(self, name: str) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/{name}/v1"

    def close(self) -> None:
        self._server.shutdown()

    def _answer(self, name: str, body: bytes) -> bytes:
        place = self._folder / name
        place.mkdir(parents=True, exist_ok=True)
        number = len(list(place.glob("*.request.json"))) + 1
        (place / f"{number}.request.json").write_text(json.dumps(json.loads(body), indent=1))
        file = place / f"{number}.answer.json"
        while not file.exists():
            time.sleep(LOOK_SECONDS)
        return streamed(json.loads(file.read_text()), number, len(body) // BYTES_PER_TOKEN)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._send(json.dumps({"object": "list", "data": [{"id": MODEL}]}).encode(), "application/json")

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                self._send(outer._answer(self.path.split("/")[1], body), "text/event-stream")

            def _send(self, body: bytes, kind: str) -> None:
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler


def streamed(answer: dict[str, Any], number: int, read: int) -> bytes:
    """The answer as a stream of one piece, with its tokens."""
    calls = [
        {
            "index": index,
            "id": f"call-{number}-{index}",
            "type": "function",
            "function": {"name": call["name"], "arguments": json.dumps(call["arguments"])},
        }
        for index, call in enumerate(answer.get("calls", ()))
    ]
    delta = {"role": "assistant", "content": answer.get("text", "")} | ({"tool_calls": calls} if calls else {})
    usage = {"prompt_tokens": read, "completion_tokens": len(json.dumps(delta)) // BYTES_PER_TOKEN}
    usage["total_tokens"] = sum(usage.values())
    head = {"id": f"answer-{number}", "object": "chat.completion.chunk", "model": MODEL}
    stop = "tool_calls" if calls else "stop"
    pieces = (
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": stop}], "usage": usage},
    )
    return "".join(f"data: {json.dumps(piece)}\n\n" for piece in pieces).encode() + b"data: [DONE]\n\n"
