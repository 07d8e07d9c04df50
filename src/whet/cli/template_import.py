"""whet migrate hermes --only template: templates of the original's two forms, each of which waits for a person."""

from pathlib import Path

from whet.agents.hermes import templates as hermes_templates
from whet.errors import WhetError

FILE_BYTES = 2_000_000


def template_files(hermes: Path) -> list[Path]:
    """The files of templates in a Hermes home."""
    return [path for name in hermes_templates.FOLDERS for path in sorted((hermes / name).glob("*.json"))]


def free_name(name: str, names: set[str]) -> str:
    """The name itself, or with a number: two files may call theirs the same, and neither is to be lost."""
    return next(each for each in (name, *(f"{name[:58]}-{n}" for n in range(2, len(names) + 3))) if each not in names)


def read_text(path: Path) -> str:
    """The text of a file; raises WhetError where it has none that can be read."""
    try:
        if not path.is_file():
            raise WhetError(f"{path.name} is not a file.", advice="It is left out.")
        if path.stat().st_size > FILE_BYTES:
            raise WhetError(f"{path.name} is larger than {FILE_BYTES // 1_000_000} MB.", advice="It is left out.")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise WhetError(f"{path.name} is not UTF-8 text.", advice="It is left out.") from error
    except OSError as error:
        raise WhetError(f"{path.name} cannot be read: {error.strerror}.", advice="It is left out.") from error
