"""Proposals of an audit wait for a person, change what they show and nothing else, and can be taken back."""

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from conversations import conversation, shell
from whet.changes.apply import apply, undo
from whet.changes.pending import approve, propose
from whet.errors import WhetError
from whet.improving.auditing import ProposalKind, ProposedStatement, judged_by_sessions, propose_changes
from whet.ledger.entries import Actor
from whet.lessons.call_patterns import is_matched
from whet.lessons.following import pattern_of, was_followed
from whet.lessons.statements.audit import AuditedStatement, LastChange, StatementFinding, StatementMark
from whet.lessons.statements.records import calls_of
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.home import Home
from whet.telling.context.auditing import audit_folder
from whet.trouble.outcomes.view import gather

# It is about files and the ledger, which are tried on every database elsewhere.
pytestmark = pytest.mark.parametrize("home", ["sqlite"], indirect=True)
TWICE = "- Write small tests before the code.\n"
TEXT = f"# Work\n\n- Settings are in `conf.yml`.\n- Be kind.\n{TWICE}{TWICE}"


def proposed(home: Home, database: Database, root: Path, body: bytes) -> tuple[ProposedStatement, ...]:
    (root / "CLAUDE.md").write_bytes(body)
    (root / "conf.yaml").write_text("")
    return propose_changes(home, database, audit_folder(root), project="p", now=1.0)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.mark.parametrize(
    "body",
    [TEXT.encode(), TEXT.replace("\n", "\r\n").encode(), b"\xef\xbb\xbf" + TEXT.encode(), TEXT.rstrip().encode()],
    ids=["plain", "crlf", "bom", "no break at the end"],
)
def test_a_yes_changes_the_line_and_an_undo_restores_every_byte(
    home: Home, database: Database, root: Path, body: bytes
) -> None:
    found = proposed(home, database, root, body)
    assert [each.proposal.kind for each in found] == [ProposalKind.CORRECT, ProposalKind.MERGE]
    assert (root / "CLAUDE.md").read_bytes() == body
    for each in found[:1]:
        assert each.entry is not None
        approve(home, database, each.entry.number, actor=Actor.PERSON, now=2.0)
    assert (root / "CLAUDE.md").read_bytes() == body.replace(b"conf.yml", b"conf.yaml")
    undo(home, database, actor=Actor.PERSON, now=3.0)
    assert (root / "CLAUDE.md").read_bytes() == body


def test_an_edit_elsewhere_is_kept_and_one_in_the_passage_stops_it(home: Home, database: Database, root: Path) -> None:
    entry = proposed(home, database, root, TEXT.encode())[0].entry
    assert entry is not None
    file = root / "CLAUDE.md"
    file.write_text("Above.\n\n" + TEXT + "Below.\n")
    approve(home, database, entry.number, actor=Actor.PERSON, now=2.0)
    assert file.read_text() == "Above.\n\n" + TEXT.replace("conf.yml", "conf.yaml") + "Below.\n"
    undo(home, database, actor=Actor.PERSON, now=3.0)
    again = proposed(home, database, root, TEXT.replace("Be kind", "Be very kind").encode())[0].entry
    assert again is not None
    file.write_text(TEXT.replace("Settings", "All settings"))
    with pytest.raises(WhetError):
        approve(home, database, again.number, actor=Actor.PERSON, now=4.0)
    assert "All settings" in file.read_text()


def test_nothing_of_it_is_applied_without_a_yes_or_to_a_file_that_no_agent_reads(
    home: Home, database: Database, root: Path
) -> None:
    entry = proposed(home, database, root, TEXT.encode())[0].entry
    assert entry is not None
    trusted = replace(entry.patch, trust=Trust.OPERATOR)
    with pytest.raises(WhetError, match="a person must approve it first"):
        apply(home, database, trusted, actor=Actor.POLICY, now=2.0)
    elsewhere = replace(entry.patch, name=entry.patch.name.replace("CLAUDE.md", "bashrc"))
    (root / "bashrc").write_text(TEXT)
    waits = propose(home, database, elsewhere, actor=Actor.POLICY, now=2.0)
    with pytest.raises(WhetError, match="No agent reads"):
        approve(home, database, waits.number, actor=Actor.PERSON, now=3.0)
    assert (root / "bashrc").read_text() == TEXT


