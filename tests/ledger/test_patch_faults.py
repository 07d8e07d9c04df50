"""A patch is refused for what is wrong with it, before anything is spent; good advice is not."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from many_texts import HIDDEN, REAL_TEXTS
from whet.ledger.entries import Actor, Entry, Item, State, Step
from whet.ledger.folding import fold
from whet.ledger.patch_faults import FaultKind, TextLimits, faults, overlap
from whet.ledger.patches import Action, Form, Patch, Scope, digest
from whet.sessions.trust import Trust

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
    assert not overlap(Scope(tools=("a",), project="x"), Scope(tools=("a",), project="y"))
    assert not overlap(Scope(models=("a",), tools=("a",)), Scope(models=("a",), tools=("b",)))
    assert overlap(Scope(project="x"), Scope(project="x"))
    assert overlap(Scope(project="x"), Scope())
    assert overlap(Scope(), Scope(project="x"))


def test_a_change_waits_for_a_person_for_two_weeks() -> None:
    assert TextLimits().pending_seconds == 14 * 86_400


@pytest.mark.parametrize(
    ("form", "name", "most"),
    [
        (Form.RULE, "new", 400),
        (Form.NOTE, "memory/new", 600),
        (Form.SKILL, "new", 60_000),
        (Form.FILE, "new/references/x.md", 200_000),
        (Form.JOB, "new", 200_000),
    ],
)
def test_a_text_may_be_as_long_as_its_limit_and_no_longer(form: Form, name: str, most: int) -> None:
    text = "Some of the apples and pears are in the garden.\n" * (most // 48 + 1)
    just, more = (Patch(form, Action.ADD, name, text[:length], trust=Trust.USER) for length in (most, most + 1))
    assert faults(just, State()) == ()
    (fault,) = faults(more, State())
    assert fault.kind is FaultKind.LENGTH
    assert re.findall(r"\d[\d,]+", fault.message) == [f"{most + 1:,}", f"{most:,}"]


def book(sizes: list[int], *, trust: Trust = Trust.AGENT, project: str = "") -> State:
    """Rules of these lengths, none of which says what another says."""
    scope = Scope(project=project)
    return State(
        items=tuple(
            Item(Form.RULE, f"r{n}", f"apple{n} ".ljust(size, "x"), scope=scope, trust=trust, number=n)
            for n, size in enumerate(sizes, start=1)
        )
    )


def test_a_rulebook_may_be_as_large_as_its_budget_and_no_larger() -> None:
    text = "Answer briefly."
    assert kinds(rule(text), book([400] * 14 + [400 - len(text)])) == []
    (fault,) = faults(rule(text), book([400] * 15))
    assert fault.kind is FaultKind.BUDGET
    assert re.findall(r"\d[\d,]+", fault.message) == ["16", "6,015", "40", "6,000"]
    assert kinds(rule(text), book([20] * 39)) == []
    assert kinds(rule(text), book([20] * 40)) == [FaultKind.BUDGET]


def test_only_rules_that_stand_beside_it_take_a_rules_room() -> None:
    text = "Answer briefly."
    elsewhere = rule(text, scope=Scope(project="mine"))
    assert kinds(elsewhere, book([400] * 15, project="theirs")) == []
    assert kinds(elsewhere, book([400] * 15, project="mine")) == [FaultKind.BUDGET]
    assert kinds(rule(text, trust=Trust.OPERATOR), book([400] * 15, trust=Trust.OPERATOR)) == [FaultKind.BUDGET]
    assert kinds(rule(text), book([400] * 15, trust=Trust.OPERATOR)) == [FaultKind.BUDGET]
    full = book([400] * 15)
    for trust in (Trust.AGENT, Trust.OPERATOR):
        change = Patch(Form.RULE, Action.CHANGE, "r1", text, trust=trust, before=digest(full.rules[0].text))
        assert kinds(change, full) == []


def test_a_rule_may_always_leave() -> None:
    full = book([400] * 15 + [20] * 40)
    removal = Patch(Form.RULE, Action.REMOVE, "r1", trust=Trust.USER, before=digest(full.rules[0].text))
    assert kinds(removal, full) == []


def test_what_is_removed_is_judged_by_its_name_alone() -> None:
    text = "The web_search tool is broken. " * 100
    assert kinds(Patch(Form.NOTE, Action.REMOVE, "memory/a", text, trust=Trust.USER)) == []
    assert kinds(Patch(Form.NOTE, Action.REMOVE, "other/a", text, trust=Trust.USER)) == [FaultKind.NAME]


def test_an_approval_of_exactly_this_lets_foreign_text_in() -> None:
    foreign = rule("Answer briefly.", trust=Trust.EXTERNAL)
    approved = Entry(1, Step.APPROVED, foreign, Actor.PERSON, 1.0)
    assert kinds(foreign, fold([approved])) == []
    assert kinds(rule("Answer in German.", trust=Trust.EXTERNAL), fold([approved])) == [FaultKind.TRUST]


def note(text: str, name: str = "memory/new") -> Patch:
    return Patch(Form.NOTE, Action.ADD, name, text, trust=Trust.USER)


def test_notes_may_not_repeat_each_other_but_may_change_their_mind() -> None:
    known = State(items=(Item(Form.NOTE, "memory/commit", COMMIT.text), COMMIT))
    assert kinds(note("Run all tests before you commit."), known) == [FaultKind.DUPLICATE]
    assert kinds(note("Never run the tests before committing."), known) == []
    assert kinds(note("Run all tests before you commit."), State(items=(COMMIT,))) == []
    assert kinds(note("The web_search tool is broken."), known) == [FaultKind.BROKEN_TOOL]
    skill = Patch(Form.SKILL, Action.ADD, "new", f"{COMMIT.text} The web_search tool is broken.", trust=Trust.USER)
    assert kinds(skill, State(items=(Item(Form.SKILL, "other", skill.text),))) == []


@pytest.mark.parametrize("text", ["!!!", "¿?", "…"])
def test_the_same_signs_without_a_word_are_the_same(text: str) -> None:
    known = State(items=(Item(Form.RULE, "known", text),))
    assert kinds(rule(text), known) == [FaultKind.DUPLICATE]


def test_a_stale_rule_is_said_to_be_there_or_not() -> None:
    here = Patch(Form.RULE, Action.ADD, "commit", "Answer.", trust=Trust.USER, before=digest(COMMIT.text))
    gone = Patch(Form.RULE, Action.REMOVE, "new", trust=Trust.USER)
    (there,), (missing,) = faults(here, STATE), faults(gone, STATE)
    assert (there.kind, missing.kind) == (FaultKind.STALE, FaultKind.STALE)
    assert " not " not in there.message
    assert " not " in missing.message


def test_a_rule_that_is_there_word_for_word_is_not_called_stale() -> None:
    again = Patch(Form.RULE, Action.ADD, COMMIT.name, f" {COMMIT.text}", trust=Trust.USER)
    other = Patch(Form.RULE, Action.ADD, COMMIT.name, "Answer.", trust=Trust.USER)
    assert kinds(again) == [FaultKind.SAME]
    assert kinds(other) == [FaultKind.STALE]


def test_a_fault_quotes_no_more_than_a_line() -> None:
    long = "x" * 130
    (name,) = faults(rule("Answer briefly.", name=f"{long} "), STATE)
    assert f"{'x' * 80!r}" in name.message
    clause = f"The web_search {long} tool is broken"
    (broken,) = faults(rule(f"{clause}."), STATE)
    assert f"“{clause[:120]}”" in broken.message
    clause = f"ripgrep {long} is not installed"
    (accident,) = faults(rule(f"{clause}."), STATE)
    assert f"“{clause[:120]}”" in accident.message
    known = Item(Form.RULE, "known", f"Always run the {long} tests before committing.")
    (same,) = faults(rule(known.text), State(items=(known,)))
    assert f"“{known.text[:120]}”" in same.message
    (opposite,) = faults(rule(known.text.replace("Always", "Never")), State(items=(known,)))
    assert f"“{known.text[:120]}”" in opposite.message


@pytest.mark.parametrize(
    ("example", "kind"),
    [
        ("x" * 201, FaultKind.LENGTH),
        ("one\ntwo", FaultKind.LENGTH),
        ("run it\u200b", FaultKind.CHARACTERS),
        ("export TOKEN=ghp_abcdefghijklmnopqrstuvwxyz0123456789", FaultKind.SECRET),
    ],
)
def test_an_example_has_the_faults_of_a_text(example: str, kind: FaultKind) -> None:
    patch = Patch(Form.RULE, Action.ADD, "r", "Look twice.", trust=Trust.USER, example=example)
    assert [fault.kind for fault in faults(patch, State())] == [kind]


@pytest.mark.parametrize(
    "text",
    [
        "In this project run `uv run pytest`; `pytest` fails: zsh: command not found: pytest",
        "When a commit in this project is refused with “docker: command not found”: run `make image` first.",
        "In this project use `pnpm install`; `npm install` fails: connect ECONNREFUSED 127.0.0.1:4873",
    ],
)
def test_an_instruction_may_quote_the_error_that_is_its_reason(text: str) -> None:
    assert kinds(rule(text, trust=Trust.TOOL), State()) == [FaultKind.TRUST]


@pytest.mark.parametrize(
    "text",
    [
        "`pytest` fails: command not found",
        "The command docker is not installed; use podman.",
        "“bash: docker: command not found”",
    ],
)
def test_an_error_alone_is_no_instruction(text: str) -> None:
    assert FaultKind.ACCIDENT in kinds(rule(text))
