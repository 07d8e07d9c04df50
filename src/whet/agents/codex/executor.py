"""Codex as an executor: `codex exec --json` with a CODEX_HOME of its own."""

from typing import Any

from whet.agents.executor import (
    WHY_CHARACTERS,
    Carried,
    Errand,
    Executor,
    Left,
    ProgramLaunch,
    Validity,
    events_of,
    refusal_in,
    without_record,
)
from whet.sessions.transcripts import Transcript, Usage
from whet.text import fields


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
    usage = next((fields.mapping(event, "usage") for event in reversed(events) if "usage" in event), {})
    counted = Usage(
        input=fields.whole(usage, "input_tokens"),
        output=fields.whole(usage, "output_tokens"),
        cached=fields.whole(usage, "cached_input_tokens"),
    )
    validity, why = _validity(events, left)
    return Carried(transcript, counted, validity, why, transcript.version, transcript.model, left.seconds)


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
