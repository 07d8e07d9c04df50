"""The loop keeps to its budgets, carries out what it may, and leaves a conversation that can go on."""

from collections.abc import Iterator
from threading import Barrier, Event

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.prefixes import Watch
from agent.scenes import Notebook, clock, played, run_of, user
from lengths import examples
from patience import PATIENCE_SECONDS
from replies import asks, says
from whet.agent.loop import execute
from whet.agent.protocols import Answer, ProviderFailed, ProviderFault, Reply, StopReason
from whet.agent.providers.choosing import Call, Scripted
from whet.net.wire import Interrupted
from whet.own.runs.run import Budget, Ended, Fragment, Run, Spent, WorkStatus, grown
from whet.sessions.transcripts import (
    Disposition,
    Ending,
    Message,
    Origin,
    Role,
    Text,
    Thought,
    ToolCall,
    ToolResult,
    Usage,
    encode,
    pair,
)
from whet.sessions.trust import Trust

USED = Usage(input=100, output=20, cost_dollars=0.5)


def results(messages: list[Message]) -> list[ToolResult]:
    return [result for message in messages for result in message.results]


def test_a_run_asks_answers_and_finishes(watched: Watch) -> None:
    box = Notebook()
    provider = watched(Scripted([asks(Call("read", '{"path": "a"}'), text="I look."), says("There is an a.")]))
    messages, ended = played(run_of(), provider, box)
    assert [message.role for message in messages] == [Role.AGENT, Role.TOOL, Role.AGENT]
    assert (ended.ending, messages[-1].text) == (Ending.FINISHED, "There is an a.")
    assert [call.arguments for call in box.done] == ['{"path": "a"}']
    assert all(message.at is not None for message in messages)


def test_the_finishing_tool_ends_the_run_with_its_report(watched: Watch) -> None:
    box = Notebook()
    provider = watched(Scripted([asks(Call("write"), Call("finish"), Call("write"))]))
    messages, ended = played(run_of(), provider, box)
    assert ended.ending is Ending.FINISHED
    assert ended.report
    assert ended.report.status is WorkStatus.DONE
    assert [call.name for call in box.done] == ["write", "finish"]
    assert results(messages)[2].disposition is Disposition.CANCELLED


@pytest.mark.parametrize(
    ("budget", "calls"),
    [
        (Budget(model_calls=2), 2),
        (Budget(tokens=240), 2),
        (Budget(tokens=241), 3),
        (Budget(dollars=1.0), 2),
        (Budget(model_calls=None, seconds=7.0), 2),
        (Budget(model_calls=0), 0),
    ],
)
def test_a_budget_ends_the_run_before_the_next_model_call(watched: Watch, budget: Budget, calls: int) -> None:
    provider = watched(Scripted(asks(Call("read"), usage=USED) for _ in range(9)))
    messages, ended = played(replace(run_of(), budget=budget), provider, Notebook())
    assert ended.ending is Ending.BUDGET
    assert ended.spent.model_calls == calls == sum(message.role is Role.AGENT for message in messages)
    assert ended.spent.input == 100 * calls
    assert not [exchange for exchange in pair(messages).exchanges if exchange.result is None]


def test_a_budget_in_dollars_is_not_kept_silently_where_no_price_is_known(watched: Watch) -> None:
    provider = watched(Scripted(asks(Call("read"), usage=Usage(input=1)) for _ in range(9)))
    _, ended = played(replace(run_of(), budget=Budget(dollars=5.0)), provider, Notebook())
    assert (ended.ending, ended.spent.model_calls) == (Ending.BUDGET, 1)
    assert "unknown" in ended.detail


def test_what_was_spent_before_counts(watched: Watch) -> None:
    run = replace(run_of(), budget=Budget(model_calls=3))
    provider = watched(Scripted(asks(Call("read")) for _ in range(9)))
    spent = Spent(model_calls=2, seconds=100.0)
    items = list(execute(run, provider, Notebook(), interrupt=Event(), now=clock(), spent=spent))
    ended = items[-1]
    assert isinstance(ended, Ended)
    assert (ended.spent.model_calls, ended.ending) == (3, Ending.BUDGET)
    assert ended.spent.seconds > 100.0


