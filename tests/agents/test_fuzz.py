"""Four thousand spoiled and invented files over all formats: read, reported or refused, never a crash."""

import contextlib
import math
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lengths import examples
from mutations import MUTATIONS, Mutation, mutate, spoil_fields
from reading_contract import hold, session_files
from vocabulary import Vocabulary, invent, learn
from whet.agents.formats.source import Format, Source, Unreadable
from whet.agents.recognising import formats

INPUTS = 4_000
INPUTS_A_TEST = math.ceil(INPUTS / len(formats()) / 2)

each_format = pytest.mark.parametrize("known", formats(), ids=lambda known: known.name)
budget = settings(
    max_examples=examples(INPUTS_A_TEST),
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
seeds = st.integers(min_value=0, max_value=2**32)
mutations = st.lists(st.sampled_from(MUTATIONS), min_size=1, max_size=3).map(tuple)


@cache
def bodies(known: Format) -> tuple[bytes, ...]:
    return tuple(path.read_bytes() for path in session_files(known))


@cache
def vocabulary(known: Format) -> Vocabulary:
    return learn(session_files(known))


@each_format
@budget
@given(chosen=mutations, seed=seeds)
def test_a_spoiled_example_is_read_or_refused(
    tmp_path: Path, known: Format, chosen: tuple[Mutation, ...], seed: int
) -> None:
    found = bodies(known)
    path = tmp_path / "spoiled"
    path.write_bytes(mutate(found[seed % len(found)], chosen, seed))
    hold(path, known)


@each_format
@budget
@given(seed=seeds)
def test_an_invented_file_is_read_or_refused(tmp_path: Path, known: Format, seed: int) -> None:
    path = tmp_path / "invented"
    path.write_bytes(invent(vocabulary(known), seed))
    hold(path, known)


@each_format
def test_spoiled_and_invented_files_reach_the_importer(tmp_path: Path, known: Format) -> None:
    """Inputs that are all refused at the door would be no test."""
    path = tmp_path / "file"
    spoiled = [mutate(bodies(known)[0], (spoil_fields,), seed) for seed in range(10)]
    invented = [invent(vocabulary(known), seed) for seed in range(40)]
    for files in (spoiled, invented):
        messages = 0
        for body in files:
            path.write_bytes(body)
            with contextlib.suppress(Unreadable):
                messages += sum(len(transcript.messages) for transcript in known.read(Source(path)))
        assert messages > 0
