"""What a statement names, by form alone."""

import pytest

from quickness import is_linear
from whet.lessons.statements.naming import ThingKind, imports_in, split_statements, things_in


def named(text: str) -> set[tuple[str, str]]:
    return {(each.kind.value, each.text) for each in things_in(split_statements("CLAUDE.md", text)[0])}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See `src/app.py:12`.", {("path", "src/app.py")}),
        ("See `tests/x_test.py::test_y`.", {("path", "tests/x_test.py")}),
        ("Read docs/guide.md first.", {("path", "docs/guide.md")}),
        ("Read [it](docs/guide.md#top).", {("path", "docs/guide.md")}),
        ("Tests lie in `src/**/*.test.ts`.", {("path", "src/")}),
        ("Set `API_KEY_NAME`, import `@own/core`.", set()),
        ("Run `npm run lint`.", {("command", "npm run lint")}),
        (r"Run `scripts\start.bat`.", {("path", "scripts/start.bat")}),
        ("See @docs/more.md.", {("path", "docs/more.md")}),
    ],
)
def test_a_form_tells_what_is_named(text: str, expected: set[tuple[str, str]]) -> None:
    assert named(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "See `https://a.b/c.md`.",
        "Ask `GET /api/users.json`"[:4] + "`/api/users.json`.",
        "Edit `~/notes.md` and `../other/x.py`.",
        "Name it `<name>.md`, `{x}/y.ts`, `foo/...`.",
        "Use `-c/--config`.",
        "We use and/or, client/server.",
    ],
)
def test_what_can_be_no_path_of_the_repository_is_none(text: str) -> None:
    assert not {kind for kind, _ in named(text) if kind == ThingKind.PATH}


def test_a_fence_of_the_shell_names_commands_and_their_paths_on_their_lines() -> None:
    text = "```bash\n# first\nmake build  # all of it\npytest tests/a.py \\\n  -q\n```"
    things = things_in(split_statements("CLAUDE.md", text)[0])
    assert [(each.kind.value, each.text, each.line) for each in things] == [
        ("command", "make build", 3),
        ("command", "pytest tests/a.py   -q", 4),
        ("path", "tests/a.py", 4),
    ]


def test_code_of_another_language_names_nothing() -> None:
    assert named('```python\nopen("data/x.csv")\n```') == set()


def test_imports_are_seen_outside_of_code_only() -> None:
    assert imports_in("@a.md and `@b.md`\n```\n@c.md\n```\nask @someone, @docs/d.md.") == ("a.md", "docs/d.md")


@pytest.mark.parametrize("pump", ["`a ", "[x](", "a/", "`a/b.py` ", "@a/", "``", "x/y.z", "(])", "a.b.", "make a; "])
def test_naming_takes_time_in_proportion(pump: str) -> None:
    def work(text: str) -> object:
        things_in.cache_clear()
        return [things_in(each) for each in split_statements("CLAUDE.md", text.replace(". ", ".\n"))]

    assert is_linear(work, pump, 40_000)
