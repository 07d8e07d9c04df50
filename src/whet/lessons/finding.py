"""What one session teaches: its condensed form, what people said, what changed where calls went wrong, its original."""

import re
from bisect import bisect
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import re2
from msgspec.structs import replace

from whet.lessons.changed_calls import CallCourse, SessionChanges, changes_of
from whet.lessons.condensed import CondensedSession
from whet.lessons.condensing import condense
from whet.lessons.instructions import SeenInstruction, seen_instructions
from whet.lessons.record import LessonPiece, LessonSource
from whet.lessons.simple_calls import CallInParts, in_parts, is_step
from whet.sessions.lineage import is_persons_refusal, is_typed, is_vouched
from whet.sessions.transcripts import Role, Transcript
from whet.sessions.trust import Trust
from whet.trouble.outcomes.deciding import Outcome, refusal_words
from whet.trouble.outcomes.view import SessionView, gather
from whet.values import Value

MESSAGE_LETTERS = 1_000  # what is longer holds what somebody else wrote
MESSAGE_LINES = 12
FEWEST_WORDS, MOST_WORDS = 3, 40
MOST_SAID = 60
RETYPED = 0.8
MOST_MARKS = 60
MARK_LETTERS = 60
OPENING = 200  # letters of the first message
HEAD_WORDS = 3
_PATH = re.compile(r"(?:file_path|path|notebook_path|filename|target_file)=")
_INSERTED = re2.compile(r"(?s)<([a-z][\w-]*)>.*?</[a-z][\w-]*>|```.*?```|https?://\S+|\[image[^\]]*\]")
_SENTENCE = re2.compile(r"[.!?;。！？]+(?:\s|\z)|\n+|[。！？]")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
# Adverbs of time without end, a closed class of each language. What begins with one, or says "from now on", is an order
# that stands.
_FOR_GOOD = re.compile(
    r"(?i)\b(?:always|never|immer|nie|niemals|stets|toujours|jamais|siempre|nunca|jamás|sempre|mai|zawsze|nigdy|altijd|"
    r"nooit|alltid|aldrig|всегда|никогда|завжди|ніколи)\b|总是|始终|永远|从不|必ず|常に|決して|항상|절대"
)
_FROM_NOW = re.compile(
    r"(?i)\b(?:from (?:now|here) on|ab (?:jetzt|sofort)|von (?:jetzt|nun) an|künftig|zukünftig|désormais|dorénavant|"
    r"à partir de maintenant|de ahora en adelante|a partir de (?:ahora|agora)|d['’]ora in poi|od teraz|voortaan|"
    r"впредь|отныне|с этого момента|надалі)\b|从现在起|从今以后|今後は|앞으로는"
)
# What may stand before the adverb of an order: courtesy, whom it is for, and that it has to be.
_BEFORE = re.compile(
    r"(?i)^(?:please|pls|and|but|so|also|ok|okay|no|yes|then|note|remember|you|we|should|must|can|shall|have|need|to|do|bitte|"
    r"und|aber|auch|nein|ja|du|wir|sollst|musst|sollen|müssen|merk|dir|merke|пожалуйста|и|но|нет|да|ты|мы|вы|надо|нужно|"
    r"запомни|s['’]il|te|vous|plaît|il|faut|nous|on|por|favor|hay|que|nosotros|请|我们|你)$"
)
_ENGLISH = re.compile(r"(?i)^(?:always|never)$")
_NEVER_MIND = re.compile(r"(?i)\bnever ?mind\b|\b(?:as always|wie immer|comme toujours|como siempre|как всегда)\b")


def said_pieces(view: SessionView) -> Iterator[LessonPiece]:
    """What a person typed in a session, each message once, and the words with which they refused a call."""
    begun = False
    earlier: list[frozenset[str]] = []
    done = _done_for(view)
    for index, message in enumerate(view.transcript.messages):
        begun = begun or message.role is Role.AGENT
        if not is_typed(message) or len(earlier) >= MOST_SAID:
            continue
        words = frozenset(message.text.lower().split())
        is_again = any(len(words & other) >= RETYPED * len(words | other) for other in earlier)
        earlier.append(words)
        if not is_again and (text := own_text(message.text)):
            # Words that no record vouches for may be anybody's: what is learned from them waits for a person.
            trust = Trust.USER if is_vouched(message) else Trust.TOOL
            yield replace(_piece(view, index, text, trust), is_first=not begun, did=done.get(index, frozenset()))
    for step in view.steps:
        result = step.exchange.result
        if step.decision.outcome is Outcome.REJECTED and result is not None:
            # A tool can print that the person refused, and why; only the record's own mark vouches for it.
            trust = Trust.USER if is_persons_refusal(result, view.transcript.messages) else Trust.EXTERNAL
            if text := own_text(refusal_words(result.text)):
                yield _piece(view, step.message, text, trust)


