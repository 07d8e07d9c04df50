"""The machine's own time zone."""

from pathlib import Path

from whet.telling.context.zone import local_zone


def test_the_variable_comes_before_the_link_and_nonsense_counts_for_nothing(tmp_path: Path) -> None:
    zones = tmp_path / "zoneinfo" / "Europe"
    zones.mkdir(parents=True)
    (zones / "Berlin").touch()
    link = tmp_path / "localtime"
    link.symlink_to(zones / "Berlin")
    assert local_zone({}, link) == "Europe/Berlin"
    assert local_zone({"TZ": ":Asia/Tokyo"}, link) == "Asia/Tokyo"
    assert local_zone({"TZ": "CET-1CEST"}, link) == "Europe/Berlin"
    assert local_zone({}, tmp_path / "missing") == "UTC"
