"""Cases of `claude plugin eval`: read into ours and written from them, as far as both say the same.

Such a case has graders with weights and a score; ours pass or do not. All graders become demands that must hold.
"""

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import yaml
from msgspec.structs import replace

from whet.errors import WhetError
from whet.text.front_matter import split
from whet.trials.cases import Case, Limits, is_inside
from whet.trials.checks import CallDemand, Check, FileDemand
from whet.trials.shapes import CallShape, TextDemand, pattern_of
from whet_case_formats.exchanged import ReadCase, WrittenCase, plain_case_name

VERSION = "1.0"
CASE_FILE, PROMPT_FILE, GRADERS, SCAFFOLD = "case.yaml", "prompt.md", "graders/", "scaffold.sh"
MOST_TURNS, MOST_SECONDS = 200, 3_600
TOOLS = ("Read", "Write", "Edit", "Glob", "Grep", "Bash")
EXECUTION = ("max_turns", "timeout_seconds", "allowed_tools", "env", "append_system_prompt", "model")
LAST = "last_message"


class EvalFile(msgspec.Struct, frozen=True):
    """A file that a grader looks at."""

    path: str
    source: str = "file"


class EvalGrader(msgspec.Struct, frozen=True):
    """One grader, with the fields of all kinds."""

    type: str
    name: str = ""
    target: str | EvalFile = LAST
    focus: str | EvalFile = LAST
    pattern: str = ""
    flags: str = ""
    match: str = "contains"
    tool: str = ""
    input_match: str = ""
    min: int | None = None
    max: int | None = None
    path: str = ""
    exists: bool = True
    criteria: str = ""


class EvalExecution(msgspec.Struct, frozen=True):
    """How a case is run."""

    prompt: str = ""
    max_turns: int = 10
    timeout_seconds: int = 300
    env: dict[str, str] = {}
    append_system_prompt: str = ""


class EvalContext(msgspec.Struct, frozen=True):
    """What a case begins with."""

    scaffold_script: str = ""
    history_file: str = ""
    add_dirs: list[str] = []


class EvalCase(msgspec.Struct, frozen=True):
    """A case as its folder says it."""

    name: str = ""
    tags: list[str] = []
    context: EvalContext = EvalContext()
    execution: EvalExecution = EvalExecution()
    graders: list[EvalGrader] = []


def read_claude_eval(folder: str, files: Mapping[str, str]) -> ReadCase:
    """A case from the texts of its folder, by their paths in it."""
    name = plain_case_name(folder)
    try:
        found = _gathered(files)
    except (yaml.YAMLError, msgspec.MsgspecError, WhetError) as fault:
        return ReadCase(name, None, (f"it cannot be read: {fault}",))
    name = plain_case_name(found.name or folder)
    check, left_out = Check(), list(_left_out(found))
    if found.context.history_file:
        return ReadCase(name, None, ("it goes on from a recorded conversation",))
    for grader in found.graders:
        graded = _with(check, grader)
        if isinstance(graded, Check):
            check = graded
        else:
            left_out.append(f"grader {grader.name or grader.type}: {graded}")
    script = files.get(found.context.scaffold_script.removeprefix("./"), "")
    case = Case(
        task=found.execution.prompt.strip(),
        check=check,
        name=name,
        setup=(script,) if script else (),
        environment=found.execution.env,
        budget=Limits(model_calls=found.execution.max_turns, seconds=float(found.execution.timeout_seconds)),
        tags=tuple(found.tags),
        source="claude plugin eval",
    )
    if check.is_empty or not case.task:
        return ReadCase(
            name, None, (*left_out, "no grader of it can be carried out here" if case.task else "no prompt")
        )
    return ReadCase(name, case, tuple(left_out))


def _left_out(found: EvalCase) -> Iterator[str]:
    if found.execution.append_system_prompt:
        yield "append_system_prompt"
    if found.context.add_dirs:
        yield "add_dirs"


