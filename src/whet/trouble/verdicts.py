"""The verdict of a check: red, green, or none; also where the rest of its command line hides its status."""

import re
from enum import StrEnum

import re2

from whet.outcomes.check_forms import CHECKS, COMPLAINTS
from whet.outcomes.error_forms import tail
from whet.outcomes.unrunnable import could_not_run
from whet.outcomes.view import JudgedCall
from whet.sessions.arguments import command_of
from whet.sessions.call_effects import check_of
from whet.sessions.shell_lines import is_decisive, split
from whet.trouble.checks import head_of
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
