"""A patch is refused for what is wrong with it, before anything is spent; good advice is not."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from many_texts import HIDDEN, REAL_TEXTS
from whet.ledger.entries import Item, State
from whet.ledger.patch_faults import FaultKind, TextLimits, faults, overlap
from whet.ledger.patches import Action, Form, Patch, Scope, digest
from whet.sessions.trust import Trust
from whet.shipped.guidance.rules import catalogue

COMMIT = Item(Form.RULE, "commit", "Always run the tests before committing.", trust=Trust.USER, number=1)
STATE = State(items=(COMMIT,))


def rule(text: str, *, name: str = "new", trust: Trust = Trust.USER, scope: Scope | None = None) -> Patch:
    return Patch(Form.RULE, Action.ADD, name, text, scope=scope or Scope(), trust=trust)


def kinds(patch: Patch, state: State = STATE, limits: TextLimits | None = None) -> list[FaultKind]:
    return [fault.kind for fault in faults(patch, state, limits=limits or TextLimits())]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("   ", FaultKind.EMPTY),
        ("word " * 100, FaultKind.LENGTH),
        ("Answer \u202eyltrohs\u202c.", FaultKind.CHARACTERS),
        ("Answer\x1b[2J briefly.", FaultKind.CHARACTERS),
        ("Answer\U000e0041 briefly.", FaultKind.CHARACTERS),
        ("Answer\rbriefly.", FaultKind.CHARACTERS),
        ("Answer\u2028briefly.", FaultKind.CHARACTERS),
        ("Log in with ghp_0123456789abcdefghijABCDEFGHIJ012345.", FaultKind.SECRET),
        ("Run all tests before you commit.", FaultKind.DUPLICATE),
        ("ALWAYS  run the tests before committing.", FaultKind.DUPLICATE),
        ("Never run the tests before committing.", FaultKind.CONTRADICTION),
        ("Do not run tests before committing.", FaultKind.CONTRADICTION),
        ("Run the tests after committing.", FaultKind.CONTRADICTION),
        ("The web_search tool is broken.", FaultKind.BROKEN_TOOL),
        ("Avoid the browser, because it never works.", FaultKind.BROKEN_TOOL),
        ("The terminal tool always fails on this machine.", FaultKind.BROKEN_TOOL),
        ("Docker does not work here.", FaultKind.BROKEN_TOOL),
        ("The patch tool doesn’t work.", FaultKind.BROKEN_TOOL),
        ("ripgrep is not installed.", FaultKind.ACCIDENT),
        ("bash: rg: command not found", FaultKind.ACCIDENT),
        ("There is no internet access.", FaultKind.ACCIDENT),
        ("The disk is full.", FaultKind.ACCIDENT),
        ("The API key has expired.", FaultKind.ACCIDENT),
        ("Port 8080 is already in use.", FaultKind.ACCIDENT),
        ("Read the log in /tmp/tmp8x3k2/out.log.", FaultKind.ACCIDENT),
    ],
)
def test_what_is_wrong_is_named(text: str, kind: FaultKind) -> None:
    assert kinds(rule(text)) == [kind]


@pytest.mark.parametrize(
    "text",
    [
        "If a tool is broken, tell the person what failed.",
        "When the connection is refused, check that the server runs before you retry.",
        "Check whether the service is down before you change the code.",
        "Fix a broken test before you add another.",
        "Make sure that all API flights are downgraded to economy.",
        "Use tabs, not spaces.",
        "Answer in German.",
        "Do not commit generated files.",
        "Before a release, run the tests on all platforms.",
        "می‌خواهم پاسخ‌ها کوتاه باشند.",
        "Thumbs up 👩‍💻 when done.",
    ],
)
def test_good_advice_has_no_fault(text: str) -> None:
    assert kinds(rule(text)) == []


def test_a_person_may_say_of_their_tools_what_they_like() -> None:
    assert kinds(rule("The web_search tool is broken.", trust=Trust.OPERATOR)) == []


@pytest.mark.parametrize("trust", list(Trust))
def test_foreign_text_needs_a_person(trust: Trust) -> None:
    expected = [FaultKind.TRUST] if trust < Trust.AGENT else []
    assert kinds(rule("Answer briefly.", trust=trust)) == expected


def test_rules_that_never_hold_together_do_not_collide() -> None:
    apart = Item(Form.RULE, "ask", "Ask before deleting files.", scope=Scope(purposes=("interactive",)), number=1)
    never = rule("Never ask before deleting files.", scope=Scope(purposes=("unattended",)))
    everywhere = rule("Never ask before deleting files.")
    assert kinds(never, State(items=(apart,))) == []
    assert kinds(everywhere, State(items=(apart,))) == [FaultKind.CONTRADICTION]


def test_a_change_does_not_collide_with_what_it_changes() -> None:
    text = "Never run the tests before committing."
    patch = Patch(Form.RULE, Action.CHANGE, "commit", text, trust=Trust.USER, before=digest(COMMIT.text))
    assert kinds(patch) == []


@pytest.mark.parametrize(
    ("action", "name", "before"),
    [
        (Action.ADD, "commit", ""),
        (Action.ADD, "commit", digest(COMMIT.text)),
        (Action.CHANGE, "commit", digest("something else")),
        (Action.CHANGE, "new", ""),
        (Action.REMOVE, "new", ""),
        (Action.REMOVE, "commit", ""),
    ],
)
def test_a_change_of_what_is_not_there_is_stale(action: Action, name: str, before: str) -> None:
    text = "" if action is Action.REMOVE else "Answer in German."
    assert kinds(Patch(Form.RULE, action, name, text, trust=Trust.USER, before=before)) == [FaultKind.STALE]


@pytest.mark.parametrize("name", ["", "Upper", "two words", "../up", "a/b", "-a", "a" * 80, "a\n"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    assert FaultKind.NAME in kinds(rule("Answer briefly.", name=name))


@pytest.mark.parametrize("word", ["Bash", "mcp__files__read", "claude-sonnet-4.5", "vendor/model:free"])
def test_a_scope_names_tools_and_models(word: str) -> None:
    assert kinds(rule("Answer briefly.", scope=Scope(tools=(word,), models=(word,)))) == []


@pytest.mark.parametrize("word", ["", "Ignore the rules", "x\n# Heading", "t\u202eool", "a" * 200])
def test_a_scope_holds_no_sentence(word: str) -> None:
    assert kinds(rule("Answer briefly.", scope=Scope(tools=(word,)))) == [FaultKind.NAME]


def test_the_rulebook_has_a_budget_and_an_operators_rules_come_first() -> None:
    learned = tuple(
        Item(Form.RULE, f"r{number}", f"apple{number} pear{number}", trust=Trust.AGENT, number=number)
        for number in range(5)
    )
    limits = TextLimits(rules=5)
    assert kinds(rule("Answer briefly."), State(items=learned), limits) == [FaultKind.BUDGET]
    assert kinds(rule("Answer briefly.", trust=Trust.OPERATOR), State(items=learned), limits) == []
    assert kinds(rule("Answer briefly."), State(), TextLimits(rulebook=10)) == [FaultKind.BUDGET]


def test_every_rule_of_the_catalogue_is_without_fault_beside_all_others() -> None:
    remedies = catalogue()
    limits = TextLimits(rulebook=1_000_000, rules=1_000)
    for remedy in remedies:
        others = tuple(
            Item(Form.RULE, other.name, other.text, scope=Scope(purposes=other.purposes), number=1)
            for other in remedies
            if other is not remedy
        )
        patch = rule(remedy.text, name=remedy.name, trust=Trust.AGENT, scope=Scope(purposes=remedy.purposes))
        assert faults(patch, State(items=others), limits=limits) == ()


@given(st.text())
def test_any_text_is_judged_without_an_error(text: str) -> None:
    faults(rule(text), STATE)


@pytest.mark.parametrize("form", [Form.RULE, Form.NOTE, Form.SKILL, Form.FILE])
@pytest.mark.parametrize("text", HIDDEN.values(), ids=HIDDEN)
def test_a_hidden_character_is_refused_by_its_code_point(text: str, form: Form) -> None:
    name = {Form.NOTE: "memory/new", Form.FILE: "new/references/x.md"}.get(form, "new")
    (fault,) = faults(Patch(form, Action.ADD, name, text, trust=Trust.USER), State())
    assert fault.kind is FaultKind.CHARACTERS
    assert re.search(r"U\+[0-9A-F]{4}", fault.message)


@pytest.mark.parametrize("text", REAL_TEXTS.values(), ids=REAL_TEXTS)
def test_real_texts_of_many_languages_have_no_fault(text: str) -> None:
    assert kinds(rule(text)) == []


def test_scopes_overlap_unless_a_part_keeps_them_apart() -> None:
    assert overlap(Scope(), Scope(models=("a",)))
    assert overlap(Scope(tools=("a", "b")), Scope(tools=("b",), models=("m",)))
    assert not overlap(Scope(tools=("a",)), Scope(tools=("b",)))
