"""Lessons: what was learned, and what is proposed."""

from collections.abc import Sequence

from whet.improving.learned import LearnedOfAll
from whet.ledger.patches import Patch
from whet.lessons.record import DECIDED, Lesson, LessonStage
from whet.lessons.said import LessonConflict
from whet.lessons.taught_rules import PERSONS_WORD
from whet.text.showing import shown
from whet.text.words import many
from whet.web.html import Child, Element, h
from whet.web.site import NO_PROJECT, Site, code, empty, moment, reading, section

QUOTES = 3


def lessons(site: Site, learned: LearnedOfAll, *, is_current: bool) -> Element:
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
        _cards("What your sessions teach", [_lesson(site, each) for each in open_ones]),
        _cards("Where people contradict each other: which holds is yours to say", conflicts),
        _cards("What you decided on", [_lesson(site, each) for each in decided]),
    )


def sessions_behind(learned: LearnedOfAll, id: str) -> frozenset[str]:
    """The sessions that teach the lesson with this id."""
    return frozenset(piece.session for each in learned.lessons if each.id == id for piece in each.evidence.pieces)


def evidence_behind(learned: LearnedOfAll, patch: Patch) -> frozenset[str]:
    """The sessions that teach the lesson which proposes a change; none where the ledger alone knows it."""
    taught = (each for each in learned.lessons if each.evidence.worth)
    lesson = next((each for each in taught if each.patch.name == patch.name), None)
    return sessions_behind(learned, lesson.id) if lesson else frozenset()


def _cards(title: str, cards: Sequence[Element]) -> Child:
    return section(title, h("div", {"class": "cards"}, cards)) if cards else None


def _conflict(site: Site, project: str, conflict: LessonConflict) -> Element:
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


def _lesson(site: Site, lesson: Lesson) -> Element:
    pieces, standing = lesson.evidence.pieces, lesson.standing
    where = lesson.place if lesson.seen_by.projects else site.projects.short(lesson.project)
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
    behind = site.everywhere.link(many(lesson.sessions, "session"), "sessions", lesson=lesson.id)
    return h(
        "article",
        {"class": "card"},
        h("h3", {}, shown(lesson.rule)),
        h(
            "p",
            {"class": "facts"},
            f"{where} · {lesson.told_as} · {lesson.evidence.source.words} · ",
            behind,
            f" · {', '.join(lesson.seen_by.agents)} · words: {lesson.whose} · ",
            "waits for your decision"
            if standing.stage is LessonStage.WAITING
            else shown(standing.words.replace("`", "")),
            " · ",
            code(f"whet lessons show {lesson.id}"),
        ),
        _ladder(lesson),
        [
            h("p", {}, h("strong", {}, f"{name}: "), shown(words))
            for name, words in (("Situation", lesson.situation), ("Fix", lesson.fix))
            if lesson.fix not in lesson.rule and words not in ("", PERSONS_WORD)
        ],
        h("details", {}, h("summary", {}, _quoted_of(len(quotes), len(pieces))), quotes),
        h("div", {"class": "actions"}, _proposing(site, lesson))
        if site.form and lesson.is_proposable and standing.stage is LessonStage.CHECKED
        else None,
    )


def _proposing(site: Site, lesson: Lesson) -> Child:
    """A button that puts the lesson, as it is shown, among what waits for a decision."""
    if not site.form:
        return None
    return h(
        "form",
        {"method": "post", "action": f"{site.base}/lessons/{lesson.id}/propose"},
        h("input", {"type": "hidden", "name": "form", "value": site.form}),
        h("input", {"type": "hidden", "name": "patch", "value": lesson.patch.id}),
        h("button", {"type": "submit", "aria-label": f"Propose: {shown(lesson.rule)}"}, "Propose"),
    )


def _ladder(lesson: Lesson) -> list[Element]:
    """How far a lesson has climbed, and what else to know."""
    climbed = h("p", {"class": "facts"}, shown(" → ".join(lesson.climb.words)))
    return [climbed, *(h("p", {}, shown(note)) for note in lesson.climb.notes)]


def _quoted_of(quoted: int, pieces: int) -> str:
    return f"{quoted} of {pieces} quotes" if quoted < pieces else many(pieces, "quote")
