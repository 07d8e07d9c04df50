"""The table of kinds of trouble: a row says all that differs from one kind to the next."""

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import Any, Generic, NamedTuple, TypeVar

from whet.failures import call_signals, claim_signals, word_signals
from whet.failures.signals import Kind, Signal
from whet.failures.view import SessionView

Seen = TypeVar("Seen")
Found = TypeVar("Found")


class ChangeKind(StrEnum):
    """What a lesson would change."""

    RULE = "rule"  # an instruction that the agent reads
    SKILL = "skill"  # a way to do a class of task
    MEMORY = "memory"  # a fact about the person and their preferences
    ENVIRONMENT = "environment"  # advice to the person; never an instruction for the agent


class KindOfTrouble(NamedTuple, Generic[Seen, Found]):
    """One kind of trouble: how it is named, told, mended and found.

    `name` is what is stored. `label` names it in lists; `sentence` says what goes wrong, without its subject, and may
    name the `{tool}`. `meaning` is the same for a model that writes a rule. `change` is what can be done: trouble of
    the environment is a person's to mend, all other is the agent's; `remedy` says it to people. Each detector reads one
    session. A package that
    changes what its detectors find raises `version`, so that sessions are analysed again.
    """

    name: str
    label: str
    sentence: str
    change: ChangeKind
    detectors: tuple[Callable[[Seen], Iterable[Found]], ...] = ()
    meaning: str = ""
    version: int = 1
    remedy: str = ""

    def what(self, tool: str = "") -> str:
        """What goes wrong, as a sentence without its subject."""
        return self.sentence.format(tool=tool or "a tool")


KindTable = Sequence[KindOfTrouble[SessionView, Signal]]

KINDS: tuple[KindOfTrouble[SessionView, Signal], ...] = (
    KindOfTrouble(
        Kind.RETRY_LOOP,
        label="repeats a failing call",
        sentence="calls {tool} again in the same way after it failed",
        meaning="the agent repeats a call that failed, unchanged",
        change=ChangeKind.RULE,
        detectors=(call_signals.retry_loops,),
    ),
    KindOfTrouble(
        Kind.TOOL_FAILURE,
        label="a tool fails",
        sentence="{tool} fails",
        meaning="a call of the tool fails",
        change=ChangeKind.RULE,
        detectors=(call_signals.tool_failures,),
    ),
    KindOfTrouble(
        Kind.TIMEOUT,
        label="runs out of time",
        sentence="{tool} runs out of time",
        meaning="a call runs out of time",
        change=ChangeKind.RULE,
        detectors=(call_signals.timeouts,),
    ),
    KindOfTrouble(
        Kind.HALLUCINATION,
        label="contradicts the record",
        sentence="claims or uses something the record contradicts",
        meaning="the agent says or uses what its record does not bear out",
        change=ChangeKind.RULE,
        detectors=(
            call_signals.inventions,
            claim_signals.false_claims,
            claim_signals.unbacked_claims,
            claim_signals.unmade_actions,
            claim_signals.denials,
            claim_signals.admissions,
        ),
    ),
    KindOfTrouble(
        Kind.CONTEXT_LOSS,
        label="asks again for what it has",
        sentence="asks for or repeats something already in the session",
        meaning="the agent asks for, or does again, what the record already holds",
        change=ChangeKind.SKILL,
        detectors=(call_signals.rereads, word_signals.reminders),
    ),
    KindOfTrouble(
        Kind.USER_CORRECTION,
        label="is corrected",
        sentence="is corrected by the user",
        meaning="the user corrects the agent",
        change=ChangeKind.MEMORY,
        detectors=(word_signals.corrections,),
    ),
    KindOfTrouble(
        Kind.GAVE_UP,
        label="gives up",
        sentence="gives up",
        meaning="the agent gives up",
        change=ChangeKind.SKILL,
        detectors=(word_signals.surrenders,),
    ),
    KindOfTrouble(
        Kind.BUDGET_SPENT,
        label="runs out of budget",
        sentence="spends its budget without finishing",
        meaning="the agent spends its budget without finishing",
        change=ChangeKind.SKILL,
        detectors=(call_signals.budgets,),
    ),
)
OWN_NAMES = frozenset(row.name for row in KINDS)


def kind_named(name: str, kinds: Iterable[KindOfTrouble[Any, Any]] = KINDS) -> KindOfTrouble[Any, Any]:
    """The row of a kind. One that nobody knows any more, since its package is gone, is told by its name."""
    known = next((row for row in kinds if row.name == name), None)
    words = in_words(name)
    return known or KindOfTrouble(name, words, words.replace("{", "{{").replace("}", "}}"), ChangeKind.SKILL)


def in_words(name: str) -> str:
    """The name of a kind as people read it."""
    return name.replace("_", " ")
