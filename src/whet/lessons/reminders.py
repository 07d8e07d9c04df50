"""Which rules can be reminded of at a call, at which, and whether they were followed after that."""

from collections.abc import Iterator

from msgspec.structs import replace

from whet.ledger.patches import RuleSituation
from whet.lessons.call_patterns import CallPattern, CommandForm, is_matched, words_of
from whet.lessons.following import differing, forms_of, was_followed
from whet.lessons.stances import stance_of
from whet.outcomes.purposes import is_shell
from whet.outcomes.view import SessionView
from whet.sessions.arguments import command_of
from whet.sessions.tool_families import Family, family_of
from whet.sessions.transcripts import ToolCall
from whet.text.words import names

BEGINNING = 3
PROGRAMS = names("python ipython jupyter sql ls find grep mkdir patch open build lint")
"""Names of other agents' tools that are programs of the shell more often."""


def pattern_of(situation: RuleSituation) -> CallPattern | None:
    """The commands at which a rule for this is to be reminded of; None where it is about no command of the shell."""
    made = words_of(situation.call)
    if made and not _is_program(made[0]):
        return None
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
    reminded = next((number for number, command in _commands(view) if pattern and is_matched(pattern, command)), None)
    if reminded is None:
        return None
    since = view.transcript.messages[view.steps[reminded].exchange.asked :]
    later = SessionView(replace(view.transcript, messages=since), view.steps[reminded + 1 :], ())
    followed = was_followed(situation, later)
    return not situation.fix if followed is None else followed


def _is_program(word: str) -> bool:
    """Whether a call that begins with this word is a command, and not the name of another tool."""
    return word in PROGRAMS or family_of(ToolCall("", word, "")) in (Family.SHELL, Family.OTHER)


def _pattern(wrong: CommandForm, right: CommandForm | None = None) -> CallPattern | None:
    if not wrong.program:
        return None
    unless = ((right.program, tuple(sorted(right.telling))),) if right else ()
    return CallPattern(wrong.program, tuple(sorted(wrong.telling)), unless)


def _commands(view: SessionView) -> Iterator[tuple[int, str]]:
    return ((number, command_of(step.exchange.call)) for number, step in enumerate(view.steps) if is_shell(step))
