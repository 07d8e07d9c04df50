"""The models of this machine as a list: each file with what is known of it, and the embedded one in any case."""

from whet.agent.providers.local import known_model
from whet.agent.providers.local_facts import facts_of
from whet.agent.providers.local_weights import EMBEDDED, KeptWeights, kept
from whet.errors import WhetError
from whet.runs.settings import Local
from whet.store.home import Home
from whet.values import Value


class Listed(Value, frozen=True):
    """A model for a list. `setting` is how the settings name it; `fault` says why it cannot be used."""

    setting: str
    name: str
    size_bytes: int
    is_here: bool = True
    path: str = ""
    family: str = ""
    window: int | None = None
    tools: str = ""
    fault: str = ""


def listed(home: Home) -> tuple[Listed, ...]:
    """The embedded model first, then the others in the home folder by name."""
    there = kept(home)
    own = next((each for each in there if each.name == EMBEDDED.name), None)
    embedded = (
        _listed(own, "local")
        if own
        else Listed("local", EMBEDDED.name, EMBEDDED.size_bytes, is_here=False, family="smollm", tools="text")
    )
    return (embedded, *(_listed(each, f"local:{each.name}") for each in there if each is not own))


def _listed(file: KeptWeights, setting: str) -> Listed:
    try:
        facts = facts_of(file.path)
    except WhetError as error:
        return Listed(setting, file.name, file.size_bytes, path=str(file.path), fault=error.message)
    model = known_model(file.name, facts, file.size_bytes, Local())
    return Listed(
        setting,
        file.name,
        file.size_bytes,
        path=str(file.path),
        family=model.family,
        window=facts.window,
        tools=model.tools,
    )