def test_an_unknown_tool_a_denied_one_and_one_with_bad_arguments_are_told_so(watched: Watch) -> None:
    run = replace(run_of(), allowed=frozenset({"read"}))
    box = Notebook()
    asked = asks(Call("delete"), Call("write"), Call("read", "[1]"), Call("read", '{"a": 1}'))
    messages, _ = played(run, watched(Scripted([asked, says("Well.")])), box)
    unknown, denied, malformed, fine = results(messages)
    assert "no tool with the name delete" in unknown.text
    assert denied.disposition is Disposition.BLOCKED
    assert "not one JSON object" in malformed.text
    assert [each.error for each in (unknown, denied, malformed, fine)] == [True, True, True, False]
    assert [call.arguments for call in box.done] == ['{"a": 1}']


def test_calls_with_one_id_in_one_answer_are_told_apart_and_only_the_first_is_carried_out(watched: Watch) -> None:
    box = Notebook()
    asked = asks(Call("read", '{"n": 1}', id="x"), Call("write", '{"n": 2}', id="x"))
    messages, _ = played(run_of(), watched(Scripted([asked, says("Well.")])), box)
    assert [call.id for call in messages[0].calls] == ["x", "x-2"]
    assert [call.arguments for call in box.done] == ['{"n": 1}']
    assert "same id" in results(messages)[1].text


def test_an_endpoint_that_counts_its_ids_from_zero_each_time_is_understood(watched: Watch) -> None:
    box = Notebook()
    steps = [asks(Call("read", f'{{"n": {n}}}', id="call_0")) for n in range(3)]
    messages, _ = played(run_of(), watched(Scripted([*steps, says("Done.")])), box)
    assert len({call.id for message in messages for call in message.calls}) == 3
    assert [call.arguments for call in box.done] == ['{"n": 0}', '{"n": 1}', '{"n": 2}']


def test_calls_without_an_id_get_one(watched: Watch) -> None:
    message = Message(role=Role.AGENT, parts=(ToolCall("", "read"), ToolCall("", "write")), trust=Trust.AGENT)
    box = Notebook()
    messages, _ = played(run_of(), watched(Scripted([Reply(message, StopReason.CALLS), says("Done.")])), box)
    assert [call.name for call in box.done] == ["read", "write"]
    assert len({call.id for call in messages[0].calls} - {""}) == 2


def test_calls_of_an_answer_that_was_cut_off_are_not_carried_out(watched: Watch) -> None:
    box = Notebook()
    cut = asks(Call("write", '{"text": "whole by chance"}'), stop=StopReason.LENGTH)
    messages, ended = played(run_of(), watched(Scripted([cut, says("Shorter, then.")])), box)
    assert box.done == []
    assert "cut off" in results(messages)[0].text
    assert ended.ending is Ending.FINISHED


def test_words_that_were_cut_off_end_the_run_and_say_so(watched: Watch) -> None:
    messages, ended = played(run_of(), watched(Scripted([says("It is", stop=StopReason.LENGTH)])), Notebook())
    assert (messages[-1].text, ended.ending) == ("It is", Ending.CUT)


def test_a_refusal_is_an_ending_and_its_calls_are_not_carried_out(watched: Watch) -> None:
    box = Notebook()
    refused = asks(Call("read"), text="I cannot", stop=StopReason.REFUSED)
    messages, ended = played(run_of(), watched(Scripted([refused])), box)
    assert (ended.ending, box.done) == (Ending.REFUSED, [])
    assert results(messages)[0].disposition is Disposition.CANCELLED


