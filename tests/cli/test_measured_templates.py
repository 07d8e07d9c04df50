"""What `--warm auto` draws, as people see it: in the run itself, in the watch and in the statistics."""

from pathlib import Path

import pytest

from agent.loopback import playing
from cli.chat.answers import whet_at, words
from samples_of_templates import TEMPLATE
from whet.own.examples.templates import written
from whet.store.home import Home
from whet.store.opening import opened
from whet.store.template_files import CountedDraw, Draw, count_draws, keep_draw

TASK = "Look at the garden plan."
EXAMPLE = "pytest -q"  # stands in the template and nowhere else


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    (made / "templates").mkdir(parents=True, mode=0o700)
    (made / "templates" / "garden-work.json").write_text(written(TEMPLATE))
    return made


def test_a_run_says_what_it_drew_and_the_watch_counts_it(folder: Path, person: Path) -> None:
    with playing(*(words("Done.") for _ in range(3))) as server:
        whet = whet_at(folder, person, server.base_url)
        runs = [whet("run", TASK, "--warm", "auto") for _ in range(2)]
        runs.append(whet("run", TASK, "--warm", "garden-work"))
        begun_warm = [EXAMPLE.encode() in request.body for request in server.requests]
    assert [done.out for done in runs] == ["Done.\n"] * 3
    said = ["starts from the template garden-work" in done.err for done in runs[:2]]
    assert said == begun_warm[:2]
    assert begun_warm[2:] == [True]
    assert all(
        "starts without the template" in done.err for done, warm in zip(runs[:2], said, strict=False) if not warm
    )
    [found] = whet("live", "look", "--settled", "0", "--json").json["templates"]
    assert (found["name"], found["sessions"], found["decision"]) == ("garden-work", 2, "wait")
    assert (found["told"], found["untold"]) == (sum(said[:2]), 2 - sum(said[:2]))
    [stats] = whet("templates", "--stats", "--json").json
    assert (stats["live"]["told"], stats["live"]["untold"]) == (found["told"], found["untold"])
    assert "garden-work" in whet("live", "look").out


def test_the_watch_says_what_it_retired_and_an_undo_brings_it_back(folder: Path, person: Path) -> None:
    with opened(Home(folder)) as database:
        for number in range(60):
            draw = Draw(f"s{number}", TEMPLATE.key, TEMPLATE.name, "m", number % 2 == 0, 0.5, 1.8e9)
            count_draws(database, [CountedDraw(keep_draw(database, draw).draw_id, 0.9 if draw.told else 0.1, 1)])
    whet = whet_at(folder, person, "http://127.0.0.1:9")
    assert "0.90 (30)" in whet("templates", "--stats").out
    done = whet("live", "look")
    assert (done.code, "No canaries" in done.out) == (0, False)
    assert "garden-work retired: it harms" in " ".join(done.out.split())
    assert whet("templates", "--json").json == []
    last = whet("ledger", "--json").json
    assert "watch" in str(last)
    assert whet("ledger", "undo", str(last["entries"][0]["id"])).code == 0
    assert len(whet("templates", "--json").json) == 1
    assert "garden-work retired" not in whet("live", "look").out
    assert whet("templates", "--for", TASK, "--json").json["by"] == "fit"
