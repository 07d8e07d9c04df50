"""Ways to run tests: which files are tests, by which command they are run, and which files are the work they judge."""

import re
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from whet.sessions.call_effects import TESTERS, checks_of
from whet.sessions.shell_lines import split, written
from whet.sessions.tool_families import command_of
from whet.sessions.transcripts import Transcript
from whet.text.words import names
from whet.trouble.outcomes.purposes import is_shell
from whet.trouble.outcomes.view import JudgedCall, gather

OWN = "own"  # a command of the person's
FILES = "{files}"  # where a command names the test files
PLACES = re.compile(r"(?:^|/)(?:tests?|specs?|__tests__|testing|testdata|e2e)/", re.IGNORECASE)
TEST_NAME = re.compile(
    r"(?:^|/)(?:test_[^/]+\.py|[^/]+_test\.(?:py|go|rb|exs?|c|cc|cpp|dart)|[^/]+[._](?:test|spec)\.[cm]?[jt]sx?"
    r"|[^/]+_spec\.rb|[^/]+Tests?\.(?:java|kt|cs|php|swift)|conftest\.py)$"
)
PYTEST_NAME = re.compile(r"(?:^|/)(?:test_[^/]+|[^/]+_test)\.py$")
SCRIPT_NAME = re.compile(r"[._](?:test|spec)\.[cm]?[jt]sx?$|(?:^|/)(?:__tests__|tests?)/.*\.[cm]?[jt]sx?$")
# Programs in these languages are what a task is about; all else says how they are built, run and judged.
SOURCE = names(
    "py pyi js jsx mjs cjs ts tsx mts cts go rs rb java kt kts scala c h cc cpp hpp cs php swift ex exs erl hs ml mli "
    "lua pl r jl dart zig vue svelte"
)
CODE = SOURCE | names("sh bash sql css scss html toml yaml yml json cfg ini mk")
NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")
LONG_NUMBER = re.compile(r"(?<![\w.])\d[\d.]*\d(?!\w)")
WORD = re.compile(r"[^\w./-]+")
LOCKS = (
    ("pnpm-lock.yaml", "pnpm"), ("bun.lock", "bun"), ("bun.lockb", "bun"), ("yarn.lock", "yarn"), ("", "npm"),
)  # fmt: skip
# Runners of scripts, and how each is told to run once and to report every test by its name.
RUNNERS = {"vitest": "run --reporter=verbose", "jest": "--ci --verbose", "mocha": "--reporter=spec", "ava": "--tap"}
# Files that make a folder a package with tests of its own.
MANIFESTS = names("package.json pyproject.toml setup.py go.mod Cargo.toml pom.xml build.gradle build.gradle.kts")
_TEST_TARGET = re.compile(r"(?m)^tests?\s*:")
PYTEST_UNRUN = frozenset({3, 4, 5})  # an internal error, a wrong call, no test
NEVER_RAN = frozenset({126, 127})


class WayToTest(NamedTuple):
    """How tests are run: the runner, its command with a place for the files, what it needs, and in which package."""

    runner: str
    command: str
    environment: Mapping[str, str] = MappingProxyType({})
    inside: str = ""  # the package's folder, which the command is run in

    def line(self, files: Iterable[str]) -> str:
        """The command for some test files."""
        line = self.command.replace(FILES, shlex.join(self._named(files))).strip()
        return f"cd {shlex.quote(self.inside)} && {line}" if self.inside else line

    def _named(self, given: Iterable[str]) -> list[str]:
        files = relative(given, self.inside)
        if self.runner == "go":
            return sorted({f"./{path.rpartition('/')[0]}".rstrip("/") for path in files if path.endswith("_test.go")})
        if self.runner == "pytest":
            return [path for path in files if PYTEST_NAME.search(path)]
        if self.runner == OWN:
            return [path for path in files if TEST_NAME.search(path)] or list(files)
        scripts = [path for path in files if SCRIPT_NAME.search(path)]
        return [f"./{path}" for path in scripts] if self.runner == "bun" else scripts

    @property
    def needs_files(self) -> bool:
        return FILES in self.command

    def can_run(self, files: Iterable[str]) -> bool:
        return not self.needs_files or bool(self._named(files))


