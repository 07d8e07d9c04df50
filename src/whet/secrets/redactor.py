"""Secrets replaced by typed placeholders, in a text and in a transcript, before anything is stored."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple, TypeVar

import msgspec

from whet.secrets import looks as values
from whet.secrets import scan
from whet.secrets.scan import FoundSecret, canonical, decoded, encoded, find, kind_of_assignment, literals_of
from whet.sessions import transcripts
from whet.sessions.transcripts import Media, Message, Part, RecordedCheck, Text, ToolCall, ToolResult, Transcript
from whet.values import Value

SHORTEST_KNOWN = 4
SHORTEST_VARIABLE = 6
ROUNDS = 16
MOST_LEARNED = 256

PLACEHOLDER = re.compile(r"\[redacted:[a-z0-9-]{1,40}:[0-9]{1,9}\]")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_COLON = re.compile(r"\s*:")
_AnyValue = TypeVar("_AnyValue", bound=Value)
_Item = TypeVar("_Item")


class Redacted(NamedTuple):
    """A transcript without its secrets, and how many places of each kind were replaced.

    >>> import whet
    >>> [session] = whet.read("examples/sessions/codex")
    >>> clean = whet.redact(session)
    >>> dict(clean.counts), clean.transcript.native_id == session.native_id
    ({'aws-key-id': 1, 'aws-secret-key': 1}, True)
    """

    transcript: Transcript
    counts: Mapping[str, int]


class Redactor:
    """Replaces the secrets of one session, the same secret always by the same placeholder.

    What it does to a text depends only on the texts before it, so that a session which grew keeps what it had.
    A password that was once seen in its context is replaced wherever it comes again.
    """

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._counts: Counter[str] = Counter()
        self._numbers: Counter[str] = Counter()
        self._placeholders: dict[str, str] = {}
        self._secrets_of: dict[str, str] = {}  # as they stood in the text, by placeholder
        self._secrets = {value: "environment" for value in known if len(value) >= SHORTEST_KNOWN}
        self._literals = literals_of((kind, value) for value, kind in self._secrets.items())
        self._learned = False

    @property
    def counts(self) -> Mapping[str, int]:
        """How many places of each kind were replaced so far."""
        return MappingProxyType(self._counts)

    def text(self, text: str) -> str:
        """The text with its secrets replaced; the same object when there are none."""
        if len(text) < SHORTEST_KNOWN:
            return text
        self._pass_over(text)
        self._refresh()
        body = encoded(text)
        changed = False
        # What a replacement leaves beside it may only now show its shape; redacting twice must change nothing.
        for _ in range(ROUNDS):
            findings = find(body, self._literals)
            if not findings:
                break
            body, changed = self._replaced(body, findings), True
            self._refresh()
        return decoded(body) if changed else text

    def arguments(self, text: str) -> str:
        """The JSON text with the secrets in its strings replaced; still valid JSON if it was."""
        self._pass_over(text)
        self._refresh()
        if not find(encoded(text), self._literals):
            return text
        if not _is_json(text):
            return self.text(text)
        pieces: list[str] = []
        done, name = 0, ""
        for match in _STRING.finditer(text):
            string = json.loads(match.group())
            clean = self._assigned(name, string)
            pieces.append(text[done : match.start()])
            pieces.append(match.group() if clean is string else json.dumps(clean, ensure_ascii=False))
            done = match.end()
            is_key = _COLON.match(text, done) is not None
            # `--token` and its value are neighbours in a list; so are a name and its "value".
            if is_key or string.startswith("-") or values.is_secret_name(string):
                name = name if is_key and string in ("value", "Value") else string
            else:
                name = ""
        pieces.append(text[done:])
        redacted = "".join(pieces)
        return text if redacted == text else redacted

    def message(self, message: Message) -> Message:
        """The message with its secrets replaced; the same object when there are none."""
        return _with(message, parts=_each(message.parts, lambda part: _part(self, part)))

    def result(self, result: ToolResult) -> ToolResult:
        """The result with its secrets replaced; the same object when there are none."""
        return _with(result, content=_each(result.content, lambda piece: _piece(self, piece)))

    def has_made(self, placeholder: str) -> bool:
        """Whether this placeholder is one of its own."""
        return placeholder in self._secrets_of

    def secret_of(self, placeholder: str) -> str:
        """The secret that a placeholder of this session stands for; empty where it is not known to the letter."""
        return self._secrets_of.get(placeholder, "")

    def _pass_over(self, text: str) -> None:
        """Give no number again that a placeholder in the text has: it stands for another secret."""
        if "[redacted:" in text:
            for placeholder in PLACEHOLDER.findall(text):
                _, kind, number = placeholder.strip("[]").split(":")
                self._numbers[kind] = max(self._numbers[kind], int(number))

    def _assigned(self, name: str, value: str) -> str:
        redacted = self.text(value)
        if redacted is value and name:
            kind = kind_of_assignment(name, value)
            if kind and (kind == scan.SEED_PHRASE or not any(character.isspace() for character in value)):
                return self._placeholder(FoundSecret(0, 0, kind, canonical(value), exact=False), value)
        return redacted

    def _replaced(self, body: bytes, findings: list[FoundSecret]) -> bytes:
        pieces: list[bytes] = []
        done = 0
        for finding in findings:
            placeholder = self._placeholder(finding, decoded(body[finding.start : finding.end]))
            pieces += (body[done : finding.start], encoded(placeholder))
            done = finding.end
        pieces.append(body[done:])
        return b"".join(pieces)

    def _placeholder(self, finding: FoundSecret, found: str) -> str:
        placeholder = self._placeholders.get(finding.value)
        if placeholder is None:
            self._numbers[finding.kind] += 1
            placeholder = f"[redacted:{finding.kind}:{self._numbers[finding.kind]}]"
            self._placeholders[finding.value] = placeholder
            self._secrets_of[placeholder] = found
            self._learn(finding)
        if self._secrets_of[placeholder] != found:  # wrapped or escaped in one place: nobody can tell how it goes
            self._secrets_of[placeholder] = ""
        self._counts[placeholder.split(":")[1]] += 1
        return placeholder

    def _learn(self, finding: FoundSecret) -> None:
        if finding.exact or len(self._secrets) >= MOST_LEARNED:
            return
        if values.is_plausible(finding.value) and finding.kind != "private-key":
            self._secrets[finding.value] = finding.kind
            self._learned = True

    def _refresh(self) -> None:
        if self._learned:
            self._literals = literals_of((kind, value) for value, kind in self._secrets.items())
            self._learned = False


def redact(transcript: Transcript, known: tuple[str, ...] = ()) -> Redacted:
    """Replace the secrets in all texts of a transcript with placeholders; returns the same object if there are none.

    Keys, tokens, passwords and connection strings are recognised by format and context; `known` are further
    values to replace wherever they stand.

    >>> import whet
    >>> [session] = whet.read("examples/sessions/codex")
    >>> clean = whet.redact(session, known=("birdcount",)).transcript
    >>> "birdcount" in session.messages[0].text, "birdcount" in clean.messages[0].text
    (True, False)
    """
    redactor = Redactor(known)
    # Messages come first, since titles and endings change while a session grows and must not renumber them.
    messages = _each(transcript.messages, redactor.message)
    redacted = _with(
        transcript,
        messages=messages,
        title=redactor.text(transcript.title),
        folder=redactor.text(transcript.folder),
        ending_detail=redactor.text(transcript.ending_detail),
        checks=_each(transcript.checks, lambda check: _check(redactor, check)),
    )
    return Redacted(redacted, redactor.counts)


def secret_values(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The values of the variables that look secret by their names and would not match harmless words."""
    return tuple(
        sorted({value.strip() for name, value in environment.items() if _is_secret_variable(name, value.strip())})
    )


