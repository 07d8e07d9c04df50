"""People who step in: refusals, interrupts and corrections, and the stretches in which their objections were met."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, takewhile

import re2

from whet.sessions.lineage import is_persons_refusal, is_typed
from whet.sessions.transcripts import Message, Origin, Role
from whet.text.words import names, own_words
from whet.trouble.clock import is_asking
from whet.trouble.course import NOTHING_KNOWN, CourseStep, SessionCourse, SessionKnowledge, SteppedIn, Stretch, moves_of
from whet.trouble.outcomes.check_forms import CHECKS
from whet.trouble.outcomes.deciding import Outcome, refusal_words
from whet.trouble.outcomes.view import Saying, SessionView
from whet.trouble.values import InterventionKind, Speaker, TroubleEnding, TroubleKind
from whet.trouble.verdicts import CheckVerdict, first_sentence

SHOWN_LETTERS = 6_000
OBJECTION_LETTERS = 160  # an objection comes first; further on some no stands in any text
# The words of negation and of "still" are few in every language, and stand in most objections.
NEGATIONS = names(
    "no not nor never none nothing cannot still instead wrong "
    "dont doesnt didnt isnt arent wasnt werent wont wouldnt shouldnt couldnt hasnt havent "
    "nicht kein keine keinen keiner keines keinem nie niemals nein nichts immernoch statt stattdessen falsch "
    "не нет ни никогда ничего вместо ещё неверно нельзя ні немає "
    "ne pas non jamais rien toujours aucun aucune "
    "nunca nada tampoco todavía sigue não nem ainda nenhum nenhuma non mai niente ancora invece "
    "niet geen nooit nog steeds nie nadal żaden inte aldrig ingen fortfarande ikke aldri stadig fortsatt "
    "ei enää değil yok hâlâ hala không chưa vẫn tidak bukan belum masih jangan niciodată încă "
    "لا ليس لم لن غير नहीं मत לא אין"
)
NO = names("no nope nein нет ні non não nee nej nei hayır nie لا नहीं לא")
_NO_UNSPACED = ("不", "いや", "いいえ", "違", "아니", "ไม่")
# Conjunctions that set what follows against what was said before.
BUT = names(
    "but however although though aber doch allerdings jedoch но однако зато mais pourtant cependant pero mas porém "
    "ma però maar echter men ale jednak ama fakat ancak nhưng tetapi tapi însă لكن लेकिन אבל але проте"
)
# Who asks for the reason of what was done doubts it.
WHY = names(
    "why warum wieso weshalb почему зачем чому навіщо pourquoi perché porquê waarom varför hvorfor dlaczego czemu "
    "miksi miért neden niçin mengapa kenapa لماذا क्यों למה מדוע"
)
# With these somebody agrees; with breaths nothing is said yet.
YES = names(
    "yes yeah yep yup sure ja jep klar genau да ага конечно oui ouais sí claro vale sim sì tak evet tamam igen joo "
    "có نعم हाँ हां כן так"
)
BREATHS = YES | names("ok okay hm hmm well so and na und ну et bueno então allora")
# With these the next task begins, or one more.
NEXT = names(
    "now next then and jetzt nun danach und теперь далее затем потом maintenant ensuite puis ahora luego después "
    "agora depois ora adesso poi nu nästa teraz potem şimdi sonra"
)
ALSO = names(
    "also additionally furthermore auch außerdem zudem также тоже aussi también además também além anche inoltre "
    "ook också også też również ayrıca cũng juga"
)
FIRST_WORDS = 2  # among which a word of the next task stands
FIRST_WORDS_ALSO = 5  # among which a word stands that asks for one more
_NEXT_UNSPACED = ("现在", "接下来", "然后", "还有", "另外", "次に", "また", "あと", "이제", "다음", "그리고")
_WHY_UNSPACED = ("为什么", "为何", "なぜ", "どうして", "왜", "ทำไม")
_BUT_UNSPACED = ("但", "不过", "可是", "でも", "しかし", "けど", "하지만", "그런데", "แต่")
_YES_UNSPACED = ("是的", "好的", "对,", "对，", "はい", "ええ", "네", "예,", "ใช่")
_CHOICE = re.compile(r"\W{0,3}\d")  # one of the things that the agent had numbered
_UNSPACED = re.compile(r"[不没沒未別别還还又]|ない|ません|まだ|違|않|못|아니|아직|ไม่")
_CONTRACTED = re.compile(r"n['’]t\b")
_QUESTION = re.compile(r"[^.!?\n。！？]{0,300}[?？]")
_WORD = re.compile(r"[^\W\d_]+")
_FAILURE = re2.compile(
    r"(?m)^\W*(?:(?i:error|err!|fatal|panic|exception|fehler|erreur|ошибка|错误)\b\W*[:\]\[]|Traceback \(most recent)"
    r"|^\s*(?:[A-Za-z_][\w.]*\.)?[A-Z]\w*(?:Error|Exception)\b: \S|^\s+at [\w.$<>]+ ?\([^\n]*:\d+"
)

ENOUGH = 2  # points with which a message is a correction
TAKEN_BACK_SECONDS = 10.0


def negates(text: str) -> bool:
    """Whether the words say no to something, or that it is still so; a question says neither."""
    return _has_negation(_QUESTION.sub(" ", text[:OBJECTION_LETTERS]))


def _has_negation(words: str) -> bool:
    if _CONTRACTED.search(words) or _UNSPACED.search(words):
        return True
    return not NEGATIONS.isdisjoint(word.lower() for word in _WORD.findall(words))


def refuses(text: str) -> bool:
    """Whether the words begin with a no."""
    return not NO.isdisjoint(_first(text)[:1]) or text.lstrip().startswith(_NO_UNSPACED)


def turns_against(text: str) -> bool:
    """Whether the words begin with a but or a why, or ask whether something is not so."""
    words = _first(text)
    begin = words[1] if words[:1] and words[0] in BREATHS and words[1:2] else "".join(words[:1])
    if begin in BUT or begin in WHY or text.lstrip().startswith((*_BUT_UNSPACED, *_WHY_UNSPACED)):
        return True
    asked = _QUESTION.match(text.lstrip()[:OBJECTION_LETTERS])
    return asked is not None and _has_negation(" ".join(asked[0].split()[:4]))


def asks_for_more(text: str) -> bool:
    """Whether the words begin the next task, or one more of the same."""
    words = _first(text)
    is_next = not NEXT.isdisjoint(words[:FIRST_WORDS]) or text.lstrip().startswith(_NEXT_UNSPACED)
    return is_next or not ALSO.isdisjoint(words[:FIRST_WORDS_ALSO])


def agrees(text: str) -> bool:
    """Whether the words begin with a yes, or choose what the agent had offered."""
    words = _first(text)
    is_yes = bool(words) and words[0] in YES and not turns_against(text)
    return is_yes or text.lstrip().startswith(_YES_UNSPACED) or _CHOICE.match(text) is not None


def _first(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text[:OBJECTION_LETTERS])[: FIRST_WORDS_ALSO + 1]]


def is_question(text: str) -> bool:
    """Whether the words ask something back."""
    return text.rstrip().endswith(("?", "？"))


def shows_failure(text: str) -> bool:
    """Whether a text shows what a program printed when it failed."""
    shown = text if len(text) <= SHOWN_LETTERS else text[: SHOWN_LETTERS // 2] + "\n" + text[-SHOWN_LETTERS // 2 :]
    return _FAILURE.search(shown) is not None or bool(CHECKS.first(shown))


def course_of(view: SessionView, known: SessionKnowledge = NOTHING_KNOWN, *, begin: int = 0) -> SessionCourse:
    """The course of a session, which knows who stepped in."""
    return SessionCourse(view, moves_of(view, known.checks), begin, known, events)


def events(course: SessionCourse) -> tuple[SteppedIn, ...]:
    """Everything with which somebody stepped in, each once, in order."""
    found = (*_refusals(course), *_interrupts(course), *_stopped_calls(course), *_corrections(course))
    return tuple(_merged(course, sorted(found)))


def _refusals(course: SessionCourse) -> Iterator[SteppedIn]:
    for move in course.stopped:
        if move.step.decision.outcome is not Outcome.REJECTED or move.answered < course.begin:
            continue
        result = move.step.exchange.result
        words = refusal_words(result.text) if result is not None else ""
        # A plan with which the record ends was taken to another session.
        if words or not is_asking(move.step.exchange) or course.goes_on_after(move.answered):
            by = Speaker.PERSON if is_persons_refusal(result, course.messages) else Speaker.TEAM
            yield SteppedIn(move.answered, InterventionKind.REFUSAL, words, by, move.step.tool)


def _interrupts(course: SessionCourse) -> Iterator[SteppedIn]:
    for index in course.of_programs:
        if course.messages[index].origin is not Origin.INTERRUPT or index < course.begin:
            continue
        before = index - 1  # the last message that no program inserted
        while before >= 0 and course.messages[before].origin is Origin.INSERTED:
            before -= 1
        # A refusal may say the same already.
        if before not in course.refused and (before < 0 or _is_of_agent(course, before, index)):
            yield SteppedIn(index, InterventionKind.INTERRUPT, "", _whose(course, None))


def _stopped_calls(course: SessionCourse) -> Iterator[SteppedIn]:
    """Calls that were cut off, where the next word is the person's: some agents record no other sign of it."""
    for move in course.stopped:
        after = move.answered + 1
        if move.step.decision.outcome is not Outcome.CANCELLED or not course.begin < after < len(course.messages):
            continue
        if is_typed(course.messages[after]):
            yield SteppedIn(move.answered, InterventionKind.INTERRUPT, "", _whose(course, None))


