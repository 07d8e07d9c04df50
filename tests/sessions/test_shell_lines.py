import pytest
from hypothesis import given
from hypothesis import strategies as st

from quickness import is_linear
from whet.sessions.shell_lines import is_decisive, split, without_heredocs


def programs(command: str) -> list[str]:
    return [stage.program for stage in split(command)]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("ls -la", ["ls"]),
        ("cd app && npm test | tail -3; echo done", ["cd", "npm", "tail", "echo"]),
        ("FOO=1 sudo -E timeout 30 pytest -q", ["pytest"]),
        ("uv run pytest", ["pytest"]),
        ("npx --yes tsc --noEmit", ["tsc"]),
        ("/usr/bin/python3 a.py", ["python3"]),
        ("bash -lc 'cd a && make'", ["cd", "make"]),
        ("for f in *; do wc $f; done", ["for", "wc"]),
        ("if test -f a; then cat a; fi", ["test", "cat"]),
        ("make 2>&1 | tee log", ["make", "tee"]),
        ("# a comment\nls", ["ls"]),
        ("git add a \\\n  b && \\\ngit commit", ["git", "git"]),
        ("", []),
    ],
)
def test_a_line_is_split_into_the_programs_that_it_runs(command: str, expected: list[str]) -> None:
    assert programs(command) == expected


@pytest.mark.parametrize(
    "command",
    [
        "echo 'a; rm b | c'",
        'echo "x && y; z"',
        "echo a\\;b",
        "cat <<'EOF'\npytest | tail; make\nEOF",
        "cat <<< 'a; b'",
    ],
)
def test_text_that_is_quoted_runs_nothing(command: str) -> None:
    assert len(programs(command)) == 1


def test_the_body_of_a_here_document_is_left_out_and_the_rest_kept() -> None:
    assert "secret" not in without_heredocs("cat > a <<EOF\nsecret\nEOF\nmake")
    assert programs("cat > a <<EOF\nsecret; rm x\nEOF\nmake") == ["cat", "make"]
    assert programs("git commit -m \"$(cat <<'EOF'\nFix; the | thing\nEOF\n)\"")[0] == "git"


@pytest.mark.parametrize(
    ("command", "program", "expected"),
    [
        ("pytest", "pytest", True),
        ("cd a && pytest", "pytest", True),
        ("pytest && echo ok", "pytest", True),
        ("pytest && ls | head", "pytest", True),
        ("pytest | tail", "pytest", False),
        ("pytest; echo done", "pytest", False),
        ("pytest || true", "pytest", False),
        ("set -e; pytest; echo done", "pytest", True),
        ("set -o pipefail; pytest | tail", "pytest", True),
        ("for f in *; do pytest $f; done", "pytest", True),
    ],
)
def test_a_stage_decides_the_line_unless_what_follows_hides_it(command: str, program: str, expected: bool) -> None:
    stages = split(command)
    index = next(index for index, stage in enumerate(stages) if stage.program == program)
    assert is_decisive(stages, index) is expected


@given(st.text(alphabet="ab '\"\\|&;()$<>\n`{}EOF#-=", max_size=200))
def test_any_line_is_split_without_a_fault(command: str) -> None:
    assert all(stage.program or stage.words for stage in split(command))


@pytest.mark.parametrize("piece", ["<<a ", "'", '"', "$(", "a|", "bash -c '", "\\", "<<EOF\n", "(((", "sudo ", "a&&"])
def test_long_lines_are_split_in_linear_time(piece: str) -> None:
    def read(line: str) -> None:
        stages = split(line)
        assert all(is_decisive(stages, index) in (True, False) for index in range(len(stages)))

    assert is_linear(read, piece, 100_000 * len(piece))


def test_an_unknown_word_before_a_well_known_program_runs_it() -> None:
    for line, program in (("wrap git status -s", "git"), ("slowly pytest -q tests", "pytest"), ("w npm test", "npm")):
        assert [stage.program for stage in split(line)] == [program]
    for line in ("which git npm", "echo git status", "man git log", "wrap git", "tool task list", "docker git x"):
        assert [stage.program for stage in split(line)] == [line.split()[0]]
