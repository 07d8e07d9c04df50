"""What a run does, as it is shown: from a stream of values to the lines of a terminal."""

import io
import itertools
import re
from contextlib import closing

from whet.cli.chat.display import Display
from whet.cli.chat.screen import Screen
from whet.own.runs.run import Ended, Fragment
from whet.sessions.transcripts import Disposition, Ending, Message, Part, Role, Text, ToolCall, ToolResult
from whet.sessions.trust import Trust

WAITING = re.compile(r"\r\x1b\[K[^\n]*?(?=\r\x1b\[K)|\r\x1b\[K")
CODES = re.compile(r"\x1b\[[0-9;]*m")


class Paper(io.StringIO):
    """A stream that is taken for a terminal, and keeps what is written."""

    def isatty(self) -> bool:
        return True


def agent(*parts: Part) -> Message:
    return Message(Role.AGENT, parts, Trust.AGENT)


def result(call_id: str, text: str = "", *, exit_code: int = 0, disposition: Disposition | None = None) -> Message:
    content = (Text(text),) if text else ()
    return Message(Role.TOOL, (ToolResult(call_id, content, exit_code=exit_code, disposition=disposition),), Trust.TOOL)


def shown(*said: Message | Fragment | Ended, thoughts: bool = True) -> str:
    paper = Paper()
    ticks = itertools.count(0.0, 1.0)
    with closing(Screen(paper, {})) as screen:
        display = Display(screen, screen, thoughts=thoughts, clock=lambda: next(ticks))
        for each in said:
            display.show(each)
    return WAITING.sub("", paper.getvalue())


def test_words_that_streamed_are_not_shown_again() -> None:
    out = shown(Fragment("text", "Hel"), Fragment("text", "lo."), agent(Text("Hello.")), Ended(Ending.FINISHED))
    assert out == "\nHello.\n"


def test_words_that_did_not_stream_are_shown_when_they_are_whole() -> None:
    assert shown(agent(Text("Hello.")), Ended(Ending.FINISHED)) == "\nHello.\n"


def test_thoughts_are_dim_or_hidden() -> None:
    stream = (Fragment("thought", "Hm, let me see."), Fragment("text", "Yes."), agent(Text("Yes.")))
    out = shown(*stream)
    assert "\x1b[2mHm, let me see.\x1b[0m" in out
    assert CODES.sub("", out) == "\nHm, let me see.\n\nYes.\n"
    assert CODES.sub("", shown(*stream, thoughts=False)) == "\nYes.\n"


def test_each_call_gets_a_line_with_its_outcome_and_time() -> None:
    calls = [ToolCall("1", "read_file", '{"path": "a.txt"}'), ToolCall("2", "terminal", '{"command": "make"}')]
    out = shown(
        agent(Text("Looking."), *calls),
        result("2", "cc: not found\n[exit code 2]", exit_code=2),
        result("1", "bread"),
        agent(Text("Done.")),
    )
    plain = CODES.sub("", out)
    assert plain.splitlines() == [
        "",
        "Looking.",
        "",
        "✗ terminal make · exit 2: cc: not found · 1.0 s",
        "✓ read_file a.txt · 3.0 s",
        "",
        "Done.",
    ]


def test_why_a_call_was_not_carried_out_is_said() -> None:
    call = ToolCall("1", "terminal", '{"command": "rm -rf /"}')
    out = CODES.sub("", shown(agent(call), result("1", disposition=Disposition.REJECTED)))
    assert "✗ terminal rm -rf / · refused by you" in out


def test_hostile_arguments_neither_break_the_line_nor_reach_the_terminal() -> None:
    for arguments in ('{"command": "a\\nb\\u001b[2J"}', "not json \x1b[2J", "[1, 2]", '{"x": {"y": 1}}'):
        out = shown(agent(ToolCall("1", "tool", arguments)), result("1"))
        assert len(out.splitlines()) == 1
        assert "\x1b[2J" not in out


def test_the_end_of_the_work_is_no_call_to_look_at() -> None:
    call = ToolCall("1", "finish", '{"status": "done"}')
    ended = Message(Role.TOOL, (ToolResult("1", (Text("The work is ended."),), "finish", False),), Trust.AGENT)
    assert shown(agent(call), ended) == ""