def test_a_read_only_file_stays_as_it_is(home: Home, database: Database, root: Path) -> None:
    entry = proposed(home, database, root, TEXT.encode())[0].entry
    assert entry is not None
    os.chmod(root / "CLAUDE.md", 0o444)
    with pytest.raises(WhetError, match="read-only"):
        approve(home, database, entry.number, actor=Actor.PERSON, now=2.0)
    assert (root / "CLAUDE.md").read_text() == TEXT


def test_files_in_other_encodings_and_behind_links_out_are_not_proposed_for(
    home: Home, database: Database, root: Path, tmp_path: Path
) -> None:
    assert not proposed(home, database, root, TEXT.encode() + b"caf\xe9 au lait is nice\n")
    (root / "CLAUDE.md").unlink()
    (tmp_path / "CLAUDE.md").write_text(TEXT)
    (root / "CLAUDE.md").symlink_to(tmp_path / "CLAUDE.md")
    assert not propose_changes(home, database, audit_folder(root), project="p", now=1.0)


def test_told_and_not_followed_becomes_a_reminder_at_the_call(home: Home, database: Database, root: Path) -> None:
    (root / "CLAUDE.md").write_text("# Work\n\n- Never use `npm install`, use `pnpm install`.\n")
    audit = audit_folder(root)
    finding = StatementFinding(
        StatementMark.BROKEN, "`npm install` was run all the same", 3, "npm install", seen=2, came_up=3
    )
    broken = (AuditedStatement(audit.statements[0].statement, (finding,)),)
    (found,) = propose_changes(home, database, type(audit)(audit.root, audit.files, broken), project="p", now=1.0)
    assert found.proposal.kind is ProposalKind.REMIND
    assert found.entry is not None
    assert found.entry.patch.scope.at_call
    assert found.entry.patch.situation.said == "Never use `npm install`, use `pnpm install`."
    approve(home, database, found.entry.number, actor=Actor.PERSON, now=2.0)
    (then,) = propose_changes(home, database, type(audit)(audit.root, audit.files, broken), project="p", now=3.0)
    assert then.proposal.kind is ProposalKind.MOVE  # it is said at the call now, and need not be read at every start
    assert then.entry is not None
    approve(home, database, then.entry.number, actor=Actor.PERSON, now=4.0)
    assert "npm" not in (root / "CLAUDE.md").read_text()
    undo(home, database, actor=Actor.PERSON, now=5.0)
    assert "- Never use `npm install`" in (root / "CLAUDE.md").read_text()


@pytest.mark.parametrize(
    ("commands", "followed"),
    [(("git commit -m x",), False), (("make lint", "git commit -m x"), True), (("make lint",), None)],
)
def test_what_was_to_be_run_before_a_commit_is_said_at_the_commit_and_counted(
    home: Home, database: Database, root: Path, commands: tuple[str, ...], followed: bool | None
) -> None:
    (root / "CLAUDE.md").write_text("# Work\n\n- Run `make lint` before every commit.\n- Be kind.\n")
    skipped = conversation(shell("git commit -m done", "ok"))
    audit = audit_folder(root)
    since = tuple(replace(each, changed=LastChange(0.0, "")) for each in audit.statements)
    others = conversation(shell("make lint", "ok"), shell("git commit -m done", "ok"))
    calls = tuple(calls_of(f"s{n}", gather(each)) for n, each in enumerate((skipped, skipped, others)))
    judged = judged_by_sessions(replace(audit, statements=since), calls, now=9.0)
    broken = judged.statements[0].marked(StatementMark.BROKEN)
    assert broken is not None
    assert (broken.seen, broken.came_up) == (2, 3)
    (found,) = propose_changes(home, database, judged, project="p", now=1.0)
    assert found.entry is not None
    situation = found.entry.patch.situation
    pattern = pattern_of(situation)
    assert pattern is not None
    assert is_matched(pattern, "git add -A && git commit -m x")
    assert not is_matched(pattern, "git status")
    session = gather(conversation(*(shell(each, "ok") for each in commands)))
    assert was_followed(situation, session) is followed


