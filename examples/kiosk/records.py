"""What happened in a session, as Claude Code and Codex write it down."""

import json
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

Row = dict[str, Any]
REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to "
    "proceed."
)


class Event(NamedTuple):
    """One thing that happened: `kind` says which of the texts mean what, `seconds` how long it took."""

    kind: str
    text: str = ""
    more: str = ""
    code: int = 0
    seconds: int = 6
    path: str = ""


def asks(text: str, *, after: int = 40) -> Event:
    return Event("asks", text, seconds=after)


def says(text: str) -> Event:
    return Event("says", text)


def runs(command: str, output: str, code: int = 0, *, seconds: int = 6) -> Event:
    return Event("runs", command, output, code, seconds)


def reads(path: str, text: str) -> Event:
    return Event("reads", more=text, path=path, seconds=3)


def edits(path: str, old: str, new: str) -> Event:
    return Event("edits", old, new, path=path, seconds=20)


def refuses(command: str) -> Event:
    """The agent asks to run a command, and the person says no."""
    return Event("refuses", command, seconds=15)


def compacts(summary: str) -> Event:
    return Event("compacts", summary, seconds=45)


class _Clock:
    def __init__(self, at: datetime) -> None:
        self.at = at

    def after(self, seconds: int) -> str:
        self.at += timedelta(seconds=seconds)
        return self.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


class ClaudeCode:
    """The rows of one session of Claude Code."""

    def __init__(self, id: str, folder: str, at: datetime) -> None:
        self.id, self.folder, self.clock = id, folder, _Clock(at)
        self.rows: list[Row] = []
        self.calls = 0
        self.context = 11_000

    def text(self, events: list[Event]) -> str:
        for event in events:
            getattr(self, f"_{event.kind}")(event)
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in self.rows)

    def _row(self, kind: str, message: Row, seconds: int, **more: object) -> None:
        before = self.rows[-1]["uuid"] if self.rows else None
        row = {
            "parentUuid": before, "isSidechain": False, "userType": "external", "cwd": self.folder,
            "sessionId": self.id, "version": "2.1.34", "gitBranch": "main", "type": kind, "message": message,
            "uuid": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.id}/{len(self.rows)}")),
            "timestamp": self.clock.after(seconds), **more,
        }  # fmt: skip
        self.rows.append(row)

    def _agent(self, block: Row, seconds: int, output: int) -> None:
        number = len(self.rows)
        self.context += 900
        usage = {"input_tokens": 4, "cache_creation_input_tokens": 900, "cache_read_input_tokens": self.context,
                 "output_tokens": output}  # fmt: skip
        message = {
            "id": f"msg_{self.id[:8]}_{number}", "type": "message", "role": "assistant",
            "model": "claude-sonnet-4-5-20250929", "content": [block],
            "stop_reason": "tool_use" if block["type"] == "tool_use" else "end_turn", "usage": usage,
        }  # fmt: skip
        self._row("assistant", message, seconds, requestId=f"req_{self.id[:8]}_{number}")

    def _call(self, tool: str, given: Row) -> str:
        self.calls += 1
        id = f"toolu_{self.id[:8]}_{self.calls}"
        self._agent({"type": "tool_use", "id": id, "name": tool, "input": given}, 4, 80)
        return id

    def _result(self, id: str, text: str, seconds: int, *, error: bool, told: object) -> None:
        block = {"tool_use_id": id, "type": "tool_result", "content": text, "is_error": error}
        self._row("user", {"role": "user", "content": [block]}, seconds, toolUseResult=told)

    def _asks(self, event: Event) -> None:
        message = {"role": "user", "content": event.text}
        self._row("user", message, event.seconds, promptSource="typed", entrypoint="cli", permissionMode="default")

    def _says(self, event: Event) -> None:
        self._agent({"type": "text", "text": event.text}, event.seconds, 40)

    def _runs(self, event: Event) -> None:
        id = self._call("Bash", {"command": event.text})
        text = f"Exit code {event.code}\n{event.more}" if event.code else event.more
        done = {"stdout": event.more, "stderr": "", "interrupted": False, "isImage": False}
        self._result(id, text, event.seconds, error=bool(event.code), told=f"Error: {text}" if event.code else done)

    def _reads(self, event: Event) -> None:
        path = f"{self.folder}/{event.path}"
        lines = "\n".join(f"{number:6}→{line}" for number, line in enumerate(event.more.splitlines(), 1))
        file = {"filePath": path, "content": event.more, "numLines": event.more.count("\n") + 1, "startLine": 1,
                "totalLines": event.more.count("\n") + 1}  # fmt: skip
        self._result(self._call("Read", {"file_path": path}), lines, event.seconds, error=False,
                     told={"type": "text", "file": file})  # fmt: skip

    def _edits(self, event: Event) -> None:
        path = f"{self.folder}/{event.path}"
        id = self._call("Edit", {"file_path": path, "old_string": event.text, "new_string": event.more})
        told: Row = {"filePath": path, "oldString": event.text, "newString": event.more, "originalFile": None,
                "structuredPatch": [], "userModified": False, "replaceAll": False}  # fmt: skip
        self._result(id, f"The file {path} has been updated.", event.seconds, error=False, told=told)

    def _refuses(self, event: Event) -> None:
        id = self._call("Bash", {"command": event.text})
        self._result(id, REFUSED, event.seconds, error=True, told="User rejected tool use")
        stopped = [{"type": "text", "text": "[Request interrupted by user for tool use]"}]
        self._row("user", {"role": "user", "content": stopped}, 1)

    def _compacts(self, event: Event) -> None:
        said = f"This session is being continued from a previous conversation that ran out of context. {event.text}"
        self.context = 14_000
        self._row("user", {"role": "user", "content": said}, event.seconds, isCompactSummary=True)


