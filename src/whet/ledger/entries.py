"""The ledger: every decision as an entry, and the state in force as the fold of the entries."""

from enum import StrEnum
from typing import NamedTuple

from whet.ledger.patches import Form, Patch, RuleSituation, Scope
from whet.sessions.trust import Trust
from whet.values import Value


class Step(StrEnum):
    """What an entry records."""

    PROPOSED = "proposed"  # waits for a person
    SUGGESTED = "suggested"  # another member has it in force; made for the person to see, and never stored
    APPROVED = "approved"
    REFUSED = "refused"
    EXPIRED = "expired"  # nobody decided in time
    ACCEPTED = "accepted"  # a trial says that it helps
    REJECTED = "rejected"
    UNDECIDED = "undecided"  # a trial could not tell
    BEGUN = "begun"  # a file is about to be changed
    ABANDONED = "abandoned"  # what was begun came to nothing
    APPLIED = "applied"
    CANARY = "canary"  # applied for some of the sessions
    PROMOTED = "promoted"
    REVERTED = "reverted"
    UNDONE = "undone"
    REDONE = "redone"


class Actor(StrEnum):
    """Who decided."""

    PERSON = "person"
    POLICY = "policy"
    WATCH = "watch"
    AGENT = "agent"


DECISIONS = frozenset({Step.APPROVED, Step.REFUSED, Step.EXPIRED, Step.REJECTED})
CHANGES = frozenset({Step.APPLIED, Step.CANARY, Step.REVERTED, Step.UNDONE, Step.REDONE})


class Entry(Value, frozen=True):
    """One decision. `about` is the number of the entry that it decides on or turns back.

    `before` and `after` are digests of what the patch changes. `replaced` is the text that stood there where the
    ledger does not hold it, because a person had edited it. Entries of one `batch` were made together and are undone
    together. A begun entry says in `intends` what it will become; what ends it names it in `begun`.
    """

    number: int
    step: Step
    patch: Patch
    actor: Actor
    at: float
    before: str = ""
    after: str = ""
    note: str = ""
    verdict: str = ""
    about: int = 0
    replaced: str | None = None
    begun: int = 0
    intends: Step | None = None
    batch: int = 0
    home: str = ""  # whose files it changes; empty for rules, which are shared
    share: float = 0.0  # of the sessions that a canary is told to
    maker: str = ""  # who entered it, as the database saw it: a role, or an account
    is_never: bool = False  # of a refusal: nothing that says the same is to be proposed again
    tried_on: str = ""  # the model of a trial


class Item(Value, frozen=True):
    """One thing in force, with the number of the entry that put it there. A person's own edit has the number 0.

    >>> import whet
    >>> with whet.Store() as store:
    ...     [rule] = store.rules()
    >>> rule.name, rule.trust.label, rule.canary
    ('read-first', 'operator', False)
    """

    form: Form
    name: str
    text: str
    scope: Scope = Scope()
    trust: Trust = Trust.USER
    since: float = 0.0
    number: int = 0
    canary: bool = False
    home: str = ""
    share: float = 0.0
    bundle: int = 0  # of a canary: the batch of lessons that are drawn for together
    maker: str = ""
    situation: RuleSituation = RuleSituation()
    example: str = ""

    @property
    def key(self) -> "Key":
        return Key(self.form, self.name, self.home)


class Key(NamedTuple):
    """Which thing is meant, and in which home; rules are shared by all and have none."""

    form: Form
    name: str
    home: str = ""


class Change(Value, frozen=True):
    """What one entry did to one thing. `along` are the support files that leave, or come back, with their skill."""

    number: int
    key: Key
    before: Item | None
    after: Item | None
    batch: int = 0
    along: tuple[Item, ...] = ()


class State(Value, frozen=True):
    """What the entries add up to. `done` and `undone` are the stacks of undo and redo, the newest last."""

    number: int = 0  # of the last entry
    items: tuple[Item, ...] = ()
    pending: tuple[Entry, ...] = ()
    done: tuple[Change, ...] = ()
    undone: tuple[Change, ...] = ()
    unfinished: tuple[Entry, ...] = ()
    granted: tuple[Entry, ...] = ()  # approvals of what was not applied yet
    refused: frozenset[str] = frozenset()  # ids of patches
    never: frozenset[str] = frozenset()  # marks of what a person never wants proposed

    @property
    def rules(self) -> tuple[Item, ...]:
        return self.of(Form.RULE)

    @property
    def notes(self) -> tuple[Item, ...]:
        return self.of(Form.NOTE)

    @property
    def skills(self) -> tuple[Item, ...]:
        return self.of(Form.SKILL)

    @property
    def approved(self) -> frozenset[str]:
        """The ids of the patches that a person approved and that were not applied since."""
        return frozenset(entry.patch.id for entry in self.granted)

    def of(self, form: Form) -> tuple[Item, ...]:
        """What of one form is in force, the oldest first."""
        return tuple(item for item in self.items if item.form is form)

    def get(self, form: Form, name: str) -> Item | None:
        return next((item for item in self.items if item.name == name and item.form is form), None)
