"""Which agents are told a rule by their hooks, and from when on, in words."""

import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from whet.hooks.installing import installed_hosts
from whet.setup.hooking import first_step
from whet.store.home import Home
from whet.targets.reaching import hooked_agents


class HookTellers(NamedTuple):
    """Agents whose hooks tell rules: those seen calling lately, and those that have them and were not seen yet."""

    calling: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()

    def among(self, names: Iterable[str]) -> "HookTellers":
        kept = frozenset(names)
        return HookTellers(*(tuple(name for name in each if name in kept) for each in self))


def hook_tellers(home: Home) -> HookTellers:
    """The agents on this machine that hooks tell."""
    calling = hooked_agents(home, now=time.time())
    silent = installed_hosts(home, Path.home(), os.environ) - calling
    return HookTellers(tuple(sorted(calling)), tuple(sorted(silent)))


def told_sentences(tellers: HookTellers, where: str = "") -> list[str]:
    """Who is told at the start of which sessions; empty where no hook tells anybody."""
    at_once = [name for name in tellers.silent if not first_step(name)]
    sentences = []
    if tellers.calling:
        sentences.append(f"Told at the start of each session{where}: {', '.join(tellers.calling)}.")
    if at_once:
        hooks = "their hooks are" if len(at_once) > 1 else "its hook is"
        sentences.append(
            f"Told from the next session{where} on: {', '.join(at_once)} ({hooks} installed, and not yet seen calling)."
        )
    for name in tellers.silent:
        if step := first_step(name):
            sentences.append(f"{name} is not told yet: {step}.")
    return sentences
