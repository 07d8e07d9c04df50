"""Rules that are told at the start leave a file only where every reader of it has hooks."""

from msgspec.structs import replace

from whet.ledger.entries import Item
from whet.ledger.patches import Form, Scope
from whet.telling.targets.drawing import TextsToTell, for_files, is_movable
from whet.telling.targets.settings import Target

PLAIN = Item(Form.RULE, "plain", "Stay.", number=1)
MOVED = Item(Form.RULE, "moved", "Move.", scope=Scope(at_start=True), number=2)
CODEX = Target("codex", "codex", file="/p/AGENTS.md")
OPENCODE = Target("opencode", "opencode", file="/p/AGENTS.md")


def kept(targets: tuple[Target, ...], *hooked: str) -> list[str]:
    return [rule.name for rule in for_files(TextsToTell((PLAIN, MOVED), {}), targets, frozenset(hooked)).rules]


def test_a_file_whose_readers_all_have_hooks_is_left() -> None:
    assert kept((CODEX,), "codex") == ["plain"]
    assert kept((CODEX, OPENCODE), "codex", "opencode") == ["plain"]


def test_a_reader_without_hooks_still_finds_it_in_the_file() -> None:
    assert kept((CODEX, OPENCODE), "codex") == ["plain", "moved"]
    assert kept((CODEX,)) == ["plain", "moved"]


def test_it_can_move_where_that_would_change_something() -> None:
    assert is_movable(PLAIN, (CODEX,), frozenset({"codex"}))
    assert not is_movable(PLAIN, (CODEX, OPENCODE), frozenset({"codex"})), "another reader needs the file"
    assert not is_movable(PLAIN, (replace(CODEX, file=""),), frozenset({"codex"})), "it stands in no file"
    assert not is_movable(MOVED, (CODEX,), frozenset({"codex"}))
