"""Other packages come in by entry points: found without Python's slow reader, and none of them can stop a command."""

import os
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

from whet import doors

PROGRAM = "from whet import doors; print(doors.load('whet.troubles', str))"


def install(folder: Path, name: str, entries: str, module: str = "") -> Path:
    metadata = folder / f"{name}-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(entries)
    (folder / f"{name}.py").write_text(module)
    return folder


def loaded(folder: Path) -> subprocess.CompletedProcess[str]:
    places = os.pathsep.join((str(folder), *(each for each in sys.path if each)))
    environment = {**os.environ, "PYTHONPATH": places}
    return subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)


def test_a_package_adds_what_its_entry_points_say(tmp_path: Path) -> None:
    entries = (
        "[console_scripts]\none = one:main\n\n[whet.troubles]\n# a note\nlate = one:LATE\nslow=one:KINDS.slow [more]\n"
    )
    install(tmp_path, "a_package", entries)
    found = doors.additions("whet.troubles", [str(tmp_path)])
    assert [(each.name, each.package, each.value) for each in found] == [
        ("late", "a-package", "one:LATE"),
        ("slow", "a-package", "one:KINDS.slow"),
    ]
    assert doors.additions("whet.agents", [str(tmp_path)]) == []


def test_it_reads_what_python_reads() -> None:
    entries = {
        (each.name, each.value) for one in distributions() for each in one.entry_points if each.group in doors.DOORS
    }
    assert {(each.name, each.value) for group in doors.DOORS for each in doors.additions(group)} == entries


def test_of_two_copies_of_a_package_the_first_counts(tmp_path: Path) -> None:
    first = install(tmp_path / "first", "twice", "[whet.troubles]\na = twice:FIRST\n")
    second = install(tmp_path / "second", "twice", "[whet.troubles]\nb = twice:SECOND\n")
    found = doors.additions("whet.troubles", [str(first), str(second), str(tmp_path / "gone"), "relative"])
    assert [each.value for each in found] == ["twice:FIRST"]


def test_one_value_or_several_are_loaded(tmp_path: Path) -> None:
    install(tmp_path, "some", "[whet.troubles]\na = some:A\nb = some:B\n", "A = 'one'\nB = ('two', 'three')\n")
    ran = loaded(tmp_path)
    assert (ran.stdout.strip(), ran.stderr) == ("('one', 'two', 'three')", "")


def test_a_broken_package_costs_one_line_that_names_it(tmp_path: Path) -> None:
    install(tmp_path, "broken", "[whet.troubles]\nbad = broken:A\n", "raise RuntimeError('two\\nlines')\n")
    install(tmp_path, "lost", "[whet.troubles]\ngone = lost:NOTHING\n")
    install(tmp_path, "other", "[whet.troubles]\nodd = other:A\n", "A = 3\n")
    install(tmp_path, "sound", "[whet.troubles]\ngood = sound:A\n", "A = 'kept'\n")
    ran = loaded(tmp_path)
    assert ran.stdout.strip() == "('kept',)"
    assert ran.stderr.splitlines() == [
        "Warning: bad of the package broken is left out: RuntimeError: two lines",
        "Warning: gone of the package lost is left out: AttributeError: module 'lost' has no attribute 'NOTHING'",
        "Warning: odd of the package other is left out: other:A is of type int, not str",
    ]


def test_every_door_says_what_goes_through_it() -> None:
    assert all(group.startswith("whet.") and words for group, words in doors.DOORS.items())
