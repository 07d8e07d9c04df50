"""Templates from recoveries: the later, working call of each session that shows a lesson is the example."""

from msgspec.structs import replace

from conversations import agent, conversation, shell, user
from whet.lessons.changed_calls import CallCourse, changes_of
from whet.lessons.record import LessonPiece
from whet.lessons.taught_rules import rules_taught
from whet.own.examples.mining import Mined, WantedTemplate, mine, mine_recoveries
from whet.sessions.transcripts import Transcript
from whet.trouble.outcomes.view import gather

MODULES = ["cart", "price", "stock", "order", "user", "mail", "tax", "login", "search", "refund", "ship", "coupon"]


def session(module: str, *, works: str = "./dev test {}", secret: str = "") -> Transcript:
    return conversation(
        user(f"Do the tests of {module} pass?"),
        shell(f"python -m pytest test_{module}.py", "Use: ./dev test MODULE", error=True),
        shell(works.format(module) + secret, "3 passed"),
        agent("They pass."),
        native_id=module,
    )


def pieces_of(sessions: list[Transcript]) -> tuple[LessonPiece, ...]:
    changes = {each.id: changes_of(CallCourse(gather(each))) for each in sessions}
    [rule] = rules_taught("shop", changes, ())
    return rule.evidence.pieces


def mined(sessions: list[Transcript]) -> Mined:
    return mine_recoveries(sessions, pieces_of(sessions))


def test_the_later_call_is_the_example_and_never_the_one_that_failed() -> None:
    found = mined([session(module) for module in MODULES])
    assert [each.arguments for each in found.examples] == [
        f'{{"command":"./dev test {module}"}}' for module in MODULES[:6]
    ]
    first = found.examples[0]
    assert first.intent == "Do the tests of cart pass?"
    assert first.is_whole
    assert first.evidence.endswith("it worked where `python -m pytest test_cart.py` had failed")


def test_half_of_the_sessions_are_left_to_judge_it() -> None:
    assert len(mined([session(module) for module in MODULES[:8]]).examples) == 4
    assert len(mined([session(module) for module in MODULES[:4]]).examples) == 3


def test_too_few_sessions_are_no_template() -> None:
    found = mined([session(module) for module in MODULES[:2]])
    assert found.examples == ()
    assert (found.seen, found.used) == (2, 2)


def test_a_call_with_a_secret_is_left_out_and_the_next_session_takes_its_place() -> None:
    secret = " --token ghp_0123456789abcdefghijABCDEFGHIJ012345"
    plain = [session(module) for module in MODULES]
    leaky = [session(MODULES[0], secret=secret), *plain[1:]]
    found = mine_recoveries(leaky, pieces_of(plain))
    assert found.examples[0].arguments == '{"command":"./dev test price"}'
    assert len(found.examples) == 6
    assert found.left_out == {"no call that worked instead": 1}


def test_where_there_is_little_else_several_calls_of_a_kind_are_mined() -> None:
    sessions = [session(module) for module in MODULES]
    found = mine(sessions, WantedTemplate(sessions=2))
    assert len(found.examples) == 5
    assert len({each.session for each in found.examples}) == 5
    assert all("./dev test" in each.arguments for each in found.examples)


def test_a_piece_that_does_not_say_what_worked_is_found_by_the_form_that_worked_elsewhere() -> None:
    sessions = [session(module) for module in MODULES]
    first, *others = pieces_of(sessions)
    found = mine_recoveries(sessions, (replace(first, fix=""), *others))
    assert found.examples[0].arguments == '{"command":"./dev test cart"}'
