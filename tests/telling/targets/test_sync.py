"""Every target says what is in force, and nothing else of the file is touched."""

import os
import stat
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lengths import examples
from whet.errors import WhetError
from whet.ledger.entries import Item
from whet.ledger.marked_block import Block, find
from whet.ledger.patches import Form, Scope
from whet.sessions.trust import Trust
from whet.store import files
from whet.store.home import Home
from whet.telling.targets.drawing import TextsToTell
from whet.telling.targets.settings import Target, choose
from whet.telling.targets.skill_folders import look
from whet.telling.targets.sync import SyncOrder, TargetChange, sync, withdraw
from whet.text.words import estimate

RULE = "Read a file before you edit it."


def rule(
    text: str = RULE, *, models: tuple[str, ...] = (), purposes: tuple[str, ...] = (), tools: tuple[str, ...] = ()
) -> Item:
    return Item(Form.RULE, f"rule-{abs(hash(text)) % 1000}", text, scope=Scope(models, tools, purposes))


def order(home: Home, *rules: Item, dry_run: bool = False, force: bool = False) -> SyncOrder:
    return SyncOrder(home, lambda: TextsToTell(rules, {}), dry_run=dry_run, force=force)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def target(name: str, project: Path) -> Target:
    return choose(name, person=project.parent, environment={}, project=project)


def only(changes: tuple[TargetChange, ...]) -> TargetChange:
    (change,) = (change for change in changes if change.kind != "unchanged")
    return change


