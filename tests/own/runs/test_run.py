"""What runs cost, when a budget is spent, and what a fork may do."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from whet.own.runs.run import Budget, Run, Spent, exceeded, fork, grown, is_open, spend, together
from whet.sessions.transcripts import Message, Origin, Purpose, Role, Text, ToolCall, ToolResult, Usage
from whet.sessions.trust import Trust

USER = Message(role=Role.USER, parts=(Text("Go."),), trust=Trust.USER)
AGENT = Message(role=Role.AGENT, parts=(Text("Gone."),), trust=Trust.AGENT)
CALL = Message(role=Role.AGENT, parts=(ToolCall("c", "read"),), trust=Trust.AGENT)
RESULT = Message(role=Role.TOOL, parts=(ToolResult("c"),), trust=Trust.TOOL)
STOPPED = Message(role=Role.USER, parts=(Text("Stopped."),), trust=Trust.OPERATOR, origin=Origin.INTERRUPT)
RUN = Run(id="a", model="m", system="s", messages=(USER,), allowed=frozenset({"read", "write"}))

costs = st.none() | st.floats(0, 10)
usages = st.none() | st.builds(Usage, input=st.integers(0, 99), output=st.integers(0, 99), cost_dollars=costs)


@given(st.lists(usages, max_size=9))
def test_what_is_spent_is_the_sum_of_what_is_known(each: list[Usage | None]) -> None:
    spent = Spent()
    for usage in each:
        spent = spend(spent, usage)
    known = [usage for usage in each if usage]
    prices = [usage.cost_dollars for usage in known if usage.cost_dollars is not None]
    assert spent.model_calls == len(each)
    assert spent.input + spent.output == sum(usage.input + usage.output for usage in known)
    assert spent.dollars == (sum(prices) if prices else None)


def test_a_budget_is_spent_when_a_limit_is_reached() -> None:
    assert exceeded(Spent(), Budget()) == ""
    assert exceeded(Spent(model_calls=90), Budget()) == "the budget of 90 model calls is spent"
    assert exceeded(Spent(input=5, output=5), Budget(tokens=10)) == "the budget of 10 tokens is spent"
    assert exceeded(Spent(seconds=2.5), Budget(seconds=2.5)) == "the budget of 2.5 seconds is spent"
    assert exceeded(Spent(dollars=0.5), Budget(dollars=0.5)) == "the budget of 0.5 dollars is spent"
    assert exceeded(Spent(model_calls=10**6, input=10**9), Budget(model_calls=None)) == ""


def test_a_budget_in_dollars_needs_a_price() -> None:
    assert exceeded(Spent(), Budget(dollars=1.0)) == ""
    assert "unknown" in exceeded(Spent(model_calls=1), Budget(dollars=1.0))


def test_a_fork_may_do_no_more_than_its_parent() -> None:
    review = fork(RUN, id="b", order=[USER], allowed=frozenset({"write", "delete"}), purpose=Purpose.REVIEW)
    assert (review.allowed, review.parent, review.messages) == (frozenset({"write"}), "a", (USER, USER))
    assert review.system == RUN.system


def test_a_run_is_open_while_somebody_waits_for_an_answer() -> None:
    assert [is_open(replace(RUN, messages=each)) for each in ((), (USER,), (AGENT,), (CALL,), (CALL, RESULT))] == [
        False,
        True,
        False,
        True,
        True,
    ]


def test_a_run_that_grows_by_nothing_is_the_same() -> None:
    assert grown(RUN) is RUN
    assert grown(RUN, AGENT).messages == (*RUN.messages, AGENT)


@given(st.lists(st.builds(Spent, st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))))
def test_what_is_put_together_is_what_each_thing_cost(costs: list[Spent]) -> None:
    whole = together(costs)
    assert whole.input == sum(each.input for each in costs)
    assert together((whole, Spent())) == whole
    assert whole.dollars is None
    assert together((*costs, Spent(dollars=2.0))).dollars == 2.0
