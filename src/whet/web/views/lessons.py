"""Lessons: what was learned, and what is proposed."""

from collections.abc import Sequence

from whet.improving.learned import LearnedOfAll
from whet.lessons.record import DECIDED, Lesson, LessonStage
from whet.lessons.said import LessonConflict
from whet.lessons.taught_rules import PERSONS_WORD
from whet.text.showing import shown
from whet.text.words import many
from whet.web.html import Child, Element, h
from whet.web.site import NO_PROJECT, PageLinks, code, empty, moment, reading, section, told

QUOTES = 3
PROPOSING = (
    "Propose shows you a lesson's exact text, to approve, edit or refuse. No agent is told it before you approve."
)


def lessons(site: PageLinks, learned: LearnedOfAll, *, is_current: bool) -> Element:
    """What sessions teach as cards: situation, fix, quotes, counts and the draft; and conflicts."""
    chosen = site.filter
    kept = [
        each
        for each in learned.lessons
        if (not chosen.project or chosen.project in (each.project or NO_PROJECT, *each.seen_by.projects))
        and (not chosen.agent or chosen.agent in each.seen_by.agents)
    ]
    decided = [each for each in kept if each.standing.stage in DECIDED]
    # What waits stands above, with what can be decided.
    hidden = () if site.is_file else (LessonStage.WAITING,)
    open_ones = [each for each in kept if each.standing.stage not in (*DECIDED, *hidden)]
    conflicts = [
        _conflict(site, project, conflict)
        for project, found in learned.conflicts.items()
        if chosen.project in ("", project or NO_PROJECT) and not chosen.agent
        for conflict in found
    ]
    busy = None if is_current else reading()
    if not (kept or conflicts):
        words = ("No lesson yet: a lesson needs evidence in your sessions. Import more with ", code("whet import"), ".")
        return h("div", {}, busy or empty(*words))
    return h(
        "div",
        {},
        busy,
        _cards("What your sessions teach", [_lesson(site, each) for each in open_ones], PROPOSING if site.form else ""),
        _cards("Where people contradict each other: which holds is yours to say", conflicts),
        _cards("What you decided on", [_lesson(site, each) for each in decided]),
    )


def sessions_behind(learned: LearnedOfAll, id: str) -> frozenset[str]:
    """The sessions that teach the lesson with this id."""
    return frozenset(piece.session for each in learned.lessons if each.id == id for piece in each.evidence.pieces)


def _cards(title: str, cards: Sequence[Element], about: str = "") -> Child:
    said = h("p", {"class": "soft"}, about) if about else None
    return section(title, said, h("div", {"class": "cards"}, cards)) if cards else None


def _conflict(site: PageLinks, project: str, conflict: LessonConflict) -> Element:
    quotes = [
        h(
            "blockquote",
            {},
            site.session(said.session, f"{said.session[:8]} #{said.message}", message=said.message),
            f" {f'{shown(said.who)}, ' if said.who else ''}{moment(said.at)}: “{shown(said.text)}”",
        )
        for said in (conflict.first, conflict.second)
    ]
    where = site.projects.short(project)
    return h("article", {"class": "card"}, h("h3", {}, f"About {shown(conflict.about)} in {where}"), quotes)


def _lesson(site: PageLinks, lesson: Lesson) -> Element:
    """What it says and how far it has climbed, then where it is from, then its quotes and what can be decided."""
    pieces, stage = lesson.evidence.pieces, lesson.standing.stage
    quotes = [
        h(
            "blockquote",
            {},
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
    quoted = (
        f"{len(quotes)} of {many(len(pieces), 'quote')}" if len(quotes) < len(pieces) else many(len(pieces), "quote")
    )
    return h(
        "article",
        {"class": "card"},
        h("h3", {}, told(shown(lesson.rule))),
        h("p", {"class": "rungs"}, _climbed(site, lesson)),
        [h("p", {}, told(shown(note))) for note in lesson.climb.notes],
        [
            h("p", {}, h("strong", {}, f"{name}: "), told(shown(words)))
            for name, words in (("Situation", lesson.situation), ("Fix", lesson.fix))
            if lesson.fix not in lesson.rule and words not in ("", PERSONS_WORD)
        ],
        h("p", {"class": "facts"}, " · ".join(from_where), " · ", told(shown(standing))),
        h(
            "details",
            {},
            h("summary", {}, quoted),
            quotes,
            h(
                "p",
                {"class": "facts"},
                f"Whose words: {lesson.whose} · all of it: ",
                code(f"whet lessons show {lesson.id}"),
            ),
        ),
        h("div", {"class": "actions"}, _proposing(site, lesson)) if site.form and can_be_proposed else None,
    )


def _climbed(site: PageLinks, lesson: Lesson) -> list[Child]:
    """How far a lesson has climbed; its number of sessions leads to them."""
    seen, *later = lesson.climb.words
    sessions = many(lesson.sessions, "session")
    before, counted, after = seen.partition(sessions)
    link = site.everywhere.link(counted, "sessions", lesson=lesson.id) if counted else None
    return [shown(before), link, shown(" → ".join((after, *later)))]


def _proposing(site: PageLinks, lesson: Lesson) -> Child:
    """A button that puts the lesson, as it is shown, among what waits for a decision."""
    return h(
        "form",
        {"method": "post", "action": f"{site.base}/lessons/{lesson.id}/propose"},
        h("input", {"type": "hidden", "name": "form", "value": site.form}),
        h("input", {"type": "hidden", "name": "patch", "value": lesson.patch.id}),
        h("button", {"type": "submit", "aria-label": f"Propose: {shown(lesson.rule)}"}, "Propose"),
    )
