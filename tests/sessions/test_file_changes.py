import json

import pytest

from whet.sessions.call_effects import files_written
from whet.sessions.transcripts import ToolCall


def shell(command: str) -> ToolCall:
    return ToolCall("1", "Bash", json.dumps({"command": command}))


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("sed -i 's/a > b/c/' src/a.py", ("src/a.py",)),
        ("cat <<'EOF' > src/b.py\nx > 1\nEOF", ("src/b.py",)),
        ("echo x >> notes.md; make 2>&1 | tee build.log", ("notes.md", "build.log")),
        ("patch src/a.py a.diff", ("src/a.py",)),
        ("python apply_fix.py", ("apply_fix.py",)),
        ("python run.py > /dev/null", ("/dev/null",)),
        ("grep -n '->' src/a.py", ()),
        ("cat src/a.py 2>/dev/null", ()),
    ],
)
def test_a_shell_line_says_which_files_it_writes(command: str, expected: tuple[str, ...]) -> None:
    assert files_written(shell(command)) == expected


def test_an_editor_names_its_file() -> None:
    assert files_written(ToolCall("1", "Edit", json.dumps({"file_path": "a.py", "old_string": "x"}))) == ("a.py",)
    assert files_written(ToolCall("1", "Read", json.dumps({"file_path": "a.py"}))) == ()
