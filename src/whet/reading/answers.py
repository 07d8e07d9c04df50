"""What a reader or a sceptic answered, line by line: the claims in it, and what cannot be used, with the reason.

Whatever stands in an answer, reading it takes time and memory in proportion to it, and nothing of it is believed: ids
and sessions are looked up among those that were shown, and quotes in the messages that they name.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from whet.ledger.patches import digest
from whet.lessons.claim_evidence import CheckedQuote
from whet.lessons.claims import (
    MOST_LETTERS,
    CheckPlace,
    Claim,
    ClaimCarrier,
    ClaimCheck,
    ClaimOperation,
    ClaimSource,
    DroppedClaim,
    Quote,
)
from whet.text import fields
from whet.text.fields import Unreadable, parse
from whet.trouble.values import JudgedMessages

MOST_BYTES = 1 << 20
MOST_LINES = 200
MOST_QUOTES = 20
LINE_SHOWN = 160
ID_LETTERS = 8
NOTHING = "nothing"
CORRECTIONS = "corrections"
FOUND_BY_WORDS = -1  # the message of a quote from the only session there is
SCEPTICS = {
    "keep": ClaimOperation.KEEP,
    "sharpen": ClaimOperation.SHARPEN,
    "drop": ClaimOperation.RETIRE,
}
READERS = {each.value: each for each in ClaimOperation if each is not ClaimOperation.KEEP}
_FENCE = re.compile(r"^\s*```")

NO_JSON = "there is no JSON line in the answer"
TOO_LONG = f"the answer is longer than {MOST_BYTES >> 20} MB"
NOT_JSON = "the line is no JSON object"
NO_QUOTE = "none of its quotes holds"


class Shown(NamedTuple):
    """What stood in the question: of which project, the sessions by the ids that were shown, and the claims.

    `people` has the messages of people that were shown of each session, by its whole id.
    """

    project: str
    sessions: Mapping[str, str]
    claims: frozenset[str]
    operations: Mapping[str, ClaimOperation] = READERS
    people: Mapping[str, tuple[int, ...]] = {}


class ClaimsRead(NamedTuple):
    """The claims of an answer, and what could not be used; neither where it says that there is nothing.

    `judged` tells the corrections among the messages of people, by session; None where the answer did not.
    """

    claims: tuple[Claim, ...] = ()
    dropped: tuple[DroppedClaim, ...] = ()
    judged: Mapping[str, JudgedMessages] | None = None


class _Unusable(Exception):
    """Why a line cannot be used."""


def read_answer(text: str, shown: Shown) -> ClaimsRead:
    """The claims of an answer as far as they are well-formed, about what was shown."""
    if len(text) > MOST_BYTES or len(text.encode("utf-8", "replace")) > MOST_BYTES:
        return ClaimsRead(dropped=(_dropped(text, TOO_LONG),))
    claims: list[Claim] = []
    dropped: list[DroppedClaim] = []
    named = dict.fromkeys(shown.claims, "")
    names: dict[str, str] = {}  # by which the answer itself calls what is new in it
    judged: Mapping[str, JudgedMessages] | None = None
    is_empty = True
    for line, value in objects(text):
        is_empty = False
        if len(claims) + len(dropped) >= MOST_LINES:
            dropped.append(_dropped(line, f"an answer has at most {MOST_LINES} lines"))
            break
        try:
            if value is not None and shown.people and fields.text(value, "op") == CORRECTIONS:
                judged = _judged(value, shown)
                continue
            claim = _claim(value, shown, {**named, **dict.fromkeys(names.values(), "")}, names)
        except _Unusable as why:
            dropped.append(_dropped(line, str(why)))
            continue
        if claim is not None:
            claims.append(claim)
    if is_empty:
        return ClaimsRead(dropped=(_dropped(text, NO_JSON),))
    return ClaimsRead(tuple(claims), tuple(dropped), judged)


def _judged(value: dict[str, Any], shown: Shown) -> dict[str, JudgedMessages]:
    """The corrections among the messages of people that were shown; what is no such message is none."""
    given = value.get("messages")
    if not isinstance(given, dict):
        raise _Unusable("messages must be an object: the ids of sessions, each with the numbers of its messages")
    named: dict[str, set[int]] = {}
    for session, numbers in given.items():
        found = shown.sessions.get(session) or _longer(session, shown.sessions)
        named[found] = {each for each in numbers if isinstance(each, int)} if isinstance(numbers, list) else set()
    return {
        session: JudgedMessages(people, tuple(at for at in people if at in named.get(session, ())))
        for session, people in shown.people.items()
    }


def with_exact_quotes(answer: ClaimsRead, checked: Mapping[Quote, CheckedQuote]) -> ClaimsRead:
    """The answer without quotes that are not in their messages, nor the claims that then rest on nothing."""
    claims: list[Claim] = []
    dropped = list(answer.dropped)
    for claim in answer.claims:
        exact = tuple(quote for quote in claim.quotes if quote in checked and checked[quote].is_exact)
        if claim.quotes and not exact and claim.operation is not ClaimOperation.SHARPEN:
            why = next((checked[quote].why for quote in claim.quotes if quote in checked), "")
            dropped.append(DroppedClaim(claim, f"{NO_QUOTE}: {why}" if why else NO_QUOTE))
        else:
            claims.append(replace(claim, quotes=exact))
    return ClaimsRead(tuple(claims), tuple(dropped), answer.judged)


def faults(answer: ClaimsRead) -> str:
    """What is wrong with an answer, a line each, as its reader is told."""
    return "\n".join(f"- {each.claim.rule[:LINE_SHOWN] or each.claim.id}: {each.why}" for each in answer.dropped)


def objects(text: str) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """The objects of an answer: one a line, or all in one list; a line that begins as one and is none is None."""
    whole = _value(text)
    if isinstance(whole, list):
        for each in whole:
            yield str(each)[:LINE_SHOWN], each if isinstance(each, dict) else None
        return
    if isinstance(whole, dict):
        yield text, whole
        return
    for line in text.splitlines():
        if line.lstrip().startswith("{") and not _FENCE.match(line):
            value = _value(line)
            yield line, value if isinstance(value, dict) else None


def _value(text: str) -> object:
    try:
        return parse(text.strip().encode("utf-8", "replace"))
    except Unreadable:
        return None


def _claim(value: dict[str, Any] | None, shown: Shown, known: Mapping[str, str], names: dict[str, str]) -> Claim | None:
    """The claim of one object; None where it says that there is nothing. Raises _Unusable with the reason."""
    if value is None:
        raise _Unusable(NOT_JSON)
    op = fields.text(value, "op").strip().lower()
    if op == NOTHING:
        return None
    operation = shown.operations.get(op)
    if operation is None:
        raise _Unusable(f"op must be one of {', '.join((*shown.operations, NOTHING))}")
    rule = " ".join(fields.text(value, "rule").split())
    if len(rule) > MOST_LETTERS:
        raise _Unusable(f"the rule has {len(rule)} characters, and may have {MOST_LETTERS}")
    claim = Claim(
        operation,
        _id(value, operation, rule, shown, known, names),
        rule,
        fields.text(value, "situation").strip(),
        fields.text(value, "scope").strip() or "project",
        _one_of(ClaimSource, value, "source", ClaimSource.RECOVERY),
        _one_of(ClaimCarrier, value, "carrier", ClaimCarrier.FILE),
        fields.text(value, "told").strip(),
        tuple(_quotes(value, shown)),
        _check(value),
        confidence=_confidence(value),
        why=fields.text(value, "why").strip(),
    )
    if operation in (ClaimOperation.NEW, ClaimOperation.SUPPORT, ClaimOperation.CONTRADICT) and not claim.quotes:
        raise _Unusable("it has no quotes")
    return claim


def _id(
    value: dict[str, Any],
    operation: ClaimOperation,
    rule: str,
    shown: Shown,
    known: Mapping[str, str],
    names: dict[str, str],
) -> str:
    """The id of what a claim is about. A new one gets its own from its words; its reader's name for it leads there."""
    given = fields.text(value, "id").strip()
    if operation is not ClaimOperation.NEW:
        found = names.get(given, given)
        if found not in known:
            raise _Unusable(f"there is no claim {given[:LINE_SHOWN] or 'without an id'}")
        return found
    if not rule:
        raise _Unusable("it has no rule")
    made = digest(f"{shown.project}\n{rule.casefold()}")[:ID_LETTERS]
    names[given or made] = made
    return made


