"""Pictures of the main views, from the example sessions: python -m page_pictures FOLDER."""

import sys
import tempfile
from pathlib import Path

from chromium import Chromium, chromium
from page_client import page_of
from page_store import filled_home
from patience import until

VIEWS = {
    "overview": "/",
    "trouble": "/trouble",
    "session": "/session/67f1f8f31b5a6fb2a48b",
    "waiting": "/waiting",
    "trial": "/trial/t-1",
}


def main() -> None:
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        home = filled_home(Path(folder))
        with page_of(home) as page, chromium(width=1120, height=1100) as window:
            window.go(page.server.address)
            until(lambda: "Overview" in window.text)
            for name, path in VIEWS.items():
                window.go(f"http://127.0.0.1:{page.port}{page.base}{path}")
                until(lambda: "Reading your sessions" not in window.text)
                take(window, target / f"{name}.png")


def take(window: Chromium, path: Path) -> None:
    path.write_bytes(window.picture())
    sys.stdout.write(f"{path} {path.stat().st_size // 1000} kB\n")


if __name__ == "__main__":
    main()
