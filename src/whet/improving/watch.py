"""The watch: sessions counted for each lesson and template that is live as they settle, and what they ask for done.

Sessions of other agents as they end: imported, analysed, counted, and once a day a good one proposed as a template.
"""

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from msgspec.structs import replace

from whet.changes.apply import promote, revert
from whet.changes.writing import Author, keep_template, overruled_at, retire_template
from whet.errors import WhetError
from whet.evidence.coin_looks import next_look
from whet.improving.live_sessions import (
    SETTLED_SECONDS,
    DrawnUnit,
    Live,
    live_sessions,
    measure,
    settled_by_draw,
    where_of,
)
from whet.intake.arrivals import take_spool
from whet.ledger.entries import Actor, Entry, Item, Step
from whet.ledger.holding import holds
from whet.ledger.patches import Action, Form, Patch, PatchBasis, PatchOrigin, PatchWriter
from whet.lessons.following import detector_of
from whet.lessons.record import Lesson, LessonStage, Standing, lesson_of_change
from whet.lessons.rungs import Bundle, CanaryMove, LiveCounts
from whet.own.examples.mining import WantedTemplate, mine
from whet.own.examples.success import SuccessReason, find
from whet.own.examples.templates import Template, TemplateEffect, described, standing
from whet.secrets.redactor import secret_values
from whet.sessions.transcripts import Purpose
from whet.sessions.trust import Trust
from whet.store.analyses import refresh
from whet.store.canary_counts import CountedUnit, KeptDraw, count, counted, deliveries, session_draws
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import Ledger, ledger_of
from whet.store.listing import Filters
from whet.store.opening import opened
from whet.store.template_files import (
    CountedDraw,
    DrawOutcome,
    count_draws,
    outcomes,
    record_worth,
    stored_transcripts,
    uncounted,
    usable,
    worths,
)
from whet.telling.hooks.starting import unit_of_session
from whet.telling.targets.drawing import unit_of
from whet.telling.targets.known_projects import KnownProjects
from whet.telling.targets.settings import is_shown
from whet.telling.targets.sync import tell
from whet.trials.canaries import (
    ALPHA_GUARD,
    ALPHA_HARM,
    ALPHA_HELP,
    LEAST_EFFECT,
    EndpointVerdict,
    LiveUnit,
    Observation,
    compare,
    judge_endpoint,
    judge_in_bundle,
    judge_template,
)
from whet.trials.draws import is_told
from whet.trials.told_rules import key_of
from whet.trouble.outcomes.view import gather
from whet.values import Value
from whet.work.orders import Done, Steps, encoded

DAY_SECONDS = 86_400
MOST_SESSIONS = 5  # the newest, whenever a session arrives, that may show a template
# A record without failures is no proof, and nobody is asked about what is only likely.
PROOFS = frozenset({SuccessReason.CHECKED, SuccessReason.VERIFIED})
LIVE_WORTH = "canary"  # the source of a worth that live sessions measured


class LookFindings(Value, frozen=True):
    """All that one look found."""

    canaries: tuple[Lesson, ...] = ()
    templates: tuple[Lesson, ...] = ()


def watch(home: Home, steps: Steps, body: str) -> Done:  # noqa: ARG001 - it looks at all there is
    """Look at everything once. What was counted or decided before a crash is not counted or decided again."""

    def act() -> LookFindings:
        with opened(home) as database:
            return look(home, database, now=time.time())

    found = steps.do("look", act, LookFindings)
    decided = "; ".join(each.counts.why for each in (*found.canaries, *found.templates) if each.counts.decided)
    templates = f" and {len(found.templates)} templates" if found.templates else ""
    return Done(decided or f"{len(found.canaries)} canaries{templates}, nothing to decide", value=encoded(found))


def look(home: Home, database: Database, *, now: float, settled_seconds: float = SETTLED_SECONDS) -> LookFindings:
    """Count what is new, then do what the evidence is enough for, with canaries and with templates."""
    return LookFindings(
        look_at_canaries(home, database, now=now, settled_seconds=settled_seconds),
        look_at_templates(home, database, now=now, settled_seconds=settled_seconds),
    )


def look_at_canaries(
    home: Home, database: Database, *, now: float, settled_seconds: float = SETTLED_SECONDS
) -> tuple[Lesson, ...]:
    """Count what is new, then promote or revert what the evidence is enough for."""
    canaries = [item for item in ledger_of(home, database).state().rules if item.canary]
    if not canaries:
        return ()
    refresh(database, progress=lambda _: None)
    sessions = live_sessions(database, since=min(item.since for item in canaries))
    projects = KnownProjects(database)
    for item in canaries:
        # Those that the rule would have been for, told or not.
        meant = [each for each in sessions if holds(item.scope, where_of(each, projects.identity(each.folder)))]
        _count(database, item, meant, now=now, settled=now - settled_seconds)
    found = tuple(_act(home, database, each, now=now) for each in live_lessons(home, database))
    tell(home, database, now=now)
    return found


