"""All trouble of a session: whose the minutes are, what they cost and why."""

import msgspec
import pytest
from msgspec.structs import replace

from conversations import agent, call, conversation, shell, timed, user
from whet.sessions.transcripts import Transcript, Usage
from whet.trouble.course import Stretch
from whet.trouble.finding import find_trouble, owned_messages
from whet.trouble.outcomes.view import JudgedCall, gather
from whet.trouble.values import SessionTrouble, TroubleKind
from whet.trouble.verdicts import first_sentence, plain_error, red_name

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


def failed(text: str) -> JudgedCall:
    [step] = gather(conversation(user("Go."), shell("npm test", text, error=True))).steps
    return step


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("Exit code 1\nerror: unknown flag '--debug' in /srv/a/b", "unknown flag … in …"),
        ("<tool_use_error>File has not been read yet.</tool_use_error>", "File has not been read yet."),
        ("git: 'psuh' is not a git command.\n\nSee 'git --help'.", "git: … is not a git command."),
        ("12 files, 3 of 4", ""),
        ("{}", ""),
        ("\n".join(["Group ok: 3 commits", *(f"step {number} of 9 went by" for number in range(9))]), ""),
    ],
)
def test_an_error_is_told_without_what_varies_or_not_at_all(text: str, cause: str) -> None:
    assert plain_error(failed(text)) == cause


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("FAIL\tgithub.com/me/shop/src\t0.3s\n--- FAIL: TestPrice (0.00s)", "TestPrice"),
        ("FAIL src/price.test.ts\n", "src/price.test.ts"),
        ("(fail) Price > rounds up [1.85ms]", "Price > rounds up"),
        (" 1365 pass\n" * 9, ""),
        (
            "  ✓  9 [chromium] › a.spec.ts:3:1 › opens\n  ✘  10 [chromium] › a.spec.ts:9:3 › buys (30.0s)",
            "a.spec.ts:9:3 › buys",
        ),
        ("  1) [webkit] › a.spec.ts:9:3 › buys ─────\n\n    Error Context: test-results/a.md", "a.spec.ts:9:3 › buys"),
    ],
)
def test_what_was_red_is_named_without_how_long_it_took(text: str, name: str) -> None:
    assert red_name(failed(text)) == name


def test_a_red_check_is_named_by_the_first_run_that_says_what_was_red() -> None:
    edit = call("Edit", {"file_path": "a.ts", "old_string": "a", "new_string": "b"}, "ok")
    again = call("Edit", {"file_path": "a.ts", "old_string": "b", "new_string": "c"}, "ok")
    silent = shell("npm test", "12 files, 3 of 4", error=True)
    telling = shell("npm test", "FAIL src/price.test.ts", error=True)
    green = shell("npm test", "4 of 4", error=False)
    [trouble] = find_trouble(conversation(user("Go."), edit, silent, again, telling, edit, green)).troubles
    assert trouble.cause == "src/price.test.ts"


def test_a_correction_is_named_by_what_was_said_first() -> None:
    assert first_sentence("No. The header is red. It was blue.") == "No. The header is red."
    edits = (call("Edit", {"file_path": "a.ts", "old_string": each, "new_string": f"{each}1"}, "ok") for each in "ab")
    first, second = edits
    session = conversation(
        user("Make it blue."), first, agent("Done."), user("It is not blue. Look again."), second, shell("ls", "a.ts")
    )
    assert [trouble.cause for trouble in find_trouble(session).troubles] == ["It is not blue."]
