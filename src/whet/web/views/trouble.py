"""Trouble: the stretches that bought nothing, by kind and by cause, each opening its session at its first message."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from msgspec.structs import replace

from whet.shipped.kinds import known_troubles, label_of
from whet.store.listing import find
from whet.store.session_facts import SessionFact
from whet.store.troubles import trouble_of_session
from whet.text.showing import shown
from whet.text.words import cut, many
from whet.trouble.kinds import kind_named
from whet.trouble.overview import ENDINGS, duration, interval_words, money, sort_words
from whet.trouble.rollups import TroubleCost, by_kind, by_week, costs, costs_of_causes
from whet.trouble.values import Intervention, SessionTrouble, Trouble
from whet.web.cache import PageRequest, SeenTrouble
from whet.web.charts import ChartBar, bars
from whet.web.html import Child, Element, h
from whet.web.layout import FramedView, framed
from whet.web.site import Column, PageLinks, empty, listing, no_sessions, number, section

MOST_CAUSES = 12
SAID_LETTERS = 140
UNNAMED = "in words"  # stands in an address for what no tool or check has a name for: somebody's objections


class ChosenTrouble(NamedTuple):
    """Which stretches are listed, as the address says it."""

    kind: str = ""
    subject: str = ""
    cause: str = ""
    week: str = ""
    sort: str = ""
    start: str = ""

    def fits(self, trouble: Trouble) -> bool:
        return (
            self.kind in ("", trouble.kind)
            and self.subject in ("", trouble.subject or UNNAMED)
            and self.cause in ("", trouble.cause)
        )

    @property
    def words(self) -> str:
        """What the stretches have in common."""
        about = ", ".join(shown(word) for word in (self.subject, self.cause) if word)
        parts = (self.kind and f"of {label_of(self.kind)}", about and f"({about})", self.week and f"in {self.week}")
        return " ".join(filter(None, parts))


# The events of a session in which people stepped in, with what they said.
SaidIn = Callable[[str], Sequence[Intervention]]


def said_in(ask: PageRequest) -> SaidIn:
    """What people said when they stepped in, read for the sessions that a view lists."""

    @cache
    def said(id: str) -> tuple[Intervention, ...]:
        found = trouble_of_session(ask.database, find(ask.database, id)) if ask.with_texts else None
        return found.interventions if found else ()

    return said


def stretch_told(events: Iterable[Intervention], stretch: Trouble) -> tuple[str, Child]:
    """Which trouble a stretch is, and what somebody said in it; where that is its cause, it is said once."""
    words = next((each.words for each in events if each.words and stretch.first <= each.message <= stretch.last), "")
    if not words:
        return stretch_words(stretch), None
    said = " ".join(shown(words).split())
    is_cause = " ".join(stretch.cause.rstrip("…").split()) in said
    what = stretch_words(replace(stretch, cause="") if is_cause else stretch)
    return what, h("p.soft", f"“{cut(said, SAID_LETTERS)}”")


def paid(dollars: float) -> str:
    """What a stretch cost."""
    return "–" if not dollars else money(dollars) if dollars >= 0.01 else "< $0.01"


def stretch_words(trouble: Trouble) -> str:
    """Which trouble a stretch is."""
    return shown(sort_words(trouble, label_of(trouble.kind)))


def show(ask: PageRequest) -> FramedView:
    """The stretches that bought nothing, the dearest first; bars by cause narrow a chosen kind further."""
    site, seen = ask.site, ask.seen
    chosen = ChosenTrouble(**{name: ask.given[name] for name in ChosenTrouble._fields if name in ask.given})
    if not seen:
        return framed("trouble", no_sessions(site, "trouble", ask.looked.choices.hidden))
    narrowed = [SeenTrouble(fact, _chosen(found, chosen)) for fact, found in seen]
    stretches = [FoundStretch(fact, one) for fact, found in narrowed for one in found.troubles]
    if not stretches:
        every = site.link("Show all trouble", "trouble") if chosen != ChosenTrouble() else None
        none = f"No stretch {chosen.words}".rstrip()
        return framed("trouble", empty(f"{none} bought nothing in {many(len(seen), 'session')}. ", every))
    found = [each.trouble for each in narrowed]
    return framed(
        "trouble",
        _about(site, chosen),
        kind_bars(site, found, chosen) if chosen.week and not chosen.kind else None,
        section("What bought nothing", *cause_bars(site, found, chosen)) if chosen.kind and not chosen.cause else None,
        section("Stretches", _stretches(site, stretches, chosen, said_in(ask))),
    )


def _chosen(found: SessionTrouble, chosen: ChosenTrouble) -> SessionTrouble:
    """The session with only the trouble that is looked at: shares stay shares of all its time."""
    if chosen.week not in ("", by_week(found)):
        return replace(found, troubles=())
    return replace(found, troubles=tuple(one for one in found.troubles if chosen.fits(one)))


def _about(site: PageLinks, chosen: ChosenTrouble) -> Child:
    """What the chosen kind is, and what helps against it."""
    if not chosen.kind:
        return None
    row = kind_named(chosen.kind, known_troubles())
    what = row.sentence
    helps = f" What helps: {row.remedy}." if row.remedy else ""
    everything = site.link("Show all trouble", "trouble")
    return h("p.answer", f"{row.label.capitalize()}: {what}.{helps} ", everything, ".")


def kind_bars(site: PageLinks, found: Sequence[SessionTrouble], chosen: ChosenTrouble) -> Element:
    """What each kind cost, the dearest first."""
    rows = [
        _bar(label_of(each.name), each, site.href("trouble", **chosen._replace(kind=each.name)._asdict()))
        for each in costs(found, by_kind)
    ]
    return bars(rows, title="By kind, with its share of the agent's time (95 % interval)")


def cause_bars(site: PageLinks, found: Sequence[SessionTrouble], chosen: ChosenTrouble) -> Iterator[Child]:
    """What each cause cost, the dearest first, and how many others there are."""
    rows, every = [], costs_of_causes(found)
    for cost, one in every[:MOST_CAUSES]:
        subject = one.subject or ("" if one.cause else UNNAMED)
        asked = chosen._replace(kind=one.kind, subject=subject, cause=one.cause)
        rows.append(_bar(stretch_words(one), cost, site.href("trouble", **asked._asdict())))
    yield bars(rows, title="By cause, with its share of the agent's time (95 % interval)")
    rest = every[MOST_CAUSES:]
    if rest:
        lost = duration(sum(cost.seconds for cost, _ in rest))
        yield h("p.soft", f"{many(len(rest), 'other cause')} took {lost} together.")


def _bar(label: str, cost: TroubleCost, href: str) -> ChartBar:
    return ChartBar(label, cost.seconds, f"{duration(cost.seconds)} · {interval_words(cost)}", href)


class FoundStretch(NamedTuple):
    """A stretch with the session that it stands in."""

    fact: SessionFact
    trouble: Trouble


def ending_words(trouble: Trouble) -> str:
    """How a stretch ended."""
    return ENDINGS.get(trouble.ending.value, trouble.ending.value)


def _stretches(site: PageLinks, found: Sequence[FoundStretch], chosen: ChosenTrouble, said: SaidIn) -> Element:
    def stretch(each: FoundStretch) -> Child:
        what, quote = stretch_told(said(each.fact.id), each.trouble)
        return site.session(each.fact.id, what, message=each.trouble.first), quote

    columns: list[Column[FoundStretch]] = [
        Column("stretch", stretch),
        Column("session", lambda each: cut(each.fact.title, 60) or each.fact.id[:12]),
        Column("how it ended", lambda each: ending_words(each.trouble)),
        number("time", lambda each: duration(each.trouble.seconds), "time", lambda each: each.trouble.seconds),
        number("calls", lambda each: f"{each.trouble.calls:,}", "calls", lambda each: each.trouble.calls),
        number("cost", lambda each: paid(each.trouble.dollars), "cost", lambda each: each.trouble.dollars),
    ]
    stretches = "1 stretch" if len(found) == 1 else f"{len(found):,} stretches"
    caption = f"{stretches} {chosen.words}".rstrip() + f" in {many(len({each.fact.id for each in found}), 'session')}"
    return listing(site, "trouble", found, columns, caption=caption, asked=chosen._asdict())
