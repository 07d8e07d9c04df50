"""The rules in force, as the text that an agent reads."""

from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from whet.ledger.entries import Item
from whet.own.told.prompt import Budgets, line_of
from whet.sessions.trust import Trust
from whet.telling.targets.reaching import reader_of, reads
from whet.telling.targets.settings import Target
from whet.text import words


class Rendered(NamedTuple):
    """The text of a block; none where no rule holds. What is beyond the budget of the prompt is left out here too."""

    text: str
    left_out: int = 0
    entries: tuple[int, ...] = ()  # of the rules that are in it


def text_for(targets: Iterable[Target], rules: Iterable[Item], *, budget: int = Budgets().rules) -> Rendered:
    """What stands in a file that these targets share: the rules that hold for one of them, the operator's first.

    A rule on trial is left out: a file is read by every session, and a trial needs some without it.
    """
    readers = tuple(map(reader_of, targets))
    held = [rule for rule in rules if not rule.canary and any(reads(reader, rule) for reader in readers)]
    held.sort(key=lambda rule: rule.trust is not Trust.OPERATOR)
    wanted = [scoped_line(rule) for rule in held]
    lines = words.fitting(wanted, budget - words.estimate(frame()))
    text = frame().replace("{body}", "\n".join(lines)) if lines else ""
    told = (rule.number for rule, line in zip(held, wanted, strict=True) if line in lines)
    return Rendered(text, len({*wanted} - {*lines}), tuple(sorted(told)))


def frame() -> str:
    """What stands around rules in a file, or at the start of a session."""
    return _text("rules.md")


def reminder_frame() -> str:
    """What stands around rules that an agent is reminded of."""
    return _text("reminder.md")


@cache
def _text(name: str) -> str:
    return files("whet.shipped.guidance").joinpath("targets", name).read_text(encoding="utf-8").strip()


def scoped_line(rule: Item) -> str:
    """One rule as an item of a list. What its scope asks for is said, for the file is read in every session."""
    conditions = [("tool", name) for name in rule.scope.tools] + [("model", name) for name in rule.scope.models]
    said = ", ".join(f"{kind} {name}" for kind, name in conditions)
    return line_of(rule.text, said=said)
