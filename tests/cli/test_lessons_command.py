"""What a person sees of what their sessions teach."""

import json
import os
import time
from pathlib import Path

import pytest

from command import Whet
from taught_sessions import ORDER, claude_rows, proposed
from whet.changes.apply import apply, undo
from whet.changes.pending import approve
from whet.ledger.entries import Actor
from whet.ledger.patches import Action, Form, Patch, RuleSituation, Scope
from whet.sessions.trust import Trust
from whet.store.home import Home
from whet.store.opening import opened

BEFORE = 1_780_000_000.0  # in May 2026, before the sessions


@pytest.fixture
def shop(whet: Whet, tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    for name in ("one", "two"):
        lines = "\n".join(json.dumps(each) for each in claude_rows(name, folder))
        (tmp_path / f"{name}.jsonl").write_text(f"{lines}\n")
        whet("import", f"{name}.jsonl")
    return folder


def test_lessons_name_the_fix_in_the_records_own_words(whet: Whet, shop: Path) -> None:
    found = {each["source"]: each for each in whet("lessons", "--json").json["lessons"]}
    recovery, person = found["recovery"], found["person"]
    rule = "`rtk bun install` fails here (“unrecognized subcommand 'bun'”); run `bun install` instead."
    assert recovery["draft"] == rule
    assert (recovery["project"], recovery["fix"], recovery["trust"]) == (str(shop), "bun install", "tool")
    assert (person["draft"], person["trust"], person["counts"]["sessions"]) == (ORDER, "tool", 2)
    assert (person["form"], person["change"]) == ("rule", "rule")
    shown = whet("lessons").out
    assert str(shop) in shown
    assert "whet lessons show" in shown


def test_one_lesson_is_shown_with_its_evidence(whet: Whet, shop: Path) -> None:
    assert shop.is_dir()
    shown = whet("lessons", "show", "1").out
    assert "#" in shown
    assert "2 sessions" in shown
    assert whet("lessons", "show", "99").code == 1


def test_only_one_project_is_shown_where_it_is_named(whet: Whet, shop: Path) -> None:
    assert whet("lessons", "--project", shop.name, "--json").json["lessons"]
    assert whet("lessons", "--project", "nowhere", "--json").json["lessons"] == []


def test_what_stands_in_the_projects_file_is_not_followed_and_not_proposed_again(whet: Whet, shop: Path) -> None:
    file = shop / "AGENTS.md"
    file.write_text("- Never wrap lines in markdown.\n")
    os.utime(file, (BEFORE, BEFORE))
    [person] = [each for each in whet("lessons", "--json").json["lessons"] if each["source"] == "person"]
    assert person["not_followed"].endswith("AGENTS.md")
    assert "not followed" in whet("lessons").out
    os.utime(file)
    [person] = [each for each in whet("lessons", "--json").json["lessons"] if each["source"] == "person"]
    assert (person["standing"], person["not_followed"]) == ("claimed", None), "only sessions since then count"


def test_a_rule_that_was_just_written_to_the_projects_file_is_active(whet: Whet, shop: Path) -> None:
    [id] = [each["id"] for each in whet("lessons", "--json").json["lessons"] if each["source"] == "person"]
    home = Home(shop.parent / "home")
    [number] = proposed(home, id)
    with opened(home) as database:
        approve(home, database, number, actor=Actor.PERSON, now=time.time())
    (shop / "CLAUDE.md").write_text(f"- {ORDER}\n")
    assert states(whet)[id] == "active"
    assert "not followed" not in whet("lessons", "--all").out


def test_the_project_of_the_folder_comes_first_and_keeps_its_numbers(whet: Whet, shop: Path, tmp_path: Path) -> None:
    other = tmp_path / "bank"
    other.mkdir()
    for number in range(3):
        rows = claude_rows(f"bank{number}", other, "Always write the amounts in cents")
        (tmp_path / f"bank{number}.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in rows))
        whet("import", f"bank{number}.jsonl")
    numbers = {each["draft"]: each["number"] for each in whet("lessons", "--json").json["lessons"]}
    inside, outside = whet("lessons", folder=shop).out, whet("lessons").out
    assert f"{shop} (this project)" in " ".join(inside.split())
    assert inside.index(str(shop)) < inside.index(str(other))
    assert outside.index(str(other)) < outside.index(str(shop))
    assert "(this project)" not in outside
    assert f"{numbers[ORDER]}. {ORDER}" in inside


def test_a_change_that_waits_says_how_many_of_its_sessions_it_was_written_from(whet: Whet, shop: Path) -> None:
    [id] = [each["id"] for each in whet("lessons", "--json").json["lessons"] if each["source"] == "person"]
    proposed(Home(shop.parent / "home"), id)
    [waits] = whet("lessons", "--waiting", "--json").json["waiting"]
    assert "in 2 sessions of the project, written from the oldest 1: the other 1 can judge it" in waits["reason"]
    assert "1 quote from 1 session" in " ".join(whet("lessons", "--waiting").out.replace("↪", "").split())


def test_what_an_agent_read_in_the_projects_file_is_not_proposed_again(whet: Whet, shop: Path, tmp_path: Path) -> None:
    rows = claude_rows("three", shop)
    rows[1]["message"]["content"][0] |= {"name": "Read", "input": {"file_path": str(shop / "CLAUDE.md")}}  # type: ignore[index]
    rows[2]["message"]["content"][0] |= {"content": "1→- Never wrap lines in markdown.", "is_error": False}  # type: ignore[index]
    (tmp_path / "three.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in rows))
    whet("import", "three.jsonl")
    [person] = [each for each in whet("lessons", "--json").json["lessons"] if each["source"] == "person"]
    assert person["not_followed"].endswith("CLAUDE.md")
    planned = whet("try", "--dry-run", "--json").json["outcomes"]
    assert not any(each["text"] == ORDER for each in planned)


def test_of_sentences_that_contradict_each_other_the_last_holds(whet: Whet, tmp_path: Path) -> None:
    orders = ("always use tabs for the indentation", "never use tabs for the indentation")
    for name, order in zip(("one", "two"), orders, strict=True):
        (tmp_path / f"{name}.jsonl").write_text(
            "".join(f"{json.dumps(each)}\n" for each in claude_rows(name, tmp_path, order))
        )
        whet("import", f"{name}.jsonl")
    found = whet("lessons", "--json").json["lessons"]
    assert [each["draft"].lower() for each in found if "tabs" in each["draft"]] == [orders[1]]


def test_a_lesson_is_proposed_for_its_project_and_waits_where_its_words_are_a_tools(whet: Whet, shop: Path) -> None:
    planned = whet("try", "--dry-run", "--json").json["outcomes"]
    [recovery] = [each for each in planned if each["text"] and "bun install" in each["text"]]
    assert (recovery["way"], recovery["project"], recovery["trust"]) == ("evidence", str(shop), "tool")
    assert recovery["goes_to"] == [f"Whet's own prompt in {shop}"]
    assert "no model is set" in recovery["judge"]
    shown = " ".join(whet("try", "--dry-run").out.split())
    assert "would go to" in shown
    assert "would be tried" not in shown, "there is no model to try it on"
    assert "would be proposed: no model is set to try it" in shown
    assert "`whet try --agent claude-code`" in shown
    body = {"session_id": "s", "cwd": str(shop), "hook_event_name": "SessionStart", "source": "startup"}
    whet("hook", "session-start", "--agent", "claude-code", stdin=json.dumps(body))
    planned = whet("try", "--dry-run", "--json").json["outcomes"]
    [recovery] = [each for each in planned if each["text"] and "bun install" in each["text"]]
    assert recovery["goes_to"] == [f"new sessions of claude-code in {shop}", f"Whet's own prompt in {shop}"]

    assert "needs your approval" in whet("try", "--now").out
    waiting = whet("lessons", "--waiting", "--json").json["waiting"]
    assert sum("bun install" in each["text"] for each in waiting) == 1
    assert "bun install" not in whet("chat", "--prompt", "--folder", str(shop)).out
    again = whet("try", "--dry-run", "--json").json["outcomes"]
    assert not any(each["text"] and "bun install" in each["text"] for each in again), "it is asked about once"


def test_a_rule_of_a_project_is_told_there_alone(whet: Whet, tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    added = whet("rules", "add", "bun", "Run bun install.", "--project", str(tmp_path / "shop"))
    assert added.code == 0, added.err
    assert whet("rules", "--json").json["rules"][0]["scope"]["project"] == str(tmp_path / "shop")
    assert "Run bun install." in whet("chat", "--prompt", "--folder", str(tmp_path / "shop")).out
    assert "Run bun install." not in whet("chat", "--prompt", "--folder", str(tmp_path)).out


def test_a_rule_says_whether_its_situation_came_up_since_and_whether_it_was_followed(
    whet: Whet, shop: Path, tmp_path: Path
) -> None:
    situation = RuleSituation("rtk bun install", "unrecognized subcommand 'bun'", "bun install")
    elsewhere = Scope(project="elsewhere")
    home = Home(tmp_path / "home")
    with opened(home) as database:
        for name, scope in (("bun", Scope(project=str(shop))), ("other", elsewhere)):
            patch = Patch(Form.RULE, Action.ADD, name, f"Run bun {name}.", scope, trust=Trust.USER, situation=situation)
            apply(home, database, patch, actor=Actor.PERSON, now=BEFORE)
    (shop / "AGENTS.md").write_text("- Run bun bun.\n")
    os.utime(shop / "AGENTS.md", (BEFORE, BEFORE))
    done = whet("rules", "show", "--json")
    assert done.code == 0, done.err
    bun, other = done.json["rules"]
    assert bun["situation"]["fix"] == "bun install"
    counts = {"looked": 2, "came_up": 2, "told": 2, "untold": 0, "followed": 0, "told_followed": 0, "told_unknown": 0}
    assert bun["following"] == {**counts, "reminded": 0, "reminded_followed": 0}
    assert other["following"]["looked"] == 0
    assert "situation in 2 of 2 sessions since, told in 2, followed in 0" in whet("rules", "show", "bun").out
    whet("rules", "add", "--replace", "bun", "Always run bun bun.")
    assert whet("rules", "show", "bun", "--json").json["rules"][0]["situation"]["fix"] == "bun install"
    assert whet("rules", "show", "no-such").code == 1


def test_a_folder_means_its_own_project(whet: Whet, shop: Path) -> None:
    assert whet("lessons", "--project", str(shop), "--json").json["lessons"] != []
    assert whet("lessons", "--project", ".", "--json").json["lessons"] == []


def test_a_lesson_keeps_its_id_and_its_number_in_every_list(whet: Whet, shop: Path) -> None:
    whole = {each["id"]: each["number"] for each in whet("lessons", "--json").json["lessons"]}
    assert list(whole.values()) == [1, 2]
    for options in ((), ("--project", shop.name)):
        for each in whet("lessons", *options, "--json").json["lessons"]:
            assert whole[each["id"]] == each["number"]
            assert each["draft"] in " ".join(whet("lessons", "show", each["id"]).out.split())
            assert whet("lessons", "show", str(each["number"]), "--json").json["id"] == each["id"]


def test_a_draft_that_is_proposed_waits_and_then_says_what_became_of_it(whet: Whet, shop: Path) -> None:
    home = Home(shop.parent / "home")
    ids = {each["source"]: each["id"] for each in whet("lessons", "--json").json["lessons"]}
    assert f"whet lessons approve {ids['person']}" in " ".join(whet("lessons", "show", ids["person"]).out.split())
    proposed(home, ids["recovery"], ids["person"])
    assert set(states(whet).values()) == {"waiting"}
    waiting = {
        "bun install" in each["text"]: each["id"] for each in whet("lessons", "--waiting", "--json").json["waiting"]
    }
    listed = " ".join(whet("lessons").out.split())
    assert listed.index("What waits for your yes") < listed.index(f"{waiting[True]} add rule")
    assert whet("lessons", "refuse", str(waiting[True])).code == 0
    with opened(home) as database:
        approve(home, database, waiting[False], actor=Actor.PERSON, now=time.time())
    assert states(whet) == {ids["recovery"]: "refused", ids["person"]: "active"}
    listed = " ".join(whet("lessons").out.split())
    assert "1 refused, 1 active" in listed or "1 active, 1 refused" in listed
    assert ORDER not in listed
    assert "active as rule learned-" in " ".join(whet("lessons", "--all").out.split())
    with opened(home) as database:
        undo(home, database, actor=Actor.PERSON, now=time.time())
    assert states(whet)[ids["person"]] == "retired"


def states(whet: Whet) -> dict[str, str]:
    return {each["id"]: each["standing"] for each in whet("lessons", "--json").json["lessons"]}


def test_what_has_no_draft_is_not_proposed(whet: Whet, shop: Path) -> None:
    (shop / "AGENTS.md").write_text("- Never wrap lines in markdown.\n")
    [person] = [each["id"] for each in whet("lessons", "--json").json["lessons"] if each["source"] == "person"]
    refused = whet("lessons", "approve", person, "--yes")
    assert refused.code == 1
    assert "already in" in " ".join(refused.err.split())


def test_the_report_shows_the_lessons_that_are_kept(whet: Whet, shop: Path) -> None:
    assert shop.is_dir()
    assert "`whet lessons` finds what your sessions teach" in " ".join(whet("report", "--temporary").out.split())
    found = whet("lessons", "--json").json["lessons"]
    told = " ".join(whet("report", "--temporary").out.split())
    assert f"{len(found)} lessons to decide on (2 rules)" in told
    assert all(each["draft"] in told for each in found)


def test_quotes_that_are_not_shown_are_counted(whet: Whet, shop: Path, tmp_path: Path) -> None:
    for number in range(14):
        lines = "".join(f"{json.dumps(each)}\n" for each in claude_rows(f"more{number}", shop))
        (tmp_path / f"more{number}.jsonl").write_text(lines)
    whet("import", *(f"more{number}.jsonl" for number in range(14)))
    shown = whet("lessons", "show", "1").out
    assert "12 of 16 quotes; all of them: --all" in shown
    assert whet("lessons", "show", "1", "--all").out.count("#") == 16


def test_an_improvement_says_how_many_ideas_are_left(whet: Whet, shop: Path) -> None:
    assert shop.is_dir()
    assert whet("try", "--dry-run", "--most", "1", "--json").json["left"] == 1
    assert "1 more idea left for another run" in " ".join(whet("try", "--dry-run", "--most", "1").out.split())
    assert "left for another run" not in whet("try", "--dry-run").out


def test_a_lesson_is_approved_and_undone_by_its_id(whet: Whet, shop: Path) -> None:
    assert shop.is_dir()
    [id] = [each["id"] for each in whet("lessons", "--json").json["lessons"] if each["source"] == "person"]
    assert "Approved and active" in whet("lessons", "approve", id, "--yes").out
    assert states(whet)[id] == "active"
    assert "is removed" in whet("ledger", "undo", id).out
    assert states(whet)[id] == "retired"
