"""Lessons: what was learned, what is proposed, and what agents are told."""

from collections.abc import Sequence

from whet.improving.learned import decided_anew, waiting_lessons
from whet.ledger.entries import Entry, Item, State
from whet.ledger.folding import grounds_of
from whet.ledger.patches import Form
from whet.lessons.record import DECIDED, Lesson, LessonStage
from whet.lessons.taught_rules import PERSONS_WORD
from whet.store.ledger import ledger_of
from whet.text.showing import shown
from whet.text.words import cut, estimate, many
from whet.web.cache import PageRequest
from whet.web.html import Child, Element, h
from whet.web.layout import FramedView, framed
from whet.web.site import (
    NO_PROJECT,
    Column,
    PageLinks,
    code,
    empty,
    folded,
    number,
    reading,
    section,
    table,
    told,
    when,
)
from whet.web.views.entries import scope_words, sending, waiting

FORMS = (Form.RULE, Form.SKILL, Form.NOTE)
QUOTES = 3
PROPOSING = (
    "Propose shows you a lesson's exact text, to approve, edit or refuse. No agent is told it before you approve."
)


def show(ask: PageRequest) -> FramedView:
    """What waits for a decision, what sessions teach with what was decided since, and what agents are told."""
    home, database, (found, is_current) = ask.cache.home, ask.database, ask.learned
    agents = {fact.id: fact.source for fact in ask.looked.everything}
    # What waits for a decision is its owner's own business.
    wait = () if ask.site.is_file else waiting_lessons(home, database, now=ask.now)
    known = decided_anew(home, database, found.lessons)
    said = f"{many(len(known), 'lesson')} of these sessions, with their quotes, are left out of this file: "
    untold = empty(said, code("whet page --export FILE.html --texts"), " puts them in.")  # for lessons quote sessions
    taught = lessons(ask.site, known, is_current=is_current) if ask.with_texts else untold
    told = rules(ask.site, ledger_of(home, database).state(), ask.entries)
    return framed("lessons", waiting(ask.site, wait, agents), taught, told)._replace(is_live=not is_current)


def lessons(site: PageLinks, learned: Sequence[Lesson], *, is_current: bool) -> Element:
    """What sessions teach as cards: situation, fix, quotes, counts and the draft."""
    chosen = site.filter
    kept = [
        each
        for each in learned
        if (not chosen.project or chosen.project in (each.project or NO_PROJECT, *each.seen_by.projects))
        and (not chosen.agent or chosen.agent in each.seen_by.agents)
    ]
    decided = [each for each in kept if each.standing.stage in DECIDED]
    # What waits stands above, with what can be decided.
    closed = DECIDED if site.is_file else (*DECIDED, LessonStage.WAITING)
    open_ones = [each for each in kept if each.standing.stage not in closed]
    busy = None if is_current else reading()
    if not kept:
        words = ("No lesson yet: a lesson needs evidence in your sessions. Import more with ", code("whet import"), ".")
        return h("div", busy or empty(*words))
    return h(
        "div",
        busy,
        _cards("What your sessions teach", [_lesson(site, each) for each in open_ones], PROPOSING if site.form else ""),
        _cards("What you decided on", [_lesson(site, each) for each in decided]),
    )


def _cards(title: str, cards: Sequence[Element], about: str = "") -> Child:
    said = h("p.soft", about) if about else None
    return section(title, said, h("div.cards", cards)) if cards else None


def _lesson(site: PageLinks, lesson: Lesson) -> Element:
    """What it says and how far it has climbed, then where it is from, then its quotes and what can be decided."""
    pieces, stage = lesson.evidence.pieces, lesson.standing.stage
    quotes = [
        h(
            "blockquote",
            site.session(piece.session, f"{piece.session[:8]} #{piece.message}", message=piece.message),
            f" {shown(piece.text)}",
            f"\nworked: {shown(piece.fix)}" if piece.fix else None,
        )
        for piece in pieces[:QUOTES]
    ]
    where = lesson.place if lesson.seen_by.projects else site.projects.short(lesson.project)
    from_where = (where, lesson.told_as, lesson.evidence.source.words, ", ".join(lesson.seen_by.agents))
    standing = "waits for your decision" if stage is LessonStage.WAITING else lesson.standing.words
    can_be_proposed = lesson.is_proposable and stage is LessonStage.CHECKED
    propose = h("button", {"type": "submit", "aria-label": f"Propose: {shown(lesson.rule)}"}, "Propose")
    proposing = sending(site, lesson.patch, f"/lessons/{lesson.id}/propose", propose)
    quoted = f"{f'{len(quotes)} of ' if len(quotes) < len(pieces) else ''}{many(len(pieces), 'quote')}"
    whole = ("all of it: ", code(f"whet lessons show {lesson.id}"))
    return h(
        "article.card",
        h("h3", told(shown(lesson.rule))),
        h("p.rungs", _climbed(site, lesson)),
        [h("p", told(shown(note))) for note in lesson.climb.notes],
        [
            h("p", h("strong", f"{name}: "), told(shown(words)))
            for name, words in (("Situation", lesson.situation), ("Fix", lesson.fix))
            if lesson.fix not in lesson.rule and words not in ("", PERSONS_WORD)
        ],
        h("p.facts", " · ".join(from_where), " · ", told(shown(standing))),
        folded(quoted, quotes, h("p.facts", f"Whose words: {lesson.whose} · ", *whole)),
        h("div.actions", proposing) if site.form and can_be_proposed else None,
    )


def _climbed(site: PageLinks, lesson: Lesson) -> list[Child]:
    """How far a lesson has climbed; its number of sessions leads to them."""
    seen, *later = lesson.climb.words
    sessions = many(lesson.sessions, "session")
    before, counted, after = seen.partition(sessions)
    link = site.everywhere.link(counted, "sessions", lesson=lesson.id) if counted else None
    return [shown(before), link, shown(" → ".join((after, *later)))]


def rules(site: PageLinks, state: State, entries: Sequence[Entry]) -> Child:
    """All that is in force, on what grounds, with what each costs in tokens."""
    items = [item for form in FORMS for item in state.of(form)]
    if not items:
        return None

    def text(item: Item) -> Child:
        words = cut(" ".join(shown(item.text).split()), 160)
        return site.link(words, "rule", part=f"{item.form}:{item.name}")

    columns: list[Column[Item]] = [
        Column("text", text),
        Column("form", lambda item: item.form.value),
        Column("for", lambda item: scope_words(site, item.scope)),
        Column("whose words", lambda item: item.trust.label),
        Column("maker", lambda item: shown(item.maker) or "–"),
        Column("since", lambda item: when(item.since) if item.since else "–"),
        Column("grounds", lambda item: grounds_of(item, entries)),
        number("tokens", lambda item: f"{estimate(item.text):,}"),
    ]
    has_makers = len({item.maker for item in items}) > 1
    columns = [each for each in columns if has_makers or each.heading != "maker"]
    return section("What agents are told", table(items, columns, caption="Rules, skills and notes in force"))