def _is_of_agent(course: SessionCourse, before: int, stopped: int) -> bool:
    """Whether the agent was stopped: who stops at once what they have just typed takes it back."""
    typed = course.messages[before]
    if typed.role is not Role.USER:
        return True
    at, since = course.messages[stopped].at, typed.at
    return at is not None and since is not None and at - since >= TAKEN_BACK_SECONDS


def _whose(course: SessionCourse, words: Message | None) -> Speaker:
    """A key pressed is the person's in a record that shows the person; words are theirs where the record vouches."""
    vouched = words.vouched if words is not None else course.is_vouched
    return Speaker.PERSON if vouched else Speaker.TEAM


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
    """What people typed that objects to the agent's work or changes it: as a reader judged, else by the grammar."""
    shown, corrections = frozenset(course.known.judged.shown), frozenset(course.known.judged.corrections)
    for saying in course.view.by_user:
        at, message = saying.message, course.messages[saying.message]
        if at < course.begin or not is_typed(message):
            continue
        is_judged = at in shown
        if is_judged:
            corrects = at in corrections and course.spoke_between(-1, at)
        else:
            corrects = course.has_acted_before(at) and _corrects(course, saying)
        if corrects:
            event = SteppedIn(at, InterventionKind.CORRECTION, saying.text, _whose(course, message))
            yield event._replace(is_judged=is_judged)


