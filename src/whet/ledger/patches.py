"""Patches: changes to what an agent is told, as values; where each comes from, and in words."""

import hashlib
import re
from collections.abc import Iterable
from enum import StrEnum

import msgspec

from whet.sessions.trust import Trust, lowest
from whet.values import Value

UNTRIED = "not tried"
THE_PROJECT = "the project"
DIGEST_BYTES = 16
PROJECT_LETTERS = 400
# Below this a text is foreign: it, or something that it was made from, was written by a tool or a stranger.
TRUSTED = Trust.AGENT
_WORD = r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?"
_PIECE = r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}"
# Names of models and tools come from sessions and may be shown beside a rule: one word, and no sentence.
_SCOPE_WORD = re.compile(r"[A-Za-z0-9_.:/@*+-]{1,100}")
_PLAIN_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d+")


class PatchWriter(StrEnum):
    """Who found the words of a change."""

    UNKNOWN = "unknown"
    PERSON = "person"
    PATTERN = "pattern"  # from evidence, by a sentence pattern
    MODEL = "model"  # from evidence
    AGENT = "agent"
    CATALOGUE = "catalogue"
    POLICY = "policy"  # Whet's own step about something in force
    IMPORT = "import"  # another program's home


class PatchBasis(StrEnum):
    """What a change was written from, besides the kinds of failure that are counted."""

    PERSON = "person"
    RECOVERY = "recovery"
    PLACE = "place"
    REMEDY = "error_remedy"
    REQUEST = "repeated_request"
    TOLD = "told"
    REMINDED = "reminded"
    ROOM = "room"
    NO_HELP = "no help"
    WENT_WELL = "went well"


BASIS_WORDS: dict[str, str] = {
    PatchBasis.PERSON: "said by a person",
    PatchBasis.RECOVERY: "what worked after a failure",
    PatchBasis.PLACE: "a fact about the machine or project",
    PatchBasis.REMEDY: "what the error says to do",
    PatchBasis.REQUEST: "asked for again and again",
}


class SessionCounts(Value, frozen=True):
    """How often it was seen: in so many sessions, among so many; written from the oldest few; followed in some."""

    sessions: int = 0
    among: int = 0  # none where all of them show it
    written_from: int = 0  # none where it was written from all
    followed: int = 0

    @property
    def words(self) -> str:
        """The number of sessions, as it stands in the words of an origin."""
        if self.among:
            return f"{self.sessions} of {self.among} sessions"
        return f"{self.sessions} session{'' if self.sessions == 1 else 's'}"


class PatchOrigin(Value, frozen=True):
    """Where a change comes from. `named` is the model, agent or program that wrote it; `basis` what it wrote from.

    `said` are words that the writer gave, told as they are. `untried` says why there was no trial; it is None where
    there was one, or where nobody has come to it yet.
    """

    writer: PatchWriter = PatchWriter.UNKNOWN
    named: str = ""
    basis: str = ""
    counts: SessionCounts = SessionCounts()
    place: str = ""
    trial: str = ""
    untried: str | None = None
    said: str = ""

    @property
    def why(self) -> str:
        """Why it was proposed, in words, without how it was tried."""
        tried = f"tried in trial {self.trial}" if self.trial else ""
        return "; ".join(part for part in (_basis_words(self), self.said, tried) if part)

    @property
    def words(self) -> str:
        """All of it, in words."""
        why = self.why
        if self.untried is None:
            return why
        return f"{why}; {self.untried_words}" if why else self.untried_words

    @property
    def untried_words(self) -> str:
        """That it was not tried, and why where that is known."""
        return f"{UNTRIED}: {self.untried}" if self.untried else UNTRIED


def _basis_words(origin: PatchOrigin) -> str:
    counts, basis = origin.counts, origin.basis
    if basis == PatchBasis.TOLD:
        return f"told in {counts.sessions} sessions in its situation, followed in {counts.followed} of them"
    if basis == PatchBasis.REMINDED:
        return f"reminded of in {counts.sessions} sessions, followed after that in {counts.followed} of them"
    if basis == PatchBasis.ROOM:
        return f"room for what {counts.sessions} sessions show"
    if basis == PatchBasis.WENT_WELL:
        return f"a session that went well, of {origin.named} in {origin.place or 'no project'}"
    if basis and counts.sessions:
        place = f" of {origin.place}" if origin.place else ""
        return f"{BASIS_WORDS.get(basis, basis)} in {counts.words}{place}{_held_back(counts)}"
    return "no longer helps" if basis == PatchBasis.NO_HELP else ""


def _held_back(counts: SessionCounts) -> str:
    """How many of the sessions the words were written from, so that a smaller count beside it surprises nobody."""
    left = counts.sessions - counts.written_from
    if not counts.written_from or left <= 0:
        return ""
    return f", written from the oldest {counts.written_from}: the other {left} can judge it"


class Form(StrEnum):
    """What a patch changes."""

    RULE = "rule"
    NOTE = "note"
    SKILL = "skill"
    FILE = "file"  # a skill's support file
    TEMPLATE = "template"
    JOB = "job"
    STATEMENT = "statement"  # lines of a file that agents read


