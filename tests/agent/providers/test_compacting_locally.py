"""A long session in a small window with the embedded model: real words, a real tokeniser, a real limit."""

import os
import time
from collections.abc import Iterator
from threading import Event

import pytest
from msgspec.structs import replace

from agent.prefixes import Watch
from agent.scenes import Notebook, run_of, user
from lengths import long
from whet.agent.assembling import room_of
from whet.agent.compaction import Compacting, pursue
from whet.agent.protocols import Chosen
from whet.agent.providers.local import LocalProvider, provider_for
from whet.own.runs.run import Ended, Run, Sampling, grown
from whet.own.runs.settings import ModelFacts, Settings
from whet.sessions.transcripts import Ending, Message, Origin, Role, Text, ToolCall, ToolResult, pair
from whet.sessions.trust import Trust
from whet.store.home import Home

WINDOW = 640
TASK = "Find out which line of the parser is wrong."
LINE = "parser.py:{0}: the value of line {0} is {1}\n"
LONG = "Think of the parser. " * 45
TURNS = ("Say in one sentence what you have read.", f"Which file was first? {LONG}", f"And which was last? {LONG}")


@pytest.fixture(scope="module")
def chosen(embedded_home: Home) -> Iterator[Chosen]:
    settings = Settings(models=(ModelFacts("local", window=WINDOW),))
    found = provider_for("", home=embedded_home, settings=settings, environment=os.environ)
    assert isinstance(found.provider, LocalProvider)
    yield found
    found.provider.close()


def read(number: int) -> tuple[Message, Message]:
    """A file that was read, with its output."""
    call = ToolCall(f"c{number}", "read", f'{{"path": "part{number}.py"}}')
    text = "".join(LINE.format(line, line * number) for line in range(12))
    return (
        Message(role=Role.AGENT, parts=(Text(f"I read part {number}."), call), trust=Trust.AGENT),
        Message(role=Role.TOOL, parts=(ToolResult(call.id, (Text(text),), "read", error=False),), trust=Trust.TOOL),
    )


@long
def test_a_long_session_in_a_small_window_on_the_embedded_model(chosen: Chosen, watched: Watch) -> None:
    provider = watched(chosen.provider)
    sampling = Sampling(temperature=0.0, seed=1, output_tokens=24)
    room = room_of(chosen.model, sampling)
    first = replace(run_of(TASK, tools=()), model=chosen.model.name, sampling=sampling, room=room)
    runs = [grown(first, *(message for number in range(1, 9) for message in read(number)))]
    ids = iter(f"run-{number}" for number in range(2, 99))
    compacting = Compacting(lambda: next(ids))
    for words in TURNS:
        runs[-1] = grown(runs[-1], user(words))
        items = list(pursue(runs[-1], provider, Notebook(), compacting, interrupt=Event(), now=time.time))
        for item in items:
            if isinstance(item, Run):
                runs.append(item)
            elif isinstance(item, Message):
                runs[-1] = grown(runs[-1], item)
        ended = items[-1]
        assert isinstance(ended, Ended)
        assert ended.ending in (Ending.FINISHED, Ending.CUT)
        assert runs[-1].messages[-1].role is Role.AGENT
    assert len(runs) >= 3
    assert_kept(runs)


def assert_kept(runs: list[Run]) -> None:
    """The task and the latest order stand in every session, calls have their results, and the model summarised."""
    for each in runs:
        assert each.messages[0].text == TASK
        assert all(exchange.result for exchange in pair(each.messages).exchanges)
        assert not pair(each.messages).orphans
        assert all(m.usage.input + m.usage.output <= WINDOW for m in each.messages if m.usage)
    assert any(message.text == TURNS[-1] for message in runs[-1].messages)
    summaries = [m for each in runs for m in each.messages if m.origin is Origin.SUMMARY and m.usage and m.usage.input]
    assert len(summaries) >= 2
    assert all(summary.model and summary.trust <= Trust.TOOL for summary in summaries)