def live_lessons(home: Home, database: Database) -> tuple[Lesson, ...]:
    """Every lesson that is live with what was counted so far; nothing is counted and nothing decided."""
    ledger = ledger_of(home, database)
    canaries = [item for item in ledger.state().rules if item.canary]
    bundles = {item.bundle: _bundle(ledger, item) for item in canaries if item.bundle}
    return tuple(_live(ledger, item, bundles.get(item.bundle)) for item in canaries)


def _bundle(ledger: Ledger, item: Item) -> Bundle:
    """What is known of all lessons of a bundle, those that were taken back since among them."""
    entries = [each.number for each in ledger.entries() if each.batch == item.bundle and each.step is Step.CANARY]
    units: dict[str, CountedUnit] = {}
    failures: dict[str, int | None] = {}
    for each in counted(ledger.database, *entries):
        units.setdefault(each.unit, each)
        if each.failed is not None:
            failures[each.unit] = (failures.get(each.unit) or 0) + each.failed
    whole = [
        one._replace(failed=failures.get(unit)) for unit, one in zip(units, live_units(units.values()), strict=True)
    ]
    found = judge_endpoint(whole, share=item.share)
    sessions = sum(each.sessions for each in units.values())
    return Bundle(item.bundle, len(entries), _with_endpoint(item, sessions, found, "the failures of each"))


def _live(ledger: Ledger, item: Item, bundle: Bundle | None) -> Lesson:
    patch = replace(ledger.entry(item.number).patch, text=item.text, scope=item.scope, trust=item.trust)
    counts = counts_of(item, counted(ledger.database, item.number), bundle)
    told_as = f"{item.form.value} {item.name}"
    return lesson_of_change(patch, standing=Standing(LessonStage.LIVE, item.number, told_as, counts=counts))


def counts_of(item: Item, units: list[CountedUnit], bundle: Bundle | None) -> LiveCounts:
    """What the units that were counted say of a canary."""
    sessions = sum(each.sessions for each in units)
    endpoint = detector_of(item.situation)
    if bundle is not None:
        whole = bundle.counts
        own = judge_in_bundle(live_units(units), whole.comparison.decision, lessons=bundle.lessons, share=item.share)
        return LiveCounts(item.since, item.share, sessions, own, endpoint=endpoint, together=bundle)
    if not endpoint:
        comparison = compare([Observation(each.told, each.loss, item.share) for each in units])
        return LiveCounts(item.since, item.share, sessions, comparison)
    return _with_endpoint(item, sessions, judge_endpoint(live_units(units), share=item.share), endpoint)


def _with_endpoint(item: Item, sessions: int, found: EndpointVerdict, endpoint: str) -> LiveCounts:
    return LiveCounts(
        item.since,
        item.share,
        sessions,
        found.comparison,
        endpoint=endpoint,
        guards=found.guards,
        held_by=found.held_by,
        next_look=next_look(found.comparison.told + found.comparison.untold),
    )


def live_units(units: Iterable[CountedUnit]) -> list[LiveUnit]:
    """What was counted, as the endpoint and its guards are judged by."""
    return [LiveUnit(each.told, each.loss, each.failed, each.corrected, each.unchecked, each.tokens) for each in units]


def _count(database: Database, item: Item, sessions: list[Live], *, now: float, settled: float) -> None:
    known = counted(database, item.number)
    draws = {(each.agent, each.session): each for each in session_draws(database, item.number)}
    others = [each for each in sessions if _drawer(each) not in draws]
    new = [
        *_own_units(item, sessions, settled),
        *_drawn_units(item, draws, sessions, settled),
        *_delivered_units(database, item, others, settled),
    ]
    seen = {each.unit for each in known}
    measured = [measure(database, item.situation, each) for each in new if each.unit not in seen]
    count(database, item.number, measured, now=now)


def _act(home: Home, database: Database, lesson: Lesson, *, now: float) -> Lesson:
    decision = lesson.counts.comparison.decision
    if decision is CanaryMove.WAIT:
        return lesson
    act = promote if decision is CanaryMove.PROMOTE else revert
    why, decided = _reason(lesson), 0
    try:
        decided = act(home, database, lesson.standing.entry, actor=Actor.WATCH, now=now, note=why).number
    except WhetError as error:  # somebody changed it meanwhile: the others are looked at all the same
        why = error.message
    counts = replace(lesson.counts, decided=decided, why=why)
    return replace(lesson, standing=replace(lesson.standing, counts=counts))


