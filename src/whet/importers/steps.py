"""Calls and results of formats that leave out ids: paired by their position within a step."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class OpenCalls:
    """The calls of the newest step that no result has answered yet, oldest first, and the name of every call."""

    waiting: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)

    def begin(self) -> None:
        """A new step: results without an id answer its calls and no older ones."""
        self.waiting = []

    def ask(self, call_id: str, name: str, *, message: int) -> str:
        """The id of a call: its own, else one made of its message's index and its place in it."""
        made = call_id or f"call-{message}-{len(self.waiting)}"
        self.waiting.append(made)
        self.names[made] = name
        return made

    def answer(self, call_id: str, name: str = "") -> str:
        """The id of the call that a result answers: the one it names, else the oldest waiting call of its tool.

        Empty where no call waits.
        """
        named = (waiting for waiting in self.waiting if not name or self.names[waiting] == name)
        answered = call_id or next(named, "") or next(iter(self.waiting), "")
        if answered in self.waiting:
            self.waiting.remove(answered)
        return answered
