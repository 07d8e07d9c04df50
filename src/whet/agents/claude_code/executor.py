"""Claude Code as an executor: `claude -p` with a config folder of its own."""

import contextlib
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
    refusal_in,
    refused,
    without_record,
)
from whet.sessions.transcripts import Transcript, Usage
from whet.text import fields

ALLOWED = "Bash,Read,Edit,Write,MultiEdit,Glob,Grep,LS,NotebookEdit,TodoWrite,Task,Skill"

# Of its own, which the case sets: what was done until then counts.
LIMITS_REACHED = ("error_max_turns", "error_max_budget_usd")


def launch(errand: Errand, program: str) -> ProgramLaunch:
    words = [
        program, "-p", "--output-format", "json", "--permission-mode", "dontAsk",
        "--allowedTools", ALLOWED, "--setting-sources", "project", "--strict-mcp-config",
    ]  # fmt: skip
    if errand.model:
        words += ["--model", errand.model]
    if errand.dollars is not None:
        words += ["--max-budget-usd", f"{errand.dollars:.2f}"]
    if errand.turns is not None:
        words += ["--max-turns", str(errand.turns)]
    variables = {
        "CLAUDE_CONFIG_DIR": str(errand.config),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }
    return ProgramLaunch((*words, "--", errand.task), variables)


def carried(left: Left, transcript: Transcript | None) -> Carried:
    result = _result(left.output)
    if transcript is None:
        return without_record(left)
    validity, why = _validity(result, left)
    models = sorted(fields.mapping(result, "modelUsage"))  # one for small tasks may be among them
    return Carried(
        transcript,
        _used(result),
        validity,
        why,
        transcript.version,
        transcript.model or (models[0] if models else ""),
        left.seconds,
    )


def _used(result: dict[str, Any]) -> Usage:
    usage = fields.mapping(result, "usage")
    return Usage(
        input=fields.whole(usage, "input_tokens")
        + fields.whole(usage, "cache_read_input_tokens")
        + fields.whole(usage, "cache_creation_input_tokens"),
        output=fields.whole(usage, "output_tokens"),
        cached=fields.whole(usage, "cache_read_input_tokens"),
        cache_written=fields.whole(usage, "cache_creation_input_tokens"),
        cost_dollars=fields.amount(result.get("total_cost_usd")),
    )


def _result(output: str) -> dict[str, Any]:
    with contextlib.suppress(msgspec.DecodeError, RecursionError):
        value = msgspec.json.decode(output.strip() or "{}")
        if isinstance(value, list):
            value = next((each for each in reversed(value) if isinstance(each, dict)), {})
        if isinstance(value, dict):
            return value
    return {}


def _validity(result: dict[str, Any], left: Left) -> tuple[Validity, str]:
    if left.exit_code is None:
        return Validity.TIMED_OUT, "its time was over"
    denials = fields.objects(result, "permission_denials")
    if denials:
        names = sorted({fields.text(denial, "tool_name") or "a tool" for denial in denials})
        return Validity.DENIED, f"it was not allowed to use {', '.join(names)}"
    said = fields.text(result, "result")
    status = fields.whole(result, "api_error_status")
    if status in (401, 403):
        return Validity.NO_LOGIN, said[:WHY_CHARACTERS] or "it is not logged in"
    if status in (402, 429, 529):
        return Validity.LIMITED, said[:WHY_CHARACTERS] or f"the service answered {status}"
    if left.exit_code and not result:
        return Validity.CRASHED, left.errors.strip()[:WHY_CHARACTERS] or f"it ended with {left.exit_code}"
    if result.get("is_error") and fields.text(result, "subtype") not in LIMITS_REACHED:
        return refusal_in(said) or Validity.CRASHED, said[:WHY_CHARACTERS]
    return Validity.VALID, ""


# The settings of the person and of their projects stay out: only those of the workspace count.
EXECUTOR = Executor(
    "claude",
    launch,
    carried,
    ("projects", "*.jsonl"),
    variables=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN"),
    endpoints=("https://api.anthropic.com", "https://console.anthropic.com", "https://platform.claude.com"),
)


def launch_reader(errand: ReadingErrand, program: str) -> ReadingLaunch:
    """Without tools, without a record, and without what the person's settings add; their login and model stay."""
    words = [
        program, "-p", "--tools", "", "--no-session-persistence", "--safe-mode", "--strict-mcp-config",
        "--disable-slash-commands", "--output-format", "json", "--system-prompt", errand.system,
    ]  # fmt: skip
    if errand.model:
        words += ["--model", errand.model]
    if errand.dollars is not None:
        words += ["--max-budget-usd", f"{errand.dollars:.2f}"]
    quiet = ("DISABLE_AUTOUPDATER", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC")
    return ReadingLaunch(tuple(words), dict.fromkeys(quiet, "1"))


def answer_of(left: Left) -> ReaderAnswer:
    result = _result(left.output)
    said = fields.text(result, "result")
    if left.exit_code != 0 or result.get("is_error") or not result:
        return refused(left, said)._replace(usage=_used(result))
    models = sorted(fields.mapping(result, "modelUsage"))
    return ReaderAnswer(said, _used(result), models[0] if models else "")


READER = ProgramReader("claude", launch_reader, answer_of, keys=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"))
