"""What a person reads in the report: where the time went, and what costs most."""

from pathlib import Path

import pytest

from command import Whet


@pytest.mark.usefixtures("imported")
def test_the_report_begins_with_what_a_person_acts_on(whet: Whet) -> None:
    found = whet("report", "--json").json
    shown = whet("report").out
    spent, lost, *_ = shown.splitlines()
    assert spent.startswith(f"{found['sessions']} sessions, ")
    assert "bought nothing: " in lost
    assert f"You stepped in {found['interventions']} times." in shown
    assert shown.splitlines()[-1] == "• `whet lessons` finds what your sessions teach, project by project."
    assert " ".join(shown.split()).count("an upper bound") == 1
    assert "may have failed" not in shown


@pytest.mark.usefixtures("imported")
def test_what_costs_most_adds_up_to_what_was_lost(whet: Whet) -> None:
    found = whet("report", "--json").json
    lost = found["lost"]["seconds"]
    for sort in ("kinds", "causes", "tools"):
        assert abs(sum(each["seconds"] for each in found[sort]) - lost) < 1
    for group in ("projects", "agents", "models", "weeks"):
        assert sum(each["sessions"] for each in found[group]) == found["sessions"]
        assert sum(each.get("interventions", 0) for each in found[group]) == found["interventions"]
    assert [each["seconds"] for each in found["causes"]] == sorted(
        (each["seconds"] for each in found["causes"]), reverse=True
    )
    assert all(each["low"] <= each["share"] <= each["high"] for each in found["causes"])


@pytest.mark.usefixtures("imported")
def test_the_dearest_session_opens_at_its_dearest_stretch(whet: Whet) -> None:
    dearest = whet("report", "--json").json["dearest"][0]
    session, stretch = dearest["session"], dearest["dearest"]
    shown = whet("show", session[:8], "--dearest").out
    assert f"#{stretch['first']}–#{stretch['last']} " in shown
    assert "▌" in shown
    found = whet("show", session[:8], "--dearest", "--json").json
    assert len(found["messages"]) == stretch["last"] - stretch["first"] + 1
    assert found["trouble"]["troubles"]


def test_a_session_without_trouble_has_no_dearest_stretch(whet: Whet, tmp_path: Path) -> None:
    (tmp_path / "calm.json").write_text(
        '{"id": "calm", "messages": [{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": "4"}]}'
    )
    assert whet("import", "calm.json").code == 0
    refused = whet("show", "calm", "--dearest")
    assert refused.code == 1
    assert "no stretch that bought nothing" in refused.err
