"""On what grounds a thing is in force."""

from msgspec.structs import replace

from whet.ledger.entries import Actor, Entry, Step
from whet.ledger.folding import fold, grounds_of
from whet.ledger.patches import Action, Form, Patch
from whet.sessions.trust import Trust

PATCH = Patch(Form.RULE, Action.ADD, "plants", "Water the plants on Mondays.", trust=Trust.USER)


def entry(number: int, step: Step, actor: Actor = Actor.PERSON, about: int = 0) -> Entry:
    return Entry(number, step, PATCH, actor, float(number), PATCH.before, PATCH.after, about=about, share=0.5)


def said(*entries: Entry) -> str:
    [rule] = fold(entries).rules
    return grounds_of(rule, entries)


def test_what_nobody_tried_is_there_on_somebodys_word() -> None:
    assert said(entry(1, Step.APPLIED)) == "on your word, not tried"
    assert said(entry(1, Step.APPLIED, Actor.AGENT)) == "by agent, not tried"


def test_a_trial_of_the_same_words_counts() -> None:
    assert said(entry(1, Step.ACCEPTED), entry(2, Step.APPLIED)) == "proved in a trial (entry 1)"
    assert said(entry(1, Step.APPLIED), entry(2, Step.UNDECIDED)) == "on your word, a trial was undecided (entry 2)"
    tried = replace(entry(1, Step.ACCEPTED), tried_on="tiny-1b")
    assert said(tried, entry(2, Step.APPLIED)) == "proved in a trial (on tiny-1b, entry 1)"
    assert said(entry(1, Step.REJECTED), entry(2, Step.APPLIED)) == "on your word, though a trial rejected it (entry 1)"


def test_a_canary_is_being_tried() -> None:
    canary = entry(1, Step.CANARY, Actor.POLICY)
    assert said(canary) == "a canary: being tried in live sessions"
    assert said(canary, entry(2, Step.PROMOTED, about=1)) == "on your word, after a canary (entry 2)"
