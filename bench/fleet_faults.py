"""Workers and restarts: what becomes of work while a Postgres server restarts, and how far the engine's file grows.

python bench/fleet_faults.py            # four orders on two machines, one restart
python bench/fleet_faults.py growth     # a day of jobs, one each minute, with and without letting go
python bench/fleet_faults.py pooler     # PgBouncer in front, in session mode and in transaction mode
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from fleet import SlowModel, listening, measured, ordered_trial  # noqa: E402 - parts of the tests and of another bench
from patience import until  # noqa: E402
from pooler import pooled  # noqa: E402
from postgres_server import serve, serve_restartable  # noqa: E402
from whet.store.home import Home  # noqa: E402
from whet.work.given import WorkState, given_orders  # noqa: E402
from whet.work.orders import Order, Queue  # noqa: E402
from whet.work.system import FILE  # noqa: E402

WORKER = ROOT / "tests" / "work" / "lost_server_worker.py"
SESSIONS = ROOT / "examples" / "sessions" / "codex"
ORDERS = 4
WORKERS = 2
LONGER_SECONDS = 15.0  # for which the orders still run: longer than a worker that ends waits for them
MINUTES_OF_A_DAY = 1_440
KEPT = 200


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        if sys.argv[1:] == ["growth"]:
            growth(Path(name))
        elif sys.argv[1:] == ["pooler"]:
            pooler(Path(name))
        else:
            restarts(Path(name))


def restarts(folder: Path) -> None:
    with serve_restartable() as server:
        homes = [Home(folder / name, server.url) for name in ("one", "two")]
        names = [f"effect-{number}" for number in range(ORDERS)]
        with given_orders(homes[0]) as orders:
            ids = [orders.submit(Order("enduring", name, str(folder / name)), Queue.ATTEMPTS) for name in names]
        workers = [_start(home) for home in homes]
        until(lambda: all((folder / name).exists() for name in names))
        server.stop()
        server.start()
        began = time.monotonic()
        time.sleep(LONGER_SECONDS)
        (folder / "is-back").touch()
        (folder / "is-back-again").touch()
        for worker in workers:
            worker.wait()
        with given_orders(homes[0]) as orders:
            states = [orders.find(id).state for id in ids]
    effects = sum(len((folder / name).read_text().splitlines()) for name in names)
    seconds = time.monotonic() - began
    print(f"{states.count(WorkState.DONE)} of {ORDERS} done, {effects} effects, {seconds:.0f} s after it was back")


def pooler(folder: Path) -> None:
    """What works through a pooler, and what is said where it does not."""
    for mode in ("session", "transaction"):
        with serve(connections=100) as server, pooled(server, folder, mode) as url:
            home = Home(folder / mode, url)
            for words in (("import", str(SESSIONS)), ("doctor",), ("backup", str(folder / f"{mode}.zip"))):
                print(f"{mode}: whet {words[0]}: {_run(home, *words)}")
            if mode == "session":
                print(f"{mode}: a trial with {WORKERS} workers: {_tried(home)}")
            print(f"{mode}: whet worker: {_run(home, 'worker', '--until-idle')}")


def _tried(home: Home) -> str:
    model = SlowModel(1.0)
    with listening(model) as port:
        found = measured(home, WORKERS, model, port=port, work=ordered_trial, rounds=6)
    return f"{found.attempts} attempts in {found.seconds:.0f} s"


def _run(home: Home, *words: str) -> str:
    variables = {"WHET_HOME": str(home.folder), "WHET_DATABASE_URL": home.database_url}
    command = [str(Path(sys.executable).with_name("whet")), *words]
    done = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, check=False)
    if words == ("doctor",):  # it has more to say of a machine than this
        rows = [line for line in done.stdout.splitlines() if line.split()[1:2] in (["database"], ["ledger"])]
        return "; ".join(" ".join(row.split()) for row in rows)
    return "done" if done.returncode == 0 else f"refused: {' '.join(done.stderr.split())}"


def growth(folder: Path) -> None:
    """The clock is moved: an order for each minute of a day, ended at once."""
    for name, is_kept in (("kept for ever", True), (f"the newest {KEPT} kept", False)):
        home = Home(folder / name.replace(" ", "-"))
        sizes = []
        with given_orders(home) as orders:
            for minute in range(MINUTES_OF_A_DAY):
                orders.cancel(orders.submit(Order("job", str(minute), "x" * 500), Queue.JOBS))
                if not is_kept and minute % 60 == 0:
                    orders.let_go(before=0.0, most=KEPT)
                if minute % 360 == 359:
                    sizes.append((home.folder / FILE).stat().st_size // 1024)
        print(f"{name}: {', '.join(f'{size:,}' for size in sizes)} KiB after 6, 12, 18 and 24 hours")


def _start(home: Home) -> "subprocess.Popen[bytes]":
    variables = {"WHET_HOME": str(home.folder), "WHET_DATABASE_URL": home.database_url}
    environment = {**os.environ, **variables, "PYTHONPATH": f"{WORKER.parents[1]}:{os.environ.get('PYTHONPATH', '')}"}
    return subprocess.Popen([sys.executable, str(WORKER)], env=environment)


if __name__ == "__main__":
    main()