def is_test(path: str) -> bool:
    """Whether a file belongs to the tests: one of them, or what they need."""
    return TEST_NAME.search(path) is not None or PLACES.search(path) is not None


def is_code(path: str) -> bool:
    """Whether a file is part of the program and no test of it, and no page for people."""
    name = path.rpartition("/")[2]
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    return not is_test(path) and (ending in CODE or name in ("Makefile", "Dockerfile"))


def relative(paths: Iterable[str], inside: str) -> tuple[str, ...]:
    """The paths that lie in a folder, as seen from it."""
    start = f"{inside}/" if inside else ""
    return tuple(path.removeprefix(start) for path in paths if path.startswith(start))


def package_of(paths: Iterable[str], tests: Iterable[str]) -> str:
    """The folder of the package that most of the tests lie in: the nearest above that has a manifest; else the top."""
    folders = {path.rpartition("/")[0] for path in paths if path.rpartition("/")[2] in MANIFESTS and not is_test(path)}
    homes = Counter(_nearest(path, folders) for path in tests)
    return homes.most_common(1)[0][0] if homes else ""


def _nearest(path: str, folders: Collection[str]) -> str:
    folder = path.rpartition("/")[0]
    while folder and folder not in folders:
        folder = folder.rpartition("/")[0]
    return folder


def detected(
    paths: Collection[str], texts: Mapping[str, str], tests: Iterable[str] = (), *, python: str = "python3"
) -> WayToTest | None:
    """How tests of a package are run, by their names and the files that it has; `texts` holds those that tell."""
    asked = tuple(tests) or paths
    if any(PYTEST_NAME.search(path) for path in asked):
        source = {"PYTHONPATH": "src"} if any(path.startswith("src/") for path in paths) else {}
        plain = f"{shlex.quote(python)} -m pytest -q -rA -p no:cacheprovider {FILES}"
        return WayToTest("pytest", plain, {**source, "PYTHONDONTWRITEBYTECODE": "1"})
    if "go.mod" in paths and any(path.endswith(".go") for path in asked):
        return WayToTest("go", f"go test -v {FILES}")
    if "Cargo.toml" in paths:
        return WayToTest("cargo", "cargo test --offline --no-fail-fast")
    found = _package_way(paths, texts.get("package.json", ""))
    found = found or next((way for file, way in _REPORTING if file in paths), None)
    if found is None and _TEST_TARGET.search(texts.get("Makefile", "")):
        found = WayToTest("make", "make test")
    return found


def _reporting(runs: str, reports: str) -> str:
    """A command that prints the reports which a runner writes to files, and ends as the runner did."""
    return f"{runs}; code=$?; cat {reports} 2>/dev/null; exit $code"


# Builds whose runner reports each test by its name in JUnit XML.
_CTEST = "cmake -S . -B build.whet && cmake --build build.whet && ctest --test-dir build.whet --output-junit report.xml"
_REPORTING = (
    ("pom.xml", WayToTest("maven", _reporting("mvn -o -q -B test", "target/surefire-reports/*.xml"))),
    ("gradlew", WayToTest("gradle", _reporting("./gradlew --offline test", "build/test-results/test/*.xml"))),
    ("CMakeLists.txt", WayToTest("ctest", _reporting(_CTEST, "build.whet/report.xml"))),
)


def _package_way(paths: Collection[str], package: str) -> WayToTest | None:
    try:
        found = msgspec.json.decode(package, type=_Package) if package else _Package()
    except msgspec.MsgspecError:
        return None
    manager = next(manager for lock, manager in LOCKS if not lock or lock in paths)
    script = found.scripts.get("test", "")
    known = {**found.dependencies, **found.development}
    runner = next((name for name in RUNNERS if name in known or name in script.split()), "")
    stages = split(script)
    is_one = len(stages) == 1 and (not runner or runner in stages[0].words)
    by_node = any(stage.program == "node" and "--test" in stage.words for stage in stages)
    if script and (is_one or not (runner or by_node)):
        separator = "-- " if manager == "npm" else ""
        told = RUNNERS[runner].removeprefix("run ") + " " if runner else ""
        return WayToTest(manager if manager != "bun" else "bun run", f"{manager} run test {separator}{told}{FILES}")
    if runner:
        return WayToTest(runner, f"node_modules/.bin/{runner} {RUNNERS[runner]} {FILES}")
    if manager == "bun" and any(SCRIPT_NAME.search(path) for path in paths):
        return WayToTest("bun", f"bun test {FILES}")
    if by_node or (package and any(SCRIPT_NAME.search(path) for path in paths)):
        return WayToTest("node", f"node --test {FILES}")
    return None


