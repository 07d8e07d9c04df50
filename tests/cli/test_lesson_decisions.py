"""A person decides on what waits: all at once in a list, or by one key for each."""

import re
import time
from pathlib import Path

import pytest

from command import Whet, on_a_terminal
from whet.changes.pending import propose
from whet.ledger.entries import Actor, Entry, Step
from whet.ledger.patches import Action, Form, Patch, PatchOrigin, Proof, RuleSituation, Scope
from whet.sessions.trust import Trust
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.opening import opened

PROMPT = "a approve"
TEXTS = ("Water the plants on Mondays.", "Run the checks with make check.", "Name branches after their issue.")


@pytest.fixture
def waiting(tmp_path: Path) -> list[int]:
    """Three rules that wait: one of a project, tried before; the others of every project."""
    home = Home(tmp_path / "home")
    with opened(home) as database:
        made = [
            propose(home, database, rule(place), actor=Actor.POLICY, now=time.time()).number
            for place in range(len(TEXTS))
        ]
        judged = Entry(0, Step.ACCEPTED, rule(1), Actor.POLICY, time.time(), note="helps in 9 of 10 cases")
        ledger_of(home, database).append([judged])
    return made


def rule(place: int, *, text: str = "") -> Patch:
    return Patch(
        Form.RULE,
        Action.ADD,
        f"rule-{place}",
        text or TEXTS[place],
        Scope(project="github.com/ann/shop" if place == 1 else ""),
        origin=PatchOrigin(said="recovery in 4 sessions of the project"),
        trust=Trust.TOOL,
        proofs=(Proof("s1", 3, "recovery", "make: no rule"), Proof("s2", 5, "recovery", "make: again")),
        situation=RuleSituation("check all", "no such program 12", "make check") if place == 1 else RuleSituation(),
        example="`make check` works, `check all` fails." if place == 1 else "",
    )


def texts(whet: Whet) -> list[str]:
    return [each["text"] for each in whet("rules", "--json").json["rules"]]


@pytest.mark.usefixtures("waiting")
def test_the_list_shows_each_text_with_its_source_by_project(whet: Whet) -> None:
    shown = whet("lessons", "--waiting").out
    assert shown.index("github.com/ann/shop") < shown.index(TEXTS[1]) < shown.index("Every project")
    assert all(text in shown for text in TEXTS)
    assert "a tool's output (trust tool)" in shown
    assert "2 quotes from 2 sessions" in shown
    assert "make: no rule" in shown
    assert "accepted (entry 4) helps in 9 of 10 cases" in shown
    assert shown.count("not tried") == 2
    assert shown.count("example, for tiny models: `make check` works, `check all` fails.") == 1
    record = whet("lessons", "--waiting", "--json").json["waiting"][0]
    assert (record["project"], record["tried"]["ruling"]) == ("github.com/ann/shop", "accepted")
    assert record["example"] == "`make check` works, `check all` fails."


def test_one_key_decides_on_each(whet: Whet, tmp_path: Path, waiting: list[int]) -> None:
    code, shown = on_a_terminal(tmp_path, "a\nr\ns", "lessons", "--waiting", prompt=PROMPT)
    assert code == 0, shown
    assert "Decided on 2 changes. 1 change left" in shown
    assert texts(whet) == [TEXTS[1]]
    assert [each["id"] for each in whet("lessons", "--waiting", "--json").json["waiting"]] == [waiting[2]]


@pytest.mark.usefixtures("waiting")
def test_quitting_leaves_the_rest_as_it_is(whet: Whet, tmp_path: Path) -> None:
    code, shown = on_a_terminal(tmp_path, "x\nq", "lessons", "--waiting", prompt=PROMPT)
    assert code == 0
    assert "3 changes left" in shown
    assert len(whet("lessons", "--waiting", "--json").json["waiting"]) == 3


@pytest.mark.usefixtures("waiting")
def test_edited_words_are_the_persons_own(whet: Whet, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\necho 'Run make check first.' > \"$1\"\n")
    editor.chmod(0o755)
    code, shown = on_a_terminal(
        tmp_path, "e\nq", "lessons", "--waiting", prompt=PROMPT, variables={"EDITOR": str(editor)}
    )
    assert code == 0, shown
    (made,) = whet("rules", "--json").json["rules"]
    assert (made["text"], made["trust"]) == ("Run make check first.", "operator")
    assert made["scope"]["project"] == "github.com/ann/shop"
    assert len(whet("lessons", "--waiting", "--json").json["waiting"]) == 2


