"""Causes for people: the test or the lint rule that was red, the error without what varies, the first sentence said."""

import re
from functools import lru_cache

import re2

from whet.text.words import SENTENCE_ENDS
from whet.trouble.outcomes.fingerprints import VARIABLES, tells
from whet.trouble.outcomes.view import JudgedCall

LOOKED_AT = 20_000
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


def _together(forms: tuple[str, ...]) -> re2.Set:
    found = re2.Set.SearchSet()
    for form in forms:
        found.Add(form)
    found.Compile()
    return found


# All are looked for in one pass; only the first that a text has is then looked for again, for its name.
_NAMING = tuple(map(re2.compile, (*_TESTS, *_RULES)))
_ANY = _together((*_TESTS, *_RULES))


def names_red_test(text: str) -> bool:
    """Whether an output names a test that failed, in the form of its runner."""
    if "ail" not in text and "FAIL" not in text and "ERROR" not in text:
        return False
    return min(_ANY.Match(text) or (len(_TESTS),)) < len(_TESTS)


def red_name(step: JudgedCall) -> str:
    """The first thing that the output of a check names as red; else its error without what varies."""
    text = step.text
    if len(text) > LOOKED_AT:
        text = text[: LOOKED_AT // 2] + "\n" + text[-LOOKED_AT // 2 :]
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
    words = text[:LOOKED_AT].strip()
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
