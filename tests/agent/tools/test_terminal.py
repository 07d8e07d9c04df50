"""Commands have limits of time and output, a folder that lasts, and a person who is asked."""

import subprocess
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.tools.rooms import Room, ask_for, running, walls_here
from patience import PATIENCE_SECONDS, set_when, until
from whet.agent.tools.sandbox import Wall, Walls
from whet.agent.tools.situation import Terminal
from whet.agent.tools.toolbox import PlainToolbox
from whet.own.runs.settings import Sandbox
from whet.sessions.transcripts import Disposition, ToolCall
from whet.sessions.trust import Trust

WALLS = {**walls_here(), "none": Walls(Wall.NONE)}


@pytest.fixture(params=["bubblewrap", "landlock", "none"])
def shell(request: pytest.FixtureRequest, room_folder: Path) -> Iterator[Room]:
    """A room behind each kind of sandbox, and behind none."""
    if request.param not in WALLS:
        pytest.skip(f"{request.param} does not work on this machine")
    room = Room(room_folder, WALLS[request.param])
    yield room
    room.leave()


def seconds_like_no_other() -> str:
    """For a process that sleeps: known among all by how long it would."""
    return f"9{uuid.uuid4().int % 10**8:08}"


def test_a_command_works_in_the_folder(shell: Room) -> None:
    answer = ask_for(shell.box(), "terminal", command="echo hello > x; cat x; pwd")
    assert answer.result.text == f"hello\n{shell.work}"
    assert (answer.result.exit_code, answer.result.error) == (0, None)
    is_held = shell.walls is not None and shell.walls.wall is not Wall.NONE
    assert answer.trust is (Trust.TOOL if is_held else Trust.EXTERNAL), "what reaches the network may be anybody's"
    assert (shell.work / "x").read_text() == "hello\n"


def test_programs_on_the_path_are_found_in_the_shared_temporary_folder(shell: Room, tmp_path: Path) -> None:
    program, word = tmp_path / "venv" / "bin" / "greet", tmp_path / "venv" / "lib" / "word"
    for each in (program, word):
        each.parent.mkdir(parents=True)
    word.write_text("hello\n")
    program.write_text(f"#!/bin/sh\ncat {word}\n")
    program.chmod(0o755)
    (tmp_path / "beside").write_text("not for agents\n")
    shell.environment["PATH"] = f"{program.parent}:{shell.environment['PATH']}"
    assert ask_for(shell.box(), "terminal", command="greet").result.text.strip() == "hello"
    if shell.walls and shell.walls.wall is not Wall.NONE:
        assert ask_for(shell.box(), "terminal", command=f"echo changed >{word}").result.exit_code != 0
        beside = ask_for(shell.box(), "terminal", command=f"cat {tmp_path}/beside").result
        assert beside.exit_code == 1


def test_the_exit_code_is_a_field_and_is_shown(room: Room) -> None:
    answer = ask_for(room.box(), "terminal", command="echo out; echo err >&2; exit 3")
    assert answer.result.exit_code == 3
    assert answer.result.text == "out\nerr\n[exit code 3]"


@pytest.mark.parametrize(("command", "code"), [("kill -9 $$", 137), ("nosuchprogram", 127), ("if", 2), ("exit 0", 0)])
def test_every_ending_has_its_code(shell: Room, command: str, code: int) -> None:
    assert ask_for(shell.box(), "terminal", command=command).result.exit_code == code


def test_the_folder_lasts_and_variables_do_not(room: Room) -> None:
    box = room.box()
    ask_for(box, "terminal", command="mkdir -p a/b; cd a/b; export X=1")
    assert ask_for(box, "terminal", command="pwd; echo [$X]").result.text == f"{room.work}/a/b\n[]"
    answer = ask_for(box, "terminal", command="cd /; false")
    assert "starts in" in answer.result.text
    assert ask_for(box, "terminal", command="pwd").result.text == str(room.work)


def test_a_folder_that_is_gone_is_left(room: Room) -> None:
    box = room.box()
    ask_for(box, "terminal", command="mkdir gone; cd gone")
    (room.work / "gone").rmdir()
    assert ask_for(box, "terminal", command="pwd").result.text == str(room.work)


def test_a_command_that_takes_too_long_is_ended_with_its_children(shell: Room) -> None:
    mark = seconds_like_no_other()
    answer = ask_for(shell.box(), "terminal", command=f"sleep {mark} & sleep {mark}", timeout_seconds=1)
    assert answer.result.error is True
    assert "no end after 1 seconds" in answer.result.text
    until(lambda: not running(mark))


def test_an_interrupt_ends_a_command(shell: Room) -> None:
    box = shell.box()
    call = ToolCall("1", "terminal", '{"command": "echo begun; touch up; sleep 900"}')
    answer = box.answer(call, allowed=box.names, interrupt=set_when((shell.work / "up").exists))
    assert answer.result.disposition is Disposition.INTERRUPTED
    assert "begun" in answer.result.text


def test_output_is_kept_head_and_tail(room: Room) -> None:
    box = room.box(terminal=Terminal(output_characters=1_000))
    text = ask_for(box, "terminal", command="echo first; yes filler | head -c 5000000; echo last").result.text
    assert text.startswith("first")
    assert text.endswith("last")
    assert "bytes left out" in text
    assert len(text) < 1_200


def test_control_sequences_are_not_passed_on(room: Room) -> None:
    text = ask_for(room.box(), "terminal", command=r"printf '\033]0;evil\007\033[31mred\033[0m'").result.text
    assert text == "red"


def test_nothing_can_be_typed(room: Room) -> None:
    assert ask_for(room.box(), "terminal", command="cat; read x; echo done").result.text == "done"


