"""Unchanged files are read again when what is made of them changes: the number that says so is raised with it."""

import hashlib
import os
from pathlib import Path

import msgspec

from whet.agents.formats.source import Skipped
from whet.intake.reading import named_files, read_transcripts
from whet.intake.taking import READER
from whet.secrets.redactor import redact

EXAMPLES = Path(__file__).parents[2] / "examples" / "sessions"
# What each version of the readers makes of the example records. Where this test fails because records are read or
# redacted in another way: raise READER in whet/intake/taking.py, and write the new digest beside it.
MADE = ("7", "6a676953aa082191")


def test_who_changes_what_is_read_raises_the_version_of_the_readers() -> None:
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(named_files([str(EXAMPLES)])):
        for found in read_transcripts(path):
            made = found if isinstance(found, Skipped) else redact(found, ()).transcript
            digest.update(msgspec.json.encode(made).replace(os.fsencode(EXAMPLES), b"examples"))
    assert (READER, digest.hexdigest()) == MADE
