"""Whether it gets better, in words: the last weeks that have sessions against those before them."""

from collections.abc import Mapping, Sequence
from datetime import date

from whet.evidence.classical import newcombe
from whet.store.session_facts import SessionFact
from whet.text.amounts import short
from whet.web.html import Child, Element, h
from whet.web.site import Site, many, share

WEEKS = 4
LEAST = 5  # sessions on either side, below which nothing is said


def monday(week: str) -> date:
    """The first day of a week such as 2026-W07."""
    year, _, number = week.partition("-W")
    return date.fromisocalendar(int(year), int(number), 1)


def day_of(week: str) -> str:
    """The first day of a week, short enough to stand below a picture."""
    first = monday(week)
    return f"{first.day} {first:%b} ’{first:%y}"


def trend(site: Site, weeks: Mapping[str, Sequence[SessionFact]]) -> Element:
    """Whether failures became fewer lately, what a session costs now, and how sure that is."""
    named = sorted(weeks)
    lately, before = named[-WEEKS:], named[-2 * WEEKS : -WEEKS]
    new, old = ([fact for week in some for fact in weeks[week]] for some in (lately, before))
    if min(len(new), len(old)) < LEAST:
        words = f"Too early to tell: it takes {LEAST} sessions in the last {WEEKS} weeks of work, and {LEAST} before."
        return h("p", {"class": "answer"}, words)
    failed_new, failed_old = sum(fact.failed for fact in new), sum(fact.failed for fact in old)
    low, high = newcombe((failed_new, len(new)), (failed_old, len(old)))
    lead, name = ("Not clearly", "soft") if low <= 0 <= high else ("Yes", "good") if high < 0 else ("No, worse", "bad")
    points = 100 * (failed_new / len(new) - failed_old / len(old))
    between = f"{points:+.0f} points, {100 * low:+.0f} to {100 * high:+.0f}"
    return h(
        "div",
        {"class": "answer"},
        h(
            "p",
            {},
            h("strong", {"class": name}, f"{lead}: "),
            _share(site, failed_new, new, lately),
            f" likely failed in the last {many(len(lately), 'week')} with sessions, ",
            _share(site, failed_old, old, before),
            f" in the {len(before)} before ({between}).",
        ),
        h("p", {}, _cost(site, new, old, lately)),
        h(
            "p",
            {"class": "soft"},
            "What was asked differs from week to week, too: only a trial shows that a change is the cause.",
        ),
    )


def _share(site: Site, failed: int, facts: Sequence[SessionFact], weeks: Sequence[str]) -> Child:
    span = {"since": weeks[0], "until": weeks[-1]}
    return [
        site.counted(failed, share(failed, len(facts)), failed="1", **span),
        " of ",
        site.link(many(len(facts), "session"), "sessions", **span),
    ]


def _cost(site: Site, new: Sequence[SessionFact], old: Sequence[SessionFact], weeks: Sequence[str]) -> Child:
    spent, spent_before = sum(fact.tokens for fact in new), sum(fact.tokens for fact in old)
    lost = sum(fact.tokens for fact in new if fact.failed)
    if not spent:
        return "What it cost is not known: these sessions do not say how many tokens they took."
    mean, mean_before = spent / len(new), spent_before / len(old)
    compared = f" ({short(mean_before)} before)" if mean_before else ""
    failed = site.counted(lost, share(lost, spent), failed="1", since=weeks[0], until=weeks[-1])
    return [
        f"A session takes {short(mean)} tokens on average{compared}; ",
        failed,
        " of them went into sessions that likely failed.",
    ]
