"""Reviews: when a turn calls for one, and what is said of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.errors import WhetError
from whet.improving.review import order_text as order
from whet.ledger.entries import Actor, Entry, Step
from whet.ledger.patches import Action, Form, Patch
from whet.own.runs.settings import Review
from whet.own.told.review_when import ALLOWED, Counters, Reviewed, ReviewKind, count, denial, due, summary
from whet.sessions.transcripts import Ending, Message, Role, Text, ToolCall, ToolResult
from whet.sessions.trust import Trust
from whet.shipped.guidance import REVIEW

TOOLS = ("memory", "skills", "terminal")


def turn(number: int = 0) -> tuple[Message, ...]:
    return (
        Message(Role.USER, (Text(f"Do {number}."),), Trust.USER),
        Message(Role.AGENT, (Text("Done."),), Trust.AGENT),
    )


def wrote(tool: str, action: str, *, error: bool = False) -> tuple[Message, ...]:
    call = ToolCall("w", tool, f'{{"action": "{action}"}}')
    result = ToolResult("w", (Text("Done."),), tool, error=error)
    return (Message(Role.AGENT, (call,), Trust.AGENT), Message(Role.TOOL, (result,), Trust.TOOL))


def entry(form: Form, action: Action, name: str, text: str = "", step: Step = Step.APPLIED) -> Entry:
    return Entry(1, step, Patch(form, action, name, text), Actor.AGENT, 0.0)


def test_turns_and_model_calls_are_counted_since_the_last_write() -> None:
    assert count(turn() * 3) == Counters(3, 3)
    assert count((*turn() * 3, *wrote("memory", "add"), *turn())) == Counters(1, 5)
    assert count((*turn() * 3, *wrote("skills", "patch"), *turn())) == Counters(4, 1)


def test_reading_and_failing_are_no_writes() -> None:
    before = turn() * 3
    assert count((*before, *wrote("memory", "list"))).turns == 3
    assert count((*before, *wrote("memory", "add", error=True))).turns == 3
    assert count((*before, *wrote("skills", "view"))).calls == 4


def test_a_review_sets_its_own_counters_back() -> None:
    said = turn() * 4
    assert count(said, [Reviewed(ReviewKind.MEMORY, 6)]) == Counters(1, 4)
    assert count(said, [Reviewed(ReviewKind.SKILL, 6)]) == Counters(4, 1)
    assert count(said, [Reviewed(ReviewKind.COMBINED, 8)]) == Counters(0, 0)


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 20))
def test_the_review_that_is_due_follows_from_the_counters(turns: int, calls: int, every: int) -> None:
    kind = due(Counters(turns, calls), Ending.FINISHED, Review(every=every), TOOLS)
    assert (kind in (ReviewKind.MEMORY, ReviewKind.COMBINED)) == (0 < every <= turns)
    assert (kind in (ReviewKind.SKILL, ReviewKind.COMBINED)) == (0 < every <= calls)


def test_no_review_without_a_delivered_turn_a_setting_and_a_tool() -> None:
    many = Counters(99, 99)
    for ending in Ending:
        assert (due(many, ending, Review(), TOOLS) is not None) == (ending is Ending.FINISHED)
    assert due(many, Ending.FINISHED, Review(every=0), TOOLS) is None
    assert due(many, Ending.FINISHED, Review(), ("memory",)) is ReviewKind.MEMORY
    assert due(many, Ending.FINISHED, Review(), ("skills",)) is ReviewKind.SKILL
    assert due(many, Ending.FINISHED, Review(), ()) is None


def test_the_summary_names_every_change_also_what_was_removed_and_how_to_undo() -> None:
    line = summary(
        [
            entry(Form.NOTE, Action.ADD, "user/1", "Prefers \x1b[31mshort answers."),
            entry(Form.NOTE, Action.REMOVE, "memory/2"),
            entry(Form.SKILL, Action.CHANGE, "releasing"),
            entry(Form.NOTE, Action.ADD, "memory/3", "From a page.", Step.PROPOSED),
        ]
    )
    assert "note “Prefers" in line
    assert "removed note “memory/2”" in line
    assert "changed skill releasing" in line
    assert "undo" in line
    assert "1 change needs your approval" in line
    assert "\x1b" not in line
    assert "From a page" not in line
    assert summary([]) == ""


def test_only_memory_skills_and_search_are_allowed_and_nothing_is_put_away() -> None:
    assert all(denial(name, {"action": "add"}) == "" for name in ALLOWED)
    assert "terminal is not allowed" in denial("terminal", {})
    assert "archive is not allowed" in denial("skills", {"action": "archive"})


def test_the_order_names_its_signs_and_holds_what_was_asked_for() -> None:
    for kind in ReviewKind:
        text = order(kind, {})
        assert "annoyed or corrected you" in text
        assert "lacked a step. Put it right at once" in text
        assert "Where there is none, change nothing" in text
        assert ("Memory:" in text) == (kind is not ReviewKind.SKILL)
        assert ("Skills:" in text) == (kind is not ReviewKind.MEMORY)
        assert "{tools}" not in text
        assert "{parts}" not in text


def test_the_order_says_where_a_preference_goes_and_what_support_files_are_for() -> None:
    text = order(ReviewKind.COMBINED, {})
    assert "into the skill for that work as well as into memory" in text
    assert "make no new skill of what one sentence says" in text
    assert "word for word, if these can be understood without this conversation" in text
    assert all(f"- {folder}/: what one" in text for folder in ("references", "templates", "scripts"))


def test_own_words_take_the_place_of_those_that_ship() -> None:
    own = {"memory": "Keep what is said of tea.\n", "skill": " "}
    REVIEW.expect_sound(own)
    text = order(ReviewKind.COMBINED, own)
    assert "Keep what is said of tea." in text
    assert "Memory:" not in text
    assert "Skills:" in text, "an empty text replaces nothing"
    assert REVIEW.text("record", {"record": "{mark} {body}"}, body="said", mark="M") == "M said"


@pytest.mark.parametrize(
    ("own", "why"),
    [
        ({"ordre": "x"}, "replaces no text"),
        ({"order": "x {tools}"}, "lacks {parts}"),
        ({"record": "x"}, "{body}, {mark}"),
    ],
)
def test_own_words_that_would_be_lost_are_refused(own: dict[str, str], why: str) -> None:
    with pytest.raises(WhetError, match=why):
        REVIEW.expect_sound(own)
