"""What commands print: whether each test passed, by its name, and which lines tell that a call did what is wanted."""

import math
import re
from collections.abc import Iterator

from whet.values import Value

# `pytest -rA`: PASSED tests/test_a.py::test_it
_PYTEST = re.compile(r"(?m)^(PASSED|FAILED|ERROR) (\S+::.*?)(?: - .*)?$")
# `python -m unittest -v`: test_it (test_a.Part.test_it) ... ok
_UNITTEST = re.compile(r"(?m)^(\w+ \([\w.]+\))(?:\n[^\n]*)? \.\.\. (ok|FAIL|ERROR|skipped)\b")
# `go test -v`: --- PASS: TestIt (0.00s), also of subtests
_GO = re.compile(r"(?m)^[ \t]{0,80}--- (PASS|FAIL): (\S+)(?: \([\d.]+s\))?$")
# `cargo test`: test part::it ... ok
_CARGO = re.compile(r"(?m)^test (\S.*?) \.\.\. (ok|FAILED)\b")
# TAP, as of `node --test`: ok 3 - adds
_TAP = re.compile(r"(?m)^([ \t]{0,80})(not ok|ok) \d+ (?:- )?(.*?)(?: # .*)?$")
# jest, vitest, mocha, bun and `node --test`: a mark, the name, perhaps a time. Suites stand above, further left.
_MARKED = re.compile(r"^(\s*)(?:(✓|✔|√|\(pass\))|(✕|✗|×|✖|\(fail\)|\d+\))) (.*?)(?: *[(\[]?[\d.]+ ?m?s[)\]]?)?$")
_STATUS = re.compile(r"^(?:PASS|FAIL)\s+|[ \t]{1,8}\([\d.]+ m?s\)$")  # of a suite, which may change with another test
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
# JUnit XML: a case with nothing in it passed
_CASE = re.compile(r"<testcase\b([^>]*?)(/?)>(?=(.{0,200}))", re.DOTALL)
_ATTRIBUTE = re.compile(r'\b(classname|name)="([^"]*)"')


def outcomes_of(text: str) -> dict[str, bool]:
    """Whether each test passed, by its name; one that is reported both ways has not."""
    found: dict[str, bool] = {}
    for name, passed in _reported(_ANSI.sub("", text)):
        found[name] = found.get(name, True) and passed
    return found


def _reported(text: str) -> Iterator[tuple[str, bool]]:
    yield from ((name, word == "PASSED") for word, name in _PYTEST.findall(text))
    yield from ((name, word == "ok") for name, word in _UNITTEST.findall(text))
    yield from ((name, word == "PASS") for word, name in _GO.findall(text))
    yield from ((name, word == "ok") for name, word in _CARGO.findall(text))
    yield from ((name, word == "ok") for _, word, name in _TAP.findall(text))
    yield from _marked(text)
    yield from _in_xml(text)


def _marked(text: str) -> Iterator[tuple[str, bool]]:
    """Tests with a mark before them, under the names of the suites above that stand further left."""
    above: list[tuple[int, str]] = []
    for line in text.splitlines():
        found = _MARKED.match(line)
        depth = len(line) - len(line.lstrip())
        suites = [each for each in above if each[0] < depth]
        if found is not None:
            yield " > ".join((*(name for _, name in suites), found[4])), found[2] is not None
        elif line.strip():
            above = [*suites, (depth, _STATUS.sub("", line.strip()))]


def _in_xml(text: str) -> Iterator[tuple[str, bool]]:
    for attributes, is_closed, inside in _CASE.findall(text) if "<testcase" in text else ():
        named = dict(_ATTRIBUTE.findall(attributes))
        failed = not is_closed and inside.lstrip().startswith(("<failure", "<error", "<skipped"))
        yield f"{named.get('classname', '')} {named.get('name', '')}".strip(), not failed


NUMBER = re.compile(r"\d+")
MOST_LINES = 20
LONGEST_LINE = 200


class OutcomeDemand(Value, frozen=True, forbid_unknown_fields=True):
    """What a call must come to in the workspace: it ends well and prints what the one that worked in its place printed.

    That it ends well is not enough: so does `true`.
    """

    prints: tuple[str, ...]  # lines with their numbers left out, of which at least half have to come


class CarriedCall(Value, frozen=True):
    """How a call ended that was carried out: its exit code, None where it came to no end, and what it printed."""

    exit_code: int | None
    text: str = ""


def comes_to(wanted: OutcomeDemand, carried: CarriedCall) -> bool:
    """Whether a call came to what is wanted."""
    return carried.exit_code == 0 and has_most(wanted.prints, carried.text)


def has_most(lines: tuple[str, ...], text: str) -> bool:
    """Whether a text has at least half of some lines, numbers left out."""
    printed = lines_of(text) if lines else {}
    return sum(line in printed for line in lines) >= math.ceil(len(lines) / 2)


def telling_lines(recorded: str, again: CarriedCall, others: tuple[CarriedCall, ...]) -> tuple[str, ...]:
    """The lines that a call printed both in its session and here, and that no call printed that must not pass."""
    printed = lines_of(again.text)
    known = {line for other in others for line in lines_of(other.text)}
    return tuple(line for line in lines_of(recorded) if line in printed and line not in known)[:MOST_LINES]


def lines_of(text: str) -> dict[str, None]:
    """The lines of a text that have words, each once, with their numbers left out: times and counts differ."""
    plain = (NUMBER.sub("#", line.strip())[:LONGEST_LINE] for line in text.splitlines())
    return dict.fromkeys(line for line in plain if any(map(str.isalpha, line)))
