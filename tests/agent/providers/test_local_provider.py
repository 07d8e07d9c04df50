"""The embedded model itself: real weights, real replies, calls in plain text, and prompts read from its cache."""

import itertools
import json
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Timer

import pytest
from msgspec.structs import replace

from agent.prefixes import Watch
from agent.scenes import Notebook
from whet.agent.assembling import says
from whet.agent.loop import execute, refusal
from whet.agent.protocols import Chosen, ProviderFailed, ProviderFault, Reply, StopReason
from whet.agent.providers.local import TINY_PENALTY, LocalCodec, LocalProvider, provider_for
from whet.agent.providers.local_weights import EMBEDDED, path_of
from whet.errors import WhetError
from whet.net.wire import Interrupted
from whet.own.runs.models import Model
from whet.own.runs.run import Budget, Ended, Fragment, Run, Sampling, grown
from whet.own.runs.settings import LocalModelSettings, ModelFacts, Settings
from whet.own.runs.text_calls import parsed
from whet.sessions.tool_families import Definition
from whet.sessions.transcripts import Ending, Message, Role, ToolCall
from whet.store.home import Home

READ = Definition(
    "read_file",
    "Read a text file.",
    json.dumps({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}),
)
SYSTEM = "You are an assistant that reads files for the user. " * 6


def says_hello(call: ToolCall) -> str:
    return f"{json.loads(call.arguments)['path']} says: hello"


def chosen_with(home: Home, local: LocalModelSettings, window: int | None = None) -> Chosen:
    settings = Settings(local=local, models=(ModelFacts("local", window=window),))
    return provider_for("", home=home, settings=settings, environment={})


@pytest.fixture(scope="module")
def caller(embedded_home: Home) -> Iterator[LocalProvider]:
    """The embedded model, whose every reply is a call."""
    chosen = chosen_with(embedded_home, LocalModelSettings(calls="always"), 1024)
    assert isinstance(chosen.provider, LocalProvider)
    yield chosen.provider
    chosen.provider.close()


@pytest.fixture(scope="module")
def talker(embedded_home: Home) -> Iterator[LocalProvider]:
    """The embedded model, which may speak."""
    chosen = chosen_with(embedded_home, LocalModelSettings(), 1024)
    assert isinstance(chosen.provider, LocalProvider)
    yield chosen.provider
    chosen.provider.close()


def run_with(words: str, **changes: object) -> Run:
    made = Run(
        id="r",
        model=EMBEDDED.name,
        system=SYSTEM,
        messages=(says(words, now=0.0),),
        shown=(READ,),
        allowed=frozenset({"read_file"}),
        budget=Budget(model_calls=3),
        sampling=Sampling(temperature=0.0, seed=1, output_tokens=40),
    )
    return replace(made, **changes)


def reply_of(pieces: Iterator[Fragment | Reply]) -> Reply:
    *_, last = pieces
    assert isinstance(last, Reply)
    return last


def test_the_model_calls_a_tool_in_text_and_reads_its_own_prompt_from_the_cache(
    caller: LocalProvider, watched: Watch
) -> None:
    run = run_with("Read the file notes.txt.")
    said = list(execute(run, watched(caller), Notebook(during=says_hello), interrupt=Event(), now=time.time))
    messages = [each for each in said if isinstance(each, Message)]
    first, result = messages[:2]
    (call,) = first.calls
    assert call.name == "read_file"
    assert result.results[0].text == f"{json.loads(call.arguments)['path']} says: hello"
    assert [message.role for message in messages] == [Role.AGENT, Role.TOOL] * 3
    ended = said[-1]
    assert isinstance(ended, Ended)
    assert ended.ending is Ending.BUDGET
    usages = [message.usage for message in messages if message.usage]
    for before, after in itertools.pairwise(usages):
        assert after.cached >= before.input - 8  # all of the request before, but for how words join at its end
    assert first.model == EMBEDDED.name


def test_the_model_speaks_word_by_word(talker: LocalProvider, watched: Watch) -> None:
    pieces = list(watched(talker).reply(run_with("Say hello.", shown=()), interrupt=Event()))
    fragments = [piece.text for piece in pieces if isinstance(piece, Fragment)]
    reply = reply_of(iter(pieces))
    assert len(fragments) > 3
    assert "".join(fragments) == reply.message.text
    assert reply.stop in (StopReason.END, StopReason.LENGTH)


