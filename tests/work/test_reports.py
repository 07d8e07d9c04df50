"""Reports reach a file, a command, a webhook or standard output; or it is said why not."""

import os
from pathlib import Path
from threading import Event

import pytest

from agent.loopback import Play, playing, refused
from patience import PATIENCE_SECONDS
from whet.errors import WhetError
from whet.jobs.job import Deliver, Job
from whet.jobs.runs import JobOutcome, JobRecord, JobResult, finished, letter
from whet.work.job_runs import DeliveryPlace, deliver, may_be_repeated


def record(how: Deliver, to: str = "", *, id: str = "ab12") -> JobRecord:
    job = Job("news", "every 2h", prompt="x", workdir="/", deliver=how, to=to)
    return finished(JobRecord(id, job, 0.0), JobResult(JobOutcome.DONE, "All is well."), now=1.0)


def send(one: JobRecord, folder: Path, **variables: str) -> None:
    deliver(one, DeliveryPlace(folder, {**os.environ, **variables}, Event(), command_seconds=PATIENCE_SECONDS))


def test_a_file_grows_by_each_report_once(tmp_path: Path) -> None:
    first, second = record("file", "news.md", id="one"), record("file", "news.md", id="two")
    for each in (first, first, second, second, first):
        send(each, tmp_path)
    assert (tmp_path / "news.md").read_text() == f"{letter(first).rstrip()}\n\n{letter(second)}"
    assert may_be_repeated(first)


def test_a_file_where_there_is_no_folder_and_a_link_are_refused(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="no folder"):
        send(record("file", "nowhere/news.md"), tmp_path)
    (tmp_path / "secret").write_text("x")
    (tmp_path / "news.md").symlink_to(tmp_path / "secret")
    with pytest.raises(WhetError):
        send(record("file", "news.md"), tmp_path)
    assert (tmp_path / "secret").read_text() == "x"


def test_a_command_gets_the_report_on_its_input(tmp_path: Path) -> None:
    send(record("command", "cat > got; echo $WHET_RUN >> got"), tmp_path)
    assert (tmp_path / "got").read_text() == f"{letter(record('command'))}ab12\n"
    assert not may_be_repeated(record("command"))


def test_a_command_that_fails_or_hangs_is_told(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="exited with 4") as caught:
        send(record("command", "echo no mail today; exit 4"), tmp_path)
    assert caught.value.advice == "no mail today"
    with pytest.raises(WhetError, match="did not end in time"):
        deliver(record("command", "sleep 600"), DeliveryPlace(tmp_path, os.environ, Event(), command_seconds=0.2))


def test_a_webhook_gets_json_and_a_key_that_tells_repetitions_apart(tmp_path: Path) -> None:
    with playing(Play((b"ok",), 204, {}, framing="close")) as server:
        send(record("webhook", "$HOOK"), tmp_path, HOOK=f"{server.base_url}/hook?token=x")
        [request] = server.requests
    assert request.line == "POST /v1/hook?token=x HTTP/1.1"
    assert request.headers["idempotency-key"] == "ab12"
    assert request.json["outcome"] == "done"
    assert request.json["report"] == "All is well."
    assert request.json["text"] == letter(record("webhook"))


@pytest.mark.parametrize("status", [301, 404, 500])
def test_a_webhook_that_answers_otherwise_is_a_failure(tmp_path: Path, status: int) -> None:
    with playing(refused(status)) as server, pytest.raises(WhetError, match=f"status {status}"):
        send(record("webhook", f"{server.base_url}/hook"), tmp_path)


def test_a_webhook_that_is_not_reached_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="could not be reached"):
        send(record("webhook", "http://127.0.0.1:9/hook"), tmp_path)
    with pytest.raises(WhetError, match="not set"):
        send(record("webhook", "$NO_SUCH_HOOK"), tmp_path)


def test_standard_output_is_one_of_the_ways(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    send(record("stdout"), tmp_path)
    send(record("none"), tmp_path)
    assert capfdbinary.readouterr().out.decode() == letter(record("stdout"))
