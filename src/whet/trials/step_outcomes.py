"""Step outcomes: what the call of a step comes to when it is carried out, told by what it prints."""

import math
import re

from whet.values import Value

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