def _is_secret_variable(name: str, value: str) -> bool:
    if not (values.is_secret_name(name) or values.is_key_name(name)):
        return False
    return len(value) >= SHORTEST_VARIABLE and not values.is_stand_in(value) and not values.is_code(value)


def _part(redactor: Redactor, part: Part) -> Part:
    match part:
        case Text() | transcripts.Thought():
            return _with(part, text=redactor.text(part.text))
        case ToolCall():
            return _with(part, arguments=redactor.arguments(part.arguments))
        case ToolResult():
            return redactor.result(part)
        case Media():
            return _piece(redactor, part)


def _piece(redactor: Redactor, piece: Text | Media) -> Text | Media:
    if isinstance(piece, Media):
        return _with(piece, name=redactor.text(piece.name))
    return _with(piece, text=redactor.text(piece.text))


def _check(redactor: Redactor, check: RecordedCheck) -> RecordedCheck:
    return _with(check, detail=redactor.text(check.detail))


def _with(value: _AnyValue, **fields: object) -> _AnyValue:
    changed = {name: field for name, field in fields.items() if field is not getattr(value, name)}
    return msgspec.structs.replace(value, **changed) if changed else value


def _each(items: tuple[_Item, ...], change: Callable[[_Item], _Item]) -> tuple[_Item, ...]:
    changed = tuple(change(item) for item in items)
    return items if all(new is old for new, old in zip(changed, items, strict=True)) else changed


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, ValueError):
        return False
    return True
