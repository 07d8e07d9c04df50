"""Versions of statements: wrong where every pin of the repository allows none of them."""

import pytest

from quickness import is_linear
from whet.statements.manifests import manifest_of
from whet.statements.repository import Repository
from whet.statements.splitting import split_statements
from whet.statements.statement import StatementFinding, StatementMark
from whet.statements.versions import other_versions

PACKAGE = """{"engines": {"node": ">=20.1"}, "packageManager": "pnpm@9.1.0+sha512.ab", "devDependencies":
{"react": "^18.2.0", "next": "14.1.0", "tailwindcss": "~3.4.1", "vue": "^2 || ^3", "zod": "workspace:*",
"hono": "^0.4.1"}}"""
FILES = {
    "package.json": PACKAGE,
    "a/pyproject.toml": '[project]\nrequires-python = ">=3.11,<4"\ndependencies = ["django[x]>=5.0; os_name==1"]',
    "b/pyproject.toml": '[project]\nrequires-python = ">= 3.12"',
    "go.mod": "module x\n\ngo 1.22\n",
    "Cargo.toml": '[package]\nname = "x"\nrust-version = "1.80"\n[dependencies]\ntokio = "1.40"\n',
    "rust-toolchain.toml": '[toolchain]\nchannel = "1.85.0"\n',
    ".ruby-version": "3.3.1\n",
    "composer.json": '{"require": {"php": "^8.2"}}',
}


def check(text: str) -> list[StatementFinding]:
    manifests = [found for path, body in FILES.items() if (found := manifest_of(path, body))]
    pins = Repository(FILES, manifests=manifests).pins
    return [one for each in split_statements("CLAUDE.md", text) for one in other_versions(each, pins)]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("- Node.js 18+", "Node.js 18"),
        ("- **Framework**: Next.js 15 (App Router)", "Next.js 15"),
        ("Frontend: React 19 + Vite. It works.", "React 19"),
        ("| Styles | Tailwind CSS 4 |", "Tailwind CSS 4"),
        ("Requires: `pnpm 8`", "pnpm 8"),
        ("- Python 3.10", "Python 3.10"),
        ("- Python >= 3.9", "Python 3.9"),
        ("- Go 1.20", "Go 1.20"),
        ("- Rust 1.70", "Rust 1.70"),
        ("- Vue 4", "Vue 4"),
        ("- Hono v0.3", "Hono 0.3"),
        ("- Ruby 3.2", "Ruby 3.2"),
        ("- Laravel (PHP 8.1)", "PHP 8.1"),
        ("- Django 4.2", "Django 4.2"),
        ("- **Frontend**: React 19 with hooks", "React 19"),
    ],
)
def test_a_version_that_no_pin_allows_is_wrong(text: str, named: str) -> None:
    (found,) = check(text)
    assert (found.mark, found.named) == (StatementMark.WRONG, named)
    assert found.where in FILES


@pytest.mark.parametrize(
    "text",
    [
        "- Node 20+, Node 22, React 18, React 18.3, Next.js 14, Vue 2.7, Python 3.11+, Python 3.13, Tailwind CSS 3",
        "- Go 1.23, Rust 1.85, Rust 1.80+, tokio 1, PHP 8.4, pnpm 9, Zod 2, Unknown 7, React 17+",
        "Migrating from React 17 to React 18 took long.",
        "Since Python 3.8 there is a walrus.",
        "- React 17 or later",
        "- React 17 was replaced - React 18 is used",
        "```\nReact 19\n```",
    ],
)
def test_what_a_pin_allows_or_nothing_pins_is_not_wrong(text: str) -> None:
    assert not check(text)


@pytest.mark.parametrize("pump", ["React 1", "- a b 1\n", "React 1.1.", "A B C 1, ", "1 + ", "*`_"])
def test_versions_are_found_in_linear_time(pump: str) -> None:
    assert is_linear(check, pump, 40_000)
