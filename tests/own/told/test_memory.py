"""Notes: changes are unambiguous or refused, batches are whole, and people's edits stand."""

from hypothesis import given
from hypothesis import strategies as st

from whet.ledger.patches import Action, digest
from whet.own.told import memory
from whet.own.told.memory import LIMITS, Memory, Note, NoteChange, Reason, Refusal, difference, find, normalised
from whet.own.told.note_pages import PageForm

EMPTY = Memory("memory")
forms = st.sampled_from(PageForm)
words = st.lists(st.sampled_from(["tea", "Tea", "milk", "no", "sugar", "é"]), min_size=1, max_size=3).map(" ".join)
changes = st.lists(
    st.builds(NoteChange, st.just(Action.ADD), words)
    | st.builds(NoteChange, st.just(Action.CHANGE), words, words)
    | st.builds(NoteChange, st.just(Action.REMOVE), match=words),
    min_size=1,
    max_size=4,
)


def holding(*texts: str, form: PageForm = PageForm.LIST) -> Memory:
    made = memory.change(Memory("memory", form=form), [NoteChange(Action.ADD, text) for text in texts])
    assert isinstance(made, Memory)
    return made


def texts(found: Memory | Refusal) -> list[str]:
    assert isinstance(found, Memory), found
    return [note.text for note in found.notes]


def refused(found: Memory | Refusal) -> Refusal:
    assert isinstance(found, Refusal)
    return found


def modelled(notes: list[str], batch: list[NoteChange]) -> list[str] | None:
    """The batch on a plain list; None where it must be refused."""
    notes = list(notes)
    for one in batch:
        folded = [note.casefold() for note in notes]
        if one.action is Action.ADD:
            if one.text.casefold() in folded:
                return None
            notes.append(one.text)
            continue
        exact = [i for i, note in enumerate(folded) if note == one.match.casefold()]
        places = exact or [i for i, note in enumerate(folded) if one.match.casefold() in note]
        if len(places) != 1:
            return None
        if one.action is Action.REMOVE:
            notes.pop(places[0])
        elif one.text.casefold() in folded[: places[0]] + folded[places[0] + 1 :]:
            return None
        else:
            notes[places[0]] = one.text
    return notes


@given(st.lists(changes, max_size=6), forms)
def test_any_sequence_of_batches_equals_a_plain_list(batches: list[list[NoteChange]], form: PageForm) -> None:
    kept, model = Memory("memory", form=form), list[str]()
    for batch in batches:
        expected = modelled(model, batch)
        made = memory.change(kept, batch)
        assert isinstance(made, Refusal) == (expected is None)
        if isinstance(made, Memory) and expected is not None:
            kept, model = made, expected
        assert texts(kept) == model
        assert texts(memory.read("memory", kept.page, kept.notes, form)) == model


@given(st.lists(changes, max_size=4), changes)
def test_the_patches_of_a_change_lead_from_the_one_state_to_the_other(
    batches: list[list[NoteChange]], last: list[NoteChange]
) -> None:
    before = EMPTY
    for batch in batches:
        made = memory.change(before, batch)
        before = made if isinstance(made, Memory) else before
    after = memory.change(before, last)
    if isinstance(after, Refusal):
        return
    notes = {note.id: note.text for note in before.notes}
    for patch in difference(before, after):
        note_id = patch.name.removeprefix("memory/")
        assert patch.before == digest(notes.get(note_id))
        if patch.action is Action.REMOVE:
            del notes[note_id]
        else:
            assert (patch.action is Action.CHANGE) is (note_id in notes)
            notes[note_id] = patch.text
    assert notes == {note.id: note.text for note in after.notes}


def test_a_fragment_that_two_notes_hold_is_refused_with_both() -> None:
    kept = holding("Runs tests with tox.", "Runs Python 3.13.", "Lives in Porto.")
    refusal = refused(memory.change(kept, [NoteChange(Action.REMOVE, match="runs")]))
    assert refusal.reason is Reason.AMBIGUOUS
    assert [note.text for note in refusal.candidates] == ["Runs tests with tox.", "Runs Python 3.13."]
    assert texts(memory.change(kept, [NoteChange(Action.REMOVE, match="with   TOX")])) == [
        "Runs Python 3.13.",
        "Lives in Porto.",
    ]


