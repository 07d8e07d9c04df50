"""Properties of the record: round trips, pairing under any interleaving, hashes that cover history."""

import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from whet.sessions import transcripts
from whet.sessions.transcripts import Message, Role, Text, ToolCall, ToolResult, chain, decode, encode, pair, session_id
from whet.sessions.trust import Trust

words = st.text(st.characters(codec="utf-8"), max_size=20)
texts = st.builds(Text, words)
media = st.builds(
    transcripts.Media, kind=st.sampled_from(["image", "audio", "other"]), size_bytes=st.integers(0, 9), name=words
)
results = st.builds(
    ToolResult,
    words,
    st.lists(texts | media, max_size=2).map(tuple),
    error=st.none() | st.booleans(),
    exit_code=st.none() | st.integers(-9, 255),
    disposition=st.none() | st.sampled_from(transcripts.Disposition),
)
parts = (
    texts | st.builds(transcripts.Thought, words, words) | media | st.builds(ToolCall, words, words, words) | results
)
messages = st.builds(
    Message,
    role=st.sampled_from(Role),
    parts=st.lists(parts, max_size=4).map(tuple),
    trust=st.sampled_from(Trust),
    at=st.none() | st.floats(0, 4e9),
    model=words,
    usage=st.none() | st.builds(transcripts.Usage, st.integers(0, 10**9), st.integers(0, 10**9)),
    origin=st.sampled_from(transcripts.Origin),
)


@given(messages)
def test_a_message_comes_back_from_its_encoding(message: Message) -> None:
    assert decode(encode(message)) == message


@given(st.lists(messages, max_size=5), messages)
def test_an_id_covers_the_message_and_everything_before_it(history: list[Message], extra: Message) -> None:
    ids = list(chain(history))
    assert list(chain([*history, extra]))[: len(ids)] == ids
    if history:
        changed = list(chain([extra, *history]))
        assert set(changed).isdisjoint(ids) or extra == history[0]


def test_ids_are_the_same_in_every_process() -> None:
    program = (
        "from whet.sessions.transcripts import *; from whet.sessions.trust import Trust;"
        "m = Message(role=Role.USER, parts=(Text('Guten Tag'),), trust=Trust.USER, at=1.5);"
        "print(next(chain([m])).hex(), session_id('codex', 'a'))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    message = Message(role=Role.USER, parts=(Text("Guten Tag"),), trust=Trust.USER, at=1.5)
    assert done.stdout.split() == [next(chain([message])).hex(), session_id("codex", "a")]


def test_the_id_of_a_known_message_never_changes() -> None:
    message = Message(role=Role.USER, parts=(Text("Guten Tag"),), trust=Trust.USER, at=1.5)
    assert encode(message) == b'{"role":"user","parts":[{"type":"text","text":"Guten Tag"}],"trust":3,"at":1.5}'
    assert next(chain([message])).hex() == "f3c46319f2102a69deaf74831a3ae603"


@given(st.integers(1, 12), st.randoms(use_true_random=False), st.integers(1, 4))
def test_every_result_finds_its_call_under_any_interleaving(count: int, order: object, sizes: int) -> None:
    calls = [ToolCall(f"c{n}", "Read", f'{{"n":{n}}}') for n in range(count)]
    answers = [ToolResult(f"c{n}", (Text(str(n)),)) for n in range(count)]
    events: list[ToolCall | ToolResult] = [*calls, *answers]
    order.shuffle(events)  # type: ignore[attr-defined]
    log = [
        Message(role=Role.AGENT, parts=tuple(events[start : start + sizes]), trust=Trust.AGENT)
        for start in range(0, len(events), sizes)
    ]
    found = pair(log)
    assert found.orphans == ()
    assert {exchange.call.id for exchange in found.exchanges} == {call.id for call in calls}
    for exchange in found.exchanges:
        assert exchange.result is not None
        assert exchange.result.text == exchange.call.id[1:]
        assert exchange.answered is not None
        assert exchange.result in log[exchange.answered].parts
        assert exchange.call in log[exchange.asked].parts


def test_an_id_used_again_pairs_in_order() -> None:
    log = []
    for answer in ("first", "second"):
        log.append(Message(role=Role.AGENT, parts=(ToolCall("call_0", "Bash"),), trust=Trust.AGENT))
        log.append(Message(role=Role.TOOL, parts=(ToolResult("call_0", (Text(answer),)),), trust=Trust.TOOL))
    assert [exchange.result.text for exchange in pair(log).exchanges if exchange.result] == ["first", "second"]


def test_a_result_without_a_call_is_an_orphan_and_a_call_without_a_result_stands_alone() -> None:
    log = [
        Message(role=Role.AGENT, parts=(ToolCall("c1", "Bash"),), trust=Trust.AGENT),
        Message(role=Role.TOOL, parts=(ToolResult("c2", (Text("?"),)),), trust=Trust.TOOL),
    ]
    found = pair(log)
    assert [exchange.result for exchange in found.exchanges] == [None]
    assert [orphan.message for orphan in found.orphans] == [1]
