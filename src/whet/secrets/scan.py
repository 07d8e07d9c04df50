"""Where the secrets of a text are: one pass over all gates, then the exact rules whose gate is open."""

import base64
import binascii
import functools
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple, Protocol

import re2

from whet.secrets import looks as values
from whet.secrets.contexts import ARGUMENTS, ARGUMENTS_UNIT, ENCODED, ESCAPES, HIDDEN, HIDDEN_UNIT, RULES
from whet.secrets.vendor_keys import TOKENS, MatchTest, SecretRule

DEEPEST = 2
SEED_PHRASE = "seed-phrase"
TEST_VERDICT = "PASS"  # before a colon: `--- PASS: TestName`
PATTERN_MEMORY_BYTES = 64 << 20

_URL_SAFE = bytes.maketrans(b"-_", b"+/")


class FoundSecret(NamedTuple):
    """A secret at `start` to `end` of the scanned bytes. `exact` when its shape alone is proof of it."""

    start: int
    end: int
    kind: str
    value: str
    exact: bool


class Pattern(Protocol):
    """A compiled RE2 expression, as far as it is used here."""

    def finditer(self, text: bytes) -> Iterator[Any]: ...


class Literals(NamedTuple):
    """Exact secrets to look for in every text: the pattern of all their spellings, and the secret behind each."""

    gate: Any
    pattern: Pattern
    meanings: dict[bytes, tuple[str, str]]


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def decoded(body: bytes) -> str:
    return body.decode("utf-8", "surrogatepass")


def find(body: bytes, literals: Literals | None = None, depth: int = 0) -> list[FoundSecret]:
    """All secrets of a text in order and without overlap; empty for the usual, clean text."""
    opened = _gates().Match(body)
    is_known = literals is not None and literals.gate.Match(body)
    if not opened and not is_known:
        return []
    found: list[FoundSecret] = []
    if literals is not None and is_known:
        found.extend(_find_literals(body, literals))
    for index in sorted(opened or ()):
        if index >= len(RULES):
            for reading in READINGS[index - len(RULES)]:
                found.extend(_find_hidden(body, literals, depth, reading))
        elif RULES[index].check is MatchTest.BASE64:
            found.extend(_find_encoded(body, literals, depth))
        else:
            found.extend(_find_by_rule(body, index))
    return _without_overlap(found)


def literals_of(secrets: Iterable[tuple[str, str]]) -> Literals | None:
    """What to look for when the secrets are known exactly, given as kind and value."""
    meanings: dict[bytes, tuple[str, str]] = {}
    for kind, value in secrets:
        # Half a surrogate pair has no place in a pattern.
        if value.encode("utf-8", "replace") == encoded(value):
            meanings.update((spelling, (kind, value)) for spelling in _spellings(value) if spelling not in meanings)
    if not meanings:
        return None
    longest_first = sorted(meanings, key=lambda spelling: (-len(spelling), spelling))
    alternatives = "|".join(re2.escape(decoded(spelling)) for spelling in longest_first)
    return Literals(_set_of([alternatives]), _compiled(alternatives), meanings)


def _spellings(value: str) -> Iterator[bytes]:
    """The value as it is, inside one and two levels of JSON string, in a URL, and in base64."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    yield encoded(value)
    yield encoded(escaped)
    yield encoded(escaped.replace("\\", "\\\\").replace('"', '\\"'))
    yield base64.b64encode(encoded(value)).rstrip(b"=")


def _find_literals(body: bytes, literals: Literals) -> Iterator[FoundSecret]:
    for match in literals.pattern.finditer(body):
        start, end = match.span()
        kind, value = literals.meanings[body[start:end]]
        yield FoundSecret(start, end, kind, value, exact=True)


def _find_by_rule(body: bytes, index: int) -> Iterator[FoundSecret]:
    rule = RULES[index]
    for match in _pattern_of(index).finditer(body):
        last = match.lastindex
        start, end = match.span(last)
        value = _trimmed(body[start:end], rule)
        if rule.check is MatchTest.COOKIES:
            yield from _find_cookies(value, start)
            continue
        name = decoded(match.group(1)) if last > 1 else ""
        if rule.check is MatchTest.ASSIGNED and _is_field(body, match.start(1), match.end(1)):
            continue
        if name == TEST_VERDICT and body[match.end(1) : start].lstrip().startswith(b":"):
            kind = rule.kind if values.is_typed_or_scrambled(decoded(value)) else ""
        else:
            kind = judge(rule, name, decoded(value))
        if kind:
            yield FoundSecret(start, start + len(value), kind, canonical(decoded(value)), index < len(TOKENS))


def _is_field(body: bytes, start: int, end: int) -> bool:
    """Whether a name is one of several between colons, as in `arn:…:secret:…`, or a shell's: `${TOKEN:?not set}`."""
    return body[end : end + 1] == b":" and (
        body[max(0, start - 1) : start] == b":" or body[max(0, start - 2) : start] == b"${"
    )


