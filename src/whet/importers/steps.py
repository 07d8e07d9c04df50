"""Calls and results of formats that leave out ids: paired by their position within a step."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class OpenCalls:
    """The calls of the newest step that no result has answered yet, oldest first, and the name of every call."""

    waiting: Counter[str] = field(default_factory=Counter)  # by id, in the order in which they were asked
    names: dict[str, str] = field(default_factory=dict)
    _by_name: dict[str, dict[str, None]] = field(default_factory=dict)
    _asked: int = 0

    def begin(self) -> None:
        """A new step: results without an id answer its calls and no older ones."""
        self.waiting, self._by_name, self._asked = Counter(), {}, 0

    def ask(self, call_id: str, name: str, *, message: int) -> str:
        """The id of a call: its own, else one made of its message's index and its place in it."""
        made = call_id or f"call-{message}-{self._asked}"
        self._asked += 1
        self.waiting[made] += 1
        self._by_name.setdefault(name, {})[made] = None
        self.names[made] = name
        return made

    def answer(self, call_id: str, name: str = "") -> str:
        """The id of the call that a result answers: the one it names, else the oldest waiting call of its tool.

        Empty where no call waits.
        """
        answered = call_id or next(iter(self._by_name.get(name, ())), "") or next(iter(self.waiting), "")
        if answered in self.waiting:
            self.waiting[answered] -= 1
            if not self.waiting[answered]:
                del self.waiting[answered]
                self._by_name[self.names[answered]].pop(answered, None)
        return answered
