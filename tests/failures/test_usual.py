"""Sessions are compared with others of their agent, project and model, and with nobody where too few are known."""

from hypothesis import given
from hypothesis import strategies as st

from conversations import agent, call, conversation, user
from whet.failures.usual import AS_USUAL, NEEDED, Circle, Size, beyond, circle_of, size_of, usual_by_circle

HERE = Circle("claude-code", "", "/home/noor/app", "opus")
sizes = st.builds(Size, st.integers(0, 10**7), st.integers(0, 10**6))
SMALL = Size(1_000, 100)


def known(count: int, size: Size = SMALL, circle: Circle = HERE) -> list[tuple[Circle, Size]]:
    return [(circle, size) for _ in range(count)]


def test_a_few_sessions_make_nothing_usual() -> None:
    usual = usual_by_circle(known(NEEDED - 1))
    assert beyond(Size(10**6, 10**5), HERE, usual) == AS_USUAL


def test_a_longer_session_goes_beyond_and_a_shorter_one_stays_below() -> None:
    usual = usual_by_circle(known(NEEDED))
    assert beyond(Size(1_000, 100), HERE, usual) == AS_USUAL
    assert min(beyond(Size(10**6, 10**5), HERE, usual)) == 1
    assert max(beyond(Size(10, 1), HERE, usual)) == 0


def test_where_a_project_is_new_its_agent_is_asked() -> None:
    usual = usual_by_circle(known(NEEDED))
    elsewhere = HERE._replace(folder="/home/noor/other")
    assert min(beyond(Size(10**6, 10**5), elsewhere, usual)) == 1
    other_agent = HERE._replace(source="codex")
    assert beyond(Size(10**6, 10**5), other_agent, usual) == AS_USUAL


def test_the_narrowest_circle_decides() -> None:
    long_ones = known(NEEDED, Size(10**6, 10**5), HERE._replace(folder="/home/noor/large"))
    usual = usual_by_circle([*known(NEEDED), *long_ones])
    assert beyond(Size(10**6, 10**5), HERE._replace(folder="/home/noor/large"), usual) == AS_USUAL
    assert min(beyond(Size(10**6, 10**5), HERE, usual)) == 1


@given(st.lists(sizes, min_size=NEEDED, max_size=20), sizes, sizes)
def test_a_place_is_between_nought_and_one_and_grows_with_the_size(many: list[Size], one: Size, other: Size) -> None:
    usual = usual_by_circle((HERE, size) for size in many)
    low, high = sorted((one, other), key=lambda size: size.whole)
    below, above = beyond(low, HERE, usual), beyond(high, HERE, usual)
    assert all(0 <= each <= 1 for each in (*below, *above))
    assert below.whole <= above.whole


def test_the_size_is_what_was_said_and_what_came_back() -> None:
    talk = conversation(user("Go on."), call("run", {}, "12345"), agent("Done."))
    assert size_of(talk.messages) == Size(whole=len("Go on.{}12345Done."), said=len("{}Done."))
    assert circle_of(talk).source == talk.source
