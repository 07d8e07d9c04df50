"""Statements held against a repository: wrong only where something shows it."""

import pytest

from quickness import is_linear
from whet.lessons.statements.checking import NameWriting, StatementGrounds, check_statement, removals_in
from whet.lessons.statements.listings import listings, unlisted
from whet.lessons.statements.manifests import ScriptManifest, manifest_of, scripts_in
from whet.lessons.statements.repository import RemovedPath, Repository
from whet.lessons.statements.splitting import split_statements
from whet.lessons.statements.statement import LastChange, StatementFinding, StatementMark

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
    statements = split_statements(file, text)
    lacking = unlisted(listings(statements), repository)
    found: list[StatementFinding] = []
    for each in statements:
        dates = {thing.text: NameWriting(change, change) for thing, _ in removals_in(each, repository)}
        found += check_statement(each, repository, StatementGrounds(dates, lacking.get(each, ())))
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
        ("Import `@own/wep`.", "@own/web"),
        ("See `src/lib/Tools.py`.", "src/lib/tool.py"),
        ("See `docs/a.adoc`.", "docs/a.md"),
        ("It starts in `src/tool.py`.", ""),
        ("```sh\npython -u app.py\ncd src\n```", ""),
    ],
)
def test_what_is_named_and_not_there_is_wrong(text: str, instead: str) -> None:
    (found,) = check(text)
    assert found.mark is StatementMark.WRONG
    assert found.why
    assert found.instead == instead


def test_a_folder_nearly_so_named_is_what_was_meant() -> None:
    (found,) = check("Keep logic in `src/domain` folders.", "web/CLAUDE.md")
    assert (found.mark, found.instead) == (StatementMark.WRONG, "src/domains")


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
        "See `src/nothing.py`.",
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


def test_a_program_that_is_run_from_a_folder_of_others_is_there() -> None:
    files = ("bin/a", "bin/b", "bin/c", "lib/a")
    (statement,) = split_statements("CLAUDE.md", "Run `bin/d <id>`, not `lib/d x`, `bin/a x`, `cat bin/e` or `bin/f`.")
    found = check_statement(statement, Repository(files))
    assert [(each.mark, each.named) for each in found] == [(StatementMark.WRONG, "bin/d")]


OWN = (
    "scripts/a.py", "scripts/run.sh", "pkg/__init__.py", "pkg/core/__init__.py", "pkg/core/main.py", "docs/a.md",
    "web/ui/package.json", "web/api/package.json",
)  # fmt: skip
WORKSPACE = [
    found
    for name in ("ui", "api")
    if (found := manifest_of(f"web/{name}/package.json", f'{{"name": "@own/{name}", "scripts": {{"dev": ""}}}}'))
]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("```sh\nuv run python -u scripts/b.py --x\n```", "scripts/b.py"),
        ("Run `bash scripts/b.sh`.", "scripts/b.sh"),
        ("Go there: `cd web/cli && npm run x`.", "web/cli"),
        ("Run `python scripts/a.py --wipe --keep-all --dry-run --help`.", "--wipe"),
        ("- Settings: `docs/b.md`", "docs/b.md"),
        ("Kept by `loadAll`, `keepAll`, `dropAll()` and `Shop.findAll`.", "findAll"),
        ("- `loadAll`: a\n- `keepAll`: b\n- `dropAll`: c\n- `findAll`: d\n", "findAll"),
        ("Read `scripts/a.py`, `docs/a.md`, `pkg/core/main.py` or `pkg/core/old.py`.", "pkg/core/old.py"),
        ("```\nscripts/\n  a.py\n  run.sh   # runs\npkg/\n  core/\n    main.py\n    none.py\n```", "pkg/core/none.py"),
    ],
)
def test_who_names_what_can_be_run_read_or_listed_says_that_it_is_there(text: str, named: str) -> None:
    assert [each.named for each in _checked(text)] == [named]


