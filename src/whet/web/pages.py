"""Which view answers at which address, and all that stand by themselves in one file for a colleague or an issue."""

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from whet.ledger.folding import fold
from whet.secrets.redactor import Redactor
from whet.store.database import Database
from whet.store.records import all_progress
from whet.store.session_facts import state_of_sessions
from whet.trials.design import TrialProgress
from whet.web.cache import FilteredSessions, PageCache, PageRequest
from whet.web.html import mapped
from whet.web.layout import FramedView, whole_file
from whet.web.site import IN_FILE, PageFilter, PageLinks, moment
from whet.web.views import entries, files, lessons, overview, session, sessions, trials, trouble, work

Page = Callable[[PageRequest], FramedView]
PAGES: tuple[tuple[str, Page], ...] = (
    ("/", overview.show),
    ("/trouble", trouble.show),
    ("/sessions", sessions.show),
    ("/session/{part}", session.show),
    ("/lessons", lessons.show),
    ("/files", files.show),
    ("/work", work.show),
    ("/rule/{part:path}", entries.show_rule),
    ("/trials", trials.show),
    ("/trial/{part:path}", trials.show_one),
)
_HOME = re.compile(r"(?<![\w/])/(?:home|Users)/[^/\s\"'<>]+")


def menu(ask: PageRequest) -> frozenset[str]:
    """The views that have something to show."""
    decided = ask.entries
    has_trials = any(each.verdict for each in decided) or any(each.canary for each in fold(decided).items)
    held = {
        "overview": True,
        "lessons": bool(ask.looked.everything or decided),
        "files": any(os.path.isdir(folder) for folder in {fact.folder for fact in ask.looked.everything} if folder),
        "sessions": bool(ask.looked.everything),
        "work": bool(ask.looked.everything),
        "trials": has_trials or bool(all_progress(ask.database, TrialProgress)),
    }
    return frozenset(name for name, is_filled in held.items() if is_filled)


def export(cache: PageCache, database: Database, *, css: str, now: float, with_texts: bool) -> str:
    """One document with every view that stands by itself; without the texts of sessions unless they are asked for."""
    cache.lessons.wait(state_of_sessions(database))
    looked = cache.look(database, PageFilter())
    looked = looked if with_texts else _without_texts(looked)
    site = PageLinks(is_file=True, projects=cache.naming())
    asked = PageRequest(site, database, cache, looked, part="", given={}, now=now, with_texts=with_texts)
    pages = dict(PAGES)
    filled = menu(asked) | {"trouble"}
    parts = [pages["/" if name == "overview" else f"/{name}"](asked) for name in IN_FILE if name in filled]
    texts = "" if with_texts else " Titles, quotes and causes, which are words of sessions, are left out."
    about = f"Made by whet page --export on {moment(now)}. Secrets and home folders were replaced.{texts}"
    return whole_file(redacted(parts), css=css, title="Whet", about=about)


def _without_texts(looked: FilteredSessions) -> FilteredSessions:
    """The same sessions without their titles, and their trouble without its cause: both are words of the sessions."""
    facts, everything = (
        tuple(replace(fact, title="") for fact in found) for found in (looked.facts, looked.everything)
    )
    troubles = {
        id: replace(found, troubles=tuple(replace(one, cause="") for one in found.troubles))
        for id, found in looked.troubles.items()
    }
    return looked._replace(facts=facts, everything=everything, troubles=troubles)


def redacted(parts: Sequence[FramedView]) -> list[FramedView]:
    """The views with every text in them cleaned: of secrets, and of the names of people in its paths."""
    redactor, own = Redactor(), str(Path.home())

    def clean(text: str) -> str:
        return _HOME.sub("~", redactor.text(text).replace(own, "~") if len(own) > 1 else redactor.text(text))

    return [part._replace(title=clean(part.title), body=mapped(part.body, clean)) for part in parts]
