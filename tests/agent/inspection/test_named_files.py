"""Files are found by the texts that name them, whether or not they are there yet."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.agent.inspection.inspecting import Inspection
from whet.agent.inspection.reach import Namer, Reach, words_in
from whet.agent.inspection.spots import gitlinks
from whet.agent.inspection.triggers import Tree, TriggerAction, Triggers


def reach_of(folder: Path, text: str, *, path: str = "") -> Reach:
    tree = Tree((str(folder),), (), Triggers())
    reach = Reach(tree.holds, "/nobody")
    reach.extend([Namer(path or f"{folder}/.git/hooks/pre-commit", text, "git", TriggerAction.REFUSED, (str(folder),))])
    return reach


@pytest.mark.parametrize(
    "text",
    [
        "exec tools/x.sh",
        "sh ./tools/x.sh --fix",
        'sh "$(git rev-parse --show-toplevel)/tools/x.sh"',
        "cd tools && ./x.sh",
        'D=$(cd "$(dirname "$0")" && pwd); . $D/tools/x.sh',
        "command: [tools/x.sh, --all]",
        '{"command": "tools/x.sh"}',
        "'too'ls/x.sh",
    ],
)
def test_a_script_is_named_in_many_ways(tmp_path: Path, text: str) -> None:
    (tmp_path / "tools").mkdir()
    claim = reach_of(tmp_path, text).claim_of(f"{tmp_path}/tools/x.sh")
    assert claim is not None
    assert claim.care is TriggerAction.REFUSED


@pytest.mark.parametrize("text", ["pytest .", "# see tools/x.sh", "make lint", "npm test", "echo done", "eslint ./"])
def test_a_text_that_names_no_script_claims_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "tools").mkdir()
    for name in ("tools/x.sh", "lint.py", "test.js"):
        (tmp_path / name).touch(mode=0o755)
    assert list(reach_of(tmp_path, text).present()) == []


@pytest.mark.parametrize("text", ['source "my tools/x.sh"', r". my\ tools/x.sh", "sh 'my tools/x.sh' --all"])
def test_a_name_with_a_space_is_one_name(tmp_path: Path, text: str) -> None:
    assert reach_of(tmp_path, text).claim_of(f"{tmp_path}/my tools/x.sh") is not None


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("#!/usr/bin/perl\nuse lib 'tools';\nrequire Rules;", "Rules.pm"),
        ("#!/usr/bin/env ruby\nrequire './tools/rules'", "rules.rb"),
    ],
)
def test_what_a_hook_loads_by_its_bare_name_has_the_ending_of_its_language(
    tmp_path: Path, text: str, path: str
) -> None:
    (tmp_path / "tools").mkdir()
    assert reach_of(tmp_path, text).claim_of(f"{tmp_path}/tools/{path}") is not None


def test_a_document_that_is_named_is_shown_and_no_more(tmp_path: Path) -> None:
    (tmp_path / "CHANGELOG.md").touch(mode=0o644)
    [(path, claim)] = reach_of(tmp_path, "git diff --quiet CHANGELOG.md").present()
    assert (path, claim.care) == (f"{tmp_path}/CHANGELOG.md", TriggerAction.REPORTED)


def test_what_a_hook_checks_is_no_program(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "app.py").touch(mode=0o644)
    assert list(reach_of(tmp_path, "ruff check src tests").present()) == []


@given(st.text(alphabet="ab.$*{}/~ \n\x00"))
def test_any_text_names_paths_that_a_system_can_look_for(text: str) -> None:
    reach_of(Path("/nowhere"), f"python {text}", path="/nowhere/.git/hooks/x.py")


def test_a_folder_that_a_hooks_link_leads_over_cannot_be_pointed_elsewhere(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    for name in ("real", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "lint.sh").write_text(f"#!/bin/sh\n# {name}\n")
    (tmp_path / "tools").symlink_to("real")
    (tmp_path / ".git/hooks/pre-commit").symlink_to("../../tools/lint.sh")
    inspection = Inspection([tmp_path], left_out=(), quarantine=tmp_path / "q")
    inspection.begin()
    assert inspection.find() == ()
    (tmp_path / "tools").unlink()
    (tmp_path / "tools").symlink_to("other")
    inspection.take_refused()
    assert "# real" in (tmp_path / ".git/hooks/pre-commit").read_text()


def test_a_hidden_place_that_a_command_makes_is_seen(tmp_path: Path) -> None:
    (tmp_path / ".there").mkdir()
    hidden = (tmp_path / ".docker", tmp_path / ".there")
    inspection = Inspection(
        [tmp_path], left_out=hidden, quarantine=tmp_path.parent / "q", environment={"HOME": str(tmp_path)}
    )
    inspection.begin()
    for name in (".docker/config.json", ".there/x", "go/bin/gopls", ".cache/a/bin/b", ".cache/a/b", "p/.venv/bin/x"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = {str(Path(each.spot.path).relative_to(tmp_path)) for each in inspection.find()}
    assert found == {".docker/config.json", "go/bin/gopls", ".cache/a/bin/b"}


@given(st.text())
def test_any_text_has_its_words(text: str) -> None:
    assert all(words_in(text))


@pytest.mark.parametrize("options", [[], ["-c", "index.version=4"], ["-c", "index.version=3"]])
@pytest.mark.parametrize("hashes", ["sha1", "sha256"])
def test_gitlinks_are_read_from_every_kind_of_index(tmp_path: Path, options: list[str], hashes: str) -> None:
    def git(*words: str) -> None:
        own = ["-c", "user.name=n", "-c", "user.email=a@b.c", *options]
        subprocess.run(["git", *own, *words], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-q", f"--object-format={hashes}")
    for name in ("sub", "a/b/sub", "a/b/submarine"):
        git("init", "-q", f"--object-format={hashes}", name)
        git("-C", name, "commit", "-q", "--allow-empty", "-m", "x")
        git("add", name)
    for name in ("a/a", "a/b/file", "z"):
        (tmp_path / name).touch()
        git("add", "--intent-to-add" if "3" in "".join(options) else "--", name)
    found = set(gitlinks(f"{tmp_path}/.git"))
    assert found == {f"{tmp_path}/{name}" for name in ("sub", "a/b/sub", "a/b/submarine")}


def test_what_was_there_is_looked_at_before_what_is_new(tmp_path: Path) -> None:
    (tmp_path / "own" / "deep").mkdir(parents=True)
    inspection = Inspection([tmp_path], left_out=(), quarantine=tmp_path.parent / "q", most_folders=3)
    inspection.begin()
    for number in range(9):
        (tmp_path / "many" / str(number)).mkdir(parents=True)
    (tmp_path / "own" / "deep" / ".envrc").touch()
    found = {each.spot.path: each.spot.care for each in inspection.find()}
    assert found == {f"{tmp_path}/many": TriggerAction.REFUSED, f"{tmp_path}/own/deep/.envrc": TriggerAction.ASKED}
    inspection.take_refused()
    assert not (tmp_path / "many").exists()
    assert [path.stat().st_mode & 0o777 for path in (tmp_path.parent / "q").iterdir()] == [0]


def test_a_folder_that_was_too_large_from_the_beginning_stays(tmp_path: Path) -> None:
    for number in range(9):
        (tmp_path / "many" / str(number)).mkdir(parents=True)
    inspection = Inspection([tmp_path], left_out=(), quarantine=tmp_path.parent / "q", most_folders=3)
    inspection.begin()
    assert inspection.is_cut
    assert inspection.find() == ()
