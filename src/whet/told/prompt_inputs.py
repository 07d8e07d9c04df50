"""What a prompt is made from, as one frozen value that the edge fills."""

import datetime

from whet.ledger.patches import Scope
from whet.sessions.trust import Trust
from whet.told.passages import Circumstances, Passage
from whet.values import Value


class Material(Value, frozen=True):
    """A text for the prompt, and how far it may be believed."""

    text: str
    trust: Trust


class Rule(Value, frozen=True):
    """A rule in force. A foreign one counts only when a person approved exactly this text."""

    text: str
    trust: Trust
    scope: Scope = Scope()
    is_approved: bool = False
    example: str = ""  # told to tiny models alone


class ContextFile(Value, frozen=True):
    """A file that its repository has for agents; `fault` says why it could not be read.

    Of a very large file only the head and the tail are in `text`, and `unread` is the size of what is between them.
    """

    path: str
    text: str = ""
    trust: Trust = Trust.EXTERNAL
    fault: str = ""
    unread: int = 0


class Budgets(Value, frozen=True):
    """How many tokens each part of the prompt may cost at most."""

    identity: int = 4_000
    skills: int = 4_000
    rules: int = 2_000
    file: int = 5_000
    files: int = 15_000
    memory: int = 1_000
    user: int = 600
    external: int = 1_000


class Sources(Value, frozen=True):
    """Everything that the prompt depends on. Guidance comes in with it, so that a person's own can be added."""

    setting: Circumstances = Circumstances()
    guidance: tuple[Passage, ...] = ()
    identity: Material | None = None  # SOUL.md; without one the guidance has a default
    skills: Material | None = None  # the index
    rules: tuple[Rule, ...] = ()  # the oldest first
    caller: Material | None = None
    files: tuple[ContextFile, ...] = ()  # the outermost first
    with_files: bool = True
    memory: Material | None = None
    user: Material | None = None
    external: Material | None = None
    date: datetime.date | None = None
    session: str = ""
    warnings: tuple[str, ...] = ()  # of whoever filled this, for the person
    budgets: Budgets = Budgets()
