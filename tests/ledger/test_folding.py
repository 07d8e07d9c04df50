"""What the entries add up to: for each home its own, and for a skill together with its files."""

from itertools import count

from msgspec.structs import replace

from whet.ledger.entries import Actor, Entry, State, Step
from whet.ledger.folding import fold, grounds_of, seen_from
from whet.ledger.patches import Action, Form, Patch, digest
from whet.sessions.trust import Trust

FILE = "brewing/references/water.md"
OTHER = "brewing-tea/references/leaves.md"


def made(number: int, step: Step, name: str, *, form: Form = Form.SKILL, text: str = "text", **more: object) -> Entry:
    action = Action.ADD if text else Action.REMOVE
    patch = Patch(form, action, name, text, trust=Trust.USER)
    fields = {"before": "" if text else digest("text"), "after": patch.after, **more}
    return Entry(number, step, patch, Actor.PERSON, float(number), **fields)  # type: ignore[arg-type]


def names(state: State) -> list[tuple[str, str]]:
    return [(item.home, item.name) for item in state.items]


def with_files() -> list[Entry]:
    """Two homes with the same skill and its file, and in one of them a skill with a longer name, and a note."""
    numbers = count(1)
    return [
        *(
            made(next(numbers), Step.APPLIED, name, form=form, home=home)
            for home in ("mine", "theirs")
            for form, name in ((Form.SKILL, "brewing"), (Form.FILE, FILE))
        ),
        made(next(numbers), Step.APPLIED, "brewing-tea", home="mine"),
        made(next(numbers), Step.APPLIED, OTHER, form=Form.FILE, home="mine"),
        made(next(numbers), Step.APPLIED, "memory/brewing", form=Form.NOTE, home="mine"),
    ]


def test_a_skill_that_goes_takes_its_own_files_along_and_brings_them_back() -> None:
    entries = with_files()
    whole = fold(entries)
    removed = made(8, Step.APPLIED, "brewing", text="", home="mine")
    without = fold([*entries, removed])
    assert set(names(whole)) - set(names(without)) == {("mine", "brewing"), ("mine", FILE)}
    back = made(9, Step.UNDONE, "brewing", text="", about=8, home="mine")
    undone = fold([*entries, removed, back])
    assert undone.items == whole.items
    redone = fold([*entries, removed, back, made(10, Step.REDONE, "brewing", text="", about=8, home="mine")])
    assert redone.items == without.items


def test_a_rule_or_note_that_goes_leaves_the_files_of_a_skill_of_its_name() -> None:
    entries = [
        made(1, Step.APPLIED, "brewing", form=Form.RULE),
        made(2, Step.APPLIED, "brewing/references/water.md", form=Form.FILE),
        made(3, Step.APPLIED, "brewing", form=Form.RULE, text=""),
    ]
    assert names(fold(entries)) == [("", FILE)]


def test_a_file_that_left_by_itself_does_not_come_back_with_its_skill() -> None:
    entries = [
        made(1, Step.APPLIED, "brewing"),
        made(2, Step.APPLIED, FILE, form=Form.FILE),
        made(3, Step.UNDONE, "brewing", about=1),
        made(4, Step.REDONE, "brewing", about=1),
        made(5, Step.UNDONE, FILE, form=Form.FILE, about=2),
        made(6, Step.UNDONE, "brewing", about=1),
        made(7, Step.REDONE, "brewing", about=1),
    ]
    assert names(fold(entries[:4])) == [("", "brewing"), ("", FILE)]
    assert names(fold(entries)) == [("", "brewing")]