def test_an_empty_answer_is_asked_for_once_more_with_the_same_bytes(watched: Watch) -> None:
    provider = watched(Scripted([says("", usage=USED), says("Here I am.", usage=USED)]))
    messages, ended = played(run_of(), provider, Notebook())
    first, second = provider.requests["run-1"]
    assert first == second
    assert (ended.ending, ended.spent.model_calls) == (Ending.FINISHED, 2)
    assert messages[0].usage == Usage(input=200, output=40, cost_dollars=1.0)


def test_a_second_empty_answer_is_an_ending(watched: Watch) -> None:
    thought = Message(role=Role.AGENT, parts=(Thought("hm"),), trust=Trust.AGENT)
    messages, ended = played(run_of(), watched(Scripted([says(" "), Reply(thought, StopReason.END)])), Notebook())
    assert (messages, ended.ending) == ([], Ending.EMPTY)


def test_a_provider_that_fails_ends_the_run_with_its_fault(watched: Watch) -> None:
    failure = ProviderFailed(ProviderFault.KEY, "No key.", advice="Set one.")
    messages, ended = played(run_of(), watched(Scripted([asks(Call("read")), failure])), Notebook())
    assert (ended.ending, ended.fault, ended.advice) == (Ending.FAILED, "key", "Set one.")
    assert len(messages) == 2


def test_a_provider_that_gives_no_reply_at_all_has_failed() -> None:
    class Mute(Scripted):
        def reply(self, run: Run, *, interrupt: Event) -> Iterator[Fragment | Reply]:
            yield from (piece for piece in super().reply(run, interrupt=interrupt) if isinstance(piece, Fragment))

    _, ended = played(run_of(), Mute([says("and then")]), Notebook())
    assert (ended.ending, ended.fault) == (Ending.FAILED, "endpoint")


def test_a_conversation_that_waits_for_nobody_is_not_asked_about(watched: Watch) -> None:
    run = grown(run_of(), says("All done.").message)
    messages, ended = played(run, watched(Scripted([])), Notebook())
    assert (messages, ended.ending, ended.spent.model_calls) == ([], Ending.FINISHED, 0)


def test_half_characters_are_mended_before_anything_is_sent_or_stored(watched: Watch) -> None:
    broken = Message(
        role=Role.AGENT, parts=(Text("a\ud800"), ToolCall("c", "read", '{"a": "\udfff"}')), trust=Trust.AGENT
    )
    box = Notebook(during=lambda _: "b\udc80")
    messages, _ = played(run_of(), watched(Scripted([Reply(broken, StopReason.CALLS), says("Done.")])), box)
    assert all(encode(message) for message in messages)
    assert (messages[0].text, messages[1].results[0].text) == ("a?", "b?")


def test_results_belong_to_their_calls_though_they_were_made_at_the_same_time(watched: Watch) -> None:
    together = Barrier(4, timeout=PATIENCE_SECONDS)

    def during(call: ToolCall) -> str:
        together.wait()
        return f"for {call.arguments}"

    calls = [Call("read", f'{{"n": {n}}}', id=f"c{n}") for n in range(4)]
    provider = watched(Scripted([asks(*calls), says("Done.")]))
    messages, _ = played(run_of(), provider, Notebook(beside=True, during=during))
    assert [(each.call_id, each.text) for each in results(messages)] == [
        (f"c{n}", f'for {{"n": {n}}}') for n in range(4)
    ]


def test_a_toolbox_that_answers_for_another_call_is_put_right(watched: Watch) -> None:
    class Confused(Notebook):
        def answer(self, call: ToolCall, *, allowed: frozenset[str], interrupt: Event) -> Answer:
            answer = super().answer(call, allowed=allowed, interrupt=interrupt)
            return answer._replace(result=ToolResult("other", answer.result.content, "other"))

    messages, _ = played(run_of(), watched(Scripted([asks(Call("read", id="mine")), says("Done.")])), Confused())
    assert (results(messages)[0].call_id, results(messages)[0].tool) == ("mine", "read")


