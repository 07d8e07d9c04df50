"""What a repository's own files say: the scripts that can be run, its packages, and how its formatters are set.

They are read as data and nothing of them is run. One that includes others, or cannot be read, is open: what it does not
name may be there all the same.
"""

import json
import posixpath
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import yaml

from whet.values import Value

LONGEST = 400_000
LONGEST_YAML = 60_000  # its reader is slow
_MAKE_TARGET = re.compile(r"(?m)^([A-Za-z0-9_./$(){}%-][^:=#\n\t]{0,300}?)[ \t]*::?(?!=)(?:[^=\n].*)?$")
_MAKE_OPEN = re.compile(r"(?m)^[ \t]*-?(?:include|sinclude)\b|\$\(eval\b|\$\(foreach\b")
_JUST_RECIPE = re.compile(r"(?m)^@?([A-Za-z_][\w-]*)(?:[ \t]+(?![:=])(?:'[^'\n]*'|\"[^\"\n]*\"|[^:'\"\n]++)*+)?:(?!=)")
_JUST_ALIAS = re.compile(r"(?m)^alias[ \t]+([\w-]+)[ \t]*:=")
_JUST_OPEN = re.compile(r"(?m)^(?:import|mod)\??[ \t]")
_LINE_COMMENT = re.compile(r'(?m)("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*(?s:.*?)\*/')
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_INI = re.compile(r"(?m)^[ \t]*([\w-]+)[ \t]*=[ \t]*(.*?)[ \t]*$")
_SECTION = re.compile(r"(?m)^\[([^\]\n]+)\]")
_GO = re.compile(r"(?m)^go[ \t]+(\d[\d.]*)[ \t]*$")
_REQUIREMENT = re.compile(r"^([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?[ \t]*([^;]*)")
_VERSION_FILE = re.compile(r"^\.(?:nvmrc|([a-z]+)-version)$")
LONGEST_VERSION = 40


class ScriptManifest(Value, frozen=True):
    """One file that names scripts, packages or settings."""

    path: str
    kind: str  # of scripts: package.json, make, just, task, composer, deno, python
    scripts: tuple[tuple[str, str], ...] = ()  # each with what it runs
    package: str = ""  # its name
    packages: tuple[str, ...] = ()  # that it needs
    settings: tuple[
        tuple[str, str], ...
    ] = ()  # of formatters: line-length, indent-style, indent-size, quotes, semicolons
    is_open: bool = False
    pins: tuple[tuple[str, str], ...] = ()  # versions, by the name of what has them
    programs: tuple[str, ...] = ()  # that it makes of this repository


class _Read(NamedTuple):
    """What a reader of one kind of file finds."""

    scripts: Mapping[str, str] = {}
    package: str = ""
    packages: tuple[str, ...] = ()
    settings: Mapping[str, str] = {}
    is_open: bool = False
    pins: Mapping[str, str] = {}
    programs: tuple[str, ...] = ()


def manifest_of(path: str, text: str) -> ScriptManifest | None:
    """What a file says that is one of those; None where it is none."""
    name = posixpath.basename(path)
    known = next(((kind, read) for kind, names, read in READERS if name in names), None)
    kept = _VERSION_FILE.match(name)
    if known is None and kept is None:
        return None
    if kept is not None:  # .node-version and its siblings hold one version
        return ScriptManifest(path, "version", pins=((kept[1] or "node", text[:LONGEST_VERSION].strip()),))
    kind, reader = known or ("", _python)
    if len(text) > LONGEST:
        return ScriptManifest(path, kind, is_open=True)
    try:
        found = reader(text)
    except (ValueError, TypeError, AttributeError, RecursionError, yaml.YAMLError):
        return ScriptManifest(path, kind, is_open=True)
    scripts = tuple((str(name), str(body)) for name, body in found.scripts.items())
    settings = tuple(found.settings.items())
    pins = tuple((name, version) for name, version in found.pins.items() if isinstance(version, str))
    return ScriptManifest(
        path, kind, scripts, found.package, found.packages, settings, found.is_open, pins, found.programs
    )


