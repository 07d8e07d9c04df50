"""What is said of a session's trouble as a whole: what it costs, who owns a minute, and what may be stored."""

import msgspec
from msgspec.structs import replace

from conversations import agent, call, conversation, shell, timed, user
from whet.sessions.transcripts import Transcript, Usage
from whet.trouble.course import Stretch
from whet.trouble.finding import find_trouble, owned_messages
from whet.trouble.values import SessionTrouble, TroubleKind

SECRET = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


def slipping() -> Transcript:
    session = timed(
        conversation(
            user("Read it."),
            call("Read", {"file_path": "a.py"}, "File does not exist", error=True),
            call("Read", {"file_path": "src/a.py"}, "text"),
            agent("Read."),
        )
    )
    used = (replace(one, usage=Usage(input=100, output=10), model="m" * bool(one.calls)) for one in session.messages)
    return replace(session, messages=tuple(used), model="other")


def test_a_stretch_costs_what_its_messages_cost() -> None:
    found = find_trouble(slipping(), price=lambda usage, model: usage.input * (1.0 if model == "m" else 0.5))
    [slip] = found.troubles
    assert (slip.tokens, slip.calls, slip.dollars) == (220, 1, 150)  # the failed answer, and the call that worked
    assert find_trouble(slipping()).troubles[0].dollars == 0


def test_what_the_record_says_a_call_cost_is_what_it_cost() -> None:
    session = slipping()
    paid = tuple(replace(one, usage=Usage(1, 1, cost_dollars=0.25)) for one in session.messages)
    [slip] = find_trouble(replace(session, messages=paid), price=lambda *_: 9.0).troubles
    assert slip.dollars == 0.5


def test_an_unknown_price_costs_nothing() -> None:
    assert find_trouble(slipping(), price=lambda *_: None).troubles[0].dollars == 0


def test_a_minute_belongs_to_the_innermost_stretch() -> None:
    outer, inner = Stretch(TroubleKind.RED_CHECK, 0, 9), Stretch(TroubleKind.SLIP, 3, 5)
    assert owned_messages([outer, inner], 20) == [[1, 2, 3, 6, 7, 8, 9], [4, 5]]
    assert owned_messages([inner, outer], 20) == [[4, 5], [1, 2, 3, 6, 7, 8, 9]]


def test_between_equals_the_table_of_kinds_decides() -> None:
    red, slip = Stretch(TroubleKind.RED_CHECK, 0, 3), Stretch(TroubleKind.SLIP, 0, 3)
    assert owned_messages([red, slip], 9) == [[], [1, 2, 3]]


def test_a_stretch_of_single_messages_leaves_the_rest_to_others() -> None:
    some = Stretch(TroubleKind.THROWN_AWAY, 1, 8, only=frozenset({1, 2, 8}))
    assert owned_messages([some, Stretch(TroubleKind.CORRECTED, 0, 8)], 9) == [[1, 2, 8], [3, 4, 5, 6, 7]]


def test_no_secret_is_kept() -> None:
    session = conversation(
        user("Log in."),
        shell("login", f"error: token {SECRET} was refused", error=True),
        agent("It is refused."),
        user(f"No, that is wrong, use {SECRET} instead."),
        shell("login", "ok"),
    )
    found = find_trouble(session)
    assert found.troubles
    assert found.interventions
    assert SECRET not in msgspec.json.encode(found).decode()


def test_it_is_stored_and_read_back() -> None:
    found = find_trouble(slipping())
    assert msgspec.json.decode(msgspec.json.encode(found), type=SessionTrouble) == found


def test_an_empty_session_has_no_trouble() -> None:
    assert find_trouble(conversation()).troubles == ()
