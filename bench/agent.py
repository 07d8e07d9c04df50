"""Whet's agent beside Hermes 0.19 on the same loopback endpoint: start, turn-around, bytes and memory.

    python bench/agent.py --hermes-venv DIR [--runs 7]

Both are asked to "list the files" of a folder and are told by the endpoint to run one command, which writes down the
moment of its own end. The programs take turns, so that a busy machine is equally busy for both.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from typing import NamedTuple

from agent_server import MODEL, Server

TASK = "list the files"
HERMES = "hermes-agent==0.19.*"
WHET = Path(sys.executable).with_name("whet")
CONFIG = """\
model:
  default: {model}
  provider: custom
  base_url: {base_url}
  api_key: none
  context_length: 65536
security:
  allow_lazy_installs: false
agent:
  environment_probe: false
"""
SETTINGS = """\
model = "bench:{model}"
[providers.bench]
base_url = "{base_url}"
"""


class Program(NamedTuple):
    """One way to ask an agent for something, in a home of its own."""

    name: str
    command: tuple[str, ...]
    environment: dict[str, str]


class Sample(NamedTuple):
    """One run: seconds to the first request and from the command's end to the next, bytes, and megabytes at most."""

    first_request: float
    turn_around: float
    request_bytes: float
    peak_megabytes: float
    processor: float  # seconds of the whole run


ASPECTS = (
    ("start → first request", "first_request", "s", 1 / 5),
    ("tool result → next request", "turn_around", "s", 1 / 10),
    ("bytes of the first request", "request_bytes", "B", 1 / 3),
    ("peak memory", "peak_megabytes", "MB", None),
    ("processor time of the run", "processor", "s", None),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--hermes-venv", type=Path, required=True, help="Where Hermes is, or is put if it is not there."
    )
    parser.add_argument("--runs", type=int, default=7)
    arguments = parser.parse_args()
    hermes = prepared(arguments.hermes_venv)
    with tempfile.TemporaryDirectory(prefix="whet-bench-") as scratch:
        measure(Path(scratch), hermes, arguments.runs)


def prepared(folder: Path) -> Path:
    """The `hermes` command of a virtual environment, which is made if need be."""
    command = folder / "bin" / "hermes"
    if not command.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([folder / "bin" / "pip", "install", "--quiet", HERMES], check=True)
    return command


def measure(scratch: Path, hermes: Path, runs: int) -> None:
    folder, stamp = scratch / "work", scratch / "work" / "stamp"
    folder.mkdir()
    (folder / "notes.txt").write_text("bread\n")
    server = Server(f"ls && date +%s.%N > {stamp}")
    programs = made(scratch, hermes, server.base_url)
    samples: dict[str, list[Sample]] = {program.name: [] for program in programs}
    for number in range(runs + 1):
        for program in programs:
            sample = sampled(program, server, folder, stamp)
            if number:  # the first of each fills caches, and makes homes and databases
                samples[program.name].append(sample)
    server.close()
    report(samples)


def made(scratch: Path, hermes: Path, base_url: str) -> list[Program]:
    """Both programs with a home of their own, and Hermes in both of its ways to answer one question."""
    homes = {name: scratch / name for name in ("whet", "hermes", "person")}
    for home in homes.values():
        home.mkdir(mode=0o700)
    (homes["hermes"] / "config.yaml").write_text(CONFIG.format(model=MODEL, base_url=base_url))
    (homes["whet"] / "settings.toml").write_text(SETTINGS.format(model=MODEL, base_url=base_url))
    common = {"PATH": os.environ["PATH"], "HOME": str(homes["person"]), "LANG": "C.UTF-8", "TERM": "dumb"}
    return [
        Program("whet run", (str(WHET), "run", TASK), {**common, "WHET_HOME": str(homes["whet"])}),
        Program("hermes -z", (str(hermes), "-z", TASK), {**common, "HERMES_HOME": str(homes["hermes"])}),
        Program(
            "hermes chat -Q",
            (str(hermes), "chat", "-Q", "-q", TASK),
            {**common, "HERMES_HOME": str(homes["hermes"])},
        ),
    ]


def sampled(program: Program, server: Server, folder: Path, stamp: Path) -> Sample:
    stamp.unlink(missing_ok=True)
    server.take()
    begun = time.time()
    process = subprocess.Popen(
        program.command,
        env=program.environment,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    output = process.stdout.read() if process.stdout else b""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    requests = server.take()
    first = next((request for request in requests if not request.has_results), None)
    second = next((request for request in requests if request.has_results), None)
    if first is None or second is None or not stamp.exists():
        raise SystemExit(f"{program.name} did not do the task (exit {process.returncode}):\n{output.decode()}")
    ended = float(stamp.read_text())
    return Sample(
        first.at - begun, second.at - ended, first.size, usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime
    )


def report(samples: dict[str, list[Sample]]) -> None:
    names = list(samples)
    print(f"{'median of ' + str(len(samples[names[0]])):<28}" + "".join(f"{name:>18}" for name in names) + "   ratio")
    for label, field, unit, aim in ASPECTS:
        values = {name: [getattr(sample, field) for sample in samples[name]] for name in names}
        medians = {name: statistics.median(values[name]) for name in names}
        best = min(medians[name] for name in names if name.startswith("hermes"))
        ratio = medians[names[0]] / best
        aimed = f" (aim ≤ {aim:.2f})" if aim else ""
        print(
            f"{label:<28}" + "".join(f"{shown(medians[name], unit):>18}" for name in names) + f"   {ratio:.3f}{aimed}"
        )
        spread = "".join(
            f"{f'{shown(min(values[name]), unit)} – {shown(max(values[name]), unit)}':>18}" for name in names
        )
        print(f"{'':<28}{spread}")


def shown(value: float, unit: str) -> str:
    return f"{value:.3f} {unit}" if unit == "s" else f"{value:,.0f} {unit}"


if __name__ == "__main__":
    main()
