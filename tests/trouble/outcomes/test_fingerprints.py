import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.sessions.call_effects import Effect, effect_of
from whet.sessions.transcripts import ToolCall
from whet.trouble.outcomes.fingerprints import LINE_LIMIT, call_key, error_line


def shell(command: str) -> ToolCall:
    return ToolCall("1", "Bash", json.dumps({"command": command}))


def test_the_error_line_is_found_beneath_what_tools_wrap_around_it() -> None:
    text = "Chunk ID: 6d2c6e\nWall time: 0.0 seconds\nProcess exited with code 2\nOutput:\nerror: unexpected argument"
    assert error_line(text) == "unexpected argument"


def test_a_text_without_an_error_gives_its_first_line() -> None:
    assert error_line("\n\nhello\nworld") == "hello"
    assert error_line("") == ""


def test_calls_are_the_same_however_their_arguments_are_spelled() -> None:
    one = ToolCall("1", "run", '{"a": 1, "b": [2, 3]}')
    assert call_key(one) == call_key(ToolCall("2", "run", '{ "b":[2,3],"a":1, "timeout": 9 }'))
    assert call_key(one) != call_key(ToolCall("3", "run", '{"a": 2, "b": [2, 3]}'))
    assert call_key(one) != call_key(ToolCall("4", "walk", '{"a": 1, "b": [2, 3]}'))


@given(st.text(), st.text())
def test_any_call_and_any_error_can_be_named(arguments: str, text: str) -> None:
    assert call_key(ToolCall("1", "run", arguments)) == call_key(ToolCall("2", "run", arguments))
    assert len(error_line(text)) <= LINE_LIMIT


@pytest.mark.parametrize(
    ("call", "effect"),
    [
        (shell("cd app && npm run test -- --watch=false"), Effect.CHECKS),
        (shell("uv run pytest -q | tail -3"), Effect.CHECKS),
        (shell("git commit -m 'x'"), Effect.CHECKS),
        (shell("cargo build"), Effect.CHECKS),
        (shell("grep -rn timeout src | head"), Effect.PROBES),
        (shell("ls -la build"), Effect.PROBES),
        (shell("python deploy.py"), Effect.RUNS),
        (shell("rm -rf test"), Effect.RUNS),
        (ToolCall("1", "mcp__mail__send_message_to", "{}"), Effect.CHANGES),
        (ToolCall("1", "get_user_details", "{}"), Effect.READS),
        (ToolCall("1", "Edit", "{}"), Effect.CHANGES),
        (ToolCall("1", "TodoWrite", "{}"), Effect.THINKS),
    ],
)
def test_the_effect_of_a_call_is_known_from_its_name_or_command(call: ToolCall, effect: Effect) -> None:
    assert effect_of(call) is effect