@pytest.mark.parametrize(
    "text",
    [
        "Run `python scripts/a.py --dry-run`, `python -m pytest`, `python -m pkg.core`, `pytest scripts/b.py`.",
        "Run `python new/b.py`, `bash b.sh`, `node -e x scripts/b.js`, `python scripts/<name>.py`.",
        "Run `pnpm --filter @own/cli dev`, `cargo test -p none`, `python -m pkg.core.other`.",
        "Run `bash scripts/run.sh --wipe`: it may hand its options on.",
        "- Make `docs/b.md` when it is done.",
        "It is saved as `scripts/out_$(date +%Y).md`.",
        "```bash\nUser: /fast\nClaude: Running\npython scripts/b.py\nAll is well.\n```",
        "Call `loadAll`, `keepAll` or `findAll`.",
        "```\nscripts/\n  b.py\n  c.py\n```",
    ],
)
def test_what_may_be_elsewhere_or_made_is_not_called_wrong(text: str) -> None:
    assert not _checked(text)


def _checked(text: str) -> list[StatementFinding]:
    sources = {"scripts/a.py": 'add("--dry-run")', "scripts/run.sh": 'exec other "$@"'}
    words = frozenset(("loadAll", "keepAll", "dropAll", "keep_all"))
    repository = Repository(OWN, manifests=WORKSPACE).with_code(words, sources)
    statements = split_statements("CLAUDE.md", text)
    lacking = unlisted(listings(statements), repository)
    grounds = {each: StatementGrounds(unlisted=lacking.get(each, ())) for each in statements}
    return [one for each in statements for one in check_statement(each, repository, grounds[each])]


def test_who_writes_after_a_removal_does_not_mean_what_was_removed() -> None:
    assert check("See `src/before.py`.", written=0.0)
    assert not check("See `src/before.py`.", written=90_000.0)


LISTED = "- `src/app.py`: starts\n- `src/lib/tool.py`: works\n- `docs/a.md`: tells\n- `src/lib/other.py`: helps\n"
DRAWN = """```
repo/
├── src/
│   ├── app.py      # starts
│   ├── new.py
│   └── lib/
│       └── tool.py
└── build/
    └── out.js
```
"""


def test_what_is_not_there_of_a_list_that_is_there_is_wrong() -> None:
    (found,) = check(LISTED)
    assert (found.named, found.line) == ("src/lib/other.py", 4)
    (found,) = check(
        "| file | what |\n" + "".join(f"| {line[2:]} |\n" for line in LISTED.replace(":", " |").splitlines())
    )
    assert found.named == "src/lib/other.py"
    (found,) = check(DRAWN)
    assert (found.named.removeprefix("repo/"), found.line) == ("src/new.py", 5)


def test_a_list_of_what_is_to_be_made_is_not_wrong() -> None:
    assert not check("- `src/one.py`\n- `src/two.py`\n- `src/three.py`\n- `src/app.py`\n")
    assert not check("```\nother/\n├── a.py\n├── b.py\n└── c.py\n```\n")


def test_a_makefile_that_includes_others_may_have_the_target() -> None:
    assert not check("Run `make tests`.", Makefile="include more.mk\n" + MAKE)


def test_what_says_no_more_than_a_script_is_known_anyway() -> None:
    assert [each.mark for each in check("- `make test`: run the tests")] == [StatementMark.KNOWN]
    assert not check("- `make test` takes an hour and needs the staging database: ask before")


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
        (".prettierrc", "\0"), ("package.json", "[" * 100_000), ("deno.json", "x" * 500_000),
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


def test_own_programs_are_asked_only_for_what_their_code_has() -> None:
    made = manifest_of("package.json", '{"name": "tool", "bin": {"tool": "cli.js"}}')
    assert made is not None
    repository = Repository(["cli.js", "cmd/helper/main.go"], manifests=[made])
    repository = repository.with_code(frozenset({"sync", "flushOnly"}), {})
    text = "- `tool sync --flush-only`\n- `npx tool sync --dry`\n- `tool prune`\n- `helper --all`\n- `other --none`\n"
    wrong = [
        (each.line, found.named)
        for each in split_statements("CLAUDE.md", text)
        for found in check_statement(each, repository)
    ]
    assert wrong == [(2, "--dry"), (3, "prune"), (4, "--all")]


def test_the_only_file_of_a_name_lies_elsewhere_and_a_person_tells_whether_it_was_meant() -> None:
    repository = Repository(["site/a.js", "themes/schema.json", ".vscode/settings.json", ".claude/x.md"])
    text = "- Update `site/schema.json`.\n- Add to `.claude/settings.json`.\n"
    (found,) = (one for each in split_statements("CLAUDE.md", text) for one in check_statement(each, repository))
    assert (found.named, found.instead, found.where) == ("site/schema.json", "", "themes/schema.json")
