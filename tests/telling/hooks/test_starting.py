"""Which rules a session is told when it starts, and which canaries are drawn for it."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.ledger.entries import Item
from whet.ledger.patches import Form, Scope
from whet.sessions.trust import Trust
from whet.telling.hooks.compiling import compile_rules
from whet.telling.hooks.events import HostEvent
from whet.telling.hooks.starting import StartingText, starting_text, unit_of_session
from whet.telling.targets.drawing import TextsToTell
from whet.trials.draws import is_told
from whet.trials.told_rules import key_of, told_rules

ANYWHERE = Scope()


def rule(name: str, text: str, number: int = 1, *, share: float = 0.0, scope: Scope = ANYWHERE) -> Item:
    return Item(Form.RULE, name, text, scope, number=number, canary=share > 0, share=share)


def event(session: str = "s1", agent: str = "claude-code", folder: str = "/nowhere") -> HostEvent:
    return HostEvent("session-start", agent, session, "", folder)


def told(offer: TextsToTell, of: HostEvent, person: Path = Path("/nowhere")) -> StartingText:
    """As the hook reads it: from the compiled file."""
    compiled: Any = msgspec.json.decode(msgspec.json.encode(compile_rules(offer)))
    return starting_text(compiled, of, {"CLAUDE_CONFIG_DIR": str(person)})


def lines(found: StartingText) -> list[str]:
    return [line for line in found.text.splitlines() if line.startswith("- ")]


@given(st.integers(0, 10_000), st.sampled_from(["claude-code", "codex"]), st.floats(0.05, 0.95))
def test_the_draw_is_by_session_and_agent_and_is_the_one_of_the_ledger(session: int, agent: str, share: float) -> None:
    first, changed, old = rule("a", "New.", 3, share=share), rule("b", "Changed.", 4, share=share), rule("b", "Old.", 2)
    offer = TextsToTell((rule("c", "Always."), first, changed), {}, (), {3: None, 4: old})
    unit = unit_of_session(agent, str(session))
    found = told(offer, event(str(session), agent))
    expected = told_rules(offer.rules, offer.before, unit)
    assert lines(found) == [f"- {item.text}" for item in expected]
    assert found.entries == tuple(item.number for item in expected)
    assert [(draw.entry, draw.told, draw.share) for draw in found.draws] == [
        (item.number, is_told(key_of(item), unit, share), share) for item in (first, changed)
    ]


def test_sessions_differ_in_what_they_draw() -> None:
    offer = TextsToTell((rule("a", "New.", 3, share=0.5),), {}, (), {3: None})
    arms = [told(offer, event(f"s{number}")).draws[0].told for number in range(40)]
    assert 8 < sum(arms) < 32
    assert arms == [told(offer, event(f"s{number}")).draws[0].told for number in range(40)], "and always the same"


def test_where_a_file_has_a_say_in_a_rule_the_session_is_not_drawn_for(tmp_path: Path) -> None:
    changed, old = rule("b", "Changed.", 4, share=0.5), rule("b", "Old.", 2)
    offer = TextsToTell((changed, rule("c", "Other.")), {}, (), {4: old})
    (tmp_path / "CLAUDE.md").write_text("# Mine\n- Old.\n")
    for number in range(10):
        found = told(offer, event(f"s{number}"), tmp_path)
        assert lines(found) == ["- Other."]
        assert found.draws == ()


def test_operators_rules_come_first_and_what_the_budget_has_no_room_for_is_left_out() -> None:
    many = [rule(f"r{number}", f"Rule {number}: {'word ' * 75}", number) for number in range(40)]
    operators = msgspec.structs.replace(rule("o", "Operator's."), trust=Trust.OPERATOR)
    found = lines(told(TextsToTell((*many, operators), {}), event()))
    assert found[0] == "- Operator's."
    assert found[1].startswith("- Rule 0:")
    assert not any(line.startswith("- Rule 39:") for line in found)
    assert len("\n".join(found)) < 8_000


@pytest.mark.parametrize("share", [0.01, 0.99])
def test_a_canary_that_there_is_no_room_for_is_not_drawn_for(share: float) -> None:
    many = [rule(f"r{number}", f"Rule {number}: {'word ' * 75}", number) for number in range(40)]
    canary = rule("z", f"Late: {'word ' * 70}", 99, share=share)
    found = told(TextsToTell((*many, canary), {}, (), {99: None}), event())
    assert found.draws == ()


@pytest.mark.parametrize(
    ("scope", "agents"),
    [
        (Scope(models=("claude-opus",)), ["claude-code", "opencode"]),
        (Scope(models=("gpt-5",)), ["codex", "opencode"]),
        (Scope(purposes=("unattended",)), []),
        (Scope(project="example.org/shop"), []),
        (Scope(), ["claude-code", "codex", "gemini", "opencode"]),
    ],
)
def test_a_rule_is_for_the_agents_that_its_scope_fits(scope: Scope, agents: list[str]) -> None:
    offer = TextsToTell((rule("a", "Do it.", scope=scope),), {})
    hosts = ("claude-code", "codex", "gemini", "opencode")
    assert [host for host in hosts if told(offer, event(agent=host)).text] == agents


def test_a_session_that_nobody_sits_at_is_told_what_is_for_those() -> None:
    offer = TextsToTell((rule("a", "Do not ask.", scope=Scope(purposes=("unattended",))),), {})
    assert lines(told(offer, event()._replace(is_unattended=True))) == ["- Do not ask."]
