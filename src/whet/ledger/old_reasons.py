"""The reasons of entries from before changes had an origin, which were sentences: read here once, and nowhere else."""

import re

import msgspec

from whet.ledger.origins import BASIS_WORDS, PLAIN_WORDS, PatchBasis, PatchOrigin, PatchWriter, SessionCounts
from whet.values import Value

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
