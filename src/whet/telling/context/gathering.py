"""From the home, the ledger, the machine and the working folder to the sources of a prompt."""

import datetime
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from whet.ledger.entries import Entry
from whet.ledger.folding import fold, was_approved
from whet.ledger.patches import TRUSTED
from whet.own.told.memory import block
from whet.own.told.passages import Circumstances, Passage, passage_of, plain_names
from whet.own.told.prompt import Budgets, ContextFile, Material, Prompt, Rule, Sources, assemble
from whet.own.told.skills import Skill, index, suits
from whet.sessions.tool_families import Family, family_of
from whet.sessions.transcripts import ToolCall
from whet.sessions.trust import Trust
from whet.shipped.guidance import built_in
from whet.store.database import Database
from whet.store.files import guidance_texts, text_in
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.memory_files import MemoryFolder, connected, load
from whet.store.recording import skill_uses
from whet.store.records import keep_prompt, restore_prompt
from whet.store.skill_files import list_skills
from whet.telling.context.finding import find_files
from whet.telling.targets import settings as targets
from whet.trials.told_rules import replaced_by, told_rules

SYSTEMS = {"darwin": "macos", "win32": "windows", "cygwin": "windows"}
KERNEL = Path("proc/sys/kernel/osrelease")
CONTAINER_MARKS = (Path(".dockerenv"), Path("run/.containerenv"))
CONTAINER_VARIABLES = ("container", "KUBERNETES_SERVICE_HOST")
OFF = ("", "0", "false", "no")
SOUL = "SOUL.md"
VAULT_CHARACTERS = 4_000


class Machine(NamedTuple):
    """Where to look."""

    variables: Mapping[str, str]
    root: Path
    system: str
    is_administrator: bool


def this_machine(variables: Mapping[str, str]) -> Machine:
    return Machine(variables, Path("/"), sys.platform, hasattr(os, "geteuid") and os.geteuid() == 0)


def environments(machine: Machine) -> tuple[str, ...]:
    """The words that fit, in the order of the alphabet."""
    variables = machine.variables
    facts = {
        "ci": variables.get("CI", "").lower() not in OFF,
        "container": any((machine.root / mark).exists() for mark in CONTAINER_MARKS)
        or any(variables.get(name) for name in CONTAINER_VARIABLES),
        "root": machine.is_administrator,
        "ssh": bool(variables.get("SSH_CONNECTION")),
        "termux": "TERMUX_VERSION" in variables or "com.termux" in variables.get("PREFIX", ""),
        "wsl": "microsoft" in _kernel(machine).lower(),
    }
    if machine.system in SYSTEMS:
        facts[SYSTEMS[machine.system]] = True
    return tuple(sorted(name for name, holds in facts.items() if holds))


def _kernel(machine: Machine) -> str:
    try:
        return (machine.root / KERNEL).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""  # not Linux, or closed to us: nothing speaks for WSL


class ContextFolder(NamedTuple):
    """A folder whose context files a prompt holds."""

    path: Path
    project: Path | None = None  # that the folder lies in, and that its owner declared their own
    secrets: tuple[str, ...] = ()  # values that must not leave the machine, besides those that look secret


class PromptRequest(NamedTuple):
    """What the prompt of a session is asked for with: the setting, the day, and words of its own."""

    setting: Circumstances
    folder: ContextFolder | None  # None: no context files
    date: datetime.date
    caller: str = ""
    session: str = ""
    draw_id: str = ""  # by which canaries are drawn for it; without one, it is told none
    sets: tuple[str, ...] = ()  # of tools that it has whole
    memory: bool = True  # whether it is given the notes
    profile: bool = True  # whether it is given what the person wrote of themselves


def prompt_for(home: Home, database: Database, request: PromptRequest, *, key: str = "", now: float) -> Prompt:
    """The prompt of a session. With the key that it was given, the same bytes again, whatever has changed since.

    Without one, as for a new session or after a compaction, it is built from what stands now, and stored.
    """
    if key:
        return restore_prompt(database, key)
    prompt = assemble(gather(home, database, request))
    keep_prompt(database, prompt, now=now)
    return prompt


def gather(home: Home, database: Database, request: PromptRequest) -> Sources:
    """Everything that the prompt is made from, as it stands now. What cannot be read is an error or a visible part."""
    soul = text_in(home, SOUL)
    found = list_skills(home.folder) if can_load_skills(request.setting) else ()
    vault = connected(home.folder)
    kept = vault.block(VAULT_CHARACTERS) if vault else ""  # the one file that the person keeps for agents there
    return Sources(
        setting=request.setting,
        guidance=(*built_in(), *own_guidance(home)),
        identity=Material(soul, Trust.OPERATOR) if soul else None,
        skills=_index(database, [each.value for each in found if each.value and _suits(each.value, request)]),
        rules=rules_in_force(ledger_of(home, database).entries(), draw_id=request.draw_id),
        caller=Material(request.caller, Trust.OPERATOR) if request.caller else None,
        files=_context_files(home, request),
        with_files=request.folder is not None,
        memory=_notes(home, "memory") if request.memory else None,
        user=_notes(home, "user") if request.profile else None,
        external=Material(kept, Trust.USER) if kept else None,
        date=request.date,
        session=request.session,
        warnings=(
            *(f"The skill {each.name} was left out: {each.fault}." for each in found if each.fault),
            *(
                (f"The notes in {vault.folder} were left out: the folder does not exist.",)
                if vault and vault.is_lost
                else ()
            ),
        ),
    )


def _context_files(home: Home, request: PromptRequest) -> tuple[ContextFile, ...]:
    if request.folder is None:
        return ()
    written = (Path(target.file) for target in targets.load(home) if target.file)
    path, project, secrets = request.folder
    return find_files(path, secrets=secrets, written=written, project=project)


def can_load_skills(setting: Circumstances) -> bool:
    """Whether an agent with these tools could read a skill that it is told of; where no tools are known, it might."""
    names = plain_names(setting.tools)
    loading = any("skill" in name or family_of(ToolCall("", name)) in (Family.READ, Family.SHELL) for name in names)
    return loading or not names


def _suits(skill: Skill, request: PromptRequest) -> bool:
    """Whether a skill is of use with these tools; where none are known, it might be."""
    names = frozenset(plain_names(request.setting.tools))
    return not names or suits(skill, names.union(request.sets))


def rules_in_force(entries: Iterable[Entry], *, draw_id: str = "") -> tuple[Rule, ...]:
    """The rules for a session, the oldest first. Whether a person approved a foreign one is looked up anew."""
    known = tuple(entries)
    state = fold(known)
    return tuple(
        Rule(item.text, item.trust, item.scope, item.trust < TRUSTED and was_approved(item, known), item.example)
        for item in told_rules(state.rules, replaced_by(state), draw_id)
    )


def _index(database: Database, found: list[Skill]) -> Material | None:
    used = skill_uses(database)
    counted = [replace(skill, uses=used[skill.name].views) if skill.name in used else skill for skill in found]
    text = index(counted, Budgets().skills)
    return Material(text, Trust.AGENT) if text else None


def _notes(home: Home, name: str) -> Material | None:
    """A page of notes. Foreign text comes onto it only by a person's approval or a person's own hand."""
    text = block(load(MemoryFolder(home.folder), name))
    return Material(text, Trust.AGENT) if text else None


def own_guidance(home: Home) -> tuple[Passage, ...]:
    """Passages that the person added in the home folder; one with a built-in name takes its place."""
    return tuple(passage_of(name, text) for name, text in guidance_texts(home).items())