def _reason(lesson: Lesson) -> str:
    """Why a canary was promoted or reverted, with its numbers."""
    watched, name = lesson.counts, lesson.patch.name
    found = watched.comparison
    word = "promoted" if found.decision is CanaryMove.PROMOTE else "reverted"
    low, high = found.interval
    told, untold = found.loss_told or 0.0, found.loss_untold or 0.0
    numbers = f"effect {found.effect:+.2f} ({low:+.2f} to {high:+.2f})"
    if not watched.endpoint:
        return (
            f"{name} {word}: lost {told:.2f} in {found.told} sessions or days with it, {untold:.2f} in"
            f" {found.untold} without; {numbers}, evidence of"
            f" {'help' if word == 'promoted' else 'harm'} {max(found.evidence_help, found.evidence_harm):.0f},"
            f" error rate at most {100 * found.alpha:g} %"
        )
    if watched.together is not None:
        its_own = f"its own failure in {100 * told:.0f} % of {found.told} with it, in {100 * untold:.0f} % of"
        return f"{name} {word}: {watched.together.words}; {its_own} {found.untold} without"
    alpha = ALPHA_HELP if word == "promoted" else ALPHA_HARM + len(watched.guards) * ALPHA_GUARD
    worse = f"; worse with it: {watched.held_by}" if watched.held_by else ""
    return (
        f"{name} {word}: its own failure in {100 * told:.0f} % of {found.told} sessions in its situation with"
        f" it, in {100 * untold:.0f} % of {found.untold} without, as a detector sees it ({watched.endpoint});"
        f" {numbers}{worse}; error rate at most {100 * alpha:g} %"
    )


def _own_units(item: Item, sessions: Iterable[Live], settled: float) -> Iterator[DrawnUnit]:
    """Sessions of Whet's own agent. Those that go on from one another drew once and count once."""
    fitting = (each for each in sessions if each.started >= item.since)
    for draw_id, group in settled_by_draw(fitting, settled=settled).items():
        yield DrawnUnit(draw_id, is_told(key_of(item), draw_id, item.share), tuple(group))


def _drawn_units(
    item: Item, draws: Mapping[tuple[str, str], KeptDraw], sessions: Iterable[Live], settled: float
) -> Iterator[DrawnUnit]:
    """Sessions of other agents that drew for themselves when they started, with the agents that each sent out."""
    groups: dict[tuple[str, str], list[Live]] = {}
    for each in sessions:
        if _drawer(each) in draws and each.started >= item.since:
            groups.setdefault(_drawer(each), []).append(each)
    for drawer, group in groups.items():
        # A share that was changed since would make the bets unfair: such a session is passed over.
        if max(each.dated for each in group) <= settled and draws[drawer].share == item.share:
            yield DrawnUnit(unit_of_session(*drawer), draws[drawer].told, tuple(group))


def _drawer(session: Live) -> tuple[str, str]:
    """The session that drew for this one: itself, or the one that sent it out as a part of its work."""
    return session.source, session.native_id.partition("/")[0]


def _delivered_units(database: Database, item: Item, sessions: list[Live], settled: float) -> Iterator[DrawnUnit]:
    """Sessions of other agents, by the day of the file that they read. A day counts when it is over."""
    for delivery in deliveries(database, item.number):
        end = _day_end(delivery.day)
        if end is None or end > settled:
            continue
        began = (each for each in sessions if delivery.at <= each.started < end)
        group = [
            each for each in began if is_shown(delivery.agents, delivery.project, agent=each.source, folder=each.folder)
        ]
        if group:
            yield DrawnUnit(unit_of(delivery.file, delivery.day), delivery.told, tuple(group))


def _day_end(day: str) -> float | None:
    """When a day is over; nothing for a row that somebody else wrote and that names no day."""
    try:
        return datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() + DAY_SECONDS
    except ValueError:
        return None


def look_at_templates(
    home: Home, database: Database, *, now: float, settled_seconds: float = SETTLED_SECONDS
) -> tuple[Lesson, ...]:
    """Count the sessions that drew for a template, record what they say it is worth, and retire what is worthless."""
    waiting = uncounted(database)
    if waiting:
        refresh(database, progress=lambda _: None)
        sessions = live_sessions(database, since=min(draw.at for draw in waiting))
        draw_ids, drawn = settled_by_draw(sessions, settled=now - settled_seconds), {draw.draw_id for draw in waiting}
        settled = {draw_id: group for draw_id, group in draw_ids.items() if draw_id in drawn}
        losses = ((draw_id, [each.loss for each in group]) for draw_id, group in settled.items())
        count_draws(database, [CountedDraw(draw_id, sum(each) / len(each), len(each)) for draw_id, each in losses])
    drawn_for = outcomes(database)
    found = ((template, drawn_for[template.key]) for template in usable(home.folder) if template.key in drawn_for)
    return tuple(_judge_template(home, database, template, drawn, now=now) for template, drawn in found)


