"""whet setup: all of it in one command, nothing twice, and all of it back exactly."""

import json
import re
import shutil
from pathlib import Path

import pytest

from command import COMMAND, Done, Whet, allow
from whet.machine.records import alone
from whet.store.home import Home
from whet.store.records import hash_of

ORDINARY = '{"model":"opus",\n   "env": {"A": "1"} }'


@pytest.fixture
def machine(person: Path, examples: Path, tmp_path: Path) -> Path:
    """A person with Claude Code and Codex, and a systemctl that writes down what it is asked."""
    projects = person / ".claude" / "projects" / "x"
    projects.mkdir(parents=True)
    shutil.copy(next((examples / "claude-code").rglob("*.jsonl")), projects)
    (person / ".claude" / "settings.json").write_text(ORDINARY)
    (person / ".claude" / "CLAUDE.md").write_text("Be kind.\n")
    (person / ".codex").mkdir()
    program = tmp_path / "bin" / "systemctl"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\n')
    program.chmod(0o755)
    return person


@pytest.fixture
def setup(whet: Whet, machine: Path, tmp_path: Path) -> Whet:
    """`whet setup` on that machine, by a person whose yes counts without a terminal."""
    allow(tmp_path / "home")
    path = (
        f"{tmp_path / 'bin'}:/usr/bin:/bin"  # not the agents' own programs, which would be asked to install the plugin
    )

    def run(*arguments: str, variables: dict[str, str] | None = None) -> Done:
        return whet("setup", *arguments, variables={"PATH": path, "HOME": str(machine), **(variables or {})})

    return run


def asked(tmp_path: Path) -> list[str]:
    """What systemctl was asked to do; each look at the machine asks whether it answers."""
    path = tmp_path / "asked"
    lines = path.read_text().splitlines() if path.exists() else []
    path.unlink(missing_ok=True)
    return [line.removeprefix("--user ") for line in lines if "show-environment" not in line]


def contents(folder: Path) -> dict[str, str]:
    """Every file and folder, with what it holds."""
    return {
        str(path.relative_to(folder)): path.read_text() if path.is_file() else "" for path in sorted(folder.rglob("*"))
    }


def test_a_dry_run_says_what_it_would_do_and_does_nothing(setup: Whet, machine: Path, tmp_path: Path) -> None:
    before = contents(machine)
    shown = setup("--dry-run").out
    for words in ("Import the sessions of Claude Code", "hooks for Codex", "CLAUDE.md", "systemd service", "03:30"):
        assert words in shown
    assert contents(machine) == before
    assert asked(tmp_path) == []


def test_all_of_it_is_set_up_shown_and_not_done_twice(setup: Whet, whet: Whet, machine: Path, tmp_path: Path) -> None:
    assert setup("--yes").code == 0
    assert asked(tmp_path) == ["daemon-reload", "enable --now whet-worker.service"]
    unit = machine / ".config" / "systemd" / "user" / "whet-worker.service"
    assert f"WHET_HOME={tmp_path / 'home'}" in unit.read_text()
    found = whet("status", "--json").json
    assert found["hooks"] == ["claude-code", "codex"]
    assert found["targets"] == ["claude-code", "codex"]
    assert (found["worker"]["service"], found["jobs"]) == (str(unit), ["improve"])
    assert found["sessions"]["all"] == 1
    assert json.loads((machine / ".claude" / "settings.json").read_text())["model"] == "opus"

    after, record = contents(machine), (tmp_path / "home" / "setup.json").read_text()
    again = setup("--yes")
    assert "Nothing to change." in again.out
    assert contents(machine) == after
    assert (tmp_path / "home" / "setup.json").read_text() == record
    assert asked(tmp_path) == []
    elsewhere = f"{tmp_path / 'bin'}:/usr/bin:/bin:/opt/other"
    assert "Nothing to change." in setup("--yes", variables={"PATH": elsewhere}).out, "from another shell too"


def test_undoing_leaves_the_machine_byte_for_byte_as_it_was(
    setup: Whet, whet: Whet, machine: Path, tmp_path: Path
) -> None:
    before = contents(machine)
    assert whet("rules", "add", "read-first", "Read the file before you edit it.").code == 0
    assert setup("--yes").code == 0
    assert "Read the file" in (machine / ".claude" / "CLAUDE.md").read_text()
    asked(tmp_path)
    assert setup("--undo", "--yes").code == 0
    assert contents(machine) == before
    assert asked(tmp_path) == ["disable --now whet-worker.service", "daemon-reload"]
    assert list((tmp_path / "home" / "jobs").glob("*.toml")) == []
    assert "Nothing to undo" in setup("--undo", "--yes").out
    assert setup("--yes").code == 0, "it can be set up again"


def test_undoing_says_what_was_taken_out_and_never_more(setup: Whet, whet: Whet, machine: Path) -> None:
    assert whet("rules", "add", "read-first", "Read the file before you edit it.").code == 0
    assert setup("--yes", "--without", "nightly").code == 0
    shown = " ".join(setup("--undo", "--yes").out.split())
    assert f"took Whet's own block out of {machine}/.claude/CLAUDE.md, the rest stays" in shown
    assert f"deleted {machine}/.codex/AGENTS.md, which had Whet's own block alone" in shown
    assert whet("ledger", "undo").code == 0, "the rule"
    assert setup("--yes", "--without", "nightly").code == 0
    shown = " ".join(setup("--undo", "--yes").out.split())
    assert f"Removed the target codex: Whet had written nothing to {machine}/.codex/AGENTS.md." in shown


