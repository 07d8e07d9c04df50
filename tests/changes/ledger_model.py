"""A simple model of the ledger: what stands where, two stacks, and no database."""

from dataclasses import dataclass, field
from typing import NamedTuple

from whet.ledger.patches import Action, Form


class Thing(NamedTuple):
    """One thing that can be changed."""

    form: Form
    name: str


class Turn(NamedTuple):
    """What one change did to one thing."""

    thing: Thing
    before: str | None
    after: str | None
    along: str | None = None  # the skill's support file, which leaves and comes back with it

    @property
    def turned(self) -> "Turn":
        return Turn(self.thing, self.after, self.before, self.along)


SKILL = Thing(Form.SKILL, "brewing")
FILE = Thing(Form.FILE, "brewing/references/water.md")


@dataclass
class Model:
    """Texts as they stand (`world`; notes by their words alone) and as the ledger has them (`known`)."""

    world: dict[Thing, str] = field(default_factory=dict)
    pages: dict[str, list[str]] = field(default_factory=lambda: {"memory": [], "user": []})
    known: dict[Thing, str] = field(default_factory=dict)
    done: list[tuple[Turn, ...]] = field(default_factory=list)
    undone: list[tuple[Turn, ...]] = field(default_factory=list)
    archive: list[tuple[str, str | None]] = field(default_factory=list)  # a skill and its one support file
    folder: bool = False  # whether the skill's folder is there

    def stands(self, thing: Thing, text: str | None) -> bool:
        if thing.form is Form.NOTE:
            return text is None or text in self.page(thing)
        return self.world.get(thing) == text

    def page(self, thing: Thing) -> list[str]:
        return self.pages[thing.name.partition("/")[0]]

    def put_all(self, turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
        """What is in a skill's folder is written before the skill itself, and taken away before it."""
        made = {turn.thing: self.put(turn) for turn in sorted(turns, key=lambda turn: turn.thing == SKILL)}
        return tuple(made[turn.thing] for turn in turns)

    def put(self, turn: Turn) -> Turn:
        thing, before, after, along = turn
        if thing.form is Form.NOTE:
            page = self.page(thing)
            if before is not None:
                page.remove(before)
            if after is not None:
                page.append(after)
        elif thing == SKILL and before is None and not self.folder and after in dict(self.archive):
            place = max(index for index, (text, _) in enumerate(self.archive) if text == after)
            _, file = self.archive.pop(place)
            self.write(SKILL, after)
            self.write(FILE, file)
        elif thing == SKILL and before is not None and after is None:
            self.archive.append((before, self.world.pop(FILE, None)))
            self.write(SKILL, None)
            self.folder = False
        else:
            self.write(thing, after)
        if after is None:
            self.known.pop(thing, None)
            return turn._replace(along=self.known.pop(FILE, None)) if thing == SKILL else turn
        self.known[thing] = after
        if along is not None:
            self.known[FILE] = along
        return turn

    def write(self, thing: Thing, text: str | None) -> None:
        if text is None:
            self.world.pop(thing, None)
        else:
            self.world[thing] = text
            self.folder = self.folder or thing in (SKILL, FILE)

    def current(self, thing: Thing) -> str | None:
        """What a careful writer would find there before a change."""
        if thing.form is Form.NOTE:
            text = self.known.get(thing)
            return text if text in self.page(thing) else None
        return self.world.get(thing)

    def apply(self, turns: tuple[Turn, ...]) -> None:
        self.done.append(self.put_all(turns))
        self.undone.clear()

    def may_turn(self, turn: Turn) -> bool:
        """Whether a change can be taken back: nobody, by ledger or by hand, has changed the thing since."""
        fresh = turn.thing.form is not Form.NOTE or turn.before is None or turn.before not in self.page(turn.thing)
        return self.known.get(turn.thing) == turn.after and self.stands(turn.thing, turn.after) and fresh

    def undo(self) -> bool:
        return self._walk(self.done, self.undone, backwards=True)

    def redo(self) -> bool:
        return self._walk(self.undone, self.done, backwards=False)

    def revert(self, place: int) -> bool:
        turn = self.flat()[place]
        if not self.may_turn(turn):
            return False
        self.apply((turn.turned,))
        return True

    def flat(self) -> list[Turn]:
        return [turn for turns in self.done for turn in turns]

    def _walk(self, source: list[tuple[Turn, ...]], target: list[tuple[Turn, ...]], *, backwards: bool) -> bool:
        turns = source[-1]
        wanted = turns if backwards else tuple(turn.turned for turn in turns)
        if not all(self.may_turn(turn) for turn in wanted):
            return False
        made = self.put_all(tuple(turn.turned for turn in wanted))
        source.pop()
        target.append(tuple(turn.turned for turn in made) if backwards else made)
        return True


def action_for(before: str | None, after: str | None) -> Action:
    if before is None:
        return Action.ADD
    return Action.REMOVE if after is None else Action.CHANGE
