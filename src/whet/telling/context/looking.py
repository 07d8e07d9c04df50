"""What the files of a repository have: where names stand in them, and the pieces that a reader asks to see."""

import posixpath
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from whet.lessons.claim_evidence import is_part
from whet.lessons.statements.naming import DOCUMENTS, extension_of
from whet.lessons.statements.reader_claims import AbsentName, ClaimEvidence, FileCount, FileQuote, WantedLook
from whet.lessons.statements.repository import Repository
from whet.telling.context.finding import ordinary_bytes
from whet.telling.context.git import output_of
from whet.telling.targets.project_names import repository_root
from whet.text.words import cut

SECONDS = 20.0
MOST_BYTES = 1_000_000
LONGEST_LINE = 160
WHOLE_LINES = 220  # of a file that is shown whole
HEAD_LINES = 40  # of a longer one
FEW_DEFINED = 8
AROUND = 14
MOST_HITS = 14
MOST_NAMES = 60
MOST_STARS = 6
NO_CODE = (*DOCUMENTS, ".mdc")
DEFINED = (
    r"\b(class|def|function|const|let|var|val|type|interface|fn|fun|func|struct|enum|trait|module|static|async)"
    r"[ *]+(\([^)]*\) )?NAME\b",
    r"^\s*([A-Za-z_]+ )*NAME\s*(:[^=]*)?=([^=]|$)",
    r"^\s*([A-Za-z_<>]+ )*NAME\([^;]*\{\s*$",
)  # how languages define a name: by a word for it, by a value, or by its body
_OUTLINE = re.compile(rf"\d+\| \s{{0,4}}(?:[\w@]{{1,20}} ){{0,4}}?{DEFINED[0].replace('NAME', '')}".removesuffix(r"\b"))
_HEADING = re.compile(r"\d+\| #{1,6} ")
_WRITTEN = re.compile(r"^(.+?)\0(\d+)\0(.*)$")


class CodeHit(NamedTuple):
    """A line that has a name."""

    path: str
    line: int
    text: str