def is_manifest(path: str) -> bool:
    """Whether a file of this name is one."""
    name = posixpath.basename(path)
    return name in _NAMES or _VERSION_FILE.match(name) is not None


def _package_json(text: str) -> _Read:
    value = json.loads(text)
    fields = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
    needed = tuple(name for field in fields for name in value.get(field) or {})
    manager = str(value.get("packageManager") or "").partition("@")[0]
    settings = {**_prettier_settings(value.get("prettier")), **({"package-manager": manager} if manager else {})}
    pins = {name: version for field in fields for name, version in (value.get(field) or {}).items()}
    pins |= _strings(value.get("engines"))
    name, _, version = str(value.get("packageManager") or "").partition("@")
    pins |= {name: version.partition("+")[0]} if version else {}
    package, made = str(value.get("name") or ""), value.get("bin") or {}
    programs = tuple(made) if isinstance(made, dict) else (package,)
    return _Read(_strings(value.get("scripts")), package, needed, settings, pins=pins, programs=programs)


def _composer(text: str) -> _Read:
    value = json.loads(text)
    needed = value.get("require") or {}
    return _Read(_strings(value.get("scripts")), str(value.get("name") or ""), tuple(needed), pins=needed)


def _deno(text: str) -> _Read:
    value = _json_with_comments(text)
    return _Read(_strings(value.get("tasks")), str(value.get("name") or ""), tuple(value.get("imports") or {}))


def _make(text: str) -> _Read:
    found: dict[str, str] = {}
    is_open = bool(_MAKE_OPEN.search(text))
    for rule in _MAKE_TARGET.finditer(text):
        for target in rule.group(1).split():
            is_open = is_open or "$" in target or "%" in target
            found.setdefault(target, rule.group().partition("##")[2].strip())
    return _Read({name: body for name, body in found.items() if not name.startswith(".")}, is_open=is_open)


def _just(text: str) -> _Read:
    named = (*_JUST_RECIPE.finditer(text), *_JUST_ALIAS.finditer(text))
    return _Read({each.group(1): "" for each in named}, is_open=bool(_JUST_OPEN.search(text)))


def _task(text: str) -> _Read:
    value = _yaml(text)
    tasks = value.get("tasks") or {}
    return _Read(
        {
            name: str((body or {}).get("desc", "")) if isinstance(body, dict) else str(body)
            for name, body in tasks.items()
        },
        is_open=bool(value.get("includes")),
    )


def _python(text: str) -> _Read:
    value = tomllib.loads(text)
    project, tool = value.get("project") or {}, value.get("tool") or {}
    scripts = dict(_strings(project.get("scripts")))
    for name, field in (
        ("poetry", "scripts"),
        ("poe", "tasks"),
        ("pdm", "scripts"),
        ("taskipy", "tasks"),
        ("rye", "scripts"),
    ):
        scripts |= _strings((tool.get(name) or {}).get(field))
    for environment in ((tool.get("hatch") or {}).get("envs") or {}).values():
        scripts |= _strings(environment.get("scripts"))
    length = (tool.get("ruff") or {}).get("line-length") or (tool.get("black") or {}).get("line-length")
    quotes = ((tool.get("ruff") or {}).get("format") or {}).get("quote-style")
    settings = {"line-length": str(length)} if length else {}
    settings |= {"quotes": quotes} if quotes in ("single", "double") else {}
    needed = (_REQUIREMENT.match(each) for each in project.get("dependencies") or ())
    pins = {found[1]: found[2] for found in needed if found and found[2]}
    pins |= {"python": project["requires-python"]} if "requires-python" in project else {}
    programs = tuple(project.get("scripts") or ())
    return _Read(scripts, str(project.get("name") or ""), (), settings, pins=pins, programs=programs)


