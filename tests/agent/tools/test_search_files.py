"""Files are found by text and by name."""

import pytest

from agent.tools.rooms import Room, ask_for


@pytest.fixture
def searched(room: Room) -> Room:
    """A small project."""
    files = {
        "src/main.py": "import os\n\ndef main():\n    return os.getcwd()\n",
        "src/deep/er/x.ts": "export const OS = 1\n",
        "build/out.py": "import os\n",
        "notes.md": "os\n",
        ".hidden/config.py": "import os\n",
        ".gitignore": "build/\n*.log\n",
        "x.log": "import os\n",
    }
    for name, text in files.items():
        (room.work / name).parent.mkdir(parents=True, exist_ok=True)
        (room.work / name).write_text(text)
    (room.work / "binary.bin").write_bytes(b"import os\0\1")
    return room


def test_lines_are_found_with_their_numbers(searched: Room) -> None:
    text = ask_for(searched.box(), "search_files", pattern=r"^import\s+os").result.text
    assert text.splitlines() == [".hidden/config.py:1: import os", "src/main.py:1: import os"]


def test_a_glob_narrows_the_search(searched: Room) -> None:
    text = ask_for(searched.box(), "search_files", pattern="(?i)os", glob="src/**/*.ts").result.text
    assert text == "src/deep/er/x.ts:1: export const OS = 1"


def test_names_are_listed(searched: Room) -> None:
    box = searched.box()
    assert ask_for(box, "search_files", glob="*.py").result.text.splitlines() == [".hidden/config.py", "src/main.py"]
    everything = ask_for(box, "search_files").result.text.splitlines()
    assert "notes.md" in everything
    assert "x.log" not in everything


def test_a_folder_that_is_named_is_searched_though_it_is_ignored(searched: Room) -> None:
    text = ask_for(searched.box(), "search_files", pattern="import", path="build").result.text
    assert text == "build/out.py:1: import os"


def test_one_file_can_be_searched(searched: Room) -> None:
    text = ask_for(searched.box(), "search_files", pattern="getcwd", path="src/main.py").result.text
    assert text == "src/main.py:4: return os.getcwd()"


def test_nothing_found_is_no_error(searched: Room) -> None:
    answer = ask_for(searched.box(), "search_files", pattern="nowhere to be found")
    assert answer.result.error is False
    assert answer.result.text == "[nothing found]"


@pytest.mark.parametrize("pattern", ["(", "[", "*", r"(?=x)"])
def test_a_wrong_pattern_is_told(searched: Room, pattern: str) -> None:
    answer = ask_for(searched.box(), "search_files", pattern=pattern)
    assert answer.result.error is True
    assert "not a valid regex" in answer.result.text


def test_what_is_over_the_limit_is_counted(searched: Room) -> None:
    (searched.work / "many").write_text("line\n" * 50)
    text = ask_for(searched.box(), "search_files", pattern="line", path="many", limit=10).result.text
    assert len(text.splitlines()) == 11
    assert "40 more" in text


def test_a_missing_folder_is_told(searched: Room) -> None:
    assert ask_for(searched.box(), "search_files", path="nowhere").result.error is True
