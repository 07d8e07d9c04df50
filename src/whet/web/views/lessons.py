"""Lessons: what was learned, and what is proposed."""

from collections.abc import Sequence

from whet.failures.kinds import kind_named
from whet.failures.lessons import Lesson
from whet.improving.learned import LearnedOfAll
from whet.improving.lesson_states import (
    DECIDED,
    DecisionsOnLessons,
    LessonStanding,
    LessonState,
    lesson_id,
    standing_of,
    without_fix,
)
from whet.improving.project_evidence import TaughtLesson, place_of
from whet.ledger.patches import Patch
from whet.lessons.conflicts import LessonConflict
from whet.lessons.drafts import PERSONS_WORD
from whet.shipped.kinds import known_kinds
from whet.text.showing import shown
from whet.web.html import Child, Element, h
from whet.web.site import NO_PROJECT, Site, code, empty, many, moment, reading, section, short_name

QUOTES = 3


def lessons(site: Site, learned: LearnedOfAll, decisions: DecisionsOnLessons, *, is_current: bool) -> Element:
    """What sessions teach as cards: situation, fix, quotes, counts and the draft; conflicts; failures without a fix."""
    chosen = site.filter
    kept = [
        each
        for each in learned.taught
        if (not chosen.project or chosen.project in (each.project or NO_PROJECT, *each.projects))
        and (not chosen.agent or chosen.agent in each.agents)
    ]
    stood = [(each, standing_of(each, decisions)) for each in kept]
    decided = [(each, standing) for each, standing in stood if standing.state in DECIDED]
    open_ones = [(each, standing) for each, standing in stood if standing.state not in DECIDED]
    again = [each for each in learned.recurring if not chosen.project and chosen.agent in ("", *each.agents)]
    conflicts = [
        _conflict(site, project, conflict)
        for project, found in learned.conflicts.items()
        if chosen.project in ("", project or NO_PROJECT) and not chosen.agent
        for conflict in found
    ]
    busy = None if is_current else reading()
    if not (kept or again or conflicts):
        words = ("No lesson yet: a lesson needs evidence in your sessions. Import more with ", code("whet import"), ".")
        return h("div", {}, busy or empty(*words))
    return h(
        "div",
        {},
        busy,
        _cards("What your sessions teach", [_taught(site, each, state) for each, state in open_ones]),
        h("p", {"class": "soft"}, code("whet improve"), " proposes what is new; what it proposes needs your approval."),
        _cards("Where people contradict each other: which holds is yours to say", conflicts),
        _cards("What you decided on", [_taught(site, each, state) for each, state in decided]),
        _cards("Failures that recur without a known fix", [_again(site, each) for each in again]),
    )


def key_of(lesson: TaughtLesson) -> str:
    """What a lesson is known by in an address: its best piece of evidence."""
    best = lesson.candidate.best
    return f"{lesson.candidate.source.value}-{best.session}-{best.message}"


def sessions_behind(learned: LearnedOfAll, key: str) -> frozenset[str]:
    """The sessions that teach the lesson with this key."""
    return frozenset(piece.session for each in learned.taught if key_of(each) == key for piece in each.candidate.pieces)


def evidence_behind(learned: LearnedOfAll, patch: Patch) -> frozenset[str]:
    """The sessions that teach the lesson which proposes a change; none where no lesson does."""
    lesson = next((each for each in learned.taught if each.patch and each.patch.name == patch.name), None)
    return sessions_behind(learned, key_of(lesson)) if lesson else frozenset()


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
    where = short_name(project)
    return h("article", {"class": "card"}, h("h3", {}, f"About {shown(conflict.about)} in {where}"), quotes)


def _taught(site: Site, lesson: TaughtLesson, standing: LessonStanding) -> Element:
    candidate, draft = lesson.candidate, lesson.draft
    trust = f" · trust {draft.trust.label}" if draft else ""
    where = place_of(lesson) if lesson.projects else short_name(lesson.project)
    quotes = [
        h(
            "blockquote",
            {},
            site.session(piece.session, f"{piece.session[:8]} #{piece.message}", message=piece.message),
            f" {shown(piece.text)}",
            [
                f"\n{label}: {shown(words)}"
                for label, words in (("worked", piece.fix), ("the error says", piece.remedy))
                if words
            ],
        )
        for piece in candidate.pieces[:QUOTES]
    ]
    form = f"{draft.form.value} · " if draft else ""
    behind = site.everywhere.link(many(candidate.sessions, "session"), "sessions", lesson=key_of(lesson))
    return h(
        "article",
        {"class": "card"},
        h("h3", {}, shown(draft.text if draft else candidate.best.text)),
        h(
            "p",
            {"class": "facts"},
            f"{where} · {form}{candidate.source.words} · ",
            behind,
            f" · {', '.join(lesson.agents)}{trust} · ",
            site.link("waits for your decision", "waiting")
            if standing.state is LessonState.WAITS
            else shown(standing.words.replace("`", "")),
            " · ",
            code(f"whet lessons show {lesson_id(lesson)}"),
        ),
        h("p", {}, h("strong", {}, "Situation: "), shown(draft.situation))
        if draft and draft.situation not in ("", PERSONS_WORD)
        else None,
        h("p", {}, h("strong", {}, "Fix: "), shown(draft.fix)) if draft and draft.fix not in ("", draft.text) else None,
        h("details", {}, h("summary", {}, _quoted_of(len(quotes), len(candidate.pieces))), quotes),
    )


def _quoted_of(quoted: int, pieces: int) -> str:
    return f"{quoted} of {pieces} quotes" if quoted < pieces else many(pieces, "quote")


def _again(site: Site, lesson: Lesson) -> Element:
    among = f" that used {lesson.tool}" if lesson.tool else ""
    base = site.everywhere.link(many(lesson.base, "session"), "sessions", tool=lesson.tool)
    quotes = [
        h(
            "blockquote",
            {},
            site.session(each.session, f"{each.session[:8]} #{each.message}", message=each.message),
            f" {' '.join(shown(each.quote).split())}",
        )
        for each in lesson.examples
    ]
    what = kind_named(lesson.kind, known_kinds()).label
    return h(
        "article",
        {"class": "card"},
        h("h3", {}, f"{lesson.tool + ': ' if lesson.tool else ''}{what}"),
        h("p", {}, code(lesson.line)) if lesson.fingerprint else None,
        h(
            "p",
            {"class": "facts"},
            site.everywhere.link(f"{lesson.sessions:,}", "sessions", failure=lesson_id(lesson)),
            " of ",
            base,
            f"{among} ({100 * lesson.share:.0f} %) · {without_fix(lesson)}",
        ),
        h("details", {}, h("summary", {}, "Where it was seen"), quotes),
    )