class _Package(msgspec.Struct, frozen=True):
    scripts: dict[str, str] = {}
    dependencies: dict[str, str] = {}
    development: dict[str, str] = msgspec.field(default={}, name="devDependencies")


def own_way(command: str) -> WayToTest:
    """The way that a person names: the command as it is, with the test files where it says {files}."""
    return WayToTest("pytest" if "pytest" in command else OWN, command)


def runs_tests(step: JudgedCall) -> bool:
    """Whether a call runs tests, also by a script of the project's own: `./dev test`, or one that is named for it."""
    call = step.exchange.call
    if step.is_named_check:
        return True
    stages = written(command_of(call)) if is_shell(step) else ()
    pairs = (stage.words[stage.program : stage.program + 2] for stage in stages)
    return bool(checks_of(call) & TESTERS) or any("/" in pair[0] and pair[1] in TESTERS for pair in pairs if pair[1:])


def way_of_session(transcript: Transcript) -> WayToTest | None:
    """The last command by which a session ran its tests, if it can be run elsewhere."""
    ran = [step for step in gather(transcript).steps if step.worked and is_shell(step) and runs_tests(step)]
    lines = (command_of(step.exchange.call).strip() for step in reversed(ran))
    found = next((line for line in lines if not transcript.folder or transcript.folder not in line), "")
    return own_way(with_files(found)) if found else None


def with_files(line: str) -> str:
    """A command by which tests were run, with a place for the files in that of those that it names."""
    words = line.split(" ")
    named = [place for place, word in enumerate(words) if TEST_NAME.search(word.strip("'\"").partition("::")[0])]
    if not named:
        return line
    kept = (FILES if place == named[0] else word for place, word in enumerate(words) if place not in named[1:])
    return " ".join(kept)


def counts(path: str, work: Collection[str], reached: Collection[str]) -> bool:
    """Whether what an agent left there is its work: a file of the task, or a program that is no part of the check."""
    if path in work:
        return True
    hidden = any(part.startswith(".") for part in path.split("/"))
    ending = path.rpartition(".")[2].lower() if "." in path else ""
    return ending in SOURCE and not hidden and not is_test(path) and path not in reached


def reached_by(command: str, paths: Collection[str], read: Callable[[str], str]) -> frozenset[str]:
    """The files at the start that a command names, or that files name which are reached: scripts and configuration.

    What lies at the top and is no program is taken for reached: a runner looks there without being told.
    """
    known, found = frozenset(paths), set[str]()
    queue = [command, *(read(path) for path in paths if "/" not in path and not counts(path, (), ()))]
    while queue:
        named = {word.removeprefix("./") for word in WORD.split(queue.pop())} & known
        queue += [read(path) for path in named - found]
        found |= named
    return frozenset(found)


def twisted(text: str) -> str:
    """A test with other numbers in it, which the right work no longer passes."""
    return NUMBER.sub(lambda found: str(int(found[0][:30]) + 1), text)


def numbers_in(texts: Iterable[str]) -> frozenset[str]:
    """The numbers of more than one digit in texts."""
    return frozenset(value for text in texts for value in LONG_NUMBER.findall(text))


def copied_answers(added: Iterable[str], tests: Iterable[str], known: Collection[str]) -> frozenset[str]:
    """Numbers in what a work added that stand in the tests it could read, and are none of those that are known."""
    return (numbers_in(added) & numbers_in(tests)) - frozenset(known)
