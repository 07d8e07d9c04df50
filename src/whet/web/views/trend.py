"""Whether it gets better, in words: the last weeks that have sessions against those before them."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date

from whet.improving.last_weeks import weeks_of
from whet.store.session_facts import SessionFact
from whet.text.amounts import short
from whet.web.html import Child, Element, h
from whet.web.site import Site, share

COLOURS = {"Perhaps better": "good", "Perhaps worse": "bad", "Not clearly": "soft", "Too early to tell": "soft"}


def monday(week: str) -> date:
    """The first day of a week such as 2026-W07."""
    year, _, number = week.partition("-W")
    return date.fromisocalendar(int(year), int(number), 1)


def day_of(week: str) -> str:
    """The first day of a week, short enough to stand below a picture."""
    first = monday(week)
    return f"{first.day} {first:%b} ’{first:%y}"


def trend(site: Site, weeks: Mapping[str, Sequence[SessionFact]], project_of: Callable[[str], str]) -> Element:
    """Whether failures became fewer lately, what a session costs now, and how sure that is."""
    found = weeks_of((fact for week in sorted(weeks, reverse=True) for fact in weeks[week]), project_of)
    if len(found.pieces) == 1:
        return h("p", {"class": "answer"}, found.words)
    new, old = ([fact for week in some for fact in weeks[week]] for some in (found.weeks, found.weeks_before))
    lately, before = ({"since": some[0], "until": some[-1]} for some in (found.weeks, found.weeks_before))
    share_new, of_new, number_new, between, share_old, of_old, number_old, rest = found.pieces
    return h(
        "div",
        {"class": "answer"},
        h(
            "p",
            {},
            h("strong", {"class": COLOURS[found.answer]}, f"{found.answer}: "),
            site.counted(found.failed, share_new, failed="1", **lately),
            of_new,
            site.link(number_new, "sessions", **lately),
            between,
            site.counted(found.failed_before, share_old, failed="1", **before),
            of_old,
            site.link(number_old, "sessions", **before),
            f"{rest}.",
        ),
        h("p", {}, _cost(site, new, old, found.weeks)),
        h(
            "p",
            {"class": "soft"},
            "What was asked differs from week to week, too: only a trial shows that a change is the cause.",
        ),
    )


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
        " of them went into sessions that may have failed.",
    ]
