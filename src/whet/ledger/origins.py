"""Where a change comes from: who wrote it, from what, how often that was seen, and how it was tried; and in words."""

import re
from enum import StrEnum

import msgspec

from whet.values import Value

UNTRIED = "not tried"
THE_PROJECT = "the project"


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
    OTHER_MODEL = "other model"
    NO_HELP = "no help"
    WENT_WELL = "went well"


BASIS_WORDS = {
    PatchBasis.PERSON: "said by a person",
    PatchBasis.RECOVERY: "what worked after a failure",
    PatchBasis.PLACE: "a fact about the machine or project",
    PatchBasis.REMEDY: "what the error says to do",
    PatchBasis.REQUEST: "asked for again and again",
}
PLAIN_WORDS = {
    PatchBasis.OTHER_MODEL: "another model",
    PatchBasis.NO_HELP: "no longer helps",
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
        known = {each.value: words for each, words in BASIS_WORDS.items()}
        place = f" of {origin.place}" if origin.place else ""
        return f"{known.get(basis, basis)} in {counts.words}{place}{_held_back(counts)}"
    return {each.value: words for each, words in PLAIN_WORDS.items()}.get(basis, "")


def _held_back(counts: SessionCounts) -> str:
    """How many of the sessions the words were written from, so that a smaller count beside it surprises nobody."""
    left = counts.sessions - counts.written_from
    if not counts.written_from or left <= 0:
        return ""
    return f", written from the oldest {counts.written_from}: the other {left} can judge it"


_UNTRIED = re.compile(r"(?s)^(.*?)(?:; |^)not tried(?:: (.*))?$")
_TRIED = re.compile(r"(?s)^(.+?); (tried: .*)$")
_SEEN = re.compile(
    r"^(.+?) in (\d+) sessions? of (.+?)(?:, written from the oldest (\d+): the other \d+ can judge it)?$"
)
_FAILED = re.compile(r"^(\w+) in (\d+) of (\d+) sessions$")
_TOLD = re.compile(r"^told in (\d+) sessions in its situation, followed in (\d+) of them$")
_REMINDED = re.compile(r"^reminded of in (\d+) sessions, followed after that in (\d+) of them$")
_ROOM = re.compile(r"^room for what (\d+) sessions show$")
_WENT_WELL = re.compile(r"^a session that went well, of (.*?) in (.*)$")
_BASES = {words: basis.value for basis, words in BASIS_WORDS.items()}
_STEPS = {words: basis.value for basis, words in PLAIN_WORDS.items()}
_WRITERS = (
    (re.compile(r"^from the catalogue$"), PatchWriter.CATALOGUE, ""),
    (re.compile(r"^(?:imported from Hermes|a job of Hermes)"), PatchWriter.IMPORT, "hermes"),
    (re.compile(r"^(?:written|built) by the agent in "), PatchWriter.AGENT, ""),
    (re.compile(r"^(?:written at the command line|set up|setup undone|agents may change it)$"), PatchWriter.PERSON, ""),
)


class OldPatch(Value, frozen=True):
    """What of an old patch is no part of a patch any more."""

    reason: str = ""
    origin: msgspec.Raw = msgspec.Raw(b"")


class OldEntry(Value, frozen=True):
    """What of an old entry is no part of an entry any more."""

    patch: OldPatch = OldPatch()


def origin_of_old_entry(body: bytes) -> PatchOrigin | None:
    """The origin that the body of an old entry states in its reason; None for an entry that has one, or no reason."""
    if b'"reason"' not in body:
        return None
    old = _decoder.decode(body).patch
    return origin_of_old_reason(old.reason) if old.reason and not bytes(old.origin) else None


def origin_of_old_reason(reason: str) -> PatchOrigin:
    """What a sentence of an older Whet says of a change's origin; what has no known form is kept as it was said.

    The words of what it gives are the sentence itself.
    """
    untried = _UNTRIED.match(reason)
    if untried:
        before = origin_of_old_reason(untried[1]) if untried[1] else PatchOrigin()
        return msgspec.structs.replace(before, untried=untried[2] or "")
    if tried := _TRIED.match(reason):
        return msgspec.structs.replace(origin_of_old_reason(tried[1]), said=tried[2])
    return _of_form(reason) or _of_writer(reason)


def _of_form(reason: str) -> PatchOrigin | None:
    """The origin in a sentence that counts sessions, or names a step about something in force."""
    if found := _TOLD.match(reason):
        return _step(PatchBasis.TOLD, int(found[1]), int(found[2]))
    if found := _REMINDED.match(reason):
        return _step(PatchBasis.REMINDED, int(found[1]), int(found[2]))
    if found := _ROOM.match(reason):
        return _step(PatchBasis.ROOM, int(found[1]))
    if found := _WENT_WELL.match(reason):
        place = "" if found[2] == "no project" else found[2]
        return PatchOrigin(PatchWriter.POLICY, found[1], PatchBasis.WENT_WELL, place=place)
    if found := _FAILED.match(reason):
        return PatchOrigin(basis=found[1], counts=SessionCounts(int(found[2]), int(found[3])))
    if found := _SEEN.match(reason):
        counts = SessionCounts(int(found[2]), written_from=int(found[4] or 0))
        return PatchOrigin(basis=_BASES.get(found[1], found[1]), counts=counts, place=found[3])
    return PatchOrigin(PatchWriter.POLICY, basis=_STEPS[reason]) if reason in _STEPS else None


def _of_writer(reason: str) -> PatchOrigin:
    """The words as they are, with who gave them where that is known."""
    for form, writer, named in _WRITERS:
        if form.match(reason):
            return PatchOrigin(writer, named, said=reason)
    return PatchOrigin(said=reason)


def _step(basis: PatchBasis, sessions: int, followed: int = 0) -> PatchOrigin:
    return PatchOrigin(PatchWriter.POLICY, basis=basis, counts=SessionCounts(sessions, followed=followed))


_decoder = msgspec.json.Decoder(OldEntry)
