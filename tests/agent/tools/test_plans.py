"""The plan lives in the session: a resumed one has it again."""

from agent.tools.rooms import Room, ask_for
from whet.agent.tools.situation import TodoStep, plan_in
from whet.sessions.transcripts import Message, Role, Text, ToolCall, ToolResult
from whet.sessions.trust import Trust

STEPS = [{"text": "look", "status": "done"}, {"text": "change", "status": "doing"}, {"text": "check"}]
ARGUMENTS = '{"steps": [{"text": "look", "status": "done"}, {"text": "check"}]}'


def exchange(arguments: str, *, error: bool = False) -> list[Message]:
    return [
        Message(Role.AGENT, (ToolCall("t", "todo", arguments),), Trust.AGENT),
        Message(Role.TOOL, (ToolResult("t", (Text("…"),), "todo", error),), Trust.AGENT),
    ]


def test_a_plan_is_kept_and_shown(room: Room) -> None:
    box = room.box()
    assert ask_for(box, "todo").result.text == "There is no plan yet."
    shown = ask_for(box, "todo", steps=STEPS).result.text
    assert shown == "[x] look\n[>] change\n[ ] check\n2 of 3 steps left."
    assert ask_for(box, "todo").result.text == shown


def test_a_wrong_step_changes_nothing(room: Room) -> None:
    box = room.box()
    ask_for(box, "todo", steps=STEPS)
    assert ask_for(box, "todo", steps=[{"text": "x", "status": "perhaps"}]).result.error is True
    assert "change" in ask_for(box, "todo").result.text


def test_a_resumed_session_has_its_plan(room: Room) -> None:
    box = room.box(messages=tuple(exchange(ARGUMENTS)))
    assert ask_for(box, "todo").result.text == "[x] look\n[ ] check\n1 of 2 steps left."


def test_only_what_was_answered_well_counts() -> None:
    later = exchange('{"steps": [{"text": "evil"}]}', error=True)
    assert plan_in([*exchange(ARGUMENTS), *later]) == (TodoStep("look", "done"), TodoStep("check"))
    assert plan_in([*exchange(ARGUMENTS), *exchange("{}"), *exchange("not json")]) == plan_in(exchange(ARGUMENTS))
    assert plan_in([]) == ()
