"""What a dry run foretells of a lesson: the places that would tell it, and who would judge it."""

import os
from pathlib import Path

from msgspec.structs import replace

from whet.ledger.entries import Item
from whet.ledger.patches import Form, Patch
from whet.lessons.record import LessonStage
from whet.store.home import Home
from whet.store.opening import opened
from whet.store.recording import SOURCE
from whet.telling.hooks.installing import installed_hosts
from whet.telling.targets import settings as targets
from whet.telling.targets.known_projects import KnownProjects
from whet.telling.targets.reaching import Reader, readers_of, reads
from whet.trials.improvements import LessonOutcome

UNTRIABLE = "you: nothing can try it yet"
OWN_PROMPT = "Whet's own prompt"
TOLD = (Form.RULE, Form.NOTE, Form.SKILL)


def foretold(home: Home, outcome: LessonOutcome, model: str, *, agent: str = "", now: float) -> LessonOutcome:
    """The outcome with where its words would go and what a verdict would be worth."""
    lesson, patch = outcome.lesson, outcome.lesson.patch
    if not lesson.is_worded or patch.form not in TOLD or lesson.standing.stage is LessonStage.CLAIMED:
        return outcome
    judge = (agent if outcome.most.attempts else UNTRIABLE) if agent else _judge(outcome, model)
    return replace(outcome, goes_to=_places(home, patch, now), judge=judge)


def _places(home: Home, patch: Patch, now: float) -> tuple[str, ...]:
    if patch.form is Form.NOTE:
        return (f"{patch.name.partition('/')[0]}.md in Whet's own memory",)
    if patch.form is Form.SKILL:
        folders = (target.skills for target in targets.load(home) if target.skills)
        return (f"skills/{patch.name} in Whet's home", *dict.fromkeys(folders))
    item = Item(Form.RULE, patch.name, patch.text, patch.scope, patch.trust)
    where = f" in {_read(home, patch.scope.project)}" if patch.scope.project else ""
    called, paths = readers_of(home, item, now=now)
    installed = (name for name in installed_hosts(home, Path.home(), os.environ) if reads(Reader(name), item))
    hooked = sorted({*called, *installed})
    by_hooks = (f"new sessions of {', '.join(hooked)}{where}",) if hooked else ()
    return (*by_hooks, *paths, f"{OWN_PROMPT}{where}")


def _read(home: Home, project: str) -> str:
    """A project as people read it."""
    with opened(home) as database:
        return KnownProjects(database).shown(project)


def _judge(outcome: LessonOutcome, model: str) -> str:
    if not model:
        return "you: no model is set"
    failed = tuple(name for name in outcome.lesson.seen_by.agents if name != SOURCE)
    warning = f"; it failed in {', '.join(failed)}, for which that is evidence and no proof" if failed else ""
    return f"{model} in Whet's own agent{warning}"
