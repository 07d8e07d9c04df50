"""Targets are kept in a file that people can read, edit and break."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.errors import WhetError
from whet.store.home import Home
from whet.telling.targets.settings import Target, add, choose, encode, load, named, parse, remove

words = st.text(st.characters(codec="utf-8"), max_size=40)
targets = st.builds(Target, name=words, agent=words, project=words, file=words, skills=words, unattended=st.booleans())


@given(st.lists(targets, max_size=4, unique_by=lambda target: target.name))
def test_what_is_written_is_read_again(kept: list[Target]) -> None:
    assert parse(encode(kept)) == tuple(kept)


@pytest.mark.parametrize(
    "broken",
    [
        b"[[target",
        b"\xff",
        b"[[target]]\nname = 3\nagent = 'codex'\n",
        b"[[target]]\nname = 'codex'\n",
        b"other = 1\n",
        b"[[target]]\nname='a'\nagent='file'\n[[target]]\nname='a'\nagent='file'\n",
    ],
)
def test_a_broken_file_gives_advice(broken: bytes) -> None:
    with pytest.raises(WhetError) as caught:
        parse(broken)
    assert caught.value.advice


def test_a_target_comes_and_goes(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    codex = choose("codex", person=tmp_path, environment={}, project=None)
    file = choose("prompt.txt", person=tmp_path, environment={}, project=tmp_path)
    assert load(home) == ()
    assert add(home, codex)
    assert add(home, file)
    assert not add(home, codex)
    assert load(home) == (codex, file)
    assert named(load(home), str(tmp_path / "prompt.txt")) == file
    remove(home, codex.name)
    assert load(home) == (file,)


def test_a_target_that_would_move_must_be_removed_first(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    add(home, choose("codex", person=tmp_path, environment={}, project=None))
    with pytest.raises(WhetError, match="already"):
        add(home, choose("codex", person=tmp_path, environment={"CODEX_HOME": "/elsewhere"}, project=None))


def test_a_name_that_is_neither_agent_nor_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="neither") as caught:
        choose("clod-code", person=tmp_path, environment={}, project=None)
    assert "claude-code" in caught.value.advice
    with pytest.raises(WhetError, match="folder"):
        choose(str(tmp_path), person=tmp_path, environment={}, project=None)
    with pytest.raises(WhetError, match="no target"):
        named((), "codex")
