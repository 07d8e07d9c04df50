"""Codex as an executor: `codex exec --json` with a CODEX_HOME of its own."""

from typing import Any

import msgspec

from whet.executors.errands import Carried, Errand, Left, ProgramLaunch, Validity
from whet.executors.records import newest_transcript, without_record
from whet.sessions.transcripts import Usage
from whet.text import fields

LIMITS = ("rate limit", "usage limit", "quota", "429", "too many requests")
LOGINS = ("401", "unauthorized", "not logged in", "login")


class Codex:
    """Its own sandbox is left off, for ours is around it: two of them cannot be nested."""

    name = "codex"
    program = "codex"
    instructions = "AGENTS.md"
    skills = ".agents/skills"

    def launch(self, errand: Errand, program: str) -> ProgramLaunch:
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
        return ProgramLaunch((*words, errand.task), {"CODEX_HOME": str(errand.config)})

    def carried(self, errand: Errand, left: Left) -> Carried:
        transcript = newest_transcript(errand.config / "sessions", "*.jsonl")
        if transcript is None:
            return without_record(left)
        events = _events(left.output)
        usage = next((fields.mapping(event, "usage") for event in reversed(events) if "usage" in event), {})
        counted = Usage(
            input=fields.whole(usage, "input_tokens"),
            output=fields.whole(usage, "output_tokens"),
            cached=fields.whole(usage, "cached_input_tokens"),
        )
        validity, why = _validity(events, left)
        return Carried(transcript, counted, validity, why, transcript.version, transcript.model, left.seconds)


def _events(output: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for line in output.splitlines():
        try:
            value = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError):
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def _validity(events: list[dict[str, Any]], left: Left) -> tuple[Validity, str]:
    if left.exit_code is None:
        return Validity.TIMED_OUT, "its time was over"
    said = [fields.text(event, "message") or fields.text(fields.mapping(event, "error"), "message") for event in events
            if fields.text(event, "type") in ("error", "turn.failed")]  # fmt: skip
    words = " ".join(said).lower()
    if any(each in words for each in LIMITS):
        return Validity.LIMITED, said[-1][:200]
    if any(each in words for each in LOGINS):
        return Validity.NO_LOGIN, said[-1][:200]
    if said or left.exit_code:
        return Validity.CRASHED, (said[-1] if said else left.errors.strip())[:200]
    return Validity.VALID, ""


EXECUTOR = Codex()
