"""What readers claim of each project as lessons: checked, ranked, kept, and made anew only where something changed."""

import re
from collections.abc import Mapping

from msgspec.structs import replace

from whet.improving.taught import Progress, key_of_lessons
from whet.ledger.patches import (
    Action,
    Form,
    Patch,
    PatchOrigin,
    PatchWriter,
    Proof,
    RuleSituation,
    Scope,
    SessionCounts,
)
from whet.lessons.claim_checks import SAID, ClaimReport
from whet.lessons.claim_evidence import PatternHit
from whet.lessons.claims import ClaimCarrier, ClaimSource, DroppedClaim
from whet.lessons.record import (
    PIECES_KEPT,
    Lesson,
    LessonChecks,
    LessonEvidence,
    LessonPiece,
    LessonSource,
    ProjectLessons,
    SeenBy,
    drafted,
    id_of,
    learned_name,
    no_lesson,
    project_lessons,
)
from whet.own.told import skills
from whet.reading.checking import checked_claims
from whet.reading.project_files import (
    ProjectClaims,
    listed,
    project_claims,
    project_sessions,
    refused_rules,
)
from whet.sessions.trust import Trust
from whet.store.claims import claimed_projects
from whet.store.database import Database
from whet.store.home import Home
from whet.store.listing import Filters
from whet.store.settings_file import load as load_settings
from whet.store.teachings import keep_lessons, kept_lessons, row_of_source
from whet.telling.targets.known_projects import KnownProjects
from whet.text.words import cut
from whet.trouble.outcomes.deciding import Outcome

READER = "reader"
SLUG_LETTERS = 40
QUOTE_LETTERS = 300
SOURCE_OF = {
    ClaimSource.REMEDY: LessonSource.REMEDY,
    ClaimSource.FACT: LessonSource.PLACE,
    ClaimSource.REQUEST: LessonSource.PERSON,
    ClaimSource.PERSON: LessonSource.PERSON,
    ClaimSource.RECOVERY: LessonSource.RECOVERY,
    ClaimSource.TRAP: LessonSource.FAILURE,
}
# Who a person is told to have said a quote, where they decide on the rule.
SAID_BY = {
    Trust.OPERATOR: "you said",
    Trust.USER: "a person typed",
    Trust.AGENT: "the agent said",
    Trust.TOOL: "printed by a tool, or typed by nobody knows whom:",
    Trust.EXTERNAL: "from elsewhere, such as a page, a paste or another agent:",
}
_NO_SLUG = re.compile(r"[^a-z0-9]+")


def claimed_by_projects(
    home: Home, database: Database, filters: Filters, *, project: str, progress: Progress
) -> tuple[ProjectLessons, ...]:
    """The lessons that readers claim, read where they are kept and nothing that they were made from has changed.

    Where some sessions alone are asked for, it is what is claimed with a quote from one of them.
    """
    every = claimed_projects(database)
    if not every:
        return ()
    known = KnownProjects(database)
    names = [name for name in every if known.is_named(name, project)]
    declared, refused = load_settings(home).trust.projects, refused_rules(home, database)
    sessions = project_sessions(database)
    only = {each.id for each in listed(database, filters)} if any(filters) else set()
    found: list[ProjectLessons] = []
    for name in names:
        given = project_claims(database, name, sessions.get(name, ()), refused=refused, declared=declared)
        lessons = _lessons(database, given, known.shown(name))
        if any(filters):
            asked = (each for each in lessons.lessons if not only.isdisjoint(each.evidence.session_ids))
            lessons = replace(lessons, lessons=tuple(asked))
        found.append(lessons)
        progress(len(found), len(names))
    return tuple(found)


def _lessons(database: Database, given: ProjectClaims, place: str) -> ProjectLessons:
    seen = [(each.id, each.source, each.maker, each.head.hex()) for each in given.sessions]
    key = key_of_lessons(given.project, place, seen, given.refused, given.declared, given.log, given.files.state)
    row = row_of_source(given.project, READER)
    lessons = kept_lessons(database, row, key, ProjectLessons)
    if lessons is None:
        checked = checked_claims(database, given)
        agents = {session.id: session.source for session in given.sessions}
        made = (lesson_of_claim(each, given.project, agents, place) for each in checked.reports)
        dropped = (dropped_lesson(each, given.project, agents) for each in checked.dropped)
        lessons = project_lessons(given.project, (*dropped, *made))
        keep_lessons(database, row, key, (each.no for each in given.sessions), lessons)
    return lessons