def test_a_note_is_found_by_its_id_and_by_its_whole_words_before_others_that_hold_them() -> None:
    kept = holding("Tea", "Tea with milk")
    assert find(kept, "tea") == kept.notes[0]
    assert find(kept, kept.notes[1].id) == kept.notes[1]
    assert isinstance(find(kept, ""), Refusal)


def test_a_batch_is_refused_wholly() -> None:
    kept = holding("one")
    batch = [NoteChange(Action.ADD, "two"), NoteChange(Action.REMOVE, match="three")]
    assert refused(memory.change(kept, batch)).reason is Reason.MISSING
    assert texts(kept) == ["one"]


def test_the_same_note_in_other_letters_and_blanks_is_a_duplicate() -> None:
    refusal = refused(memory.change(holding("Likes green tea."), [NoteChange(Action.ADD, " likes  GREEN tea. ")]))
    assert refusal.reason is Reason.DUPLICATE
    assert refusal.candidates[0].text == "Likes green tea."


def test_a_full_memory_says_what_to_consolidate_and_a_batch_may_make_room_first() -> None:
    long, other = "a" * 1500, "b" * 1500
    kept = holding(long, "short")
    refusal = refused(memory.change(kept, [NoteChange(Action.ADD, other)]))
    assert refusal.reason is Reason.FULL
    assert refusal.candidates[0].text == long
    assert texts(memory.change(kept, [NoteChange(Action.ADD, other), NoteChange(Action.REMOVE, match="aaa")])) == [
        "short",
        other,
    ]


def test_what_a_person_wrote_beyond_the_limit_stays_and_may_shrink() -> None:
    page = "".join(f"- {letter * 900}\n" for letter in "abcd")
    kept = memory.read("memory", page)
    assert kept.size > LIMITS["memory"]
    assert refused(memory.change(kept, [NoteChange(Action.ADD, "more")])).reason is Reason.FULL
    assert len(texts(memory.change(kept, [NoteChange(Action.REMOVE, match="aaa")]))) == 3
    assert len(memory.block(kept)) <= LIMITS["memory"]


def test_hidden_characters_and_marks_of_the_page_are_refused() -> None:
    for text in ("a\u202eb", "a\x00b", "tag\U000e0041", "a\n§\nb", "done -->", "\u200b", "\ud800"):
        assert refused(memory.change(EMPTY, [NoteChange(Action.ADD, text)])).reason is Reason.CHARACTERS
    assert refused(memory.change(EMPTY, [NoteChange(Action.ADD, " \n ")])).reason is Reason.EMPTY


def test_a_persons_edit_is_picked_up_as_their_own_note() -> None:
    learned = Note("aaaa0001", "Uses npm.", source="agent", at=1.0, entry=7)
    kept = memory.read("memory", "- Uses pnpm, never npm.\n- Uses npm.\n", [learned])
    assert kept.notes[1] == learned
    assert (kept.notes[0].source, kept.notes[0].at, kept.notes[0].entry) == ("person", None, 0)
    assert kept.notes[0].id != learned.id
    assert [note.source for note in memory.read("memory", "- Uses pnpm.\n", [learned]).notes] == ["person"]


def test_a_note_written_twice_by_hand_has_two_ids() -> None:
    kept = memory.read("memory", "- a\n- a\n")
    assert len({note.id for note in kept.notes}) == 2


def test_a_note_that_comes_back_has_the_id_that_it_had() -> None:
    made = memory.change(EMPTY, [NoteChange(Action.ADD, "again", id="beef0001")])
    assert isinstance(made, Memory)
    assert made.notes[0].id == "beef0001"


@given(st.text())
def test_normalising_twice_changes_nothing_more(text: str) -> None:
    assert normalised(normalised(text)) == normalised(text)
