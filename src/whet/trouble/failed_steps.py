"""What a failed call is: an answer that was asked for, one that was to be expected, or time that ran out."""

import re2

from whet.outcomes.check_forms import RED_CHECKS
from whet.outcomes.envelopes import NOTHING_FOUND
from whet.outcomes.hidden_failures import is_reader
from whet.outcomes.unrunnable import could_not_run, probe_error
from whet.outcomes.view import JudgedCall
from whet.sessions.arguments import command_of
from whet.sessions.call_effects import Effect
from whet.sessions.shell_lines import split
from whet.sessions.tool_families import Family, family_of

ECHOED = "hidden by pipe: exit code"

_TIMEOUT = re2.compile(
    r"(?i)\btimed[ -]?out\b|\btime-?out (?:after|exceeded|expired|reached|of \d)|\bdeadline exceeded\b"
    r"|\bETIMEDOUT\b|\bTimeout(?:Error|Exception|Expired)\b|\bexceeded (?:the )?(?:time limit|timeout)\b|^timeout\b"
)
_STOPPED = re2.compile(r"(?i)(?:^|\n)\W{0,4}(?:the )?(?:command|process|execution) (?:has )?timed out\b[^\n]*\s*\z")


def is_answer(step: JudgedCall) -> bool:
    """Whether a failure is what the call was made to find out: a probe's no, a check that ran and is red."""
    if step.effect is Effect.PROBES:
        return not probe_error(step.text)
    is_red = step.effect is Effect.CHECKS or step.decision.evidence.endswith(RED_CHECKS)
    return is_red and not could_not_run(step.text)


def is_expected(step: JudgedCall) -> bool:
    """Whether the agent asked for the status itself, wanted no error shown, or only found nothing."""
    evidence = step.decision.evidence
    if evidence.endswith(NOTHING_FOUND) or evidence.startswith(ECHOED):
        return True
    command = command_of(step.exchange.call) if family_of(step.exchange.call) is Family.SHELL else ""
    silenced = "2>/dev/null" in command or "|| true" in command
    return silenced and all(map(is_reader, split(command)))


def timed_out(step: JudgedCall) -> bool:
    """Whether a call failed because its time ran out."""
    if "timeout" in step.decision.evidence or "timed out" in step.decision.evidence:
        return True
    result = step.exchange.result
    if result is not None and result.exit_code == 124:
        return True
    if step.effect in (Effect.CHECKS, Effect.RUNS):
        # What it ran may speak of timeouts; only the tool's own first or last words say that its time ran out.
        return _TIMEOUT.search(step.text[:100]) is not None or _STOPPED.search(step.text[-200:]) is not None
    return _TIMEOUT.search(step.error_line) is not None
