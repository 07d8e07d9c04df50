"""Passages of guidance: built-in text for the prompt, and the setting in which each one applies."""

import re
from collections.abc import Iterable
from enum import StrEnum
from fnmatch import fnmatchcase

from whet.errors import WhetError
from whet.sessions.tool_families import family_of
from whet.sessions.transcripts import ToolCall
from whet.text.front_matter import document, words
from whet.text.words import plain_name
from whet.values import Value

SMALL_BILLIONS = 15.0
TINY_BILLIONS = 1.0
SMALL_SIZES = ("small", "tiny")
SMALL_NAMES = ("tinyllama", "smollm", "phi-3-mini", "phi-4-mini", "phi3:mini", "phi4-mini")
DEFAULT_ORDER = 50
_BILLIONS = re.compile(r"(?<![a-z0-9.])(?:(\d+)x)?e?(\d+(?:\.\d+)?)b(?![a-z0-9])")
LISTS = ("tools", "families", "models", "providers", "purposes", "platforms", "environments")
ALWAYS, NEVER = (("always",), ("on",)), (("never",), ("off",))  # a switch means what people expect of one
FIELDS = frozenset({*LISTS, "slot", "order", "size", "enforcement"})
SIZES = ("", "small", "large")


class PassageSlot(StrEnum):
    """Where a passage stands in the prompt. Those below `hint` are frames: `{body}` is what they hold."""

    IDENTITY = "identity"
    GUIDANCE = "guidance"
    HINT = "hint"
    SKILLS = "skills"
    RULES = "rules"
    CALLER = "caller"
    REPOSITORY = "repository"
    UNREADABLE = "unreadable"
    MEMORY = "memory"
    USER = "user"
    EXTERNAL = "external"
    DATE = "date"
    MODEL = "model"
    PROVIDER = "provider"
    SESSION = "session"
    CALLS = "calls"  # tools for a model that calls them in plain text
    RESULT = "result"  # what a tool answered such a model


class Passage(Value, frozen=True):
    """A piece of guidance. Of each list that is not empty one word must fit, and all lists must agree."""

    name: str
    text: str
    slot: PassageSlot = PassageSlot.GUIDANCE
    order: int = DEFAULT_ORDER
    tools: tuple[str, ...] = ()  # names, with `*` for the rest of one
    families: tuple[str, ...] = ()  # of tools
    models: tuple[str, ...] = ()  # what the model's name holds
    providers: tuple[str, ...] = ()
    purposes: tuple[str, ...] = ()
    platforms: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    size: str = ""  # small or large
    enforcement: bool = False  # applies as the enforcement setting says


class Circumstances(Value, frozen=True):
    """What decides which passages and rules apply. Names of tools are in their plain form."""

    tools: tuple[str, ...] = ()
    model: str = ""
    provider: str = ""
    purpose: str = "interactive"
    platform: str = ""
    environments: tuple[str, ...] = ()
    enforcement: tuple[str, ...] = ("auto",)  # auto, always (on), never (off), or what the model's name holds
    size: str = ""  # small or large; empty: as the model's name says
    project: str = ""  # in which it works; empty: none
    folder: str = ""


def passage_of(name: str, source: str) -> Passage:
    """A passage from its file. An unknown field is refused: it would silently apply too often."""
    fields, text = document(source, name=name)
    unknown = sorted(set(fields) - FIELDS)
    slot, order, size = fields.get("slot", "guidance"), fields.get("order", str(DEFAULT_ORDER)), fields.get("size", "")
    enforcement = fields.get("enforcement", "no")
    faults = {
        f"the field {', '.join(unknown[:1])}, which is not known": bool(unknown),
        f"the slot {slot}, which is not known": slot not in tuple(PassageSlot),
        "an order that is not a number": not order.isdecimal(),
        "a size that is neither small nor large": size not in SIZES,
        "an enforcement that is neither yes nor no": enforcement not in ("yes", "no"),
        "no text": not text,
    }
    wrong = next((fault for fault, is_so in faults.items() if is_so), "")
    if wrong:
        raise WhetError(f"The guidance {name} has {wrong}.", advice=f"Fields: {', '.join(sorted(FIELDS))}.")
    return Passage(
        name=name,
        text=text,
        slot=PassageSlot(slot),
        order=int(order),
        size=size,
        enforcement=enforcement == "yes",
        **{key: tuple(word.lower() for word in words(fields.get(key, ""))) for key in LISTS},
    )


def chosen(passages: Iterable[Passage], setting: Circumstances) -> tuple[Passage, ...]:
    """The passages that apply, in the order in which they stand; of two with one name the later replaces the other."""
    latest = {passage.name: passage for passage in passages}
    fitting = (passage for passage in latest.values() if applies(passage, setting))
    return tuple(sorted(fitting, key=lambda passage: (passage.order, passage.name)))


def applies(passage: Passage, setting: Circumstances) -> bool:
    model = setting.model.lower()
    return (
        (not passage.tools or any(fnmatchcase(tool, each) for each in passage.tools for tool in setting.tools))
        and (not passage.families or any(family_of(ToolCall("", tool)) in passage.families for tool in setting.tools))
        and (not passage.providers or setting.provider.lower() in passage.providers)
        and (not passage.purposes or setting.purpose in passage.purposes)
        and (not passage.platforms or setting.platform.lower() in passage.platforms)
        and (not passage.environments or not set(setting.environments).isdisjoint(passage.environments))
        and (not passage.size or (passage.size == "small") is is_small(setting))
        and (_is_enforced(passage, setting) if passage.enforcement else _holds(model, passage.models))
    )


def is_small(setting: Circumstances) -> bool:
    """Whether the model is small: as the setting says, else as its name does."""
    return (setting.size or size_of(setting.model)) in SMALL_SIZES


def is_tiny(setting: Circumstances) -> bool:
    """Whether the model is so small that examples help it, where rules alone do not."""
    billions = _billions(setting.model)
    return setting.size == "tiny" or (not setting.size and bool(billions) and max(billions) <= TINY_BILLIONS)


def size_of(model: str) -> str:
    """Whether a model is small, as far as its name tells: by its billions of parameters, all experts together."""
    name = model.lower()
    billions = _billions(name)
    small = max(billions) <= SMALL_BILLIONS if billions else any(word in name for word in SMALL_NAMES)
    return "small" if small else "large"


def _billions(model: str) -> list[float]:
    return [float(size) * int(experts or 1) for experts, size in _BILLIONS.findall(model.lower())]


def plain_names(tools: Iterable[str]) -> tuple[str, ...]:
    """Names of tools in one spelling and one order, each once."""
    return tuple(sorted({plain_name(tool) for tool in tools} - {""}))


def _holds(model: str, parts: tuple[str, ...]) -> bool:
    return not parts or any(part.lower() in model for part in parts)


def _is_enforced(passage: Passage, setting: Circumstances) -> bool:
    """Without a tool there is nothing to enforce."""
    chosen = tuple(part.lower() for part in setting.enforcement)
    if not setting.tools or chosen == () or chosen in (*NEVER, *ALWAYS):
        return bool(setting.tools) and chosen in ALWAYS
    return _holds(setting.model.lower(), passage.models if chosen == ("auto",) else chosen)
