"""What an edit took out and put there, in the forms of several agents' tools."""

import json

import pytest

from whet.sessions.transcripts import ToolCall
from whet.trouble.edits import FileEdit, edits_of, is_same_file, is_scratch, is_test_file

PATCH = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x = 1\n+x = 2\n*** Add File: b.py\n+y = 1\n*** End Patch"


@pytest.mark.parametrize(
    ("tool", "arguments", "edits"),
    [
        ("Edit", {"file_path": "/p/a.py", "old_string": "x", "new_string": "y"}, [("/p/a.py", "x", "y")]),
        ("edit", {"filePath": "a.ts", "oldString": "x", "newString": "y"}, [("a.ts", "x", "y")]),
        ("edit", {"path": "./a.ts", "oldText": "x", "newText": "y"}, [("a.ts", "x", "y")]),
        ("edit", {"path": "a.py", "before": "x", "after": "y"}, [("a.py", "x", "y")]),
        ("edit", {"search": "x", "replace": "y"}, [("the open file", "x", "y")]),
        ("str_replace_editor", {"command": "view", "path": "a.py"}, []),
        (
            "str_replace_editor",
            {"command": "str_replace", "path": "a", "old_str": "x", "new_str": "y"},
            [("a", "x", "y")],
        ),
        (
            "apply_patch",
            {"input": "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n@@\n-x\n+y\n*** End Patch"},
            [("a.py", "", ""), ("b.py", "x", "y")],
        ),
        ("Write", {"file_path": "C:\\p\\a.py", "content": "y"}, [("C:/p/a.py", "", "y")]),
        (
            "MultiEdit",
            {
                "file_path": "a",
                "edits": [{"old_string": "x", "new_string": "y"}, {"old_string": "u", "new_string": "v"}],
            },
            [("a", "x", "y"), ("a", "u", "v")],
        ),
        (
            "replace_in_file",
            {"path": "a", "diff": "------- SEARCH\nx\n=======\ny\n+++++++ REPLACE\n"},
            [("a", "x\n", "y\n")],
        ),
        (
            "replace_in_file",
            {"path": "a", "diff": "<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n"},
            [("a", "x\n", "y\n")],
        ),
        ("apply_patch", {"input": PATCH}, [("src/a.py", "x = 1", "x = 2"), ("b.py", "", "y = 1")]),
        ("shell", {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}\nEOF"]}, [("src/a.py", "x = 1", "x = 2")]),
        ("Read", {"file_path": "a.py"}, []),
    ],
)
def test_an_edit_is_read_from_its_arguments(
    tool: str, arguments: dict[str, object], edits: list[tuple[str, str, str]]
) -> None:
    found = edits_of(ToolCall("1", tool, json.dumps(arguments)))
    assert [tuple(edit) for edit in found][: len(edits)] == edits
    assert bool(found) == bool(edits)


def test_a_bare_patch_is_one_too() -> None:
    assert [edit.path for edit in edits_of(ToolCall("1", "apply_patch", PATCH))] == ["src/a.py", "b.py"]


def test_lines_that_stay_are_neither_taken_out_nor_put_there() -> None:
    edit = FileEdit("a", "def f():\n    return 1\n", "def f():\n    return 2\n")
    assert edit.removed == {"return 1"}
    assert edit.added == {"return 2"}
    assert edit.is_undone_by(FileEdit("a", edit.new, edit.old))
    assert not edit.is_undone_by(FileEdit("a", edit.new, "pass"))


def test_one_file_has_many_names() -> None:
    assert is_same_file("/home/p/src/a.py", "src/a.py")
    assert not is_same_file("src/aa.py", "a.py")


@pytest.mark.parametrize(
    "path", ["tests/test_a.py", "src/a_test.go", "a.spec.ts", "src/__tests__/a.js", "CartTest.java"]
)
def test_files_of_tests(path: str) -> None:
    assert is_test_file(path)
    assert not is_test_file(path.replace("est", "ast").replace("spec", "spac"))


def test_scratch_files() -> None:
    assert is_scratch("/tmp/a.txt")
    assert is_scratch("C:/Users/x/AppData/Local/Temp/a.txt")
    assert not is_scratch("src/template/a.py")
