"""Pictures of the main views, from the example project: python -m page_pictures FOLDER."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from chromium import Chromium, chromium
from command import runner
from page_client import page_of
from page_store import keep_trial
from patience import until
from whet.improving.learned import learned, propose_lesson
from whet.store.home import Home
from whet.store.opening import opened

KIOSK = Path(__file__).parents[1] / "examples" / "kiosk"
VIEWS = {
    "overview": "/",
    "trouble": "/trouble",
    "session": "/session/{session}",
    "waiting": "/lessons",
    "trial": "/trial/t-1",
}


def main() -> None:
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        home, session = learned_home(Path(folder))
        with page_of(home) as page, chromium(width=1120, height=1100) as window:
            window.go(page.server.address)
            until(lambda: "Overview" in window.text)
            for name, path in VIEWS.items():
                window.go(f"http://127.0.0.1:{page.port}{page.base}{path.format(session=session)}")
                until(lambda: "Reading your sessions" not in window.text)
                take(window, target / f"{name}.png")


def learned_home(folder: Path) -> tuple[Home, str]:
    """A home with the project's sessions, what a reader learned, a lesson to decide on and a trial; and a session."""
    subprocess.run([sys.executable, str(KIOSK / "build.py"), str(folder)], check=True)
    for path in (folder / "sessions").rglob("*.jsonl"):
        path.write_text(path.read_text().replace(str(folder / "kiosk"), "/home/noor/kiosk"))
    whet = runner(folder / "home", folder / "noor")
    assert whet("import", str(folder / "sessions")).code == 0
    assert whet("report").code == 0
    assert whet("lessons").code == 0
    home = Home(folder / "home")
    with opened(home) as database:
        propose_lesson(home, database, learned(home, database).lessons[0], now=time.time())
    keep_trial(home)
    dearest = whet("report", "--json").json["dearest"]
    return home, dearest[1]["session"]


def take(window: Chromium, path: Path) -> None:
    path.write_bytes(window.picture())
    sys.stdout.write(f"{path} {path.stat().st_size // 1000} kB\n")


if __name__ == "__main__":
    main()
