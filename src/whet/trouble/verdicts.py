"""What a call says of the work: the verdict of a check, also where its status is hidden; and what a failed call is.

A failure is an answer that was asked for, one that was to be expected, time that ran out, or a slip.
"""

import re
from enum import StrEnum
from functools import lru_cache

import re2

from whet.sessions.call_effects import Effect, check_of
from whet.sessions.shell_lines import is_decisive, split
from whet.sessions.tool_families import Family, command_of, family_of
from whet.text.words import SENTENCE_ENDS
from whet.trouble.checks import head_of
from whet.trouble.outcomes.check_forms import CHECKS, COMPLAINTS, RED_CHECKS
from whet.trouble.outcomes.envelopes import NOTHING_FOUND
from whet.trouble.outcomes.error_forms import could_not_run, probe_error, tail
from whet.trouble.outcomes.fingerprints import VARIABLES, tells
from whet.trouble.outcomes.hidden_failures import is_reader
from whet.trouble.outcomes.view import JudgedCall

READ_OF_RED = 20_000
LONGEST = 120
FEWEST_WORDS = 2
FEW_LINES = 5  # with which a program says only what went wrong
FEWEST_LETTERS = 12  # "No." alone is not what somebody said
_COLOUR = re2.compile(r"\x1b\[[0-9;]*m")
_VARYING = tuple((variable.sign, re2.compile(variable.pattern)) for variable in VARIABLES)
_MARK = "\0"  # the engine's substitutes hold no other letters than ASCII's
_RUN = re.compile(r"\0(?:[\s,:;.()\[\]{}|/-]*\0)*")
_WORD = re.compile(r"[^\W\d_]{2,}")
_TOOK = re2.compile(r"\s*[\[(]?\d+(?:\.\d+)?\s?m?s[\])]?$")  # how long a test took
# Each as its runner documents it; the first that a text has names what was red.
_TESTS = (
    r"(?m)^(?:FAILED|ERROR) ([\w./\\-]+\.py::[\w:\[\].-]+)",  # pytest
    r"(?m)^(?:ERROR|FAIL): (\w+) \([\w.]+\)",  # unittest
    r"(?m)^\s*--- FAIL: (\S+)",  # go test
    r"(?m)^test (\S+) \.\.\. FAILED",  # cargo test
    r"(?m)^\s*(?:✘\s+\d+|\d+\)) \[[^\]\n]+\] › ([^\n─]{2,140})",  # playwright
    r"(?m)^\s*(?:●|✕|✗|×|✘|not ok \d+ -?)\s+(\S[^\n]{2,140})",  # jest, vitest, mocha, TAP
    r"(?m)^\(fail\) (\S[^\n]{2,140})",  # bun test
    r"(?m)^\s*FAIL\s+(\S+\.\w+)(?:\s|$)",  # a file of jest or vitest
    r"(?m)^rspec (\S+)",  # rspec
    r"(?m)^\s*Failed (\S+) \[",  # dotnet test
)
_RULES = (
    r"\berror\[(E\d{4})\]",  # rustc
    r"\berror (TS\d{3,5})\b",  # tsc
    r"\berror (?:CS|FS|BC|MSB|NU|NETSDK)\d{3,5}",  # dotnet build
    r"(?m)^\s*\d+:\d+\s+(?:error|warning|✖|⚠)\s[^\n]*\s(@?[a-z][\w@/-]*)\s*$",  # eslint, stylelint
    r"(?m)^\S+:\d+[^\n]*\[([a-z]+(?:-[a-z]+)+)\]\s*$",  # mypy, pylint
    r"(?m)^\S+:\d+:\d+:? (?:error:? |warning:? )?([A-Z]{1,5}\d{2,5})\b",  # ruff, flake8, shellcheck
    r"(?m)^\S+:\d+:\d+: [^\n]*\(([a-z]\w+)\)\s*$",  # golangci-lint
    r"(?m)^\S+:\d+(?::\d+)? (?:error )?(MD\d{3})\b",  # markdownlint
    r"(?m)\b(lint/\w+/\w+)",  # biome
)