def test_temporary_files_are_private_and_removed(shell: Room) -> None:
    box = shell.box()
    answer = ask_for(
        box, "terminal", command='echo x > "$TMPDIR/mine"; ls "$TMPDIR"; touch "$XDG_CACHE_HOME" && echo ok'
    )
    # A folder that itself lies in /tmp is seen there too.
    listed = answer.result.text.splitlines()
    assert "mine" in listed
    assert listed[-1] == "ok"
    temporary = box._workplace.temporary
    assert (temporary / "mine").exists()
    box.close()
    assert not temporary.exists()


def test_a_background_command_is_read_and_killed(shell: Room) -> None:
    box = shell.box()
    begun = ask_for(box, "terminal", command="echo one; touch up; sleep 900", background=True)
    assert "p1: running" in begun.result.text
    assert begun.result.exit_code is None
    assert "p1  running" in ask_for(box, "process", action="list").result.text
    until((shell.work / "up").exists)
    killed = ask_for(box, "process", action="kill", handle="p1")
    assert "ended" in killed.result.text
    assert "one" in begun.result.text + killed.result.text
    assert ask_for(box, "process", action="read", handle="p1").result.exit_code == 137


def test_a_background_command_can_be_waited_for(room: Room) -> None:
    box = room.box()
    ask_for(box, "terminal", command="until [ -e go ]; do sleep 0.05; done; echo went; exit 4", background=True)
    (room.work / "go").touch()
    answer = ask_for(box, "process", action="wait", handle="p1", timeout_seconds=int(PATIENCE_SECONDS))
    assert answer.result.exit_code == 4
    assert "went" in answer.result.text


def test_an_unknown_process_is_told(room: Room) -> None:
    assert ask_for(room.box(), "process", action="read", handle="p9").result.error is True


def test_nothing_runs_on_when_the_session_ends(shell: Room) -> None:
    box = shell.box()
    mark = seconds_like_no_other()
    ask_for(box, "terminal", command=f"setsid sleep {mark} & touch up; sleep {mark}", background=True)
    until((shell.work / "up").exists)
    box.close()
    until(lambda: not running(mark))


def test_a_dangerous_command_is_denied_where_nobody_can_answer(room: Room) -> None:
    answer = ask_for(room.box(), "terminal", command="rm -rf ../outside")
    assert answer.result.disposition is Disposition.BLOCKED
    assert "nobody can be asked" in answer.result.text
    assert room.victim.exists()


def test_a_person_decides_about_a_dangerous_command(room: Room) -> None:
    command = "git push --force nowhere-at-all HEAD || echo pushed"
    refused = ask_for(room.box(person_agrees=False), "terminal", command=command)
    assert refused.result.disposition is Disposition.REJECTED
    assert room.asked.text == command
    assert room.asked.reasons == ("overwrites other people's work",)
    agreed = ask_for(room.box(person_agrees=True), "terminal", command=command)
    assert agreed.result.disposition is None
    assert "pushed" in agreed.result.text


def test_without_a_sandbox_there_is_no_terminal_unless_the_person_says_so(shell: Room) -> None:
    box = shell.box(sandbox=Sandbox())
    answer = ask_for(box, "terminal", command="echo ran")
    without = shell.walls == Walls(Wall.NONE)
    assert ({"terminal", "process"} & box.names == set()) is without
    assert answer.result.disposition is (Disposition.BLOCKED if without else None)
    if without:
        assert "sandbox.required false" in "".join(box.notes)
        allowed = shell.box(sandbox=Sandbox(required=False))
        assert ask_for(allowed, "terminal", command="echo ran").result.text == "ran"
        assert "No sandbox works here" in "".join(allowed.notes)


@pytest.mark.parametrize("command", ["", "  \n", "echo \0", "x" * 200_000])
def test_what_is_no_command_is_told(room: Room, command: str) -> None:
    assert ask_for(room.box(), "terminal", command=command).result.error is True


def test_another_folder_can_be_opened_for_writing(shell: Room) -> None:
    box = shell.box(sandbox=Sandbox(required=False, writable=(str(shell.outside), "/no/such/folder")))
    ask_for(box, "terminal", command=f"echo new > {shell.victim}")
    assert shell.victim.read_text() == "new\n"


def test_the_scripts_of_skills_run(shell: Room) -> None:
    script = shell.home.folder / "skills" / "known" / "helper.sh"
    assert ask_for(shell.box(), "terminal", command=f"bash {script}").result.text == "helped"


def test_ordinary_work_is_possible(shell: Room) -> None:
    command = (
        "git init -q repo && cd repo && git config user.email a@b.c && git config user.name n && echo x > f"
        " && git add f && git commit -qm one && git log --oneline | wc -l && python3 -c 'import tempfile, subprocess;"
        ' tempfile.mkdtemp(); print(subprocess.run(["true"]).returncode)\' && mkdir d && mv f d/g && chmod +x d/g'
    )
    assert ask_for(shell.box(), "terminal", command=command).result.text == "1\n0"


def test_a_repository_that_was_there_can_be_worked_in(shell: Room) -> None:
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=shell.work, check=True)
    command = (
        "echo x > f && git add f && git -c user.name=n -c user.email=a@b.c commit -qm one && git checkout -q -b other"
        " && git log --oneline | wc -l && git status --short | wc -l"
    )
    assert ask_for(shell.box(), "terminal", command=command).result.text == "1\n0"


def test_a_call_that_was_stopped_before_it_began_did_not_run(room: Room) -> None:
    box: PlainToolbox = room.box()
    stopped = threading.Event()
    stopped.set()
    answer = box.answer(ToolCall("1", "terminal", '{"command": "touch ran"}'), allowed=box.names, interrupt=stopped)
    assert answer.result.disposition is Disposition.CANCELLED
    assert not (room.work / "ran").exists()
