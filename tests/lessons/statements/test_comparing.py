"""Statements held against each other and against the formatters."""

import pytest

from whet.lessons.statements.comparing import are_read_together, compare, copied_files
from whet.lessons.statements.manifests import manifest_of
from whet.lessons.statements.repository import Repository
from whet.lessons.statements.splitting import split_statements
from whet.lessons.statements.statement import InstructionFile, StatementMark

RULE = "- Always write the tests in `tests/unit` before the code.\n"


def marks(*files: InstructionFile, paths: tuple[str, ...] = (), **settings: str) -> list[tuple[str, StatementMark]]:
    known = [manifest_of(name.replace("_json", ".json"), text) for name, text in settings.items()]
    repository = Repository(paths, manifests=[each for each in known if each])
    statements = [each for file in files for each in split_statements(file.path, file.text)]
    found = compare(files, statements, repository)
    return [(statement.place, one.mark) for statement, findings in found.items() for one in findings]


def claude(path: str, text: str, *, on_demand: bool = False) -> InstructionFile:
    return InstructionFile(path, text, ("claude-code",), on_demand)


def test_what_is_said_twice_is_marked_where_it_is_said_again() -> None:
    again = "- Write the tests in `tests/unit`, always before the code.\n"
    assert marks(claude("CLAUDE.md", RULE + again)) == [("CLAUDE.md:2", StatementMark.DOUBLED)]
    assert marks(claude("CLAUDE.md", RULE), claude("a/CLAUDE.md", RULE)) == [("a/CLAUDE.md:1", StatementMark.DOUBLED)]


def test_files_that_no_agent_reads_together_double_nothing() -> None:
    assert not marks(claude("a/CLAUDE.md", RULE), claude("b/CLAUDE.md", RULE))
    assert not marks(claude("CLAUDE.md", RULE), InstructionFile("AGENTS.md", RULE, ("codex",)))
    assert not marks(claude("CLAUDE.md", RULE), claude(".claude/skills/a/SKILL.md", RULE, on_demand=True))
    assert are_read_together(claude("a/CLAUDE.md", ""), claude("a/b/CLAUDE.md", ""))


def test_steps_lead_ins_and_labels_are_said_again_on_purpose() -> None:
    for text in (
        "1. Run the unit tests and read the log\n",
        "The method returns a list of all errors:\n",
        "**Impact: high, four times**\n",
    ):
        assert not marks(claude("CLAUDE.md", f"# One\n{text}\n# Two\n{text}"))


def test_a_file_that_is_mostly_a_copy_is_named_once() -> None:
    lines = "".join(
        f"- Rule number {word} says something of its own here.\n" for word in ("one", "two", "three", "four")
    )
    files = [claude("CLAUDE.md", lines), claude("a/CLAUDE.md", lines + "- And this one is new in this place.\n")]
    assert not marks(*files)
    assert {path: tuple(copied) for path, copied in copied_files(files).items()} == {"a/CLAUDE.md": ("CLAUDE.md", 4, 5)}


def test_to_be_for_and_against_the_same_is_a_contradiction() -> None:
    text = "- Use `npm ci` to install packages.\n- Never use `npm ci` to install packages.\n"
    assert marks(claude("CLAUDE.md", text)) == [("CLAUDE.md:2", StatementMark.CONTRADICTED)]


def test_other_orders_about_the_same_thing_are_none() -> None:
    text = "- Add the key to `src/config.ts`.\n- Remove the key from `src/config.ts` when you undo this.\n"
    assert not marks(claude("CLAUDE.md", text))


@pytest.mark.parametrize(
    ("text", "is_against"),
    [
        ("Use double quotes.", True),
        ("Do not use double quotes.", False),
        ("Use single quotes.", False),
        ("Indent with 4 spaces.", True),
        ("Indent with 2 spaces.", False),
        ("Line length 100.", True),
        ("Line length: 80", False),
        ("No semicolons.", True),
        ("The file has 2,100 lines.", False),
    ],
)
def test_what_a_formatter_is_set_to_contradicts(text: str, is_against: bool) -> None:
    settings = '{"prettier": {"singleQuote": true, "tabWidth": 2, "printWidth": 80, "semi": true}}'
    found = marks(claude("CLAUDE.md", text), package_json=settings)
    assert [mark for _, mark in found] == ([StatementMark.CONTRADICTED] if is_against else [])


def test_the_only_lock_file_contradicts_another_package_manager() -> None:
    text = "```bash\nnpm install\n```\nUse `npm install -g tool` once.\n"
    found = marks(claude("CLAUDE.md", text), paths=("pnpm-lock.yaml",))
    assert found == [("CLAUDE.md:1", StatementMark.CONTRADICTED)]
    assert not marks(claude("CLAUDE.md", text), paths=("pnpm-lock.yaml", "docs/package-lock.json"))
