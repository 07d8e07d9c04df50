"""Whether it gets better, in words and in the picture."""

import pytest
from msgspec.structs import replace

from whet.store.in_short import ToolFact
from whet.store.session_facts import SessionFact
from whet.text.short_names import told_apart
from whet.web.html import render, words_of
from whet.web.site import ProjectNaming, Site
from whet.web.views.failures import SeenFailures, failures
from whet.web.views.money import work
from whet.web.views.overview import overview


def fact_in(name: str, week: int, *, failed: bool, folder: str = "/srv/shop") -> SessionFact:
    at = 1_767_571_200.0 + 7 * 86_400 * week  # a Monday
    tool = ToolFact("Bash", 2, int(failed))
    return SessionFact(
        no=0, stamp=(), id=name, title=name, source="codex", model="m", folder=folder, purpose="chat", at=at,
        tokens=1000 * (2 - failed), cost_dollars=None, score=float(failed), failed=failed, untold=False, copied=False,
        reasons=(), decisive_step=None, kinds=(), tools=(tool,), calls=2, failed_calls=int(failed), counts=True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("lately", "before", "answer"),
    [
        (0, 10, "Perhaps better: 0.0 % of 40 sessions"),
        (9, 10, "Not clearly: 90.0 %"),
        (8, 0, "Perhaps worse: 80.0 % of 40 sessions"),
    ],
)
def test_the_overview_says_in_words_whether_it_gets_better(lately: int, before: int, answer: str) -> None:
    facts = [
        fact_in(f"{week}-{n}", week, failed=n < (before if week < 4 else lately))
        for week in range(8)
        for n in range(10)
    ]
    said = " ".join(words_of(overview(Site(), facts, ())).split())
    assert answer in said
    assert "tokens on average" in said
    assert "Too early to tell" in words_of(overview(Site(), facts[:30], ()))


def test_what_a_session_cost_is_its_own_word_or_its_tokens_at_list_prices() -> None:
    said, listed, unknown = (fact_in(name, 0, failed=False) for name in ("said", "listed", "unknown"))
    said, listed = replace(said, cost_dollars=2.0), replace(listed, listed_dollars=3.0)
    assert "$5.00 cost at list prices of 2 sessions" in " ".join(
        words_of(overview(Site(), [said, listed, unknown], ())).split()
    )
    assert "$2.00 cost of 1 session" in " ".join(words_of(overview(Site(), [said], ())).split())
    shown = " ".join(words_of(work(Site(), [said, listed, unknown], (), "")).split())
    assert "The cost of 2 sessions of 3 is known. 1 say it themselves" in shown
    assert "whet config set models.m.input_dollars 3" in shown
    assert "codex $5.00" in shown, "a person's own work goes by the agent's name"
    assert "models.m" not in words_of(work(Site(), [said], (), ""))


def test_weeks_without_sessions_break_the_line() -> None:
    facts = [fact_in(str(week), week, failed=False) for week in (0, 1, 5)]
    drawn = render(overview(Site(), facts, ()))
    assert drawn.count('class="walk"') == 1
    assert "5 Jan ’26" in drawn


def test_projects_of_one_name_are_told_apart() -> None:
    facts = [fact_in("a", 0, failed=True, folder="/a/shop"), fact_in("b", 0, failed=True, folder="/b/shop")]
    naming = ProjectNaming(short=told_apart(fact.folder for fact in facts).__getitem__)
    said = words_of(failures(Site(projects=naming), SeenFailures(facts, lambda folder: folder)))
    assert "a/shop" in said
    assert "b/shop" in said
    assert told_apart(["/x/a/shop", "/y/a/shop", "web"]) == {
        "/x/a/shop": "x/a/shop", "/y/a/shop": "y/a/shop", "web": "web",
    }  # fmt: skip
