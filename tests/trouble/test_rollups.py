"""Trouble over many sessions: what costs most, and whether it is getting better."""

from itertools import product

import pytest

from whet.trouble.rollups import by_cause, by_kind, by_week, costs, dearest, group, groups, trend
from whet.trouble.values import Intervention, InterventionKind, SessionTrouble, Trouble, TroubleKind

WEEK = 7 * 86_400
START = 1_770_000_000.0
HOUR = 3_600.0


def session(
    name: str, lost: float = 0.0, *, spent: float = HOUR, week: int = 0, folder: str = "/shop", stepped_in: int = 0
) -> SessionTrouble:
    trouble = Trouble(TroubleKind.SLIP, 1, 3, seconds=lost, calls=2, tokens=10, subject="Edit", cause="not found")
    return SessionTrouble(
        name,
        agent_seconds=spent,
        is_timed=True,
        troubles=(trouble,) if lost else (),
        interventions=(Intervention(InterventionKind.INTERRUPT, 2),) * stepped_in,
        folder=folder,
        started=START + week * WEEK,
    )


def test_what_costs_most_comes_first_with_its_share() -> None:
    red = Trouble(TroubleKind.RED_CHECK, 5, 9, seconds=600, subject="pytest", cause="test_total")
    both = [session("a", 360), session("b"), SessionTrouble("c", HOUR, troubles=(red,))]
    first, second = costs(both, by_kind)
    assert (first.name, first.seconds, first.sessions) == ("red_check", 600, 1)
    assert (second.name, second.calls, second.tokens) == ("slip", 2, 10)
    assert first.share == pytest.approx(600 / (3 * HOUR))
    assert 0 <= first.low < first.share < first.high <= 1
    assert [cost.name for cost in costs(both, by_cause)] == [
        "red_check · pytest · test_total",
        "slip · Edit · not found",
    ]


def test_objections_are_one_row_whatever_was_said() -> None:
    said = [
        Trouble(TroubleKind.CORRECTED, 1, 3, seconds=60, cause="no, the other file"),
        Trouble(TroubleKind.CORRECTED, 5, 7, seconds=60, cause="why two tests?"),
        Trouble(TroubleKind.CORRECTED, 8, 9, seconds=30, subject="Bash", cause="do not push"),
        Trouble(TroubleKind.CLAIMED, 10, 12, seconds=20, cause="it still fails"),
        Trouble(TroubleKind.CLAIMED, 13, 15, seconds=10, subject="pytest", cause="test_total"),
    ]
    found = costs([SessionTrouble("a", HOUR, troubles=tuple(said))], by_cause)
    assert [(cost.name, cost.troubles) for cost in found] == [
        ("corrected", 2),
        ("corrected · Bash", 1),
        ("claimed", 1),
        ("claimed · pytest · test_total", 1),
    ]


def test_sums_are_the_same_however_sessions_are_grouped() -> None:
    many = [session(f"{at}", at * 10, folder=f"/p{at % 3}", week=at % 4) for at in range(40)]
    total = group("all", many)
    for key in (by_week, lambda one: one.folder):
        parts = groups(many, key)
        assert sum(part.lost.seconds for part in parts) == total.lost.seconds
        assert sum(part.agent_seconds for part in parts) == total.agent_seconds
        assert sum(part.sessions for part in parts) == 40
    assert sum(cost.seconds for cost in costs(many, by_kind)) == total.lost.seconds


def test_more_sessions_like_these_make_the_interval_smaller() -> None:
    few = [session(f"{at}", 100 + at % 5 * 50) for at in range(10)]
    many = [session(f"{at}", 100 + at % 5 * 50) for at in range(160)]
    narrow, wide = (group("", some).lost for some in (many, few))
    assert narrow.share == pytest.approx(wide.share)
    assert narrow.high - narrow.low < 0.5 * (wide.high - wide.low)


def test_the_dearest_session_opens_at_its_dearest_stretch() -> None:
    sessions = [session("a", 10), session("b", 500), session("c")]
    [worst] = dearest(sessions, 1)
    assert (worst.session, worst.dearest and worst.dearest.first) == ("b", 1)


def test_it_is_getting_better_when_each_project_loses_less() -> None:
    found = trend(_weeks(lambda week: 900.0 if week < 4 else 100.0), lambda folder: folder)
    assert found.answer == "Perhaps better"
    assert found.minutes_lost.lately == pytest.approx(1.7, abs=0.5)
    assert found.minutes_lost.before == pytest.approx(15, abs=1)
    assert found.minutes_lost.interval.high < 0
    assert trend(_weeks(lambda week: 100.0 if week < 4 else 900.0), lambda folder: folder).answer == "Perhaps worse"


def test_another_mix_of_projects_is_no_change() -> None:
    easy = [session(f"e{week}{at}", 10 + at, week=week, folder="/easy") for week in range(8) for at in range(week + 2)]
    hard = [session(f"h{week}{at}", 900 + at, week=week, folder="/hard") for week in range(8) for at in range(9 - week)]
    assert trend([*easy, *hard], lambda folder: folder).answer == "Not clearly"


def test_with_too_little_it_says_so() -> None:
    assert trend([], lambda folder: folder).answer == "Too early to tell"
    assert (
        trend([session("a", 10, week=week) for week in range(8)], lambda folder: folder).answer == "Too early to tell"
    )
    elsewhere = [session(f"{week}", week=week, folder=f"/p{week}") for week in range(8)]
    assert trend(elsewhere, lambda folder: folder).answer == "Too early to tell"


def test_interventions_are_counted_per_agent_hour() -> None:
    found = trend(
        [session(f"{week}{at}", 60, week=week, stepped_in=2) for week, at in product(range(8), range(3))],
        lambda folder: folder,
    )
    assert (found.interventions.lately, found.interventions.before) == (2, 2)
    assert found.answer == "Not clearly"


def _weeks(lost: object) -> list[SessionTrouble]:
    assert callable(lost)
    return [
        session(f"{week}{at}{folder}", lost(week) + at * 5, week=week, folder=folder)
        for week, at, folder in product(range(8), range(4), ("/shop", "/site"))
    ]
