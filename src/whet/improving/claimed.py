"""What readers claim of each project as lessons: checked, ranked, kept, and made anew only where something changed."""

import hashlib
import re
from collections.abc import Callable, Mapping

import msgspec
from msgspec.structs import replace

from whet.ledger.entries import State
from whet.ledger.patch_faults import FaultKind, faults
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
    digest,
)
from whet.lessons.claim_checks import SAID, ClaimReport
from whet.lessons.claim_evidence import PatternHit
from whet.lessons.claims import ClaimCarrier, ClaimSource, DroppedClaim
from whet.lessons.record import (
    Lesson,
    LessonChecks,
    LessonEvidence,
    LessonPiece,
    LessonSource,
    ProjectLessons,
    SeenBy,
    id_of,
    no_lesson,
)
from whet.lessons.rungs import CallCounts, LessonMeasures
from whet.own.told import skills
from whet.reading.checking import checked_claims
from whet.reading.project_files import (
    ClaimedOf,
    ProjectClaims,
    listed,
    project_claims,
    project_sessions,
    refused_rules,
)
from whet.sessions.trust import Trust
from whet.store.claims import claimed_projects
from whet.store.database import Database
from whet.store.derived import LEARNING, code_version
from whet.store.home import Home
from whet.store.listing import Filters
from whet.store.settings_file import load as load_settings
from whet.store.teachings import keep_lessons, kept_lessons, row_of_source
from whet.telling.targets.known_projects import KnownProjects
from whet.text.words import cut
from whet.trouble.outcomes.deciding import Outcome

READER = "reader"
Progress = Callable[[int, int], None]
NAME_LETTERS = 10
SLUG_LETTERS = 40
QUOTE_LETTERS = 300
PROOFS_KEPT = 12  # quotes that go into the ledger with a change
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
    judged = ClaimedOf(load_settings(home).trust.projects, refused_rules(home, database))
    sessions = project_sessions(database)
    only = {each.id for each in listed(database, filters)} if any(filters) else None
    found: list[ProjectLessons] = []
    for name in names:
        given = project_claims(database, name, sessions.get(name, ()), judged)
        lessons = _lessons(database, given, known.shown(name))
        found.append(lessons if only is None else _narrowed(lessons, only))
        progress(len(found), len(names))
    return tuple(found)


def _lessons(database: Database, given: ProjectClaims, place: str) -> ProjectLessons:
    key = _key(given, place)
    row = row_of_source(given.project, READER)
    lessons = kept_lessons(database, row, key, ProjectLessons)
    if lessons is None:
        lessons = _made(database, given, place)
        keep_lessons(database, row, key, (each.no for each in given.sessions), lessons)
    return lessons


def _made(database: Database, given: ProjectClaims, place: str) -> ProjectLessons:
    checked = checked_claims(database, given)
    agents = {session.id: session.source for session in given.sessions}
    made = [lesson_of_claim(each, given.project, _seen_by(each, agents, place)) for each in checked.reports]
    lessons = {each.id: each for each in made if not each.is_dropped}
    refused = [each for each in made if each.is_dropped]
    dropped = (dropped_lesson(each, given.project, agents) for each in checked.dropped)
    return ProjectLessons(given.project, tuple(lessons.values()), dropped=(*dropped, *refused))


def _key(given: ProjectClaims, place: str) -> str:
    """What tells these lessons from those of any other log, sessions, files, decisions or version."""
    sessions = [(each.id, each.source, each.maker, each.head.hex()) for each in given.sessions]
    log = msgspec.json.encode(given.log)
    body = msgspec.json.encode((code_version(*LEARNING), given.project, place, sessions, given.refused, given.declared))
    return hashlib.blake2b(body + log + given.files.state.encode(), digest_size=16).hexdigest()


def _narrowed(lessons: ProjectLessons, only: set[str]) -> ProjectLessons:
    def is_asked(lesson: Lesson) -> bool:
        return any(piece.session in only for piece in lesson.evidence.pieces)

    return replace(lessons, lessons=tuple(filter(is_asked, lessons.lessons)))


