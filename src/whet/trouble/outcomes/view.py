"""What a transcript shows, gathered once for every detector: steps with their outcomes, and what was said."""

from collections.abc import Iterable, Iterator, Set

import re2
from msgspec.structs import replace

from whet.sessions.call_effects import Effect, check_named, effect_of
from whet.sessions.copies import NO_PLACES, hushed, is_copy, own_messages_of, own_part
from whet.sessions.lineage import heard_before, is_vouched
from whet.sessions.shell_lines import CHECKERS, RUNNERS, WrittenStage, written
from whet.sessions.tool_families import Family, command_of, family_of
from whet.sessions.transcripts import Exchange, Message, Origin, Role, ToolCall, Transcript, Usage, pair, total
from whet.sessions.trust import Trust, trust_of_tool
from whet.text.words import last_paragraph, names, own_words
from whet.trouble.outcomes.deciding import Decision, Outcome, decide
from whet.trouble.outcomes.envelopes import contents
from whet.trouble.outcomes.error_forms import has_any
from whet.trouble.outcomes.fingerprints import call_key, error_line
from whet.values import Value, lazy

EntryHead = tuple[str, ...]  # the words with which a command begins
LOOKED_AT = 6_000
MOST_WORDS = 4
_ADVISED = re2.compile(
    r"(?im)^\W*(?:use|usage|run|try) ?: *(\S[^\n]{0,120})|\b(?:use|run|try) (?:[`'\"])([^`'\"\n]{3,120})[`'\"]"
)
_WITH = re2.compile(r"(?i)\btests?\b[^\n.;:]{0,60}?\b(?:with|by|using|via|through) ([`'\"]?[\w./-][^\n`'\"]{2,120})")
_USED = re2.compile(r"(?i)\b(?:use|run) ([`'\"]?[\w./-][^\n`'\"]{2,60}?)[`'\"]? (?:to|for)\b[^\n.;:]{0,40}?\btest")
_WORD = re2.compile(r"[\w./:@=+-]+")
_ENDS = names("and or then instead not before after in for on from when if to which because so again please first")
_SCRIPTS = (".sh", ".py", ".js", ".ts")

OF_OTHERS = frozenset({Origin.SUMMARY, Origin.INSERTED})


def named_in_error(text: str) -> set[EntryHead]:
    """The commands for tests that the output of a failed check advises: "Use: ./dev test MODULE"."""
    telling = _lines_with(text, "use", "run", "try", "usage")
    advised = (group for found in _ADVISED.finditer(telling) for group in found.groups() if group)
    heads = {head for told in advised if (head := _head(told)) and any(map(check_named, head[1:]))}
    return heads | named_by_person(text)


def named_by_person(text: str) -> set[EntryHead]:
    """The commands that a text names as the way to test: "run the tests with ./dev test"."""
    if "test" not in text and "Test" not in text:
        return set()
    telling = _lines_with(text, "test")
    told = (found.group(1) for form in (_WITH, _USED) for found in form.finditer(telling))
    return {head for each in told if (head := _head(each))}


def _lines_with(text: str, *words: str) -> str:
    """The lines of the beginning of a text that have one of the words: no form reaches beyond its line."""
    lines = text[:LOOKED_AT].split("\n")
    return "\n".join([line for line in lines if has_any(line.lower(), words)])


def is_named(call: ToolCall, named: set[EntryHead]) -> bool:
    """Whether a call runs one of these commands."""
    if not named or family_of(call) is not Family.SHELL:
        return False
    return any(_begins(stage, head) for stage in written(command_of(call)) for head in named)


def _begins(stage: WrittenStage, head: EntryHead) -> bool:
    return any(stage.words[start : start + len(head)] == head for start in range(stage.program + 1))


def _head(told: str) -> EntryHead:
    """The words of a command up to what stands for something else; nothing where they could be any program's."""
    quoted = told[:1] in "`'\""
    words: list[str] = []
    for word in told.strip("`'\" ").split()[:MOST_WORDS]:
        plain = word.rstrip(".,;:!?)`'\"")
        is_placeholder = len(plain) > 1 and plain.isupper()
        if is_placeholder or not _WORD.fullmatch(plain) or (not quoted and words and plain.lower() in _ENDS):
            break
        words.append(plain)
        if plain != word:
            break
    if not words:
        return ()
    is_own = "/" in words[0] or words[0].endswith(_SCRIPTS)
    is_known = words[0] in RUNNERS | CHECKERS and len(words) > 1
    return tuple(words) if is_own or is_known else ()


