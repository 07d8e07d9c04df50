"""The example project of the demonstration: trouble of every kind, a file with a wrong line, and lessons to learn."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from command import Done, Whet, runner
from whet.trouble.kinds import TROUBLE_KINDS
from whet.trouble.values import TroubleKind

KIOSK = Path(__file__).parents[1] / "examples" / "kiosk"


class Scene:
    """The project laid out in a folder, with its sessions imported."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "kiosk"
        subprocess.run([sys.executable, str(KIOSK / "build.py"), str(folder)], check=True)
        self.whet: Whet = runner(folder / "home", self.folder / "noor")  # what runs, runs in the project
        assert self.whet("import", str(folder / "sessions")).code == 0

    def learned(self) -> Done:
        return self.whet("learn", "--with", f"scripted:{KIOSK / 'answers.jsonl'}", "--yes", "--json")


@pytest.fixture(scope="module")
def kiosk(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    return Scene(tmp_path_factory.mktemp("kiosk"))


def test_the_same_sessions_are_written_each_time(kiosk: Scene, tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(KIOSK / "build.py"), str(tmp_path)], check=True)
    sessions = kiosk.folder.parent / "sessions"
    first = {path.name: path.read_text() for path in sessions.rglob("*.jsonl")}
    again = {path.name: path.read_text() for path in (tmp_path / "sessions").rglob("*.jsonl")}
    assert len(first) == 30
    place = str(kiosk.folder)
    assert {name: text.replace(str(tmp_path / "kiosk"), place) for name, text in again.items()} == first


def test_there_is_trouble_of_every_kind(kiosk: Scene, tmp_path: Path) -> None:
    # What is changed in a temporary folder is no work: so the sessions were somewhere else.
    for path in (kiosk.folder.parent / "sessions").rglob("*.jsonl"):
        (tmp_path / path.name).write_text(path.read_text().replace(str(kiosk.folder), "/home/noor/kiosk"))
    whet = runner(tmp_path / "home", tmp_path / "noor")
    assert whet("import", str(tmp_path)).code == 0
    found = whet("report", "--json").json
    kinds = {each["name"] for each in found["kinds"] if each["troubles"]}
    # A rule has to be in force before it can be broken: `whet audit` tells of the line that is not followed.
    assert kinds == {kind.name for kind in TROUBLE_KINDS} - {TroubleKind.TOLD}
    assert found["sessions"] == 30
    assert found["interventions"] > 5


def test_the_wrong_line_and_the_broken_one_are_found(kiosk: Scene) -> None:
    shown = kiosk.whet("audit").out
    assert "wrong: no script `lint` in Makefile" in shown
    assert "broken: `alembic upgrade` was run all the same" in shown


def test_a_template_and_its_cases_are_made_of_the_recoveries(kiosk: Scene) -> None:
    lessons = kiosk.whet("lessons", "--json").json["lessons"]
    [lesson] = [each for each in lessons if "./dev test" in each["draft"] and each["source"] == "recovery"]
    assert lesson["counts"]["sessions"] == 18
    mined = kiosk.whet("templates", "create", "--lesson", lesson["id"], "--dry-run", "--json").json["template"]
    assert [json.loads(each["arguments"])["command"] for each in mined["examples"]] == [
        f"./dev test {module}" for module in ("fares", "routes", "seats", "stops", "tickets", "refunds")
    ]
    assert all(each["is_whole"] for each in mined["examples"])
    made = kiosk.whet("cases", "add", "--lesson", lesson["id"], "--last", "2", "--json").json
    assert len(made["cases"]) == 2
    assert not {each["session"][:8] for each in mined["examples"]} & {name[5:] for name in made["cases"]}


def test_recorded_answers_are_checked_anew(kiosk: Scene) -> None:
    assert kiosk.learned().code == 0
    lessons = kiosk.whet("lessons", "--json").json["lessons"]
    read = [each for each in lessons if each["measures"]]
    assert len(read) == 7
    assert any(each["carrier"] == "fix_the_file" for each in read)
    assert kiosk.whet("lessons", "--dropped", "--json").json["dropped"]