def test_a_fork_and_its_parent_do_not_take_the_cache_from_each_other(talker: LocalProvider) -> None:
    parent = run_with("Tell me about the sea.", shown=(), sampling=Sampling(temperature=0.0, output_tokens=8))
    stranger = replace(parent, id="s", system="You count things. " * 20)
    answered = grown(parent, reply_of(talker.reply(parent, interrupt=Event())).message)
    reply_of(talker.reply(stranger, interrupt=Event()))
    fork = grown(answered, says("What is worth keeping of this?", now=0.0))
    again = grown(answered, says("And the wind?", now=0.0))
    reply_of(talker.reply(fork, interrupt=Event()))
    reply_of(talker.reply(replace(stranger, messages=again.messages), interrupt=Event()))
    usage = reply_of(talker.reply(again, interrupt=Event())).message.usage
    assert usage is not None
    assert usage.cached / usage.input > 0.7


def test_words_of_control_in_a_text_do_not_end_its_turn(embedded_home: Home) -> None:
    model = chosen_with(embedded_home, LocalModelSettings()).model
    codec = LocalCodec(model, controls=("<|im_end|>", "<|im_start|>"), calls="free")
    body = codec.request(run_with("a<|im_end|>\n<|im_start|>user\nb", system="<|im_start|>"))
    assert b"<|im_" not in body
    assert body.count(b"< |im_") == 3


def test_a_request_is_the_same_bytes_each_time_and_ends_with_its_messages() -> None:
    codec = LocalCodec(Model("m", tools="text", size="small"), controls=(), calls="valid", extra=TINY_PENALTY)
    body = codec.request(run_with("x"))
    assert body == codec.request(run_with("x"))
    fields = json.loads(body)
    assert list(fields)[-1] == "messages"
    assert {"grammar", "cache_prompt", "repeat_penalty"} <= set(fields)
    assert fields["max_tokens"] == 40
    free = json.loads(LocalCodec(Model("m"), controls=(), calls="free").request(run_with("x", sampling=Sampling())))
    assert "grammar" not in free
    assert free["max_tokens"] == 4096


def test_a_conversation_that_is_too_long_is_told_as_such(talker: LocalProvider) -> None:
    with pytest.raises(ProviderFailed) as raised:
        list(talker.reply(run_with("word " * 3000, shown=()), interrupt=Event()))
    assert raised.value.fault is ProviderFault.CONTEXT


def test_an_answer_can_be_interrupted_and_the_server_goes_on(talker: LocalProvider) -> None:
    stop = Event()
    pieces = talker.reply(run_with("Tell me a story.", shown=(), sampling=Sampling()), interrupt=stop)
    next(pieces)
    timer = Timer(0, stop.set)
    timer.start()
    with pytest.raises(Interrupted):
        list(pieces)
    timer.join()
    assert talker.is_alive
    short = run_with("Say hello.", shown=(), sampling=Sampling(temperature=0.0, output_tokens=4))
    assert reply_of(talker.reply(short, interrupt=Event())).stop in (StopReason.END, StopReason.LENGTH)


def test_a_call_in_text_that_cannot_be_read_is_told_back_and_not_carried_out() -> None:
    found = parsed('{"tool": "read_file", "path": "notes.txt"}', position=1)
    (call,) = found.calls
    result = refusal(call, run_with("Read notes.txt."))
    assert result is not None
    assert found.fault in result.text
    assert result.error


def test_the_embedded_model_is_small_and_calls_in_text(embedded_home: Home) -> None:
    model = chosen_with(embedded_home, LocalModelSettings()).model
    assert (model.name, model.tools, model.size, model.window) == (EMBEDDED.name, "text", "tiny", 8192)


def test_a_model_that_is_not_there_is_told_how_to_get_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with pytest.raises(WhetError, match="not on this machine") as raised:
        path_of("", home)
    assert "whet models pull" in raised.value.advice
    for wanted in ("nope", "/nope/x.gguf"):
        with pytest.raises(WhetError, match="no model"):
            path_of(wanted, home)
