"""Where a rule reaches: the models that a person named, and not those that wrote it or tried it."""

from itertools import count

import pytest

from whet.ledger.entries import Actor, Entry, Item, State, Step
from whet.ledger.folding import fold, grounds_of, scope_of
from whet.ledger.patches import Action, Form, Patch, Scope
from whet.sessions.trust import Trust

RULE = Patch(Form.RULE, Action.ADD, "tidy", "Tidy up.", Scope(("tiny-1b",), project="/srv/shop"), trust=Trust.AGENT)
THERE = Scope(project="/srv/shop")
WRITTEN = (Step.PROPOSED, Actor.POLICY)
APPROVED, APPLIED = (Step.APPROVED, Actor.PERSON), (Step.APPLIED, Actor.PERSON)
REFUSED, REOPENED = (Step.REFUSED, Actor.PERSON), (Step.PROPOSED, Actor.PERSON)


def history(*acts: tuple[Step, Actor], patch: Patch = RULE) -> list[Entry]:
    """Each is about the one before it."""
    numbers = count(1)
    return [
        Entry(number := next(numbers), step, patch, actor, float(number), after=patch.after, about=number - 1)
        for step, actor in acts
    ]


def only(state: State) -> Item:
    [item] = state.rules
    return item


@pytest.mark.parametrize(
    "acts",
    [
        ((Step.APPLIED, Actor.POLICY),),
        ((Step.ACCEPTED, Actor.POLICY), (Step.CANARY, Actor.POLICY)),
        (WRITTEN, APPROVED, APPLIED),
        (WRITTEN, APPROVED, (Step.CANARY, Actor.PERSON)),
        (WRITTEN, APPLIED),
        (WRITTEN, REFUSED, REOPENED, APPROVED, APPLIED),
    ],
)
def test_a_model_that_wrote_or_tried_a_rule_is_no_scope(acts: tuple[tuple[Step, Actor], ...]) -> None:
    entries = history(*acts)
    whole = fold(entries)
    assert (only(whole).scope, only(whole).came_with) == (THERE, ("tiny-1b",))
    for cut in range(len(entries)):
        assert fold(entries[cut:], fold(entries[:cut])) == whole


@pytest.mark.parametrize(
    "acts",
    [
        (APPLIED,),
        ((Step.PROPOSED, Actor.AGENT), APPROVED, APPLIED),
        ((Step.PROPOSED, Actor.AGENT), (Step.UNDECIDED, Actor.POLICY), APPROVED, APPLIED),
        (APPLIED, (Step.ACCEPTED, Actor.POLICY), (Step.APPLIED, Actor.POLICY)),
    ],
)
def test_a_model_that_somebody_named_is_a_scope(acts: tuple[tuple[Step, Actor], ...]) -> None:
    assert only(fold(history(*acts))).scope == RULE.scope


def test_who_edits_a_rule_of_a_model_does_not_name_that_model() -> None:
    state = fold(history(WRITTEN, APPROVED, APPLIED))
    edited = Patch(Form.RULE, Action.CHANGE, "tidy", "Tidy up well.", RULE.scope, trust=Trust.OPERATOR)
    entry = Entry(4, Step.APPLIED, edited, Actor.PERSON, 4.0, before="x", after=edited.after)
    assert only(fold([entry], state)).scope == THERE


def test_who_adds_a_rule_anew_names_the_model() -> None:
    gone = Patch(Form.RULE, Action.REMOVE, "tidy", trust=Trust.OPERATOR)
    removed = Entry(4, Step.APPLIED, gone, Actor.PERSON, 4.0, before=RULE.after)
    again = Entry(5, Step.APPLIED, RULE, Actor.PERSON, 5.0, after=RULE.after)
    assert only(fold([*history(WRITTEN, APPROVED, APPLIED), removed, again])).scope == RULE.scope


def test_what_waits_says_where_it_will_hold() -> None:
    [entry] = history(WRITTEN)
    assert scope_of(entry, fold([entry])) == THERE
    [entry] = history((Step.PROPOSED, Actor.AGENT))
    assert scope_of(entry, fold([entry])) == RULE.scope


def test_the_model_of_a_trial_is_said_as_evidence() -> None:
    entries = history((Step.ACCEPTED, Actor.POLICY), (Step.APPLIED, Actor.POLICY))
    assert grounds_of(only(fold(entries)), entries) == "proved in a trial (on tiny-1b, entry 1)"
