"""Where the time went and whether it gets better, in words and in the picture."""

import pytest
from msgspec.structs import replace

from whet.sessions.transcripts import Usage
from whet.store.analyses import ToolFact
from whet.store.session_facts import SessionFact
from whet.trouble.values import Intervention, InterventionKind, SessionTrouble, Trouble, TroubleKind
from whet.web.cache import SeenTrouble
from whet.web.html import Element, h, render, words_of
from whet.web.site import PageLinks
from whet.web.views.overview import better, headline, small_print
from whet.web.views.work import costs_of_all

HOUR = 3600.0


def fact_in(name: str, week: int, folder: str = "/srv/shop") -> SessionFact:
    at = 1_767_571_200.0 + 7 * 86_400 * week  # a Monday
    return SessionFact(
        no=0, id=name, title=name, source="codex", model="m", folder=folder, purpose="chat", at=at, messages=0,
        usage=Usage(1000), copied=False, tools=(ToolFact("Bash", 2, 0),),
    )  # fmt: skip


def seen_in(name: str, week: int, *, lost: float = 0.0, folder: str = "/srv/shop") -> SeenTrouble:
    """A session of an agent hour that lost some of it."""
    fact = fact_in(name, week, folder)
    stretches = (Trouble(TroubleKind.SLIP, 2, 5, seconds=lost, subject="pytest"),) if lost else ()
    events = (Intervention(InterventionKind.REFUSAL, 3),) if lost else ()
    return SeenTrouble(fact, SessionTrouble(name, HOUR, True, stretches, events, folder=folder, started=fact.at))


def said_of(seen: list[SeenTrouble]) -> str:
    return words_in(headline(PageLinks(), seen), small_print(seen, 0))


def drawn_of(seen: list[SeenTrouble]) -> Element:
    """Whether it gets better, in words and pictures."""
    return h("div", better(PageLinks(), [each.trouble for each in seen], (), str))


def words_in(*shown: Element) -> str:
    return " ".join(" ".join(map(words_of, shown)).split())


@pytest.mark.parametrize(
    ("lately", "before", "answer"),
    [
        (60.0, 1800.0, "Perhaps better: 1.1 min, before 30.1"),
        (600.0, 600.0, "Not clearly: 10.1 min"),
        (1800.0, 60.0, "Perhaps worse: 30.1 min, before 1.1"),
    ],
)
def test_the_overview_says_in_words_whether_it_gets_better(lately: float, before: float, answer: str) -> None:
    seen = [
        seen_in(f"{week}-{n}", week, lost=(before if week < 4 else lately) + n) for week in range(8) for n in range(10)
    ]
    assert answer in words_in(drawn_of(seen))
    assert "Too early to tell" in words_in(drawn_of(seen[:30]))


def test_what_a_session_cost_is_its_own_word_or_its_tokens_at_list_prices() -> None:
    said, listed, unknown = (fact_in(name, 0) for name in ("said", "listed", "unknown"))
    said, listed = replace(said, usage=Usage(1000, cost_dollars=2.0)), replace(listed, listed_dollars=3.0)
    found = [SeenTrouble(fact, SessionTrouble(fact.id)) for fact in (said, listed, unknown)]
    assert "3 sessions, $5.00." in said_of(found)
    assert "Dollars are the cost at list prices of 2 sessions" in said_of(found)
    assert "Dollars are the cost of 1 session" in said_of(found[:1])
    assert "The cost is unknown." in said_of(found[2:])
    shown = words_in(h("div", costs_of_all(PageLinks(), [said, listed, unknown], {})))
    assert "$5.00 for 2 sessions of 3. 1 says what they cost; the others are counted by their tokens" in shown
    assert "whet config models.NAME.prices 3,15" in shown
    assert "codex m $5.00" in shown, "a person's own work goes by the agent's name"
    assert "prices" not in words_in(h("div", costs_of_all(PageLinks(), [said], {})))


def test_weeks_without_sessions_break_the_line() -> None:
    seen = [seen_in(str(week), week, lost=60.0) for week in (0, 1, 5)]
    drawn = render(drawn_of(seen))
    assert drawn.count('class="walk"') == 2, "one in each of two pictures"
    assert "5 Jan ’26" in drawn


def test_what_was_spent_and_lost_is_said_first() -> None:
    said = said_of([seen_in("a", 0, lost=1800.0), seen_in("b", 0)])
    assert said.startswith("2 sessions, 2.0 agent hours. 30 min (25 %) bought nothing: slips 30 min.")
