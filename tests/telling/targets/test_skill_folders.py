"""Skills are copied into agents' folders, and what Whet did not put there is never touched."""

import subprocess
import sys
from pathlib import Path

import pytest

from whet.errors import WhetError
from whet.store.home import Home
from whet.telling.targets.drawing import TextsToTell
from whet.telling.targets.settings import Target, choose
from whet.telling.targets.skill_folders import MARKER, CopyOptions, copied, copy, withdraw
from whet.telling.targets.sync import SyncOrder, sync
from whet.telling.targets.sync import withdraw as withdraw_target

COPYING = Path(__file__).with_name("copying_worker.py")
SKILL = {"SKILL.md": b"---\nname: deploy\n---\nSee references/steps.md\n", "references/steps.md": b"1. Build\n"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / ".claude" / "skills"


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_skill_comes_changes_and_goes(folder: Path) -> None:
    assert copy(folder, "deploy", SKILL, CopyOptions("/h")).kind == "written"
    assert {name: body for name, body in tree(folder / "deploy").items() if name != MARKER} == SKILL
    assert copy(folder, "deploy", SKILL, CopyOptions("/h")).kind == "unchanged"
    shorter = {"SKILL.md": b"---\nname: deploy\n---\nJust do it.\n"}
    assert copy(folder, "deploy", shorter, CopyOptions("/h")).kind == "written"
    assert {name: body for name, body in tree(folder / "deploy").items() if name != MARKER} == shorter
    assert not (folder / "deploy" / "references").exists()
    assert copied(folder, "/h") == ("deploy",)
    assert withdraw(folder, "deploy", CopyOptions("/h")).kind == "removed"
    assert not (folder / "deploy").exists()


def test_a_folder_of_somebody_else_is_never_touched(folder: Path) -> None:
    (folder / "deploy").mkdir(parents=True)
    (folder / "deploy" / "SKILL.md").write_text("mine")
    before = tree(folder)
    assert copy(folder, "deploy", SKILL, CopyOptions("/h")).kind == "conflict"
    assert withdraw(folder, "deploy", CopyOptions("/h")).kind == "conflict"
    assert tree(folder) == before
    assert copied(folder, "/h") == ()


def test_another_home_is_somebody_else(folder: Path) -> None:
    copy(folder, "deploy", SKILL, CopyOptions("/other"))
    before = tree(folder)
    assert copy(folder, "deploy", {"SKILL.md": b"new"}, CopyOptions("/h")).kind == "conflict"
    assert withdraw(folder, "deploy", CopyOptions("/h")).kind == "conflict"
    assert tree(folder) == before


def test_a_folder_of_a_project_that_is_a_link_out_of_it_is_not_written_through(tmp_path: Path) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside"
    project.mkdir()
    outside.mkdir()
    (project / ".claude").symlink_to(outside)  # made after it was looked where the folder leads
    with pytest.raises(WhetError):
        copy(project / ".claude" / "skills", "deploy", SKILL, CopyOptions("/h", project=str(project)))
    assert list(outside.iterdir()) == []


def test_a_link_in_the_place_of_a_skill_is_left_alone(folder: Path, tmp_path: Path) -> None:
    copy(tmp_path / "elsewhere", "deploy", SKILL, CopyOptions("/h"))
    folder.mkdir(parents=True)
    (folder / "deploy").symlink_to(tmp_path / "elsewhere" / "deploy")
    assert copy(folder, "deploy", {"SKILL.md": b"new"}, CopyOptions("/h")).kind == "conflict"
    assert (tmp_path / "elsewhere" / "deploy" / "SKILL.md").read_bytes() == SKILL["SKILL.md"]


def test_an_edited_copy_is_a_conflict(folder: Path) -> None:
    copy(folder, "deploy", SKILL, CopyOptions("/h"))
    (folder / "deploy" / "SKILL.md").write_text("edited")
    before = tree(folder)
    assert copy(folder, "deploy", {"SKILL.md": b"new"}, CopyOptions("/h")).kind == "conflict"
    assert withdraw(folder, "deploy", CopyOptions("/h")).kind == "conflict"
    assert tree(folder) == before


def test_a_person_can_have_an_edited_copy_replaced_and_it_is_saved(folder: Path) -> None:
    kept: list[tuple[str, bytes]] = []
    forced = CopyOptions("/h", keep=lambda name, body: kept.append((name, body)))
    copy(folder, "deploy", SKILL, CopyOptions("/h"))
    (folder / "deploy" / "SKILL.md").write_text("edited")
    assert copy(folder, "deploy", SKILL, forced).kind == "written"
    assert (folder / "deploy" / "SKILL.md").read_bytes() == SKILL["SKILL.md"]
    (folder / "deploy" / "SKILL.md").write_text("edited again")
    assert withdraw(folder, "deploy", forced).kind == "removed"
    assert kept == [("SKILL.md", b"edited"), ("SKILL.md", b"edited again")]
    assert not (folder / "deploy").exists()


def test_a_file_that_somebody_put_beside_a_skill_stays(folder: Path) -> None:
    copy(folder, "deploy", SKILL, CopyOptions("/h"))
    (folder / "deploy" / "mine.txt").write_text("mine")
    assert withdraw(folder, "deploy", CopyOptions("/h")).kind == "removed"
    assert tree(folder) == {"deploy/mine.txt": b"mine"}


def test_a_support_file_of_somebody_is_not_overwritten(folder: Path) -> None:
    copy(folder, "deploy", {"SKILL.md": b"x"}, CopyOptions("/h"))
    (folder / "deploy" / "references").mkdir()
    (folder / "deploy" / "references" / "steps.md").write_text("mine")
    assert copy(folder, "deploy", SKILL, CopyOptions("/h")).kind == "conflict"
    assert (folder / "deploy" / "references" / "steps.md").read_text() == "mine"
    assert (folder / "deploy" / "SKILL.md").read_bytes() == b"x"


def test_a_forged_marker_leads_nowhere(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "precious").write_bytes(b"x")
    copy(folder, "deploy", SKILL, CopyOptions("/h"))
    marker = folder / "deploy" / MARKER
    marker.write_text(marker.read_text().replace("SKILL.md", "../../../precious"))
    assert withdraw(folder, "deploy", CopyOptions("/h")).kind == "conflict"
    assert (tmp_path / "precious").exists()


def test_what_a_sudden_stop_left_is_finished(folder: Path) -> None:
    (folder / "deploy").mkdir(parents=True)  # stopped before the marker
    assert copy(folder, "deploy", SKILL, CopyOptions("/h")).kind == "written"
    begun = (folder / "deploy" / MARKER).read_bytes()
    newer = {**SKILL, "SKILL.md": b"newer"}
    copy(folder, "deploy", newer, CopyOptions("/h", dry_run=True))
    assert (folder / "deploy" / MARKER).read_bytes() == begun
    assert copy(folder, "deploy", newer, CopyOptions("/h")).kind == "written"


def test_sync_brings_and_takes_skills_for_all_who_share_a_folder(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    codex, gemini = (choose(name, person=tmp_path, environment={}, project=None) for name in ("codex", "gemini"))
    shared = Path(codex.skills)
    assert codex.skills == gemini.skills

    def offer(**skills: dict[str, bytes]) -> SyncOrder:
        return SyncOrder(home, lambda: TextsToTell((), skills))

    def synced(order: SyncOrder, *targets: Target) -> list[str]:
        return [change.kind for change in sync(order, targets) if change.kind != "unchanged"]

    assert synced(offer(deploy=SKILL), codex, gemini) == ["written"]
    assert synced(offer(deploy=SKILL), codex, gemini) == []
    withdraw_target(offer(deploy=SKILL), gemini, (codex,))
    assert (shared / "deploy" / "SKILL.md").exists()
    assert synced(offer(release=SKILL), codex) == ["written", "removed"]
    assert sorted(path.name for path in shared.iterdir()) == ["release"]
    withdraw_target(offer(release=SKILL), codex, ())
    assert list(shared.iterdir()) == []


def test_syncs_at_the_same_time_leave_nothing_that_is_nobodys(tmp_path: Path) -> None:
    folder = tmp_path / "skills"
    workers = [subprocess.Popen([sys.executable, COPYING, folder, "10"]) for _ in range(4)]
    assert [worker.wait() for worker in workers] == [0] * 4
    assert copy(folder, "deploy", SKILL, CopyOptions("home")).kind in ("written", "unchanged")
    assert withdraw(folder, "deploy", CopyOptions("home")).kind == "removed"
    assert list(folder.iterdir()) == []


def test_an_empty_folder_that_a_sudden_stop_left_is_free(tmp_path: Path) -> None:
    (tmp_path / "deploy" / "references").mkdir(parents=True)
    (tmp_path / "deploy" / ".whet-0123456789abcdef.tmp").write_text("half")
    assert copy(tmp_path, "deploy", SKILL, CopyOptions("home")).kind == "written"
