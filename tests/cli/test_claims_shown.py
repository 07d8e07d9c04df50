"""What a person and a program see of what a reader claimed: the rung, what is wrong, and what was dropped and why."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from claimed_sessions import FIRST_DAY, INSTALL, PUSH, READER, claimed, keep_sessions, session
from command import Whet
from taught_sessions import proposed
from whet.lessons.claims import Quote
from whet.mcp.lessons import for_task
from whet.store.claims import keep_pass
from whet.store.home import Home
from whet.store.opening import opened
from whet.telling.targets.project_names import name_of_project


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    with opened(Home(tmp_path / "home")) as database:
        read = keep_sessions(database, [session(f"day{day}", folder, day) for day in range(5)])
        invented = replace(INSTALL, id="x", rule="Drop the cache.", quotes=(Quote(read[0].session, 1, "rm -rf cache"),))
        answer = (*claimed(read[:2]), invented)
        keep_pass(database, name_of_project(folder), read[:2], answer, reader=READER, now=FIRST_DAY)
    return folder


def test_each_lesson_shows_its_rung_in_plain_words(whet: Whet, shop: Path) -> None:
    shown = whet("lessons", "--project", str(shop)).out
    for words in (
        INSTALL.rule,
        "seen in 5 sessions",
        "→ checked: failed 5 of 5, works 5 of 5, all 2 quotes exact",
        "→ came back in 3 of 3 later sessions (its situation: in 3)",
        "→ upper bound: 3 failures, 3 min spared",
        "→ not tried",
    ):
        assert words in shown
    assert shown.count("Never push to main") == 1, "what the patterns draft of the same messages is not shown beside it"


def test_programs_get_the_rung_the_counts_and_the_backtest(whet: Whet, shop: Path) -> None:
    assert shop.is_dir()
    found = {each["draft"]: each for each in whet("lessons", "--json").json["lessons"]}
    install, push = found[INSTALL.rule], found[PUSH.rule]
    assert (install["rung"], push["rung"]) == ("came_back", "checked")
    assert install["measures"]["counts"] == {"seen": 5, "failed": 5, "tried": 5, "worked": 5}
    assert install["measures"]["backtest"]["failed"] == 3
    assert install["ladder"][0] == "seen in 5 sessions"


def test_what_was_dropped_is_listed_with_the_reason(whet: Whet, shop: Path) -> None:
    shown = whet("lessons", "--dropped", "--project", str(shop)).out
    assert "Drop the cache." in shown
    assert "no quote holds: the message does not say it" in shown


def test_an_agent_is_told_the_rungs_of_a_lesson(whet: Whet, shop: Path, tmp_path: Path) -> None:
    assert whet("lessons").code == 0
    told = for_task(Home(tmp_path / "home"), task="push", folder=str(shop)).lessons
    assert ["seen in 5 sessions", "checked: all 2 quotes exact"] in [each.rungs[:2] for each in told]


def test_a_claimed_lesson_is_proposed_like_any_other(whet: Whet, shop: Path, tmp_path: Path) -> None:
    assert shop.is_dir()
    found = {each["draft"]: each for each in whet("lessons", "--json").json["lessons"]}
    [number] = proposed(Home(tmp_path / "home"), found[PUSH.rule]["id"])
    waits = whet("lessons", "show", str(number)).out
    assert PUSH.rule in waits
    assert "said by a person in 5 sessions" in " ".join(waits.split())
