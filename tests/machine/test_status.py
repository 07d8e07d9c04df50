"""whet status: how Whet stands, in ten lines, from the store alone."""

from pathlib import Path

from command import Whet
from whet.agent.metering import local_day
from whet.machine.status import machine_status
from whet.own.runs.models import Amount
from whet.store.background_costs import BackgroundCall, begin_call, end_call
from whet.store.home import Home
from whet.store.opening import identity_of, opened
from whet.store.settings_file import load

NOW = 1_790_000_000.0
DAY = 86_400.0


def spend(home: Home, at: float, tokens: int, dollars: float | None, *, ended: bool = True) -> None:
    call = BackgroundCall(str(at), identity_of(home), local_day(at), "trial", Amount(tokens, dollars), at)
    with opened(home) as database:
        begin_call(database, call, load(home).background)
        if ended:
            end_call(database, call.id, call.most)


def test_an_empty_machine_is_shown_in_ten_lines_and_stays_empty(whet: Whet, tmp_path: Path) -> None:
    shown = whet("status")
    assert shown.code == 0
    assert len(shown.out.splitlines()) == 10
    assert "none found on this machine" in shown.out
    assert not (tmp_path / "home").exists()


def test_what_was_spent_is_counted_by_day_and_what_runs_counts_with_what_is_set_aside(
    home: Home, tmp_path: Path
) -> None:
    spend(home, NOW - 8 * DAY, 1_000, 0.5)
    spend(home, NOW - 2 * DAY, 200, 0.25)
    spend(home, NOW, 30, None)
    spend(home, NOW + 1, 4, 0.1, ended=False)
    found = machine_status(home, tmp_path, {}, now=NOW)
    assert found.spent_today == Amount(34, 0.1)
    assert found.spent_this_week == Amount(234, 0.35)


def test_the_next_day_begins_at_nothing(home: Home, tmp_path: Path) -> None:
    spend(home, NOW, 30, None)
    assert machine_status(home, tmp_path, {}, now=NOW + DAY).spent_today == Amount(0, None)


def test_what_was_learned_and_what_waits_is_counted(whet: Whet, person: Path) -> None:
    (person / ".codex").mkdir()
    assert whet("rules", "add", "read-first", "Read the file before you edit it.").code == 0
    assert whet("rules", "add", "say-checked", "Say what was checked.", allowed=False).code == 0
    found = whet("status", "--json").json
    assert found["agents"] == [{"name": "codex", "has_sessions": False}]
    assert (found["learned_this_week"], found["rules"], found["pending"]) == ({"rule": 1}, 1, 1)
    assert found["worker"] == {"running": False, "last_seen": None, "service": None}
    assert found["background"]["limit"] == {"tokens": 1_000_000, "dollars": 1.0}


def test_what_was_undone_is_not_counted_as_learned(whet: Whet) -> None:
    assert whet("rules", "add", "read-first", "Read the file before you edit it.").code == 0
    assert whet("memory", "add", "The shop opens at nine.").code == 0
    assert whet("ledger", "undo").code == 0
    assert whet("status", "--json").json["learned_this_week"] == {"rule": 1}


def test_lessons_that_nobody_looked_at_are_counted(whet: Whet, examples: Path) -> None:
    assert whet("import", str(examples / "claude-code" / "-home-noor-shop")).code == 0
    assert whet("status", "--json").json["lessons"] == 0, "what sessions teach was not asked yet"
    assert whet("lessons").code == 0
    found = whet("status", "--json").json["lessons"]
    assert found > 0
    assert f"{found} lesson" in whet("status").out
    assert whet("try", "--now", "--most", "1").code == 0
    assert whet("status", "--json").json["lessons"] < found


def test_work_that_waits_in_the_queue_is_counted(whet: Whet, person: Path, tmp_path: Path) -> None:
    options = ("--model", f"scripted:{tmp_path / 'none.jsonl'}", "--workdir", str(person))
    assert whet("jobs", "add", "every 2h", "Count", "the", "leaves", *options).code == 0
    assert whet("jobs", "run", "count-the-leaves", "--background").code == 0
    found = whet("status", "--json").json
    assert found["work"] == {"queued": 1, "running": 0, "postponed": 0, "postponed_until": None}
    assert found["jobs"] == ["count-the-leaves"]
