"""Tools behind one door: shown in one order, allowed by name, and never a crash."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.tools.rooms import Room, ask_for
from lengths import examples
from whet.agent.protocols import Toolbox
from whet.agent.tools.situation import CallContext, ToolOutput, ToolState
from whet.agent.tools.toolbox import SETS, PlainToolbox, built_in, names_in, tool_of
from whet.errors import WhetError
from whet.own.runs.run import WorkReport, WorkStatus
from whet.own.told.passages import plain_names
from whet.sessions.tool_families import Family, family_of
from whet.sessions.transcripts import Disposition, ToolCall
from whet.sessions.trust import Trust

REQUEST_BYTES = 6_000
NEVER = threading.Event()


def test_a_box_is_a_toolbox(room: Room) -> None:
    box: Toolbox = room.box()
    assert box.can_run_beside(ToolCall("1", "read_file"))


def test_definitions_come_in_one_order_with_the_same_bytes(room: Room) -> None:
    one, other = room.box(sets=("all",)), room.box(sets=("finish", "terminal", "chat"))
    assert one.definitions == other.definitions
    order = [tool.name for tool in built_in()]
    assert [each.name for each in one.definitions] == [name for name in order if name in one.names]


def test_definitions_are_short(room: Room) -> None:
    size = sum(len(each.name + each.description + each.parameters) for each in room.box().definitions)
    assert size < REQUEST_BYTES


def test_every_tool_has_a_description_and_is_known_to_the_rest_of_whet() -> None:
    for tool in built_in():
        assert tool.definition.description
        assert family_of(ToolCall("1", tool.name)) is not Family.OTHER
        assert plain_names([tool.name]) == (tool.name,)


def test_every_set_names_tools_that_are_there() -> None:
    known = {tool.name for tool in built_in()}
    assert names_in(["all"]) == known
    assert names_in(["review"]) == {"memory", "skills"}
    assert known - names_in(["chat"]) == {"finish"}
    assert known - names_in(["unattended"]) == {"warm_session"}
    for name in SETS:
        assert names_in([name]) <= known
    assert names_in(["files", "finish"]) == {"read_file", "write_file", "edit", "search_files", "finish"}


def test_a_plan_is_shown_with_what_is_left_and_a_wrong_one_is_refused(room: Room) -> None:
    steps = [{"text": "look", "status": "done"}, {"text": "change", "status": "doing"}, {"text": "check"}]
    shown = ask_for(room.box(), "todo", steps=steps).result
    assert shown.text == "[x] look\n[>] change\n[ ] check\n2 of 3 steps left."
    assert ask_for(room.box(), "todo", steps=[{"text": "x", "status": "perhaps"}]).result.error is True


def test_an_unknown_set_is_a_persons_mistake() -> None:
    with pytest.raises(WhetError, match="no set of tools nonsense"):
        names_in(["nonsense"])


def test_what_is_shown_but_not_allowed_is_blocked(room: Room) -> None:
    box = room.box()
    call = ToolCall("7", "write_file", '{"path": "x", "content": "y"}')
    answer = box.answer(call, allowed=frozenset({"memory", "skills"}), interrupt=NEVER)
    assert answer.result.disposition is Disposition.BLOCKED
    assert answer.result.call_id == "7"
    assert not (room.work / "x").exists()


def test_permission_holds_in_every_thread(room: Room) -> None:
    box = room.box()
    calls = [ToolCall(str(number), "write_file", '{"path": "x", "content": "y"}') for number in range(20)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(
            pool.map(lambda call: box.answer(call, allowed=frozenset({"read_file"}), interrupt=NEVER), calls)
        )
    assert {answer.result.disposition for answer in answers} == {Disposition.BLOCKED}
    assert [answer.result.call_id for answer in answers] == [call.id for call in calls]
    assert not (room.work / "x").exists()


def test_what_is_not_in_the_box_cannot_be_allowed(room: Room) -> None:
    box = room.box(sets=("reading",))
    call = ToolCall("1", "terminal", '{"command": "touch x"}')
    answer = box.answer(call, allowed=frozenset({"terminal"}), interrupt=NEVER)
    assert answer.result.error is True
    assert not (room.work / "x").exists()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(30))
@given(st.sampled_from([tool.name for tool in built_in()]), st.text() | st.just('{"command": "touch x"'))
def test_malformed_arguments_are_an_error_and_nothing_else(room: Room, name: str, arguments: str) -> None:
    box = room.box()
    answer = box.answer(ToolCall("1", name, arguments), allowed=box.names, interrupt=NEVER)
    assert answer.result.error is True
    assert list(room.work.iterdir()) == []


def test_a_fault_of_a_tool_is_a_result(room: Room) -> None:
    def broken(_: CallContext, *, number: int) -> ToolOutput:
        """Divide."""
        return ToolOutput(str(1 // number))

    workplace = ToolState(room.box()._workplace.situation, ())
    box = PlainToolbox(workplace, [tool_of(broken)._replace(definition=built_in()[0].definition)], sets=("read_file",))
    answer = box.answer(ToolCall("1", "read_file", '{"number": 0}'), allowed=box.names, interrupt=NEVER)
    assert answer.result.error is True
    assert "ZeroDivisionError" in answer.result.text
    assert answer.trust is Trust.TOOL


def test_only_calls_that_change_nothing_run_beside_others(room: Room) -> None:
    box = room.box()
    beside = {name for name in box.names if box.can_run_beside(ToolCall("1", name))}
    assert beside == {"read_file", "search_files", "session_search"}
    assert not box.can_run_beside(ToolCall("1", "unknown"))


def test_finishing_reports(room: Room) -> None:
    answer = ask_for(room.box(), "finish", status="nothing_to_report", report="All is well.")
    assert answer.report == WorkReport(WorkStatus.NOTHING_TO_REPORT, "All is well.")
    assert ask_for(room.box(), "finish", status="maybe").report is None


def test_a_folder_that_is_not_there_is_a_persons_mistake(room: Room) -> None:
    room.work = room.base / "nowhere"
    with pytest.raises(WhetError, match="no folder"):
        room.box()
