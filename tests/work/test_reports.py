"""Reports reach a file, a command or standard output; or it is said why not."""

import os
from pathlib import Path
from threading import Event

import pytest

from patience import PATIENCE_SECONDS
from whet.errors import WhetError
from whet.own.jobs.job import Deliver, Job
from whet.own.jobs.runs import JobOutcome, JobRecord, JobResult, finished, letter
from whet.work.job_runs import deliver


def record(how: Deliver, to: str = "", *, id: str = "ab12") -> JobRecord:
    job = Job("news", "every 2h", prompt="x", workdir="/", deliver=how, to=to)
    return finished(JobRecord(id, job, 0.0), JobResult(JobOutcome.DONE, "All is well."), now=1.0)


def send(one: JobRecord, folder: Path, **variables: str) -> None:
    deliver(one, folder, {**os.environ, **variables}, interrupt=Event(), seconds=PATIENCE_SECONDS)


def test_a_file_grows_by_each_report_once(tmp_path: Path) -> None:
    first, second = record("file", "news.md", id="one"), record("file", "news.md", id="two")
    for each in (first, first, second, second, first):
        send(each, tmp_path)
    assert (tmp_path / "news.md").read_text() == f"{letter(first).rstrip()}\n\n{letter(second)}"


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


def test_a_command_that_fails_or_hangs_is_told(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="exited with 4") as caught:
        send(record("command", "echo no mail today; exit 4"), tmp_path)
    assert caught.value.advice == "no mail today"
    with pytest.raises(WhetError, match="did not end in time"):
        deliver(record("command", "sleep 600"), tmp_path, os.environ, interrupt=Event(), seconds=0.2)


def test_where_it_goes_may_stand_in_a_variable(tmp_path: Path) -> None:
    send(record("command", "$SEND"), tmp_path, SEND="cat > got")
    assert (tmp_path / "got").read_text() == letter(record("command"))
    with pytest.raises(WhetError, match="not set"):
        send(record("command", "$NO_SUCH_WAY"), tmp_path)


def test_standard_output_is_one_of_the_ways(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    send(record("stdout"), tmp_path)
    send(record("none"), tmp_path)
    assert capfdbinary.readouterr().out.decode() == letter(record("stdout"))
