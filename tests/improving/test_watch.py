"""The watch: sessions counted once, harm reverted by itself, and other agents drawn for by the day."""

import os
from collections.abc import Iterable
from itertools import count
from pathlib import Path

import pytest
from msgspec.structs import replace

from conversations import agent, call, conversation, shell, user
from whet.changes.apply import try_out, try_out_all
from whet.errors import WhetError
from whet.improving.learned import lessons_of
from whet.improving.watch import live_lessons, look, watch
from whet.ledger.entries import Actor, Step
from whet.ledger.patches import Action, Form, Patch, RuleSituation, Scope, digest
from whet.lessons.rungs import CanaryMove
from whet.own.runs.run import Ended, Run
from whet.sessions.transcripts import Ending, Message, session_id
from whet.sessions.trust import Trust
from whet.store.canary_counts import Delivery, KeptDraw, counted, keep_delivery, keep_session_draws
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import Ledger, ledger_of
from whet.store.recording import recorded
from whet.store.rows import Provenance, prepare
from whet.store.sessions import keep, stored
from whet.telling.context.gathering import rules_in_force
from whet.telling.targets.drawing import unit_of
from whet.telling.targets.settings import Target, add
from whet.telling.targets.sync import day_of, tell
from whet.trials.draws import is_told
from whet.trials.told_rules import key_of
from whet.work.clock import order_watch
from whet.work.orders import DirectSteps

BEGAN = 1_800_000_000.0
HOUR, DAY = 3600.0, 86_400.0
RULE = Patch(Form.RULE, Action.ADD, "tables", "Answer in a table.", trust=Trust.USER)
WELL = (user("Sum it up."), *shell("wc -l a.txt", "3 a.txt"), agent("It has three lines."))
BADLY = (
    user("Sum it up."),
    *(part for _ in range(6) for part in shell("cat a.txt", "cat: a.txt: No such file", error=True)),
    agent("I could not do it, sorry."),
    user("No, that is wrong. I told you to look first."),
)


def live(database: Database, name: str, messages: Iterable[Message], *, at: float, model: str = "m") -> None:
    """A session of Whet's own, stored as it happens."""
    run = Run(name, model, "", draw_id=name)
    list(recorded(database, run, [*messages, Ended(Ending.FINISHED)], now=lambda: at))


def go_by(home: Home, database: Database, *, sessions: int, told_go: Iterable[Message]) -> None:
    [item] = [rule for rule in ledger_of(home, database).state().rules if rule.canary]
    for number in range(sessions):
        draw_id = f"session-{number}"
        messages = tuple(told_go) if is_told(key_of(item), draw_id, item.share) else WELL
        live(database, draw_id, messages, at=BEGAN + 60 + number)


def begin(home: Home, database: Database, patch: Patch = RULE, share: float = 0.5, actor: Actor = Actor.POLICY) -> int:
    return try_out(home, database, patch, actor=actor, now=BEGAN, share=share).number


def test_a_rule_that_harms_is_reverted_by_itself_and_says_why(home: Home, database: Database) -> None:
    number = begin(home, database)
    go_by(home, database, sessions=50, told_go=BADLY)
    [found] = look(home, database, now=BEGAN + 2 * HOUR).canaries
    assert found.counts.comparison.decision is CanaryMove.REVERT
    last = Ledger(database).entries()[-1]
    assert (last.step, last.actor, last.about) == (Step.REVERTED, Actor.WATCH, number)
    assert last.number == found.counts.decided
    assert "with it" in last.note
    assert "1 %" in last.note
    assert Ledger(database).state().rules == ()
    assert look(home, database, now=BEGAN + 3 * HOUR).canaries == (), "there is nothing left to watch"


def test_a_rule_that_changes_nothing_goes_on(home: Home, database: Database) -> None:
    begin(home, database)
    go_by(home, database, sessions=30, told_go=WELL)
    [found] = look(home, database, now=BEGAN + 2 * HOUR).canaries
    assert (found.counts.comparison.decision, found.counts.decided) == (CanaryMove.WAIT, 0)
    assert found.counts.comparison.told + found.counts.comparison.untold == found.counts.sessions == 30
    assert live_lessons(home, database) == (found,)
    [lesson] = lessons_of(home, database)
    without, told = found.counts.comparison.loss_untold, found.counts.comparison.loss_told
    assert lesson.climb.words[-1] == f"live: mean failure {without:.2f} → {told:.2f} in 30 sessions"


