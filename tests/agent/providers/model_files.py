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
    with _listening(_front(hub)) as front, _listening(_store(hub)) as store:
        hub.address, hub.elsewhere = front, store
        yield hub


@contextlib.contextmanager
def _listening(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


class _Quiet(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Tests say nothing."""


def _front(hub: Hub) -> type[BaseHTTPRequestHandler]:
    class Front(_Quiet):
        def do_GET(self) -> None:
            hub.asked.append((self.path, dict(self.headers.items())))
            if hub.served.status != 200:
                self.send_response(hub.served.status)
                self.end_headers()
                return
            self.send_response(302)
            self.send_header("Location", f"{hub.elsewhere}/blob")
            if hub.served.sha256:
                self.send_header("X-Linked-ETag", f'"{hub.served.sha256}"')
            self.end_headers()

    return Front


def _store(hub: Hub) -> type[BaseHTTPRequestHandler]:
    class Store(_Quiet):
        def do_GET(self) -> None:
            hub.asked.append((self.path, dict(self.headers.items())))
            body = hub.served.body
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            end = hub.cuts.pop(0) if hub.cuts else len(body)
            self.wfile.write(body[:end])

    return Store
