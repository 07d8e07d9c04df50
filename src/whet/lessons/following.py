"""Whether a rule's situation came up in a session, whether the rule was told there, and whether it was followed.

Which rules can be reminded of at a call, at which, and whether they were followed after that.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from msgspec.structs import replace

from whet.ledger.entries import Item
from whet.ledger.patches import RuleSituation
from whet.lessons.call_patterns import STAGE, CallPattern, CommandForm, has_form, is_matched, is_named, spaced, words_of
from whet.lessons.finding import said_pieces
from whet.sessions.tool_families import Family, command_of, family_of
from whet.sessions.transcripts import Origin, Role, ToolCall, Transcript
from whet.sessions.trust import Trust
from whet.text.likeness import covered, sense, similarity, stance_of
from whet.text.words import names
from whet.trouble.outcomes.fingerprints import error_line
from whet.trouble.outcomes.purposes import is_shell, shown_call
from whet.trouble.outcomes.view import JudgedCall, SessionView
from whet.values import Value

SAME_WORDS = 0.6
SAME_ERROR = 0.5
SAME_PART = 0.3  # of the words of two parts of commands
_PART = re.compile(r" && | \|\| | ; |; ")
FEWEST_WORDS = 2
BEGINNING = 3
PROGRAMS = names("python ipython jupyter sql ls find grep mkdir patch open build lint")
"""Names of other agents' tools that are programs of the shell more often."""


class Following(Value, frozen=True):
    """How a rule fared since it came into force. What is not known of being told is neither told nor untold."""

    looked: int = 0  # sessions in which it holds
    came_up: int = 0
    told: int = 0
    untold: int = 0
    followed: int = 0
    told_followed: int = 0  # of those that were told
    reminded: int = 0  # at a call in the form that goes wrong
    reminded_followed: int = 0  # after that

    @property
    def unknown(self) -> int:
        return self.came_up - self.told - self.untold

    @property
    def not_followed(self) -> int:
        return self.came_up - self.followed


class RuleFinding(Value, frozen=True):
    """What the record of one session says of a rule: nothing where its situation did not come up."""

    followed: bool | None = None
    after: bool | None = None  # followed after the first call at which it would be reminded of
    is_in_record: bool = False  # its words stand in what was put into the conversation
    broken: tuple[int, ...] = ()  # the messages with calls that go against it


class SeenRule(NamedTuple):
    """What became of a rule in one session; `followed` is None where its situation did not come up."""

    followed: bool | None = None
    told: bool | None = None
    is_reminded: bool = False
    session: str = ""


def count_following(seen: Iterable[SeenRule]) -> Following:
    """The counts over sessions."""
    every = list(seen)
    up = [each for each in every if each.followed is not None]
    told = [each for each in up if each.told]
    reminded = [each for each in up if each.is_reminded]
    return Following(
        looked=len(every),
        came_up=len(up),
        told=len(told),
        untold=sum(each.told is False for each in up),
        followed=sum(each.followed is True for each in up),
        told_followed=sum(each.followed is True for each in told),
        reminded=len(reminded),
        reminded_followed=sum(each.followed is True for each in reminded),
    )


def situation_of(rule: Item) -> RuleSituation:
    """What a rule is for; of one that a person wrote and that has none on record, what they say in it."""
    if rule.situation == RuleSituation() and rule.trust is Trust.OPERATOR:
        return RuleSituation(said=rule.text)
    return rule.situation


def was_followed(situation: RuleSituation, view: SessionView) -> bool | None:
    """Whether a session did as the rule says; None where its situation did not come up."""
    if situation.call and situation.before:
        return _in_order(situation, view)
    if situation.call and situation.fix:
        return _in_form(situation, view)
    if situation.call:
        return _without_error(situation, view)
    return _as_said(situation.said, view) if situation.said else None


def detector_of(situation: RuleSituation) -> str:
    """In words, what `was_followed` goes by for a situation; empty where there is none."""
    if situation.call and situation.before:
        return "the call, and whether the other was run before it"
    if situation.call and situation.fix:
        return "calls in the form that goes wrong"
    if situation.call:
        return "the same call with the same error"
    return "the same correction, or a call that it is against" if situation.said else ""


def was_told(text: str, transcript: Transcript) -> bool:
    """Whether a rule's words stand in what programs put into a conversation for the agent to read."""
    wanted = _plain(text)
    return any(
        wanted in _plain(message.text)
        for message in transcript.messages
        if message.role is Role.SYSTEM or message.origin is Origin.INSERTED
    )


def forms_of(call: str, fix: str) -> tuple[CommandForm, CommandForm]:
    """The form that goes wrong and the one that works, by what is in the one and not in the other."""
    wrong, right = (words_of(part) for part in differing(call, fix))
    is_one_program = wrong[:1] == right[:1]
    return _form(wrong, right, is_one_program), _form(right, wrong, is_one_program)


def differing(call: str, fix: str) -> tuple[str, str]:
    """Of two commands of several parts, the two parts that are most alike and yet differ; whole where none do."""
    whole = " ".join(call.replace("`", "'").split()), " ".join(fix.replace("`", "'").split())
    if not fix or any(mark in text for text in whole for mark in "\"'"):
        return whole
    mine, theirs = (frozenset(_PART.split(text)) for text in whole)
    pairs = [(_alike(one, other), one, other) for one in mine - theirs for other in theirs - mine]
    best = max(pairs, default=(0.0, "", ""))
    return (best[1], best[2]) if best[0] >= SAME_PART else whole


