"""Where a change comes from: who wrote it, from what, how often that was seen, and how it was tried; and in words."""

from enum import StrEnum

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


BASIS_WORDS: dict[str, str] = {
    PatchBasis.PERSON: "said by a person",
    PatchBasis.RECOVERY: "what worked after a failure",
    PatchBasis.PLACE: "a fact about the machine or project",
    PatchBasis.REMEDY: "what the error says to do",
    PatchBasis.REQUEST: "asked for again and again",
}
PLAIN_WORDS: dict[str, str] = {
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
        place = f" of {origin.place}" if origin.place else ""
        return f"{BASIS_WORDS.get(basis, basis)} in {counts.words}{place}{_held_back(counts)}"
    return PLAIN_WORDS.get(basis, "")


def _held_back(counts: SessionCounts) -> str:
    """How many of the sessions the words were written from, so that a smaller count beside it surprises nobody."""
    left = counts.sessions - counts.written_from
    if not counts.written_from or left <= 0:
        return ""
    return f", written from the oldest {counts.written_from}: the other {left} can judge it"