class JudgedCall(Value, frozen=True, dict=True):
    """One exchange with what was decided about it."""

    exchange: Exchange
    decision: Decision
    is_named_check: bool = False  # the project's own errors, or the person, name its command as the way to test
    trust: Trust = Trust.TOOL  # the lowest of the answer and of all that had been read when the call was made

    @lazy
    def failed(self) -> bool:
        return self.decision.outcome is Outcome.FAILED

    @lazy
    def worked(self) -> bool:
        return self.decision.outcome is Outcome.OK

    @lazy
    def effect(self) -> Effect:
        return Effect.CHECKS if self.is_named_check else effect_of(self.exchange.call)

    @lazy
    def key(self) -> str:
        return call_key(self.exchange.call)

    @lazy
    def message(self) -> int:
        """Where its outcome became known, or where it was asked when it never did."""
        answered = self.exchange.answered
        return self.exchange.asked if answered is None else answered

    @property
    def tool(self) -> str:
        return self.exchange.call.name

    @lazy
    def text(self) -> str:
        if self.exchange.result is None:
            return ""
        text = self.exchange.result.text
        return contents(text) if self.failed else text

    @lazy
    def error_line(self) -> str:
        """The line that says what went wrong, if it failed."""
        return error_line(self.text)

    @lazy
    def is_empty(self) -> bool:
        """Whether it worked and brought nothing: an empty answer to a question."""
        return len(self.text) < 8 and self.text.strip() in ("", "[]", "{}", "()", "None", "null", '""')


class Saying(Value, frozen=True, dict=True):
    """What somebody said."""

    message: int
    role: Role
    text: str
    is_closing: bool  # no call follows in the same message
    trust: Trust

    @lazy
    def words(self) -> str:
        return own_words(self.text)

    @lazy
    def end(self) -> str:
        """Its last paragraph."""
        return last_paragraph(self.words)


class SessionView(Value, frozen=True, dict=True):
    """A transcript as the detectors see it."""

    transcript: Transcript
    steps: tuple[JudgedCall, ...]
    sayings: tuple[Saying, ...]

    @lazy
    def failures(self) -> tuple[JudgedCall, ...]:
        return tuple([step for step in self.steps if step.failed])

    @lazy
    def by_user(self) -> tuple[Saying, ...]:
        return tuple([saying for saying in self.sayings if saying.role is Role.USER])

    @lazy
    def by_agent(self) -> tuple[Saying, ...]:
        return tuple([saying for saying in self.sayings if saying.role is Role.AGENT])


def gather(transcript: Transcript) -> SessionView:
    """The evidence of a transcript. What stands for older messages, and examples of other sessions, are none."""
    own = hushed(transcript.messages)
    if own is not transcript.messages:
        transcript = replace(transcript, messages=own)
    heard = heard_before(transcript.messages)
    steps = tuple(
        JudgedCall(exchange, decide(exchange), trust=_trust_of_call(exchange, heard, own))
        for exchange in pair(transcript.messages).exchanges
        if transcript.messages[exchange.asked].origin not in OF_OTHERS
    )
    said = tuple(
        saying
        for index, message in enumerate(transcript.messages)
        if message.origin is Origin.TURN
        and (message.role is Role.USER or message.role is Role.AGENT)
        and (saying := _saying(index, message, heard[index])) is not None
    )
    return SessionView(transcript, _with_named_checks(steps, said), said)


def _with_named_checks(steps: tuple[JudgedCall, ...], sayings: tuple[Saying, ...]) -> tuple[JudgedCall, ...]:
    """The steps, with those marked that run tests by a command of the project's own."""
    named: set[EntryHead] = set()
    for step in steps:
        if step.failed and step.effect is Effect.CHECKS:
            named |= named_in_error(step.text)
    for saying in sayings:
        if saying.role is Role.USER:
            named |= named_by_person(saying.text)
    if not named:
        return steps
    return tuple(
        JudgedCall(step.exchange, step.decision, True, step.trust) if is_named(step.exchange.call, named) else step
        for step in steps
    )


def _trust_of_call(exchange: Exchange, heard: tuple[Trust, ...], messages: tuple[Message, ...]) -> Trust:
    """How far a call and its answer may be believed: a server's tool is a stranger's, whatever its name."""
    answer = Trust.OPERATOR if exchange.answered is None else messages[exchange.answered].trust
    return min(heard[exchange.asked], messages[exchange.asked].trust, trust_of_tool(exchange.call.name), answer)


