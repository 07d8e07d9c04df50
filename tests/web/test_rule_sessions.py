"""Each number of how a rule fared leads to exactly its sessions, on the page and in the terminal."""

import html
import re
from pathlib import Path

import pytest

from command import Whet
from conversations import conversation, shell, user
from page_client import page_of
from patience import until
from whet.changes.apply import apply
from whet.improving.heeded import seen_rules
from whet.ledger.entries import Actor
from whet.ledger.patches import Action, Form, Patch, RuleSituation
from whet.lessons.following import FollowingCount, is_among
from whet.sessions.trust import Trust
from whet.store import sessions
from whet.store.adding import prepare
from whet.store.canary_counts import Telling, keep_reminders, keep_tellings
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.opening import opened

BEGUN = 1_790_000_000.0
COMMANDS = ("bun i", "rtk bun i", "rtk bun i", "ls", "bun i", "rtk bun i")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """Six sessions since a rule: in its situation or not, told or not, reminded or not, followed or not."""
    home = Home(tmp_path / "home")
    with opened(home) as database:
        patch = Patch(
            Form.RULE, Action.ADD, "bun", "Run bun directly.", trust=Trust.USER,
            situation=RuleSituation("rtk bun i", "unrecognized", "bun i"),
        )  # fmt: skip
        number = apply(home, database, patch, actor=Actor.PERSON, now=BEGUN).number
        for place, command in enumerate(COMMANDS):
            at, name = BEGUN + 60 + place, f"session-{place}"
            made = conversation(user(f"Hello {name}"), shell(command, "Done"), native_id=name, source="codex", at=at)
            sessions.keep(database, prepare(made), sessions.Provenance(f"/{name}", at, at))
        keep_tellings(database, [Telling("codex", f"session-{place}", (number,), BEGUN) for place in (0, 1)])
        keep_tellings(database, [Telling("codex", "session-4", (), BEGUN)])
        keep_reminders(database, [Telling("codex", "session-2", (number,), BEGUN)])
    return home


def expected(home: Home, fared: FollowingCount) -> set[str]:
    with opened(home) as database:
        seen = seen_rules(home, database, ledger_of(home, database).state().rules)["bun"]
    return {each.session for each in seen if is_among(each, fared)}


def test_every_count_has_its_sessions(home: Home) -> None:
    sizes = {fared.value: len(expected(home, fared)) for fared in FollowingCount}
    assert sizes == {
        "since": 6, "situation": 5, "told": 3, "not-told": 1, "told-unknown": 1, "followed": 2, "not-followed": 3,
        "told-followed": 1, "told-not-followed": 2, "reminded": 1, "reminded-followed": 0,
    }  # fmt: skip


def test_numbers_on_the_page_lead_to_exactly_their_sessions(home: Home) -> None:
    with page_of(home) as client:
        page = client.enter()
        until(lambda: "told and not followed" in page.ask("/rule/rule%3Abun").text)
        text = page.ask("/rule/rule%3Abun").text
        links = {html.unescape(each) for each in re.findall(r'href="([^"]*fared=[^"]*)"', text)}
        found = {
            re.search("fared=([a-z-]+)", link)[1]: set(re.findall(r"/session/([0-9a-f]+)", page.ask(link).text))  # type: ignore[index]
            for link in links
        }
    assert {*found} >= {"since", "situation", "told", "followed", "not-followed", "told-not-followed", "reminded"}
    assert found == {name: expected(home, FollowingCount(name)) for name in found}


@pytest.mark.parametrize("fared", FollowingCount)
def test_the_terminal_lists_the_same_sessions(home: Home, whet: Whet, fared: FollowingCount) -> None:
    done = whet("sessions", "--rule", "bun", "--fared", fared.value, "--json").json
    assert {each["id"] for each in done["sessions"]} == expected(home, fared)
    assert done["total"] == len(expected(home, fared))


@pytest.mark.usefixtures("home")
def test_without_a_count_those_in_the_situation_are_listed_and_filters_hold(whet: Whet) -> None:
    assert whet("sessions", "--rule", "bun", "--json").json["total"] == 5
    assert whet("sessions", "--rule", "bun", "--source", "gemini", "--json").json["total"] == 0
    assert len(whet("sessions", "--rule", "bun", "--limit", "2", "--json").json["sessions"]) == 2
    assert whet("sessions", "--rule", "none").code == 1
    assert whet("sessions", "--fared", "told").code == 1
    assert "reminded in 1 (0 followed it then)" in " ".join(whet("rules", "show", "bun").out.split())