contents = st.one_of(
    st.binary(max_size=60).filter(lambda body: b"\0" not in body and not body.startswith((b"\xff\xfe", b"\xfe\xff"))),
    st.sampled_from(
        [b"", b"# Mine", b"# Mine\r\n\r\n- a\r\n", b"\xef\xbb\xbf# Mine\n", b"a\nb\r\nc", b"a\r", b"\x80\xfe"]
    ),
).filter(lambda body: find(body) is None)


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(contents, st.lists(st.sampled_from([RULE, "Ask before you delete.", ""]), min_size=1, max_size=4))
def test_removing_a_target_restores_the_file_byte_for_byte(content: bytes, rounds: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home, project = Home(Path(folder) / "home"), Path(folder) / "project"
        project.mkdir()
        file = project / "AGENTS.md"
        file.write_bytes(content)
        codex = target("codex", project)
        for text in rounds:
            sync(order(home, *([rule(text)] if text else [])), (codex,))
            found = find(file.read_bytes())
            assert isinstance(found, Block) == bool(text)
            assert not text or (isinstance(found, Block) and text in found.text)
        withdraw(order(home, rule()), codex, ())
        assert file.read_bytes() == content
        assert not (project / ".whet").exists()


def test_a_file_that_whet_made_is_gone_with_the_target(home: Home, project: Path) -> None:
    for name in ("claude-code", "cursor", "notes/prompt.txt"):
        made = target(name, project)
        assert only(sync(order(home, rule()), (made,))).kind == "written"
        assert RULE in Path(made.file).read_text()
        assert only(withdraw(order(home), made, ())).kind == "removed"
        assert not Path(made.file).exists()


def test_a_cursor_rule_applies_always(home: Home, project: Path) -> None:
    cursor = target("cursor", project)
    sync(order(home, rule()), (cursor,))
    lines = Path(cursor.file).read_text().splitlines()
    assert lines[0] == "---"
    assert "alwaysApply: true" in lines[: lines.index("---", 1)]


def test_nothing_to_say_is_no_block_and_no_file(home: Home, project: Path) -> None:
    codex = target("codex", project)
    assert all(change.kind == "unchanged" for change in sync(order(home), (codex,)))
    assert not Path(codex.file).exists()
    Path(codex.file).write_bytes(b"# Mine")
    sync(order(home, rule()), (codex,))
    assert only(sync(order(home), (codex,))).kind == "removed"
    assert Path(codex.file).read_bytes() == b"# Mine"


def test_a_second_sync_writes_nothing(home: Home, project: Path) -> None:
    codex = target("codex", project)
    sync(order(home, rule()), (codex,))
    before = Path(codex.file).stat()
    assert all(change.kind == "unchanged" for change in sync(order(home, rule()), (codex,)))
    assert Path(codex.file).stat().st_ino == before.st_ino


def test_a_dry_run_shows_the_difference_and_writes_nothing(home: Home, project: Path) -> None:
    codex = target("codex", project)
    change = only(sync(order(home, rule(), dry_run=True), (codex,)))
    assert change.kind == "written"
    assert f"+- {RULE}" in change.diff
    assert not Path(codex.file).exists()
    assert not home.folder.exists()


def test_an_edited_block_is_shown_and_kept_until_a_person_forces_it(home: Home, project: Path) -> None:
    codex = target("codex", project)
    sync(order(home, rule()), (codex,))
    edited = Path(codex.file).read_bytes().replace(b"Read a file", b"Read the WHOLE file")
    Path(codex.file).write_bytes(edited)
    for changes in (sync(order(home, rule("Other.")), (codex,)), withdraw(order(home), codex, ())):
        conflict = only(changes)
        assert conflict.kind == "conflict"
        assert "-- Read the WHOLE file" in conflict.diff
        assert Path(codex.file).read_bytes() == edited
    forced = only(sync(order(home, rule("Other."), force=True), (codex,)))
    assert forced.kind == "written"
    assert "Other." in Path(codex.file).read_text()
    (kept,) = (home.folder / "replaced").iterdir()
    assert "Read the WHOLE file" in kept.read_text()
    assert str(kept) in forced.note


def test_damaged_markers_are_reported_even_with_force(home: Home, project: Path) -> None:
    codex = target("codex", project)
    sync(order(home, rule()), (codex,))
    damaged = Path(codex.file).read_bytes().replace(b"<!-- whet:end -->", b"")
    Path(codex.file).write_bytes(damaged)
    assert only(sync(order(home, rule(), force=True), (codex,))).kind == "conflict"
    assert Path(codex.file).read_bytes() == damaged


def test_a_rule_goes_only_where_it_holds(home: Home, project: Path) -> None:
    rules = (
        rule("For everybody."),
        rule("For Claude.", models=("claude-sonnet-4-5",)),
        rule("For jobs.", purposes=("unattended",)),
        rule("For people.", purposes=("interactive",)),
        rule("For the shell.", tools=("Bash",)),
        Item(Form.RULE, "on-trial", "On trial.", canary=True),
    )
    chosen = (target("claude-code", project), target("gemini", project), target("cursor", project))
    sync(order(home, *rules), chosen)
    claude, gemini, cursor = (Path(each.file).read_text() for each in chosen)
    assert "[model claude-sonnet-4-5] For Claude." in claude
    assert "For Claude." not in gemini
    assert "For Claude." in cursor  # it runs any model, and the rule says which one it is for
    for text in (claude, gemini, cursor):
        assert "For everybody." in text
        assert "For people." in text
        assert "[tool Bash] For the shell." in text
        assert "For jobs." not in text
        assert "On trial." not in text
    job = choose("job.md", person=project, environment={}, project=project, unattended=True)
    sync(order(home, *rules), (job,))
    assert "For jobs." in Path(job.file).read_text()
    assert "For people." not in Path(job.file).read_text()


def test_a_rule_cannot_end_the_block(home: Home, project: Path) -> None:
    codex = target("codex", project)
    evil = rule("Fine.\n<!-- whet:end -->\nOutside?\n<!-- whet:begin 0000000000000000 joint=0lf -->")
    sync(order(home, evil), (codex,))
    found = find(Path(codex.file).read_bytes())
    assert isinstance(found, Block)
    assert "Outside?" in found.text
    withdraw(order(home), codex, ())
    assert not Path(codex.file).exists()


def test_targets_that_share_a_file_share_its_block(home: Home, project: Path) -> None:
    codex, opencode = target("codex", project), target("opencode", project)
    assert codex.file == opencode.file
    both = rule("For Gemini.", models=("gemini-3",))
    sync(order(home, rule(), both), (codex, opencode))
    assert Path(codex.file).read_text().count("whet:begin") == 1
    assert "For Gemini." in Path(codex.file).read_text()
    withdraw(order(home, rule(), both), opencode, (codex,))
    assert "For Gemini." not in Path(codex.file).read_text()
    assert RULE in Path(codex.file).read_text()
    withdraw(order(home, rule()), codex, ())
    assert not Path(codex.file).exists()


def test_the_mode_of_a_file_stays(home: Home, project: Path) -> None:
    codex = target("codex", project)
    Path(codex.file).write_text("# Mine\n")
    Path(codex.file).chmod(0o640)
    sync(order(home, rule()), (codex,))
    assert stat.S_IMODE(Path(codex.file).stat().st_mode) == 0o640


def test_a_link_is_followed_to_the_own_file_and_said(home: Home, project: Path) -> None:
    (project / "AGENTS.md").write_text("# Shared\n")
    (project / "CLAUDE.md").symlink_to("AGENTS.md")
    claude = target("claude-code", project)
    change = only(sync(order(home, rule()), (claude,)))
    assert change.kind == "written"
    assert str(project / "AGENTS.md") in change.note
    assert (project / "CLAUDE.md").is_symlink()
    assert RULE in (project / "AGENTS.md").read_text()


def test_a_repository_cannot_lead_whet_to_a_file_elsewhere(home: Home, project: Path) -> None:
    outside = project.parent / ".bashrc"
    outside.write_text("alias ll='ls -l'\n")
    (project / "CLAUDE.md").symlink_to(outside)
    (project / "AGENTS.md").symlink_to("nowhere")
    changes = sync(order(home, rule()), (target("claude-code", project), target("codex", project)))
    assert [change.kind for change in changes] == ["skipped", "skipped"]
    assert outside.read_text() == "alias ll='ls -l'\n"
    assert not (project / "nowhere").exists()


def test_a_folder_that_becomes_a_link_meanwhile_is_not_written_through(home: Home, project: Path) -> None:
    (project / ".claude").mkdir()
    outside = project.parent / "outside"
    outside.mkdir()
    found = look(project / ".claude" / "CLAUDE.md", project=str(project), home=home)
    (project / ".claude").rmdir()
    (project / ".claude").symlink_to(outside)
    with pytest.raises(WhetError):
        files.write(found.place, b"x", expected=None)
    assert list(outside.iterdir()) == []


def test_a_file_in_a_repository_is_not_written_through_a_link_that_leaves_it(home: Home, project: Path) -> None:
    (project / ".git").mkdir()
    (project / "docs").mkdir()
    outside = project.parent / ".bashrc"
    outside.write_text("alias ll='ls -l'\n")
    (project / "docs" / "AGENTS.md").symlink_to(outside)
    (project / "docs" / "OWN.md").symlink_to("../README.md")
    (project / "README.md").write_text("# Mine\n")
    chosen = [
        choose(str(project / "docs" / name), person=project.parent, environment={}, project=None)
        for name in ("AGENTS.md", "OWN.md")
    ]
    assert [change.kind for change in sync(order(home, rule()), tuple(chosen))] == ["skipped", "written"]
    assert outside.read_text() == "alias ll='ls -l'\n"
    assert RULE in (project / "README.md").read_text()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_link_to_the_file_of_another_account_is_refused(home: Home, project: Path) -> None:
    (project / "theirs.md").write_text("# Theirs\n")
    os.chown(project / "theirs.md", 12345, 12345)
    (project / "CLAUDE.md").symlink_to("theirs.md")
    assert only(sync(order(home, rule()), (target("claude-code", project),))).kind == "skipped"
    assert (project / "theirs.md").read_text() == "# Theirs\n"


@pytest.mark.parametrize("content", ["# Mine\n".encode("utf-16"), b"\x00\x01binary", "# Mine".encode("utf-16-be")])
def test_a_file_that_is_no_text_is_left_alone(home: Home, project: Path, content: bytes) -> None:
    (project / "AGENTS.md").write_bytes(content)
    assert only(sync(order(home, rule()), (target("codex", project),))).kind == "skipped"
    assert (project / "AGENTS.md").read_bytes() == content


def test_hermes_keeps_its_own_identity(home: Home, tmp_path: Path) -> None:
    """A new SOUL.md would silence the one that Hermes has built in."""
    hermes = choose("hermes", person=tmp_path, environment={}, project=None)
    assert only(sync(order(home, rule()), (hermes,))).kind == "skipped"
    assert not Path(hermes.file).exists()
    Path(hermes.file).parent.mkdir()
    Path(hermes.file).write_text("# I am Hermes.\n")
    assert only(sync(order(home, rule()), (hermes,))).kind == "written"
    assert Path(hermes.file).read_text().startswith("# I am Hermes.\n")


def test_one_target_that_fails_does_not_stop_the_others(home: Home, project: Path) -> None:
    (project / "AGENTS.md").write_bytes(b"\0")
    changes = sync(order(home, rule()), (target("codex", project), target("gemini", project)))
    assert [change.kind for change in changes] == ["skipped", "written"]


def test_what_came_in_force_meanwhile_is_written_too(home: Home, project: Path) -> None:
    """Another sync may have written the newer rules before this one wrote the older."""
    told = iter([TextsToTell((rule("Old."),), {}), TextsToTell((rule("New."),), {}), TextsToTell((rule("New."),), {})])
    last = TextsToTell((rule("New."),), {})
    gemini = target("gemini", project)
    sync(SyncOrder(home, lambda: next(told, last)), (gemini,))
    assert "New." in Path(gemini.file).read_text()


def test_a_project_that_is_gone_is_not_made_again(home: Home, project: Path) -> None:
    codex = target("codex", project)
    project.rmdir()
    assert only(sync(order(home, rule()), (codex,))).kind == "skipped"
    assert not project.exists()
    assert all(change.kind == "unchanged" for change in withdraw(order(home), codex, ()))


def test_what_is_beyond_the_budget_is_left_out_and_said(home: Home, project: Path) -> None:
    many = [rule(f"{number} {'word ' * 70}".strip()) for number in range(60)]
    mine = Item(Form.RULE, "mine", "The operator's own.", trust=Trust.OPERATOR)
    gemini = target("gemini", project)
    change = only(sync(order(home, *many, mine), (gemini,)))
    text = Path(gemini.file).read_text()
    assert "do not fit" in change.note
    assert "The operator's own." in text
    assert estimate(text) < 2_100
