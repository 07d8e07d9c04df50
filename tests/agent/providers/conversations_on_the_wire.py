"""Conversations with everything that a request can carry, for both wire forms."""

from hypothesis import strategies as st
from msgspec.structs import replace

from agent.providers.vendor_streams import LIST, READ, result, user
from whet.own.runs.run import Run, Sampling
from whet.sessions.transcripts import (
    Disposition,
    Media,
    Message,
    Origin,
    Part,
    Role,
    Text,
    Thought,
    ToolCall,
    ToolResult,
)
from whet.sessions.trust import Trust

FULL = Run(
    id="run-1",
    model="claude-opus-5",
    system="Be brief.\nUse “tools”.",
    messages=(
        user("What is in a.txt and b.txt?"),
        Message(
            role=Role.AGENT,
            parts=(
                Thought("I look.", signature="c2ln"),
                Thought("", signature="b3BhcXVl", redacted=True),
                Text("Let me look."),
                ToolCall("toolu_1", "read_file", '{"path": "a.txt", "n": 1.50}'),
                ToolCall("toolu_2", "read_file", '{"path": "b.txt"'),
            ),
            trust=Trust.AGENT,
            model="claude-opus-5-20260901",
        ),
        result("toolu_1", "größe 😀\n"),
        Message(
            role=Role.TOOL,
            parts=(ToolResult("toolu_2", (Text("The arguments are no JSON."),), "read_file", error=True),),
            trust=Trust.TOOL,
        ),
        Message(role=Role.AGENT, parts=(Text("a.txt says größe."),), trust=Trust.AGENT, model="claude-opus-5"),
        Message(
            role=Role.USER,
            parts=(Text("And this?"), Media("image", "image/png", size_bytes=12, name="x.png")),
            trust=Trust.USER,
        ),
        Message(role=Role.USER, parts=(Text("Go on."),), trust=Trust.OPERATOR, origin=Origin.INSERTED),
    ),
    shown=(READ, LIST),
    sampling=Sampling(temperature=0.5, seed=7, output_tokens=1000),
    prompt_key="abc123",
)

_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_thoughts = st.builds(Thought, _texts, signature=st.sampled_from(["", "sig", '[{"type":"reasoning.text"}]']))


@st.composite
def conversations(draw: st.DrawFn) -> tuple[Message, ...]:
    """Whole turns, one after another: words, or calls with all of their results, valid arguments or not."""
    messages: list[Message] = [user(draw(_texts))]
    for turn in range(draw(st.integers(0, 4))):
        kind = draw(st.sampled_from(["words", "calls", "user", "empty"]))
        if kind == "words":
            parts: tuple[Part, ...] = (*draw(st.lists(_thoughts, max_size=2)), Text(draw(_texts)))
            messages.append(Message(role=Role.AGENT, parts=parts, trust=Trust.AGENT, model="claude"))
        elif kind == "calls":
            ids = [f"call.{turn}.{number}" for number in range(draw(st.integers(1, 3)))]
            asked = tuple(ToolCall(each, "read_file", draw(_texts | st.just('{"path": "x"}'))) for each in ids)
            said: tuple[Part, ...] = (*draw(st.lists(_thoughts, max_size=1)), *asked)
            messages.append(Message(role=Role.AGENT, parts=said, trust=Trust.AGENT, model="claude"))
            for each in ids:
                disposition = draw(st.sampled_from([None, Disposition.BLOCKED]))
                answer = ToolResult(each, (Text(draw(_texts)),), "read_file", disposition=disposition)
                messages.append(Message(role=Role.TOOL, parts=(answer,), trust=Trust.TOOL))
        elif kind == "user":
            messages.append(user(draw(_texts)))
        else:
            messages.append(Message(role=Role.AGENT, parts=(), trust=Trust.AGENT))
    return tuple(messages)


def turns_of(run: Run) -> list[Run]:
    """The runs as they were each time the model was asked: whenever all calls had their results."""
    return [
        replace(run, messages=run.messages[: end + 1])
        for end, message in enumerate(run.messages)
        if message.role is not Role.AGENT
        and (end + 1 == len(run.messages) or run.messages[end + 1].role is not Role.TOOL)
    ]
