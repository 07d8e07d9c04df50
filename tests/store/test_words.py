"""The words of a message, as the index takes them and a query asks for them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.sessions.transcripts import Media, Message, Role, Text, Thought, ToolCall, ToolResult
from whet.sessions.trust import Trust
from whet.store.words import MARK, indexed, marks, plain, role_mark, searchable, terms, tool_mark


def message(*parts: Text | Thought | Media | ToolCall | ToolResult) -> Message:
    return Message(role=Role.AGENT, parts=parts, trust=Trust.AGENT)


def test_all_that_a_message_holds_is_one_text_in_order() -> None:
    value = message(
        Thought("hm"),
        Text("I look."),
        ToolCall("c1", "Bash", '{"command": "ls"}'),
        ToolResult("c0", (Text("a b"), Media(kind="image"), Text("c"))),
        Media(kind="image", name="screen.png"),
    )
    assert plain(value) == 'hm\nI look.\nBash\n{"command": "ls"}\na b\nc'


def test_escapes_in_arguments_do_not_hide_their_words() -> None:
    value = message(
        ToolCall("c", "Write", '{"path": "a.py", "lines": ["one\\ntwo", 3, true, null, {"deep": "\\u00e9"}]}')
    )
    assert terms(plain(value)) == ["write", "path", "a", "py", "lines", "one", "two", "3", "true", "deep", "e"]


@pytest.mark.parametrize("arguments", ['{"broken\\": ', '"\\ud800"', "[" * 5_000 + '"\\n"' + "]" * 5_000])
def test_arguments_that_are_no_json_are_taken_as_they_are(arguments: str) -> None:
    assert plain(message(ToolCall("c", "Bash", arguments))).startswith("Bash\n")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("src/whet/store.py:12", ["src", "whet", "store", "py", "12"]),
        ("snake_case --no-verify", ["snake", "case", "no", "verify"]),
        ("Ärger naïve", ["arger", "naive"]),
        ("cafe\u0301", ["cafe"]),
        ("ﬁle ＡＢＣ x²", ["file", "abc", "x2"]),
        ("見つからない", list("見つからない")),
        ("한국어", list("한국어")),
        ("🎉 … —", []),
    ],
)
def test_a_text_falls_apart_into_words(text: str, words: list[str]) -> None:
    assert terms(text) == words


@given(st.text())
def test_what_was_made_searchable_stays_as_it_is(text: str) -> None:
    assert terms(searchable(text)) == terms(text)


@given(st.text(), st.sampled_from(["user", "agent"]))
def test_no_text_can_pretend_to_be_a_mark(text: str, role: str) -> None:
    assert MARK not in indexed(message(Text(f"{text} {role_mark(role)}")))


def test_marks_name_the_role_and_each_tool_once() -> None:
    found = marks("tool", ["Bash", "Read", "Bash"]).split()
    assert found == [role_mark("tool"), *sorted({tool_mark("Bash"), tool_mark("Read")})]
    assert all(word.startswith(MARK) for word in found)
