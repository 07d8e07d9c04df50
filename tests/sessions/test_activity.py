import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.sessions.activity import Activity, classify, kind_of
from whet.sessions.transcripts import Exchange, ToolCall


def call(tool: str, **arguments: object) -> ToolCall:
    return ToolCall("1", tool, json.dumps(arguments))


def session(*calls: ToolCall) -> list[Exchange]:
    return [Exchange(call=one, asked=index) for index, one in enumerate(calls)]


TEST = call("Bash", command="pytest -q")
NOTE = call("Read", file_path="/a/notes.txt")
PAGE = call("WebFetch", url="https://example.com")
PLAN = call("TodoWrite", todos=[])


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("Bash", {"command": "cd app && npm run build 2>&1 | tail"}, "code"),
        ("exec_command", {"cmd": "git commit -m x"}, "code"),
        ("shell", {"command": ["bash", "-lc", "gcc a.c"]}, "code"),
        ("terminal", {"command": "cat > app.py <<'EOF'\nprint(1)\nEOF"}, "code"),
        ("terminal", {"command": "curl -s http://localhost:8000/health"}, "code"),
        ("Edit", {"file_path": "/a/b.py", "old_string": "a", "new_string": "b"}, "code"),
        ("apply_patch", {"input": "*** Begin Patch"}, "code"),
        ("apply_patch", {}, "code"),
        ("Bash", {"command": "ls -la | head"}, "file"),
        ("run_shell_command", {"command": "mv a.txt b.txt"}, "file"),
        ("Write", {"file_path": "/a/notes.md", "content": "x"}, "file"),
        ("Edit", {"file_path": "/a/letter.txt", "old_string": "a", "new_string": "b"}, "file"),
        ("mcp__filesystem__read_text_file", {"path": "/a"}, "file"),
        ("Bash", {"command": "curl -sL https://example.com | head"}, "research"),
        ("google_web_search", {"query": "x"}, "research"),
        ("browser_click", {"ref": "e1"}, "research"),
        ("TodoWrite", {"todos": []}, "neutral"),
        ("Bash", {"command": "cd app"}, "neutral"),
        ("mcp__sequential-thinking__sequentialthinking", {"thought": "x"}, "neutral"),
    ],
)
def test_a_call_of_a_known_tool_has_the_kind_of_its_purpose(
    tool: str, arguments: dict[str, object], expected: str
) -> None:
    assert kind_of(call(tool, **arguments)) == expected


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("mcp__thing__go", {"command": "make test"}, "code"),
        ("mcp__thing__go", {"command": "ls /srv"}, "file"),
        ("mcp__thing__go", {"sql": "select 1"}, "code"),
        ("mcp__thing__go", {"path": "/srv/a.txt"}, "file"),
        ("mcp__thing__go", {"url": "https://example.com"}, "research"),
        ("mcp__thing__go", {"query": "tides"}, "research"),
        ("mcp__thing__go", {"path": "a.rb", "old_str": "a", "new_str": "b"}, "code"),
        ("get_flights", {"origin": "BRN", "destination": "LHR"}, "research"),
        ("send_money", {"amount": 3}, "neutral"),
    ],
)
def test_a_tool_nobody_listed_is_known_by_its_arguments(tool: str, arguments: dict[str, object], expected: str) -> None:
    assert kind_of(call(tool, **arguments)) == expected


def test_an_activity_dominates_above_sixty_percent_and_not_at_it() -> None:
    assert classify(session(*[TEST] * 7, *[NOTE] * 4)) is Activity.CODE
    assert classify(session(*[TEST] * 6, *[NOTE] * 4)) is Activity.MIXED
    assert classify(session(*[NOTE] * 2, PAGE)) is Activity.FILE
    assert classify(session(PAGE, PAGE, NOTE)) is Activity.RESEARCH


def test_neutral_calls_do_not_vote() -> None:
    assert classify(session(PAGE, *[PLAN] * 20)) is Activity.RESEARCH
    assert classify(session(*[PLAN] * 20)) is Activity.MIXED
    assert classify(session()) is Activity.MIXED


def test_looking_at_source_belongs_to_changing_it() -> None:
    looks = [call("Read", file_path=f"/a/{name}.ts") for name in "abc"]
    change = call("Edit", file_path="/a/a.ts", old_string="x", new_string="y")
    assert classify(session(*looks, change)) is Activity.CODE
    assert classify(session(*looks)) is Activity.FILE
    assert classify(session(*[NOTE] * 3, change)) is Activity.FILE


@given(tool=st.text(max_size=40), arguments=st.text(max_size=80))
def test_any_call_has_a_kind(tool: str, arguments: str) -> None:
    assert kind_of(ToolCall("1", tool, arguments)) in ("code", "file", "research", "neutral")


@given(st.permutations([TEST] * 4 + [NOTE] * 3 + [PAGE] * 2 + [PLAN] * 3))
def test_the_order_of_the_calls_does_not_matter(calls: list[ToolCall]) -> None:
    assert classify(session(*calls)) is Activity.MIXED
