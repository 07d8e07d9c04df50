"""Claims: what a reader says that sessions teach, one operation a line, kept as an append-only log.

The log of claims folded: what is claimed now, with all of its quotes, and what counts for nothing and why.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum

from msgspec.structs import replace

from whet.text.words import cut
from whet.trouble.values import JudgedMessages
from whet.values import Value

MOST_LETTERS = 300  # of a rule
MOST_CLAIMS = 300  # of a pass
MOST_QUOTES = 60  # of a claim
RULE_LETTERS, TEXT_LETTERS, WORDS_LETTERS, PATTERN_LETTERS = 1_000, 500, 1_000, 2_000
LAST_MESSAGE = 2**31 - 1

NO_ID, NO_RULE, NO_QUOTES = "it has no id", "it has no rule", "nothing is quoted for it"
UNKNOWN = "it is about a claim that there is not"
TAKEN = "another claim has its id"
TOO_LONG = f"its rule is longer than {MOST_LETTERS} letters"
NO_REASON = "nobody says why"
NOT_THEIRS = "only a sceptic lets a claim stand"


class ClaimOperation(StrEnum):
    """What a claim does to what was claimed before it."""

    NEW = "new"
    SUPPORT = "support"  # more quotes for a claim
    SHARPEN = "sharpen"  # better words for it
    CONTRADICT = "contradict"  # quotes against it
    RETIRE = "retire"  # it no longer holds
    KEEP = "keep"  # the sceptic lets it stand; no reader may say it


class ClaimSource(StrEnum):
    """What shows that a claim is true."""

    REMEDY = "error_remedy"  # the same error in several sessions, and what ends it
    FACT = "fact"  # of the project or the machine
    REQUEST = "repeated_request"  # the same wish at the end of the work
    PERSON = "person"  # a correction, a refusal with words, a standing order
    RECOVERY = "recovery"  # one form failed, another worked
    TRAP = "trap"  # the same root cause twice


class ClaimCarrier(StrEnum):
    """Where the reader would tell it."""

    FILE = "file"
    SKILL = "skill"
    REMINDER = "reminder"
    FIX_THE_FILE = "fix_the_file"  # a file that agents read says something wrong


class Quote(Value, frozen=True):
    """Words of one message of a session."""

    session: str
    message: int
    words: str


class CheckPlace(StrEnum):
    """Where the patterns of a check look."""

    COMMAND = "command"
    PATH = "path"
    ERROR = "error"


class ClaimCheck(Value, frozen=True):
    """How code finds the situation of a claim again: regular expressions for what fails, and for what works instead."""

    on: CheckPlace
    fails: str
    works: str = ""


class Claim(Value, frozen=True):
    """One operation of a reader. `id` names the claim that it is about; a new one has the id that it was given.

    `told` quotes the line of a file that says it already. The scope is "project", a path pattern, or "person".
    `why` is said of what is contradicted, retired or kept.
    """

    operation: ClaimOperation
    id: str
    rule: str = ""
    situation: str = ""
    scope: str = "project"
    source: ClaimSource = ClaimSource.RECOVERY
    carrier: ClaimCarrier = ClaimCarrier.FILE
    told: str = ""
    quotes: tuple[Quote, ...] = ()
    check: ClaimCheck | None = None
    confidence: float = 0.5
    why: str = ""


class ClaimAuthor(StrEnum):
    """In which part somebody claims."""

    READER = "reader"
    SCEPTIC = "sceptic"
    REVIEW = "review"  # of a session of Whet's own agent


class ReadBy(Value, frozen=True):
    """Who claims: the name of an agent or a model, and in which part."""

    name: str
    author: ClaimAuthor = ClaimAuthor.READER


class LoggedClaim(Value, frozen=True):
    """A claim as the log has it: its place there, whose project it is of, when it was made and by whom.

    `misplaced` counts its quotes from sessions that are not in the store, whose words are not kept. One that nobody
    could take as a claim is in the log with the reason, and counts for nothing.
    """

    number: int
    project: str
    at: float
    reader: ReadBy
    claim: Claim
    misplaced: int = 0
    dropped: str = ""  # why it counts for nothing


class DroppedClaim(Value, frozen=True):
    """A claim, or the beginning of a line that was none as the rule of an empty one, and why it counts for nothing."""

    claim: Claim
    why: str


class SessionRead(Value, frozen=True):
    """How far a session was read: by the store's id, its head then, and how many of its messages there were.

    `judged` tells corrections from wishes, where the reader did so.
    """

    session: str
    head: bytes
    messages: int
    judged: JudgedMessages | None = None


class StandingClaim(Value, frozen=True):
    """A claim as it stands: its words now with every quote for it, what is quoted against it, and who doubted it.

    `at` is when its words and its check became what they are; what came up later says whether they were right.
    """

    claim: Claim
    number: int  # of its first entry in the log
    at: float
    reader: ReadBy
    against: tuple[Quote, ...] = ()
    objection: str = ""
    is_doubted: bool = False  # by a sceptic, since its words became what they are
    misplaced: int = 0

    @property
    def sessions(self) -> int:
        """In how many sessions something is quoted for it."""
        return len({quote.session for quote in self.claim.quotes})


class FoldedClaims(Value, frozen=True):
    """What a log comes to."""

    claims: tuple[StandingClaim, ...] = ()
    dropped: tuple[DroppedClaim, ...] = ()


def fold_claims(log: Iterable[LoggedClaim]) -> FoldedClaims:
    """What is claimed after all entries of a log, in the order of their first entry."""
    standing: dict[str, StandingClaim] = {}
    retired: set[str] = set()
    dropped: list[DroppedClaim] = []
    for logged in log:
        claim = logged.claim
        if why := logged.dropped or _fault(logged, standing, retired):
            dropped.append(DroppedClaim(claim, why))
        elif claim.operation is ClaimOperation.RETIRE:
            retired.add(claim.id)
            by = "a sceptic dropped it" if logged.reader.author is ClaimAuthor.SCEPTIC else "it no longer holds"
            why = f"{by}: {claim.why}" if claim.why else by
            dropped.append(DroppedClaim(standing.pop(claim.id).claim, why))
        elif claim.id in standing:
            standing[claim.id] = _changed(standing[claim.id], logged)
        else:
            standing[claim.id] = StandingClaim(
                _once(claim), logged.number, logged.at, logged.reader, misplaced=logged.misplaced
            )
    return FoldedClaims(tuple(standing.values()), tuple(dropped))


def bounded(claims: Sequence[Claim | DroppedClaim]) -> tuple[Claim | DroppedClaim, ...]:
    """What a log takes of an answer, however much that is; the rest is one dropped claim that says how many."""
    kept = tuple(_bounded(each) for each in claims[:MOST_CLAIMS])
    more = len(claims) - len(kept)
    if not more:
        return kept
    return (*kept, DroppedClaim(Claim(ClaimOperation.NEW, ""), f"{more} more claims than a pass may make"))


def _bounded(given: Claim | DroppedClaim) -> Claim | DroppedClaim:
    claim = given.claim if isinstance(given, DroppedClaim) else given
    check = claim.check
    if check is not None and max(len(check.fails), len(check.works)) > PATTERN_LETTERS:
        check = None
    quotes = tuple(
        Quote(_plain(each.session), min(max(each.message, -1), LAST_MESSAGE), _plain(each.words, WORDS_LETTERS))
        for each in claim.quotes[:MOST_QUOTES]
    )
    small = replace(
        claim,
        id=_plain(claim.id),
        rule=cut(_plain(claim.rule, 2 * RULE_LETTERS), RULE_LETTERS),
        situation=_plain(claim.situation),
        scope=_plain(claim.scope),
        told=_plain(claim.told),
        why=_plain(claim.why),
        quotes=quotes,
        check=check,
    )
    return DroppedClaim(small, _plain(given.why) or NO_REASON) if isinstance(given, DroppedClaim) else small


def _plain(text: str, letters: int = TEXT_LETTERS) -> str:
    """As much of a text as is kept, without what no database takes."""
    return text[:letters].encode("utf-8", "replace").decode().replace("\0", "")


def _fault(logged: LoggedClaim, standing: dict[str, StandingClaim], retired: set[str]) -> str:
    """Why an entry counts for nothing; empty where it counts."""
    claim, known = logged.claim, standing.get(logged.claim.id)
    if not claim.id:
        return NO_ID
    if claim.id in retired:
        return "it is about a claim that was retired"
    if len(claim.rule) > MOST_LETTERS:
        return TOO_LONG
    if claim.operation is ClaimOperation.NEW:
        if not claim.rule.strip():
            return NO_RULE
        return TAKEN if known is not None and known.claim.rule.split() != claim.rule.split() else ""
    if known is None:
        return UNKNOWN
    is_sceptics = logged.reader.author is ClaimAuthor.SCEPTIC
    return NOT_THEIRS if claim.operation is ClaimOperation.KEEP and not is_sceptics else ""


def _changed(known: StandingClaim, logged: LoggedClaim) -> StandingClaim:
    """A claim after one more entry about it."""
    said, claim = logged.claim, known.claim
    counted = replace(known, misplaced=known.misplaced + logged.misplaced)
    match said.operation:
        case ClaimOperation.KEEP:
            return replace(counted, is_doubted=True)
        case ClaimOperation.CONTRADICT:
            against = tuple(dict.fromkeys((*known.against, *said.quotes)))[:MOST_QUOTES]
            return replace(counted, against=against, objection=said.why or known.objection)
        case ClaimOperation.SHARPEN:
            sharper = _sharpened(claim, said)
            is_other = replace(sharper, quotes=()) != replace(claim, quotes=())
            is_doubted = logged.reader.author is ClaimAuthor.SCEPTIC or (known.is_doubted and not is_other)
            return replace(counted, claim=sharper, at=logged.at if is_other else known.at, is_doubted=is_doubted)
        case _:
            return replace(counted, claim=_once(replace(claim, quotes=(*claim.quotes, *said.quotes))))


def _sharpened(claim: Claim, said: Claim) -> Claim:
    """The claim in better words; what they leave out stays as it was."""
    return _once(
        replace(
            claim,
            rule=said.rule if said.rule.strip() else claim.rule,
            situation=said.situation or claim.situation,
            scope=said.scope if said.rule.strip() else claim.scope,
            carrier=said.carrier if said.rule.strip() else claim.carrier,
            told=said.told or claim.told,
            check=said.check or claim.check,
            confidence=said.confidence,
            quotes=(*claim.quotes, *said.quotes),
        )
    )


def _once(claim: Claim) -> Claim:
    return replace(claim, quotes=tuple(dict.fromkeys(claim.quotes))[:MOST_QUOTES])