class Action(StrEnum):
    """What a patch does to it."""

    ADD = "add"
    CHANGE = "change"
    REMOVE = "remove"


NAMES = {
    Form.RULE: re.compile(_WORD),
    Form.NOTE: re.compile(rf"(?:memory|user)/{_WORD}"),
    Form.SKILL: re.compile(_WORD),
    Form.FILE: re.compile(rf"{_WORD}/(?:references|templates|scripts|assets)(?:/{_PIECE}){{1,4}}"),
    Form.TEMPLATE: re.compile(_WORD),
    Form.JOB: re.compile(_WORD),
    Form.STATEMENT: re.compile(r"/[^\x00-\x1f#]{1,1000}#[0-9]{1,7}-[0-9]{1,6}-[0-9]{1,6}"),
}


class Scope(Value, frozen=True):
    """Where a rule holds; an empty part means everywhere. Purposes are interactive and unattended.

    A project is named by its repository, else by its folder. What is for `at_start` is told by the hook when a session
    starts, and left out of files that only agents with hooks read. What is for `at_call` is told again by the hook of a
    call in the form that goes wrong.
    """

    models: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    purposes: tuple[str, ...] = ()
    project: str = ""
    at_start: bool = False
    at_call: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        """Where and when the rule is told, for people."""
        start = ("the start of a session",) if self.at_start else ()
        call = ("a reminder at the call",) if self.at_call else ()
        project = (self.project,) if self.project else ()
        return (*self.models, *self.tools, *self.purposes, *project, *start, *call)


class Proof(Value, frozen=True):
    """One piece of evidence: where a signal was seen, its kind and its redacted words."""

    session: str
    message: int | None = None
    kind: str = ""
    quote: str = ""


class RuleSituation(Value, frozen=True):
    """What a rule is for: the call that goes wrong, its error and what works instead, or what is to be run before the
    call, or what a person keeps saying.
    """

    call: str = ""
    error: str = ""
    fix: str = ""
    said: str = ""
    before: str = ""  # a command


class Patch(Value, frozen=True):
    """One change, with its origin and its evidence. `before` is the digest of what it replaces, empty for nothing.

    A name is a rule's id, `/path/of/file#LINE-BEFORE-AFTER` of a statement (the lines of the passage and how many they
    are before and after), `memory/ID` or `user/ID` of a note, a skill's name, or `SKILL/references/x.md`. The example
    of a rule is told with it to tiny models alone.
    """

    form: Form
    action: Action
    name: str
    text: str = ""
    scope: Scope = Scope()
    origin: PatchOrigin = PatchOrigin()
    trust: Trust = Trust.EXTERNAL
    proofs: tuple[Proof, ...] = ()
    before: str = ""
    situation: RuleSituation = RuleSituation()
    example: str = ""

    @property
    def id(self) -> str:
        """What a person approves: the exact text, what becomes of it, and where it came from."""
        parts = (self.form, self.action, self.name, self.text, self.scope, self.trust.label, self.before)
        body = msgspec.json.encode((*parts, self.example) if self.example else parts)
        return hashlib.blake2b(body, digest_size=DIGEST_BYTES).hexdigest()

    @property
    def reason(self) -> str:
        """Where it comes from, in words for people."""
        return self.origin.words

    @property
    def after(self) -> str:
        """The digest of what stands there when it is applied."""
        return "" if self.action is Action.REMOVE else digest(self.text)

    @property
    def is_foreign(self) -> bool:
        """Whether a person has to approve it."""
        return self.trust < TRUSTED


def digest(text: str | None) -> str:
    """The content hash of a text; empty for a text that is not there."""
    if text is None:
        return ""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).hexdigest()


def derived(patch: Patch, lineage: Iterable[Trust]) -> Patch:
    """The patch as one that was made from texts of these trusts: never trusted more than the lowest of them."""
    return msgspec.structs.replace(patch, trust=lowest((patch.trust, *lineage)))


def is_named(patch: Patch) -> bool:
    """Whether its name is one of its form; no other name ever becomes a path."""
    return NAMES[patch.form].fullmatch(patch.name) is not None and ".." not in patch.name


def is_scoped(patch: Patch) -> bool:
    """Whether its scope holds names alone."""
    words = (*patch.scope.models, *patch.scope.tools, *patch.scope.purposes)
    project = patch.scope.project
    named = len(project) <= PROJECT_LETTERS and project.isprintable()
    return named and all(_SCOPE_WORD.fullmatch(word) for word in words)


def marks(patch: Patch) -> frozenset[str]:
    """Where two changes share a mark, whoever never wants the one does not want the other."""
    if patch.action is Action.REMOVE:
        return frozenset({digest(f"remove {patch.form} {patch.name}")})
    situation, found = patch.situation, set()
    if words := _plain(patch.text):
        found.add(digest(f"text {words}"))
    if situation.call and situation.error:
        error = _plain(_NUMBER.sub("", situation.error))
        found.add(digest(f"situation {patch.scope.project} {_plain(situation.call)} {error}"))
    return frozenset(found)


def _plain(text: str) -> str:
    return " ".join(_PLAIN_WORD.findall(text.lower()))