def test_a_home_sees_what_is_shared_and_its_own_of_every_part() -> None:
    entries: list[Entry] = []
    for home in ("", "mine", "theirs"):
        number = len(entries)
        word = home or "shared"
        entries += [
            made(number + 1, Step.APPLIED, f"{word}-done", home=home),
            made(number + 2, Step.PROPOSED, f"{word}-waits", home=home),
            made(number + 3, Step.APPROVED, f"{word}-granted", home=home),
            made(number + 4, Step.BEGUN, f"{word}-begun", home=home),
        ]
    entries += [
        made(number, Step.UNDONE, "x", about=about, home=home)
        for number, about, home in ((13, 9, "theirs"), (14, 5, "mine"), (15, 1, ""))
    ]
    whole = fold(entries)
    seen = seen_from("mine", whole)
    assert [change.key.home for change in seen.undone] == ["mine", ""]
    for part in ("pending", "granted", "unfinished"):
        assert [entry.home for entry in getattr(whole, part)] == ["", "mine", "theirs"]
        assert [entry.home for entry in getattr(seen, part)] == ["", "mine"]
    before = seen_from("mine", fold(entries[:12]))
    assert [change.key.home for change in before.done] == ["", "mine"]
    assert [item.home for item in before.items] == ["", "mine"]


def test_a_change_ends_what_was_begun_and_uses_up_its_approval_alone() -> None:
    begun = [
        made(1, Step.APPROVED, "a"),
        made(2, Step.APPROVED, "b"),
        made(3, Step.BEGUN, "a"),
        made(4, Step.BEGUN, "b"),
    ]
    applied = made(5, Step.APPLIED, "a", begun=3)
    state = fold([*begun, applied])
    assert [entry.patch.name for entry in state.granted] == ["b"]
    assert [entry.patch.name for entry in state.unfinished] == ["b"]
    assert fold([*begun, applied, made(6, Step.ABANDONED, "b", begun=4)]).unfinished == ()


def test_a_decision_ends_the_waiting_of_what_it_is_about() -> None:
    waiting = [made(1, Step.PROPOSED, "a"), made(2, Step.PROPOSED, "b")]
    for step in (Step.APPROVED, Step.REFUSED, Step.EXPIRED, Step.REJECTED):
        state = fold([*waiting, made(3, step, "a", about=1)])
        assert [entry.patch.name for entry in state.pending] == ["b"]
        assert state.refused == ({waiting[0].patch.id} if step is Step.REFUSED else frozenset())
        assert state.approved == ({waiting[0].patch.id} if step is Step.APPROVED else frozenset())


def test_what_another_member_did_turns_nothing_back_here() -> None:
    entries = [made(1, Step.APPLIED, "a")]
    for step in (Step.UNDONE, Step.REDONE, Step.REVERTED, Step.PROMOTED):
        state = fold([*entries, made(2, step, "a", about=7)])
        assert (state.items, state.done, state.undone) == (fold(entries).items, fold(entries).done, ())


def test_a_change_after_an_undo_leaves_nothing_to_redo() -> None:
    entries = [made(1, Step.CANARY, "a"), made(2, Step.APPLIED, "b"), made(3, Step.UNDONE, "b", about=2)]
    assert len(fold(entries).undone) == 1
    assert fold([*entries, made(4, Step.APPLIED, "c")]).undone == ()
    assert fold([*entries, made(4, Step.PROMOTED, "a", about=1)]).undone == ()


def test_promoting_a_removal_changes_nothing() -> None:
    entries = [made(1, Step.APPLIED, "a"), made(2, Step.APPLIED, "a", text="")]
    state = fold([*entries, made(3, Step.PROMOTED, "a", about=2)])
    assert (state.items, state.done) == ((), fold(entries).done)


def test_an_item_says_where_it_came_from() -> None:
    entry = made(4, Step.CANARY, "a", share=0.25, maker="role", home="mine")
    (item,) = fold([entry]).items
    assert (item.number, item.since, item.canary, item.share) == (4, 4.0, True, 0.25)
    assert (item.maker, item.home, item.trust) == ("role", "mine", Trust.USER)
    assert not fold([made(4, Step.APPLIED, "a")]).items[0].canary


def test_what_a_person_had_left_there_has_no_entry_and_comes_back() -> None:
    changed = made(5, Step.APPLIED, "a", home="mine", replaced="theirs", before=digest("theirs"))
    state = fold([made(1, Step.APPLIED, "a", home="mine"), changed, made(6, Step.UNDONE, "a", about=5)])
    (item,) = state.items
    assert (item.text, item.number, item.since, item.home) == ("theirs", 0, 5.0, "mine")


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