def _cargo(text: str) -> _Read:
    value = tomllib.loads(text)
    package = value.get("package") or {}
    needed = {**((value.get("workspace") or {}).get("dependencies") or {}), **(value.get("dependencies") or {})}
    versions = {name: each.get("version") if isinstance(each, dict) else each for name, each in needed.items()}
    pins = {name: f"^{each}" if each[:1].isdigit() else each for name, each in versions.items() if each}
    least = package.get("rust-version")
    pins |= {"rust": f">={least}"} if isinstance(least, str) else {}
    programs = tuple(str(each.get("name")) for each in value.get("bin") or ())
    return _Read({}, str(package.get("name") or ""), tuple(needed), pins=pins, programs=programs)


def _rust_toolchain(text: str) -> _Read:
    channel = (tomllib.loads(text).get("toolchain") or {}).get("channel")
    return _Read(pins={"rust": str(channel)} if channel else {})


def _go(text: str) -> _Read:
    least = _GO.search(text)
    return _Read(pins={"go": f">={least[1]}"} if least else {})


def _ruff(text: str) -> _Read:
    value = tomllib.loads(text)
    length, quotes = value.get("line-length"), (value.get("format") or {}).get("quote-style")
    settings = {"line-length": str(length)} if length else {}
    return _Read(settings=settings | ({"quotes": quotes} if quotes in ("single", "double") else {}))


def _rustfmt(text: str) -> _Read:
    value = tomllib.loads(text)
    width = value.get("max_width")
    return _Read(settings={"line-length": str(width)} if width else {})


def _prettier(text: str) -> _Read:
    value = _json_with_comments(text) if text.lstrip().startswith("{") else _yaml(text)
    return _Read(settings=_prettier_settings(value))


def _biome(text: str) -> _Read:
    value = _json_with_comments(text)
    every = value.get("formatter") or {}
    script = (value.get("javascript") or {}).get("formatter") or {}
    found = {
        "line-length": every.get("lineWidth"),
        "indent-style": every.get("indentStyle"),
        "indent-size": every.get("indentWidth"),
        "quotes": script.get("quoteStyle"),
    }
    semicolons = {"always": "yes", "asNeeded": "no"}.get(str(script.get("semicolons")))
    return _Read(settings={name: str(each) for name, each in (*found.items(), ("semicolons", semicolons)) if each})


def _editorconfig(text: str) -> _Read:
    """What holds for every file: the section of all of them."""
    parts = _SECTION.split(text)
    body = next((body for name, body in zip(parts[1::2], parts[2::2], strict=False) if name == "*"), "")
    known = {each.group(1).lower(): each.group(2).lower() for each in _INI.finditer(body)}
    names = {"indent_style": "indent-style", "indent_size": "indent-size", "max_line_length": "line-length"}
    return _Read(settings={names[name]: value for name, value in known.items() if name in names and value.isalnum()})


