"""Whet built and installed as users have it, outside the repository."""

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

from flit_core.wheel import make_wheel_in

CODE = "import sys; from whet.cli.main import main; sys.exit(main())"


class Installed:
    """Whet as a wheel in an environment of its own, with the libraries of this one, outside the repository."""

    def __init__(self, folder: Path, source: Path) -> None:
        built = make_wheel_in(source / "pyproject.toml", folder)
        venv.create(folder / "venv", with_pip=False)
        [packages] = (folder / "venv").glob("lib/python*/site-packages")
        with zipfile.ZipFile(built.file) as wheel:
            wheel.extractall(packages)
        libraries = [each for each in sys.path if each.endswith("site-packages")]
        (packages / "libraries.pth").write_text("\n".join(libraries))
        self.folder = folder
        self.python = folder / "venv" / "bin" / "python"

    def run(self, *arguments: str, variables: dict[str, str], code: int = 0, folder: Path | None = None) -> str:
        done = subprocess.run(
            [self.python, "-c", CODE, *arguments], cwd=folder or self.folder, env=variables,
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == code, done.stderr + done.stdout
        return done.stdout
