"""OpenCode as an executor: `opencode run --format json` with folders of its own."""

from typing import Any

import msgspec

from whet.executors.errands import Carried, Errand, Left, ProgramLaunch, Validity
from whet.executors.records import newest_transcript, without_record
from whet.sessions.transcripts import Usage
from whet.text import fields

FOLDERS = ("data", "config", "cache", "state")


class OpenCode:
    """All that it keeps lies where the XDG variables point."""

    name = "opencode"
    program = "opencode"
    instructions = "AGENTS.md"
    skills = ".agents/skills"

    def launch(self, errand: Errand, program: str) -> ProgramLaunch:
        words = [program, "run", "--format", "json"]
        if errand.model:
            words += ["-m", errand.model]
        variables = {f"XDG_{name.upper()}_HOME": str(errand.config / name) for name in FOLDERS}
        return ProgramLaunch((*words, errand.task), {**variables, "OPENCODE_DISABLE_AUTOUPDATE": "1"})

    def carried(self, errand: Errand, left: Left) -> Carried:
        transcript = newest_transcript(errand.config / "data" / "opencode", "*.db")
        if transcript is None:
            return without_record(left)
        used = Usage()
        for event in _events(left.output):
            tokens = fields.mapping(fields.mapping(event, "part"), "tokens")
            cache = fields.mapping(tokens, "cache")
            used = Usage(
                input=used.input + fields.whole(tokens, "input") + fields.whole(cache, "read"),
                output=used.output + fields.whole(tokens, "output"),
                cached=used.cached + fields.whole(cache, "read"),
            )
        errors = [event for event in _events(left.output) if fields.text(event, "type") == "error"]
        validity, why = Validity.VALID, ""
        if left.exit_code is None:
            validity, why = Validity.TIMED_OUT, "its time was over"
        elif errors or left.exit_code:
            validity, why = Validity.CRASHED, (str(errors[-1].get("error", ""))[:200] if errors else left.errors[:200])
        return Carried(transcript, used, validity, why, transcript.version, transcript.model, left.seconds)


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


EXECUTOR = OpenCode()
