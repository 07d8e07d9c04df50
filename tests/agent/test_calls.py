"""Payloads that are no arguments: nothing of them is carried out, and every call still has its own result."""

import json
import random
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.prefixes import Watch
from agent.scenes import Notebook, clock, run_of, user
from replies import says
from whet.agent.loop import execute, fault_of
from whet.agent.protocols import Reply, StopReason
from whet.agent.providers.choosing import Scripted
from whet.own.runs.run import Ended, grown
from whet.sessions.transcripts import Message, Role, ToolCall, encode, pair
from whet.sessions.trust import Trust

PAYLOADS = 5_000
SEED = 20_260_716


def objects(random_: random.Random, depth: int = 0) -> dict[str, object]:
    """A JSON object as a model might send it."""
    values: list[object] = ["text", "ein \\ \" 'Zitat'", "日本語\n🙂", 0, -1.5e300, True, None, [], ["a", {"b": 1}]]
    kept: dict[str, object] = {}
    for number in range(random_.randint(0 if depth else 1, 4)):
        nested = depth < 3 and random_.random() < 0.2
        kept[f"key{number}"] = objects(random_, depth + 1) if nested else random_.choice(values)
    return kept


def malformed(random_: random.Random) -> str:
    """A payload that is not one JSON object, made from one that is in the ways in which models and wires spoil it."""
    whole = json.dumps(objects(random_), ensure_ascii=random_.random() < 0.5)
    cut = random_.randrange(len(whole))
    ways = (
        lambda: whole[:cut],  # the stream ended
        lambda: whole + whole,  # the stream was joined twice
        lambda: whole + "\n" + random_.choice(["}", "]", "null", "OK", "<|end|>"]),
        lambda: f"```json\n{whole}\n```",
        lambda: f"Sure! {whole}",
        lambda: f"[{whole}]",
        lambda: json.dumps(whole),  # a string that holds an object
        lambda: whole.replace('"', "'") if '"' in whole else "'",
        lambda: whole.replace(":", "=", 1),
        lambda: whole[:-1] + ",}",
        lambda: whole[:-1] + ', "key0": 1, "key0": 2}',
        lambda: (
            '{"x": ' + random_.choice(["NaN", "Infinity", "-Infinity", "undefined", "0x1f", "01", "1.", "+1"]) + "}"
        ),
        lambda: random_.choice(
            ["", " ", "\n", "null", "true", "0", '""', "[]", "{", "}", "{]", '{"', "{}{}", "\ufeff{}"]
        ),
        lambda: '{"a": "' + random_.choice(["\n", "\t", "\x00", "\x1f"]) + '"}',
        lambda: '{"a": "\\' + random_.choice(["x41", "u12", "uD800", "'", "\n"]) + '"}',
        lambda: "{" * random_.choice([3, 200, 20_000]),
        lambda: '{"a":' * 5_000 + "1" + "}" * 5_000,
        lambda: "{'path': 'a', }",
        lambda: "<arguments>" + whole + "</arguments>",
        lambda: whole.replace("{", "", 1),
        lambda: "\ud800" + whole,
        lambda: "// note\n" + whole,
        lambda: "".join(
            chr(random_.choice([random_.randrange(32, 127), random_.randrange(0x100, 0x3000)])) for _ in range(9)
        ),
    )
    return random_.choice(ways)()


def spoiled(random_: random.Random) -> str:
    while True:
        payload = malformed(random_)
        if fault_of(payload):
            return payload


def test_five_thousand_malformed_payloads_are_never_carried_out_nor_mixed_up(watched: Watch) -> None:
    """Four calls in each answer, good and bad mixed, ids missing or used again: only what is good is carried out."""
    random_ = random.Random(SEED)
    bad = 0
    run = run_of()
    while bad < PAYLOADS:
        payloads = [spoiled(random_) if random_.random() < 0.8 else json.dumps({"n": bad + n}) for n in range(4)]
        good = [payload for payload in payloads if payload.startswith('{"n":') and not fault_of(payload)]
        bad += len(payloads) - len(good)
        ids = random_.choice([["a", "b", "c", "d"], ["", "", "", ""], [f"x{bad}{n}" for n in range(4)]])
        parts = tuple(
            ToolCall(ids[n], random_.choice(["read", "write"]), payload) for n, payload in enumerate(payloads)
        )
        asked = Message(role=Role.AGENT, parts=parts, trust=Trust.AGENT)
        box = Notebook(beside=random_.random() < 0.5)
        provider = watched(Scripted([Reply(asked, StopReason.CALLS), says("I see.")]))
        items = list(execute(run, provider, box, interrupt=Event(), now=clock()))
        messages = [item for item in items if isinstance(item, Message)]
        assert isinstance(items[-1], Ended)
        exchanges = pair(messages).exchanges
        assert sorted(call.arguments for call in box.done) == sorted(good)
        assert [exchange.result.call_id for exchange in exchanges if exchange.result] == [
            exchange.call.id for exchange in exchanges
        ]
        assert len({exchange.call.id for exchange in exchanges}) == 4
        for exchange, payload in zip(exchanges, payloads, strict=True):
            assert exchange.result
            assert exchange.result.error is (payload not in good)
            assert exchange.result.tool == exchange.call.name
        assert all(encode(message) for message in messages)
        run = grown(run_of(), *messages, user("Go on."))


plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()


@given(st.dictionaries(st.text(), plain | st.lists(plain, max_size=3), max_size=5))
def test_every_json_object_is_taken(value: dict[str, object]) -> None:
    assert fault_of(json.dumps(value)) == ""


@pytest.mark.parametrize(
    ("payload", "fault"),
    [
        ("", "Expecting value"),
        ("[]", "it is a list"),
        ('"{}"', "it is a str"),
        ('{"a": 1, "a": 2}', "a key occurs twice"),
        ('{"a": {"b": 1, "b": 1}}', "a key occurs twice"),
        ('{"a": NaN}', "NaN is not JSON"),
        ('{"a": 1', "Expecting"),
        ("{" * 100_000, ""),
    ],
)
def test_the_fault_of_a_payload_is_named(payload: str, fault: str) -> None:
    assert fault_of(payload)
    assert fault_of(payload).startswith(fault)
