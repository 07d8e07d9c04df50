"""Harbor tasks: read into cases and written from them, as far as they need no container.

A case is carried out in a folder and not in an image: what a Dockerfile copies and sets is taken over, what it installs
must be on the machine.
"""

import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from whet.text import toml
from whet.trials.cases import Case, Limits, is_inside
from whet.trials.checks import Check
from whet_case_formats.exchanged import ReadCase, WrittenCase, plain_case_name

TASK_FILE, INSTRUCTION, DOCKERFILE, TEST = "task.toml", "instruction.md", "environment/Dockerfile", "tests/test.sh"
FOLDER = "/app"  # where exported tasks work
OWN = ".harbor"  # what Harbor has at the top of its container stands in this folder of the workspace
REWARD = f"{OWN}/logs/verifier/reward.txt"
VERIFY = (
    f'mkdir -p {OWN}/logs/verifier && HARBOR_ROOT="$PWD" bash {OWN}/tests/test.sh;'
    f" awk 'NR == 1 {{ reward = $1 }} END {{ exit !(reward >= 1) }}' {REWARD}"
)
IMAGE = "python:3.12-slim"
TURNS = 40
SECONDS = 600.0
_INSTALLS = re.compile(r"\b(?:apt-get|apt|apk|yum|dnf|pip3?|uv|npm|curl|wget|conda|useradd|chown)\b")


class Dockered(NamedTuple):
    """What a Dockerfile says that a folder can have too, and what it cannot."""

    folder: str
    files: dict[str, str]
    setup: tuple[str, ...]
    environment: dict[str, str]
    left_out: tuple[str, ...]


def is_harbor_task(files: Mapping[str, str]) -> bool:
    return TASK_FILE in files and INSTRUCTION in files


def read_harbor_task(folder: str, files: Mapping[str, str]) -> ReadCase:
    """A case from the texts of a task's folder, by their paths in it."""
    name = plain_case_name(folder)
    try:
        config: dict[str, Any] = tomllib.loads(files[TASK_FILE])
    except tomllib.TOMLDecodeError as fault:
        return ReadCase(name, None, (f"task.toml cannot be read: {fault}",))
    why = (
        "it has several steps" if any(path.startswith("steps/") for path in files)
        else "it has no tests/test.sh" if TEST not in files
        else "it goes on from a recorded conversation" if "trajectory.json" in files
        else "it gives its reward as JSON" if not any("reward.txt" in text for text in _tests(files).values())
        else "its containers are several" if any(path.startswith("environment/docker-compose") for path in files)
        else ""
    )  # fmt: skip
    if why:
        return ReadCase(name, None, (why,))
    found = _dockered(files)
    verifier, agent = _table(config, "verifier"), _table(config, "agent")
    environment = {key: str(value) for key, value in _table(verifier, "env").items() if "${" not in str(value)}
    seconds = _seconds(verifier.get("timeout_sec"))
    put = {
        f"{OWN}/{path}": _moved(text, found.folder, is_script=path.endswith(".sh"))
        for path, text in _tests(files).items()
    }
    case = Case(
        task=files[INSTRUCTION].strip().replace(f"{found.folder}/", ""),
        check=Check(command=VERIFY, seconds=seconds, put=put),
        name=name,
        files=found.files,
        setup=found.setup,
        environment={**found.environment, **environment},
        budget=Limits(model_calls=TURNS, seconds=_seconds(agent.get("timeout_sec"))),
        tags=tuple(str(tag) for tag in _table(config, "metadata").get("tags", ())),
        source="harbor",
    )
    return ReadCase(name, case, found.left_out)


def _tests(files: Mapping[str, str]) -> dict[str, str]:
    return {path: text for path, text in files.items() if path.startswith("tests/")}


def _table(fields: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = fields.get(key)
    return value if isinstance(value, dict) else {}


def _seconds(value: object) -> float:
    return float(value) if isinstance(value, int | float) else SECONDS


def _dockered(files: Mapping[str, str]) -> Dockered:
    folder = "/"
    found: dict[str, str] = {}
    environment: dict[str, str] = {}
    setup: list[str] = []
    left_out: list[str] = []
    beside = {
        path.removeprefix("environment/"): text for path, text in files.items() if path.startswith("environment/")
    }
    for word, rest in _instructions(files.get(DOCKERFILE, "")):
        if word == "WORKDIR":
            folder = rest if rest.startswith("/") else f"{folder.rstrip('/')}/{rest}"
        elif word in ("COPY", "ADD"):
            copied = _copied(rest, folder, beside)
            found |= copied
            left_out += [] if copied else [f"{word} {rest}"]
        elif word == "ENV":
            environment |= dict(pair.split("=", 1) for pair in shlex.split(rest) if "=" in pair and "$" not in pair)
        elif word == "RUN" and not _INSTALLS.search(rest) and not re.search(r"(?:^|\s)/(?!app\b|dev/null)", rest):
            setup.append(_moved(rest, folder))
        elif word != "FROM":
            left_out.append(f"{word} {rest}"[:200])
    return Dockered(folder if folder != "/" else FOLDER, found, tuple(setup), environment, tuple(left_out))


def _instructions(text: str) -> Iterator[tuple[str, str]]:
    joined = re.sub(r"\\\n", " ", "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#")))
    for line in joined.splitlines():
        word, _, rest = line.strip().partition(" ")
        if word:
            yield word.upper(), " ".join(rest.split())