@pytest.mark.usefixtures("waiting")
def test_without_an_editor_the_new_text_is_asked_for(whet: Whet, tmp_path: Path) -> None:
    code, shown = on_a_terminal(
        tmp_path, "e\nRun make check.\r\nq", "lessons", "--waiting", prompt=f"{PROMPT}|New text"
    )
    assert code == 0, shown
    assert texts(whet) == ["Run make check."]


def test_never_holds_for_what_says_the_same(whet: Whet, tmp_path: Path, waiting: list[int]) -> None:
    assert whet("lessons", "never", *map(str, waiting[:2])).code == 0
    home = Home(tmp_path / "home")
    same = rule(0, text="water the PLANTS, on Mondays!")
    for_the_same_failure = rule(1, text="Something else altogether.")
    with opened(home) as database:
        for patch in (same, for_the_same_failure):
            with pytest.raises(Exception, match="never wants this"):
                propose(home, database, patch, actor=Actor.POLICY, now=time.time())
    assert len(whet("lessons", "--waiting", "--json").json["waiting"]) == 1


def test_a_never_says_how_to_take_it_back(whet: Whet, waiting: list[int]) -> None:
    said = whet("lessons", "never", str(waiting[0])).out
    back = re.search(r"whet ledger undo (\d+)", said)
    assert back is not None
    assert "Waits again" in whet("ledger", "undo", back[1]).out
    assert len(whet("lessons", "--waiting", "--json").json["waiting"]) == 3
    assert whet("ledger", "undo", back[1]).code == 1


def test_several_are_decided_on_at_once(whet: Whet, tmp_path: Path, waiting: list[int]) -> None:
    first, second, third = map(str, waiting)
    assert whet("lessons", "refuse", first, "99").code == 1
    assert len(whet("lessons", "--waiting", "--json").json["waiting"]) == 3
    code, shown = on_a_terminal(tmp_path, "y\n", "lessons", "approve", first, second)
    assert code == 0, shown
    assert "Approve exactly these 2" in shown
    assert sorted(texts(whet)) == sorted(TEXTS[:2])
    assert len(whet("lessons", "refuse", third, "--json").json["refused"]) == 1


def test_without_a_terminal_a_setting_has_to_allow_it(whet: Whet, waiting: list[int]) -> None:
    assert whet("lessons", "approve", str(waiting[0]), "--yes", allowed=False).code == 1
    agent = whet("lessons", "approve", str(waiting[0]), "--yes", variables={"CLAUDECODE": "1"})
    assert agent.code == 1
    assert texts(whet) == []
    assert whet("lessons", "approve", str(waiting[0]), "--yes").code == 0
    assert texts(whet) == [TEXTS[0]]


def test_an_approved_rule_is_shown_with_its_example(whet: Whet, waiting: list[int]) -> None:
    whet("lessons", "approve", str(waiting[1]), "--yes")
    [record] = whet("rules", "--json").json["rules"]
    assert record["example"] == "`make check` works, `check all` fails."
    assert "example, for tiny models: `make check` works" in whet("rules", "show").out


def test_the_old_name_says_the_new_one_and_runs_it(whet: Whet, waiting: list[int]) -> None:
    shown = whet("lessons", "show", str(waiting[0]))
    assert shown.code == 0
    assert TEXTS[0] in shown.out


def test_an_approval_is_taken_back(whet: Whet, waiting: list[int]) -> None:
    [made] = whet("lessons", "approve", str(waiting[0]), "--yes", "--json").json["applied"]
    assert "is removed" in whet("ledger", "undo", str(made["id"])).out
    assert texts(whet) == []


def test_words_are_given_in_place_of_what_was_proposed(whet: Whet, waiting: list[int]) -> None:
    assert whet("lessons", "edit", str(waiting[0]), "Water them on Sundays.", allowed=False).code == 1
    assert whet("lessons", "edit", str(waiting[0]), "Water them on Sundays.", "--yes").code == 0
    assert texts(whet) == ["Water them on Sundays."]
    assert len(whet("lessons", "--waiting", "--json").json["waiting"]) == 2
