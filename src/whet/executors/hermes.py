"""Hermes as an executor: `hermes -z` with a HERMES_HOME of its own."""

from collections.abc import Mapping

from msgspec.structs import replace

from whet.executors.errands import Carried, Errand, Left, ProgramLaunch, Validity
from whet.executors.records import WHY_CHARACTERS, events_of, newest_transcript, refusal_in, text_of, without_record
from whet.sessions.usage import total
from whet.text import fields

USAGE = "usage.json"


class Hermes:
    """Its skills are the person's, in its own home, and none of a project's: only rules can be tried on it."""

    name = "hermes"
    program = "hermes"
    target = "hermes"
    instructions = "AGENTS.md"
    skills = ""
    variables = ("OPENROUTER_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "NOUS_API_KEY")
    places: Mapping[str, str] = {}

    def launch(self, errand: Errand, program: str) -> ProgramLaunch:
        words = [program, "--yolo", "--usage-file", str(errand.config / USAGE)]
        if errand.model:
            words += ["-m", errand.model]
        return ProgramLaunch((*words, f"--oneshot={errand.task}"), {"HERMES_HOME": str(errand.config)})

    def carried(self, errand: Errand, left: Left) -> Carried:
        transcript = newest_transcript(errand.config, "state.db")
        if transcript is None:
            return without_record(left)
        used = transcript.usage or total(message.usage for message in transcript.messages)
        used = replace(used, cost_dollars=used.cost_dollars or None)  # it says 0 where it does not know
        validity, why = Validity.VALID, ""
        if left.exit_code is None:
            validity, why = Validity.TIMED_OUT, "its time was over"
        elif left.exit_code or _has_failed(errand):
            why = (left.errors.strip() or left.output.strip())[-WHY_CHARACTERS:]
            validity = refusal_in(why) or Validity.CRASHED
        return Carried(transcript, used, validity, why, transcript.version, transcript.model, left.seconds)


def _has_failed(errand: Errand) -> bool:
    """What it says of itself: it ends without an exit code, also where its model refused to answer."""
    reports = events_of(" ".join(text_of(errand.config / USAGE).split()))
    return any(fields.flag(report, "failed") for report in reports)


EXECUTOR = Hermes()
