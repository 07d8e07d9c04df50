"""Codex as an executor: `codex exec --json` with a CODEX_HOME of its own."""

import tomllib
from pathlib import Path
from typing import Any

from whet.agents.executor import (
    WHY_CHARACTERS,
    Carried,
    Errand,
    Executor,
    Left,
    ProgramLaunch,
    ProgramReader,
    ReaderAnswer,
    ReadingErrand,
    ReadingLaunch,
    Validity,
    events_of,
    refusal_in,
    refused,
    without_record,
)
from whet.sessions.transcripts import Transcript, Usage
from whet.text import fields, toml


def launch(errand: Errand, program: str) -> ProgramLaunch:
    words = [
        program,
        "exec",
        "--json",
        "--skip-git-repo-check",
        "-C",
        str(errand.workspace),
        "-s",
        "danger-full-access",
    ]
    if errand.model:
        words += ["-c", f"model={errand.model}"]
    return ProgramLaunch((*words, "--", errand.task), {"CODEX_HOME": str(errand.config)})


def carried(left: Left, transcript: Transcript | None) -> Carried:
    if transcript is None:
        return without_record(left)
    events = events_of(left.output)
    validity, why = _validity(events, left)
    return Carried(transcript, _used(events), validity, why, transcript.version, transcript.model, left.seconds)


def _used(events: list[dict[str, Any]]) -> Usage:
    usage = next((fields.mapping(event, "usage") for event in reversed(events) if "usage" in event), {})
    return Usage(
        input=fields.whole(usage, "input_tokens"),
        output=fields.whole(usage, "output_tokens"),
        cached=fields.whole(usage, "cached_input_tokens"),
    )


def _validity(events: list[dict[str, Any]], left: Left) -> tuple[Validity, str]:
    if left.exit_code is None:
        return Validity.TIMED_OUT, "its time was over"
    turns = [kind for event in events if (kind := fields.text(event, "type")).startswith("turn.")]
    if not left.exit_code and turns[-1:] == ["turn.completed"]:
        return Validity.VALID, ""  # a connection that broke off and came back is told of as an error too
    said = [fields.text(event, "message") or fields.text(fields.mapping(event, "error"), "message") for event in events
            if fields.text(event, "type") in ("error", "turn.failed")]  # fmt: skip
    why = (said[-1] if said else left.errors.strip())[:WHY_CHARACTERS]
    return refusal_in(" ".join(said)) or Validity.CRASHED, why


# Its own sandbox is left off, for ours is around it: two of them cannot be nested.
EXECUTOR = Executor(
    "codex",
    launch,
    carried,
    ("sessions", "*.jsonl"),
    variables=("OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEX_API_KEY"),
    endpoints=("https://api.openai.com", "https://chatgpt.com", "https://auth.openai.com"),
)


# Each gives its model a tool, or reads what the person added to it; one that a version does not know, it ignores.
FEATURES_OFF = (
    "shell_tool", "unified_exec", "view_image", "multi_agent", "goals", "apps", "plugins", "remote_plugin", "hooks",
    "skill_search", "tool_suggest", "image_generation", "sleep_tool", "browser_use", "computer_use",
)  # fmt: skip


def launch_reader(errand: ReadingErrand, program: str) -> ReadingLaunch:
    """Without tools, servers and a record; the person's login, provider and model stay."""
    words = [program, "exec", "--json", "--ephemeral", "--ignore-rules"]
    words += ["-s", "read-only", "--skip-git-repo-check", "-C", str(errand.folder)]
    settings = [f"features.{name}=false" for name in FEATURES_OFF]
    settings += ['web_search="disabled"', "project_doc_max_bytes=0", "skills.include_instructions=false"]
    settings += [f"mcp_servers.{toml.key_of(name)}.enabled=false" for name in _servers(errand)]
    settings.append("notify=[]")
    settings.append(f"developer_instructions={toml.encoded(errand.system)}")
    if errand.model:
        settings.append(f"model={toml.encoded(errand.model)}")
    for each in settings:
        words += ["-c", each]
    return ReadingLaunch((*words, "-"))


def _servers(errand: ReadingErrand) -> tuple[str, ...]:
    """The MCP servers of the person's settings; where these cannot be read, the program says so itself."""
    environment = errand.environment
    home = Path(environment.get("CODEX_HOME") or Path(environment.get("HOME") or "~", ".codex")).expanduser()
    try:
        settings = tomllib.loads((home / "config.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ()
    return tuple(fields.mapping(settings, "mcp_servers"))


def answer_of(left: Left) -> ReaderAnswer:
    events = events_of(left.output)
    validity, why = _validity(events, left)
    if validity is not Validity.VALID:
        return refused(left, why)._replace(usage=_used(events))
    items = (fields.mapping(event, "item") for event in events if fields.text(event, "type") == "item.completed")
    said = [fields.text(item, "text") for item in items if fields.text(item, "type") == "agent_message"]
    return ReaderAnswer(said[-1] if said else "", _used(events))


READER = ProgramReader("codex", launch_reader, answer_of, keys=("OPENAI_API_KEY", "CODEX_API_KEY"))
