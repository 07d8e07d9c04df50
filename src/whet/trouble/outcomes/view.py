"""What a transcript shows, gathered once for every detector: steps with their outcomes, and what was said."""

from msgspec.structs import replace

from whet.sessions.call_effects import Effect, effect_of
from whet.sessions.example_marks import hushed
from whet.sessions.lineage import heard_before, is_vouched
from whet.sessions.transcripts import Exchange, Message, Origin, Role, Transcript, pair
from whet.sessions.trust import Trust, trust_of_tool
from whet.text.words import last_paragraph, own_words
from whet.trouble.outcomes.deciding import Decision, Outcome, decide
from whet.trouble.outcomes.envelopes import contents
from whet.trouble.outcomes.fingerprints import call_key, error_line
from whet.trouble.outcomes.named_checks import EntryHead, is_named, named_by_person, named_in_error
from whet.values import Value, lazy

OF_OTHERS = frozenset({Origin.SUMMARY, Origin.INSERTED})


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