def _gathered(files: Mapping[str, str]) -> EvalCase:
    """What case.yaml says, with prompt.md and graders/*.md over it."""
    fields: dict[str, Any] = yaml.safe_load(files.get(CASE_FILE, "")) or {}
    if PROMPT_FILE in files:
        head, body = _parted(files[PROMPT_FILE])
        fields["execution"] = {
            **fields.get("execution", {}), **{key: head[key] for key in EXECUTION if key in head}, "prompt": body,
        }  # fmt: skip
        fields |= {"tags": head["tags"]} if "tags" in head else {}
    graders = list(fields.get("graders") or ())
    for path in sorted(path for path in files if path.startswith(GRADERS) and path.endswith(".md")):
        head, body = _parted(files[path])
        text = {"regex": "pattern", "llm": "criteria", "baseline": "criteria"}.get(str(head.get("type")))
        graders.append(
            {"name": path.removeprefix(GRADERS).removesuffix(".md"), **({text: body} if text else {}), **head}
        )
    return msgspec.convert({**fields, "graders": graders}, EvalCase, strict=False)


def _parted(text: str) -> tuple[dict[str, Any], str]:
    found = split(text)
    head = yaml.safe_load(found.head.strip().strip("-")) if found.head else {}
    return head or {}, found.body.strip()


def _with(check: Check, grader: EvalGrader) -> Check | str:
    """The check with one grader more, or why that grader is left out."""
    match grader.type:
        case "regex":
            return _with_pattern(check, grader)
        case "tool_used":
            return _with_call(check, grader)
        case "file_exists":
            if not is_inside(grader.path) or any(sign in grader.path for sign in "*?[{"):
                return "only one file of the workspace can be named"
            wanted = check.files.get(grader.path, FileDemand())
            return replace(check, files={**check.files, grader.path: replace(wanted, absent=not grader.exists)})
        case "llm" if grader.focus == LAST:
            return replace(check, rubric="\n\n".join(filter(None, (check.rubric, grader.criteria.strip()))))
    return "there is no such check here"


def _with_pattern(check: Check, grader: EvalGrader) -> Check | str:
    flags = "".join(flag for flag in "ims" if flag in grader.flags)
    pattern = f"(?{flags}){grader.pattern}" if flags else grader.pattern
    try:
        pattern_of(pattern, grader.name)
    except WhetError:
        return "its pattern is none of RE2"
    if grader.match not in ("contains", "not_contains"):
        return "matches are not counted here"
    field = "all_match" if grader.match == "contains" else "none_match"
    if grader.target == LAST:
        return replace(check, answer=_adding(check.answer or TextDemand(), field, pattern))
    if isinstance(grader.target, EvalFile) and is_inside(grader.target.path):
        wanted = check.files.get(grader.target.path, FileDemand())
        return replace(check, files={**check.files, grader.target.path: _adding(wanted, field, pattern)})
    return "only the last message and single files are looked at"


def _adding(demand: Any, field: str, pattern: str) -> Any:
    return replace(demand, **{field: (*getattr(demand, field), pattern)})


def _with_call(check: Check, grader: EvalGrader) -> Check | str:
    if grader.tool == "Skill":
        return "it tells whether the plugin fired, not whether the task was done"
    least, most = grader.min if grader.min is not None else int(grader.max != 0), grader.max
    calls, shape = check.calls or CallDemand(), CallShape(grader.tool, input=grader.input_match)
    try:
        pattern_of(grader.input_match, grader.name)
    except WhetError:
        return "its pattern is none of RE2"
    if most == 0 and least == 0:
        return replace(check, calls=replace(calls, avoids=(*calls.avoids, shape)))
    if least == 1 and most is None:
        return replace(check, calls=replace(calls, uses=(*calls.uses, shape)))
    return "calls are not counted here"