class RepositoryText(NamedTuple):
    """The files of a repository, to be looked into."""

    root: Path
    repository: Repository

    def text(self, path: str) -> str | None:
        """What a file of the repository holds; None for what is none of its files, or is no text."""
        if path not in self.repository.files:
            return None
        try:
            body, _ = ordinary_bytes(self.root / path, MOST_BYTES)
        except OSError:  # it went away, or leads elsewhere
            return None
        return None if b"\0" in body else body.decode("utf-8", "replace")

    def hits(self, names: Iterable[str], *, is_cased: bool = True) -> dict[str, list[CodeHit]]:
        """The lines of the repository that have each of these names."""
        asked = [each for each in dict.fromkeys(names) if each.strip() and "\n" not in each and "\0" not in each]
        found: dict[str, list[CodeHit]] = {each: [] for each in asked}
        if not asked:
            return found
        where = () if repository_root(self.root) is not None else ("--no-index",)
        given = ("grep", *(where or ("--untracked",)), "-n", "-z", "-I", "-F", *(() if is_cased else ("-i",)))
        body, _ = output_of(self.root, *given, *(part for each in asked for part in ("-e", each)), seconds=SECONDS)
        keys = {each: each if is_cased else each.lower() for each in asked}
        for line in body.decode("utf-8", "replace").split("\n"):
            hit = _WRITTEN.match(line)
            if hit and hit[1] in self.repository.files:
                said = hit[3] if is_cased else hit[3].lower()
                for each, key in keys.items():
                    if key in said:
                        found[each].append(CodeHit(hit[1], int(hit[2]), hit[3]))
        return found

    def fault(self, evidence: ClaimEvidence, hidden: frozenset[str]) -> str:
        """Why evidence does not hold; empty where it does. Files that are `hidden` are no code."""
        if isinstance(evidence, FileQuote):
            text = self.text(evidence.file)
            if text is None:
                return f"there is no text file {evidence.file}"
            is_said = is_part(evidence.words, text)
            return "" if is_said else f"{evidence.file} does not say “{evidence.words}”"
        if isinstance(evidence, FileCount):
            number = self._counted(evidence)
            return "" if number == evidence.number else f"there are {number}, not {evidence.number}: {evidence.files}"
        return self._fault_of_absence(evidence, hidden)

    def _fault_of_absence(self, absent: AbsentName, hidden: frozenset[str]) -> str:
        name, inside = absent
        if inside and inside not in self.repository.files and inside not in self.repository.folders:
            return f"there is no {inside}"
        is_path = "/" in name.strip("/") or extension_of(name) in self.repository.extensions
        if is_path and not inside:
            path = name.strip("/").removeprefix("./")
            if self.repository.finds(path) or (self.root / path).exists():
                return f"`{name}` is there"
            return f"git ignores `{name}`: it may be there at times" if self._is_ignored(path) else ""
        below = f"{inside}/"
        for hit in self.hits([name], is_cased=False)[name]:
            is_code = hit.path not in hidden and not hit.path.lower().endswith(NO_CODE)
            is_meant = hit.path == inside or hit.path.startswith(below) if inside else is_code
            if is_meant:
                return f"`{name}` is there: {hit.path}:{hit.line}"
        named = name.lower()
        paths = (path for path in self.repository.files if named in posixpath.basename(path).lower())
        there = "" if inside else next(paths, "")
        return f"`{name}` is there: {there}" if there else ""

    def _is_ignored(self, path: str) -> bool:
        if repository_root(self.root) is None:
            return False
        return any(
            output_of(self.root, "check-ignore", "-q", "--no-index", each, seconds=SECONDS)[1]
            for each in (path, f"{path}/")
        )

    def _counted(self, count: FileCount) -> int:
        files = [path for path in self.repository.files if _fits(path, count.files)]
        if not count.is_lines:
            return len(files)
        return sum(count.words in line for path in files for line in (self.text(path) or "").splitlines())

    def looked(self, look: WantedLook) -> str:
        """What a reader is shown of what it asked for."""
        path = look.file
        if path and path not in self.repository.files:
            path = self.repository.place(path) or path
        if path in self.repository.folders or path in ("", "."):
            return self._stands(look.words, path) if look.words else "\n".join(self.listing(path))
        text = self.text(path)
        if text is None:
            near = ", ".join(near_paths(path, self.repository))
            return f"there is no text file {path}{f'; near it: {near}' if near else ''}"
        lines = [f"{number}| {cut(line, LONGEST_LINE)}" for number, line in enumerate(text.splitlines(), 1)]
        if look.words:
            shown = [place for place, line in enumerate(text.splitlines()) if look.words.lower() in line.lower()]
            near_by = sorted({one for place in shown[:4] for one in range(place - 3, place + AROUND)})
            found = [lines[place] for place in near_by if 0 <= place < len(lines)]
            return "\n".join(found) if found else f"{path} ({len(lines)} lines) does not say “{look.words}”"
        if len(lines) <= WHOLE_LINES:
            return "\n".join(lines)
        form = _HEADING if path.lower().endswith(NO_CODE) else _OUTLINE
        outline = [line for line in lines[HEAD_LINES:] if form.match(line)]
        if len(outline) < FEW_DEFINED:  # it is no code that defines things
            return "\n".join(lines)
        return "\n".join(
            (*lines[:HEAD_LINES], f"… of {len(lines)} lines the beginning, then what it defines", *outline)
        )

    def _stands(self, words: str, folder: str) -> str:
        hits = self.hits([words], is_cased=False).get(words, [])
        below = [each for each in hits if not folder.strip(".") or each.path.startswith(f"{folder}/")]
        below.sort(key=lambda each: each.path.lower().endswith(NO_CODE))
        shown = [f"{each.path}:{each.line}: {cut(each.text.strip(), LONGEST_LINE)}" for each in below[:MOST_HITS]]
        more = [f"… {len(below) - MOST_HITS} more lines"] if len(below) > MOST_HITS else []
        return "\n".join((*shown, *more)) or "nowhere"

    def listing(self, folder: str) -> Iterator[str]:
        """The files and folders right in a folder, each folder with how many files lie below it."""
        above = f"{folder}/" if folder.strip(".") else ""
        below = [path.removeprefix(above) for path in self.repository.files if path.startswith(above)]
        folders: dict[str, int] = {}
        for path in below:
            first, _, rest = path.partition("/")
            if rest:
                folders[first] = folders.get(first, 0) + 1
        yield from (f"{name}/ ({number})" for name, number in sorted(folders.items()))
        names = sorted(path for path in below if "/" not in path)
        yield from names[:MOST_NAMES]
        if len(names) > MOST_NAMES:
            yield f"… {len(names)} files in all"


def _fits(path: str, pattern: str) -> bool:
    """Whether a pattern of the shell fits a path; a star stays in its folder, two do not."""
    if pattern.count("*") > MOST_STARS:
        return False
    form = re.escape(pattern).replace(r"\*\*/", "(?:.*/)?").replace(r"\*\*", ".*")
    form = form.replace(r"\*", "[^/]*").replace(r"\?", "[^/]")
    return re.fullmatch(form, path) is not None


def near_paths(path: str, repository: Repository, most: int = 3) -> list[str]:
    """Where else a name lies, or what has the same name with another ending."""
    name = posixpath.basename(path.rstrip("/")).lower()
    ending = extension_of(name)
    stem = name[: -len(ending)] if ending else name
    if not stem:
        return []
    every = sorted(repository.files | repository.folders, key=lambda each: (len(each), each))
    same = [each for each in every if posixpath.basename(each).lower() == name]
    alike = [each for each in every if posixpath.basename(each).lower().partition(".")[0] == stem]
    return [*dict.fromkeys((*same, *alike))][:most]
