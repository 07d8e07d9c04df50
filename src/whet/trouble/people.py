"""People who step in: refusals, interrupts and corrections, and the stretches in which their objections were met."""

from bisect import bisect_right
from collections.abc import Iterator

from whet.failures.phrases import own_words
from whet.failures.view import Saying
from whet.failures.wordings import Phrase
from whet.outcomes.deciding import Outcome
from whet.outcomes.refusal_forms import refusal_words
from whet.sessions.lineage import is_typed
from whet.sessions.transcripts import Message, Origin, Role
from whet.trouble.clock import is_asking
from whet.trouble.course import SessionCourse, SteppedIn, Stretch
from whet.trouble.doing_over import answers_or_changes, changes_own_work, goes_back
from whet.trouble.objections import (
    agrees,
    asks_for_more,
    concedes,
    is_brief,
    is_question,
    is_retyped,
    negates,
    refuses,
    shows_failure,
    turns_against,
)
from whet.trouble.values import InterventionKind, TroubleEnding, TroubleKind, Whose

ENOUGH = 2  # points with which a message is a correction
TAKEN_BACK_SECONDS = 10.0
EARLIER = 4  # orders that are compared with the one typed again
CLAIMS = (Phrase.CLAIM, Phrase.VERIFIED)


def events(course: SessionCourse) -> tuple[SteppedIn, ...]:
    """Everything with which somebody stepped in, each once, in order."""
    return tuple(_merged(course, sorted([*_refusals(course), *_interrupts(course), *_corrections(course)])))


def _refusals(course: SessionCourse) -> Iterator[SteppedIn]:
    for move in course.moves:
        if move.step.decision.outcome is not Outcome.REJECTED or move.answered < course.begin:
            continue
        result = move.step.exchange.result
        words = refusal_words(result.text) if result is not None else ""
        # A plan with which the record ends was taken to another session.
        if words or not is_asking(move.step.exchange) or course.goes_on_after(move.answered):
            yield SteppedIn(move.answered, InterventionKind.REFUSAL, words, _whose(course, None), move.step.tool)


def _interrupts(course: SessionCourse) -> Iterator[SteppedIn]:
    before = -1  # the last message that no program inserted
    for index, message in enumerate(course.messages):
        is_stop = message.origin is Origin.INTERRUPT and index >= course.begin
        if is_stop and _stops_work(course, before) and (before < 0 or _is_of_agent(course, before, index)):
            yield SteppedIn(index, InterventionKind.INTERRUPT, "", _whose(course, None))
        if message.origin is not Origin.INSERTED:
            before = index


def _stops_work(course: SessionCourse, before: int) -> bool:
    """Whether a refusal does not say the same already."""
    return before not in course.refused


def _is_of_agent(course: SessionCourse, before: int, stopped: int) -> bool:
    """Whether the agent was stopped: who stops at once what they have just typed takes it back."""
    typed = course.messages[before]
    if typed.role is not Role.USER:
        return True
    at, since = course.messages[stopped].at, typed.at
    return at is not None and since is not None and at - since >= TAKEN_BACK_SECONDS


def _whose(course: SessionCourse, words: Message | None) -> Whose:
    """A key pressed is the person's in a record that shows the person; words are theirs where the record vouches."""
    vouched = words.vouched if words is not None else course.is_vouched
    return Whose.PERSON if vouched else Whose.TEAM


def _merged(course: SessionCourse, found: list[SteppedIn]) -> Iterator[SteppedIn]:
    """Events with nothing of the agent between them as one, with the words that were typed next."""
    held: SteppedIn | None = None
    for event in found:
        if held is not None and not course.spoke_between(held.message, event.message):
            held = held._replace(words=held.words or event.words)
            continue
        if held is not None:
            yield _with_words(course, held)
        held = event
    if held is not None:
        yield _with_words(course, held)


def _with_words(course: SessionCourse, event: SteppedIn) -> SteppedIn:
    """A refusal or an interrupt with what was typed right after it."""
    if event.words:
        return event
    for index in range(event.message + 1, len(course.messages)):
        message = course.messages[index]
        if message.role is Role.AGENT:
            break
        if is_typed(message) and message.text.strip():
            return event._replace(words=message.text, by=_whose(course, message))
    return event


