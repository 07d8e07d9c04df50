"""Rules that are told and not followed: the next step waits for a person, with the counts, and nothing else happens."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from conversations import conversation, shell, user
from whet.changes.apply import apply
from whet.changes.pending import approve, pending, refuse
from whet.improving.keeping import propose_steps, unheeded
from whet.ledger.entries import Actor, Item, Step
from whet.ledger.patches import Action, Form, Patch, RuleSituation
from whet.lessons.call_patterns import is_matched
from whet.sessions.trust import Trust
from whet.store import sessions
from whet.store.canary_counts import Telling, keep_reminders, keep_tellings
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.rows import Provenance, prepare
from whet.telling.hooks.compiling import compile_reminders, compile_rules
from whet.telling.targets.drawing import offered_rules
from whet.telling.targets.settings import Target, add
from whet.telling.targets.sync import tell
from whet.trials.improvements import LessonResult, why_of

# It is about files and the ledger, which are tried on every database elsewhere.
pytestmark = pytest.mark.parametrize("home", ["sqlite"], indirect=True)
BEGUN = 1_790_000_000.0
RULE = Patch(
    Form.RULE, Action.ADD, "bun", "Run bun directly.", trust=Trust.USER,
    situation=RuleSituation("rtk bun i", "unrecognized subcommand", "bun i"),
)  # fmt: skip


def begin(home: Home, database: Database) -> Item:
    apply(home, database, RULE, actor=Actor.PERSON, now=BEGUN)
    return rule_of(home, database)


def rule_of(home: Home, database: Database) -> Item:
    [rule] = ledger_of(home, database).state().rules
    return rule


def told(database: Database, rule: Item, command: Callable[[int], str], number: int = 6) -> None:
    for index in range(number):
        at = rule.since + 60 + index
        name = f"{rule.number}-{index}"
        made = conversation(user(f"Hello {name}"), shell(command(index), "Done"), native_id=name, source="codex", at=at)
        sessions.keep(database, prepare(replace(made, ended=at)), Provenance(f"/{name}", at, at))
        keep_tellings(database, [Telling("codex", name, (rule.number,), at)])


def test_each_step_waits_for_a_person_with_the_counts(home: Home, database: Database) -> None:
    rule = begin(home, database)
    told(database, rule, lambda index: "bun i" if index == 0 else "rtk bun i")
    [found] = propose_steps(home, database)
    assert found.became is LessonResult.WAITS
    assert why_of(found.lesson).endswith("followed in 1 of them; say it again with an example")
    assert rule_of(home, database) == rule, "nothing happens by itself"
    [waits] = pending(home, database, now=BEGUN)
    assert (waits.number, waits.step, waits.patch.reason) == (found.entry, Step.PROPOSED, found.lesson.patch.reason)
    assert propose_steps(home, database)[0].entry == found.entry, "once, and not again every night"

    approve(home, database, waits.number, actor=Actor.PERSON, now=BEGUN + 1000)
    changed = rule_of(home, database)
    assert "Example: where you would run `rtk bun i`, run `bun i`." in changed.text
    assert unheeded(home, database) == (), "what came of the new words is counted anew"
    told(database, changed, lambda _: "rtk bun i")
    [last] = propose_steps(home, database)
    assert last.lesson.patch.action is Action.REMOVE
    approve(home, database, last.entry, actor=Actor.PERSON, now=BEGUN + 3000)
    assert ledger_of(home, database).state().rules == ()


def test_a_rule_in_the_file_of_an_agent_with_hooks_moves_to_the_start(
    home: Home, database: Database, tmp_path: Path
) -> None:
    file = tmp_path / "AGENTS.md"
    add(home, Target("codex", "codex", file=str(file)))
    rule = begin(home, database)
    told(database, rule, lambda _: "rtk bun i")
    [first] = propose_steps(home, database)
    approve(home, database, first.entry, actor=Actor.PERSON, now=BEGUN + 1000)
    changed = rule_of(home, database)
    told(database, changed, lambda _: "rtk bun i")
    now = time.time()
    tell(home, database, now=now)
    assert changed.text in file.read_text()

    mark = home.folder / "hooks" / "agents" / "codex"
    mark.parent.mkdir(parents=True)
    mark.touch()
    [second] = propose_steps(home, database)
    assert why_of(second.lesson).endswith("tell it when a session starts, and not in the agent's file")
    approve(home, database, second.entry, actor=Actor.PERSON, now=BEGUN + 3000)
    tell(home, database, now=now)
    assert not file.exists() or changed.text not in file.read_text()
    compiled = compile_rules(offered_rules(ledger_of(home, database)))
    assert [changed.text in each["line"] for each in compiled["rules"]] == [True]


def test_then_a_rule_is_reminded_of_at_the_call_and_dropped_if_that_does_not_help(
    home: Home, database: Database
) -> None:
    mark = home.folder / "hooks" / "agents" / "codex"
    mark.parent.mkdir(parents=True)
    mark.touch()
    rule = begin(home, database)
    for number, words in enumerate(("an example", "at a call in the form that goes wrong, once in a session")):
        told(database, rule, lambda _: "rtk bun i")
        [found] = propose_steps(home, database)
        assert why_of(found.lesson).endswith(words)
        assert compile_reminders(offered_rules(ledger_of(home, database)))["reminders"] == [], "it waits for a person"
        approve(home, database, found.entry, actor=Actor.PERSON, now=BEGUN + 1000 * (number + 1))
        rule = rule_of(home, database)
    [reminder] = compile_reminders(offered_rules(ledger_of(home, database)))["reminders"]
    assert (reminder["entry"], is_matched(reminder["calls"], "rtk bun i")) == (rule.number, True)

    told(database, rule, lambda _: "rtk bun i")
    assert unheeded(home, database) == (), "told, and not reminded of"
    keep_reminders(
        database, [Telling("codex", f"{rule.number}-{index}", (rule.number,), rule.since) for index in range(5)]
    )
    [last] = propose_steps(home, database)
    assert last.lesson.patch.action is Action.REMOVE
    assert last.lesson.patch.reason == "reminded of in 5 sessions, followed after that in 0 of them"


def test_what_a_person_refused_is_not_proposed_again(home: Home, database: Database) -> None:
    rule = begin(home, database)
    told(database, rule, lambda _: "rtk bun i")
    [found] = propose_steps(home, database)
    refuse(home, database, found.entry, actor=Actor.PERSON, now=BEGUN + 1000)
    [again] = propose_steps(home, database)
    assert (again.became, pending(home, database, now=BEGUN + 1001)) == (LessonResult.REFUSED, ())


def test_a_rule_that_is_followed_or_seldom_told_is_left_alone(home: Home, database: Database) -> None:
    rule = begin(home, database)
    told(database, rule, lambda _: "rtk bun i", number=4)
    assert unheeded(home, database) == ()
    told(database, replace(rule, since=rule.since + 100), lambda _: "bun i", number=20)
    assert propose_steps(home, database) == ()
