"""What was typed before."""

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.cli.chat.inputs import FILE_NAME, remember, typed_before


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=5)))
def test_what_was_typed_comes_back_in_order(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    folder = tmp_path_factory.mktemp("home")
    for text in texts:
        remember(folder, text)
    assert typed_before(folder) == texts


def test_it_is_for_the_owner_only_and_holds_no_secrets(tmp_path: Path) -> None:
    remember(tmp_path, "use ghp_0123456789abcdefghijABCDEFGHIJ012345 and hunter-two", secrets=("hunter-two",))
    body = (tmp_path / FILE_NAME).read_text()
    assert stat.S_IMODE((tmp_path / FILE_NAME).stat().st_mode) == 0o600
    assert "ghp_" not in body
    assert "hunter-two" not in body


def test_a_line_that_a_crash_cut_is_left_out(tmp_path: Path) -> None:
    remember(tmp_path, "whole")
    with (tmp_path / FILE_NAME).open("a") as file:
        file.write('"half a li')
    assert typed_before(tmp_path) == ["whole"]


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("")
    (tmp_path / FILE_NAME).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic"):
        remember(tmp_path, "words")