def write_claude_eval(case: Case) -> WrittenCase:
    """The files of a case for `claude plugin eval`; none where its check has no counterpart there."""
    why = (
        "it is one step of a conversation" if case.kind == "step"
        else "no grader runs a command" if case.check.command
        else "no grader knows a JSON schema" if case.check.json_schema is not None
        else ""
    )  # fmt: skip
    graders = list(_graders(case))
    if why or not graders:
        return WrittenCase({}, (why or "its check has no counterpart",))
    script = _scaffold(case)
    fields: dict[str, Any] = {
        "schema_version": VERSION,
        "name": case.name,
        "tags": list(case.tags),
        "execution": {
            "prompt": case.task,
            "max_turns": min(case.budget.model_calls, MOST_TURNS),
            "timeout_seconds": min(int(case.budget.seconds), MOST_SECONDS),
            "allowed_tools": list(TOOLS),
            "env": case.environment,
        },
        "graders": [{"name": f"{number}-{grader['type']}", **grader} for number, grader in enumerate(graders, 1)],
    }
    if script:
        fields["context"] = {"scaffold_script": SCAFFOLD}
    text = yaml.safe_dump(fields, sort_keys=False, allow_unicode=True, width=120)
    return WrittenCase({CASE_FILE: text, **({SCAFFOLD: script} if script else {})}, tuple(_unsaid(case)))


def _unsaid(case: Case) -> Iterator[str]:
    calls = case.check.calls or CallDemand()
    yield from (f"that {path} is deleted" for path in case.files if (case.check.files.get(path) or FileDemand()).absent)
    if calls.one_of or calls.valid or not calls.repeats_failure:
        yield "calls other than uses and avoids"


def _graders(case: Case) -> Iterator[dict[str, Any]]:
    check = case.check
    if check.answer is not None:
        yield from _patterns(check.answer, LAST)
    for path, wanted in sorted(check.files.items()):
        if path not in case.files:  # such a grader looks only at files that the run made
            yield {"type": "file_exists", "path": path, "exists": not wanted.absent}
        if not wanted.absent:
            yield from _patterns(wanted, {"source": "file", "path": path})
    calls = check.calls or CallDemand()
    for shape in (shape for shape in (*calls.uses, *calls.avoids) if shape.tool):
        counts = {"min": 0, "max": 0} if shape in calls.avoids else {"min": 1}
        pattern = shape.input or _input_of(shape)
        yield {"type": "tool_used", "tool": shape.tool, **({"input_match": pattern} if pattern else {}), **counts}
    if check.rubric:
        yield {"type": "llm", "criteria": check.rubric}


def _input_of(shape: CallShape) -> str:
    pairs = [f'"{re.escape(key)}"\\s*:\\s*{_escaped(msgspec.json.encode(value).decode())}' for key, value in
             sorted(shape.arguments.items())]  # fmt: skip
    return pairs[0] if pairs else ""


def _patterns(wanted: TextDemand, target: object) -> Iterator[dict[str, Any]]:
    found = [("contains", pattern) for pattern in wanted.patterns]
    found += [("not_contains", pattern) for pattern in wanted.none_match]
    found += [("contains", _escaped(text)) for text in wanted.contains]
    found += [("not_contains", _escaped(text)) for text in wanted.lacks]
    if wanted.equals is not None:
        found.append(("contains", f"^\\s*{_escaped(wanted.equals.strip())}\\s*$"))
    for match, pattern in found:
        flags = re.match(r"\(\?([ims]+)\)", pattern)
        plain = pattern[flags.end() :] if flags else pattern
        yield {"type": "regex", "target": target, "pattern": plain, "flags": flags[1] if flags else "", "match": match}


def _escaped(text: str) -> str:
    """A text as a JavaScript pattern for itself."""
    return re.sub(r"[\\^$.*+?()\[\]{}|/]", lambda sign: f"\\{sign[0]}", text)


def _scaffold(case: Case) -> str:
    lines = ["#!/usr/bin/env bash", "set -euo pipefail"]
    for path, text in case.files.items():
        if "/" in path:
            lines.append(f"mkdir -p {shlex.quote(path.rpartition('/')[0])}")
        lines.append(f"printf %s {shlex.quote(text)} > {shlex.quote(path)}")
    lines += [f"chmod {mode} {shlex.quote(path)}" for path, mode in case.modes.items()]
    lines += case.setup
    return "\n".join(lines) + "\n" if case.files or case.setup else ""
