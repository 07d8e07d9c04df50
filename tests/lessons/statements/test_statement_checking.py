"""Statements held against a repository and each other: wrong only where something shows it, and what is said twice."""

import pytest

from quickness import is_linear
from whet.lessons.statements.audit import InstructionFile, LastChange, StatementFinding, StatementMark
from whet.lessons.statements.checking import (
    NameWriting,
    check_statement,
    removals_in,
)
from whet.lessons.statements.comparing import are_read_together, compare, copied_files
from whet.lessons.statements.naming import split_statements
from whet.lessons.statements.repository import RemovedPath, Repository, ScriptManifest, manifest_of, scripts_in

FILES = (
    "src/app.py", "src/lib/tool.py", ".golangci.yaml", "web/src/domains/a.ts", "Makefile", "web/index.ts", "docs/a.md",
)  # fmt: skip
REMOVED = (
    RemovedPath("old/gone.py", "c" * 40, 86_400.0),
    RemovedPath("src/before.py", "d" * 40, 86_400.0),
    RemovedPath("app.py", "d" * 40, 86_400.0),
)
MAKE = "test: ## Run the tests\n\tpytest\nlint fix:\n\truff\n"
PACKAGE = '{"name": "@own/web", "scripts": {"test:ci": "vitest"}, "dependencies": {"@other/x": "1"}}'


def manifests(**texts: str) -> list[ScriptManifest]:
    found = [manifest_of(name.replace("_json", ".json"), text) for name, text in texts.items()]
    return [each for each in found if each is not None]


def check(text: str, file: str = "CLAUDE.md", *, written: float = 0.0, **texts: str) -> tuple[StatementFinding, ...]:
    known = manifests(**(texts or {"Makefile": MAKE, "package_json": PACKAGE}))
    repository = Repository(FILES, name="repo", removed=REMOVED, manifests=known, unknown=("build",))
    change = LastChange(written, "e" * 40)
    found: list[StatementFinding] = []
    for each in split_statements(file, text):
        dates = {thing.text: NameWriting(change, change) for thing, _ in removals_in(each, repository)}
        found += check_statement(each, repository, dates)
    return tuple(found)


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("Lint as `.golangci.yml` says.", ".golangci.yaml"),
        ("See `src/before.py`.", ""),
        ("See `SRC/app.py`.", "src/app.py"),
        ("See `before.py`.", ""),
        ("See [how](docs/how.md).", ""),
        ("Old code is in `old/sub/`.", ""),
        ("Run `make tests`.", "test"),
        ("Run `npm run test:cj` first.", "test:ci"),
        ("```sh\npnpm test:unit\n```", "test:ci"),
        ("```sh\npython -u app.py\ncd src\n```", ""),
    ],
)
def test_what_is_named_and_not_there_is_wrong(text: str, instead: str) -> None:
    (found,) = check(text)
    assert found.mark is StatementMark.WRONG
    assert found.why
    assert found.instead == instead


@pytest.mark.parametrize(
    "text",
    [
        "See `src/app.py`, `app.py`, `./src/lib/` and `repo/src/app.py`.",
        "Never use `src/before.py`.",
        "It is built into `build/out.js`.",
        "Branch from `origin/main`; send `text/html`.",
        "Call `vi.mock` and `item.key`.",
        "Import it as `web/index.js`.",
        "```sh\ncp docs/a.adoc /tmp\n```",
        "See `a.adoc`.",
        "Start `app.py`.",
        "```sh\ncd src && python app.py\n```",
        "Run `npm run $NAME` or `npm run <script>`.",
        "Run `cargo test` and `just build`.",
        "See `src/nothing.py`, `src/lib/Tools.py`, `docs/a.adoc` and `@own/wep`.",
        "| `src/example.ts` | a row may be an example |",
        'Say "see `src/before.py` for more".',
        "```sh\nmkdir -p old/sub\n```",
        "```\nAdded src/before.py to it\n```",
        "See [the form](path/to/file.md).",
        "Run `npm install`, `pnpm vitest`, `yarn tsc`.",
    ],
)
def test_without_evidence_nothing_is_wrong(text: str) -> None:
    assert not [each for each in check(text) if each.mark is StatementMark.WRONG]


