"""Which calls a rule is about, by their words alone. A host waits for this: it loads little of the standard library."""

import itertools
import re
from typing import NamedTuple

STAGE = re.compile(r"&&|\|\||;|\||\n")
_ASSIGNED = re.compile(r"^\w+=")
_SIGNS = re.compile(r"[\s=:'\"()]+")


class CommandForm(NamedTuple):
    """How a call is known again: its program, and the words that tell it from another way to do the same.

    One that has nothing of its own is only known to go wrong where it failed.
    """

    program: str
    telling: frozenset[str]
    is_own: bool


class CallPattern(NamedTuple):
    """The commands at which a rule is reminded of: in one form and not in the other, or that name one of these."""

    program: str = ""
    telling: tuple[str, ...] = ()
    unless: tuple[tuple[str, tuple[str, ...]], ...] = ()  # at most one form: its program and its words
    named: tuple[str, ...] = ()


def is_matched(pattern: CallPattern, command: str) -> bool:
    """Whether a command of the shell is one of those."""
    if any(is_named(name, spaced(command)) for name in pattern.named):
        return True
    for part in STAGE.split(command) if pattern.program else ():
        stage = words_of(part)
        is_wrong = _has(stage, pattern.program, pattern.telling)
        if is_wrong and not any(_has(stage, *form) for form in pattern.unless):
            return True
    return False


def has_form(stage: list[str], form: CommandForm) -> bool:
    return _has(stage, form.program, form.telling)


def words_of(part: str) -> list[str]:
    """The words of one simple command, without the variables that are set for it."""
    words = [word.strip("'\"`") for word in part.split()]
    return list(itertools.dropwhile(_ASSIGNED.match, words))


def spaced(call: str) -> str:
    """A call as words between spaces, in which a name can be looked for."""
    return f" {' '.join(_SIGNS.split(call.lower()))} "


def is_named(name: str, call: str) -> bool:
    return f" {name} " in call


def _has(stage: list[str], program: str, telling: "frozenset[str] | tuple[str, ...]") -> bool:
    return bool(program) and stage[:1] == [program] and {*telling} <= {*stage}
