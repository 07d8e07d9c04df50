"""A conversation that outgrows the window goes on: shorter, in a session of its own, with its orders intact."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event

import pytest
from msgspec.structs import replace

from agent.prefixes import Watch, Watched
from agent.scenes import Notebook, clock, run_of, user
from replies import asks, says
from whet.agent.compaction import Compacting, Said, pursue
from whet.agent.protocols import Provider, ProviderFailed, ProviderFault, Reply, StopReason
from whet.agent.providers.choosing import Call, Scripted, Step
from whet.net.wire import Interrupted
from whet.own.runs.run import Budget, Ended, Fragment, Run, grown
from whet.own.runs.shortening import size
from whet.own.told.prompt import Prompt
from whet.sessions.transcripts import Ending, Message, Origin, Role, ToolCall, Usage, pair
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.listing import find
from whet.store.recording import recorded
from whet.store.sessions import load

OUTPUT = "one line of what the tool has printed\n" * 60  # about 570 tokens
SUMMARY = "The user wants the parser fixed. Files a to f were read."


def many(count: int) -> Iterator[Step]:
    """A model that reads one file after the other, summarises when it is asked to, and is then done."""
    numbers = itertools.chain(range(count), itertools.repeat(-1))
    return itertools.repeat(lambda run: answer(run, 0 if wants_summary(run) else next(numbers)))


def answer(run: Run, number: int) -> Reply:
    usage = Usage(input=size(replace(run, messages=unused(run.messages))), output=20)
    if wants_summary(run):
        return says(SUMMARY, usage=usage)
    if number < 0:
        return says("The parser is fixed.", usage=usage)
    return asks(Call("read", f'{{"path": "{number}"}}'), text=f"Reading {number}.", usage=usage)


def unused(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    return tuple(replace(message, usage=None) for message in messages)


def wants_summary(run: Run) -> bool:
    last = run.messages[-1]
    return last.origin is Origin.INSERTED and ("not part of the task" in last.text or "ummar" in last.text)


class Windowed:
    """An endpoint that takes no request longer than its window, and says so."""

    def __init__(self, provider: Provider, window: int) -> None:
        self._provider = provider
        self._window = window

    @property
    def name(self) -> str:
        return self._provider.name

    def request(self, run: Run) -> bytes:
        return self._provider.request(run)

    def reply(self, run: Run, *, interrupt: Event) -> Iterator[Fragment | Reply]:
        if size(replace(run, messages=unused(run.messages))) > self._window:
            raise ProviderFailed(ProviderFault.CONTEXT, "The request is too long.")
        yield from self._provider.reply(run, interrupt=interrupt)


def ids() -> Callable[[], str]:
    numbers = iter(range(2, 1_000))
    return lambda: f"run-{next(numbers)}"


def pursued(
    run: Run, provider: Provider, *, box: Notebook | None = None, rebuild: Callable[[], Prompt] | None = None
) -> tuple[list[Run], list[Message], Ended]:
    """Every run of a conversation with all that was said in it, everything that was said, and how it ended."""
    runs, said, ended = [run], list[Message](), None
    box = box or Notebook(during=lambda _: OUTPUT)
    for item in pursue(run, provider, box, Compacting(ids(), rebuild), interrupt=Event(), now=clock()):
        if isinstance(item, Run):
            runs.append(item)
        elif isinstance(item, Message):
            said.append(item)
            runs[-1] = grown(runs[-1], item)
        elif isinstance(item, Ended):
            ended = item
    assert ended is not None
    return runs, said, ended


def assert_whole(runs: list[Run], provider: Watched, room: int) -> None:
    """Every session pairs, descends from the one before, begins with the task, and never asked for too much."""
    for before, run in itertools.pairwise(runs):
        assert run.parent == before.id
        assert run.messages[0].text == before.messages[0].text
    for run in runs:
        pairing = pair(run.messages)
        assert not pairing.orphans
        assert all(exchange.result for exchange in pairing.exchanges)
        for request in provider.requests.get(run.id, ()):
            assert len(request) / 4 < room * 1.3


def test_a_long_session_in_a_small_window_comes_to_its_end(watched: Watch) -> None:
    provider = watched(Windowed(Scripted(many(40)), 4_000))
    run = replace(run_of("Fix the parser; keep to the style of the file."), room=3_200)
    runs, said, ended = pursued(run, provider)
    assert ended.ending is Ending.FINISHED
    assert said[-1].text == "The parser is fixed."
    assert len(runs) > 3
    assert_whole(runs, provider, 3_200)
    paths = [call.arguments for message in said for call in message.calls]
    assert paths == [f'{{"path": "{number}"}}' for number in range(40)]


def test_old_tool_output_is_shortened_before_any_summary_is_asked_for(watched: Watch) -> None:
    provider = watched(Windowed(Scripted(many(6)), 4_000))
    runs, _, _ = pursued(replace(run_of("Fix the parser."), room=3_200), provider)
    first = runs[1]
    assert not any(SUMMARY in message.text for message in first.messages)
    assert [call.arguments for m in first.messages for call in m.calls][:2] == ['{"path": "0"}', '{"path": "1"}']
    assert "characters left out here" in first.messages[2].results[0].text


def test_a_summary_is_marked_and_stands_for_what_it_was_made_from(watched: Watch) -> None:
    provider = watched(Windowed(Scripted(many(40)), 4_000))
    runs, _, ended = pursued(replace(run_of("Fix the parser."), room=3_200), provider)
    summarised = next(run for run in runs if any(SUMMARY in message.text for message in run.messages))
    task, summary, *rest = summarised.messages
    assert (task.text, SUMMARY in summary.text) == ("Fix the parser.", True)
    assert (summary.role, summary.origin, summary.trust) == (Role.USER, Origin.SUMMARY, Trust.TOOL)
    assert summary.usage
    assert rest[0].origin is Origin.SUMMARY
    assert ended.spent.model_calls > 41


def test_a_provider_that_finds_the_request_too_long_is_asked_again_with_less(watched: Watch) -> None:
    provider = watched(Windowed(Scripted(many(12)), 3_000))
    runs, _, ended = pursued(run_of("Fix the parser."), provider)  # nobody knows the window
    assert ended.ending is Ending.FINISHED
    assert len(runs) > 1
    assert all(run.room for run in runs[1:])


def test_a_window_that_is_smaller_than_believed_is_learned(watched: Watch) -> None:
    provider = watched(Windowed(Scripted(many(20)), 3_000))
    _, _, ended = pursued(replace(run_of("Fix the parser."), room=100_000), provider)
    assert ended.ending is Ending.FINISHED


def test_in_a_large_window_the_summary_is_asked_for_behind_the_conversation_that_is_cached(watched: Watch) -> None:
    provider = watched(Windowed(Scripted(many(80)), 50_000))
    run = grown(run_of("Fix the parser."), *(says("I think. " * 300).message for _ in range(50)), user("Go on."))
    runs, _, ended = pursued(replace(run, room=40_000), provider)
    assert ended.ending is Ending.FINISHED
    asked = [body for body in provider.requests["run-1"] if b"not part of the task" in body]
    assert len(asked) == 1
    assert not any(run_id.endswith("/summary") for run_id in provider.requests)
    assert any(SUMMARY in message.text for message in runs[1].messages)


def test_where_the_model_gives_no_summary_the_record_is_kept_in_short(watched: Watch) -> None:
    reading = many(60)

    def sulk(run: Run) -> Reply:
        step = next(reading)
        assert callable(step)
        return asks(Call("read"), text="I go on.", usage=Usage(input=9)) if wants_summary(run) else step(run)

    provider = watched(Windowed(Scripted(itertools.repeat(sulk)), 4_000))
    runs, _, ended = pursued(replace(run_of("Fix the parser."), room=3_200), provider)
    assert ended.ending is Ending.FINISHED
    assert ended.spent.model_calls > 61
    records = [
        m for run in runs for m in run.messages if m.text.startswith("The older part") and "agent calls" in m.text
    ]
    assert records
    assert all(record.origin is Origin.SUMMARY for record in records)
    assert not any("I go on." in message.text for run in runs for message in run.messages)


def test_an_order_that_is_too_long_by_itself_ends_the_run_and_says_what_to_do(watched: Watch) -> None:
    provider = watched(Windowed(Scripted(many(2)), 1_000))
    run = replace(run_of("x" * 40_000), room=800)
    runs, said, ended = pursued(run, provider)
    assert (ended.ending, ended.fault, said, len(runs)) == (Ending.FAILED, "context", [], 1)
    assert "larger context window" in ended.advice


def test_a_call_that_is_longer_than_the_window_does_not_end_the_work(watched: Watch) -> None:
    write = asks(Call("write", '{"text": "' + "y" * 16_000 + '"}'))
    provider = watched(Windowed(Scripted(itertools.chain([write], many(0))), 3_000))
    runs, said, ended = pursued(replace(run_of("Write it."), room=2_400), provider)
    assert (ended.ending, said[-1].text) == (Ending.FINISHED, "The parser is fixed.")
    assert len(runs) > 1


def test_without_compaction_a_full_context_ends_the_run() -> None:
    run = replace(run_of("Fix the parser."), room=3_200)
    provider = Windowed(Scripted(many(40)), 4_000)
    box = Notebook(during=lambda _: OUTPUT)
    compacting = Compacting(ids(), enabled=False)
    ended = list(pursue(run, provider, box, compacting, interrupt=Event(), now=clock()))[-1]
    assert isinstance(ended, Ended)
    assert (ended.ending, ended.fault) == (Ending.FAILED, "context")


def test_the_prompt_is_rebuilt_then_and_only_then(watched: Watch) -> None:
    prompts = [Prompt("You are careful.", "", f"Memory {number}.") for number in range(1, 99)]
    provider = watched(Windowed(Scripted(many(30)), 4_000))
    runs, _, _ = pursued(replace(run_of("Fix the parser."), room=3_200), provider, rebuild=lambda: prompts.pop(0))
    assert [run.system for run in runs[1:4]] == [f"You are careful.\n\nMemory {number}." for number in (1, 2, 3)]
    assert len({run.prompt_key for run in runs}) == len(runs)


def test_the_budget_goes_on_through_a_compaction(watched: Watch) -> None:
    provider = watched(Windowed(Scripted(many(40)), 4_000))
    run = replace(run_of("Fix the parser."), room=3_200, budget=Budget(model_calls=12))
    runs, _, ended = pursued(run, provider)
    assert (ended.ending, ended.spent.model_calls, len(runs) > 1) == (Ending.BUDGET, 12, True)


def test_an_answer_that_was_cut_by_a_full_context_goes_on_after_it(watched: Watch) -> None:
    steps: list[Step] = [
        asks(Call("read"), usage=Usage(input=1_000)),
        says("The parser", usage=Usage(input=1_800, output=1_500), stop=StopReason.LENGTH),
        lambda run: says(SUMMARY) if wants_summary(run) else says("is fixed."),
        says("is fixed."),
    ]
    run = replace(run_of("Fix the parser."), room=3_200)
    runs, said, ended = pursued(run, watched(Scripted(steps)), box=Notebook(during=lambda _: OUTPUT * 2))
    assert (ended.ending, said[-1].text, len(runs)) == (Ending.FINISHED, "is fixed.", 2)
    assert any("cut off" in message.text for message in runs[0].messages)


def test_an_interrupt_during_the_summary_leaves_the_session_as_it_was() -> None:
    interrupt = Event()

    def stop(_: Run) -> Reply:
        interrupt.set()
        raise Interrupted

    run = replace(run_of("Fix the parser."), room=900)
    steps: list[Step] = [asks(Call("read")), asks(Call("read")), stop]
    box = Notebook(during=lambda _: "z " * 900)
    items: list[Said] = list(pursue(run, Scripted(steps), box, Compacting(ids()), interrupt=interrupt, now=clock()))
    assert isinstance(items[-1], Ended)
    assert items[-1].ending is Ending.INTERRUPTED
    assert not any(isinstance(item, Run) for item in items)


def test_compacted_sessions_are_stored_as_parent_and_child(database: Database) -> None:
    run = replace(run_of("Fix the parser."), room=3_200)
    provider = Windowed(Scripted(many(20)), 4_000)
    box = Notebook(during=lambda _: OUTPUT)
    stream = pursue(run, provider, box, Compacting(ids()), interrupt=Event(), now=clock())
    items = list(recorded(database, run, stream, now=clock()))
    ended = items[-1]
    assert isinstance(ended, Ended)
    children = [item for item in items if isinstance(item, Run)]
    sessions = [find(database, each.id) for each in (run, *children)]
    assert [session.ending for session in sessions] == ["compacted"] * len(children) + ["finished"]
    assert [session.parent_id for session in sessions[1:]] == [session.id for session in sessions[:-1]]
    assert sum(session.input_tokens for session in sessions) == ended.spent.input
    assert load(database, sessions[-1]).messages[0] == user("Fix the parser.")


@pytest.mark.parametrize("name", ["summarise", "summariser", "summarise_record", "summary", "record"])
def test_the_words_for_it_are_guidance(name: str) -> None:
    folder = Path(__file__).parents[2] / "src" / "whet" / "shipped" / "guidance" / "notices"
    assert (folder / f"{name}.md").read_text().strip()


def test_a_tool_call_keeps_its_own_id_through_a_compaction(watched: Watch) -> None:
    provider = watched(Windowed(Scripted(many(30)), 4_000))
    done: list[ToolCall] = []
    box = Notebook(during=lambda call: done.append(call) or OUTPUT)  # type: ignore[func-returns-value]
    pursued(replace(run_of("Fix the parser."), room=3_200), provider, box=box)
    assert [call.arguments for call in done] == [f'{{"path": "{number}"}}' for number in range(30)]