def _prettier_settings(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        return {}
    found: dict[str, str] = {}
    for name, ours in (("printWidth", "line-length"), ("tabWidth", "indent-size")):
        if isinstance(value.get(name), int):
            found[ours] = str(value[name])
    for name, ours, yes, no in (
        ("useTabs", "indent-style", "tab", "space"),
        ("singleQuote", "quotes", "single", "double"),
        ("semi", "semicolons", "yes", "no"),
    ):
        given = str(value.get(name)).lower()
        if given in ("true", "false"):
            found[ours] = yes if given == "true" else no
    return found


def _strings(value: Any) -> dict[str, str]:
    return {str(name): body if isinstance(body, str) else json.dumps(body) for name, body in (value or {}).items()}


def _json_with_comments(text: str) -> Any:
    plain = _LINE_COMMENT.sub(lambda found: found.group(1) or "", text)
    return json.loads(_TRAILING_COMMA.sub(r"\1", plain))


def _yaml(text: str) -> dict[str, Any]:
    if len(text) > LONGEST_YAML or re.search(r"(?m)(?:^|\s)[&*]\w", text):
        raise ValueError("too long, or one part stands for another")
    value = yaml.load(text, Loader=yaml.BaseLoader)
    return value if isinstance(value, dict) else {}


READERS: tuple[tuple[str, tuple[str, ...], Callable[[str], _Read]], ...] = (
    ("package.json", ("package.json",), _package_json),
    ("composer", ("composer.json",), _composer),
    ("deno", ("deno.json", "deno.jsonc"), _deno),
    ("make", ("Makefile", "makefile", "GNUmakefile"), _make),
    ("just", ("justfile", "Justfile", ".justfile"), _just),
    ("task", ("Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml"), _task),
    ("python", ("pyproject.toml",), _python),
    ("cargo", ("Cargo.toml",), _cargo),
    ("rust", ("rust-toolchain.toml",), _rust_toolchain),
    ("go", ("go.mod",), _go),
    ("ruff", ("ruff.toml", ".ruff.toml"), _ruff),
    ("rustfmt", ("rustfmt.toml", ".rustfmt.toml"), _rustfmt),
    ("prettier", (".prettierrc", ".prettierrc.json", ".prettierrc.yaml", ".prettierrc.yml"), _prettier),
    ("biome", ("biome.json", "biome.jsonc"), _biome),
    ("editorconfig", (".editorconfig",), _editorconfig),
)
_NAMES = frozenset(name for _, names, _ in READERS for name in names)


class RunnerForm(NamedTuple):
    """How a program is told which script to run: the kind of file that has them, and the words before one."""

    kind: str
    words: tuple[str, ...] = ()  # empty: the script comes right after the program
    alone: tuple[str, ...] = ()  # scripts that need no such word
    valued: tuple[str, ...] = ()  # options that take the next word


RUNNERS = {
    "npm": RunnerForm("package.json", ("run", "run-script"), ("test", "start"), ("-w", "--workspace", "--prefix")),
    "pnpm": RunnerForm("package.json", ("run",), ("test", "start"), ("--filter", "-F", "-C", "--dir")),
    "yarn": RunnerForm("package.json", ("run",), (), ("--cwd",)),
    "bun": RunnerForm("package.json", ("run",), (), ("--cwd", "--filter", "-F")),
    "make": RunnerForm("make", valued=("-C", "-f", "-j", "-l", "-I", "-o", "-W", "--directory", "--file")),
    "just": RunnerForm("just", valued=("-f", "-d", "--justfile", "--working-directory")),
    "task": RunnerForm("task", valued=("-d", "-t", "--dir", "--taskfile")),
    "composer": RunnerForm("composer", ("run", "run-script"), (), ("-d", "--working-dir")),
    "deno": RunnerForm("deno", ("task",), (), ("--cwd", "--config", "-c")),
    "poe": RunnerForm("python", valued=("-C", "--directory")),
}
"""Documented forms of programs that run named scripts of a file; one that is not here is not judged."""


class ScriptCall(NamedTuple):
    """A script as a command asks for it."""

    runner: str
    kind: str
    script: str
    is_certain: bool  # the form can mean nothing but a script


def scripts_in(words: tuple[str, ...]) -> Iterator[ScriptCall]:
    """The scripts that one simple command asks for, by the documented form of its program."""
    form = RUNNERS.get(posixpath.basename(words[0])) if words else None
    if form is None:
        return
    runner, plain = words[0], _plain_words(words[1:], form.valued)
    if not form.words:
        for word in plain:
            if "=" not in word:
                yield ScriptCall(runner, form.kind, word, is_certain=True)
                if form.kind != "make":
                    return
        return
    if plain[:1] and plain[0] in form.words:
        for word in plain[1:2]:
            yield ScriptCall(runner, form.kind, word, runner != "yarn" and "/" not in word and "." not in word)
    elif plain[:1] and (plain[0] in form.alone or ":" in plain[0]):
        yield ScriptCall(runner, form.kind, plain[0], is_certain=True)


def _plain_words(words: tuple[str, ...], valued: tuple[str, ...]) -> list[str]:
    """The words of a command up to `--` that are no options, nor the values of any."""
    found: list[str] = []
    skips = False
    for word in words:
        if word == "--":
            break
        if skips:
            skips = False
        elif word.startswith("-"):
            skips = word in valued
        else:
            found.append(word)
    return found