def test_a_row_that_names_no_day_does_not_stop_the_watch(home: Home, database: Database) -> None:
    number = begin(home, database)
    with database.writing():
        keep_delivery(database, Delivery(number, "/p/CLAUDE.md", "no day", True, ("claude",), "/p", BEGAN))
    [found] = look(home, database, now=BEGAN + 2 * HOUR).canaries
    assert found.counts.sessions == 0


def test_a_session_counts_once_and_not_before_it_has_settled(home: Home, database: Database) -> None:
    begin(home, database)
    live(database, "early", WELL, at=BEGAN - HOUR)
    live(database, "settled", WELL, at=BEGAN + 10)
    live(database, "fresh", WELL, at=BEGAN + 2 * HOUR)
    live(database, "settled-too", WELL, at=BEGAN + 20)
    first, second = (look(home, database, now=BEGAN + 2.5 * HOUR).canaries[0] for _ in range(2))
    assert first == second
    assert first.counts.sessions == 2, "what began before the canary, or may still go on, does not count"
    assert look(home, database, now=BEGAN + 4 * HOUR).canaries[0].counts.sessions == 3


def test_sessions_that_the_rule_is_not_for_do_not_count(home: Home, database: Database) -> None:
    begin(home, database, replace(RULE, scope=Scope(models=("large",))), actor=Actor.PERSON)
    live(database, "one", WELL, at=BEGAN + 10, model="very-large")
    live(database, "other", WELL, at=BEGAN + 10, model="small")
    assert look(home, database, now=BEGAN + 2 * HOUR).canaries[0].counts.sessions == 1


def test_the_procedure_looks_and_tells_in_one_line(home: Home, database: Database) -> None:
    assert watch(home, DirectSteps("w"), "{}").summary == "0 canaries, nothing to decide"
    begin(home, database)
    assert watch(home, DirectSteps("w"), "{}").summary == "1 canaries, nothing to decide"


def test_what_a_session_drew_is_on_record_and_its_prompt_has_it(home: Home, database: Database) -> None:
    begin(home, database)
    live(database, "one", WELL, at=BEGAN + 10)
    session = stored(database, session_id("whet", "one"))
    assert session is not None
    assert session.facts.draw_id == "one"
    [item] = Ledger(database).state().rules
    for draw_id in ("one", "two", "three", "four"):
        told = [rule.text for rule in rules_in_force(Ledger(database).entries(), draw_id=draw_id)]
        assert told == ([RULE.text] if is_told(key_of(item), draw_id, item.share) else [])


def drawn_project(home: Home, database: Database, tmp_path: Path, days: Iterable[str]) -> Path:
    """A folder whose file is told the rule on some of these days: which ones depends on its path."""
    [item] = [rule for rule in ledger_of(home, database).state().rules if rule.canary]
    for folder in (tmp_path / f"project-{number}" for number in count()):
        units = (unit_of(str(folder / "CLAUDE.md"), day) for day in days)
        if len({is_told(key_of(item), unit, item.share) for unit in units}) == 2:
            return folder
    raise AssertionError


def test_other_agents_files_are_drawn_for_by_the_day_and_their_sessions_count_by_it(
    home: Home, database: Database, tmp_path: Path
) -> None:
    begin(home, database)
    days, told = range(1, 9), 0
    project = drawn_project(home, database, tmp_path, {day_of(BEGAN + day * DAY) for day in days})
    project.mkdir()
    file = project / "CLAUDE.md"
    add(home, Target("claude", "claude-code", project=str(project), file=str(file)))
    for day in days:
        now = BEGAN + day * DAY
        tell(home, database, now=now)
        told += (has := file.exists() and RULE.text in file.read_text())
        for number in range(2):
            turns = BADLY if has else WELL
            made = conversation(*turns, native_id=f"{day_of(now)}-{number}", source="claude-code", at=now + 60)
            placed = replace(made, folder=str(project), ended=now + 120)
            keep(database, prepare(placed), Provenance("", now + 120, now + 120))
    assert 0 < told < len(days), "some days with it, some without"
    [found] = look(home, database, now=BEGAN + 12 * DAY).canaries
    assert found.counts.comparison.told == told
    assert found.counts.comparison.untold == len(days) - told
    assert found.counts.sessions == 2 * len(days)
    assert (found.counts.comparison.loss_told or 0) > (found.counts.comparison.loss_untold or 0)


@pytest.mark.parametrize("home", ["sqlite"], indirect=True)
def test_the_clock_has_canaries_looked_at_once_an_hour(home: Home, database: Database) -> None:
    assert order_watch(home, now=BEGAN) == "", "there is none"
    begin(home, database)
    first, same = order_watch(home, now=BEGAN), order_watch(home, now=BEGAN + 60)
    assert first == same != ""


