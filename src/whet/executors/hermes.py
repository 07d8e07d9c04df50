"""Hermes as an executor: `hermes chat -q` with a HERMES_HOME of its own."""

from collections.abc import Mapping

from msgspec.structs import replace

from whet.executors.errands import Carried, Errand, Left, ProgramLaunch, Validity
from whet.executors.records import WHY_CHARACTERS, newest_transcript, refusal_in, without_record
from whet.sessions.usage import total


class Hermes:
    """Its skills are the person's, in its own home, and none of a project's: rules and templates can be tried on it."""

    name = "hermes"
    program = "hermes"
    target = "hermes"
    instructions = "AGENTS.md"
    skills = ""
    variables = ("OPENROUTER_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "NOUS_API_KEY")
    begins_warm = True
    places: Mapping[str, str] = {}

    def launch(self, errand: Errand, program: str) -> ProgramLaunch:
        # Not `-z`, which is shorter: it reads no examples, and ends well also where its model refused to answer.
        words = [program, "chat", "--quiet", "--yolo"]
        if errand.model:
            words += ["-m", errand.model]
        if errand.turns is not None:
            words += ["--max-turns", str(errand.turns)]
        variables = {"HERMES_HOME": str(errand.config)}
        if errand.examples:
            variables["HERMES_PREFILL_MESSAGES_FILE"] = str(errand.prefill)
        return ProgramLaunch((*words, f"--query={errand.task}"), variables)

    def carried(self, errand: Errand, left: Left) -> Carried:
        transcript = newest_transcript(errand.config, "state.db")
        if transcript is None:
            return without_record(left)
        used = transcript.usage or total(message.usage for message in transcript.messages)
        used = replace(used, cost_dollars=used.cost_dollars or None)  # it says 0 where it does not know
        validity, why = Validity.VALID, ""
        if left.exit_code is None:
            validity, why = Validity.TIMED_OUT, "its time was over"
        elif left.exit_code:
            why = (left.output.strip() or left.errors.strip())[:WHY_CHARACTERS]
            validity = refusal_in(why) or Validity.CRASHED
        return Carried(transcript, used, validity, why, transcript.version, transcript.model, left.seconds)


EXECUTOR = Hermes()