def own_text(text: str) -> str:
    """A message without what was pasted into it; nothing of one that is too long to have been typed."""
    plain = _INSERTED.sub(" ", text[: 4 * MESSAGE_LETTERS]).strip()
    if len(plain) > MESSAGE_LETTERS or plain.count("\n") > MESSAGE_LINES:
        return ""
    return "\n".join(" ".join(line.split()) for line in plain.splitlines() if line.strip())


def sentences(text: str) -> Iterator[str]:
    """The sentences of a message."""
    return (sentence for sentence, _ in _with_ends(text))


def standing_sentences(text: str) -> Iterator[str]:
    """The whole sentences that order something for good: always, never, from now on."""
    return (each for each, end in _with_ends(text) if not end.startswith(("?", "？")) and holds_for_good(each))


def holds_for_good(sentence: str) -> bool:
    """Whether a sentence orders something for good."""
    words = _WORD.findall(sentence)
    # A language without spaces has its sentences in one word.
    is_whole = FEWEST_WORDS <= len(words) <= MOST_WORDS or (len(words) == 1 and not sentence.isascii())
    if not is_whole or _NEVER_MIND.search(sentence):
        return False
    if _FROM_NOW.search(sentence):
        return True
    # Within a sentence a word in capitals is a name or a noun: the month of May is no "never".
    found = next((each for each in _FOR_GOOD.finditer(sentence) if not (each.start() and each[0][0].isupper())), None)
    if found is None or ":" in sentence[: found.start()]:
        return False
    before = _WORD.findall(sentence[: found.start()])
    # In most languages the verb of an order may come first; in English it does not.
    is_after_verb = len(before) == 1 and not _ENGLISH.match(found[0])
    return is_after_verb or all(map(_BEFORE.match, before))


def _with_ends(text: str) -> Iterator[tuple[str, str]]:
    """Each sentence with the signs at its end."""
    begin = 0
    for end in (*_SENTENCE.finditer(text), None):
        plain = text[begin : end.start() if end else None].strip(' \t-–*•"“”')
        if plain:
            yield plain, end[0] if end else ""
        begin = end.end() if end else 0


def _done_for(view: SessionView) -> dict[int, frozenset[str]]:
    """By what the calls are known that were made for each message of a person, until they spoke again."""
    typed = [index for index, message in enumerate(view.transcript.messages) if is_typed(message)]
    found: dict[int, set[str]] = {}
    for step in view.steps:
        place = bisect(typed, step.exchange.asked) - 1
        if place >= 0 and step.worked:
            found.setdefault(typed[place], set()).update(marks_of(in_parts(step, view.transcript.folder)))
    return {index: frozenset(sorted(marks)[:MOST_MARKS]) for index, marks in found.items()}


def marks_of(call: CallInParts) -> Iterator[str]:
    """By what a call is known again: its first words, the name of the file that it edits, its short arguments."""
    for part in () if call.looks_at_files else call.parts:
        if call.edits or not is_step(part):
            yield from (word.partition("=")[2].rsplit("/", 1)[-1] for word in part.words[1:] if _PATH.match(word))
            continue
        yield from (" ".join(part.words[:length]) for length in range(1, HEAD_WORDS + 1))
        yield from (word for word in part.words[1:] if "=" in word and len(word) <= MARK_LETTERS)


def _piece(view: SessionView, index: int, text: str, trust: Trust) -> LessonPiece:
    at = view.transcript.messages[index].at
    return LessonPiece(LessonSource.PERSON, view.transcript.id, index, text, trust=trust, at=at)


class SessionOpening(NamedTuple):
    """How a session begins: its first words and when they were said."""

    at: float
    text: str


class SessionTeaching(Value, frozen=True):
    """All that is kept of what a session teaches."""

    pieces: tuple[LessonPiece, ...] = ()  # what people said
    instructions: tuple[SeenInstruction, ...] = ()
    opening: SessionOpening | None = None
    changes: SessionChanges = SessionChanges()
    condensed: CondensedSession | None = None  # what a reader reads of it


def teaching_of(transcript: Transcript) -> SessionTeaching:
    """What a session may teach, and the instructions of its project that its record shows."""
    view = gather(transcript)
    calls = CallCourse(view)
    return SessionTeaching(
        tuple(said_pieces(view)),
        tuple(seen_instructions(view)),
        opening_of(transcript),
        changes_of(calls),
        condense(view, calls),
    )


def opening_of(transcript: Transcript) -> SessionOpening | None:
    """The first words that have a time."""
    said = ((message.at, message.text[:OPENING]) for message in transcript.messages if message.text.strip())
    return next((SessionOpening(at, text) for at, text in said if at is not None), None)


def copied_sessions(openings: Mapping[str, SessionOpening | None]) -> dict[str, str]:
    """The original of each copy: a resumed or forked session begins with the same message at the same moment."""
    first: dict[SessionOpening, str] = {}
    originals = ((id, first.setdefault(each, id)) for id, each in openings.items() if each is not None)
    return {id: original for id, original in originals if original != id}