def test_the_nightly_job_is_left_to_the_undoing_of_the_setup(setup: Whet, whet: Whet) -> None:
    assert setup("--yes").code == 0
    refused = whet("ledger", "undo")
    assert refused.code == 1
    assert "add job improve" in refused.err
    assert "`whet setup --undo` takes all of that back" in " ".join(refused.err.split())
    assert whet("status", "--json").json["jobs"] == ["improve"]


@pytest.mark.parametrize("is_edited", [False, True], ids=["as left", "edited since"])
def test_hooks_of_an_older_whet_are_brought_up_to_date_and_undone_as_ever(
    is_edited: bool, setup: Whet, whet: Whet, machine: Path, tmp_path: Path
) -> None:
    assert setup("--yes").code == 0
    settings, record = machine / ".claude" / "settings.json", tmp_path / "home" / "setup.json"
    newest = json.loads(settings.read_text())
    older = {**newest, "hooks": {event: each for event, each in newest["hooks"].items() if event != "PreToolUse"}}
    digest = hash_of(settings.read_bytes())
    settings.write_text(json.dumps(older))
    record.write_text(record.read_text().replace(digest, hash_of(settings.read_bytes())))
    if is_edited:
        settings.write_text(json.dumps({**older, "model": "sonnet"}))
    shown = setup("--dry-run").out
    assert "Bring Whet's hooks for Claude Code up to date" in shown
    assert "Bring Whet's hooks for Codex" not in shown
    assert "Claude Code has the hooks of another Whet" in whet("doctor", "--json").out
    assert setup("--yes").code == 0
    assert json.loads(settings.read_text())["hooks"] == newest["hooks"]
    assert "Nothing to change." in setup("--yes").out
    setup("--undo", "--yes")
    if is_edited:
        assert json.loads(settings.read_text()) == {"model": "sonnet", "env": {"A": "1"}}
    else:
        assert settings.read_text() == ORDINARY


def test_what_a_person_changed_since_is_left_and_named(setup: Whet, machine: Path, tmp_path: Path) -> None:
    assert setup("--yes").code == 0
    unit = machine / ".config" / "systemd" / "user" / "whet-worker.service"
    unit.write_text(f"{unit.read_text()}# mine\n")
    job = tmp_path / "home" / "jobs" / "improve.toml"
    job.write_text(f"{job.read_text()}# mine\n")
    settings = machine / ".claude" / "settings.json"
    settings.write_text(settings.read_text().replace('"opus"', '"sonnet"'))
    asked(tmp_path)
    done = setup("--undo", "--yes")
    assert done.code == 1
    for path in (unit, job, settings):
        assert f"{path} was changed since" in done.out
    assert (unit.exists(), job.exists()) == (True, True)
    assert json.loads(settings.read_text()) == {"model": "sonnet", "env": {"A": "1"}}
    assert asked(tmp_path) == []


def test_what_was_there_before_is_not_taken_away(setup: Whet, whet: Whet) -> None:
    assert whet("sync", "add", "codex").code == 0
    assert setup("--yes").code == 0
    assert setup("--undo", "--yes").code == 0
    assert [each["name"] for each in whet("sync", "--targets", "--json").json["targets"]] == ["codex"]


def test_a_unit_of_somebody_else_is_left_alone(setup: Whet, machine: Path, tmp_path: Path) -> None:
    unit = machine / ".config" / "systemd" / "user" / "whet-worker.service"
    unit.parent.mkdir(parents=True)
    unit.write_text("[Service]\n")
    assert f"{unit} is there already, with other content" in setup("--yes").out
    assert unit.read_text() == "[Service]\n"
    assert asked(tmp_path) == []


def test_a_part_is_left_out_and_a_machine_without_services_is_told_so(setup: Whet, whet: Whet, tmp_path: Path) -> None:
    (tmp_path / "bin" / "systemctl").write_text("#!/bin/sh\nexit 1\n")
    done = setup("--yes", "--without", "hooks", "--without", "nightly")
    assert "systemd runs no services for you here" in done.out
    found = whet("status", "--json").json
    assert (found["hooks"], found["jobs"], found["worker"]["service"]) == ([], [], None)


def test_a_broken_file_of_an_agent_keeps_nothing_else_from_being_set_up(setup: Whet, machine: Path) -> None:
    (machine / ".codex" / "hooks.json").write_text("{")
    done = setup("--yes")
    assert "hooks.json cannot be read" in done.out
    assert "Added hooks to" in done.out


def test_nothing_is_done_without_a_persons_yes(whet: Whet, machine: Path) -> None:
    before = contents(machine)
    refused = whet("setup", "--yes", allowed=False)
    assert refused.code == 1
    assert "needs a person's yes" in refused.err
    assert contents(machine) == before


