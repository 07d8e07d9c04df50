"""Whether a rule's situation came up in a session, whether the rule was told there, and whether it was followed."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from whet.failures.fingerprints import error_line
from whet.failures.view import JudgedCall, SessionView
from whet.ledger.patches import RuleSituation
from whet.lessons.contrasts import differing
from whet.lessons.pieces import key_words, stems
from whet.lessons.purposes import is_shell, shown_call
from whet.lessons.said import said_pieces
from whet.lessons.stances import stance_of
from whet.sessions.transcripts import Origin, Role, Transcript
from whet.values import Value

SAME_WORDS = 0.6
SAME_ERROR = 0.5
FEWEST_WORDS = 2
_STAGE = re.compile(r"&&|\|\||;|\||\n")
_ASSIGNED = re.compile(r"^\w+=")
_SIGNS = re.compile(r"[\s=:'\"()]+")


class CommandForm(NamedTuple):
    """How a call is known again: its program, and the words that tell it from another way to do the same.

    One that has nothing of its own is only known to go wrong where it failed.
    """

    program: str
    telling: frozenset[str]
    is_own: bool


class Following(Value, frozen=True):
    """How a rule fared since it came into force. What is not known of being told is neither told nor untold."""

    looked: int = 0  # sessions in which it holds
    came_up: int = 0
    told: int = 0
    untold: int = 0
    followed: int = 0
    told_followed: int = 0  # of those that were told

    @property
    def unknown(self) -> int:
        return self.came_up - self.told - self.untold


class SeenRule(NamedTuple):
    """One session in which a rule's situation came up."""

    followed: bool
    told: bool | None


def count_following(seen: Iterable[SeenRule | None]) -> Following:
    """The counts over sessions; None stands for one in which the situation did not come up."""
    every = list(seen)
    found = [each for each in every if each is not None]
    return Following(
        looked=len(every),
        came_up=len(found),
        told=sum(each.told is True for each in found),
        untold=sum(each.told is False for each in found),
        followed=sum(each.followed for each in found),
        told_followed=sum(each.followed for each in found if each.told),
    )


def was_followed(situation: RuleSituation, view: SessionView) -> bool | None:
    """Whether a session did as the rule says; None where its situation did not come up."""
    if situation.call and situation.fix:
        return _in_form(situation, view)
    if situation.call:
        return _without_error(situation, view)
    return _as_said(situation.said, view) if situation.said else None


def detector_of(situation: RuleSituation) -> str:
    """In words, what `was_followed` goes by for a situation; empty where there is none."""
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
    wrong, right = (_words(part) for part in differing(call, fix))
    is_one_program = wrong[:1] == right[:1]
    return _form(wrong, right, is_one_program), _form(right, wrong, is_one_program)


def _form(words: list[str], others: list[str], is_one_program: bool) -> CommandForm:
    """What only this one has: its program, verb and flags, else its other words.

    One program needs its verb, and what wraps the other's program needs that one.
    """
    own = [word for word in words if word not in others]
    verb = [word for word in words[1:2] if word.isalpha()]
    telling = [word for word in own if word in words[:1] or word in verb or word.startswith("-")]
    shared = verb if is_one_program else [word for word in others[:1] if word in words[1:]]
    return CommandForm(words[0] if words else "", frozenset((*shared, *(telling or own))), bool(own))


def _in_form(situation: RuleSituation, view: SessionView) -> bool | None:
    """Whether the form that works was used and not the other; of two that fit one call, the one that says more."""
    wrong, right = forms_of(situation.call, situation.fix)
    is_right_first = len(right.telling) >= len(wrong.telling)
    came_up = False
    for step in view.steps:
        for stage in _stages(step):
            is_right, is_wrong = _has(stage, right), _has(stage, wrong) and (wrong.is_own or step.failed)
            if is_wrong and not (is_right and is_right_first):
                return False
            came_up = came_up or (is_right and not step.failed)
    return True if came_up else None


def _without_error(situation: RuleSituation, view: SessionView) -> bool | None:
    """Where nothing else is known to work: whether the call was made and that error did not come again."""
    made = _words(situation.call)
    form = CommandForm(made[0] if made else "", frozenset(word for word in made[1:2] if word.isalpha()), True)
    error = stems(key_words(situation.error))
    came_up = False
    for step in view.steps:
        if not any(_has(stage, form) for stage in _stages(step)):
            continue
        came_up = True
        if step.failed and error:
            words = stems(key_words(error_line(step.text)))
            if len(error & words) >= SAME_ERROR * len(error | words):
                return False
    return True if came_up else None


def _as_said(said: str, view: SessionView) -> bool | None:
    """A person who says it again was not heeded; else what the calls name tells."""
    words = stems(key_words(said))
    for piece in said_pieces(view):
        other = stems(piece.keys)
        if len(words) >= FEWEST_WORDS and len(words & other) >= SAME_WORDS * len(words):
            return False
    stance = stance_of(said)
    calls = [f" {' '.join(_SIGNS.split(shown_call(step).lower()))} " for step in view.steps]
    if any(f" {name} " in call for name in stance.unwanted for call in calls):
        return False
    return True if any(f" {name} " in call for name in stance.wanted for call in calls) else None


def _stages(step: JudgedCall) -> Iterator[list[str]]:
    """The simple commands of a call as words, wrappers and all; of another tool, its name and what it was given."""
    shown = shown_call(step)
    for part in _STAGE.split(shown) if is_shell(step) else (shown,):
        if words := _words(part):
            yield words


def _words(part: str) -> list[str]:
    words = [word.strip("'\"`") for word in part.split()]
    while words and _ASSIGNED.match(words[0]):
        words = words[1:]
    return words


def _has(stage: list[str], form: CommandForm) -> bool:
    return bool(form.program) and stage[0] == form.program and form.telling <= {*stage}


def _plain(text: str) -> str:
    return " ".join(text.lower().split())