def _copied(rest: str, folder: str, beside: Mapping[str, str]) -> dict[str, str]:
    """The files that a COPY puts into the working folder; nothing for what it puts elsewhere."""
    *sources, target = [word for word in shlex.split(rest) if not word.startswith("--")] or [""]
    inside = target if not target.startswith("/") else target.removeprefix(folder.rstrip("/"))
    if inside == target and target.startswith("/"):
        return {}
    place = inside.strip("/").removeprefix(".").strip("/")
    found: dict[str, str] = {}
    for source in (each.removeprefix("./").rstrip("/").removesuffix("/.") for each in sources):
        for path, text in beside.items():
            if path == "Dockerfile" and source != "Dockerfile":
                continue
            if path == source:
                is_folder = len(sources) > 1 or target.endswith("/") or target in (".", folder)
                found["/".join(filter(None, (place, path.rpartition("/")[2] if is_folder else "")))] = text
            elif source in ("", ".") or path.startswith(f"{source}/"):
                below = path if source in ("", ".") else path.removeprefix(f"{source}/")
                found["/".join(filter(None, (place, below)))] = text
    return {path: text for path, text in found.items() if is_inside(path)}


def _moved(text: str, folder: str, *, is_script: bool = True) -> str:
    """A text with the places of a container made places of the workspace, in which its programs are started."""
    root = "${HARBOR_ROOT:-$PWD}" if is_script else "."
    for place in ("/logs/verifier", "/tests"):
        text = re.sub(rf"(?<![\w./-]){place}(?=[/\s\"';)]|$)", f"{root}/{OWN}{place}", text)
    return re.sub(rf"(?<![\w./-]){re.escape(folder)}(?=[/\s\"';)]|$)", root, text) if folder != "/" else text


def write_harbor_task(case: Case, files: Mapping[str, str], tests: Mapping[str, str]) -> WrittenCase:
    """The files of a case as a Harbor task, given those of its workspace and those put in place for its check."""
    check = case.check
    why = (
        "it is one step of a conversation" if case.kind == "step"
        else "its check has no command" if not check.command
        else "its check looks at more than files" if check.answer or check.calls or check.rubric or check.json_schema
        else ""
    )  # fmt: skip
    if why:
        return WrittenCase({}, (why,))
    host = case.repository.path if case.repository else ""
    setup = [command for command in case.setup if not host or host not in command]
    command = re.sub(rf"{re.escape(host)}/\S*bin/python3?\b", "python3", check.command) if host else check.command
    left_out = [f"setup: {each}" for each in case.setup if each not in setup]
    left_out += [f"the command names {host}"] if host and host in command else []
    left_out += ["what the check demands of files"] if check.files else []
    config = {
        "version": "1.0",
        "metadata": {
            "author_name": "whet",
            "difficulty": "unknown",
            "category": "programming",
            "tags": list(case.tags),
        },
        "verifier": {"timeout_sec": check.seconds},
        "agent": {"timeout_sec": case.budget.seconds},
        "environment": {"build_timeout_sec": SECONDS},
    }
    written = {
        TASK_FILE: toml.table(config),
        INSTRUCTION: f"{case.task.strip()}\n",
        DOCKERFILE: _dockerfile(case, setup, has_files=bool(files)),
        TEST: _test_script(command, check.exit_code or 0, has_tests=bool(tests)),
        **{f"environment/files/{path}": text for path, text in files.items()},
        **{f"tests/files/{path}": text for path, text in tests.items()},
    }
    return WrittenCase(written, tuple(left_out))


def _dockerfile(case: Case, setup: list[str], *, has_files: bool) -> str:
    lines = [f"FROM {IMAGE}", f"WORKDIR {FOLDER}"]
    lines += [f"ENV {name}={shlex.quote(value)}" for name, value in case.environment.items()]
    lines += [f"COPY files/ {FOLDER}/"] if has_files else []
    lines += [f"RUN chmod {mode} {shlex.quote(path)}" for path, mode in case.modes.items()]
    lines += [f"RUN {command}" for command in setup if "\n" not in command]
    return "\n".join(lines) + "\n"


def _test_script(command: str, exit_code: int, *, has_tests: bool) -> str:
    copy = f"cp -R /tests/files/. {FOLDER}/\n" if has_tests else ""
    return (
        f"#!/bin/bash\ncd {FOLDER}\n{copy}(\n{command}\n)\n"
        f"if [ $? -eq {exit_code} ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n"
    )
