"""What a call says of the work: the verdict of a check, also where its status is hidden; and what a failed call is.

A failure is an answer that was asked for, one that was to be expected, time that ran out, or a slip.
"""

import re
from enum import StrEnum

import re2

from whet.sessions.arguments import command_of
from whet.sessions.call_effects import Effect, check_of
from whet.sessions.shell_lines import is_decisive, split
from whet.sessions.tool_families import Family, family_of
from whet.trouble.checks import head_of
from whet.trouble.outcomes.check_forms import CHECKS, COMPLAINTS, RED_CHECKS
from whet.trouble.outcomes.envelopes import NOTHING_FOUND
from whet.trouble.outcomes.error_forms import tail
from whet.trouble.outcomes.hidden_failures import is_reader
from whet.trouble.outcomes.unrunnable import could_not_run, probe_error
from whet.trouble.outcomes.view import JudgedCall
from whet.trouble.red_names import names_red_test

LOOKED_AT = 6_000
# A place in a file with its line and column, and what is wrong there: what compilers and linters print, and only then.
_DIAGNOSTIC = re2.compile(
    r"(?m)^\s*(?:\w+(?:\.exe)?: )?[\w./\\@-]+\.\w{1,8}[:(]\d+[:,]\d+\)?:? +(?:error|[^\sw]|w[^a])"
)
_MARGIN = re.compile(r"(?m)^[ \t]+")


class CheckVerdict(StrEnum):
    """What a check said of the work."""

    RED = "red"
    GREEN = "green"
    NONE = "none"  # it did not run, or its time ran out


def verdict(step: JudgedCall, checks: frozenset[str] = frozenset()) -> CheckVerdict:
    """What a call that runs a check found in time; `checks` are names of those that it runs."""
    if step.failed:
        return CheckVerdict.NONE if could_not_run(step.text) else CheckVerdict.RED
    if not step.worked:
        return CheckVerdict.NONE
    return CheckVerdict.RED if hides_status(step, checks) and _complains(step.text) else CheckVerdict.GREEN


def _complains(text: str) -> bool:
    """Whether an output has the complaints of a compiler, a linter or a test, wherever a command moved them to."""
    if len(text) > LOOKED_AT:
        text = f"{text[: LOOKED_AT // 2]}\n{text[-LOOKED_AT // 2 :]}"
    if _DIAGNOSTIC.search(text) is not None or names_red_test(text):
        return True
    end = tail(_MARGIN.sub("", text)) if "\n " in text else tail(text)
    return bool(CHECKS.first(end) or COMPLAINTS.first(end))


def hides_status(step: JudgedCall, checks: frozenset[str] = frozenset()) -> bool:
    """Whether the status of the call is not that of the check which it runs."""
    stages = split(command_of(step.exchange.call))
    return any(
        (check_of(stage) or " ".join(head_of(stage)) in checks) and not is_decisive(stages, at)
        for at, stage in enumerate(stages[:-1])
    )


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
