"""Mining: the exchanges of many sessions that really worked, chosen by evidence and never by length."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec
import re2

from whet.activity import Activity, classify, kind_of
from whet.commands import split
from whet.effects import Effect
from whet.evidence import Evidence, Step, gather
from whet.likeness import sense
from whet.lineage import is_persons, own_calls, pieces_of
from whet.outcomes import Outcome
from whet.quoting import visible
from whet.redaction import Redactor
from whet.result_shapes import shape
from whet.scores import Weights, measure, score
from whet.templates import TOOL_NAME, Example
from whet.tools import Family, arguments_of, command_of, family_of, plain_name
from whet.transcripts import Ending, Exchange, Origin, Purpose, Role, Transcript, Value

LOW_SCORE = 0.4  # the highest failure score of a session without a verdict that is still mined
ARGUMENT_CHARACTERS = 1_200
INTENT_CHARACTERS = 240
INTENT_WORDS = 3
SESSION_EXAMPLES = 2  # from there on, each further one of the same session counts less
SHAPES_A_TOOL = 50
TRIVIAL = frozenset({Family.NEUTRAL, Family.DELEGATE})
# A sub-agent's orders are an agent's words, a review's are about another session, and a trial is an experiment.
PURPOSES = frozenset({Purpose.CHAT, Purpose.JOB})
CUT_OFF = frozenset({Ending.FAILED, Ending.BUDGET, Ending.REFUSED, Ending.EMPTY, Ending.CUT})
UNCERTAIN = "no error form"
# Where nothing but the form of an answer speaks for it, any such word is doubt enough: there are other examples.
DOUBT = re2.compile(
    r"(?i)error|fail|exception|traceback|denied|invalid|not found|no such|cannot|can't|unable|unknown|undefined|fatal"
    r"|abort|timed? ?out|usage:|refused|missing|unexpected|not (?:valid|exist|allowed|supported)|does ?n.t exist"
)
DOUBT_CHARACTERS = 4_000


class Wanted(Value, frozen=True):
    """What to mine for. `sessions` is the least number of sessions that examples must come from."""

    activity: Activity | None = None
    fewest: int = 5
    most: int = 10
    tokens: int = 2_000
    sessions: int = 1


class Mined(NamedTuple):
    """The examples, or none where there were too few, with what was looked at and why the rest was left out."""

    examples: tuple[Example, ...]
    activity: Activity
    seen: int
    used: int
    left_out: dict[str, int]


class Candidate(NamedTuple):
    """An example that may be chosen, and what makes it different from others."""

    example: Example
    exchange: Exchange
    shape: tuple[str, ...]
    effect: Effect
    stage: int  # the third of the session in which it was made
    merit: float


def mine(transcripts: Iterable[Transcript], wanted: Wanted, *, weights: Weights) -> Mined:
    """Examples from one pass over the sessions; what is kept meanwhile does not grow with their number."""
    best: dict[tuple[str, ...], Candidate] = {}
    left_out: Counter[str] = Counter()
    seen = used = 0
    for transcript in transcripts:
        seen += 1
        evidence = gather(transcript)
        reason = unfit(evidence, weights)
        activity = classify(step.exchange for step in evidence.steps)
        if not reason and wanted.activity not in (None, activity):
            reason = "another activity"
        if reason:
            left_out[f"session: {reason}"] += 1
            continue
        used += 1
        for found in candidates(evidence, left_out):
            _keep(best, found)
    chosen = choose(best.values(), wanted)
    sessions = {candidate.example.session for candidate in chosen}
    if len(chosen) < wanted.fewest or len(sessions) < wanted.sessions:
        left_out["too few"] += len(chosen)
        chosen = ()
    return Mined(
        tuple(candidate.example for candidate in chosen),
        wanted.activity or classify(candidate.exchange for candidate in chosen),
        seen,
        used,
        dict(left_out),
    )


def unfit(evidence: Evidence, weights: Weights) -> str:
    """Why a session is not mined; nothing when it is. A verdict of its own outranks the failure score."""
    transcript = evidence.transcript
    if transcript.purpose not in PURPOSES:
        return "not a person's"
    last = {check.name: check.passed for check in transcript.checks if check.passed is not None}
    if last:
        return "" if all(last.values()) else "its own check failed"
    if transcript.ending in CUT_OFF:
        return "cut off"
    return "likely failed" if score(measure(evidence), weights).value > LOW_SCORE else ""


def candidates(evidence: Evidence, left_out: Counter[str]) -> Iterator[Candidate]:
    """The exchanges of a session that may become examples, in order."""
    transcript = evidence.transcript
    own = own_calls(transcript)
    redactor = Redactor()
    verified = any(check.passed for check in transcript.checks)
    for step in evidence.steps:
        reason = _unfit_step(step, transcript)
        if not reason and (step.exchange.asked, step.exchange.call.id) not in own:
            reason = "arguments from elsewhere"
        example = None if reason else _example(step, transcript, redactor)
        if example is None:
            left_out[reason or "secrets or odd characters"] += 1
            continue
        yield Candidate(
            example,
            step.exchange,
            _shape(step),
            step.effect,
            3 * step.exchange.asked // max(1, len(transcript.messages)),
            verified + _is_certain(step) + _fit(example) - example.tokens / 400,
        )


def choose(found: Iterable[Candidate], wanted: Wanted) -> tuple[Candidate, ...]:
    """The most diverse of the candidates within the limits, in the order in which they happened."""
    left = sorted(found, key=lambda one: (-one.merit, one.example.session, one.example.message or 0))
    chosen: list[Candidate] = []
    spent = 0
    while left and len(chosen) < wanted.most:
        gains = [(_novelty(one, chosen), one.merit, -number, one) for number, one in enumerate(left)]
        novelty, _, _, one = max(gains, key=lambda gain: (gain[0] + gain[1], gain[2]))
        left.remove(one)
        if spent + one.example.tokens > wanted.tokens or (len(chosen) >= wanted.fewest and novelty < 1):
            continue
        chosen.append(one)
        spent += one.example.tokens
    order = {session: number for number, session in enumerate(dict.fromkeys(one.example.session for one in chosen))}
    return tuple(sorted(chosen, key=lambda one: (order[one.example.session], one.example.message or 0)))


def _novelty(one: Candidate, chosen: list[Candidate]) -> float:
    """How much an example shows that the chosen ones do not; a whole point for a tool, an effect or a stage."""
    tools = {plain_name(other.example.tool) for other in chosen}
    same = sum(one.example.session == other.example.session for other in chosen)
    return (
        3.0 * (plain_name(one.example.tool) not in tools)
        + 1.5 * all(one.effect is not other.effect for other in chosen)
        + 1.0 * all(one.stage != other.stage for other in chosen)
        + 0.9 * (not same)
        - 0.5 * max(0, same - SESSION_EXAMPLES)
    )


def _keep(best: dict[tuple[str, ...], Candidate], one: Candidate) -> None:
    """Keep the best of each shape, and of each tool only so many shapes."""
    known = best.get(one.shape)
    if known is None or one.merit > known.merit:
        best[one.shape] = one
    same = [] if known else [other for other in best.values() if other.shape[0] == one.shape[0]]
    if len(same) > SHAPES_A_TOOL:
        del best[min(same, key=lambda other: (other.merit, other.shape)).shape]


def _unfit_step(step: Step, transcript: Transcript) -> str:
    exchange = step.exchange
    asked = transcript.messages[exchange.asked]
    if step.decision.outcome is not Outcome.OK or exchange.answered is None or exchange.result is None:
        return f"outcome {step.decision.outcome}"
    if not (asked.origin is transcript.messages[exchange.answered].origin is Origin.TURN):
        return "not of this session"
    if family_of(exchange.call) in TRIVIAL or step.effect is Effect.THINKS or not TOOL_NAME.fullmatch(step.tool):
        return "trivial tool"
    if len(exchange.call.arguments) > ARGUMENT_CHARACTERS or not any(pieces_of(exchange.call)):
        return "arguments too long or none"
    if step.is_empty and step.effect is not Effect.CHANGES and family_of(exchange.call) is not Family.SHELL:
        return "brought nothing"
    text = exchange.result.text
    if not _is_certain(step) and DOUBT.search(f"{text[:DOUBT_CHARACTERS]}\n{text[-DOUBT_CHARACTERS:]}"):
        return "doubtful"
    return ""


def _is_certain(step: Step) -> bool:
    return step.decision.evidence != UNCERTAIN


def _example(step: Step, transcript: Transcript, redactor: Redactor) -> Example | None:
    """The exchange as an example; None where something of it is secret or cannot be seen."""
    exchange = step.exchange
    arguments = msgspec.json.encode(arguments_of(exchange.call)).decode()
    intent = _intent(transcript, exchange.asked)
    texts = (arguments, intent)
    if any(redactor.text(text) != text or visible(text) != text or "[redacted:" in text for text in texts):
        return None
    answered = exchange.result.text if exchange.result is not None else ""
    return Example(
        tool=step.tool,
        arguments=arguments,
        result=shape(answered, pieces_of(exchange.call)),
        intent=intent,
        session=transcript.id,
        message=exchange.asked,
        evidence=step.decision.evidence,
    )


def _intent(transcript: Transcript, before: int) -> str:
    """What the person asked for last, in their own words, if it is short and says what; else nothing."""
    for message in reversed(transcript.messages[:before]):
        if message.role is not Role.USER or not is_persons(message):
            continue
        text = " ".join(message.text.split())
        if len(sense(text).words) < INTENT_WORDS:
            continue
        return text if len(text) <= INTENT_CHARACTERS and not text.startswith("<") else ""
    return ""


def _fit(example: Example) -> float:
    """How well the call shows what becomes of the request: by the words that they share."""
    shared = sense(example.intent).words & sense(example.arguments).words
    return 0.5 * bool(example.intent) + 0.5 * min(2, len(shared))


def _shape(step: Step) -> tuple[str, ...]:
    """What kind of call it is: two of one shape would show the same thing twice."""
    call = step.exchange.call
    name = plain_name(call.name)
    if family_of(call) in (Family.SHELL, Family.INTERPRETER, Family.SQL):
        programs = sorted({stage.program for stage in split(command_of(call))})
        return (name, *programs)
    return (name, kind_of(call), *sorted(arguments_of(call)))