def _judge_template(
    home: Home, database: Database, template: Template, drawn: Sequence[DrawOutcome], *, now: float
) -> Lesson:
    """Judge by the sessions since the last verdict: on what was decided once, nothing is decided again."""
    of_it = [each for each in worths(database) if each.key == template.key and each.source == LIVE_WORTH]
    seen = [Observation(each.draw.told, each.loss, each.draw.share) for each in drawn]
    found = judge_template(seen, since=max((each.counted for each in of_it), default=0))
    if found.decision is not CanaryMove.WAIT:
        is_worthless, cases = found.decision is CanaryMove.REVERT, found.told + found.untold
        of_it.append(
            TemplateEffect(
                template.key, found.effect, *found.interval, cases, now,
                source=LIVE_WORTH, worthless=is_worthless, counted=len(drawn),
            )
        )  # fmt: skip
        record_worth(database, of_it[-1])
    against = [each for each in standing(of_it, (template,), overruled_at(home, database)) if each.worthless]
    decided, why = _retire(home, database, template, against[-1], now=now) if against else (0, "")
    since, sessions = drawn[0].draw.at, sum(each.sessions for each in drawn)
    counts = LiveCounts(since, drawn[-1].draw.share, sessions, found, decided=decided, why=why)
    patch = Patch(Form.TEMPLATE, Action.ADD, template.name, template.description)
    return lesson_of_change(
        patch, standing=Standing(LessonStage.LIVE, told_as=f"template {template.name}", counts=counts)
    )


def _retire(
    home: Home, database: Database, template: Template, worth: TemplateEffect, *, now: float
) -> tuple[int, str]:
    """Take a template away by the worth on record, so that a crash in between is made good at the next look."""
    word = "harms" if worth.high < 0 else "does not help enough for its tokens"
    why = (
        f"{template.name} retired: it {word}: effect {worth.effect:+.2f} ({worth.low:+.2f} to {worth.high:+.2f}) over"
        f" {worth.cases} live sessions; less than {LEAST_EFFECT:+.2f} is not worth its tokens; error rate at most 1 %"
    )
    try:
        return retire_template(home, database, template.name, now=now, reason=why).number, why
    except WhetError as error:  # somebody changed it meanwhile: the others are looked at all the same
        return 0, error.message


def arrive(home: Home, steps: Steps, body: str) -> Done:  # noqa: ARG001 - it looks at all there is
    """Take in what waits. What was taken in before a crash is not taken in again."""

    def act() -> str:
        with opened(home) as database:
            taken = take_spool(home, database, secrets=secret_values(os.environ), now=time.time())
            refresh(database, progress=lambda _: None)
            look(home, database, now=time.time())
            propose_templates(home, database, now=time.time())
        return f"{taken.report.sessions} sessions from {taken.done} files, {len(taken.kept)} could not be read"

    return Done(steps.do("take in", act, str))


def propose_templates(home: Home, database: Database, *, now: float) -> tuple[Entry, ...]:
    """Let a template wait for each project whose newest proved session shows enough."""
    made: list[Entry] = []
    known = [each for each in ledger_of(home, database).entries() if each.patch.form is Form.TEMPLATE]
    shown = {proof.session for entry in known for proof in entry.patch.proofs}
    done = {(entry.patch.origin.named, entry.patch.origin.place) for entry in known if now - entry.at < DAY_SECONDS}
    wanted, projects = WantedTemplate(), KnownProjects(database)
    recent = Filters(purpose=Purpose.CHAT, since=now - DAY_SECONDS)
    for transcript in stored_transcripts(database, recent, limit=MOST_SESSIONS):
        place = (transcript.source, projects.shown(projects.identity(transcript.folder)))
        if place in done or transcript.id in shown or find(gather(transcript)) not in PROOFS:
            continue
        mined = mine([transcript], wanted)
        if not mined.examples:
            continue
        name = f"{mined.activity}-{transcript.id[:6]}"
        template = Template(name, mined.examples, mined.activity, described(mined.examples), created=now)
        origin = PatchOrigin(PatchWriter.POLICY, place[0], PatchBasis.WENT_WELL, place=place[1])
        author = Author(home, database, Actor.WATCH, Trust.EXTERNAL, now, transcript.id, origin)
        try:
            made.append(keep_template(author, template))
        except WhetError:  # refused before, there already, or too much waits
            continue
        done.add(place)
    return tuple(made)
