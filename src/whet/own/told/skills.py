"""Skills: how to do a class of task, in the form of agentskills.io, checked before they are written."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from whet.errors import WhetError
from whet.ledger.patches import digest
from whet.text import front_matter, words
from whet.text.characters import first_hidden
from whet.text.front_matter import Field
from whet.text.likeness import sense, similarity
from whet.values import Value

FILE = "SKILL.md"
FOLDERS = ("references", "templates", "scripts", "assets")
FIELDS = frozenset({"name", "description", "license", "compatibility", "metadata", "allowed-tools"})
NAME_CHARACTERS = 64
DESCRIPTION_CHARACTERS = 1024
COMPATIBILITY_CHARACTERS = 500
# Names and descriptions that are so much alike mean one class of task.
SAME_NAME = 0.83
SAME_DESCRIPTION = 0.6
RELATED_DESCRIPTION = 0.25
SHORT_TOKENS = 24
_PLAIN_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_PARTICULAR = re.compile(r"(?:^|-)(?:\d{3,}|v?\d+(?:-\d+)+|[0-9a-f]*\d[0-9a-f]{6,}|todays?|tomorrow|yesterday)(?:-|$)")
_FILE_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]|\.(?!\.)){0,99}")
_SENTENCE = re.compile(r"(?<=[.!?])\s")


class Skill(Value, frozen=True):
    """A skill as its SKILL.md says. `uses` counts how often it was read."""

    name: str
    description: str
    text: str = ""
    compatibility: str = ""
    requires: tuple[str, ...] = ()  # tools and sets of tools without which it is of no use
    fallback_for: tuple[str, ...] = ()  # tools and sets that it stands in for where they are missing
    other: tuple[str, ...] = ()  # fields that the form does not know; other agents have their own
    uses: int = 0

    @property
    def digest(self) -> str:
        return digest(self.text)

    @property
    def body(self) -> str:
        """The instructions without the front matter."""
        return front_matter.split(self.text).body


def read(text: str) -> Skill:
    """A skill from its text; raises WhetError where it is none."""
    fields = front_matter.parse(text)
    return Skill(
        name=_string(fields, "name"),
        description=_string(fields, "description"),
        text=text,
        compatibility=_string(fields, "compatibility"),
        requires=_conditions(fields, "requires_tools", "requires_toolsets"),
        fallback_for=_conditions(fields, "fallback_for_tools", "fallback_for_toolsets"),
        other=tuple(sorted(fields.keys() - FIELDS)),
    )


def suits(skill: Skill, has: frozenset[str]) -> bool:
    """Whether a skill is of use to an agent with these tools and sets of tools."""
    lacks = any(name not in has for name in skill.requires)
    return not lacks and not any(name in has for name in skill.fallback_for)


def _conditions(fields: dict[str, Field], *keys: str) -> tuple[str, ...]:
    """Names under these keys, at the top or in the metadata, where Hermes has them."""
    metadata = fields.get("metadata")
    places = [fields, metadata, metadata.get("hermes") if isinstance(metadata, dict) else None]
    values = (place.get(key, "") for place in places if isinstance(place, dict) for key in keys)
    found = (name for each in values for name in (front_matter.words(each) if isinstance(each, str) else each))
    return tuple(name for name in found if isinstance(name, str))


def compose(name: str, description: str, body: str) -> str:
    """The text of a new skill."""
    head = f"---\nname: {name}\ndescription: {front_matter.scalar(description)}\n---\n"
    return f"{head}\n{body.strip()}\n"


def faults(skill: Skill, *, folder: str) -> tuple[str, ...]:
    """What keeps a skill from being one of the form, in sentences for people."""
    found = list(name_faults(skill.name))
    if unicodedata.normalize("NFKC", skill.name) != unicodedata.normalize("NFKC", folder):
        found.append(f"its name is {skill.name} but its folder is {folder}")
    if not skill.description.strip():
        found.append("it has no description")
    if len(skill.description) > DESCRIPTION_CHARACTERS:
        found.append(
            f"its description is {len(skill.description):,} characters; the limit is {DESCRIPTION_CHARACTERS:,}"
        )
    if len(skill.compatibility) > COMPATIBILITY_CHARACTERS:
        found.append(f"its compatibility is longer than {COMPATIBILITY_CHARACTERS} characters")
    if name := first_hidden(skill.text.removeprefix("\ufeff")):
        found.append(f"it contains an invisible character: {name}")
    return tuple(found)


def strict_faults(skill: Skill, *, folder: str) -> tuple[str, ...]:
    """What Whet does not write itself, beside what the form forbids."""
    found = list(faults(skill, folder=folder))
    if skill.other:
        found.append(f"it has unknown fields: {', '.join(skill.other)}")
    if not _PLAIN_NAME.fullmatch(skill.name):
        found.append("its name has characters other than a to z, digits and hyphens")
    # The reference reader takes any three dashes for the end of the front matter.
    if front_matter.split(skill.text).head.count(front_matter.FENCE) > 2:
        found.append("a value in its front matter contains three dashes")
    if not skill.body.strip():
        found.append("it has no instructions")
    return tuple(found)


def name_faults(name: str) -> tuple[str, ...]:
    """What is wrong with a name; whatever has none of these is safe as the name of a folder."""
    is_plain = name == name.lower() and all(character.isalnum() or character == "-" for character in name)
    wrong = {
        "it has no name": not name,
        f"its name is longer than {NAME_CHARACTERS} characters": len(name) > NAME_CHARACTERS,
        "its name may contain only lower-case letters, digits and hyphens": not is_plain,
        "its name starts or ends with a hyphen, or has two in a row": name.strip("-") != name or "--" in name,
    }
    return tuple(fault for fault, is_so in wrong.items() if is_so)


def file_names(path: str) -> tuple[str, ...]:
    """The names that lead to a support file beneath its skill; raises WhetError where it is none."""
    names = tuple(path.split("/"))
    if not 2 <= len(names) <= 5 or names[0] not in FOLDERS or any(not _FILE_NAME.fullmatch(name) for name in names):
        raise WhetError(
            f"{path!r} is not a valid name for a support file.",
            advice=f"It looks like references/guide.md; the folders are {', '.join(FOLDERS)}.",
        )
    return names


def particular(name: str) -> bool:
    """Whether a name is that of one ticket, version or day, and not of a class of tasks."""
    return _PARTICULAR.search(name) is not None


def umbrella(name: str, description: str, others: Iterable[Skill]) -> Skill | None:
    """The skill that is there already for what a new one would be for, the most alike first."""
    meant = sense(description).words
    scored = [(_likeness(name, meant, other), other.name, other) for other in others if other.name != name]
    best = max(scored, default=None, key=lambda score: (score[0], score[1]))
    return best[2] if best and best[0] >= 1.0 else None


def replace_once(text: str, old: str, new: str) -> str:
    """The text with `new` in the place of `old`, which must stand there exactly once."""
    count = text.count(old) if old else 0
    if count != 1:
        raise WhetError(
            f"The words to replace occur {count} times." if old else "There are no words to replace.",
            advice="Give the exact words, with enough context that they occur once.",
        )
    return text.replace(old, new)


def index(skills: Sequence[Skill], budget_tokens: int) -> str:
    """A list of skills for the prompt within a budget: shorter descriptions first, then names, then the most used."""
    ordered = sorted(skills, key=lambda skill: skill.name)
    by_use = sorted(ordered, key=lambda skill: -skill.uses)

    def listed(number: int) -> str:
        """The names of the skills that are read most, and how many were left out."""
        names = ", ".join(sorted(skill.name for skill in by_use[:number]))
        return names if number == len(ordered) else f"{names}, and {len(ordered) - number} more"

    for described in (" ".join, _shortened):
        lines = "\n".join(f"- {skill.name}: {described(skill.description.split())}" for skill in ordered)
        if words.estimate(lines) <= budget_tokens:
            return lines
    most = bisect_right(range(1, len(ordered) + 1), budget_tokens, key=lambda number: words.estimate(listed(number)))
    return listed(most) if most else ""


def _shortened(description: Iterable[str]) -> str:
    first = _SENTENCE.split(" ".join(description), maxsplit=1)[0]
    if words.estimate(first) <= SHORT_TOKENS:
        return first
    return words.head(first, SHORT_TOKENS).rsplit(" ", 1)[0] + "…"


def _likeness(name: str, meant: frozenset[str], other: Skill) -> float:
    """1 or more where two skills are for one class of tasks: by name, by description, or by some of both."""
    mine, theirs = _words(name), _words(other.name)
    described = similarity(meant, sense(other.description).words)
    named = 1.0 if mine == theirs else SequenceMatcher(None, name, other.name).ratio()
    within = bool(mine and theirs) and (mine <= theirs or theirs <= mine)
    return max(
        1.0 + named if named >= SAME_NAME else 0.0,
        described / SAME_DESCRIPTION,
        1.0 + described if within and described >= RELATED_DESCRIPTION else 0.0,
    )


def _words(name: str) -> frozenset[str]:
    return sense(name.replace("-", " ")).words


def _string(fields: dict[str, Field], key: str) -> str:
    value = fields.get(key, "")
    if not isinstance(value, str):
        raise WhetError(f"The field {key} of the front matter is not one text.", advice=f"Write `{key}: text`.")
    return value.strip()