def _trimmed(value: bytes, rule: SecretRule) -> bytes:
    """The value without the punctuation of the sentence or line around it."""
    if rule.check is MatchTest.PHRASE:
        return encoded(values.phrase_in(decoded(value))) or value
    if rule.check in (MatchTest.NONE, MatchTest.MIXED):
        return value.rstrip(b"\r\n\t \\") if rule.kind == "private-key" else value
    return value.rstrip(b".,;:)]}")


# What a value must look like where its place alone says that it may be a secret.
LOOKS: Final[dict[MatchTest, Callable[[str], object]]] = {
    MatchTest.NONE: lambda _: True,
    MatchTest.VALUE: lambda value: values.is_plausible(value, shortest=values.SHORTEST_PASSWORD),
    MatchTest.CONVINCING: values.is_convincing,
    MatchTest.GENERATED: values.is_generated,
    MatchTest.STRONG: values.is_strong,
    MatchTest.PHRASE: values.phrase_in,
    MatchTest.MIXED: lambda value: (
        (values.is_mixed(value) or values.is_scrambled(value)) and not values.is_stand_in(value)
    ),
}


def judge(rule: SecretRule, name: str, value: str) -> str:
    """The kind of secret that a match is, or nothing when it is none."""
    if looks := LOOKS.get(rule.check):
        return rule.kind if looks(value) else ""
    match rule.check:
        case MatchTest.LOGIN:
            clean = not value or value == name or values.is_stand_in(value)
            return "" if clean else rule.kind
        case MatchTest.CELL if not (values.is_convincing(value) or values.is_typed_or_scrambled(value)):
            return ""
        case MatchTest.TYPED if not values.is_typed_or_scrambled(value):
            return ""
        case _:
            return kind_of_assignment(name, value)


@functools.lru_cache(maxsize=1024)
def kind_of_assignment(name: str, value: str) -> str:
    """The kind of secret that `name = value` holds, or nothing when it holds none."""
    if values.is_phrase_name(name):
        return SEED_PHRASE if values.phrase_in(value) else ""
    if set(values.words_of(value)) <= set(values.words_of(name)):
        return ""
    if values.is_password_name(name) and values.is_secret_name(name):
        return "password" if values.is_password(value, any_word=name.isupper()) else ""
    if values.is_secret_name(name):
        return "secret" if values.is_plausible(value) else ""
    if values.is_key_name(name):
        return "secret" if values.is_convincing(value) else ""
    return ""


def canonical(value: str) -> str:
    """A secret's identity, the same however it was wrapped over lines or escaped."""
    if "\\" in value:
        for escape, character in (("\\n", ""), ("\\r", ""), ("\\t", ""), ("\\", "")):
            value = value.replace(escape, character)
    return "".join(value.split())


def _find_cookies(header: bytes, offset: int) -> Iterator[FoundSecret]:
    place = 0
    for pair in header.split(b";"):
        name, equals, value = pair.partition(b"=")
        start = offset + place + len(name) + 1
        place += len(pair) + 1
        is_session = values.is_session_name(decoded(name)) and values.is_plausible(decoded(value))
        if equals and (is_session or values.is_convincing(decoded(value))):
            yield FoundSecret(start, start + len(value), "cookie", canonical(decoded(value)), exact=False)


def _find_encoded(body: bytes, literals: Literals | None, depth: int) -> Iterator[FoundSecret]:
    """Base64 runs whose decoded text holds a secret; the whole run is the finding."""
    if depth >= DEEPEST:
        return
    for match in _compiled(ENCODED.pattern).finditer(body):
        start, end = match.span(1)
        plain = _unbase64(body[start:end])
        inner = find(plain, literals, depth + 1)
        if not inner:
            continue
        whole = inner[0].start == 0 and inner[0].end >= len(plain.rstrip())
        kind, value = (inner[0].kind, inner[0].value) if whole else ("base64", canonical(decoded(body[start:end])))
        yield FoundSecret(start, end, kind, value, exact=True)


