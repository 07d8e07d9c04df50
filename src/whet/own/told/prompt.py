"""The prompt: what an agent is told, in three tiers, the most stable first, as a function of its sources."""

import datetime
import hashlib
from collections.abc import Iterable, Iterator
from enum import StrEnum
from itertools import islice
from typing import NamedTuple

import msgspec

from whet.ledger.holding import WorkLocation, holds
from whet.ledger.patches import TRUSTED, Scope
from whet.own.told.passages import Circumstances, Passage, PassageSlot, chosen, is_tiny, plain_names
from whet.sessions.trust import Trust, lowest
from whet.text import words
from whet.text.quoting import hidden, mark_for, one_line, quoted, shortened, visible
from whet.text.words import filled
from whet.values import Value

KEY_BYTES = 16
BETWEEN = "\n\n"
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class Material(Value, frozen=True):
    """A text for the prompt, and how far it may be believed."""

    text: str
    trust: Trust


class Rule(Value, frozen=True):
    """A rule in force. A foreign one counts only when a person approved exactly this text."""

    text: str
    trust: Trust
    scope: Scope = Scope()
    is_approved: bool = False
    example: str = ""  # told to tiny models alone


class ContextFile(Value, frozen=True):
    """A file that its repository has for agents; `fault` says why it could not be read.

    Of a very large file only the head and the tail are in `text`, and `unread` is the size of what is between them.
    """

    path: str
    text: str = ""
    trust: Trust = Trust.EXTERNAL
    fault: str = ""
    unread: int = 0


class Budgets(Value, frozen=True):
    """How many tokens each part of the prompt may cost at most."""

    identity: int = 4_000
    skills: int = 4_000
    rules: int = 2_000
    file: int = 5_000
    files: int = 15_000
    memory: int = 1_000
    user: int = 600
    external: int = 1_000


class Sources(Value, frozen=True):
    """Everything that the prompt depends on. Guidance comes in with it, so that a person's own can be added."""

    setting: Circumstances = Circumstances()
    guidance: tuple[Passage, ...] = ()
    identity: Material | None = None  # SOUL.md; without one the guidance has a default
    skills: Material | None = None  # the index
    rules: tuple[Rule, ...] = ()  # the oldest first
    caller: Material | None = None
    files: tuple[ContextFile, ...] = ()  # the outermost first
    with_files: bool = True
    memory: Material | None = None
    user: Material | None = None
    external: Material | None = None
    date: datetime.date | None = None
    session: str = ""
    warnings: tuple[str, ...] = ()  # of whoever filled this, for the person
    budgets: Budgets = Budgets()


def line_of(text: str, *, said: str = "") -> str:
    """A rule as one item of a list: what follows its first line is set in, so that none can pass for a heading."""
    body = visible(text).strip()
    mark = f"[{said}] " if said else ""
    return f"- {mark}{body}".replace("\n", "\n  ") if body else ""


def rule_lines(rules: Iterable[Rule], setting: Circumstances, *, budget: int) -> tuple[dict[str, Trust], list[str]]:
    """The operator's rules first, then the others by age, as many as the budget allows, each once, with its trust.

    And what the person should know of the rest. Only a tiny model gets the example of a rule with it.
    """
    project, model, purpose = setting.project, setting.model, setting.purpose
    where = WorkLocation(project, model, tools=setting.tools, purpose=purpose, folder=setting.folder)
    scoped = [rule for rule in rules if holds(rule.scope, where)]
    allowed = [rule for rule in scoped if rule.trust >= TRUSTED or rule.is_approved]
    trusts: dict[str, Trust] = {}
    with_examples = is_tiny(setting)
    for rule in sorted(allowed, key=lambda rule: rule.trust is not Trust.OPERATOR):
        example = f"\nExample: {rule.example}" if rule.example and with_examples else ""
        trusts.setdefault(line_of(f"{rule.text}{example}"), rule.trust)
    lines = words.fitting(filter(None, trusts), budget)
    left_out = {
        "nobody approved their foreign text": len(scoped) - len(allowed),
        "the budget of the rulebook is spent": len(trusts.keys() - {"", *lines}),
    }
    warnings = [f"Rules left out because {why}: {number:,}." for why, number in left_out.items() if number]
    return {line: trusts[line] for line in lines}, warnings


