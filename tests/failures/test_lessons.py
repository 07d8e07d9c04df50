from collections.abc import Iterator

from conversations import Turn, agent, call, conversation, shell, user
from whet.failures.analysis import Analysis, analyse
from whet.failures.environment import Cause
from whet.failures.kinds import ChangeKind
from whet.failures.lessons import RecurringFailure, distill, shows
from whet.failures.signals import Kind
from whet.sessions.trust import Trust
from whet.shipped.data import failure_weights

WEIGHTS = failure_weights()
WORKED = call("Edit", {"file_path": "b.py", "old_string": "y"}, "updated")


def edit(old: str, path: str = "/app/a.py") -> Turn:
    answer = f"<tool_use_error>String to replace not found in {path}.</tool_use_error>"
    return call("Edit", {"file_path": path, "old_string": old}, answer, error=True)


def session(number: int, *turns: Turn, at: float = 0.0, model: str = "m") -> Analysis:
    return analyse(conversation(user("go on"), *turns, native_id=str(number), at=at, model=model), WEIGHTS)


def lessons(*analyses: Analysis) -> tuple[RecurringFailure, ...]:
    return distill(iter(analyses))


def test_what_recurs_in_three_sessions_is_a_lesson() -> None:
    found = lessons(*(session(n, edit(str(n), f"/app/{n}.py"), at=float(n + 1), model=f"m{n}") for n in range(3)))
    (lesson,) = found
    assert (lesson.kind, lesson.tool, lesson.change) == (Kind.TOOL_FAILURE, "Edit", ChangeKind.RULE)
    assert (lesson.sessions, lesson.base) == (3, 3)
    assert (lesson.since, lesson.latest) == (1.0, 3.0)
    assert lesson.models == ("m0", "m1", "m2")
    assert lesson.trust is Trust.TOOL
    assert len({example.session for example in lesson.examples}) == 3


def test_two_sessions_are_not_enough_however_often_they_fail() -> None:
    assert not lessons(*(session(n, *(edit(str(i)) for i in range(9))) for n in range(2)))


def test_a_session_counts_once() -> None:
    once = [session(n, edit("a"), edit("b"), edit("c")) for n in range(3)]
    assert all(lesson.sessions == 3 for lesson in lessons(*once))


def test_a_rarity_among_the_sessions_that_use_the_tool_is_no_lesson() -> None:
    healthy = [session(n, WORKED) for n in range(100, 300)]
    assert not lessons(*(session(n, edit("a")) for n in range(3)), *healthy)


def test_sessions_that_never_used_the_tool_are_not_held_against_it() -> None:
    others = [session(n, shell("python a.py", "ok")) for n in range(100, 300)]
    assert lessons(*(session(n, edit("a")) for n in range(3)), *others)


def test_what_the_agent_makes_good_by_itself_is_no_rule() -> None:
    (lesson,) = lessons(*(session(n, edit("a"), WORKED) for n in range(5)))
    assert lesson.change is ChangeKind.SKILL


def test_a_fault_of_the_surroundings_is_advice_and_never_a_rule() -> None:
    missing = shell("npm ci", "Exit code 127\n/bin/bash: npm: command not found", error=True)
    (lesson,) = lessons(*(session(n, missing) for n in range(4)))
    assert (lesson.change, lesson.cause) == (ChangeKind.ENVIRONMENT, Cause.ENVIRONMENT)
    assert lesson.fingerprint == "missing program: npm"


def test_near_duplicates_are_one_lesson() -> None:
    def failing(word: str) -> Turn:
        text = f"Error: the value of the field {word} must be one of the allowed values for it"
        return call("submit_form", {"field": word}, text, error=True)

    (lesson,) = lessons(*(session(n, failing(word)) for n, word in enumerate(("alpha", "beta", "gamma"))))
    assert lesson.sessions == 3


def test_a_wish_that_people_repeat_is_worth_a_memory() -> None:
    def wish(number: int) -> Analysis:
        return session(number, agent("Done."), user("No, please use tabs instead of spaces for indentation"))

    (lesson,) = lessons(*(wish(number) for number in range(4)))
    assert (lesson.change, lesson.trust) == (ChangeKind.MEMORY, Trust.USER)


def test_unrelated_corrections_are_no_lesson() -> None:
    words = ("No, wrong colour there", "You forgot the French translation", "That's not right: sort by date")
    assert not lessons(*(session(n, agent("Done."), user(text)) for n, text in enumerate(words)))


def test_healthy_sessions_teach_nothing() -> None:
    red, green = shell("pytest", "1 failed", error=True), shell("pytest", "1 passed")
    assert not lessons(*(session(n, red, WORKED, green, agent("All tests pass.")) for n in range(20)))
    assert not lessons()


def test_memory_does_not_grow_with_the_sessions() -> None:
    def many() -> Iterator[Analysis]:
        for number in range(1_500):
            words = " ".join(chr(97 + (number // 26**place) % 26) * 3 for place in range(4))
            yield session(number, call("run", {"n": number}, f"Error: {words}", error=True))

    assert distill(many()) == ()


def test_a_lesson_shows_in_exactly_the_sessions_that_it_counts() -> None:
    def failing(number: int) -> Turn:
        return call("run", {"n": number}, "Error: no such table users", error=True)

    plain = [session(number, failing(number), user("go on"), failing(number + 50)) for number in range(3)]
    loop = [failing(9)] * 4
    looping = session(7, *loop)
    healthy = session(8, call("run", {"n": 1}, "done"))
    found = [one for one in distill([*plain, looping, healthy]) if one.kind == Kind.TOOL_FAILURE]
    assert len(found) == 1
    shown = [each.session for each in (*plain, looping, healthy) if shows(found[0], each)]
    assert len(shown) == found[0].sessions == 3
    assert looping.session not in shown


def test_a_fault_of_the_surroundings_shows_whatever_it_broke_first() -> None:
    loops = [session(number, *[call("run", {"n": number}, "bash: jq: command not found", error=True)] * 4)
             for number in range(3)]  # fmt: skip
    (lesson,) = (one for one in distill(loops) if one.cause is Cause.ENVIRONMENT)
    assert [shows(lesson, each) for each in loops] == [True, True, True]