def _unbase64(run: bytes) -> bytes:
    run = run.replace(b"\\r", b"").replace(b"\\n", b"").translate(_URL_SAFE, b"\r\n\\=")
    try:
        return base64.b64decode(run + b"=" * (-len(run) % 4))
    except binascii.Error:
        return base64.b64decode(run[: len(run) // 4 * 4])


class HiddenUnits(NamedTuple):
    """One reading of what hides a secret: the units in a text, and what stands in the place of each."""

    pattern: str
    plain: Callable[[bytes], bytes]


def _find_hidden(body: bytes, literals: Literals | None, depth: int, reading: HiddenUnits) -> Iterator[FoundSecret]:
    """Secrets that show once a text is read in plain, at their places in the text as it is."""
    if depth >= DEEPEST:
        return
    pieces: list[bytes] = []
    starts: list[int] = []  # of each unit in the plain text
    units: list[tuple[int, int, int]] = []  # where it begins and ends in the body, and how long it is in plain
    done = size = 0
    for match in _compiled(reading.pattern).finditer(body):
        start, end = match.span()
        plain = reading.plain(body[start:end])
        pieces += (body[done:start], plain)
        size += start - done
        starts.append(size)
        units.append((start, end, len(plain)))
        size, done = size + len(plain), end
    pieces.append(body[done:])

    def place(position: int, *, is_end: bool = False) -> int:
        """Where a byte of the plain text is in the body; of a byte in a unit, where the unit begins or ends."""
        index = bisect_right(starts, position) - 1
        if index < 0:
            return position + is_end
        start, end, length = units[index]
        beyond = position - starts[index] - length
        return end + beyond + is_end if beyond >= 0 else end if is_end else start

    for finding in find(b"".join(pieces), literals, depth + 1):
        yield finding._replace(start=place(finding.start), end=place(finding.end - 1, is_end=True))


def _plain_character(unit: bytes) -> bytes:
    return b"/" if unit.endswith(b"/") else bytes([int(unit[-2:], 16)])


# A colour may stand between a name and its value, in the middle of either, or between two words.
READINGS: Final = (
    (HiddenUnits(HIDDEN_UNIT, _plain_character),),
    (HiddenUnits(ESCAPES, lambda _: b""), HiddenUnits(ESCAPES, lambda _: b" ")),
    (HiddenUnits(ARGUMENTS_UNIT, lambda _: b" "),),
)


def _without_overlap(found: list[FoundSecret]) -> list[FoundSecret]:
    """Exact findings first, then the longer of those that begin together."""
    chosen: list[FoundSecret] = []
    for exact in (True, False):
        ordered = sorted((f for f in found if f.exact is exact), key=lambda f: (f.start, -f.end))
        taken = chosen
        starts = [finding.start for finding in taken]
        chosen, last = list(taken), -1
        for finding in ordered:
            index = bisect_right(starts, finding.start)
            free = (index == 0 or taken[index - 1].end <= finding.start) and (
                index == len(taken) or finding.end <= taken[index].start
            )
            if free and finding.start >= last:
                chosen.append(finding)
                last = finding.end
        chosen.sort()
    return chosen


@functools.cache
def _gates() -> Any:
    return _set_of([*(rule.gate for rule in RULES), HIDDEN, ESCAPES, ARGUMENTS])


def _set_of(patterns: Iterable[str]) -> Any:
    """One scan for all patterns; its `Match` is also the cheapest call that RE2 offers for a single one."""
    scan = re2.Set.SearchSet(_options())
    for pattern in patterns:
        scan.Add(pattern)
    scan.Compile()
    return scan


@functools.cache
def _pattern_of(index: int) -> Pattern:
    return _compiled(RULES[index].pattern)


@functools.lru_cache(maxsize=256)
def _compiled(pattern: str) -> Pattern:
    return re2.compile(pattern, _options())  # type: ignore[no-any-return]


def _options() -> Any:
    options = re2.Options()
    options.max_mem = PATTERN_MEMORY_BYTES
    return options
