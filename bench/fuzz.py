"""Coverage-guided fuzzing of all readers of records with atheris, on the contract of the tests.

    pip install atheris
    python bench/fuzz.py -max_total_time=300

Arguments go to libFuzzer. Inputs that break the contract are written to the working folder as crash-*.
"""

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

try:
    import atheris
except ImportError:
    sys.exit("bench/fuzz.py needs atheris: pip install atheris")

with atheris.instrument_imports(include=["whet.agents", "whet.formats", "whet.sessions.transcripts"]):
    from mutations import MUTATIONS, mutate
    from reading_contract import hold, session_files
    from whet.agents.recognising import formats

SCRATCH = Path(tempfile.mkdtemp(prefix="whet-fuzz-"))


def entry(data: bytes) -> None:
    """The first byte names a format, the rest is the file."""
    if not data:
        return
    path = SCRATCH / "input"
    path.write_bytes(data[1:])
    hold(path, formats()[data[0] % len(formats())])


def spoil(data: bytes, size: int, seed: int) -> bytes:
    """Half of the time spoil the file as a file of sessions, else let libFuzzer change its bytes."""
    if seed % 2 and len(data) > 1:
        chosen = MUTATIONS[seed // 2 % len(MUTATIONS)]
        return (data[:1] + mutate(data[1:], (chosen,), seed))[:size]
    changed: bytes = atheris.Mutate(data, size)
    return changed


def main() -> None:
    corpus = SCRATCH / "corpus"
    corpus.mkdir()
    for index, known in enumerate(formats()):
        for number, path in enumerate(session_files(known)):
            (corpus / f"{known.name}-{number}").write_bytes(bytes([index]) + path.read_bytes())
    arguments = [sys.argv[0], "-max_len=65536", "-timeout=20", "-rss_limit_mb=2048", *sys.argv[1:], str(corpus)]
    atheris.Setup(arguments, entry, custom_mutator=spoil)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