def _seen_by(report: ClaimReport, agents: dict[str, str], place: str) -> SeenBy:
    return SeenBy(tuple(sorted({agents[each] for each in report.sessions if each in agents})), place=place)


def lesson_of_claim(report: ClaimReport, project: str, seen_by: SeenBy) -> Lesson:
    """The lesson that a claim makes; what the ledger would refuse, whatever stands in it, is dropped with a reason."""
    claim, evidence = report.standing.claim, evidence_of_claim(report)
    patch = _patch(report, project, evidence)
    wrong = [fault.message for fault in faults(patch, State()) if fault.kind is not FaultKind.TRUST]
    if wrong:
        return no_lesson(project, claim.rule, "; ".join(wrong), evidence)
    told = report.told
    checks = LessonChecks(
        stands_in=told.path if told else "",
        stands_as=told.line if told else "",
        is_broken=report.is_broken,
        measures=measures_of(report),
    )
    return Lesson(
        id_of(project, claim.rule), project, claim.rule, claim.situation, claim.rule, patch, evidence, seen_by, checks
    )


def dropped_lesson(dropped: DroppedClaim, project: str, sessions: Mapping[str, str]) -> Lesson:
    """A claim that counts for nothing, as it is listed; `sessions` are the known ones."""
    claim = dropped.claim
    source = SOURCE_OF[claim.source]
    pieces = tuple(
        LessonPiece(source, quote.session, quote.message, cut(quote.words, QUOTE_LETTERS))
        for quote in claim.quotes[:PROOFS_KEPT]
        if quote.session in sessions
    )
    count = len({quote.session for quote in claim.quotes if quote.session in sessions})
    return no_lesson(project, claim.rule or claim.id, dropped.why, LessonEvidence(source, pieces, count, 0.0))


def measures_of(report: ClaimReport) -> LessonMeasures:
    """What was measured of a claim, without where."""
    counts, claim = report.counts, report.standing.claim
    is_wrong = claim.carrier is ClaimCarrier.FIX_THE_FILE and report.wrong is not None
    return LessonMeasures(
        len(report.quotes),
        len(report.inexact),
        CallCounts(counts.seen, counts.failed, counts.tried, counts.worked) if counts and counts.seen else None,
        report.backtest,
        report.missing,
        report.enforced.path if report.enforced else "",
        report.wrong.path if is_wrong and report.wrong else "",
        report.wrong.line if is_wrong and report.wrong else "",
        report.goes_back,
        report.standing.is_doubted,
    )


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
    name = f"learned-{digest(f'{project} {claim.rule}')[:NAME_LETTERS]}"
    if is_skill:
        name = _slug(claim.situation) or name
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
            for piece in evidence.pieces[:PROOFS_KEPT]
        ),
        situation=situation,
    )


def _situation(report: ClaimReport) -> RuleSituation:
    """By what later sessions are asked whether it came up: what was said, or a call that failed and one that worked."""
    claim, hits = report.standing.claim, report.counts.hits if report.counts else ()
    if claim.carrier is ClaimCarrier.SKILL:
        return RuleSituation()
    if claim.source in SAID:
        return RuleSituation(said=claim.rule)
    failed = _shortest(hits, failed=True)
    if failed is None or report.goes_back:
        return RuleSituation()
    worked = _shortest(hits, failed=False)
    return RuleSituation(failed.call, cut(failed.error, QUOTE_LETTERS), worked.call if worked else "")


def _shortest(hits: tuple[PatternHit, ...], *, failed: bool) -> PatternHit | None:
    bad = (Outcome.FAILED, Outcome.REJECTED)
    fitting = (each for each in hits if (each.outcome in bad if failed else each.outcome is Outcome.OK))
    return min(fitting, key=lambda each: (len(each.call), each.call), default=None)


def _slug(text: str) -> str:
    return _NO_SLUG.sub("-", text.lower())[:SLUG_LETTERS].strip("-")
