"""What another agent is told in an attempt: the rules and skills in force, where it reads them in its workspace."""

import os
from pathlib import Path
from typing import NamedTuple

import msgspec

from whet.agents.places import reading
from whet.errors import WhetError
from whet.ledger.patches import Form, Patch
from whet.own.examples import templates
from whet.own.examples.prefills import as_openai
from whet.own.examples.warm_start import examples
from whet.proving.executors import Runner
from whet.proving.overlay import Overlay
from whet.shipped.guidance.warm import words
from whet.store.ledger import Ledger
from whet.store.records import key_of
from whet.store.skill_files import usable
from whet.telling.targets.drawing import offered
from whet.telling.targets.settings import FILE_AGENT, Target
from whet.telling.targets.sync import SyncOrder, sync

REFUSED = {
    Form.TEMPLATE: "begin a session with examples",
    Form.NOTE: "be told notes: memory is Whet's own",
    Form.JOB: "be given jobs",
}


class Instructed(NamedTuple):
    """What an agent reads before it begins, and the hash of all that it can read: rules, skills and their files."""

    text: str
    key: str
    examples: str = ""  # as chat messages


def expect_tellable(runner: Runner, patch: Patch) -> None:
    """Raise WhetError for a change that this agent has no way to be told."""
    reason = "" if patch.form is Form.TEMPLATE and runner.executor.begins_warm else REFUSED.get(patch.form, "")
    if patch.form in (Form.SKILL, Form.FILE) and not runner.skills:
        reason = "find skills: no folder for them is set"
    if reason:
        raise WhetError(
            f"{runner.name} cannot {reason}, so the {patch.form} cannot be tried on it.",
            advice="Try it on Whet's own agent: --agent whet.",
        )


def instruct(overlay: Overlay, runner: Runner, patch: Patch | None) -> Instructed:
    """Write what is in force in the overlay into the workspace, as `whet sync` would. A template's examples are told
    by the agent's own way."""
    work = Path(os.path.realpath(overlay.work))
    files = runner.agent.files if runner.agent else None
    place = reading(files, person=work, environment={}, project=work) if files else None
    file = place.file if place and place.file else work / runner.instructions
    folder = place.skills if place else work / runner.skills if runner.skills else None
    # A rule for interactive sessions is tried too: nobody else would ever try it.
    targets = tuple(
        Target(
            runner.name,
            runner.agent.name if runner.agent else FILE_AGENT,
            str(work),
            str(file),
            str(folder or ""),
            unattended=unattended,
        )
        for unattended in (False, True)
    )
    order = SyncOrder(overlay.home, lambda: offered(overlay.home, Ledger(overlay.database)))
    for change in sync(order, targets):
        if change.kind in ("conflict", "skipped"):
            raise WhetError(
                f"{runner.name} cannot be told of the change: {change.note}", advice="Look at the case's files."
            )
    told = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    copied = sorted(path for path in folder.rglob("*") if path.is_file()) if folder else []
    described = (f"{each.name}: {each.description}" for each in usable(overlay.home.folder)) if folder else ()
    key = key_of(told, [(str(path.relative_to(work)), path.read_bytes()) for path in copied])
    shown = _examples(patch) if patch and patch.form is Form.TEMPLATE else ""
    return Instructed("\n".join((told, *described, shown)), key_of(key, shown), shown)


def _examples(patch: Patch) -> str:
    return msgspec.json.encode(as_openai(examples(templates.read(patch.text, name=patch.name), words()))).decode()
