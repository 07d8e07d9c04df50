"""Hermes as an executor: `hermes chat -q` with a HERMES_HOME of its own."""

from msgspec.structs import replace

from whet.agents.executor import (
    WHY_CHARACTERS,
    Carried,
    Errand,
    Executor,
    Left,
    ProgramLaunch,
    Validity,
    refusal_in,
    without_record,
)
from whet.sessions.transcripts import Transcript, total


def launch(errand: Errand, program: str) -> ProgramLaunch:
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


def carried(left: Left, transcript: Transcript | None) -> Carried:
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


# Its skills are the person's, in its own home, and none of a project's: rules and templates can be tried on it.
EXECUTOR = Executor(
    "hermes",
    launch,
    carried,
    ("", "state.db"),
    variables=("OPENROUTER_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "NOUS_API_KEY"),
    endpoints=(
        "https://openrouter.ai",
        "https://api.anthropic.com",
        "https://api.openai.com",
        "https://inference-api.nousresearch.com",
    ),
    begins_warm=True,
)
