"""Every file and folder that the documents for contributors name is there, and so is what any document links to."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BASES = (ROOT, ROOT / "src" / "whet")
DOCUMENTS = ("AGENTS.md", "CONTRIBUTING.md", "docs/architecture.md")
OF_A_HOME = ("guidance/review/",)  # of a person's, and not of the repository
QUOTED = re.compile(r"`((?:[\w.-]+/)+[\w.*-]*|[\w-]+\.(?:md|toml|py|sh))`")
LINK = re.compile(r"\]\((?![a-z]+:)([^)#\s]*)#?([^)\s]*)\)")
UNQUOTED = re.compile(r"(?<![\w/.`-])(?:\w+/)+\w+\.py\b")


def named(text: str) -> Iterator[str]:
    yield from (path for path in QUOTED.findall(text) if path not in OF_A_HOME)
    yield from UNQUOTED.findall(text)


def is_there(path: str) -> bool:
    return any(next(base.glob(path.rstrip("/")), None) is not None for base in BASES)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_what_a_document_names_is_there(document: str) -> None:
    paths = [*named((ROOT / document).read_text(encoding="utf-8"))]
    assert paths
    assert [path for path in paths if not is_there(path)] == []


def test_tests_and_benchmarks_that_any_document_names_are_there() -> None:
    said = {each.name: [*named(each.read_text(encoding="utf-8"))] for each in (ROOT / "docs").glob("*.md")}
    paths = [(name, path) for name, every in said.items() for path in every if path.startswith(("tests/", "bench/"))]
    assert paths
    assert [(name, path) for name, path in paths if not is_there(path)] == []


def test_paths_are_told_from_other_words() -> None:
    text = (
        "`src/whet/` and `tests/a.py`, `AGENTS.md`, in store/b.py; not `make check`, `a/<name>/`, `guidance/review/`."
    )
    assert [*named(text)] == ["src/whet/", "tests/a.py", "AGENTS.md", "store/b.py"]


def anchors(document: Path) -> set[str]:
    """The anchors of a document's headings, as hosts of repositories make them."""
    headings = re.findall(r"^#+ (.+)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(document: Path) -> Iterator[str]:
    """The links of a document that lead nowhere."""
    text = re.sub(r"`[^`\n]*`", "", document.read_text(encoding="utf-8"))
    for path, anchor in LINK.findall(text):
        target = document.parent / path if path else document
        if not target.exists() or (anchor and anchor not in anchors(target)):
            yield f"{path}#{anchor}" if anchor else path


def test_what_a_document_links_to_is_there() -> None:
    documents = (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "bench" / "RESULTS.md")
    found = {str(each.relative_to(ROOT)): [*broken(each)] for each in documents}
    assert {document: links for document, links in found.items() if links} == {}