def _saying(index: int, message: Message, heard: Trust) -> Saying | None:
    text = message.text
    if not text and (message.role is Role.USER or message.calls):
        return None
    is_closing = message.role is Role.USER or not message.calls
    return Saying(index, message.role, text, is_closing, _trust_of(message, heard))


def _trust_of(message: Message, heard: Trust) -> Trust:
    """How far what was said may be believed: what stands in the person's place is theirs where a record vouches for it.

    What the agent said is worth no more than what it had read. Who speaks is no question for detectors; it is one for
    whoever would make a rule of the words.
    """
    if message.role is Role.AGENT:
        return min(message.trust, heard)
    return message.trust if is_vouched(message) else min(message.trust, Trust.TOOL)


class ExchangeOutcome(Value, frozen=True):
    """How one call ended, and what decided it."""

    call_id: str
    tool: str
    outcome: Outcome
    evidence: str


class Copied(Value, frozen=True):
    """What a session repeats of another: so many messages and their usage; `whole` where nothing in it is its own."""

    messages: int = 0
    usage: Usage = Usage()
    whole: bool = False

    @property
    def tokens(self) -> int:
        return self.usage.input + self.usage.output


class ModelUse(Value, frozen=True, array_like=True):
    """What one model used in a session."""

    model: str
    usage: Usage


class Analysis(Value, frozen=True):
    """How the calls of a session ended, with the facts that counts are made of.

    >>> import whet
    >>> session, _ = whet.read("examples/sessions/openai")
    >>> found = whet.analyse(session)
    >>> found.calls["failed"], sorted(found.tools)
    (3, ['get_order', 'refund_order'])
    """

    session: str
    exchanges: tuple[ExchangeOutcome, ...]
    source: str = ""
    model: str = ""
    at: float | None = None
    copied: Copied = Copied()
    cache_written: int = 0  # tokens of the whole record, copied ones too; list prices count them apart
    cache_written_hour: int = 0
    others: tuple[ModelUse, ...] = ()  # what models besides the session's own used in it, copies apart

    @property
    def calls(self) -> dict[str, int]:
        """The number of calls of each outcome."""
        counts = {outcome.value: 0 for outcome in Outcome}
        for exchange in self.exchanges:
            counts[exchange.outcome.value] += 1
        return counts

    @property
    def tools(self) -> frozenset[str]:
        return frozenset(exchange.tool for exchange in self.exchanges)


def analyse(transcript: Transcript, *, copied: Set[int] = NO_PLACES) -> Analysis:
    """Decide every exchange.

    The messages at the `copied` places are evidence in the session that they were copied from, and not here. A session
    that is nothing but a copy is analysed as a whole, and marked.
    """
    apart = NO_PLACES if is_copy(transcript, copied) else copied
    return analysis_of_view(gather(own_part(transcript, apart)), transcript, copied=copied)


def analysis_of_view(evidence: SessionView, transcript: Transcript, *, copied: Set[int]) -> Analysis:
    """The same of a session whose evidence is gathered already."""
    repeated = _copied(transcript, copied)
    usage = transcript.usage or total(message.usage for message in transcript.messages)
    return Analysis(
        session=transcript.id,
        exchanges=tuple(
            ExchangeOutcome(step.exchange.call.id, step.tool, step.decision.outcome, step.decision.evidence)
            for step in evidence.steps
        ),
        source=transcript.source,
        model=transcript.model,
        at=transcript.started,
        copied=repeated,
        cache_written=usage.cache_written,
        cache_written_hour=usage.cache_written_hour,
        others=tuple(_used_by_others(transcript.model, own_messages_of(transcript, copied))),
    )


def _copied(transcript: Transcript, copied: Set[int]) -> Copied:
    if not copied:
        return Copied()
    usage = total(transcript.messages[place].usage for place in sorted(copied))
    return Copied(len(copied), usage, is_copy(transcript, copied))


def _used_by_others(model: str, messages: Iterable[Message]) -> Iterator[ModelUse]:
    used: dict[str, list[Usage]] = {}
    for message in messages:
        if message.usage is not None and message.model and message.model != model:
            used.setdefault(message.model, []).append(message.usage)
    return (ModelUse(name, total(usages)) for name, usages in sorted(used.items()))
