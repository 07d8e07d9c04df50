"""Programs of the person: run to their end, or killed with all that they started."""

import os
from pathlib import Path
from threading import Event

import pytest

from patience import PATIENCE_SECONDS, set_when, until
from whet.errors import WhetError
from whet.work.job_sessions import OUTPUT_BYTES, Program, ProgramEnd, run


def ran(
    folder: Path, line: str, *, seconds: float = PATIENCE_SECONDS, given: str = "", interrupt: Event | None = None
) -> ProgramEnd:
    return run(Program(line, folder, os.environ, seconds, given), interrupt=interrupt or Event())


def is_gone(pid: int) -> bool:
    """Whether a process has ended; one that nobody has waited for yet has ended too."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_the_exit_code_and_both_outputs_are_kept(tmp_path: Path) -> None:
    assert ran(tmp_path, "echo out; echo err >&2; exit 3") == ProgramEnd(3, "out\nerr\n")
    assert ran(tmp_path, "true").exit_code == 0
    assert ran(tmp_path, "kill -9 $$").exit_code == 137
    assert ran(tmp_path, "cat; pwd", given="words\n").output == f"words\n{tmp_path}\n"


def test_one_that_hangs_is_killed(tmp_path: Path) -> None:
    assert ran(tmp_path, "trap '' TERM; sleep 600", seconds=0.2).exit_code is None


def test_an_interrupt_ends_it_with_its_whole_group(tmp_path: Path) -> None:
    # More than a pipe holds: when all of it is written, most of it has been read.
    line = "trap '' TERM; sleep 600 & echo $! > child; yes begun | head -c 200000; touch up; wait"
    ended = ran(tmp_path, line, interrupt=set_when((tmp_path / "up").exists))
    assert ended.exit_code is None
    assert ended.output.startswith("begun\n")
    child = int((tmp_path / "child").read_text())
    until(lambda: is_gone(child))


def test_one_that_closed_its_output_and_hangs_is_killed_too(tmp_path: Path) -> None:
    assert ran(tmp_path, "exec >&- 2>&-; sleep 600", seconds=0.3).exit_code is None


def test_what_it_leaves_in_the_background_is_not_waited_for(tmp_path: Path) -> None:
    ended = ran(tmp_path, "sleep 600 & echo $! > child; echo done")
    assert ended == ProgramEnd(0, "done\n")
    os.kill(int((tmp_path / "child").read_text()), 9)


def test_endless_output_is_kept_in_bounds(tmp_path: Path) -> None:
    ended = ran(tmp_path, "yes | head -c 5000000; echo last")
    assert ended.exit_code == 0
    assert len(ended.output) < 2 * OUTPUT_BYTES
    assert ended.output.endswith("last\n")


def test_a_folder_that_is_not_there_is_a_mistake_of_a_person(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="cannot be run"):
        ran(tmp_path / "nowhere", "true")
