"""The front door: `whet` alone, slips in names, and completion in a real shell."""

import shutil
import subprocess
from pathlib import Path

import pytest

from command import COMMAND, Whet, environment


def test_whet_alone_says_where_to_begin(whet: Whet) -> None:
    done = whet()
    assert done.code == 0, done.err
    assert "Sessions  0 stored" in done.out
    assert "whet import PATH" in done.out
    assert "whet --help" in done.out
    assert "canary" not in done.out


def test_whet_alone_names_the_agents_it_found(whet: Whet, person: Path) -> None:
    (person / ".claude" / "projects" / "-work").mkdir(parents=True)
    (person / ".claude" / "projects" / "-work" / "s.jsonl").write_text("{}\n")
    assert "Read the sessions of Claude Code." in whet().out


@pytest.mark.usefixtures("imported")
def test_with_sessions_the_next_steps_are_others(whet: Whet) -> None:
    shown = whet().out
    assert "whet lessons" in shown
    assert "whet import" not in shown


def test_a_slip_in_a_command_is_told_the_likely_one(whet: Whet) -> None:
    done = whet("lesons")
    assert done.code == 2
    assert "There is no command lesons. Did you mean `whet lessons`" in done.err
    assert "To list all commands: `whet --help`." in whet("xyzzyq").err


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_a_command(tmp_path: Path, person: Path) -> None:
    script = (
        'eval "$(whet setup --completion bash)"; COMP_WORDS=(whet less); COMP_CWORD=1; _whet_completion whet;'
        ' echo "${COMPREPLY[@]}"'
    )
    own = {**environment(tmp_path / "home", person), "PATH": f"{COMMAND.parent}:/usr/bin:/bin"}
    done = subprocess.run(["bash", "-c", script], env=own, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "lessons", done.stderr
