"""The sessions in the situation of a rule are listed, and each number of how it fared leads to its sessions."""

import html
import re
from pathlib import Path

import pytest

from command import Whet
from conversations import conversation, shell, user
from page_client import page_of
from patience import until
from whet.changes.apply import apply
from whet.ledger.entries import Actor
from whet.ledger.patches import Action, Form, Patch, RuleSituation
from whet.sessions.trust import Trust
from whet.store import sessions
from whet.store.canary_counts import Telling, keep_reminders, keep_tellings
from whet.store.home import Home
from whet.store.opening import opened
from whet.store.rows import Provenance, prepare

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
            sessions.keep(database, prepare(made), Provenance(f"/{name}", at, at))
        keep_tellings(database, [Telling("codex", f"session-{place}", (number,), BEGUN) for place in (0, 1)])
        keep_tellings(database, [Telling("codex", "session-4", (), BEGUN)])
        keep_reminders(database, [Telling("codex", "session-2", (number,), BEGUN)])
    return home


@pytest.mark.usefixtures("home")
def test_without_a_count_those_in_the_situation_are_listed_and_filters_hold(whet: Whet) -> None:
    assert whet("sessions", "--rule", "bun", "--json").json["total"] == 5
    assert whet("sessions", "--rule", "bun", "--source", "gemini", "--json").json["total"] == 0
    assert len(whet("sessions", "--rule", "bun", "--limit", "2", "--json").json["sessions"]) == 2
    assert whet("sessions", "--rule", "none").code == 1
    assert "reminded in 1 (0 followed it then)" in " ".join(whet("rules", "show", "bun").out.split())


def test_numbers_on_the_page_lead_to_exactly_their_sessions(home: Home) -> None:
    with page_of(home) as client:
        page = client.enter()
        until(lambda: "told and not followed" in page.ask("/rule/rule%3Abun").text)
        text = page.ask("/rule/rule%3Abun").text
        links = {html.unescape(each) for each in re.findall(r'href="([^"]*fared=[^"]*)"', text)}
        found = {
            link.rpartition("fared=")[2].partition("&")[0]: len(
                set(re.findall(r"/session/([0-9a-f]+)", page.ask(link).text))
            )
            for link in links
        }
    assert found == {
        "since": 6, "situation": 5, "told": 3, "unknown": 1, "followed": 2, "not-followed": 3, "told-not-followed": 2,
        "reminded": 1,
    }  # fmt: skip
