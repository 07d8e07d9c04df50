"""`whet foreign-cases`: cases of `claude plugin eval` and Harbor tasks, taken in and written."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from whet.cli.commands.cases import cases_folder, folder_option
from whet.cli.options import JsonGroup
from whet.cli.output import give, plain
from whet.errors import WhetError
from whet.proving.workspace import lay_out, put_files
from whet.store.case_files import keep_case, load_case
from whet.store.home import find_home
from whet.text.words import many
from whet.trials.cases import Case
from whet_case_formats.claude_evals import read_claude_eval, write_claude_eval
from whet_case_formats.exchanged import ReadCase, WrittenCase
from whet_case_formats.harbor_tasks import is_harbor_task, read_harbor_task, write_harbor_task

MOST_BYTES = 1_000_000
MOST_FILES = 20_000
MARKS = {"claude-eval": ("case.yaml", "prompt.md"), "harbor": ("task.toml",)}
format_option = click.option("--format", "form", type=click.Choice(list(MARKS)), required=True, help="Whose cases.")


@click.group("foreign-cases", cls=JsonGroup, help="Take in or write cases of `claude plugin eval` and Harbor tasks.")
def command() -> int:
    return 0


@command.command("read", help="Take in the cases in a folder and beneath it; what has no counterpart is listed.")
@click.argument("source", type=click.Path(path_type=Path, exists=True, file_okay=False))
@format_option
@folder_option
def read(source: Path, form: str, folder: Path | None) -> int:
    found = [_read(form, each) for each in _folders(source, MARKS[form])]
    if not found:
        raise WhetError(f"{source} contains no {form} case.", advice=f"A case has {' or '.join(MARKS[form])}.")
    target = cases_folder(folder)
    kept = {each.name: str(keep_case(target, each.case)) for each in found if each.case is not None}
    left_out = {each.name: each.left_out for each in found if each.left_out}
    told = f"{many(len(kept), 'case')} of {len(found)} imported. To see how often they pass: whet cases run"
    give({"cases": kept, "left_out": left_out}, (*_lines(kept, left_out), told))
    return 0 if kept else 1


@command.command("write", help="Write cases, one folder each; what has no counterpart there is listed.")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@format_option
@click.option("--to", "target", type=click.Path(path_type=Path, file_okay=False), required=True, help="Where to.")
@folder_option
def write(names: tuple[str, ...], form: str, target: Path, folder: Path | None) -> int:
    written: dict[str, str] = {}
    left_out: dict[str, tuple[str, ...]] = {}
    for name in names:
        made = _written(form, load_case(cases_folder(folder), name))
        left_out |= {name: made.left_out} if made.left_out else {}
        if made.files:
            _write(target / name, made.files)
            written[name] = str(target / name)
    give({"cases": written, "left_out": left_out}, _lines(written, left_out))
    return 0 if written else 1


def _lines(kept: dict[str, str], left_out: dict[str, tuple[str, ...]]) -> Iterator[str]:
    yield from (f"{plain(name)}: {plain(path)}" for name, path in kept.items())
    for name, reasons in left_out.items():
        yield from (f"[dim]{plain(name)}, left out: {plain(reason)}.[/]" for reason in reasons)


def _folders(source: Path, marks: tuple[str, ...]) -> Iterator[Path]:
    places = {place.parent for mark in marks for place in source.rglob(mark) if place.is_file()}
    yield from sorted(places)


def _read(format_: str, folder: Path) -> ReadCase:
    files = _texts(folder)
    if format_ == "claude-eval":
        return read_claude_eval(folder.name, files)
    if not is_harbor_task(files):
        return ReadCase(folder.name, None, ("it has no instruction.md",))
    return read_harbor_task(folder.name, files)


def _texts(folder: Path) -> dict[str, str]:
    """The texts of a folder by their paths in it; links, pictures and what is too large are left out."""
    found: dict[str, str] = {}
    for place in sorted(folder.rglob("*"))[:MOST_FILES]:
        path = place.relative_to(folder).as_posix()
        if path.split("/", 1)[0] == ".git" or place.is_symlink() or not place.is_file():
            continue
        if place.stat().st_size <= MOST_BYTES:
            body = place.read_bytes()
            try:
                found[path] = body.decode()
            except UnicodeDecodeError:
                continue
    return found


def _written(format_: str, case: Case) -> WrittenCase:
    if format_ == "claude-eval":
        return write_claude_eval(case)
    with tempfile.TemporaryDirectory(prefix="whet-case-") as place:
        work, tests = Path(place, "work"), Path(place, "tests")
        work.mkdir()
        tests.mkdir()
        lay_out(find_home(os.environ), case, work, set_up=False)
        if case.repository is not None and case.check.tests is not None:
            put_files(Path(case.repository.path), case.check.tests.commit, case.check.tests.paths, tests)
        return write_harbor_task(case, _texts(work), {**_texts(tests), **case.check.put})


def _write(folder: Path, files: dict[str, str]) -> None:
    if folder.exists():
        raise WhetError(f"{folder} already exists.", advice="Choose another folder with --to.")
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        if path.endswith(".sh"):
            place.chmod(0o755)
