"""A corpus made up for the benches: sessions in Claude Code's and Codex's form, with text that looks like work."""

import json
import random
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FILE_BYTES = 2_000_000
CALLS_A_REQUEST = 9
SYLLABLES = ("par", "mes", "ses", "con", "get", "out", "fil", "re", "to", "na", "lo", "ba", "ko", "de", "er", "in")
FOLDER = "/home/kim/app"
START = "2026-01-01T00:00:00.000Z"


class Writer:
    """Names and lines of code, log and prose, with some names far more common than others."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names = [self._name() for _ in range(2_000)]

    def _name(self) -> str:
        name = "".join(self.random.choice(SYLLABLES) for _ in range(self.random.randint(1, 4)))
        return name + (str(self.random.randint(0, 6)) * self.random.randint(1, 2) if self.random.random() < 0.6 else "")

    def name(self) -> str:
        return self.names[min(int(self.random.paretovariate(0.7)) - 1, len(self.names) - 1)]

    def words(self, low: int, high: int) -> str:
        return " ".join(self.name() for _ in range(self.random.randint(low, high)))

    def line(self) -> str:
        match self.random.randint(0, 5):
            case 0:
                arguments = ", ".join(["self", *self.words(1, 3).split()])
                return f"def {'_'.join(self.words(1, 3).split())}({arguments}) -> {self.name().capitalize()}:"
            case 1:
                path = "/".join(self.words(2, 4).split())
                return f"src/{path}.py:{self.random.randint(1, 900)}: {self.words(3, 8)}"
            case 2:
                called = ".".join(self.words(2, 3).split())
                return f"    {'_'.join(self.words(1, 3).split())} = {called}({', '.join(self.words(0, 3).split())})"
            case 3:
                day, second = self.random.randint(1, 28), self.random.randint(0, 59)
                return f"2026-01-{day:02} 12:00:{second:02} INFO {self.words(5, 7)}"
            case 4:
                number, path = self.random.randint(1, 999_999), "/".join(self.words(2, 3).split())
                return json.dumps({"id": number, "name": self.name(), "path": path})
            case _:
                return self.words(10, 22).capitalize() + "."

    def lines(self, low: int, high: int) -> str:
        return "\n".join(self.line() for _ in range(self.random.randint(low, high)))

    def id(self) -> str:
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))


def write_corpus(folder: Path, size_bytes: int) -> list[Path]:
    """Files of about two megabytes each, the two forms in turn, that together reach the size."""
    files: list[Path] = []
    written = 0
    while written < size_bytes:
        writer = Writer(len(files))
        session = writer.id()
        claude = len(files) % 2 == 0
        name = f"{session}.jsonl" if claude else f"rollout-2026-01-01T00-00-00-{session}.jsonl"
        records = _claude_code(writer, session) if claude else _codex(writer, session)
        path = folder / name
        written += _write(path, records)
        files.append(path)
    return files


def _write(path: Path, records: Iterator[dict[str, Any]]) -> int:
    size = 0
    with path.open("w") as file:
        for record in records:
            size += file.write(json.dumps(record, separators=(",", ":")) + "\n")
            if size >= FILE_BYTES:
                break
    return size


def _claude_code(writer: Writer, session: str) -> Iterator[dict[str, Any]]:
    parent, second = "", 0
    common = {"isSidechain": False, "cwd": FOLDER, "sessionId": session, "version": "2.1.0"}
    while True:
        for call in range(CALLS_A_REQUEST + 1):
            second += 1
            own = writer.id()
            at = f"2026-01-01T{second // 3600 % 24:02}:{second // 60 % 60:02}:{second % 60:02}.000Z"
            line = {**common, "parentUuid": parent, "uuid": own, "timestamp": at}
            parent = own
            if call == 0:
                yield {**line, "type": "user", "message": {"role": "user", "content": writer.lines(1, 6)}}
                continue
            use = {"type": "tool_use", "id": writer.id(), "name": "Bash", "input": {"command": writer.lines(1, 2)}}
            usage = {"input_tokens": 10, "output_tokens": 120, "cache_read_input_tokens": 40_000}
            message = {"id": parent, "role": "assistant", "model": "some-model", "usage": usage}
            yield {
                **line,
                "type": "assistant",
                "message": {**message, "content": [{"type": "text", "text": writer.lines(1, 5)}, use]},
            }
            output = writer.lines(2, 40)
            answer = {"type": "tool_result", "tool_use_id": use["id"], "content": output, "is_error": False}
            yield {
                **line,
                "parentUuid": parent,
                "uuid": writer.id(),
                "type": "user",
                "message": {"role": "user", "content": [answer]},
                "toolUseResult": {"stdout": output, "stderr": "", "interrupted": False},
            }


def _codex(writer: Writer, session: str) -> Iterator[dict[str, Any]]:
    def line(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
        return {"timestamp": START, "type": kind, "payload": payload}

    def said(role: str, kind: str, text: str) -> dict[str, Any]:
        block = {"type": kind, "text": text}
        return line("response_item", {"type": "message", "role": role, "content": [block]})

    yield line("session_meta", {"id": session, "cwd": FOLDER, "cli_version": "0.50.0"})
    yield line("turn_context", {"model": "some-model", "cwd": FOLDER})
    while True:
        yield said("user", "input_text", writer.lines(1, 6))
        for _ in range(CALLS_A_REQUEST):
            words, call_id = writer.lines(1, 5), writer.id()
            yield said("assistant", "output_text", words)
            yield line("event_msg", {"type": "agent_message", "message": words})
            arguments = json.dumps({"command": ["bash", "-lc", writer.lines(1, 2)]})
            call = {"type": "function_call", "name": "shell", "arguments": arguments, "call_id": call_id}
            yield line("response_item", call)
            metadata = {"exit_code": 0, "duration_seconds": 0.1}
            output = json.dumps({"output": writer.lines(2, 40), "metadata": metadata})
            yield line("response_item", {"type": "function_call_output", "call_id": call_id, "output": output})