def test_only_new_and_changed_rules_can_be_canaries(home: Home, database: Database) -> None:
    removed = Patch(Form.RULE, Action.REMOVE, "tables", before=digest(RULE.text), trust=Trust.USER)
    for patch, share in ((removed, 0.5), (RULE, 1.0), (RULE, 0.0)):
        with pytest.raises(WhetError, match="share of sessions"):
            try_out(home, database, patch, actor=Actor.PERSON, now=1.0, share=share)


def ended(database: Database, session: str, messages: tuple[Message, ...], *, at: float) -> None:
    """A session of Claude Code that was imported."""
    made = replace(
        conversation(*messages), source="claude-code", native_id=session,
        folder="/src", started=at, ended=at + 60,
    )  # fmt: skip
    keep(database, prepare(made), Provenance(f"/sessions/{session}", at, at))


def test_a_session_that_drew_at_its_start_counts_by_itself(home: Home, database: Database) -> None:
    number = begin(home, database)
    for index in range(40):
        told = is_told(f"draw-{number}", f"s{index}", 0.5)
        ended(database, f"s{index}", BADLY if told else WELL, at=BEGAN + 60 + index)
        keep_session_draws(database, [KeptDraw(number, told, 0.5, "claude-code", f"s{index}", BEGAN + 60)])
    keep_delivery(database, Delivery(number, "/src/CLAUDE.md", day_of(BEGAN), True, ("claude-code",), "", BEGAN))
    [found] = look(home, database, now=BEGAN + 3 * DAY).canaries
    assert found.counts.comparison.decision is CanaryMove.REVERT
    compared = found.counts.comparison
    assert compared.told + compared.untold == found.counts.sessions == 40, "sessions, and not days"


def test_what_a_session_sends_out_counts_with_it_and_one_without_a_draw_does_not(
    home: Home, database: Database
) -> None:
    number = begin(home, database)
    keep_session_draws(database, [KeptDraw(number, True, 0.5, "claude-code", "s1", BEGAN + 60)])
    for session in ("s1", "s1/helper", "s2"):
        ended(database, session, WELL, at=BEGAN + 60)
    [found] = look(home, database, now=BEGAN + DAY).canaries
    assert (found.counts.sessions, found.counts.comparison.told, found.counts.comparison.untold) == (2, 1, 0)


def test_a_session_that_still_goes_on_is_not_counted(home: Home, database: Database) -> None:
    number = begin(home, database)
    keep_session_draws(database, [KeptDraw(number, True, 0.5, "claude-code", "s1", BEGAN + 60)])
    ended(database, "s1", WELL, at=BEGAN + 60)
    [found] = look(home, database, now=BEGAN + 200).canaries
    assert found.counts.sessions == 0


def test_the_file_of_an_agent_with_hooks_holds_no_canary(home: Home, database: Database, tmp_path: Path) -> None:
    begin(home, database, share=0.9999)
    path = tmp_path / "CLAUDE.md"
    add(home, Target("claude-code", "claude-code", file=str(path)))
    tell(home, database, now=BEGAN)
    assert RULE.text in path.read_text()
    mark = home.folder / "hooks" / "agents" / "claude-code"
    mark.parent.mkdir(parents=True)
    mark.touch()
    os.utime(mark, (BEGAN, BEGAN))
    tell(home, database, now=BEGAN + DAY)
    assert not path.exists() or RULE.text not in path.read_text()
    tell(home, database, now=BEGAN + 60 * DAY)
    assert RULE.text in path.read_text(), "its hooks are gone for weeks"


OWN = replace(RULE, name="bun", text="Run bun directly.", situation=RuleSituation("rtk bun i", "no such", "bun i"))
RIGHT = (user("Install it."), *shell("bun i", "Done"), agent("Installed."))
WRONG = (user("Install it."), *shell("rtk bun i", "Done"), agent("Installed."))


