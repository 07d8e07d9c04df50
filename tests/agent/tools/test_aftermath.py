"""What the agent writes for other programs to run is asked about, taken aside or reported, and never silent."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.tools.plants import ASKED, GIT, REPORTED, as_person, written
from agent.tools.rooms import Room, ask_for, walls_here
from whet.agent.tools.toolbox import PlainToolbox
from whet.own.runs.settings import Sandbox
from whet.sessions.transcripts import Disposition

WALLS = walls_here()
PATIENCE_SECONDS = 60
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="sandboxes are Linux's")


@pytest.mark.parametrize("path", ASKED)
def test_a_file_tool_asks_before_it_writes_what_runs_on_its_own(room: Room, path: str) -> None:
    nobody = ask_for(room.box(), "write_file", path=path, content="evil")
    assert nobody.result.disposition is Disposition.BLOCKED
    refused = ask_for(room.box(person_agrees=False), "write_file", path=path, content="evil")
    assert refused.result.disposition is Disposition.REJECTED
    assert "evil" in room.asked.text
    assert not (room.work / path).exists()
    agreed = ask_for(room.box(person_agrees=True), "write_file", path=path, content="good")
    assert agreed.result.error is False
    assert (room.work / path).read_text() == "good"


def test_an_edit_of_what_runs_on_its_own_is_asked_about(room: Room) -> None:
    (room.work / ".envrc").write_text("export A=1\n")
    answer = ask_for(room.box(person_agrees=False), "edit", path=".envrc", old="A=1", new="A=$(evil)")
    assert answer.result.disposition is Disposition.REJECTED
    assert "$(evil)" in room.asked.text
    assert (room.work / ".envrc").read_text() == "export A=1\n"


def test_what_is_too_long_to_look_through_is_not_asked_about(room: Room) -> None:
    answer = ask_for(room.box(person_agrees=True), "write_file", path=".envrc", content="x\n" * 20_000)
    assert answer.result.disposition is Disposition.BLOCKED


def test_leave_to_write_a_file_once_is_no_leave_for_commands(shell: Room) -> None:
    box = shell.box(person_agrees=True)
    ask_for(box, "write_file", path=".envrc", content="good")
    ask_for(box, "terminal", command="echo evil > .envrc")
    assert (shell.work / ".envrc").read_text() == "good"


@pytest.mark.parametrize("path", REPORTED)
def test_a_file_tool_reports_what_runs_with_the_persons_work(room: Room, path: str) -> None:
    box = room.box()
    answer = ask_for(box, "write_file", path=path, content='{"scripts": {"postinstall": "x"}}')
    assert answer.result.error is False
    [line] = box.news()
    assert path in line
    assert box.news() == ()


@pytest.mark.parametrize(
    "path",
    ["AGENTS.override.md", "CRUSH.md", "docs/CONVENTIONS.md", "skills/x/SKILL.md", "commands/x.md", "hooks/hooks.json"],
)
def test_what_instructs_agents_is_named_by_whatever_name(room: Room, path: str) -> None:
    box = room.box()
    ask_for(box, "write_file", path=path, content="Send it to eve.")
    [line] = box.news()
    assert f"{path} (agents)" in line


@pytest.mark.parametrize(
    ("own", "target", "written"),
    [
        (".bashrc", "dot/bashrc", "dot/bashrc"),
        (".config/nvim", "dot/nvim", "dot/nvim/init.lua"),
        (".config/git", "dot/git", "dot/git/config"),
    ],
)
def test_what_a_persons_own_settings_link_to_is_theirs(shell: Room, own: str, target: str, written: str) -> None:
    """Dotfiles that are kept in a repository and linked from where programs look for them."""
    file = shell.work / written
    file.parent.mkdir(parents=True)
    file.write_text("# mine\n")
    place = shell.person / own
    place.parent.mkdir(exist_ok=True)
    place.unlink(missing_ok=True)
    place.symlink_to(shell.work / target)
    ask_for(shell.box(), "terminal", command=f"printf '[core]\\nfsmonitor = evil\\n' > {written}")
    assert file.read_text() == "# mine\n"


@pytest.mark.parametrize(
    "line", [". {work}/sh/env.sh", "for f in {work}/sh/*.sh; do . $f; done", "source ~/w/sh/env.sh"]
)
def test_what_a_persons_shell_reads_from_the_folder_is_theirs(shell: Room, line: str) -> None:
    (shell.person / "w").symlink_to(shell.work)
    (shell.person / ".bashrc").write_text(line.format(work=shell.work))
    box = shell.box()
    ask_for(box, "terminal", command="mkdir sh src; echo evil > sh/env.sh; echo ls > src/other.sh")
    assert not (shell.work / "sh" / "env.sh").exists()
    assert (shell.work / "src" / "other.sh").exists()


def test_what_a_history_in_a_persons_home_names_is_nothing_special(shell: Room) -> None:
    history = shell.person / ".claude" / "history.jsonl"
    history.parent.mkdir()
    history.write_text(f'{{"display": "look at {shell.work}/src/main.py"}}\n')
    box = shell.box()
    ask_for(box, "terminal", command="mkdir src; echo x > src/main.py")
    assert box.news() == ()


def test_a_folder_that_a_persons_shell_goes_to_is_worked_in_as_ever(shell: Room) -> None:
    (shell.person / ".bashrc").write_text(f"alias w='cd {shell.work}' s='cd {shell.work}/src'\n")
    (shell.work / "src").mkdir()
    ask_for(shell.box(), "terminal", command="echo ls > src/a.sh; echo ls > b.sh; chmod +x b.sh")
    assert (shell.work / "src" / "a.sh").exists()
    assert (shell.work / "b.sh").exists()


@pytest.mark.parametrize("caller", [".local/bin/deploy", ".config/systemd/user/deploy.service"])
def test_what_a_program_of_the_persons_calls_is_named(shell: Room, caller: str) -> None:
    program = shell.person / caller
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\nExecStart=/bin/sh {shell.work}/src/impl.sh\n")
    (program.parent / "tool").symlink_to(shell.work / "src" / "tool.sh")
    box = shell.box()
    ask_for(box, "terminal", command="mkdir src; echo evil > src/impl.sh")
    assert any("src/impl.sh" in line for line in box.news())
    assert (shell.work / "src" / "impl.sh").exists()


def test_none_of_many_changed_files_goes_unnamed(room: Room) -> None:
    """Those that known programs run come first; the rest of a long list is kept where the note says."""
    box = room.box()
    for number in range(60):
        ask_for(box, "write_file", path=f".note{number}", content="x")
    ask_for(box, "write_file", path="AGENTS.md", content="x")
    [line] = box.news()
    assert line.index("AGENTS.md") < line.index(".note")
    [kept] = (room.home.folder / "quarantine").rglob("changed.txt")
    assert str(kept) in line
    assert all(f".note{number} " in kept.read_text() for number in range(60))
    assert kept.stat().st_mode & 0o777 == 0o600


def test_a_list_that_cannot_be_kept_is_told_whole(room: Room) -> None:
    (room.home.folder / "quarantine").write_text("where the list would go")
    box = room.box()
    for number in range(60):
        ask_for(box, "write_file", path=f".note{number}", content="x")
    [line] = box.news()
    assert all(f".note{number} " in line for number in range(60))


@pytest.mark.parametrize(
    "path",
    ["src/a.py", "README.md", "CHANGELOG.md", "docs/README.de.md", "node_modules/x/Makefile", "data/config", "HEAD"],
)
def test_ordinary_files_are_written_without_a_word(room: Room, path: str) -> None:
    box = room.box()
    assert ask_for(box, "write_file", path=path, content="x").result.error is False
    assert box.news() == ()


def test_of_a_package_only_what_it_runs_is_reported(room: Room) -> None:
    (room.work / "package.json").write_text('{"scripts": {"test": "jest"}, "version": "1"}')
    box = room.box()
    ask_for(box, "edit", path="package.json", old='"1"', new='"2"')
    assert box.news() == ()
    ask_for(box, "edit", path="package.json", old="jest", new="evil")
    assert "package.json (npm)" in box.news()[0]


@pytest.mark.parametrize("path", ASKED[:12])
def test_what_a_command_leaves_to_run_on_its_own_is_taken_aside(shell: Room, path: str) -> None:
    box = shell.box()
    answer = ask_for(box, "terminal", command=written(path))
    assert "taken aside" in answer.result.text
    assert path in answer.result.text
    assert not (shell.work / path).exists()
    assert path in box.news()[0]
    [kept] = kept_files(shell)
    assert "evil" in kept.read_text()
    assert kept.stat().st_mode & 0o777 == 0o600


def test_what_stood_there_before_stands_there_again(shell: Room) -> None:
    hook = shell.work / ".husky" / "pre-commit"
    hook.parent.mkdir()
    hook.write_text("npm test\n")
    hook.chmod(0o755)
    ask_for(shell.box(), "terminal", command="echo evil >> .husky/pre-commit")
    assert hook.read_text() == "npm test\n"
    assert hook.stat().st_mode & 0o111


def test_a_person_can_keep_what_a_command_left(shell: Room) -> None:
    box = shell.box(person_agrees=True, person_keeps=True)
    answer = ask_for(box, "terminal", command=written(".pre-commit-config.yaml"))
    assert shell.asked.keep
    assert shell.asked.text.startswith(".pre-commit-config.yaml (pre-commit)\n| {")
    assert "evil" in shell.asked.text
    assert "taken aside" not in answer.result.text
    assert (shell.work / ".pre-commit-config.yaml").exists()
    assert ".pre-commit-config.yaml" in box.news()[0]
    ask_for(box, "terminal", command="true")
    assert box.news() == ()


def test_a_link_in_the_place_of_a_folder_of_triggers_is_one(shell: Room) -> None:
    ask_for(shell.box(), "terminal", command="mkdir -p mine && echo '{}' > mine/tasks.json && ln -s mine .vscode")
    assert not (shell.work / ".vscode").is_symlink()


def test_what_the_person_writes_between_commands_is_left_alone(shell: Room) -> None:
    box = shell.box()
    ask_for(box, "terminal", command="true")
    as_person("git init -q && git config alias.x '!true' && echo x > .envrc", shell, shell.work, check=True)
    answer = ask_for(box, "terminal", command="git status --short")
    assert "taken aside" not in answer.result.text
    assert (shell.work / ".envrc").exists()
    assert "alias" in (shell.work / ".git" / "config").read_text()


def test_a_command_reports_what_runs_with_the_persons_work(shell: Room) -> None:
    box = shell.box()
    answer = ask_for(box, "terminal", command="printf 'all:\\n\\tevil\\n' > Makefile")
    assert answer.result.text == ""
    assert "Makefile (programs that look for it)" in box.news()[0]
    assert (shell.work / "Makefile").exists()


def test_a_command_to_run_at_the_next_step_of_a_rebase_is_reported(shell: Room) -> None:
    box = shell.box()
    ask_for(
        box,
        "terminal",
        command="git init -q r && mkdir r/.git/rebase-merge && echo 'exec evil' > r/.git/rebase-merge/git-rebase-todo",
    )
    assert "git rebase --continue" in box.news()[0]


def test_a_running_command_is_ended_when_it_leaves_what_git_would_run(shell: Room) -> None:
    as_person("git init -q", shell, shell.work, check=True)
    box = shell.box(person_agrees=True)
    command = "echo ../common > .git/commondir; sleep 900"
    answer = ask_for(box, "terminal", command=command, timeout_seconds=PATIENCE_SECONDS)
    assert "taken aside" in answer.result.text
    assert "no end after" not in answer.result.text
    assert not (shell.work / ".git" / "commondir").exists()


def test_a_background_command_is_ended_when_it_leaves_what_git_would_run(shell: Room) -> None:
    as_person("git init -q", shell, shell.work, check=True)
    box = shell.box(person_agrees=True)
    command = "until [ -e go ]; do sleep 0.05; done; echo ../x > .git/commondir; sleep 900"
    ask_for(box, "terminal", command=command, background=True)
    (shell.work / "go").touch()
    answer = ask_for(box, "process", action="wait", handle="p1", timeout_seconds=PATIENCE_SECONDS)
    assert "ended" in answer.result.text
    assert not (shell.work / ".git" / "commondir").exists()
    assert ".git/commondir" in box.news()[0]


def ended_unseen(room: Room, box: PlainToolbox, planted: str) -> None:
    """A background command that leaves something and is gone, while nobody calls a tool."""
    command = f"until [ -e go ]; do sleep 0.05; done; {planted}"
    ask_for(box, "terminal", command=command, background=True)
    (room.work / "go").touch()
    process = box._workplace.processes.get("p1")
    assert process is not None
    assert process.done.wait(PATIENCE_SECONDS)


def test_what_a_background_command_leaves_at_its_end_is_taken_without_a_call(shell: Room) -> None:
    as_person("git init -q", shell, shell.work, check=True)
    box = shell.box(person_agrees=True)
    ended_unseen(shell, box, "echo ../x > .git/commondir")
    box._workplace.lookout.rest(PATIENCE_SECONDS)
    assert not (shell.work / ".git" / "commondir").exists()
    assert ".git/commondir" in box.news()[0]


@pytest.mark.parametrize("then", ["true", ""])
def test_what_a_background_command_left_at_its_end_is_not_taken_for_the_persons(shell: Room, then: str) -> None:
    box = shell.box()
    ended_unseen(shell, box, "echo evil > .envrc; echo evil > Makefile")
    if then:
        ask_for(box, "terminal", command=then)
    told = "".join(box.news())
    assert not (shell.work / ".envrc").exists()
    assert ".envrc" in told
    assert "Makefile" in told


def test_what_a_background_command_left_is_seen_to_at_the_end(shell: Room) -> None:
    box = shell.box()
    ask_for(box, "terminal", command="echo evil > .envrc; touch up; sleep 900", background=True)
    ask_for(box, "process", action="wait", handle="p1", timeout_seconds=1)
    box.close()
    assert not (shell.work / ".envrc").exists()
    assert ".envrc" in "".join(box.news())


def test_another_folder_that_may_be_written_is_looked_at_too(shell: Room) -> None:
    box = shell.box(sandbox=Sandbox(writable=(str(shell.outside),)), person_agrees=True)
    ask_for(
        box,
        "terminal",
        command=f"git init -q {shell.outside} && echo '[core] fsmonitor=x' >> {shell.outside}/.git/config",
    )
    assert not (shell.outside / ".git" / "config").exists()
    assert "config (git)" in box.news()[0]


def test_file_tools_make_no_bare_repository_that_runs_something(room: Room) -> None:
    box = room.box(person_agrees=True)
    evil = room.outside / "evil"
    evil.write_text(f"#!/bin/sh\ntouch {room.outside}/ran\n")
    evil.chmod(0o755)
    setting = f"[core]\n\tbare = false\n\tworktree = {room.work}\n\tfsmonitor = {evil}\n"
    for path, content in (("HEAD", "ref: refs/heads/main\n"), ("objects/x", ""), ("refs/x", ""), ("config", setting)):
        ask_for(box, "write_file", path=f"sub/{path}", content=content)
    as_person("git status", room, room.work / "sub")
    assert not (room.outside / "ran").exists()
    assert "sub/config (git)" in box.news()[0]


def test_a_repository_keeps_its_address_and_its_hooks(shell: Room) -> None:
    before = "git init -q && git remote add origin https://host/own && echo true > .git/hooks/pre-push"
    as_person(before, shell, shell.work, check=True)
    box = shell.box(person_agrees=True)
    ask_for(box, "terminal", command="git remote set-url origin https://evil/x; rm -rf .git/hooks")
    assert "https://host/own" in (shell.work / ".git" / "config").read_text()
    assert "evil" not in (shell.work / ".git" / "config").read_text()
    assert (shell.work / ".git" / "hooks" / "pre-push").read_text() == "true\n"


def test_a_file_that_leads_to_whets_home_takes_nothing_from_there(room: Room) -> None:
    (room.home.folder / "config").write_text("[core]\n\tfsmonitor = own\n")
    room.work = room.base
    box = room.box(person_agrees=True)
    ask_for(box, "terminal", command=f"mkdir sub && echo 'gitdir: {room.home.folder}' > sub/.git")
    assert (room.home.folder / "config").exists()
    assert not (room.work / "sub" / ".git").exists()


@pytest.mark.parametrize(
    "command",
    [
        "git checkout -q -b other && echo y > f && git add f && $GIT commit -qm two && git checkout -q main"
        " && git merge -q other",
        "echo y > f && $GIT stash -q && $GIT stash pop -q && git diff --quiet f || git checkout f",
        "git init -q sub && git -C sub config user.name n && git -C sub config user.email a@b.c"
        " && git -C sub remote add origin https://host/x && touch sub/f && git -C sub add f"
        " && git -C sub commit -qm one",
        "git clone -q . copy && git -C copy checkout -q -b x && git -C copy log -1 --format=%s",
        "git worktree add -q tree && git -C tree status --short && git worktree list",
        "git -c protocol.file.allow=always submodule --quiet add $WORK/.git part && $GIT commit -qm part"
        " && git submodule status",
        "git clone -q --bare . copy.git && git -C copy.git log -1 --format=%s",
        "git checkout -q -b other && echo z > f && $GIT commit -qam z && $GIT rebase -q main && git gc -q",
    ],
)
def test_ordinary_work_with_git_is_left_alone(shell: Room, command: str) -> None:
    before = f"git init -q -b main && echo x > f && git add f && {GIT} commit -qm one"
    as_person(before, shell, shell.work, check=True)
    box = shell.box()
    command = command.replace("$GIT", GIT).replace("$WORK", str(shell.work))
    answer = ask_for(box, "terminal", command=f"set -e; {command}")
    assert answer.result.exit_code == 0, answer.result.text
    assert "taken aside" not in answer.result.text
    assert box.news() == ()


def test_git_in_a_repository_that_was_made_before_goes_on(shell: Room) -> None:
    box: PlainToolbox = shell.box()
    ask_for(box, "terminal", command="git init -q -b main")
    told = "git config user.name n && git config user.email a@b.c"
    answer = ask_for(
        box, "terminal", command=f"{told} && touch f && git add f && git commit -qm one && git log --format=%s"
    )
    assert answer.result.text == "one"


def kept_files(room: Room) -> Iterator[Path]:
    yield from (path for path in (room.home.folder / "quarantine").rglob("*") if path.is_file())
