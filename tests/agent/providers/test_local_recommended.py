"""Which models are recommended for a machine."""

from whet.agent.providers.local_recommended import CAPABLE, GIGABYTE, memory_of_machine, recommended


def test_the_two_largest_that_fit_are_recommended_and_no_larger_one() -> None:
    assert [each.name.split("-")[1] for each in recommended(16 * GIGABYTE)] == ["14B", "7B"]
    assert [each.name.split("-")[1] for each in recommended(8 * GIGABYTE)] == ["7B", "3B"]
    assert recommended(2 * GIGABYTE) == ()
    for gigabytes in range(64):
        assert all(each.memory_bytes <= gigabytes * GIGABYTE for each in recommended(gigabytes * GIGABYTE))


def test_names_are_addresses_on_the_hub() -> None:
    assert all(each.address.startswith("hf:") and each.address.endswith(f"/{each.name}.gguf") for each in CAPABLE)
    assert memory_of_machine() > 0