def test_a_time_that_is_none_is_refused_first(setup: Whet) -> None:
    assert "is not a time of day" in setup("--nightly", "25:00", "--yes").err


def call(whet: Whet, agent: str, folder: Path) -> None:
    """A session of an agent starts, and its hook runs."""
    body = {"session_id": "s", "cwd": str(folder), "hook_event_name": "SessionStart", "source": "startup"}
    assert whet("hook", "session-start", "--agent", agent, stdin=json.dumps(body)).code == 0


def test_hooks_that_never_called_are_told_from_those_that_do(setup: Whet, whet: Whet, machine: Path) -> None:
    shown = setup("--yes").out
    assert "Left for you to do: start `codex` once and trust Whet's hooks" in shown
    hooks = whet("status").out
    assert "claude-code installed, not yet seen calling" in hooks
    assert "trust Whet's hooks" in setup("--yes").out, "as long as it is left to do"
    rows = {row["text"]: row for row in whet("doctor", "--json").json["checks"] if row["name"] == "hooks"}
    row = rows["Codex has Whet's hooks, and was not yet seen calling"]
    assert (row["health"], row["fix"]) == ("warning", "Start `codex` once and trust Whet's hooks (`/hooks`).")
    call(whet, "codex", machine)
    assert "codex calls Whet (last: 20" in " ".join(whet("status").out.split())
    assert "Codex calls Whet (last: 20" in whet("doctor").out
    assert "trust Whet's hooks" not in setup("--yes").out


def test_after_undoing_nobody_is_said_to_call(setup: Whet, whet: Whet, machine: Path) -> None:
    setup("--yes")
    call(whet, "codex", machine)
    setup("--undo", "--yes")
    assert whet("status", "--json").json["hooks"] == []
    assert "calls Whet" not in whet("doctor").out


def test_hooks_whose_program_is_not_found_are_named(setup: Whet, whet: Whet, machine: Path) -> None:
    setup("--yes")
    bare = {"PATH": "/usr/bin:/bin"}
    assert "does not find" not in whet("doctor", variables=bare).out, "they name the program's whole path"
    settings = machine / ".claude" / "settings.json"
    settings.write_text(re.sub(r"PATH=[^ ]+ ", "", settings.read_text()))
    shown = " ".join(whet("doctor", variables=bare).out.split())
    assert "Claude Code does not find the program `whet` for its hooks" in shown
    assert "ln -s " in shown
    (machine / ".profile").write_text(f"PATH={COMMAND.parent}:$PATH\n")
    assert "does not find" not in whet("doctor", variables=bare).out, "a login shell finds it"
    venv = {"VIRTUAL_ENV": str(COMMAND.parents[1]), "PATH": f"{COMMAND.parent}:/usr/bin:/bin"}
    (machine / ".profile").unlink()
    assert "does not find" in whet("doctor", variables=venv).out, "an activated environment is not everywhere"


@pytest.mark.parametrize(
    "body",
    [
        b'{"model": "\xff"}',
        b"[" * 100_000,
        b'{"hooks": [1]}',
        b'{"hooks": {"SessionStart": {"a": 1}}}',
        b'{"hooks": {"SessionStart": [1, null, {"hooks": 3}, {"hooks": [3, {"command": 4}]}]}}',
    ],
)
def test_settings_of_an_odd_form_are_named_and_all_else_is_done_and_undone(
    setup: Whet, machine: Path, body: bytes
) -> None:
    (machine / ".claude" / "settings.json").write_bytes(body)
    before = {path: path.read_bytes() for path in machine.rglob("*") if path.is_file()}
    done = setup("--yes", "--without", "service")
    assert done.err == ""
    assert "Added hooks to" in done.out
    undone = setup("--undo", "--yes")
    assert (undone.code, undone.err) == (0, "")
    assert {path: path.read_bytes() for path in machine.rglob("*") if path.is_file()} == before
    assert "Nothing to undo" in setup("--undo", "--yes").out


def test_hooks_that_cannot_be_taken_back_keep_nothing_else_from_being_undone(setup: Whet, machine: Path) -> None:
    setup("--yes", "--without", "service")
    (machine / ".claude" / "settings.json").write_text("no JSON any more")
    undone = setup("--undo", "--yes")
    assert (undone.code, undone.err) == (1, "")
    assert "The hooks of claude-code stay" in undone.out
    assert not (machine / ".codex" / "hooks.json").exists()
    assert (machine / ".claude" / "settings.json").read_text() == "no JSON any more"
    (machine / ".claude" / "settings.json").write_text("{}")
    assert "settings.json was changed since" in setup("--undo", "--yes").out


def test_one_sets_up_at_a_time_and_the_other_is_told(setup: Whet, machine: Path, tmp_path: Path) -> None:
    before = contents(machine)
    with alone(Home(tmp_path / "home")):
        for arguments in ((), ("--undo",)):
            refused = setup(*arguments, "--yes")
            assert refused.code == 1
            assert "Another `whet setup` is under way" in refused.err
        assert setup("--dry-run").code == 0
    assert contents(machine) == before
    assert setup("--yes", "--without", "service").code == 0