class Tier(StrEnum):
    """How often a part of the prompt changes: with the setting, with the folder, with the day."""

    STABLE = "stable"
    CONTEXT = "context"
    VOLATILE = "volatile"


class Part(Value, frozen=True):
    """What the prompt says about one thing: its place, about how many tokens it costs, and who wrote it."""

    tier: Tier
    name: str
    tokens: int
    trust: Trust


class Prompt(Value, frozen=True):
    """The prompt as it is sent. `warnings` are for the person: what was left out, cut or not readable."""

    stable: str
    context: str
    volatile: str
    parts: tuple[Part, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The hash of what is sent: equal keys, equal bytes."""
        body = msgspec.json.encode((self.stable, self.context, self.volatile))
        return hashlib.blake2b(body, digest_size=KEY_BYTES).hexdigest()

    @property
    def text(self) -> str:
        return BETWEEN.join(tier for tier in (self.stable, self.context, self.volatile) if tier)


class PromptPiece(NamedTuple):
    """A part with its words. Without words it is not sent, and only its warning is kept."""

    tier: Tier
    name: str
    text: str
    trust: Trust
    warning: str = ""


class PromptFrames(NamedTuple):
    """The passages that apply by their slot, and the values of their places."""

    passages: tuple[Passage, ...]
    values: dict[str, str]

    def of(self, slot: PassageSlot) -> Iterator[tuple[str, str]]:
        """Name and filled text of every passage in a slot."""
        for passage in self.passages:
            if passage.slot is slot:
                yield passage.name, filled(passage.text, self.values)

    def around(self, slot: PassageSlot, body: str, *, mark: str = "") -> str:
        """The body in the frame of its slot; bare where there is no frame."""
        frame = next((passage.text for passage in self.passages if passage.slot is slot), "{body}")
        return filled(frame, {**self.values, "body": body, "mark": mark})


def assemble(sources: Sources) -> Prompt:
    """The prompt of a session. The same sources give the same bytes; only volatile sources change the volatile tier."""
    setting = msgspec.structs.replace(sources.setting, tools=plain_names(sources.setting.tools))
    frames = PromptFrames(chosen(sources.guidance, setting), _values(sources))
    pieces = [*_stable(sources, setting, frames), *_context(sources, frames), *_volatile(sources, frames)]
    said = [piece for piece in pieces if piece.text]
    stable, context, volatile = (BETWEEN.join(piece.text for piece in said if piece.tier is tier) for tier in Tier)
    return Prompt(
        stable,
        context,
        volatile,
        parts=tuple(Part(piece.tier, piece.name, words.estimate(piece.text), piece.trust) for piece in said),
        warnings=(*sources.warnings, *(piece.warning for piece in pieces if piece.warning)),
    )


def trust_of(prompt: Prompt) -> Trust:
    """The lowest trust of what a prompt holds: what its agent writes derives from it."""
    return lowest(part.trust for part in prompt.parts) if prompt.parts else Trust.OPERATOR


def _values(sources: Sources) -> dict[str, str]:
    day = sources.date
    return {
        "model": one_line(sources.setting.model) or "not known",
        "provider": one_line(sources.setting.provider) or "a provider that is not known",
        "session": one_line(sources.session),
        # Written out by hand: a time of day in the value must not reach the text.
        "date": f"{day.year:04}-{day.month:02}-{day.day:02}" if day else "",
        "weekday": WEEKDAYS[datetime.date(day.year, day.month, day.day).weekday()] if day else "",
    }


def _stable(sources: Sources, setting: Circumstances, frames: PromptFrames) -> Iterator[PromptPiece]:
    yield from _identity(sources, frames)
    for slot in (PassageSlot.GUIDANCE, PassageSlot.HINT):
        for name, text in frames.of(slot):
            yield PromptPiece(Tier.STABLE, f"{slot}: {name}", text, Trust.OPERATOR)
    yield from _skills(sources, frames)
    yield from _rules(sources, setting, frames)


def _identity(sources: Sources, frames: PromptFrames) -> Iterator[PromptPiece]:
    own = _own(sources.identity)
    if own:
        text, left_out = shortened(own.text, sources.budgets.identity)
        yield PromptPiece(Tier.STABLE, "identity: SOUL.md", text, own.trust, _cut("SOUL.md", left_out))
        return
    yield from _withheld(sources.identity, Tier.STABLE, "identity", "The identity")
    for name, text in islice(frames.of(PassageSlot.IDENTITY), 1):
        yield PromptPiece(Tier.STABLE, f"identity: {name}", text, Trust.OPERATOR)


def _skills(sources: Sources, frames: PromptFrames) -> Iterator[PromptPiece]:
    yield from _withheld(sources.skills, Tier.STABLE, "skills", "The index of skills")
    index = _own(sources.skills)
    if index:
        wanted = index.text.splitlines()
        lines = words.fitting(wanted, sources.budgets.skills)
        left = len({*wanted} - {*lines})
        warning = f"The index of skills is too long: {left:,} of its lines were left out." if left else ""
        body = frames.around(PassageSlot.SKILLS, "\n".join(lines)) if lines else ""
        yield PromptPiece(Tier.STABLE, "skills", body, index.trust, warning)


def _rules(sources: Sources, setting: Circumstances, frames: PromptFrames) -> Iterator[PromptPiece]:
    frame = frames.around(PassageSlot.RULES, "")
    lines, warnings = rule_lines(sources.rules, setting, budget=sources.budgets.rules - words.estimate(frame))
    for warning in warnings:
        yield PromptPiece(Tier.STABLE, "rules", "", Trust.OPERATOR, warning)
    if lines:
        body = frames.around(PassageSlot.RULES, "\n".join(lines))
        yield PromptPiece(Tier.STABLE, "rules", body, lowest(lines.values()))


def _context(sources: Sources, frames: PromptFrames) -> Iterator[PromptPiece]:
    yield from _withheld(sources.caller, Tier.CONTEXT, "caller", "The caller's message")
    caller = _own(sources.caller)
    if caller:
        yield PromptPiece(Tier.CONTEXT, "caller", frames.around(PassageSlot.CALLER, caller.text), caller.trust)
    if sources.with_files:
        yield from _files(sources, frames)


def _files(sources: Sources, frames: PromptFrames) -> Iterator[PromptPiece]:
    own = _own(sources.identity)
    files = _distinct(sources.files, own.text if own else "")
    mark = mark_for(f"{file.path}\0{file.text}" for file in files)
    blocks: list[str] = []
    room = sources.budgets.files
    for file in reversed(files):  # the nearest file counts most, so it is the last to be cut
        text, left_out = shortened(file.text, min(sources.budgets.file, room), mark=mark, unread=file.unread)
        block = quoted(file.path, text, mark=mark)
        room -= words.estimate(block)
        if room >= 0:
            blocks.append(block)
        cut = _cut(file.path, left_out if room >= 0 else len(file.text))
        yield PromptPiece(Tier.CONTEXT, file.path, "", file.trust, cut)
    if blocks:
        body = frames.around(PassageSlot.REPOSITORY, BETWEEN.join(reversed(blocks)), mark=mark)
        name = f"files: {', '.join(one_line(file.path) for file in files)}"
        yield PromptPiece(Tier.CONTEXT, name, body, lowest(file.trust for file in files))
    yield from _findings(sources.files, frames)


def _findings(files: tuple[ContextFile, ...], frames: PromptFrames) -> Iterator[PromptPiece]:
    """What there is to say about files besides their words."""
    for file in files:
        if hidden(file.text):
            warning = f"{one_line(file.path)} contains {hidden(file.text):,} hidden characters, which were left out."
            yield PromptPiece(Tier.CONTEXT, file.path, "", file.trust, warning)
    faults = [f"{one_line(file.path)}: {one_line(file.fault)}" for file in files if file.fault]
    if faults:
        body = frames.around(PassageSlot.UNREADABLE, "\n".join(f"- {fault}" for fault in faults))
        yield PromptPiece(Tier.CONTEXT, "unreadable", body, Trust.OPERATOR, f"Not read: {'; '.join(faults)}")


def _distinct(files: Iterable[ContextFile], identity: str) -> list[ContextFile]:
    """Every text once, under all its names, without those that are empty or say what the identity says already."""
    names: dict[str, list[ContextFile]] = {}
    for file in files:
        text = visible(file.text).strip()
        if text and not file.fault and text != identity:
            names.setdefault(text, []).append(file)
    return [
        ContextFile(
            path=" = ".join(dict.fromkeys(one_line(file.path) for file in same)),
            text=text,
            trust=lowest(file.trust for file in same),
            unread=same[0].unread,
        )
        for text, same in names.items()
    ]


def _volatile(sources: Sources, frames: PromptFrames) -> Iterator[PromptPiece]:
    limits = sources.budgets
    known = (
        ("memory", sources.memory, PassageSlot.MEMORY, limits.memory),
        ("user", sources.user, PassageSlot.USER, limits.user),
    )
    foreign: list[tuple[str, Material]] = []
    for name, material, slot, limit in known:
        own = _own(material)
        if own:
            text, left_out = shortened(own.text, limit)
            cut = _cut(f"The {name} block", left_out)
            yield PromptPiece(Tier.VOLATILE, name, frames.around(slot, text), own.trust, cut)
        elif material and material.text.strip():
            foreign.append((name, material))
    if sources.external and sources.external.text.strip():
        foreign.append(("external memory", sources.external))
    yield from _foreign(foreign, limits.external, frames)
    told = {
        PassageSlot.DATE: sources.date,
        PassageSlot.MODEL: sources.setting.model,
        PassageSlot.PROVIDER: sources.setting.provider,
        PassageSlot.SESSION: sources.session,
    }
    lines = [text for slot, given in told.items() if given for _, text in frames.of(slot)]
    yield PromptPiece(Tier.VOLATILE, "setting", "\n".join(lines), Trust.OPERATOR)


def _foreign(materials: list[tuple[str, Material]], limit: int, frames: PromptFrames) -> Iterator[PromptPiece]:
    """What others wrote, shown as data."""
    texts = [(name, visible(material.text).strip()) for name, material in materials]
    mark = mark_for(text for _, text in texts)
    for (name, text), (_, material) in zip(texts, materials, strict=True):
        kept, left_out = shortened(text, limit, mark=mark)
        body = frames.around(PassageSlot.EXTERNAL, quoted(name, kept, mark=mark), mark=mark)
        yield PromptPiece(Tier.VOLATILE, name, body, material.trust, _cut(f"The {name} block", left_out))


def _own(material: Material | None) -> Material | None:
    """A text of ours as it can be shown: with words in it, and not foreign."""
    text = visible(material.text).strip() if material is not None and material.trust >= TRUSTED else ""
    return Material(text, material.trust) if material is not None and text else None


def _withheld(material: Material | None, tier: Tier, name: str, what: str) -> Iterator[PromptPiece]:
    """The warning that a foreign text is not sent."""
    if material is not None and material.trust < TRUSTED:
        why = f"{what} was left out: it comes from a tool or from outside, and nobody approved it."
        yield PromptPiece(tier, name, "", Trust.OPERATOR, why)


def _cut(name: str, left_out: int) -> str:
    return f"{name} is too long: {left_out:,} of its characters were left out." if left_out else ""
