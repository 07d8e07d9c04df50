"""Texts that ship with Whet and that a person may replace by files of their own in the home."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from whet.errors import WhetError
from whet.text.words import filled, places


class GuidanceFolder(NamedTuple):
    """A folder of texts, and what they are for; `own` are a person's, by the names of those that they replace."""

    name: str
    texts: tuple[str, ...]
    use: str

    def text(self, text: str, own: Mapping[str, str], values: Mapping[str, str] | None = None) -> str:
        """One of them, with its places filled."""
        return filled(own.get(text, "").strip() or _shipped(self.name, text), values or {})

    def expect_sound(self, own: Mapping[str, str]) -> None:
        """Raise WhetError for a text that replaces none, or that lacks a place of the one it replaces."""
        for name, text in own.items():
            if name not in self.texts:
                raise WhetError(
                    f"The guidance {self.name}/{name}.md replaces no text of {self.use}.",
                    advice=f"The texts are {', '.join(f'{each}.md' for each in self.texts)}.",
                )
            lost = sorted(places(_shipped(self.name, name)) - places(text))
            if lost:
                raise WhetError(
                    f"The guidance {self.name}/{name}.md lacks {', '.join(f'{{{each}}}' for each in lost)}.",
                    advice="Write it where Whet is to put it in.",
                )


@cache
def _shipped(folder: str, name: str) -> str:
    return files("whet.shipped.guidance").joinpath(folder, f"{name}.md").read_text(encoding="utf-8").strip()