class Codex:
    """The rows of one session of Codex."""

    def __init__(self, id: str, folder: str, at: datetime) -> None:
        self.id, self.folder, self.clock = id, folder, _Clock(at)
        self.rows: list[Row] = []
        self.calls = 0
        self.tokens = 9_000

    def text(self, events: list[Event]) -> str:
        meta = {"id": self.id, "timestamp": self.clock.after(0), "cwd": self.folder, "originator": "codex_cli_rs",
                "cli_version": "0.104.0", "source": "cli", "model_provider": "openai"}  # fmt: skip
        self._row("session_meta", meta, 0)
        where = f"<environment_context>\n  <cwd>{self.folder}</cwd>\n  <shell>bash</shell>\n</environment_context>"
        self._message("user", "input_text", where, 1)
        for event in events:
            getattr(self, f"_{event.kind}")(event)
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in self.rows)

    def _row(self, kind: str, payload: Row, seconds: int) -> None:
        self.rows.append({"timestamp": self.clock.after(seconds), "type": kind, "payload": payload})

    def _message(self, role: str, kind: str, text: str, seconds: int) -> None:
        content = [{"type": kind, "text": text}]
        self._row("response_item", {"type": "message", "role": role, "content": content}, seconds)

    def _asks(self, event: Event) -> None:
        self._message("user", "input_text", event.text, event.seconds)
        self._row("event_msg", {"type": "user_message", "message": event.text, "images": []}, 0)
        context = {"cwd": self.folder, "approval_policy": "on-request", "model": "gpt-5.2-codex", "effort": "medium"}
        self._row("turn_context", context, 0)

    def _says(self, event: Event) -> None:
        self._row("event_msg", {"type": "agent_message", "message": event.text}, event.seconds)
        self._message("assistant", "output_text", event.text, 0)
        self._count()

    def _count(self) -> None:
        self.tokens += 1_100
        used = {"input_tokens": self.tokens, "cached_input_tokens": self.tokens - 1_100, "output_tokens": 90,
                "reasoning_output_tokens": 30, "total_tokens": self.tokens + 90}  # fmt: skip
        self._row("event_msg", {"type": "token_count", "info": {"last_token_usage": used}}, 0)

    def _runs(self, event: Event) -> None:
        self.calls += 1
        call_id = f"call_{self.id[-6:]}_{self.calls}"
        given = json.dumps({"cmd": event.text, "workdir": self.folder})
        call = {"type": "function_call", "name": "exec_command", "arguments": given, "call_id": call_id}
        self._row("response_item", call, 4)
        ended = {"type": "exec_command_end", "call_id": call_id, "command": ["bash", "-lc", event.text],
                 "cwd": self.folder, "exit_code": event.code, "status": "failed" if event.code else "completed",
                 "aggregated_output": f"{event.more}\n", "duration": {"secs": event.seconds, "nanos": 0}}  # fmt: skip
        self._row("event_msg", ended, event.seconds)
        output = (
            f"Chunk ID: {self.calls:04x}\nWall time: {event.seconds}.0 seconds\n"
            f"Process exited with code {event.code}\nOutput:\n{event.more}\n"
        )
        self._row("response_item", {"type": "function_call_output", "call_id": call_id, "output": output}, 0)
        self._count()

    def _reads(self, event: Event) -> None:
        self._runs(event._replace(kind="runs", text=f"cat {event.path}"))

    def _edits(self, event: Event) -> None:
        self.calls += 1
        call_id = f"call_{self.id[-6:]}_{self.calls}"
        old, new = (("\n".join(f"{mark}{line}" for line in text.splitlines()))
                    for mark, text in (("-", event.text), ("+", event.more)))  # fmt: skip
        patch = f"*** Begin Patch\n*** Update File: {event.path}\n@@\n{old}\n{new}\n*** End Patch"
        call = {"type": "custom_tool_call", "status": "completed", "call_id": call_id, "name": "apply_patch",
                "input": patch}  # fmt: skip
        self._row("response_item", call, event.seconds)
        done = f"Success. Updated the following files:\nM {event.path}\n"
        self._row("event_msg", {"type": "patch_apply_end", "call_id": call_id, "success": True, "stdout": done}, 1)
        output = json.dumps({"output": done, "metadata": {"exit_code": 0, "duration_seconds": 0.0}})
        self._row("response_item", {"type": "custom_tool_call_output", "call_id": call_id, "output": output}, 0)
        self._count()