def _quotes(value: dict[str, Any], shown: Shown) -> Iterator[Quote]:
    given = value.get("quotes")
    if given is not None and not isinstance(given, list):
        raise _Unusable("quotes must be a list")
    for each in (given or [])[:MOST_QUOTES]:
        if not isinstance(each, dict):
            raise _Unusable("a quote must be an object with session, message and words")
        session, message = fields.text(each, "session").strip(), each.get("message")
        if len(shown.sessions) == 1 and not session and message is None:
            session, message = next(iter(shown.sessions)), FOUND_BY_WORDS
        found = shown.sessions.get(session) or _longer(session, shown.sessions)
        if not found:
            raise _Unusable(f"no session {session[:LINE_SHOWN]!r} was shown")
        if not isinstance(message, int) or isinstance(message, bool):
            raise _Unusable("the message of a quote must be its number")
        yield Quote(found, message, fields.text(each, "words").strip())


def _longer(given: str, sessions: Mapping[str, str]) -> str:
    """The session whose id begins with more letters than were shown."""
    return next((id for short, id in sessions.items() if given.startswith(short) and id.startswith(given)), "")


def _check(value: dict[str, Any]) -> ClaimCheck | None:
    given = value.get("check")
    if given is None:
        return None
    if not isinstance(given, dict):
        raise _Unusable("check must be an object or null")
    fails = fields.text(given, "fails")
    if not fails:
        return None
    return ClaimCheck(_one_of(CheckPlace, given, "on", CheckPlace.COMMAND), fails, fields.text(given, "works"))


def _one_of(kinds: Any, value: dict[str, Any], name: str, usual: Any) -> Any:
    given = fields.text(value, name).strip().lower()
    if not given:
        return usual
    try:
        return kinds(given)
    except ValueError:
        raise _Unusable(f"{name} must be one of {', '.join(kinds)}") from None


def _confidence(value: dict[str, Any]) -> float:
    given = value.get("confidence", 0.5)
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    return min(max(float(given), 0.0), 1.0) if is_number else 0.5


def _dropped(line: str, why: str) -> DroppedClaim:
    return DroppedClaim(Claim(ClaimOperation.NEW, "", line.strip()[:LINE_SHOWN]), why)


def short_ids(sessions: Sequence[str]) -> dict[str, str]:
    """The sessions by the beginnings of their ids, as long as tells them apart."""
    letters = ID_LETTERS
    while len({each[:letters] for each in sessions}) < len(set(sessions)):
        letters += 1
    return {each[:letters]: each for each in sessions}
