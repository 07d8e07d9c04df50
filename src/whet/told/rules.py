"""Rules in force as lines of text: those that hold in a setting, within a budget."""

from collections.abc import Iterable
from typing import NamedTuple

from whet.ledger.holding import Whereabouts, holds
from whet.ledger.patches import TRUSTED
from whet.sessions.trust import Trust, lowest
from whet.text import tokens
from whet.text.quoting import visible
from whet.told.passages import Circumstances, is_tiny
from whet.told.prompt_inputs import Rule


class RuleLines(NamedTuple):
    """The lines, the trust of the lowest of them, and what the person should know of the rest."""

    lines: tuple[str, ...]
    trust: Trust
    warnings: tuple[str, ...]


def line_of(text: str, *, said: str = "") -> str:
    """A rule as one item of a list: what follows its first line is set in, so that none can pass for a heading."""
    body = visible(text).strip()
    mark = f"[{said}] " if said else ""
    return f"- {mark}{body}".replace("\n", "\n  ") if body else ""


def rule_lines(rules: Iterable[Rule], setting: Circumstances, *, budget: int) -> RuleLines:
    """The operator's rules first, then the others by age, as many as the budget allows, each once.

    A tiny model gets the example of a rule with it; another gets the rule alone.
    """
    where = Whereabouts(
        setting.project, setting.model, tools=setting.tools, purpose=setting.purpose, folder=setting.folder
    )
    scoped = [rule for rule in rules if holds(rule.scope, where)]
    allowed = [rule for rule in scoped if rule.trust >= TRUSTED or rule.is_approved]
    trusts: dict[str, Trust] = {}
    with_examples = is_tiny(setting)
    for rule in sorted(allowed, key=lambda rule: rule.trust is not Trust.OPERATOR):
        example = f"\nExample: {rule.example}" if rule.example and with_examples else ""
        trusts.setdefault(line_of(f"{rule.text}{example}"), rule.trust)
    lines = tokens.fitting(filter(None, trusts), budget)
    left_out = len(trusts.keys() - {"", *lines})
    warnings = tuple(_warnings(left_out, len(scoped) - len(allowed)))
    return RuleLines(lines, lowest(trusts[line] for line in lines), warnings)


def _warnings(left_out: int, foreign: int) -> Iterable[str]:
    if foreign:
        yield f"Rules left out because nobody approved their foreign text: {foreign:,}."
    if left_out:
        yield f"Rules left out because the budget of the rulebook is spent: {left_out:,}."