OWN = (
    "scripts/a.py", "scripts/run.sh", "pkg/__init__.py", "pkg/core/__init__.py", "pkg/core/main.py", "docs/a.md",
    "web/ui/package.json", "web/api/package.json", "bin/a",
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("```sh\nuv run python -u scripts/b.py --x\n```", "scripts/b.py"),
        ("Run `bash scripts/b.sh`.", "scripts/b.sh"),
        ("Go there: `cd web/cli && npm run x`.", "web/cli"),
        ("Run `bin/d <id>`, not `bin/a x`, `cat bin/e` or `bin/f`.", "bin/d"),
    ],
)
def test_who_names_what_can_be_run_says_that_it_is_there(text: str, named: str) -> None:
    assert [each.named for each in _checked(text)] == [named]


@pytest.mark.parametrize(
    "text",
    [
        "Run `python scripts/a.py --dry-run`, `python -m pytest`, `python -m pkg.core`, `pytest scripts/b.py`.",
        "Run `python new/b.py`, `bash b.sh`, `node -e x scripts/b.js`, `python scripts/<name>.py`.",
        "Run `pnpm --filter @own/cli dev`, `cargo test -p none`, `python -m pkg.core.other`.",
        "- Make `docs/b.md` when it is done.",
        "It is saved as `scripts/out_$(date +%Y).md`.",
        "```bash\nUser: /fast\nClaude: Running\npython scripts/b.py\nAll is well.\n```",
    ],
)
def test_what_may_be_elsewhere_or_made_is_not_called_wrong(text: str) -> None:
    assert not _checked(text)


def _checked(text: str) -> list[StatementFinding]:
    statements = split_statements("CLAUDE.md", text)
    return [one for each in statements for one in check_statement(each, Repository(OWN))]


def test_who_writes_after_a_removal_does_not_mean_what_was_removed() -> None:
    assert check("See `src/before.py`.", written=0.0)
    assert not check("See `src/before.py`.", written=90_000.0)


def test_a_makefile_that_includes_others_may_have_the_target() -> None:
    assert not check("Run `make tests`.", Makefile="include more.mk\n" + MAKE)


@pytest.mark.parametrize(
    ("command", "scripts"),
    [
        ("npm run lint -- --fix", ["lint"]),
        ("pnpm --filter web test:run", ["test:run"]),
        ("make -C sub -j 4 all VAR=1 check", ["all", "check"]),
        ("npm install", []),
        ("yarn tsc", []),
        ("deno task dev", ["dev"]),
        ("npm test", ["test"]),
    ],
)
def test_the_documented_form_of_a_runner_names_its_script(command: str, scripts: list[str]) -> None:
    assert [each.script for each in scripts_in(tuple(command.split()))] == scripts


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("package.json", "{"), ("package.json", "[]"), ("Taskfile.yml", "tasks: &a\n  b: *a"),
        ("pyproject.toml", "x ="),
        ("package.json", "[" * 100_000), ("deno.json", "x" * 500_000),
    ],
)  # fmt: skip
def test_a_manifest_that_cannot_be_read_is_open(path: str, text: str) -> None:
    found = manifest_of(path, text)
    assert found is not None
    assert found.is_open or not found.scripts


@pytest.mark.parametrize(
    "pump",
    [
        "- `src/a.py`: x\n", "| `src/a.py` | x |\n", "```\na/\n├── b.py\n```\n", '- say "`src/a.py`" "\n', "  - `a/`\n",
        "- see [a](docs/b.md)\n", "```sh\ncd a && npm run b\n```\n", "│├", "- x/y/z.py\n",
        "`aB`, ", "- a: `src/b.py`\n", "src/\n ", "`python src/x.py --a-b`\n", "# a\n", "`a`(",
    ],
)  # fmt: skip
def test_any_text_is_checked_in_linear_time(pump: str) -> None:
    assert is_linear(check, pump, 40_000)


RULE = "- Always write the tests in `tests/unit` before the code.\n"


def marks(*files: InstructionFile) -> list[tuple[str, StatementMark]]:
    statements = [each for file in files for each in split_statements(file.path, file.text)]
    return [(statement.place, one.mark) for statement, every in compare(files, statements).items() for one in every]


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


def test_what_says_no_more_than_a_script_is_known_anyway() -> None:
    assert [each.mark for each in check("- `make test`: run the tests")] == [StatementMark.KNOWN]
    assert not check("- `make test` takes an hour and needs the staging database: ask before")
