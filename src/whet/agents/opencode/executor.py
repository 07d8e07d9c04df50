"""OpenCode as an executor: `opencode run --format json` with folders of its own."""

from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

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
from whet.text import fields

FOLDERS = ("data", "config", "cache", "state")


def launch(errand: Errand, program: str) -> ProgramLaunch:
    words = [program, "run", "--format", "json"]
    if errand.model:
        words += ["-m", errand.model]
    variables = {f"XDG_{name.upper()}_HOME": str(errand.config / name) for name in FOLDERS}
    return ProgramLaunch((*words, "--", errand.task), {**variables, "OPENCODE_DISABLE_AUTOUPDATE": "1"})


def carried(left: Left, transcript: Transcript | None) -> Carried:
    if transcript is None:
        return without_record(left)
    events = events_of(left.output)
    errors = [str(event.get("error", "")) for event in events if fields.text(event, "type") == "error"]
    validity, why = Validity.VALID, ""
    if left.exit_code is None:
        validity, why = Validity.TIMED_OUT, "its time was over"
    elif errors or left.exit_code:
        why = (errors[-1] if errors else left.errors.strip())[:WHY_CHARACTERS]
        validity = refusal_in(why) or Validity.CRASHED
    return Carried(transcript, _used(events), validity, why, transcript.version, transcript.model, left.seconds)


def _used(events: list[dict[str, Any]]) -> Usage:
    used = Usage()
    for event in events:
        tokens = fields.mapping(fields.mapping(event, "part"), "tokens")
        cache = fields.mapping(tokens, "cache")
        used = Usage(
            input=used.input + fields.whole(tokens, "input") + fields.whole(cache, "read"),
            output=used.output + fields.whole(tokens, "output"),
            cached=used.cached + fields.whole(cache, "read"),
        )
    return used


# All that it keeps lies where the XDG variables point.
EXECUTOR = Executor(
    "opencode",
    launch,
    carried,
    ("data/opencode", "*.db"),
    variables=("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY", "OPENCODE_API_KEY"),
    endpoints=(
        "https://api.anthropic.com",
        "https://api.openai.com",
        "https://generativelanguage.googleapis.com",
        "https://openrouter.ai",
        "https://opencode.ai",
        "https://models.dev",
    ),
    places=MappingProxyType(
        {
            "opencode.json": "config/opencode",
            "opencode.jsonc": "config/opencode",
            "auth.json": "data/opencode",
        }
    ),
)


READER_NAME = "whet-reader"
LOGIN = "opencode/auth.json"


def launch_reader(errand: ReadingErrand, program: str) -> ReadingLaunch:
    """Without tools and plugins; its record goes with its folder, to which the person's login is linked."""
    words = [program, "run", "--format", "json", "--pure", "--title", "whet", "--agent", READER_NAME]
    if errand.model:
        words += ["-m", errand.model]
    silent = {"mode": "primary", "prompt": errand.system, "tools": {"*": False}, "permission": {"*": "deny"}}
    settings = {"share": "disabled", "autoupdate": False, "snapshot": False, "agent": {READER_NAME: silent}}
    environment = errand.environment
    data = Path(environment.get("XDG_DATA_HOME") or Path(environment.get("HOME") or "~", ".local", "share"))
    variables = {
        "XDG_DATA_HOME": str(errand.folder),
        "OPENCODE_CONFIG_CONTENT": msgspec.json.encode(settings).decode(),
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
    }
    return ReadingLaunch(tuple(words), variables, links={LOGIN: data.expanduser() / LOGIN})


def answer_of(left: Left) -> ReaderAnswer:
    events = events_of(left.output)
    errors = [str(event.get("error", "")) for event in events if fields.text(event, "type") == "error"]
    parts = [fields.mapping(event, "part") for event in events if fields.text(event, "type") == "text"]
    said = "".join(fields.text(part, "text") for part in parts)
    if errors or left.exit_code != 0 or not events:
        return refused(left, errors[-1] if errors else "")._replace(usage=_used(events))
    return ReaderAnswer(said, _used(events))


READER = ProgramReader("opencode", launch_reader, answer_of, keys=EXECUTOR.variables)
