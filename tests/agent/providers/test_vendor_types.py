"""Our requests are what the vendors' own libraries take and send, and our loopback streams are what they understand."""

import json
from collections.abc import Iterator
from typing import Any

import anthropic
import openai
import pytest
from anthropic.types import MessageStreamEvent, RawMessageStreamEvent
from anthropic.types.message_create_params import MessageCreateParamsStreaming as AnthropicParams
from hypothesis import given, settings
from msgspec.structs import replace
from openai.types.chat import ChatCompletionChunk
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming as OpenAIParams
from pydantic import ConfigDict, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from agent.loopback import Loopback, playing, streamed
from agent.providers.conversations_on_the_wire import FULL, conversations
from agent.providers.vendor_streams import (
    KEY,
    anthropic_answer,
    anthropic_events,
    asking_of,
    call_piece,
    openai_answer,
    replied,
)
from whet.agent.providers.anthropic import AnthropicCodec
from whet.agent.providers.dialects import BY_HOST, PLAIN
from whet.agent.providers.openai import OpenAICodec
from whet.models import Model
from whet.transcripts import Message
