"""Scripts: replies from a test, from a file, and from the record of a real run."""

from pathlib import Path
from threading import Event

import pytest

from agent.scenes import Notebook, played, run_of, user
from replies import says
from whet.agent.protocols import ProviderFailed, Reply, StopReason
from whet.agent.providers.choosing import Call, Scripted, ScriptLine, reply_of, scripted_file
from whet.errors import WhetError
from whet.net.wire import Interrupted
from whet.own.runs.run import Fragment, grown
from whet.sessions.transcripts import Ending, Text, ToolCall


def test_a_reply_streams_in_pieces_that_add_up() -> None:
    pieces = list(Scripted([says("A sentence that is longer than one piece.")]).reply(run_of(), interrupt=Event()))
    *fragments, reply = pieces
    assert isinstance(reply, Reply)
    assert len(fragments) > 1
    assert "".join(piece.text for piece in fragments if isinstance(piece, Fragment)) == reply.message.text


def test_a_script_stops_where_it_is_interrupted() -> None:
    interrupt = Event()
    stream = Scripted([says("A sentence that is longer than one piece.")]).reply(run_of(), interrupt=interrupt)
    next(stream)
    interrupt.set()
    with pytest.raises(Interrupted):
        next(stream)


def test_a_script_that_is_over_says_so() -> None:
    with pytest.raises(ProviderFailed, match="no more replies"):
        next(Scripted([]).reply(run_of(), interrupt=Event()))


def test_a_file_holds_words_calls_and_faults(tmp_path: Path) -> None:
    path = tmp_path / "demo.jsonl"
    path.write_text(
        '{"text": "I look.", "calls": [{"name": "read", "arguments": "{\\"path\\": \\"a\\"}"}]}\n\n'
        '{"text": "There it is.", "usage": {"input": 5}}\n'
        '{"fault": "limit", "text": "Too many."}\n'
    )
    provider = scripted_file(path)
    box = Notebook()
    run = run_of()
    messages, ended = played(run, provider, box)
    assert (provider.name, ended.ending, messages[-1].text) == ("demo", Ending.FINISHED, "There it is.")
    assert box.done == [ToolCall("call-1", "read", '{"path": "a"}')]
    _, failed = played(grown(run, *messages, user("More.")), provider, box)
    assert (failed.ending, failed.fault, failed.detail) == (Ending.FAILED, "limit", "Too many.")


@pytest.mark.parametrize("line", ["{", '{"say": "hello"}', '{"fault": "weather"}', "[]"])
def test_a_line_that_is_no_reply_is_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "script.jsonl"
    path.write_text(line)
    with pytest.raises(WhetError, match="not a reply"):
        scripted_file(path)


def test_a_script_that_is_not_there_is_a_mistake_with_advice(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="cannot be read"):
        scripted_file(tmp_path / "none")


def test_words_alone_end_a_turn_and_calls_ask_for_their_results() -> None:
    assert reply_of(ScriptLine(text="x")).message.parts == (Text("x"),)
    assert [reply.stop for reply in (reply_of(ScriptLine(text="x")), reply_of(ScriptLine(calls=(Call("read"),))))] == [
        StopReason.END,
        StopReason.CALLS,
    ]
