"""Which models are recommended for a machine."""

import re

from whet.agent.providers.local_listing import BY_NAME, CAPABLE, GIGABYTE, memory_of_machine, recommended


def test_the_two_largest_that_fit_are_recommended_and_no_larger_one() -> None:
    assert [each.name.split("-")[1] for each in recommended(16 * GIGABYTE)] == ["14B", "7B"]
    assert [each.name.split("-")[1] for each in recommended(8 * GIGABYTE)] == ["7B", "1.5B"]
    assert [each.name.split("-")[1] for each in recommended(64 * GIGABYTE)] == ["32B", "14B"]
    assert [each.name.split("-")[1] for each in recommended(4 * GIGABYTE)] == ["1.5B"]
    assert recommended(2 * GIGABYTE) == recommended(0) == ()
    for gigabytes in range(64):
        assert all(each.memory_bytes <= gigabytes * GIGABYTE for each in recommended(gigabytes * GIGABYTE))


def test_names_are_addresses_on_the_hub() -> None:
    assert all(each.address.startswith("hf:") and each.address.endswith(f"/{each.name}.gguf") for each in CAPABLE)
    assert memory_of_machine() > 0


def test_more_memory_never_takes_the_largest_away() -> None:
    best = [next((each.size_bytes for each in recommended(n * GIGABYTE)), 0) for n in range(64)]
    assert best == sorted(best)


def test_every_one_has_a_checksum_of_its_own_and_may_be_used_at_work() -> None:
    assert len({each.sha256 for each in CAPABLE}) == len(CAPABLE)
    assert all(re.fullmatch("[0-9a-f]{64}", each.sha256) and each.licence == "Apache-2.0" for each in CAPABLE)
    assert [BY_NAME[each.name] for each in CAPABLE] == list(CAPABLE)