def _corrects(course: SessionCourse, saying: Saying) -> bool:
    """Whether a message shows a failure or objects.

    When it came and what the agent does next cannot tell a correction from one more wish.
    """
    has_worked = course.has_worked_before(saying.message)
    if shows_failure(saying.text) and has_worked:
        return True
    if is_question(saying.words) and not has_worked and not course.is_resumed:
        return False
    points = _points_of_words(course, saying)
    if points >= ENOUGH:
        return negates(saying.words) or turns_against(saying.words)
    # What the agent does next is looked at where it decides.
    is_near = points == ENOUGH - 1 and not course.is_at_work(saying.message)
    return is_near and _answers_or_changes(course, saying.message)


def _points_of_words(course: SessionCourse, saying: Saying) -> int:
    """How much the words speak for a correction, and when they were said."""
    words = saying.words
    says_no, turns = negates(words), turns_against(words)
    points = says_no + 2 * turns - asks_for_more(words)
    if (says_no or turns) and course.is_at_work(saying.message):
        points += 2
    if course.is_answer(saying.message) and not is_question(words):
        return points - 2 + says_no  # who answers may object in the same breath
    return points + refuses(words) - (2 - says_no) * agrees(words)


def _answers_or_changes(course: SessionCourse, said: int) -> bool:
    """Whether the agent then changes something, or only answers: it does not look into something new."""
    following = course.moves_within(said, course.end_of_turn(said))
    return not following or any(move.worked_on or move.delegates or move.hands_over for move in following)


def put_right(course: SessionCourse) -> Iterator[Stretch]:
    """What was stopped, and the work with which a correction was met."""
    for event in course.events:
        if event.kind is not InterventionKind.CORRECTION:
            yield _stopped(course, event)
        elif not _was_claimed(course, event):
            yield from _met(course, event, TroubleKind.CORRECTED)