def test_a_rule_with_a_situation_is_judged_by_its_own_failure_in_it(home: Home, database: Database) -> None:
    number = begin(home, database, OWN)
    [item] = ledger_of(home, database).state().rules
    for index in range(120):
        told = is_told(key_of(item), f"s{index}", 0.5)
        turns = WELL if index % 3 == 2 else RIGHT if told or index % 3 else WRONG
        live(database, f"s{index}", turns, at=BEGAN + 60 + index)
    [found] = look(home, database, now=BEGAN + 2 * HOUR).canaries
    assert found.counts.comparison.told + found.counts.comparison.untold == 80, "a third did nothing of the kind"
    assert (found.counts.sessions, found.counts.comparison.loss_told, found.counts.held_by) == (120, 0.0, "")
    assert found.counts.comparison.decision is CanaryMove.PROMOTE
    last = Ledger(database).entries()[-1]
    assert (last.step, last.about) == (Step.PROMOTED, number)
    assert "as a detector sees it (calls in the form that goes wrong)" in last.note
    assert "error rate at most 1 %" in last.note


def test_what_guards_go_by_is_measured_once(home: Home, database: Database) -> None:
    begin(home, database, OWN)
    edit = call("Edit", {"file_path": "a.py", "old_string": "a", "new_string": "b"}, "Done")
    live(database, "a", (*WRONG, *edit, user("No, that is wrong. I told you to use bun.")), at=BEGAN + 60)
    live(database, "b", (*edit, *shell("pytest -q", "3 passed")), at=BEGAN + 70)
    [found] = look(home, database, now=BEGAN + 2 * HOUR).canaries
    first, second = counted(database, found.standing.entry)
    assert (first.failed, first.corrected, first.unchecked) == (True, True, True)
    assert (second.failed, second.corrected, second.unchecked) == (None, False, False)
    assert all(stored(database, id) for id in (*first.ids, *second.ids)), "which sessions they were is written down"
    assert len(first.ids) == len(second.ids) == 1


def lesson(number: int) -> Patch:
    """One of several lessons that come up now and then."""
    situation = RuleSituation(f"rtk tool{number} i", "no such", f"tool{number} i")
    return replace(RULE, name=f"tool{number}", text=f"Run tool{number} directly.", situation=situation)


def bundle(home: Home, database: Database, lessons: int) -> str:
    """What the sessions draw by for lessons that began together."""
    try_out_all(home, database, [lesson(each) for each in range(lessons)], actor=Actor.PERSON, now=BEGAN)
    [key] = {key_of(item) for item in ledger_of(home, database).state().rules}
    return key


def used(number: int, *, well: bool) -> tuple[Message, ...]:
    return (user("Install it."), *shell(f"{'' if well else 'rtk '}tool{number} i", "Done"), agent("Installed."))


def test_rare_lessons_are_told_together_and_promoted_by_their_failures_together(home: Home, database: Database) -> None:
    key = bundle(home, database, 5)
    for index in range(60):
        told = is_told(key, f"s{index}", 0.5)
        # The last lesson harms: those that are told it fail, the others do not.
        well = told if index % 6 < 4 else not told
        live(database, f"s{index}", WELL if index % 6 == 5 else used(index % 6, well=well), at=BEGAN + 60 + index)
        texts = [rule.text for rule in rules_in_force(Ledger(database).entries(), draw_id=f"s{index}")]
        assert len(texts) == (5 if told else 0), "all of them or none"
    found = look(home, database, now=BEGAN + 2 * HOUR).canaries
    assert [each.counts.comparison.decision for each in found] == [CanaryMove.PROMOTE] * 4 + [CanaryMove.REVERT]
    whole = found[0].counts.together
    assert whole is not None
    assert (whole.lessons, whole.counts.comparison.told + whole.counts.comparison.untold) == (5, 50)
    assert all(each.counts.comparison.told + each.counts.comparison.untold == 10 for each in found)
    rules = ledger_of(home, database).state().rules
    assert [(each.name, each.canary) for each in rules] == [(f"tool{number}", False) for number in range(4)]
    assert "5 lessons told together" in Ledger(database).entries()[-2].note


def test_no_lesson_of_a_bundle_is_promoted_by_its_own_failures(home: Home, database: Database) -> None:
    key = bundle(home, database, 2)
    for index in range(60):
        told = is_told(key, f"s{index}", 0.5)
        well = told if index % 2 else not told
        live(database, f"s{index}", used(index % 2, well=well), at=BEGAN + 60 + index)
    harmful, useful = look(home, database, now=BEGAN + 2 * HOUR).canaries
    assert harmful.counts.comparison.decision is CanaryMove.REVERT, "harm is looked for in each"
    assert useful.counts.comparison.decision is CanaryMove.WAIT, "help is not: of many, one would seem to by chance"
    [again] = look(home, database, now=BEGAN + 3 * HOUR).canaries
    assert again.counts.together == useful.counts.together, "what was taken back still counts as far as it went"