def _alike(one: str, other: str) -> float:
    return similarity(frozenset(one.split()), frozenset(other.split()))


def _form(words: list[str], others: list[str], is_one_program: bool) -> CommandForm:
    """What only this one has: its program, verb and flags, else its other words.

    One program needs its verb, and what wraps the other's program needs that one.
    """
    own = [word for word in words if word not in others]
    verb = [word for word in words[1:2] if word.isalpha()]
    telling = [word for word in own if word in words[:1] or word in verb or word.startswith("-")]
    shared = verb if is_one_program else [word for word in others[:1] if word in words[1:]]
    return CommandForm(words[0] if words else "", frozenset((*shared, *(telling or own))), bool(own))


def _in_order(situation: RuleSituation, view: SessionView) -> bool | None:
    """Whether what is to be run before a call was, each time the session came to it."""
    call, wanted = (_plain_form(each) for each in (situation.call, situation.before))
    came_up = was_run = False
    for stage in (stage for step in view.steps for stage in _stages(step)):
        was_run = was_run or has_form(stage, wanted)
        if has_form(stage, call):
            came_up = True
            if not was_run:
                return False
    return True if came_up else None


def _plain_form(command: str) -> CommandForm:
    """A command by its program and its first word."""
    made = words_of(command)
    return CommandForm(made[0] if made else "", frozenset(word for word in made[1:2] if word.isalpha()), True)


def _in_form(situation: RuleSituation, view: SessionView) -> bool | None:
    """Whether the form that works was used and not the other; of two that fit one call, the one that says more."""
    wrong, right = forms_of(situation.call, situation.fix)
    is_right_first = len(right.telling) >= len(wrong.telling)
    came_up = False
    for step in view.steps:
        for stage in _stages(step):
            is_right, is_wrong = has_form(stage, right), has_form(stage, wrong) and (wrong.is_own or step.failed)
            if is_wrong and not (is_right and is_right_first):
                return False
            came_up = came_up or (is_right and not step.failed)
    return True if came_up else None


def _without_error(situation: RuleSituation, view: SessionView) -> bool | None:
    """Where nothing else is known to work: whether the call was made and that error did not come again."""
    form = _plain_form(situation.call)
    error = sense(situation.error).words
    came_up = False
    for step in view.steps:
        if not any(has_form(stage, form) for stage in _stages(step)):
            continue
        came_up = True
        if step.failed and error:
            words = sense(error_line(step.text)).words
            if similarity(error, words) >= SAME_ERROR:
                return False
    return True if came_up else None


def _as_said(said: str, view: SessionView) -> bool | None:
    """A person who says it again was not heeded; else what the calls name tells."""
    words = sense(said).words
    for piece in said_pieces(view):
        if len(words) >= FEWEST_WORDS and covered(words, sense(piece.text).words) >= SAME_WORDS:
            return False
    stance = stance_of(said)
    calls = [spaced(shown_call(step)) for step in view.steps]
    if any(is_named(name, call) for name in stance.unwanted for call in calls):
        return False
    return True if any(is_named(name, call) for name in stance.wanted for call in calls) else None


def _stages(step: JudgedCall) -> Iterator[list[str]]:
    """The simple commands of a call as words, wrappers and all; of another tool, its name and what it was given."""
    shown = shown_call(step)
    for part in STAGE.split(shown) if is_shell(step) else (shown,):
        if words := words_of(part):
            yield words


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def pattern_of(situation: RuleSituation) -> CallPattern | None:
    """The commands at which a rule for this is to be reminded of; None where it is about no command of the shell."""
    made = words_of(situation.call)
    families = (Family.SHELL, Family.OTHER)
    if made and made[0] not in PROGRAMS and family_of(ToolCall("", made[0], "")) not in families:
        return None  # the name of another tool
    if situation.call and situation.fix:
        wrong, right = forms_of(situation.call, situation.fix)
        is_right_first = len(right.telling) >= len(wrong.telling)
        if not wrong.is_own:  # the program alone would be reminded of at whatever it does
            begins = words_of(differing(situation.call, situation.fix)[0])[1:BEGINNING]
            wrong = wrong._replace(telling=wrong.telling.union(begins))
        return _pattern(wrong, right if is_right_first else None)
    if made:
        return _pattern(CommandForm(made[0], frozenset(word for word in made[1:2] if word.isalpha()), True))
    unwanted = tuple(sorted(stance_of(situation.said).unwanted))
    return CallPattern(named=unwanted) if unwanted else None


def followed_after(situation: RuleSituation, view: SessionView) -> bool | None:
    """Whether a session did as a rule says after its first call that is reminded at; None where there is none.

    Of two ways to do the same the one that works must come then; else it is enough that nothing goes wrong again.
    """
    pattern = pattern_of(situation)
    shells = (number for number, step in enumerate(view.steps) if pattern and is_shell(step))
    commands = ((number, command_of(view.steps[number].exchange.call)) for number in shells)
    reminded = next((number for number, command in commands if pattern and is_matched(pattern, command)), None)
    if reminded is None:
        return None
    since = view.transcript.messages[view.steps[reminded].exchange.asked :]
    later = SessionView(replace(view.transcript, messages=since), view.steps[reminded + 1 :], ())
    followed = was_followed(situation, later)
    return not situation.fix if followed is None else followed


def _pattern(wrong: CommandForm, right: CommandForm | None = None) -> CallPattern | None:
    if not wrong.program:
        return None
    unless = ((right.program, tuple(sorted(right.telling))),) if right else ()
    return CallPattern(wrong.program, tuple(sorted(wrong.telling)), unless)
