"""What was red: the test, the lint rule or the compiler's code that the output of a failed check names."""

import re2

from whet.failures.fingerprints import error_line, fingerprint

LOOKED_AT = 20_000
LONGEST = 120
_COLOUR = re2.compile(r"\x1b\[[0-9;]*m")
# Each as its runner documents it; the first that a text has names what was red.
_TESTS = tuple(
    re2.compile(form)
    for form in (
        r"(?m)^(?:FAILED|ERROR) ([\w./\\-]+\.py::[\w:\[\].-]+)",  # pytest
        r"(?m)^(?:ERROR|FAIL): (\w+) \([\w.]+\)",  # unittest
        r"(?m)^\s*--- FAIL: (\S+)",  # go test
        r"(?m)^test (\S+) \.\.\. FAILED",  # cargo test
        r"(?m)^\s*(?:●|✕|✗|×|✘|not ok \d+ -?)\s+(\S[^\n]{2,100})",  # jest, vitest, mocha, TAP
        r"(?m)^\(fail\) (\S[^\n]{2,100})",  # bun test
        r"(?m)^\s*FAIL\s+(\S+\.\w+)",  # a file of jest or vitest
        r"(?m)^rspec (\S+)",  # rspec
        r"(?m)^\s*Failed (\S+) \[",  # dotnet test
    )
)
_RULES = tuple(
    re2.compile(form)
    for form in (
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
)


def names_red_test(text: str) -> bool:
    """Whether an output names a test that failed, in the form of its runner."""
    return ("ail" in text or "FAIL" in text or "ERROR" in text) and any(form.search(text) for form in _TESTS)


def red_name(text: str) -> str:
    """The first thing that the output names as red; else its error without what varies."""
    if len(text) > LOOKED_AT:
        text = text[: LOOKED_AT // 2] + "\n" + text[-LOOKED_AT // 2 :]
    if "\x1b" in text:
        text = _COLOUR.sub("", text)
    if "rror" in text or "FAIL" in text or "ail" in text or "✖" in text or "×" in text or ":" in text:
        for form in (*_TESTS, *_RULES):
            if found := form.search(text):
                name = found.group(1) if found.groups() else found.group(0)
                return " ".join(name.split())[:LONGEST]
    return fingerprint(error_line(text))
