"""Small files in the GGUF format, and a hub on loopback that serves files as real ones do, with their faults."""

import contextlib
import struct
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


def gguf(fields: dict[str, Any], *, version: int = 3) -> bytes:
    """A model file with these fields and no weights."""
    body = b"GGUF" + struct.pack("<IQQ", version, 0, len(fields))
    for name, value in fields.items():
        body += _string(name) + _value(value)
    return body


def _value(value: Any) -> bytes:
    if isinstance(value, str):
        return struct.pack("<I", 8) + _string(value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if value and isinstance(value[0], str):
        return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(_string(each) for each in value)
    return struct.pack("<IIQ", 9, 5, len(value)) + struct.pack(f"<{len(value)}i", *value)


def _string(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


MODEL = gguf(
    {
        "general.architecture": "llama",
        "general.name": "TinyLlama 1B",
        "llama.context_length": 4096,
        "tokenizer.ggml.tokens": ["a", "<|im_end|>", "b"],
        "tokenizer.ggml.token_type": [1, 3, 1],
        "tokenizer.chat_template": "{{ messages }} {{ tools }}",
    }
)


class Served(NamedTuple):
    """A file as the hub serves it. `cut` is after how many bytes it breaks off, once for each number."""

    body: bytes
    sha256: str = ""
    status: int = 200
    cuts: tuple[int, ...] = ()


class Hub:
    """A hub with one file, which it sends on to where the file lies, and what it was asked."""

    def __init__(self, served: Served) -> None:
        self.served = served
        self.cuts = list(served.cuts)
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.address = ""
        self.elsewhere = ""


@contextlib.contextmanager
def hub_with(served: Served) -> Iterator[Hub]:
    """A hub on one port that sends on to another one, as hubs do."""
    hub = Hub(served)

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            hub.asked.append((self.path, dict(self.headers.items())))
            is_hub = hub.address.endswith(self.headers["Host"])
            self.send_response(200 if not is_hub else 302 if served.status == 200 else served.status)
            if is_hub:
                self.send_header("Location", f"{hub.elsewhere}/blob")
                if served.sha256:
                    self.send_header("X-Linked-ETag", f'"{served.sha256}"')
            else:
                self.send_header("Content-Length", str(len(served.body)))
            self.end_headers()
            if not is_hub:
                self.wfile.write(served.body[: hub.cuts.pop(0) if hub.cuts else None])

        def log_message(self, format: str, *args: object) -> None:
            """Tests say nothing."""

    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), Answers)) for _ in range(2)]
        hub.address, hub.elsewhere = (f"http://127.0.0.1:{server.server_address[1]}" for server in servers)
        for server in servers:
            thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
            thread.start()
            stack.callback(thread.join)
            stack.callback(server.shutdown)
        yield hub