# All are looked for in one pass; only the first that a text has is then looked for again, for its name.
_NAMING = tuple(map(re2.compile, (*_TESTS, *_RULES)))

LOOKED_AT = 6_000
# A place in a file with its line and column, and what is wrong there: what compilers and linters print, and only then.
_DIAGNOSTIC = re2.compile(
    r"(?m)^\s*(?:\w+(?:\.exe)?: )?[\w./\\@-]+\.\w{1,8}[:(]\d+[:,]\d+\)?:? +(?:error|[^\sw]|w[^a])"
)
_MARGIN = re.compile(r"(?m)^[ \t]+")

ECHOED = "hidden by pipe: exit code"

_TIMEOUT = re2.compile(
    r"(?i)\btimed[ -]?out\b|\btime-?out (?:after|exceeded|expired|reached|of \d)|\bdeadline exceeded\b"
    r"|\bETIMEDOUT\b|\bTimeout(?:Error|Exception|Expired)\b|\bexceeded (?:the )?(?:time limit|timeout)\b|^timeout\b"
)
_STOPPED = re2.compile(r"(?i)(?:^|\n)\W{0,4}(?:the )?(?:command|process|execution) (?:has )?timed out\b[^\n]*\s*\z")


def _together(forms: tuple[str, ...]) -> re2.Set:
    found = re2.Set.SearchSet()
    for form in forms:
        found.Add(form)
    found.Compile()
    return found


_ANY = _together((*_TESTS, *_RULES))


def names_red_test(text: str) -> bool:
    """Whether an output names a test that failed, in the form of its runner."""
    if "ail" not in text and "FAIL" not in text and "ERROR" not in text:
        return False
    return min(_ANY.Match(text) or (len(_TESTS),)) < len(_TESTS)


def red_name(step: JudgedCall) -> str:
    """The first thing that the output of a check names as red; else its error without what varies."""
    text = step.text
    if len(text) > READ_OF_RED:
        text = text[: READ_OF_RED // 2] + "\n" + text[-READ_OF_RED // 2 :]
    if "\x1b" in text:
        text = _COLOUR.sub("", text)
    if "rror" in text or "FAIL" in text or "ail" in text or "✖" in text or "×" in text or ":" in text:
        first = min(_ANY.Match(text) or (len(_NAMING),))
        found = _NAMING[first].search(text) if first < len(_NAMING) else None
        if found is not None:
            name = found.group(1) if found.groups() else found.group(0)
            return str(_TOOK.sub("", " ".join(name.split())))[:LONGEST]
    return plain_error(step)


def plain_error(step: JudgedCall) -> str:
    """The line of a failed result that says why, without what varies; nothing where none of many lines says so."""
    line = _COLOUR.sub("", step.error_line) if "\x1b" in step.error_line else step.error_line
    is_said = tells(line) or step.text.strip().count("\n") < FEW_LINES
    return _without_variables(line) if is_said else ""


def first_sentence(text: str) -> str:
    """What somebody said first."""
    words = text[:READ_OF_RED].strip()
    ends = (place + len(end) for end in SENTENCE_ENDS if (place := words.find(end, FEWEST_LETTERS)) >= 0)
    return " ".join(words[: min(ends, default=len(words))].split())


@lru_cache(maxsize=4096)
def _without_variables(line: str) -> str:
    for sign, pattern in _VARYING:
        if sign in line:
            line = pattern.sub(_MARK, line)
    line = " ".join(_RUN.sub(" … ", line).split())[:LONGEST]
    letters = sum(map(str.isalpha, line))
    # What is mostly signs is code or data, and one word says nothing.
    return line if len(_WORD.findall(line)) >= FEWEST_WORDS and 2 * letters >= len(line) else ""


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