def lesson_of_claim(report: ClaimReport, project: str, agents: Mapping[str, str], place: str) -> Lesson:
    """The lesson that a claim makes, in a project as people read it; `agents` are those of its sessions."""
    claim, evidence = report.standing.claim, evidence_of_claim(report)
    path, line = (report.told.path, report.told.line) if report.told else ("", "")
    seen_in = {agents[each] for each in report.sessions if each in agents}
    return drafted(
        Lesson(
            id_of(project, claim.rule),
            project,
            claim.rule,
            claim.situation,
            claim.rule,
            _patch(report, project, evidence),
            evidence,
            SeenBy(tuple(sorted(seen_in)), place=place),
            LessonChecks(path, line, report.is_broken, report.measures),
        )
    )


def dropped_lesson(dropped: DroppedClaim, project: str, sessions: Mapping[str, str]) -> Lesson:
    """A claim that counts for nothing, as it is listed; `sessions` are the known ones."""
    claim = dropped.claim
    source = SOURCE_OF[claim.source]
    pieces = tuple(
        LessonPiece(source, quote.session, quote.message, cut(quote.words, QUOTE_LETTERS))
        for quote in claim.quotes[:PIECES_KEPT]
        if quote.session in sessions
    )
    count = len({quote.session for quote in claim.quotes if quote.session in sessions})
    return no_lesson(project, claim.rule or claim.id, dropped.why, LessonEvidence(source, pieces, count, 0.0))


def evidence_of_claim(report: ClaimReport) -> LessonEvidence:
    """The exact quotes of a claim, and in how many sessions it was seen."""
    source = SOURCE_OF[report.standing.claim.source]
    pieces = tuple(
        LessonPiece(
            source,
            each.quote.session,
            each.quote.message,
            cut(" ".join(each.quote.words.split()), QUOTE_LETTERS),
            trust=each.trust,
            at=each.at,
        )
        for each in report.quotes
    )
    sessions = len(report.sessions)
    return LessonEvidence(source, pieces, sessions, float(sessions))


def _patch(report: ClaimReport, project: str, evidence: LessonEvidence) -> Patch:
    claim, reader = report.standing.claim, report.standing.reader
    situation = _situation(report)
    is_skill = claim.carrier is ClaimCarrier.SKILL
    # A reminder needs a call at which it can be given.
    is_reminder = bool(situation.call) and (claim.carrier is ClaimCarrier.REMINDER or report.is_broken)
    slug = _NO_SLUG.sub("-", claim.situation.lower())[:SLUG_LETTERS].strip("-") if is_skill else ""
    name = slug or learned_name(project, claim.rule)
    return Patch(
        form=Form.SKILL if is_skill else Form.RULE,
        action=Action.ADD,
        name=name,
        text=skills.compose(name, claim.situation or claim.rule, claim.rule) if is_skill else claim.rule,
        scope=Scope() if is_skill else Scope(project=project, at_call=is_reminder),
        origin=PatchOrigin(
            PatchWriter.MODEL,
            named=reader.name,
            basis=evidence.source.value,
            counts=SessionCounts(evidence.sessions),
            place="the project",
        ),
        trust=report.trust,
        proofs=tuple(
            Proof(piece.session, piece.message, SAID_BY[piece.trust], piece.text)
            for piece in evidence.pieces[:PIECES_KEPT]
        ),
        situation=situation,
    )


def _situation(report: ClaimReport) -> RuleSituation:
    """By what later sessions are asked whether it came up: what was said, or a call that failed and one that worked."""
    claim, hits = report.standing.claim, report.hits
    if claim.carrier is ClaimCarrier.SKILL:
        return RuleSituation()
    if claim.source in SAID:
        return RuleSituation(said=claim.rule)
    failed = _shortest(hits, failed=True)
    if failed is None or report.measures.goes_back:
        return RuleSituation()
    worked = _shortest(hits, failed=False)
    return RuleSituation(failed.call, cut(failed.error, QUOTE_LETTERS), worked.call if worked else "")


def _shortest(hits: tuple[PatternHit, ...], *, failed: bool) -> PatternHit | None:
    bad = (Outcome.FAILED, Outcome.REJECTED)
    fitting = (each for each in hits if (each.outcome in bad if failed else each.outcome is Outcome.OK))
    return min(fitting, key=lambda each: (len(each.call), each.call), default=None)