def claimed(course: SessionCourse) -> Iterator[Stretch]:
    """The work with which a correction was met, where the agent had said that it was done, or left a check red."""
    corrections = {event.message: event for event in course.events if event.kind is InterventionKind.CORRECTION}
    for event in corrections.values():
        if _was_claimed(course, event):
            yield from _met(course, event, TroubleKind.CLAIMED)
    for said in course.openings:
        mended = None if said in corrections else _mends_left_red(course, said)
        if mended is not None:
            cause = first_sentence(course.messages[said].text)
            yield Stretch(TroubleKind.CLAIMED, said, mended.answered, cause=cause)


def _mends_left_red(course: SessionCourse, said: int) -> CourseStep | None:
    """The first run of a check that the agent had handed back red, where what it then changed made it green."""
    if not course.claimed_done(said):
        return None
    standing: dict[str, CheckVerdict] = {}
    for move in course.moves_within(course.start_of_turn(said - 1), said - 1):
        if move.verdict is not CheckVerdict.NONE:
            standing.update(dict.fromkeys(move.checks, move.verdict))
    red = {name for name, verdict in standing.items() if verdict is CheckVerdict.RED}
    following = course.moves_within(said, course.end_of_turn(said)) if red else ()
    again = next((move for move in following if red & move.checks), None)
    is_mended = again and again.verdict is CheckVerdict.GREEN and course.has_changed(said, again.asked)
    return again if is_mended else None


def _stopped(course: SessionCourse, event: SteppedIn) -> Stretch:
    """The agent's last doing before it was stopped or refused."""
    last = event.message
    while last > course.begin and course.messages[last].role is not Role.AGENT:
        last -= 1
    first = max(course.begin, last - 1)
    cause = first_sentence(event.words) or event.kind.value
    return Stretch(TroubleKind.CORRECTED, first, event.message, event.tool, cause, TroubleEnding.STOPPED)


def _met(course: SessionCourse, event: SteppedIn, kind: str) -> Iterator[Stretch]:
    """From the correction until what it asks for is done: the end of the turn, or the hand-over.

    No longer than the work took that it objects to: what comes after that is the next piece of work.
    """
    end = course.end_of_turn(event.message)
    following = course.moves_within(event.message, end)
    # Where the agent asks before it puts something right, it does so after the person's yes.
    while not any(move.worked_on for move in following) and _is_agreed(course, end + 1):
        end = course.end_of_turn(end + 1)
        following = course.moves_within(event.message, end)
    changes = [move for move in following if move.worked_on]
    if course.is_at_work(event.message):  # the rest of the turn is what was under way
        last = changes[0].answered if changes else end
    else:
        last = next((move.answered for move in following if move.hands_over), end)
    ending = TroubleEnding.MENDED if changes else course.how_it_ends(end)
    last = min(last, _as_long_again(course, event.message))
    yield Stretch(kind, event.message, last, cause=first_sentence(event.words), ending=ending)


def _as_long_again(course: SessionCourse, said: int) -> int:
    """The message by which the agent had worked on for as long as on what a message objects to."""
    spent = list(accumulate(course.seconds[course.start_of_work(said - 1) + 1 : said + 1]))
    since = list(accumulate(course.seconds[said + 1 :]))
    return said + 1 + bisect_right(since, spent[-1]) if spent and spent[-1] else len(course.messages) - 1


def _is_agreed(course: SessionCourse, message: int) -> bool:
    """Whether a message says yes to what the agent had asked."""
    return message < len(course.messages) and course.is_answer(message) and agrees(course.messages[message].text)


def _was_claimed(course: SessionCourse, event: SteppedIn) -> bool:
    """Whether the agent had handed its work back as done, and it was said, shown or then met that it was not."""
    if not course.claimed_done(event.message):
        return False
    if shows_failure(event.words) or negates(own_words(event.words)):
        return True
    following = course.moves_within(event.message, course.end_of_turn(event.message))
    looks = takewhile(lambda move: not move.worked_on, following)
    return any(move.verdict is CheckVerdict.RED for move in looks)


def not_followed(course: SessionCourse) -> Iterator[Stretch]:
    """The calls of each message at which a rule was broken."""
    for broken in course.known.breaks:
        if course.begin <= broken.message < len(course.messages):
            asked = course.moves_within(broken.message, broken.message)
            last = max((move.answered for move in asked), default=broken.message)
            first = max(course.begin, broken.message - 1)
            yield Stretch(TroubleKind.TOLD, first, last, "rule", broken.rule, TroubleEnding.LEFT)