def test_an_interrupt_while_words_stream_keeps_them_and_the_next_turn_works(watched: Watch) -> None:
    interrupt = Event()
    run = run_of()
    provider = watched(Scripted([says("One two three four five six seven eight."), says("As you like.")]))
    messages: list[Message] = []
    for item in execute(run, provider, Notebook(), interrupt=interrupt, now=clock()):
        if isinstance(item, Fragment):
            interrupt.set()
        if isinstance(item, Message):
            messages.append(item)
    assert isinstance(item, Ended)
    assert item.ending is Ending.INTERRUPTED
    partial, stopped = messages
    assert (partial.role, partial.origin, partial.text) == (Role.AGENT, Origin.INTERRUPT, "One two three fo")
    assert (stopped.role, stopped.origin) == (Role.USER, Origin.INTERRUPT)
    after, ended = played(grown(run, *messages, user("Be short.")), provider, Notebook())
    assert (after[0].text, ended.ending) == ("As you like.", Ending.FINISHED)


def test_an_interrupt_while_a_tool_works_answers_every_call(watched: Watch) -> None:
    interrupt = Event()

    def during(_: ToolCall) -> str:
        interrupt.set()
        raise Interrupted

    box = Notebook(during=during)
    provider = watched(Scripted([asks(Call("write"), Call("write"), Call("read")), says("Very well.")]))
    run = run_of()
    messages, ended = played(run, provider, box, interrupt=interrupt)
    assert ended.ending is Ending.INTERRUPTED
    assert len(box.done) == 1
    assert [each.disposition for each in results(messages)] == [
        Disposition.INTERRUPTED,
        Disposition.CANCELLED,
        Disposition.CANCELLED,
    ]
    after, _ = played(grown(run, *messages, user("Go on.")), provider, Notebook())
    assert after[0].text == "Very well."


def test_an_interrupt_before_anything_asks_nobody(watched: Watch) -> None:
    interrupt = Event()
    interrupt.set()
    messages, ended = played(run_of(), watched(Scripted([])), Notebook(), interrupt=interrupt)
    assert (ended.ending, ended.spent.model_calls) == (Ending.INTERRUPTED, 0)
    assert [message.origin for message in messages] == [Origin.INTERRUPT]


arguments = st.sampled_from(['{"a": 1}', "{}", "[]", "", '{"a": ', "null", '{"a": 1, "a": 2}', '{"x": NaN}', "🙂"])
calls = st.builds(
    Call, st.sampled_from(["read", "write", "gone", "finish"]), arguments, st.sampled_from(["", "a", "b"])
)
replies = st.one_of(
    st.builds(says, st.text(max_size=20), stop=st.sampled_from([StopReason.END, StopReason.LENGTH])),
    st.builds(
        lambda calls, text, stop: asks(*calls, text=text, stop=stop),
        st.lists(calls, min_size=1, max_size=4),
        st.text(max_size=10),
        st.sampled_from([StopReason.CALLS, StopReason.END, StopReason.LENGTH, StopReason.OTHER]),
    ),
    st.just(ProviderFailed(ProviderFault.NETWORK, "Gone.")),
)


@given(st.lists(st.lists(replies, max_size=6), min_size=1, max_size=3), st.booleans())
@settings(max_examples=examples(200), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_happens_requests_extend_one_another_and_every_call_has_one_result(
    watched: Watch, turns: list[list[Reply | ProviderFailed]], beside: bool
) -> None:
    script = [step for turn in turns for step in turn]
    provider = watched(Scripted(script))
    run = run_of()
    for number in range(len(turns)):
        run = grown(run, user(f"Turn {number}"))
        messages, _ = played(run, provider, Notebook(beside=beside))
        run = grown(run, *messages)
    pairing = pair(run.messages)
    assert not pairing.orphans
    assert all(exchange.result is not None for exchange in pairing.exchanges)
    assert len({exchange.call.id for exchange in pairing.exchanges}) == len(pairing.exchanges)
