"""What becomes of what a call left for other programs to run: taken aside, asked about, or reported to the person."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from whet.agent.inspection.inspecting import Leftover
from whet.agent.inspection.triggers import HIDDEN, MOST_FOLDERS, SETTINGS, Trigger, TriggerAction
from whet.agent.tools.situation import ApprovalQuestion, CallContext, ToolOutput, ToolState, failed, refused
from whet.sessions.transcripts import Disposition
from whet.text.quoting import one_line

# By these names git knows a repository, whatever the folder around them is called.
REPOSITORY_NAMES = frozenset({"head", "commondir", "config", "config.worktree", "hooks", "objects", "refs"})
TOO_LARGE = (
    f"The working folder contains more than {MOST_FOLDERS:,} folders; of the rest Whet inspects only repositories that"
    " git enters from these."
)
REMADE = "Removed compiled Python files that commands left beside their source ({}); Python makes them again."
MOST_NAMED = 40
CHANGED = "changed.txt"
SHOWN_CHARACTERS = 20_000


def write(occasion: CallContext, tool: str, path: str, shown: str, put: Callable[[], ToolOutput]) -> ToolOutput:
    """Write a file by `put`, after the person was asked where another program runs or obeys such a file on its own."""
    workplace = occasion.workplace
    names = workplace.guard.names(path)
    trigger = workplace.inspection.trigger_of(names)
    if trigger is None and REPOSITORY_NAMES.isdisjoint(name.lower() for name in names):
        return put()
    place = str(workplace.guard.folder.joinpath(*names))
    if trigger is not None and trigger.care is not TriggerAction.REPORTED:
        answer = _refused(occasion, tool, trigger, f"{path}\n{_quoted(shown)}")
        if answer is not None:
            return answer
        workplace.inspection.allowed.add(place)
    said = begin(workplace)
    try:
        return settled_call(workplace, put(), said)
    finally:
        workplace.inspection.allowed.discard(place)


def _refused(occasion: CallContext, tool: str, trigger: Trigger, shown: str) -> ToolOutput | None:
    why = f"writes what {trigger.program} runs or obeys on its own"
    if occasion.situation.ask is not None and len(shown) > SHOWN_CHARACTERS:
        text = f"Not written, because it is too long for a person to look through, and it {why}. Write a shorter one."
        return failed(text, Disposition.BLOCKED)
    question = ApprovalQuestion(tool, shown, (why,))
    return refused(occasion, question, act="written", why=f"it {why}", instead="Leave it, and say so.")


def begin(workplace: ToolState) -> tuple[str, ...]:
    """Take what stands in the folder for the person's own, unless a command that still runs may have put it there.

    What a command left that nobody waited for is seen to first; gives what the agent should know of it.
    """
    said = settle(workplace) if workplace.lookout.needs_look else ()
    if not workplace.lookout.needs_look:
        workplace.inspection.begin()
    return said


def settled_call(workplace: ToolState, given: ToolOutput, before: tuple[str, ...] = ()) -> ToolOutput:
    """The answer of a call, with what became of what it left. The person is told at the end of the turn."""
    said = (*before, *settle(workplace))
    return given._replace(text="\n".join((given.text, *(f"[{line}]" for line in said))).lstrip("\n")) if said else given


def settle(workplace: ToolState) -> tuple[str, ...]:
    """See to all that was left since the last time; gives what the agent should know."""
    inspection, lookout = workplace.inspection, workplace.lookout
    had_ended = not lookout.is_watching
    found = inspection.find()
    if lookout.take(found):
        found = inspection.find()
    wanted = [each for each in found if each.spot.care is TriggerAction.REPORTED]
    inspection.take(each._replace(before=None) for each in found if each.spot.care is TriggerAction.REMOVED)
    asked = tuple(each for each in found if each.spot.care not in (TriggerAction.REPORTED, TriggerAction.REMOVED))
    if asked and _person_keeps(workplace, asked):
        wanted += asked
    else:
        inspection.take(asked)
    inspection.accept(wanted)
    workplace.reported |= _words(workplace, wanted)
    if had_ended:
        lookout.saw()
    if inspection.is_cut and not workplace.knows_size:
        workplace.knows_size = True
        workplace.told.append(TOO_LARGE)
    return _tell(workplace, inspection.taken())


def news(workplace: ToolState) -> tuple[str, ...]:
    """What the person should know at the end of a turn, each thing once."""
    said = tuple(workplace.told)
    if workplace.reported:
        listed = _listed(workplace, workplace.reported)
        said += (f"Other programs will run or obey these changed files: {listed}. Check them before you use them.",)
    workplace.told.clear()
    workplace.reported.clear()
    return said


def _person_keeps(workplace: ToolState, found: tuple[Leftover, ...]) -> bool:
    ask = workplace.situation.ask
    reasons = tuple(dict.fromkeys(f"{each.spot.program} runs or obeys on its own" for each in found))
    contents = (_quoted(each.spot.content.body.decode("utf-8", "replace")) for each in found)
    places = (one_line(_shown_place(each, workplace.guard.folder)) for each in found)
    shown = "\n".join(
        f"{place} ({each.spot.program})\n{content}"
        for place, each, content in zip(places, found, contents, strict=True)
    )
    if len(shown) > SHOWN_CHARACTERS:
        shown = f"{shown[:SHOWN_CHARACTERS]}\nThere is more; read the files before you answer."
    return ask is not None and ask(ApprovalQuestion("", shown, reasons, keep=True))


def _quoted(text: str) -> str:
    """Foreign lines, each with a mark in front, so that none of them passes for ours."""
    return "\n".join(f"| {line}" for line in text.splitlines())


def _tell(workplace: ToolState, taken: tuple[Leftover, ...]) -> tuple[str, ...]:
    remade = [each for each in taken if each.spot.care is TriggerAction.REMOVED]
    if remade:
        workplace.told.append(REMADE.format(len(remade)))
    left = [each for each in taken if each.spot.care is not TriggerAction.REMOVED]
    if not left:
        return ()
    listed = _listed(workplace, _words(workplace, left))
    workplace.told.append(
        f"Quarantined, because other programs would have run it: {listed}. See {workplace.inspection.place}."
    )
    return (f"taken aside, because other programs would run or obey it on their own: {listed}; do not write it again",)


def _words(workplace: ToolState, found: Iterable[Leftover]) -> dict[str, bool]:
    """What was left, in words, each with whether its program is known."""
    folder, left = workplace.guard.folder, tuple(found)
    around = [_hidden_folder(each, folder) for each in left]
    often = {each for each, count in Counter(around).items() if each and count > 1}
    places = (
        hidden if hidden in often else _shown_place(each, folder) for each, hidden in zip(left, around, strict=True)
    )
    unknown = (HIDDEN.program, SETTINGS.program)
    return {
        f"{one_line(place)} ({each.spot.program})": each.spot.program not in unknown
        for place, each in zip(places, left, strict=True)
    }


def _shown_place(leftover: Leftover, folder: Path) -> str:
    path = Path(leftover.spot.path)
    return str(path.relative_to(folder) if folder in path.parents else path)


def _hidden_folder(leftover: Leftover, folder: Path) -> str:
    """The folder of an unknown program that this lies in; empty where there is none."""
    parts = Path(_shown_place(leftover, folder)).parts
    last = next((number for number, part in enumerate(parts[:-1], start=1) if part.startswith(".")), None)
    return f"{Path(*parts[:last])}/" if last and leftover.spot.program == HIDDEN.program else ""


def _listed(workplace: ToolState, found: Mapping[str, bool]) -> str:
    """The words, those of known programs first, so that many others hide none. What is too much stands in a file."""
    words = sorted(found, key=lambda each: not found[each])
    if len(words) <= MOST_NAMED:
        return ", ".join(words)
    place = workplace.inspection.place
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(place / CHANGED, "a", encoding="utf-8", errors="backslashreplace", opener=_for_its_owner) as file:
            file.writelines(f"{each}\n" for each in words)
    except OSError:  # a full disk must hide nothing
        return ", ".join(words)
    return f"{', '.join(words[:MOST_NAMED])} and {len(words) - MOST_NAMED} more, which {place / CHANGED} lists"


def _for_its_owner(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
