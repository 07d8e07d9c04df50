"""Gemini CLI as an executor: `gemini -p --output-format json` with a home of its own."""

import contextlib
from collections.abc import Mapping
from typing import Any

import msgspec

from whet.executors.errands import Carried, Errand, Left, ProgramLaunch, Validity
from whet.executors.records import WHY_CHARACTERS, newest_transcript, refusal_in, without_record
from whet.sessions.usage import total
from whet.text import fields

AUTHENTICATION = 41  # the exit code by which it says that nobody is logged in


class Gemini:
    """What it keeps lies in .gemini in its home folder."""

    name = "gemini"
    program = "gemini"
    target = "gemini"
    instructions = "GEMINI.md"
    skills = ".agents/skills"
    variables = (
        "GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI",
        "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION",
    )  # fmt: skip
    begins_warm = False
    places: Mapping[str, str] = {
        "settings.json": ".gemini", "oauth_creds.json": ".gemini", "google_accounts.json": ".gemini",
    }  # fmt: skip

    def launch(self, errand: Errand, program: str) -> ProgramLaunch:
        words = [program, "--output-format", "json", "--approval-mode", "yolo", "--skip-trust"]
        if errand.model:
            words += ["-m", errand.model]
        return ProgramLaunch((*words, f"--prompt={errand.task}"), {"GEMINI_CLI_HOME": str(errand.config)})

    def carried(self, errand: Errand, left: Left) -> Carried:
        transcript = newest_transcript(errand.config / ".gemini" / "tmp", "session-*")
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


EXECUTOR = Gemini()
