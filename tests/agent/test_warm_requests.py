"""What a warm run sends: each request extends the last, and two sessions with one template begin alike."""

import pytest

from agent.prefixes import extends
from conversations import agent, call, user
from samples_of_templates import TEMPLATE
from whet.agent.providers.anthropic import AnthropicCodec
from whet.agent.providers.openai import OpenAICodec
from whet.agent.providers.vendors import dialect_of
from whet.own.examples.warm_start import examples, warm_start
from whet.own.runs.models import Model
from whet.own.runs.run import Run
from whet.sessions.transcripts import Message
from whet.shipped.guidance.warm import words

MODEL = Model("some-model")
OPENAI = OpenAICodec(MODEL, dialect_of("openai", "https://api.openai.com/v1"))
IN_WORDS = OpenAICodec(Model("small-model", tools="text"), dialect_of("openai", "https://api.openai.com/v1"))
CODECS = [OPENAI, IN_WORDS, AnthropicCodec(MODEL)]


def run(*messages: Message) -> Run:
    return Run("run-1", "some-model", "Be kind.", warm_start(TEMPLATE, messages, words()))


@pytest.mark.parametrize("codec", CODECS)
def test_a_warm_session_extends_its_requests(codec: OpenAICodec | AnthropicCodec) -> None:
    turns = (user("Water the plants."), *call("valve", {"open": True}, "ok"), agent("Done."), user("Thanks."))
    requests = [codec.request(run(*turns[:count])) for count in (1, 3, 5)]
    assert extends(requests[0], requests[1])
    assert extends(requests[1], requests[2])


@pytest.mark.parametrize("codec", CODECS)
def test_sessions_with_one_template_share_the_bytes_of_its_examples(codec: OpenAICodec | AnthropicCodec) -> None:
    shared = codec.request(Run("run-0", "some-model", "Be kind.", examples(TEMPLATE, words())))
    for first in ("Water the plants.", "Sow the beans."):
        assert extends(shared, codec.request(run(user(first))))