NESTED = "# Web\n\n- Be quick.\n"
TOLD = "# Work\n\n- Pages lie in `web/src/a.ts`, their styles in `web/src/b.css`.\n- Be kind.\n"


@pytest.mark.parametrize(
    "nested",
    [NESTED.encode(), b"\xef\xbb\xbf" + NESTED.replace("\n", "\r\n").encode(), NESTED.rstrip().encode()],
    ids=["plain", "crlf and bom", "no break at the end"],
)
def test_what_is_about_one_folder_moves_to_its_file_and_is_never_said_nowhere(
    home: Home, database: Database, root: Path, nested: bytes
) -> None:
    (root / "web/src").mkdir(parents=True)
    for name in ("a.ts", "b.css"):
        (root / "web/src" / name).write_text("")
    (root / "CLAUDE.md").write_text(TOLD)
    (root / "web/CLAUDE.md").write_bytes(nested)
    (first,) = propose_changes(home, database, audit_folder(root), project="p", now=1.0)
    assert (first.proposal.kind, first.proposal.file) == (ProposalKind.MOVE, "web/CLAUDE.md")
    assert first.entry is not None
    approve(home, database, first.entry.number, actor=Actor.PERSON, now=2.0)
    ending = b"\r\n" if b"\r\n" in nested else b"\n"
    said = TOLD.splitlines()[2].encode()
    assert (root / "web/CLAUDE.md").read_bytes() == nested.rstrip() + ending + said + ending
    assert (root / "CLAUDE.md").read_text() == TOLD
    (then,) = propose_changes(home, database, audit_folder(root), project="p", now=3.0)
    assert then.entry is not None
    assert then.proposal.finding.where == "web/CLAUDE.md"
    approve(home, database, then.entry.number, actor=Actor.PERSON, now=4.0)
    assert (root / "CLAUDE.md").read_text() == "# Work\n\n- Be kind.\n"
    undo(home, database, actor=Actor.PERSON, now=5.0)
    undo(home, database, actor=Actor.PERSON, now=6.0)
    assert (root / "CLAUDE.md").read_text() == TOLD
    assert (root / "web/CLAUDE.md").read_bytes() == nested


def test_what_one_skill_is_about_moves_to_it(home: Home, database: Database, root: Path) -> None:
    skill = root / ".claude/skills/ship/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: ship\ndescription: How to ship.\n---\n\nRun `./ship prod`, then `curl -f x.y/ok`.\n")
    (root / "CLAUDE.md").write_text(
        "- After `./ship prod` wait a minute before `curl -f x.y/ok`.\n- Call `./ship prod`.\n"
    )
    (found,) = propose_changes(home, database, audit_folder(root), project="p", now=1.0)
    assert found.proposal.file == ".claude/skills/ship/SKILL.md"
    assert found.entry is not None
    approve(home, database, found.entry.number, actor=Actor.PERSON, now=2.0)
    assert skill.read_text().endswith("x.y/ok`.\n\n- After `./ship prod` wait a minute before `curl -f x.y/ok`.\n")


BLOCK = "# Work\n\n```sh\nmake build\nmake gone\nmake test\n```\n\nAnd so on.\n"


@pytest.mark.parametrize("body", [BLOCK.encode(), b"\xef\xbb\xbf" + BLOCK.replace("\n", "\r\n").encode()])
def test_a_block_is_shortened_by_the_line_that_is_wrong(
    home: Home, database: Database, root: Path, body: bytes
) -> None:
    (root / "Makefile").write_text("build:\n\tx\n\ntest:\n\tx\n")
    (found,) = proposed(home, database, root, body)
    assert found.proposal.kind is ProposalKind.SHORTEN
    assert found.entry is not None
    approve(home, database, found.entry.number, actor=Actor.PERSON, now=2.0)
    gone = next(line for line in body.split(b"\n") if b"gone" in line) + b"\n"
    assert (root / "CLAUDE.md").read_bytes() == body.replace(gone, b"")
    undo(home, database, actor=Actor.PERSON, now=3.0)
    assert (root / "CLAUDE.md").read_bytes() == body
