"""Sessions of Claude Code that teach something, as they stand in its files."""

import time
from pathlib import Path

from whet.improving.learned import lessons_of, propose_lesson
from whet.store.home import Home
from whet.store.opening import opened

ORDER = "Never wrap lines in the markdown"


def claude_rows(name: str, folder: Path, order: str = ORDER) -> list[dict[str, object]]:
    """A session of Claude Code in which a command failed, another form of it worked, and the person gave an order."""

    def row(number: int, kind: str, content: object, **more: object) -> dict[str, object]:
        at = f"2026-10-01T10:00:{number:02}.000Z"
        uuid, parent = f"{name}-{number}", f"{name}-{number - 1}" if number else None
        body = {"role": kind, "content": content, **({"model": "m-1"} if kind == "assistant" else {})}
        base = {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": name, "cwd": str(folder)}
        return {**base, "timestamp": at, "message": body, **more}

    def use(number: int, command: str) -> dict[str, object]:
        called = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": command}}
        return row(number, "assistant", [called])

    def answer(number: int, text: str, *, error: bool = False) -> dict[str, object]:
        result = {"type": "tool_result", "tool_use_id": f"t{number - 1}", "content": text, "is_error": error}
        return row(number, "user", [result])

    return [
        row(0, "user", f"Install what {name} needs"),
        use(1, "rtk bun install"),
        answer(2, "Exit code 2\nerror: unrecognized subcommand 'bun'", error=True),
        use(3, "bun install"),
        answer(4, "Done"),
        row(5, "assistant", [{"type": "text", "text": "Installed."}]),
        row(6, "user", order),
        row(7, "assistant", [{"type": "text", "text": "I will not."}]),
    ]


def proposed(home: Home, *ids: str) -> list[int]:
    """Let lessons wait for a person; the entries that propose them."""
    with opened(home) as database:
        known = {each.id: each for each in lessons_of(home, database)}
        return [propose_lesson(home, database, known[id], now=time.time()).number for id in ids]