def _corrections(course: SessionCourse) -> Iterator[SteppedIn]:
    """What people typed that objects to the agent's work or changes it."""
    earlier: list[Saying] = []
    for saying in course.view.by_user:
        message = course.messages[saying.message]
        if saying.message < course.begin or not is_typed(message):
            continue
        if course.has_acted_before(saying.message) and _corrects(course, saying, earlier[-EARLIER:]):
            yield SteppedIn(saying.message, InterventionKind.CORRECTION, saying.text, _whose(course, message))
        earlier.append(saying)


def _corrects(course: SessionCourse, saying: Saying, earlier: list[Saying]) -> bool:
    """Whether the agent owns a mistake, the person shows a failure or types the same again, or enough speaks for it."""
    if concedes(_reply(course, saying)) or _is_said_again(course, saying, earlier):
        return True
    if shows_failure(saying.text) and course.has_worked_before(saying.message):
        return True
    points = _points_of_words(course, saying)
    if points >= ENOUGH:
        return True
    # What the agent does next is looked at where it decides.
    if points == ENOUGH - 1 and not course.is_at_work(saying.message):
        return answers_or_changes(course, saying.message)
    return points == 0 and changes_own_work(course, saying.message)


def _is_said_again(course: SessionCourse, saying: Saying, earlier: list[Saying]) -> bool:
    """Whether it is the order of before, which the agent had heard."""
    return any(
        is_retyped(saying.text, other.text) and course.spoke_between(other.message, saying.message) for other in earlier
    )


def _points_of_words(course: SessionCourse, saying: Saying) -> int:
    """How much the words speak for a correction, and when they were said."""
    words = saying.words
    says_no = negates(words)
    points = says_no + 2 * turns_against(words) - asks_for_more(words)
    if course.is_at_work(saying.message) and (says_no or not is_brief(words)):
        points += 2
    if course.is_answer(saying.message) and not is_question(words):
        return points - 2 + says_no  # who answers may object in the same breath
    return points + refuses(words) - (2 - says_no) * agrees(words)


def _reply(course: SessionCourse, saying: Saying) -> str:
    """What the agent said to it first, before anybody else spoke."""
    after = bisect_right(course.spoken, saying.message)
    is_answer = after < len(course.spoken) and course.spoken[after] <= course.end_of_turn(saying.message)
    return course.view.by_agent[after].text if is_answer else ""


def put_right(course: SessionCourse) -> Iterator[Stretch]:
    """What was stopped, and the work with which a correction was met."""
    for event in course.events:
        if event.kind is not InterventionKind.CORRECTION:
            yield _stopped(course, event)
        elif not _was_claimed(course, event):
            yield from _met(course, event, TroubleKind.CORRECTED)


def claimed(course: SessionCourse) -> Iterator[Stretch]:
    """The work with which a correction was met, where the agent had said that it was done."""
    for event in course.events:
        if event.kind is InterventionKind.CORRECTION and _was_claimed(course, event):
            yield from _met(course, event, TroubleKind.CLAIMED)


def _stopped(course: SessionCourse, event: SteppedIn) -> Stretch:
    """The agent's last doing before it was stopped or refused."""
    last = event.message
    while last > course.begin and course.messages[last].role is not Role.AGENT:
        last -= 1
    first = max(course.begin, last - 1)
    subject = event.tool or event.kind.value
    return Stretch(TroubleKind.CORRECTED, first, event.message, subject, event.kind.value, TroubleEnding.STOPPED)


def _met(course: SessionCourse, event: SteppedIn, kind: str) -> Iterator[Stretch]:
    """From the correction until what it asks for is done: the end of the turn, or the hand-over."""
    end = course.end_of_turn(event.message)
    following = course.moves_within(event.message, end)
    changes = [move for move in following if move.worked_on]
    if course.is_at_work(event.message):  # the rest of the turn is what was under way
        last = changes[0].answered if changes else end
    elif changes and not goes_back(course, event.message):
        return  # it led to other work, and nothing is done over
    else:
        last = next((move.answered for move in following if move.hands_over), end)
    ending = TroubleEnding.MENDED if changes else course.how_it_ends(end)
    yield Stretch(kind, event.message, last, event.kind.value, "", ending)


def _was_claimed(course: SessionCourse, event: SteppedIn) -> bool:
    """Whether the agent had said that it was done, and was then shown that it was not."""
    before = bisect_right(course.spoken, event.message)
    last = course.view.by_agent[before - 1] if before else None
    if last is None or not last.is_closing or not last.has(*CLAIMS):
        return False
    return shows_failure(event.words) or negates(own_words(event.words))
