"""Gemini CLI as an executor: `gemini -p --output-format json` with a home of its own."""

import contextlib
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
    refusal_in,
    refused,
    without_record,
)
from whet.sessions.transcripts import Transcript, Usage, total
from whet.text import fields

AUTHENTICATION = 41  # the exit code by which it says that nobody is logged in


def launch(errand: Errand, program: str) -> ProgramLaunch:
    words = [program, "--output-format", "json", "--approval-mode", "yolo", "--skip-trust"]
    if errand.model:
        words += ["-m", errand.model]
    return ProgramLaunch((*words, f"--prompt={errand.task}"), {"GEMINI_CLI_HOME": str(errand.config)})


def carried(left: Left, transcript: Transcript | None) -> Carried:
    if transcript is None:
        lost = without_record(left)
        return lost._replace(validity=Validity.NO_LOGIN) if left.exit_code == AUTHENTICATION else lost
    used = transcript.usage or total(message.usage for message in transcript.messages)
    validity, why = _validity(left)
    return Carried(transcript, used, validity, why, transcript.version, transcript.model, left.seconds)


def _validity(left: Left) -> tuple[Validity, str]:
    if left.exit_code is None:
        return Validity.TIMED_OUT, "its time was over"
    error = fields.mapping(_result(left.output) or _result(left.errors), "error")
    if not error and not left.exit_code:
        return Validity.VALID, ""
    why = fields.text(error, "message") or left.errors.strip() or f"it ended with {left.exit_code}"
    return refusal_in(why) or Validity.CRASHED, why[:WHY_CHARACTERS]


def _result(output: str) -> dict[str, Any]:
    """The object that it reports, which stands behind what it prints for people."""
    with contextlib.suppress(msgspec.DecodeError, RecursionError):
        value = msgspec.json.decode(output[output.find("{") :] if "{" in output else "{}")
        if isinstance(value, dict):
            return value
    return {}


# What it keeps lies in .gemini in its home folder.
EXECUTOR = Executor(
    "gemini",
    launch,
    carried,
    (".gemini/tmp", "session-*"),
    variables=(
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        "GOOGLE_GEMINI_BASE_URL",
        "GOOGLE_GENAI_USE_VERTEXAI",
        "GOOGLE_CLOUD_PROJECT",
        "GOOGLE_CLOUD_LOCATION",
    ),
    endpoints=(
        "https://generativelanguage.googleapis.com",
        "https://aiplatform.googleapis.com",
        "https://oauth2.googleapis.com",
        "https://cloudcode-pa.googleapis.com",
    ),
    places=MappingProxyType(
        {
            "settings.json": ".gemini",
            "oauth_creds.json": ".gemini",
            "google_accounts.json": ".gemini",
        }
    ),
)


DENY_ALL = '[[rule]]\ntoolName = "*"\ndecision = "deny"\npriority = 999\n'
SILENT = """{
  "tools": {"core": ["none"]},
  "hooksConfig": {"enabled": false},
  "skills": {"enabled": false},
  "context": {"fileName": ["none.md"]},
  "general": {"enableAutoUpdate": false}
}
"""


def launch_reader(errand: ReadingErrand, program: str) -> ReadingLaunch:
    """Without tools, extensions and hooks. It keeps a record, which the mark in the prompt names."""
    folder = errand.folder
    words = [program, "--output-format", "json", "--skip-trust", "--approval-mode", "plan", "-e", "none"]
    words += ["--allowed-mcp-server-names", "none", "--policy", str(folder / "deny.toml")]
    if errand.model:
        words += ["-m", errand.model]
    variables = {"GEMINI_SYSTEM_MD": str(folder / "system.md"), "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    files = {"deny.toml": DENY_ALL, "system.md": errand.system, ".gemini/settings.json": SILENT}
    return ReadingLaunch(tuple(words), variables, files)


def answer_of(left: Left) -> ReaderAnswer:
    result = _result(left.output)
    models = fields.mapping(fields.mapping(result, "stats"), "models")
    counts = [fields.mapping(fields.mapping(models, name), "tokens") for name in models]
    used = Usage(
        input=sum(fields.whole(each, "prompt") for each in counts),
        output=sum(fields.whole(each, "candidates") + fields.whole(each, "thoughts") for each in counts),
        cached=sum(fields.whole(each, "cached") for each in counts),
    )
    validity, why = _validity(left)
    if validity is not Validity.VALID:
        return refused(left, why)._replace(usage=used)
    return ReaderAnswer(fields.text(result, "response"), used, next(iter(models), ""))


READER = ProgramReader("gemini", launch_reader, answer_of, keys=("GEMINI_API_KEY", "GOOGLE_API_KEY"))
