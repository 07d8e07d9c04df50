"""Templates in the watch: drawn sessions counted as they settle, worth recorded, and what is worthless retired."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from whet.changes.templates import overruled_at, retire
from whet.errors import WhetError
from whet.examples.choosing import FRESH_SECONDS, Worth, standing
from whet.examples.templates import Template
from whet.improving.live_sessions import SETTLED_SECONDS, live_sessions, settled_lots
from whet.lessons.live import LiveComparison
from whet.store.analyses import refresh
from whet.store.database import Database
from whet.store.home import Home
from whet.store.template_draws import CountedDraw, DrawOutcome, count_draws, models_drawn, outcomes, uncounted
from whet.store.template_files import record_worth, usable, worths
from whet.trials.canaries import Observation
from whet.trials.live_templates import ALPHA, LEAST_EFFECT, JudgedTemplate, Judgement, judge
from whet.values import Value

SOURCE = "canary"
RENEWED_SECONDS = FRESH_SECONDS / 3
"""How old praise must be to be said again, while it still holds."""

WORTHLESS = (Judgement.IDLE, Judgement.HARMS)


class Measured(Value, frozen=True):
    """A template with one model: the evidence so far, and what was done: the number of the entry, and why."""

    name: str
    key: str
    model: str
    since: float
    share: float
    sessions: int
    judgement: Judgement
    epoch: int
    comparison: LiveComparison
    decided: int = 0
    why: str = ""


class WatchedTemplate(NamedTuple):
    """A template with one model, and all that was counted and measured of it there."""

    template: Template
    model: str
    counted: Sequence[DrawOutcome]
    worths: Sequence[Worth]


def look_at_templates(
    home: Home, database: Database, *, now: float, settled_seconds: float = SETTLED_SECONDS
) -> tuple[Measured, ...]:
    """Count what is new, record what the sessions say a template is worth, and retire what is worthless."""
    _count(database, settled=now - settled_seconds)
    found: list[Measured] = []
    for template, courses in _courses(home, database):
        measured = [_record(database, course, now=now) for course in courses]
        found += _retire(home, database, template, measured, now=now)
    return tuple(found)


def reason(name: str, worths: Iterable[Worth], *, praised: bool) -> str:
    """Why a template is retired, with the numbers of each model."""
    told = []
    for worth in worths:
        word = "harms" if worth.high < 0 else "stopped helping" if praised else "does not help enough for its tokens"
        told.append(
            f"with {worth.model} it {word}: effect {worth.effect:+.2f} ({worth.low:+.2f} to {worth.high:+.2f}) over"
            f" {worth.cases} live sessions"
        )
    return (
        f"{name} retired: {'; '.join(told)}; less than {LEAST_EFFECT:+.2f} is not worth its tokens; error"
        f" rate at most {100 * ALPHA:g} %"
    )


def _count(database: Database, *, settled: float) -> None:
    """Count each drawn session that has settled once, with all that went on from it."""
    waiting = uncounted(database)
    if not waiting:
        return
    refresh(database, progress=lambda _: None)
    sessions = live_sessions(database, since=min(draw.at for draw in waiting))
    lots = {draw.lot for draw in waiting}
    done = {lot: group for lot, group in settled_lots(sessions, settled=settled).items() if lot in lots}
    count_draws(
        database,
        [CountedDraw(lot, sum(each.loss for each in group) / len(group), len(group)) for lot, group in done.items()],
    )


def _courses(home: Home, database: Database) -> Iterator[tuple[Template, list[WatchedTemplate]]]:
    """What was counted of each template that sessions drew for, by the model: another has to be convinced anew."""
    counted, known = outcomes(database), [worth for worth in worths(database) if worth.source == SOURCE]
    for template in usable(home.folder):
        own = counted.get(template.key, [])
        models = dict.fromkeys(each.draw.model for each in own)
        courses = [
            WatchedTemplate(
                template,
                model,
                [each for each in own if each.draw.model == model],
                [worth for worth in known if (worth.key, worth.model) == (template.key, model)],
            )
            for model in models
        ]
        if courses:
            yield template, courses


def _judged(course: WatchedTemplate, *, now: float) -> JudgedTemplate:
    """What the sessions since the last verdict say: on what was decided once, nothing is decided again."""
    observed = [Observation(each.draw.told, each.loss, each.draw.share) for each in course.counted]
    old = [number for number, each in enumerate(course.counted, start=1) if each.draw.at < now - FRESH_SECONDS]
    ends = [worth.counted for worth in course.worths if worth.worthless]
    return judge(observed, ends, fresh=max(old, default=0))


def _record(database: Database, course: WatchedTemplate, *, now: float) -> Measured:
    """What is known of a course. A worth is recorded when it is first decided; praise again while it holds."""
    judged = _judged(course, now=now)
    praised = max((worth.at for worth in course.worths if not worth.worthless), default=None)
    is_news = praised is None or now - praised >= RENEWED_SECONDS
    if judged.judgement in WORTHLESS or (judged.judgement is Judgement.HELPS and is_news):
        record_worth(database, _worth(course, judged, now=now))
    return _shown(course, judged)


def _retire(
    home: Home, database: Database, template: Template, measured: list[Measured], *, now: float
) -> list[Measured]:
    """Take a template away that is worthless with every model in use. Others leave it alone with those it is not for.

    It goes by the worths on record, so that what a crash left undone is done at the next look, and what a person
    brought back stays.
    """
    known = [worth for worth in worths(database) if worth.key == template.key]
    standing_ones = standing(known, (template,), overruled_at(home, database))
    against = {each.model: each for each in standing_ones if each.worthless and now - each.at <= FRESH_SECONDS}
    in_use = models_drawn(database, template.key, since=now - FRESH_SECONDS)
    if not against:
        return measured
    why = reason(template.name, against.values(), praised=any(each.low > 0 for each in known))
    if in_use - against.keys():
        return [
            replace(each, why=f"for {each.model} alone: {why}") if each.judgement in WORTHLESS else each
            for each in measured
        ]
    try:
        entry = retire(home, database, template.name, now=now, reason=why).number
    except WhetError as error:  # somebody changed it meanwhile: the others are looked at all the same
        entry, why = 0, error.message
    return [replace(each, decided=entry, why=why) for each in measured]


def _worth(course: WatchedTemplate, judged: JudgedTemplate, *, now: float) -> Worth:
    found = judged.comparison
    return Worth(
        course.template.key,
        found.effect,
        *found.interval,
        cases=found.told + found.untold,
        at=now,
        model=course.model,
        source=SOURCE,
        worthless=judged.judgement in WORTHLESS,
        counted=len(course.counted),
    )


def _shown(course: WatchedTemplate, judged: JudgedTemplate) -> Measured:
    last = course.counted[-1].draw
    return Measured(
        name=course.template.name,
        key=course.template.key,
        model=course.model,
        since=min(each.draw.at for each in course.counted),
        share=last.share,
        sessions=sum(each.sessions for each in course.counted),
        judgement=judged.judgement,
        epoch=judged.epoch,
        comparison=judged.comparison,
    )
