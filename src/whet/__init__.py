"""Whet makes an AI agent better from its own sessions, and proves it before it keeps anything.

docs/api.md describes what is here for programs. Each name is loaded when it is first used.
"""

__version__ = "0.1.0"

__all__ = [
    "Analysis",
    "Audit",
    "Hit",
    "Intervention",
    "Item",
    "Lesson",
    "Message",
    "Redacted",
    "Session",
    "SessionFilters",
    "SessionTrouble",
    "Skipped",
    "Store",
    "Template",
    "Transcript",
    "Trouble",
    "Verdict",
    "WhetError",
    "analyse",
    "audit",
    "judge",
    "mine",
    "read",
    "redact",
    "troubles",
    "warm_start",
]

TYPE_CHECKING = False  # checkers take it for true; `typing` itself would cost a good part of the start
if TYPE_CHECKING:
    from whet.agents.formats.source import Skipped
    from whet.api.judging import judge
    from whet.api.reading import analyse, audit, read, troubles
    from whet.api.stored import SessionFilters, Store
    from whet.api.warming import mine, warm_start
    from whet.errors import WhetError
    from whet.evidence.verdicts import Verdict
    from whet.ledger.entries import Item
    from whet.lessons.record import Lesson
    from whet.lessons.statements.audit import Audit
    from whet.own.examples.templates import Template
    from whet.secrets.redactor import Redacted, redact
    from whet.sessions.transcripts import Message, Transcript
    from whet.store.rows import Session
    from whet.store.search import Hit
    from whet.trouble.outcomes.view import Analysis
    from whet.trouble.values import Intervention, SessionTrouble, Trouble
else:
    _PLACES = {
        "analyse": "api.reading",
        "audit": "api.reading",
        "judge": "api.judging",
        "read": "api.reading",
        "SessionFilters": "api.stored",
        "Store": "api.stored",
        "troubles": "api.reading",
        "mine": "api.warming",
        "warm_start": "api.warming",
        "WhetError": "errors",
        "Verdict": "evidence.verdicts",
        "Template": "own.examples.templates",
        "Analysis": "trouble.outcomes.view",
        "Lesson": "lessons.record",
        "Skipped": "agents.formats.source",
        "Item": "ledger.entries",
        "Redacted": "secrets.redactor",
        "redact": "secrets.redactor",
        "Message": "sessions.transcripts",
        "Transcript": "sessions.transcripts",
        "Audit": "lessons.statements.audit",
        "Hit": "store.search",
        "Session": "store.rows",
        "Intervention": "trouble.values",
        "SessionTrouble": "trouble.values",
        "Trouble": "trouble.values",
    }

    def __getattr__(name: str) -> object:
        from importlib import import_module  # noqa: PLC0415 - the commands start without it

        if name not in _PLACES:
            raise AttributeError(f"module 'whet' has no attribute {name!r}")
        return getattr(import_module(f"whet.{_PLACES[name]}"), name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
