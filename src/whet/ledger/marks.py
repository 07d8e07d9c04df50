"""What two changes have in common that say the same: their words without case and signs, and their situation."""

import re

from whet.ledger.patches import Action, Patch, digest

_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d+")


def marks(patch: Patch) -> frozenset[str]:
    """Where two changes share a mark, whoever never wants the one does not want the other."""
    if patch.action is Action.REMOVE:
        return frozenset({digest(f"remove {patch.form} {patch.name}")})
    situation, found = patch.situation, set()
    if words := _plain(patch.text):
        found.add(digest(f"text {words}"))
    if situation.call and situation.error:
        error = _plain(_NUMBER.sub("", situation.error))
        found.add(digest(f"situation {patch.scope.project} {_plain(situation.call)} {error}"))
    return frozenset(found)


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))
