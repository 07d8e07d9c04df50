"""Unchanged files are read again when what is made of them changes: the number that says so is raised with it."""

import hashlib
from pathlib import Path

import msgspec
from msgspec.structs import replace

from whet.agents.formats.source import Skipped
from whet.intake.reading import named_files, read_transcripts
from whet.intake.taking import READER
from whet.secrets.redactor import redact

EXAMPLES = Path(__file__).parents[2] / "examples" / "sessions"
# What each version of the readers makes of the example records. Where this test fails because records are read or
# redacted in another way: raise READER in whet/intake/taking.py, and write the new digest beside it.
MADE = ("7", "d16810e1dac24697")


def test_who_changes_what_is_read_raises_the_version_of_the_readers() -> None:
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(named_files([str(EXAMPLES)])):
        found = [each for each in read_transcripts(path) if not isinstance(each, Skipped)]
        for each in found:  # ids and folders may tell where the examples lie
            digest.update(msgspec.json.encode(replace(redact(each, ()).transcript, native_id="", parent="", folder="")))
    assert (READER, digest.hexdigest()) == MADE
